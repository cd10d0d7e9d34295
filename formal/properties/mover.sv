// Of a TLP as many beats are made as its header has words for, the last one marked and no other; of
// the placement buffer exactly the beats are taken that the plan asks for; then comes the next plan.
module properties(
    input clock, input reset, input [`BITS_plan-1:0] plan, input plan_valid, input beat_valid,
    input room, input pages_room
);
    wire plan_take, beat_take, emit, pages_valid;
    wire [`BITS_side-1:0] side;
    wire [5:0] rotation;
    wire [`BITS_pages-1:0] pages;
    `BLOCK block(
        .clock(clock), .reset(reset), .plan(plan), .plan_valid(plan_valid),
        .plan_take(plan_take), .beat_valid(beat_valid), .beat_take(beat_take), .room(room),
        .emit(emit), .side(side), .rotation(rotation), .pages(pages),
        .pages_valid(pages_valid), .pages_room(pages_room)
    );
`include "plan_steps.sv"
    always @(*) begin
        // As shaper.sv and splitter.sv prove them.
        assume(steps_agree(plan) && plan[37:36] <= 2);
    end

    // The plan at hand, its beats taken and made so far.
    reg busy = 0, started = 0;
    reg [`BITS_plan-1:0] now = 0;
    reg [13:0] taken = 0;
    reg [5:0] made = 0;
    always @(posedge clock) begin
        started <= 1;
        taken <= taken + beat_take;
        made <= made + emit;
        if (plan_take) begin
            now <= plan;
            taken <= 0;
            made <= 0;
        end
        if (plan_take || done) busy <= plan_take;
        if (reset) busy <= 0;
    end
    wire closes = now[0], writes = now[1];
    wire [12:0] drain = closes ? now[34:22] : 0;
    wire [1:0] primes = now[37:36];
    wire [5:0] beats = writes ? now[48:44] + 1 : 1;
    wire [13:0] asked = writes ? primes + now[48:44] + now[53] + drain : drain;
    wire [13:0] taken_now = taken + beat_take;
    wire [5:0] made_now = made + emit;
    wire done = busy && taken_now == asked && made_now == beats && (beat_take || emit);
    wire last = made == beats - 1;
    wire [12:0] left = \block.drain$q ;
    always @(*) begin
        if (!started) assume(reset);
        if (!busy) assert(!beat_take && !emit && !pages_valid);
        if (beat_take) assert(beat_valid && taken < asked);
        if (emit) assert(made < beats);
        if (plan_take) assert(plan_valid && (!busy || done));
        if (done && plan_valid) assert(plan_take);
        if (emit && writes) begin
            // A beat is made of the older beat and, where it reaches over that, of the one taken.
            assert(taken == primes + made);
            assert(beat_take == (!last || now[53]));
            assert(rotation == now[43:38]);
        end
        if (emit) begin
            assert(side[0] == writes);
            assert(side[7] == (closes && (!writes || last)));
            assert(side[6] == (closes && now[2] && (!writes || last)));
            if (writes) assert(side[1] == last && side[5:2] == (last ? now[52:49] : 3));
        end
        // The pages go back when all is taken.
        assert(pages_valid == (done && closes && now[3]));
        if (pages_valid) assert(pages == now[21:4]);

        // What goes on from cycle to cycle.
        if (started) assert(busy == \block.current_valid$q );
        if (busy) begin
            assert(now == \block.current$q && steps_agree(now));
            assert(primes <= 2);
            assert(made <= beats && taken <= asked);
            if (\block.priming$q ) begin
                assert(writes && made == 0 && primes != 0);
                assert(taken == (\block.second_prime$q ? 0 : primes - 1));
                if (\block.second_prime$q ) assert(primes == 2);
                assert(\block.needs$q && !\block.ends$q && !\block.draining$q );
                assert(\block.last_beat$q == now[59] && \block.more_beats$q == now[48:44]);
                assert(left == now[34:22]);
            end else if (\block.draining$q ) begin
                assert(left + taken == asked - drain + now[34:22]);
                assert(made == (writes ? beats : 0) && \block.last_beat$q );
                if (drain == 0) assert(!writes && !\block.needs$q && \block.ends$q );
                else assert(\block.needs$q && left != 0 && \block.ends$q == (left == 1));
            end else begin
                assert(writes && made < beats && taken == primes + made);
                assert(\block.last_beat$q == last && left == now[34:22]);
                assert(\block.more_beats$q == now[48:44] - made);
                assert(\block.needs$q == (!last || now[53]));
                assert(\block.ends$q == (last && now[54]));
            end
        end
    end
    (* hierconn *) wire \block.current_valid$q ;
    (* hierconn *) wire [`BITS_plan-1:0] \block.current$q ;
    (* hierconn *) wire \block.priming$q ;
    (* hierconn *) wire \block.second_prime$q ;
    (* hierconn *) wire \block.last_beat$q ;
    (* hierconn *) wire \block.draining$q ;
    (* hierconn *) wire \block.needs$q ;
    (* hierconn *) wire \block.ends$q ;
    (* hierconn *) wire [4:0] \block.more_beats$q ;
    (* hierconn *) wire [12:0] \block.drain$q ;
endmodule
