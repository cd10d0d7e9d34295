// The length of an FPDU on the wire is the one that RFC 5044 gives it, for every ULPDU_Length and
// every place between markers: N words without markers (ULPDU_Length, ULPDU, PAD, CRC; MPA-001 to
// MPA-003), one word more for each marker position that they reach over (MPA-013), and the last
// word is the CRC, never a marker.
//
// Nothing here divides: `words` is held against what it must be, not computed again.
module properties(
    input clock, input [15:0] ulpdu_length, input host, input [6:0] phase, input markers,
    input [15:0] words_left, input sum
);
    reg divide = 0, decide = 0, known = 0;
    wire [14:0] words, beats;
    wire single, whole, too_long;
    `BLOCK block(
        .clock(clock), .ulpdu_length(ulpdu_length), .host(host), .phase(phase),
        .markers(markers), .words_left(words_left), .sum(sum), .divide(divide),
        .decide(decide), .words(words), .beats(beats), .single(single), .whole(whole),
        .too_long(too_long)
    );
    // Three steps, in three cycles, of inputs that hold still.
    reg [15:0] length_before = 0, left_before = 0;
    reg [6:0] phase_before = 0;
    reg host_before = 0, markers_before = 0;
    always @(posedge clock) begin
        {known, decide, divide} <= {decide, divide, sum};
        {length_before, left_before, phase_before} <= {ulpdu_length, words_left, phase};
        {host_before, markers_before} <= {host, markers};
    end
    always @(*) begin
        if (divide || decide) begin
            assume(ulpdu_length == length_before && words_left == left_before && !sum);
            assume(phase == phase_before && host == host_before && markers == markers_before);
        end
        if (!host) assume(words_left != 0);
        if (host) assume(ulpdu_length != 0);
    end

    // Of the step before.
    wire [17:0] octets = host_before ? length_before : 2 + length_before;
    wire [17:0] plain = ((octets + 3) >> 2) + !host_before;
    wire counts = markers_before && !host_before;
    wire [17:0] first = phase_before;
    wire [17:0] behind = first + words;
    // Multiples of 128 from the first word up to the last.
    wire [17:0] met = ((behind + 127) >> 7) - ((first + 127) >> 7);
    wire [17:0] last = behind - 1;
    always @(*) if (known) begin
        assert(words == plain + (counts ? met : 0));
        if (counts) assert(last[6:0] != 0);
        assert(beats == (words + 3) >> 2);
        if (!host_before) assert(single == (beats == 1));
        if (!host_before) assert(whole == (left_before >= words));
        assert(too_long == (length_before > 9216));
    end
endmodule
