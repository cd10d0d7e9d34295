// A host frame's slot lies in the ring: slot number mod slots, at base plus that many slots; the
// frame after its header does not reach beyond it; and no slot is given that the driver has not
// consumed, so never more than the ring has are out.
//
// The answers are those of a frame that has been there for four cycles, and of a number that has not
// changed for five; splitter.sv proves that they are taken only then.
module properties(
    input clock, input reset, input [15:0] octets, input take, input [63:0] base,
    input [4:0] slots_log2, input [3:0] slot_octets_log2, input [31:0] consumer
);
    wire [63:0] address;
    wire [31:0] word_3;
    wire too_long, full;
    `BLOCK block(
        .clock(clock), .reset(reset), .octets(octets), .take(take), .base(base),
        .slots_log2(slots_log2), .slot_octets_log2(slot_octets_log2), .consumer(consumer),
        .address(address), .word_3(word_3), .too_long(too_long), .full(full)
    );
    (* hierconn *) wire [31:0] \block.number$q ;
    (* hierconn *) wire [2:0] \block.on_cycles$q ;
    // Slots given since the reset; cycles since the last one, since the ring was switched on and
    // since the frame has stood, up to 7.
    reg [31:0] number = 0;
    reg [2:0] still = 0, on = 0, stands = 0;
    reg ran = 0, reset_before = 0;
    reg [4:0] slots_log2_before = 0;
    reg [3:0] slot_octets_log2_before = 0;
    reg [63:0] base_before = 0;
    reg [31:0] consumer_before = 0;
    reg [15:0] octets_before = 0;
    always @(posedge clock) begin
        ran <= 1;
        reset_before <= reset;
        if (take) number <= number + 1;
        still <= take ? 0 : still + (still != 7);
        on <= slots_log2 == 0 ? 0 : on + (on != 7);
        stands <= octets != octets_before ? 0 : stands + (stands != 7);
        {slots_log2_before, slot_octets_log2_before} <= {slots_log2, slot_octets_log2};
        {base_before, consumer_before, octets_before} <= {base, consumer, octets};
        if (reset) {number, still, on} <= 0;
    end
    // What is out: given, not consumed.
    wire [31:0] out = number - consumer;
    wire [16:0] slots = 17'd1 << slots_log2;
    wire [63:0] index = number & (slots - 1);
    wire [16:0] slot_octets = 17'd1 << slot_octets_log2;
    wire settled = ran && on == 7 && slots_log2 != 0 && still >= 4;
    always @(*) begin
        if (!ran) assume(reset);
        // The driver's contract (rnic_abi::host_ring): at most 2^16 slots of 2^7 to 2^14 octets; the
        // ring moves only while it is off; the driver consumes what was given, and never takes it
        // back. Number and consumer begin at 0.
        assume(slots_log2 <= 16 && slot_octets_log2 >= 7 && slot_octets_log2 <= 14);
        assume(base[11:0] == 0);
        if (ran && slots_log2 != 0) begin
            assume(slots_log2_before == 0 || slots_log2 == slots_log2_before);
            assume(base == base_before && slot_octets_log2 == slot_octets_log2_before);
        end
        if (!reset_before) assume(consumer - consumer_before <= number - consumer_before);
        else assume(consumer == 0);
        if (slots_log2 == 0) assume(consumer == number);
`ifdef BROKEN
        // A counterexample is looked for in a ring of two slots of 4096 octets.
        assume(slots_log2 <= 1 && slot_octets_log2 == 12);
`endif
        // A slot is taken only after one was free, and once (splitter.sv).
        if (take) assume(was_free && slots_log2 != 0);
    end
    // A slot was free since the last one was taken.
    reg was_free = 0;
    always @(posedge clock)
        was_free <= !reset && !take && slots_log2 != 0 && (was_free || (settled && !full));
    always @(*) if (ran) begin
        if (settled && stands >= 2 && octets == octets_before) begin
            assert(address == base + (index << slot_octets_log2));
            // A whole slot lies in the ring, and the splitter may set its header's bit.
            assert((address - base) + slot_octets <= slots << slot_octets_log2);
            assert(address[6:0] == 0);
            assert(word_3[30:0] == number[30:0]);
            assert(word_3[31] == !number[slots_log2]);
            if (!too_long) assert(octets + 17'd16 <= slot_octets);
            if (!full) assert(out < slots);
        end
        // A ring just switched on counts as full until the answers are its own.
        if (on != 7) assert(full);
        if (slots_log2 == 0) assert(out == 0);
        else assert(out <= slots);
`ifndef BROKEN
        // What makes these true after any number of cycles.
        assert(\block.number$q == number && \block.on_cycles$q == on);
        if (was_free && slots_log2 != 0) assert(out < slots && still >= 4);
`endif
    end
endmodule
