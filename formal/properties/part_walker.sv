// Each part that has a tag gives it back once, when its last word is read or when it is dropped.
// A word is read only of a part whose tag was over and had not failed; the words are those of its
// octets. A read is answered once: without an error after its last octet, or with one.
module properties(
    input clock, input reset, input [`BITS_part-1:0] part, input part_valid, input [15:0] now,
    input [15:0] timeout_ticks, input head_open, input head_failed, input hold
);
    wire part_room, retire, beat_valid, beat_last, finish_valid, timed_out, refused;
    wire [5:0] head_tag, retire_tag;
    wire [8:0] read_address;
    wire [3:0] beat_first;
    wire [6:0] beat_octets;
    wire [8:0] finish;
    `BLOCK block(
        .clock(clock), .reset(reset), .part(part), .part_valid(part_valid),
        .part_room(part_room), .now(now), .timeout_ticks(timeout_ticks), .head_tag(head_tag),
        .head_open(head_open), .head_failed(head_failed), .retire(retire),
        .retire_tag(retire_tag), .read_address(read_address), .beat_valid(beat_valid),
        .beat_first(beat_first), .beat_octets(beat_octets), .beat_last(beat_last), .hold(hold),
        .finish(finish), .finish_valid(finish_valid), .timed_out(timed_out), .refused(refused)
    );
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire \block.take ;
    (* hierconn *) wire \block.known$q ;
    (* hierconn *) wire \block.good$q ;
    (* hierconn *) wire \block.lost$q ;
    (* hierconn *) wire [8:0] \block.at$q ;
    (* hierconn *) wire [`BITS_part-1:0] \block.current$q ;
    (* hierconn *) wire \block.may_go ;
    (* hierconn *) wire \block.valid$q ;
    (* hierconn *) wire \block.last$q ;
    (* hierconn *) wire \block.nothing$q ;
    (* hierconn *) wire [3:0] \block.start$q ;
    (* hierconn *) wire [3:0] \block.stop$q ;
    (* hierconn *) wire [`BITS_part-1:0] \block.parts.head$q ;
    (* hierconn *) wire \block.parts.head_valid$q ;
    localparam IDLE = 0, STREAM = 1, SKIP = 2;

    wire [`BITS_part-1:0] head = \block.parts.head$q ;
    wire taken = \block.take ;
    always @(*) begin
        // read_requester.sv; what the FIFO gives is what it was given (fifo.sv).
        if (\block.parts.head_valid$q ) assume(head[30:22] <= head[39:31] && head[5:4] == 0);
    end

    // The part that is read, and its next octet; the end of the read at hand has been reported.
    reg reading = 0, reported = 0;
    reg [`BITS_part-1:0] held = 0;
    reg [8:0] next = 0;
    // What became of the head in the cycle before, while it was the head.
    reg was_over = 0, was_late = 0, was_failed = 0, same = 0;
    reg [`BITS_part-1:0] head_before = 0;
    wire reads = \block.state$q == STREAM && \block.may_go ;
    wire [8:0] word_end = next | 9'hf;
    wire at_last = word_end >= held[39:31];
    reg read_1 = 0;
    reg [8:0] address_1 = 0;
    reg [3:0] start_1 = 0, stop_1 = 0;
    always @(posedge clock) begin
        if (reads) next <= word_end + 1;
        if (reading && retire) reading <= 0;
        if (taken && \block.state$q != SKIP && !(finish_valid && finish[8])) begin
            reading <= 1;
            held <= head;
            next <= head[30:22];
        end
        if (finish_valid && finish[8] && !head[41]) reported <= 1;
        if (reported && taken && head[41]) reported <= 0;
        if (reset) {reading, reported} <= 0;
        same <= \block.parts.head_valid$q && !taken && !reset;
        was_over <= !head_open && !head_failed;
        was_failed <= head_failed;
        was_late <= head_open && now - head[21:6] > timeout_ticks;
        head_before <= head;
        read_1 <= reads && !reset;
        address_1 <= {held[3:0], next[8:4]};
        start_1 <= next[3:0];
        stop_1 <= at_last ? held[34:31] : 4'hf;
    end
    always @(*) begin
        // A tag goes back: of the part that is read, with its last word, or of one that is dropped.
        if (reading && retire) assert(reads && at_last && retire_tag == held[5:0]);
        if (reading && reads && at_last) assert(retire);
        if (!reading && retire) assert(taken && !head[40] && retire_tag == head[5:0]);
        if (!reading && taken && !head[40])
            assert(retire || (\block.state$q == IDLE && same && was_over));
        if (reading && taken) assert(retire && same && was_over && !head[40]);
        if (taken) assert(\block.parts.head_valid$q );
        // Words.
        if (reads) assert(reading && !hold);
        if (read_1) assert(read_address == address_1);
        // The end of a read.
        if (finish_valid) assert(!reported);
        if (finish_valid && !finish[8])
            assert(reading && reads && at_last && held[41] && finish[7:0] == held[49:42]);
        if (reading && reads && at_last && held[41]) assert(finish_valid && !finish[8]);
        if (finish_valid && finish[8]) begin
            assert(!reading && taken && finish[7:0] == head[49:42]);
            assert(head[40] || (same && (was_failed || was_late)));
        end
        if (reported && taken && !head[40]) assert(retire);
        if (timed_out) assert(finish_valid && finish[8] && was_late);
        if (refused) assert(finish_valid && finish[8] && head[40]);
        // What makes these true after any number of cycles.
        assert(\block.state$q != 3);
        assert(reading == (\block.state$q == STREAM) && reported == (\block.state$q == SKIP));
        if (same) assert(\block.parts.head_valid$q && head == head_before);
        assert(!\block.known$q || same);
        if (same && \block.known$q ) begin
            assert(\block.good$q == (was_over && !head[40]));
            assert(\block.lost$q == (was_failed || head[40] || was_late));
        end
        if (reading) begin
            assert(\block.current$q == held && \block.at$q == next && !held[40]);
            assert(next <= held[39:31] && held[5:4] == 0);
        end
        assert(read_1 == (\block.valid$q && !\block.nothing$q ));
        if (read_1) assert(\block.start$q == start_1 && \block.stop$q == stop_1);
        if (read_1) assert(start_1 <= stop_1);
    end
endmodule
