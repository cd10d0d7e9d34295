// A command places what was checked: memory is written only by a verdict that places, at the
// address that the region or the buffer gave, the segment's payload after its header, no more; and
// a command stands as it was composed until the next one.
module properties(
    input clock, input [`BITS_record-1:0] record, input [`BITS_segment-1:0] segment,
    input [`BITS_verdict-1:0] verdict, input [63:0] address, input [10:0] entry,
    input [3:0] entry_queue, input [31:0] word_7, input load
);
    wire [`BITS_command-1:0] command;
    wire [`BITS_fpdu_event-1:0] fpdu_event;
    wire [31:0] sequence_end;
    `BLOCK block(
        .clock(clock), .record(record), .segment(segment), .verdict(verdict), .address(address),
        .entry(entry), .entry_queue(entry_queue), .word_7(word_7), .load(load), .command(command), .fpdu_event(fpdu_event),
        .sequence_end(sequence_end)
    );
    localparam CHECK = 1, HOST = 3, DISCARD = 0, WRITE = 1, FRAME = 2;
    localparam ERROR = 3, RECEIVE = 1, RESPONSE = 2;
    reg loaded = 0, held = 0;
    reg [`BITS_record-1:0] of_record = 0;
    reg [`BITS_segment-1:0] of_segment = 0;
    reg [`BITS_verdict-1:0] of_verdict = 0;
    reg [63:0] of_address = 0;
    reg [3:0] of_queue = 0;
    reg [31:0] of_word_7 = 0;
    reg [`BITS_command-1:0] before = 0;
    always @(posedge clock) begin
        loaded <= load;
        held <= !load;
        before <= command;
        of_record <= record;
        of_segment <= segment;
        of_verdict <= verdict;
        of_address <= address;
        {of_queue, of_word_7} <= {entry_queue, word_7};
    end
    wire [2:0] of_kind = of_record[2:0];
    wire places = of_verdict[7], refused = of_verdict[5];
    wire receive = of_verdict[11], response = of_verdict[12], has_entry = of_verdict[20];
    wire [1:0] kind = command[1:0];
    wire [12:0] beats = command[14:2];
    wire [2:0] skip_words = command[17:15];
    wire [15:0] octets = command[97:82];
    wire complete = command[98];
    wire [3:0] queue = command[102:99];
    wire [31:0] word_0 = command[134:103], last_word = command[358:327];
    always @(*) begin
        // As verdict.sv proves: a frame for the host is not placed, reported or refused; what is reported
        // is one thing.
        if (of_kind == HOST) assume(!places && !refused && !receive && !response);
        assume(refused + receive + response <= 2'd1);
        if (has_entry) assume(refused || receive || response);
        if (loaded) begin
            assert((kind == WRITE) == places);
            assert((kind == FRAME) == (of_kind == HOST));
            assert(kind == DISCARD || kind == WRITE || kind == FRAME);
            if (kind == WRITE) begin
                assert(command[81:18] == of_address);
                assert(octets == of_segment[291:276]);
                assert(skip_words == (of_segment[3] ? 4 : 5));
            end
            if (kind == DISCARD) assert(octets == 0);
            if (kind == FRAME) assert(octets == of_record[102:87] && skip_words == 0);
            // What lies in the placement buffer is taken out, and nothing else.
            assert(beats == (of_kind == CHECK ? 0 : of_record[275:263]));
            assert(complete == has_entry);
            if (complete) begin
                assert(queue == of_queue && last_word == of_word_7);
                assert(word_0[3:0] == (refused ? ERROR : receive ? RECEIVE : RESPONSE));
                assert(word_0[31:16] == of_record[12:3]);
            end
        end
        if (held) assert(command == before);
    end
endmodule
