// The requests of a command are exactly its octets, in order; each lies in one line, so none crosses
// 4 KiB and none asks for more than the maximum read request size. A tag is taken when its request
// leaves, with the part that stands for it. A command that cannot be read has one part more, which
// is refused.
module properties(
    input clock, input reset, input [15:0] device_id, input hold,
    input [`BITS_command-1:0] command, input command_valid, input request_ready,
    input [5:0] free_tag, input free_valid, input starved, input [15:0] now, input part_room
);
    (* anyconst *) wire [2:0] max_read_request;
    wire command_ready, request_valid, issue, part_valid;
    wire [127:0] header;
    wire [`BITS_span-1:0] span;
    wire [`BITS_part-1:0] part;
    `BLOCK block(
        .clock(clock), .reset(reset), .device_id(device_id), .max_read_request(max_read_request),
        .hold(hold), .command(command), .command_valid(command_valid),
        .command_ready(command_ready), .request_header(header), .request_valid(request_valid),
        .request_ready(request_ready), .free_tag(free_tag), .free_valid(free_valid),
        .starved(starved), .issue(issue), .span(span), .now(now), .part(part),
        .part_valid(part_valid), .part_room(part_room)
    );
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire [57:0] \block.unit$q ;
    (* hierconn *) wire [6:0] \block.low$q ;
    (* hierconn *) wire [13:0] \block.rest$q ;
    (* hierconn *) wire \block.empty$q ;
    (* hierconn *) wire \block.more$q ;
    (* hierconn *) wire [8:0] \block.first$q ;
    (* hierconn *) wire [8:0] \block.last$q ;
    (* hierconn *) wire \block.is_last$q ;
    (* hierconn *) wire [13:0] \block.step$q ;
    (* hierconn *) wire [8:0] \block.line_mask$q ;
    (* hierconn *) wire [57:0] \block.unit_mask$q ;
    (* hierconn *) wire [`BITS_command-1:0] \block.commands.head$q ;
    (* hierconn *) wire \block.commands.head_valid$q ;
    localparam IDLE = 0, CUT = 1, FORM = 2, SEND = 3;

    // A tag that is offered stays until it is taken (tag_table.sv).
    reg [5:0] tag_before = 0;
    reg offered = 0;
    always @(posedge clock) begin
        tag_before <= free_tag;
        offered <= free_valid && !issue && !reset;
    end
    always @(*) if (offered) assume(free_valid && free_tag == tag_before);

    // The command at hand: its next octet and its last one; bit 64 is past the end of memory.
    wire [63:0] address = \block.commands.head$q [63:0];
    wire [13:0] octets = \block.commands.head$q [77:64];
    wire loads = \block.state$q == IDLE && \block.commands.head_valid$q ;
    reg [64:0] next = 0, last = 0;
    reg empty = 0, more = 0, held = 0;
    wire [9:0] line = max_read_request == 1 ? 256
        : max_read_request >= 2 && max_read_request < 6 ? 512 : 128;
    wire [12:0] most = max_read_request < 6 ? 13'd128 << max_read_request : 128;
    wire [64:0] line_end = next | (line - 1);
    wire is_last = last <= line_end;
    wire [64:0] piece_end = is_last ? last : line_end;
    always @(posedge clock) begin
        held <= hold;
        if (loads) begin
            next <= address;
            last <= {1'b0, address} + octets - 1;
            empty <= octets == 0;
            more <= \block.commands.head$q [78];
        end
        if (issue) next <= piece_end + 1;
    end

    // What the request asks for, read from its header.
    wire [9:0] words = header[9:0];
    wire long_form = header[29];
    wire [3:0] first_be = header[35:32], last_be = header[39:36];
    wire [63:0] base = long_form
        ? {header[95:64], header[127:98], 2'b0} : {32'b0, header[95:66], 2'b0};
    wire [1:0] skipped = first_be[0] ? 0 : first_be[1] ? 1 : first_be[2] ? 2 : 3;
    wire [3:0] outer_be = words == 1 ? first_be : last_be;
    wire [1:0] last_lane = outer_be[3] ? 3 : outer_be[2] ? 2 : outer_be[1] ? 1 : 0;
    wire [63:0] first_octet = base + skipped;
    wire [63:0] last_octet = base + {words - 10'd1, last_lane};
    wire [3:0] from_first = 4'b1111 << skipped;
    wire [3:0] to_last = 4'b1111 >> (3 - last_lane);
    reg ran = 0, was_valid = 0, was_taken = 0;
    reg [127:0] header_before = 0;
    always @(posedge clock) begin
        ran <= 1;
        was_valid <= request_valid && !reset;
        was_taken <= request_ready;
        header_before <= header;
    end
    always @(*) if (ran) begin
        if (request_valid) begin
            assert(header[31:30] == 0 && header[28:10] == 0 && header[47:46] == 0);
            assert(header[45:40] == free_tag);
            assert(words >= 1 && {words, 2'b0} <= most);
            assert(!next[64] && first_octet == next && last_octet == piece_end[63:0]);
            assert(!piece_end[64] && last_octet - first_octet < line);
            assert(first_octet >> 12 == last_octet >> 12);
            if (words == 1) assert(first_be == (from_first & to_last) && last_be == 0);
            else assert(first_be == from_first && last_be == to_last);
            assert(long_form == (base >> 32 != 0));
            if (!was_valid) assert(!held);
        end
        if (was_valid && !was_taken) assert(request_valid && header == header_before);
        assert(issue == (request_valid && request_ready));
        if (issue) begin
            assert(free_valid && part_valid && !part[40]);
            assert(span == {last_octet[8:0], first_octet[8:0]});
            assert(part[5:0] == free_tag && part[21:6] == now && part[39:22] == span);
            assert(part[41] == (is_last && !more));
        end
        if (part_valid && !issue) begin
            assert(part[40] && part_room && part[41] == !more);
            assert(empty || next[64] || (starved && !free_valid));
        end
        // What makes these true after any number of cycles.
        assert(\block.line_mask$q == line - 1 && \block.unit_mask$q == line / 128 - 1);
        if (\block.state$q != IDLE) begin
            assert({ \block.unit$q , \block.low$q } == next);
            assert(\block.empty$q == empty && \block.more$q == more);
            if (!empty) assert(last >= next && \block.rest$q == last - next);
            if (!empty) assert(last - next <= 65'd16382);
        end
        if (\block.state$q >= FORM && !empty) begin
            assert(\block.first$q == next[8:0] && \block.last$q == piece_end[8:0]);
            assert(\block.is_last$q == is_last);
            assert(\block.step$q == line_end - next + 1);
        end
        if (\block.state$q == SEND) assert(!empty && !next[64] && offered);
    end
endmodule
