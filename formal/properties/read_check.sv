// A segment that does not differ from the oldest outstanding read is what comes next of it: with
// payload, under its STag and from where it stands on, of no more octets than are missing; and the
// last one if, and only if, none is missing after it. What is left of the read begins after the
// segment and has its octets less.
module properties(
    input clock, input [`BITS_segment-1:0] segment, input [`BITS_head-1:0] head, input is_open
);
    wire differs;
    wire [`BITS_moved_head-1:0] moved_head;
    `BLOCK block(
        .clock(clock), .segment(segment), .head(head), .is_open(is_open), .differs(differs),
        .moved_head(moved_head)
    );
    wire last = segment[4], has_payload = segment[292];
    wire [31:0] stag = segment[49:18];
    wire [63:0] to = segment[113:50], to_end = segment[177:114];
    wire [31:0] payload = {16'b0, segment[291:276]};
    wire [34:0] next = {head[98:96], head[31:0]};
    wire [31:0] missing = head[95:64];

    // The inputs stand for three cycles, as they do in the checks.
    reg [1:0] cycles = 0;
    reg [`BITS_segment-1:0] segment_before = 0;
    reg [`BITS_head-1:0] head_before = 0;
    reg open_before = 0;
    wire same = segment == segment_before && head == head_before && is_open == open_before;
    always @(posedge clock) begin
        segment_before <= segment;
        head_before <= head;
        open_before <= is_open;
        cycles <= !same ? 1 : cycles == 2 ? 2 : cycles + 1;
    end
    always @(*) begin
        // Header decode adds payload to TO, and finds whether there is any.
        assume(to_end == to + payload && has_payload == (payload != 0));
        if (same && cycles == 2 && !differs) begin
            assert(is_open);
            assert(payload <= missing && last == (payload == missing));
            if (has_payload) begin
                assert(stag == head[63:32] && to[34:0] == next);
                assert({moved_head[98:96], moved_head[31:0]} == next + payload);
                assert(moved_head[63:32] == stag);
            end
            assert(moved_head[95:64] == missing - payload);
        end
        // And it differs for no other reason.
        if (same && cycles == 2 && differs) assert(!is_open || payload > missing
            || last != (payload == missing)
            || (has_payload && (stag != head[63:32] || to[34:0] != next)));
    end
endmodule
