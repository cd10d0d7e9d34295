// Marker removal takes out the words at marker positions, and no others: the other words of each
// beat keep their order, and the marker is reported along with them (MPA-013, MPA-017).
module properties(
    input clock, input reset, input beat_valid, input [127:0] beat_data, input beat_first,
    input beat_last, input [1:0] beat_tail_words, input [6:0] phase, input markers, input check
);
    wire closed_valid, closed_first, closed_last, closed_check, marker_valid;
    wire [127:0] closed_data;
    wire [5:0] closed_words;
    wire [6:0] marker_distance;
    wire [31:0] marker;
    `BLOCK block(
        .clock(clock), .reset(reset), .beat_valid(beat_valid), .beat_data(beat_data),
        .beat_first(beat_first), .beat_last(beat_last), .beat_tail_words(beat_tail_words),
        .phase(phase), .markers(markers), .check(check), .closed_valid(closed_valid),
        .closed_data(closed_data), .closed_words(closed_words), .closed_first(closed_first),
        .closed_last(closed_last), .closed_check(closed_check),
        .marker_distance(marker_distance), .marker_valid(marker_valid), .marker(marker)
    );
    (* hierconn *) wire [6:0] \block.to_marker$q ;

    // Where the beat's first word stands, in words after a marker position.
    reg [6:0] later = 0;
    wire [6:0] place = beat_first ? phase : later;
    // A beat holds four words, less those after the FPDU's end.
    wire [2:0] words = 4 - (beat_last ? beat_tail_words : 0);
    // A marker in lane 0 to 3, or none (4).
    wire [6:0] lane_1 = place + 1, lane_2 = place + 2, lane_3 = place + 3;
    wire [2:0] lane = !markers ? 4 : place == 0 ? 0
        : lane_1 == 0 && words > 1 ? 1 : lane_2 == 0 && words > 2 ? 2
        : lane_3 == 0 && words > 3 ? 3 : 4;
    wire [31:0] word_0 = beat_data[31:0], word_1 = beat_data[63:32];
    wire [31:0] word_2 = beat_data[95:64], word_3 = beat_data[127:96];
    wire [127:0] left = {
        word_3, lane <= 2 ? word_3 : word_2, lane <= 1 ? word_2 : word_1,
        lane == 0 ? word_1 : word_0
    };
    reg [127:0] left_1 = 0, left_2 = 0;
    reg [2:0] words_1 = 0, words_2 = 0;
    reg [31:0] marker_1 = 0, marker_2 = 0;
    reg hit_1 = 0, hit_2 = 0, valid_1 = 0, valid_2 = 0;
    reg first_1 = 0, first_2 = 0, last_1 = 0, last_2 = 0;
    reg [6:0] distance_1 = 0, distance_2 = 0;
    always @(posedge clock) begin
        if (beat_valid) later <= place + 4;
        {left_2, left_1} <= {left_1, left};
        {words_2, words_1} <= {words_1, words - (lane != 3'd4)};
        {marker_2, marker_1} <= {marker_1,
            lane == 0 ? word_0 : lane == 1 ? word_1 : lane == 2 ? word_2 : word_3};
        {hit_2, hit_1} <= {hit_1, lane != 3'd4};
        {valid_2, valid_1} <= reset ? 2'b0 : {valid_1, beat_valid};
        {first_2, first_1} <= {first_1, beat_first};
        {last_2, last_1} <= {last_1, beat_last};
        {distance_2, distance_1} <= {distance_1, -place};
    end
    reg [1:0] cycles = 0;
    always @(posedge clock) if (cycles != 3) cycles <= cycles + 1;
    always @(*) begin
        if (cycles >= 2) begin
            assert(closed_valid == valid_2);
            if (valid_2) begin
                assert(closed_words == words_2);
                if (words_2 > 0) assert(closed_data[31:0] == left_2[31:0]);
                if (words_2 > 1) assert(closed_data[63:32] == left_2[63:32]);
                if (words_2 > 2) assert(closed_data[95:64] == left_2[95:64]);
                if (words_2 > 3) assert(closed_data[127:96] == left_2[127:96]);
                assert(marker_valid == hit_2);
                if (hit_2) assert(marker == marker_2);
                assert(closed_first == first_2 && closed_last == last_2);
                if (first_2) assert(marker_distance == distance_2);
            end
        end
        // What makes these true after any number of cycles.
        assert(\block.to_marker$q + later == 7'd0);
    end
endmodule
