// An event that is written is of a connection that was not begun again before its reasons and its
// context had come: nothing of an earlier connection is reported for a later one. It has a reason;
// its fields are those of the entry that was taken and of the context that was read for it; it
// names a range only if that ends beyond RCV.NXT. SEG.WND is that of the segment whose SEG.ACK it
// has.
//
// The entry and the context come once each, while they are waited for.
module properties(
    input clock, input reset, input [15:0] device_id, input [63:0] base, input [4:0] entries_log2,
    input [31:0] consumer, input starts, input [9:0] connection, input begins,
    input [9:0] begins_connection, input [120:0] taken, input taken_valid, input read_taken,
    input [133:0] reported, input reported_valid, input tlp_ready
);
    wire [31:0] producer;
    wire ready, read, tlp_last, tlp_valid;
    wire [9:0] read_connection;
    wire [127:0] tlp_data, tlp_header;
    wire [3:0] tlp_keep;
    `BLOCK block(
        .clock(clock), .reset(reset), .device_id(device_id), .base(base),
        .entries_log2(entries_log2), .consumer(consumer), .producer(producer), .ready(ready),
        .starts(starts), .connection(connection), .begins(begins),
        .begins_connection(begins_connection), .taken(taken), .taken_valid(taken_valid),
        .read(read), .read_connection(read_connection), .read_taken(read_taken),
        .reported(reported), .reported_valid(reported_valid), .tlp_data(tlp_data),
        .tlp_keep(tlp_keep), .tlp_last(tlp_last), .tlp_valid(tlp_valid), .tlp_ready(tlp_ready),
        .tlp_header(tlp_header)
    );
    (* hierconn *) wire [2:0] \block.state$q ;
    (* hierconn *) wire [9:0] \block.held_connection$q ;
    (* hierconn *) wire [120:0] \block.entry$q ;
    (* hierconn *) wire [133:0] \block.held_context$q ;
    (* hierconn *) wire \block.has_entry$q ;
    (* hierconn *) wire \block.has_context$q ;
    (* hierconn *) wire \block.is_stale$q ;
    (* hierconn *) wire \block.second$q ;
    (* hierconn *) wire [31:0] \block.right$q ;
    (* hierconn *) wire [31:0] \block.reach$q ;
    (* hierconn *) wire [255:0] \block.words$q ;
    localparam idle = 0, gather = 1, range = 2, head = 3, send = 4;
    wire [2:0] state = \block.state$q ;

    // What was given for the event at hand.
    reg [9:0] c = 0;
    reg [120:0] entry = 0;
    reg [133:0] context = 0;
    reg has_entry = 0, has_context = 0, stale = 0;
    always @(posedge clock) begin
        if (state == idle) begin
            c <= connection;
            {has_entry, has_context} <= 0;
            stale <= begins && begins_connection == connection;
        end else begin
            if (taken_valid) begin
                has_entry <= 1;
                entry <= taken;
            end
            if (reported_valid) begin
                has_context <= 1;
                context <= reported;
            end
            if (!(has_entry && has_context) && begins && begins_connection == c) stale <= 1;
        end
    end

    wire [31:0] rcv_nxt = context[31:0];
    wire [31:0] right = entry[41:10] + entry[71:42];
    wire [31:0] reach = right - rcv_nxt;
    wire ranged = context[133:129] != 0 && reach != 0 && !reach[31];
    wire acknowledges = entry[72];
    wire [255:0] w = \block.words$q ;
    always @(*) begin
        if (taken_valid) assume(state == gather && !has_entry);
        if (reported_valid) assume(state == gather && !has_context);

        if (state != idle) begin
            assert(\block.held_connection$q == c);
            if (state == gather) assert(\block.is_stale$q == stale);
            assert(\block.has_entry$q == has_entry && \block.has_context$q == has_context);
            if (has_entry) assert(\block.entry$q == entry);
            if (has_context) assert(\block.held_context$q == context);
        end
        if (state >= range && state <= send) begin
            assert(has_entry && has_context && !stale && entry[8:0] != 0);
            assert(\block.right$q == right);
        end
        if (state == head || state == send) assert(\block.reach$q == reach);
        if (state == send) begin
            assert(w[8:0] == entry[8:0] && w[9] == context[96] && w[10] == ranged);
            assert(w[15:11] == context[133:129] && w[31:16] == c && w[63:32] == rcv_nxt);
            assert(w[95:64] == (acknowledges ? entry[104:73] : context[63:32]));
            assert(w[111:96] == (acknowledges ? entry[120:105] : context[79:64]));
            assert(w[127:112] == context[95:80]);
            assert(w[159:128] == (ranged ? entry[41:10] : 0));
            assert(w[191:160] == (ranged ? right : 0));
            assert(w[223:192] == (context[96] ? context[128:97] : 0));
        end
        assert(tlp_valid == (state == send));
        if (tlp_valid) assert(tlp_data == (\block.second$q ? w[255:128] : w[127:0]));
    end
endmodule
