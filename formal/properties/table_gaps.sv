// What region_check.sv, stag_lookup.sv and receive_buffer.sv leave out is never used: no lookup that
// a record or the driver goes by meets a write of its memory. When a record enters the checks
// (`take`), no table has been written since four cycles before, when its first lookup began, nor an
// outstanding read changed by a Read Response; until it is committed none is; and a record is committed in no cycle in which another one, or the driver,
// reads. A post reads the queues when nothing writes them, and writes as a table operation does.
// So block RAM, which leaves a read undefined where it is written, gives what it holds.
//
// A message that is complete advances a queue of its own: QN is 0, 1 or 2 there, and the queue of
// reads is 3, so what a tagged segment looks up in front is not touched.
//
// Sequencer, table port and memories are the room's own, joined as the room joins them.
module properties(
    input clock, input reset, input [`BITS_record-1:0] record, input record_valid,
    input [`BITS_fpdu_verdict-1:0] fpdu_verdict, input fpdu_verdict_valid,
    input [`BITS_replay-1:0] replay, input replay_valid, input replayed_ready, input begun,
    input record_fence,
    input command_ready, input stream_error_ready, input [`BITS_table_request-1:0] table_request,
    input table_valid, input [`BITS_cq_write-1:0] cq_write,
    input [9:0] access_address, input [31:0] access_data, input access_write
);
    wire table_done;
    `BLOCK block(
        .clock(clock), .reset(reset), .record(record), .record_valid(record_valid),
        .fpdu_verdict(fpdu_verdict), .fpdu_verdict_valid(fpdu_verdict_valid), .replay(replay),
        .replay_valid(replay_valid), .replayed_ready(replayed_ready), .begun(begun),
        .record_fence(record_fence),
        .command_ready(command_ready), .stream_error_ready(stream_error_ready),
        .table_request(table_request), .table_valid(table_valid), .table_done(table_done),
        .cq_write(cq_write), .access_address(access_address), .access_data(access_data),
        .access_write(access_write)
    );
    // Writes: of what records look up in front, and of what they look up in the checks.
    (* hierconn *) wire \block.checks.stag.lookup.way$0.write_enable ;
    (* hierconn *) wire \block.checks.stag.lookup.way$1.write_enable ;
    (* hierconn *) wire \block.checks.stag.lookup.way$2.write_enable ;
    (* hierconn *) wire \block.checks.untagged.pool.shapes.write_enable ;
    (* hierconn *) wire \block.checks.untagged.pool.buffers.write_enable ;
    (* hierconn *) wire \block.checks.untagged.order.tails.write_enable ;
    (* hierconn *) wire \block.checks.untagged.order.expected.write_enable ;
    (* hierconn *) wire \block.checks.contexts.profiles.write_enable ;
    (* hierconn *) wire \block.checks.contexts.states.write_enable ;
    (* hierconn *) wire \block.checks.stag.region.entries.write_enable ;
    (* hierconn *) wire \block.checks.stag.region.valids.write_enable ;
    wire front_write = \block.checks.stag.lookup.way$0.write_enable
        || \block.checks.stag.lookup.way$1.write_enable
        || \block.checks.stag.lookup.way$2.write_enable
        || \block.checks.untagged.pool.shapes.write_enable
        || \block.checks.untagged.pool.buffers.write_enable ;
    wire region_write = \block.checks.stag.region.entries.write_enable
        || \block.checks.stag.region.valids.write_enable ;
    wire checks_write = region_write || \block.checks.untagged.order.tails.write_enable
        || \block.checks.untagged.order.expected.write_enable
        || \block.checks.contexts.profiles.write_enable
        || \block.checks.contexts.states.write_enable ;
    // Two ports share these memories' one write port.
    (* hierconn *) wire \block.checks.stag.region.write ;
    (* hierconn *) wire \block.checks.stag.region.invalidate ;
    (* hierconn *) wire \block.checks.contexts.mark ;
    (* hierconn *) wire \block.checks.untagged.advance ;
    (* hierconn *) wire \block.checks.stag.read_region ;
    (* hierconn *) wire \block.checks.untagged.moves ;
    (* hierconn *) wire \block.checks.moved ;
    wire moves = \block.checks.untagged.moves , moved = \block.checks.moved ;
    wire by_record = \block.checks.stag.region.invalidate || \block.checks.contexts.mark
        || \block.checks.untagged.advance || moves;
    // The steps of a record, and of a table operation.
    (* hierconn *) wire \block.sequencer.head_valid ;
    (* hierconn *) wire \block.sequencer.head_judged ;
    (* hierconn *) wire \block.sequencer.verdict_valid ;
    (* hierconn *) wire \block.sequencer.hold ;
    (* hierconn *) wire \block.sequencer.restart ;
    (* hierconn *) wire \block.sequencer.may_run ;
    (* hierconn *) wire \block.sequencer.take ;
    (* hierconn *) wire \block.sequencer.leave ;
    (* hierconn *) wire \block.sequencer.decide ;
    (* hierconn *) wire \block.sequencer.take_verdict ;
    (* hierconn *) wire \block.sequencer.commit ;
    (* hierconn *) wire \block.sequencer.load ;
    (* hierconn *) wire [2:0] \block.checks.port.state$q ;
    (* hierconn *) wire \block.checks.port.reads_region$q ;
    wire head_valid = \block.sequencer.head_valid , head_judged = \block.sequencer.head_judged ;
    wire verdict_valid = \block.sequencer.verdict_valid , hold = \block.sequencer.hold ;
    wire restart = \block.sequencer.restart , may_run = \block.sequencer.may_run ;
    wire take = \block.sequencer.take , leave = \block.sequencer.leave ;
    wire decide = \block.sequencer.decide , commit = \block.sequencer.commit ;
    wire load = \block.sequencer.load ;
    wire [2:0] port = \block.checks.port.state$q ;
    // The steps of a post.
    (* hierconn *) wire [2:0] \block.checks.posting.state$q ;
    wire [2:0] post = \block.checks.posting.state$q ;
    localparam EXECUTE = 2, DONE = 5, QUEUED = 6, LENT = 7;
    localparam ASK = 1, POOL = 5, TAIL = 6;

    // Cycles since a table was written, and that the record in front has been there, up to 4; the
    // record in the checks, and how far it is.
    reg [2:0] quiet = 0, in_front = 0;
    reg inside = 0, left = 0, decided = 0, committed = 0;
    reg started = 0, reset_before = 0, head_before = 0, judged_before = 0, leave_before = 0;
    reg verdict_waits = 0, held_free = 0;
    wire yields = inside && !left && hold && !verdict_valid;
    always @(posedge clock) begin
        started <= 1;
        reset_before <= reset;
        head_before <= head_valid && !reset;
        judged_before <= head_judged;
        leave_before <= leave && !reset;
        verdict_waits <= verdict_valid && !\block.sequencer.take_verdict && !reset;
        held_free <= hold && may_run && !reset;
        if (quiet != 4) quiet <= quiet + 1;
        if (front_write || moved) quiet <= 0;
        if (head_valid && in_front != 4) in_front <= in_front + 1;
        if (leave || restart || moved || reset) in_front <= 0;
        if (decide) decided <= 1;
        if (commit) committed <= 1;
        if (leave) left <= 1;
        if (load || yields) inside <= 0;
        if (take) begin
            inside <= 1;
            left <= leave;
            {decided, committed} <= 0;
        end
        if (reset) {inside, left, decided, committed} <= 0;
    end
    always @(*) begin
        if (!started) assume(reset);
        // A FIFO's head stands until it leaves, a verdict until it is taken (fifo.sv).
        if (head_before && !leave_before) assume(head_valid && head_judged == judged_before);
        if (verdict_waits) assume(verdict_valid);
        if (started && !reset && !reset_before) begin
            if (take) assert(quiet == 4 && !front_write && !checks_write);
            if (inside && !committed) assert(commit || (!front_write && !checks_write));
            if (moves) assert(moved);
            if (moved) assert(commit);
            if (commit) assert(!take);
            // What a record writes and what the driver writes never meet, nor what it reads.
            if (by_record) assert(commit && !restart);
            if (\block.checks.stag.region.write ) assert(!\block.checks.stag.region.invalidate );
            if (\block.checks.stag.read_region ) assert(!take && !region_write);
            // In its first cycle a post addresses the memories of its queue.
            if (port == LENT && post == ASK) assert(!take && !front_write && !checks_write);
        end
`ifndef BROKEN
        // What makes these true after any number of cycles.
        if (started) begin
            if (!reset_before) begin
                if (front_write && !moves) assert(restart && (port == DONE || post == POOL));
                if (checks_write && !by_record) assert(restart && (port == DONE || post == TAIL));
                // A post has the memories from the end of its wait on.
                assert(post <= TAIL && (port == LENT || post <= ASK));
                if (port == LENT || port == QUEUED) assert(post != 0);
                assert(hold == (port != 0));
                if (port >= EXECUTE && port != QUEUED) assert(held_free);
                if (held_free) assert(may_run);
            end
            if (\block.checks.stag.read_region ) assert(port == EXECUTE);
            if (reset_before) assert(!head_valid && in_front == 0);
            assert(in_front <= quiet && quiet <= 4);
            assert(inside == \block.sequencer.is_busy$q );
            if (committed) assert(decided);
            assert(\block.sequencer.is_ready$q == (in_front == 4));
            if (in_front != 4) assert(\block.sequencer.age$q == in_front);
            if (in_front != 0) assert(head_before && !leave_before);
            assert(\block.sequencer.is_head$q == (inside && !left));
            assert(\block.sequencer.is_committing$q == (inside && decided && !committed));
            assert(\block.sequencer.is_waiting$q == (inside && committed));
            if (!inside) assert(\block.sequencer.phase$q == 0);
            if (inside && !decided) assert(\block.sequencer.phase$q - 3'd1 < 3'd4);
            if (inside && decided) assert(left && \block.sequencer.phase$q == (committed ? 6 : 5));
        end
`endif
    end
    (* hierconn *) wire [2:0] \block.sequencer.age$q ;
    (* hierconn *) wire \block.sequencer.is_ready$q ;
    (* hierconn *) wire [2:0] \block.sequencer.phase$q ;
    (* hierconn *) wire \block.sequencer.is_busy$q ;
    (* hierconn *) wire \block.sequencer.is_head$q ;
    (* hierconn *) wire \block.sequencer.is_committing$q ;
    (* hierconn *) wire \block.sequencer.is_waiting$q ;
endmodule
