// The steps of a record come in the cycles that region_check.sv, verdict.sv and command.sv stand on,
// for one record at a time: `address` 3 cycles after `take`, `decide` a cycle later or when the
// verdict of MPA is there, `commit` the cycle after, `load` then or as soon as the outputs are free.
// Each record that leaves the FIFO is loaded once; one that goes back has written nothing.
module properties(
    input clock, input reset, input head_valid, input head_judged, input verdict_valid,
    input outputs_free, input hold, input restart, input moved
);
    wire may_start, may_run, take, leave, address, decide, is_judged, take_verdict, commit, load;
    `BLOCK block(
        .clock(clock), .reset(reset), .head_valid(head_valid), .head_judged(head_judged),
        .verdict_valid(verdict_valid), .outputs_free(outputs_free), .hold(hold),
        .restart(restart), .moved(moved), .may_start(may_start), .may_run(may_run), .take(take), .leave(leave),
        .address(address), .decide(decide), .is_judged(is_judged),
        .take_verdict(take_verdict), .commit(commit), .load(load)
    );
    // Cycles since `take`, up to 5; the record in the checks: there, out of the FIFO, and how far.
    reg [2:0] since = 0;
    reg inside = 0, left = 0, decided = 0, committed = 0, judged = 0;
    // Cycles that the record in front has stood there since it came or was sent back, up to 4.
    reg [2:0] in_front = 0;
    // The checks were free, and held, so they still are.
    reg held_free = 0;
    reg started = 0, head_before = 0, judged_before = 0, leave_before = 0, verdict_waits = 0;
    // Sent back: it is in the checks no more, and was never decided.
    wire yields = inside && !left && hold && !verdict_valid;
    always @(posedge clock) begin
        started <= 1;
        head_before <= head_valid;
        judged_before <= head_judged;
        leave_before <= leave;
        held_free <= hold && may_run;
        verdict_waits <= verdict_valid && !take_verdict;
        if (inside && since != 5) since <= since + 1;
        if (decide) decided <= 1;
        if (commit) committed <= 1;
        if (leave) left <= 1;
        if (load || yields) inside <= 0;
        if (take) begin
            inside <= 1;
            left <= leave;
            since <= 1;
            decided <= 0;
            committed <= 0;
            judged <= head_judged;
        end
        if (head_valid && in_front != 4) in_front <= in_front + 1;
        if (leave || restart || moved) in_front <= 0;
        if (reset) begin
            inside <= 0;
            left <= 0;
            in_front <= 0;
            decided <= 0;
            committed <= 0;
            head_before <= 0;
            leave_before <= 0;
            verdict_waits <= 0;
        end
    end
    always @(*) begin
        if (!started) assume(reset);
        // A FIFO's head stands until it leaves, a verdict until it is taken (fifo.sv).
        if (head_before && !leave_before) assume(head_valid && head_judged == judged_before);
        if (verdict_waits) assume(verdict_valid);
        if (!reset && started) begin
            if (take) assert(in_front == 4 && head_valid && !inside && !hold);
            if (leave) assert(head_valid && (take || (inside && !left)));
            if (address) assert(inside && since == 3 && !decided);
            if (decide) assert(inside && since >= 4 && !decided && (left || leave));
            if (decide && !left) assert(leave);
            if (decide) assert(is_judged == judged && take_verdict == judged);
            if (take_verdict) assert(decide && verdict_valid);
            if (commit) assert(inside && left && decided && !committed);
            if (decided && !committed) assert(commit);
            if (load) assert(inside && left && decided && (commit || committed) && outputs_free);
            if (load) assert(!take && !decide && !address);
            if (yields) assert(!decide && !commit && !load && !leave);
            if (inside && !committed) assert(!may_run);
            if (held_free) assert(may_run);
            if (inside && since == 3) assert(address);
        end
        // What goes on from cycle to cycle.
        if (started) begin
            assert(inside == \block.is_busy$q );
            if (committed) assert(decided);
            assert(since <= 5);
            assert(\block.is_ready$q == (in_front == 4));
            if (in_front != 4) assert(\block.age$q == in_front);
            if (in_front != 0) assert(head_before && !leave_before);
            assert(\block.is_head$q == (inside && !left));
            assert(\block.is_committing$q == (inside && decided && !committed));
            assert(\block.is_waiting$q == (inside && committed));
            if (inside && !decided) assert(\block.phase$q == (since < 4 ? since : 4));
            if (inside && decided) assert(left && \block.phase$q == (committed ? 6 : 5));
            if (inside) assert(since >= 1 && \block.held_judged$q == judged);
            if (inside && decided) assert(since == 5);
            if (!inside) assert(\block.phase$q == 0);
            if (inside && left && judged && !decided) assert(verdict_waits);
            if (inside && !left) assert(judged && head_before && judged_before && !leave_before);
        end
    end
    (* hierconn *) wire [2:0] \block.age$q ;
    (* hierconn *) wire \block.is_ready$q ;
    (* hierconn *) wire [2:0] \block.phase$q ;
    (* hierconn *) wire \block.is_busy$q ;
    (* hierconn *) wire \block.is_head$q ;
    (* hierconn *) wire \block.held_judged$q ;
    (* hierconn *) wire \block.is_committing$q ;
    (* hierconn *) wire \block.is_waiting$q ;
endmodule
