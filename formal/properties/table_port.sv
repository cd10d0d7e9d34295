// A table operation changes what the checks look at only while no record is between its first look
// and its last write, the record in front looks again, and the answer comes with the change: so
// once a region is made invalid, no later decision saw it valid. A post has the memories of the
// queues in such a gap too, for as long as it needs them, and no table changes meanwhile.
module properties(
    input clock, input reset, input [`BITS_table_request-1:0] table_request, input table_valid,
    input may_start, input may_run, input [`BITS_read_entry-1:0] read_entry, input read_valid,
    input post_wants, input post_done
);
    wire table_done, hold, restart, read_region, post_granted;
    wire [127:0] table_data;
    wire [`BITS_writes-1:0] writes;
    `BLOCK block(
        .clock(clock), .reset(reset), .table_request(table_request), .table_valid(table_valid),
        .table_done(table_done), .table_data(table_data), .may_start(may_start),
        .may_run(may_run), .hold(hold), .restart(restart), .writes(writes),
        .read_region(read_region), .read_entry(read_entry), .read_valid(read_valid),
        .post_wants(post_wants), .post_granted(post_granted), .post_done(post_done)
    );
    localparam WRITE = 1, READ = 2, EXECUTE = 2, FETCH = 3, CAPTURE = 4, DONE = 5;
    localparam QUEUED = 6, LENT = 7;
    localparam DDP = 4, QUEUE = 5, QUEUE_TAIL = 6, POOL = 7, STAG = 8, REGION = 9;
    wire [3:0] number = table_request[5:2];
    wire is_write = table_request[1:0] == WRITE;
    wire [5:0] strobes = {writes[240], writes[204], writes[104], writes[87], writes[38], writes[16]};
    wire [5:0] named = {
        number == REGION, number == STAG, number == POOL,
        number == QUEUE || number == QUEUE_TAIL, number == QUEUE, number == DDP };
    wire operates = \block.state$q != 0 && \block.state$q <= DONE;
    reg wants_before = 0, granted_before = 0, post_done_before = 0;
    reg started = 0, valid_before = 0, done_before = 0, ran = 0, reset_before = 0;
    reg [`BITS_table_request-1:0] request_before = 0;
    always @(posedge clock) begin
        started <= 1;
        valid_before <= table_valid && !reset;
        wants_before <= post_wants && !reset;
        granted_before <= post_granted && !reset;
        post_done_before <= post_done;
        done_before <= table_done && !reset;
        ran <= hold && may_run;
        reset_before <= reset;
        request_before <= table_request;
    end
    always @(*) begin
        if (!started) assume(reset);
        // A request stands until it is done, and goes then (table_relay.sv); no record enters the
        // checks while they are held (sequencer.sv).
        if (valid_before && !done_before) assume(table_valid && table_request == request_before);
        if (done_before) assume(!table_valid);
        if (ran) assume(may_run);
        // A post asks until it has what it asks for, and gives it back once (posting_port.sv).
        if (wants_before && !granted_before) assume(post_wants);
        if (granted_before) assume(!post_wants);
        if (post_done) assume(post_granted);
        if (started && !reset && !reset_before) begin
            if (strobes != 0) assert(hold && may_run && restart && table_done);
            if (table_done) assert(table_valid && strobes == (is_write ? named : 0));
            if (strobes != 0) assert(writes[15:0] == table_request[21:6]);
            // A region is valid as the request says.
            if (strobes[5]) assert(writes[456] == table_request[53]);
            if (read_region) assert(hold && may_run);
            if (post_granted) assert(hold && may_run && restart && strobes == 0 && !table_done);
            if (post_granted) assert(granted_before || wants_before);
            if (granted_before) assert(post_granted == !post_done_before);
            // What goes on from cycle to cycle.
            assert(post_granted == (\block.state$q == LENT));
            if (\block.state$q == QUEUED) assert(post_wants && wants_before && !granted_before);
            assert(hold == (\block.state$q != 0));
            if (operates) assert(table_valid && valid_before);
            if (\block.state$q >= EXECUTE && \block.state$q != QUEUED) assert(ran);
            if (\block.state$q == FETCH || \block.state$q == CAPTURE) assert(!is_write);
            if (operates) begin
                assert(\block.is_read$q == (table_request[1:0] == READ));
                assert(\block.is_write$q == is_write && \block.is_region$q == named[5]);
                assert(\block.is_stag$q == named[4] && \block.is_buffer$q == named[3]);
                assert((\block.is_queue$q || \block.is_tail$q ) == named[2]);
                assert(\block.is_queue$q == named[1] && \block.is_context$q == named[0]);
            end
            if (!table_done) assert(strobes == 0);
        end
    end
    (* hierconn *) wire [2:0] \block.state$q ;
    (* hierconn *) wire \block.is_write$q ;
    (* hierconn *) wire \block.is_read$q ;
    (* hierconn *) wire \block.is_region$q ;
    (* hierconn *) wire \block.is_stag$q ;
    (* hierconn *) wire \block.is_buffer$q ;
    (* hierconn *) wire \block.is_queue$q ;
    (* hierconn *) wire \block.is_tail$q ;
    (* hierconn *) wire \block.is_context$q ;
endmodule
