// The device is ready only after a whole sweep, in which every room was in reset; without the pin a
// sweep begins only when no TLP is under way, and no posted request begins until the device is ready.
module properties(input clock, input reset, input request, input held);
    localparam SWEEP = 4160, SETTLE = 639;
    wire hold, room_reset, resetting;
    `BLOCK block(
        .clock(clock), .reset(reset), .request(request), .held(held), .hold(hold),
        .room_reset(room_reset), .resetting(resetting)
    );
    // Cycles that the rooms have been in reset; and what was before this cycle.
    reg [12:0] swept = 0;
    reg started = 0, rooms_before = 0, reset_before = 0;
    // No TLP was under way, and none could begin: a cycle ago, and two.
    reg held_before = 0, held_earlier = 0;
    reg asked = 0, whole = 1;
    // Whether the rooms were in reset, of the last six cycles; the latest is bit 0.
    reg [5:0] recent = 0;
    wire [5:0] settled = (6'd1 << \block.count$q ) - 6'd1;
    wire [12:0] swept_now = room_reset ? swept + 13'd1 : 13'd0;
    always @(posedge clock) begin
        started <= 1;
        reset_before <= reset;
        held_before <= held && hold;
        held_earlier <= held_before && hold;
        rooms_before <= room_reset;
        asked <= request && !resetting;
        recent <= {recent[4:0], room_reset};
        swept <= reset ? 13'd0 : swept_now;
        // A sweep ended whole since the last request or pin.
        if (room_reset && swept_now == SWEEP) whole <= 1;
        if ((request && !resetting) || reset) whole <= 0;
    end
    always @(*) begin
        if (started) begin
            if (room_reset) assert(hold && resetting);
            if (resetting) assert(hold);
            else assert(!hold && !room_reset);
            // Neither sooner nor later than the sweep: all rooms, then none.
            if (rooms_before && !room_reset) assert(whole);
            if (!rooms_before && room_reset && !reset_before) assert(held_earlier);
            if (!resetting) assert(whole);
            // Registers ignore writes for some cycles more than the rooms are in reset.
            if (!resetting) assert(recent == 0);
            if (asked) assert(resetting);
            if (reset_before) assert(room_reset);
            // What goes on from cycle to cycle.
            assert(swept <= SWEEP);
            if (room_reset) assert(swept == \block.count$q && swept < SWEEP);
            if (room_reset) assert(\block.sweep_ends$q == (swept == SWEEP - 1));
            assert(room_reset == (\block.state$q == 2));
            assert(\block.is_held$q == held_before);
            if (\block.state$q == 3) assert(whole && hold);
            if (\block.state$q == 3 && \block.count$q < 6) assert((recent & settled) == 0);
            if (\block.state$q == 3 && \block.count$q >= 6) assert(recent == 0);
            if (\block.state$q == 3) assert(\block.count$q <= SETTLE);
            if (\block.state$q == 3) assert(\block.settle_ends$q == (\block.count$q == SETTLE));
            if (\block.state$q == 1) assert(recent == 0);
            if (\block.state$q == 1) assert(hold);
        end
    end
    (* hierconn *) wire [12:0] \block.count$q ;
    (* hierconn *) wire \block.sweep_ends$q ;
    (* hierconn *) wire \block.settle_ends$q ;
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire \block.is_held$q ;
endmodule
