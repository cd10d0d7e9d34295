// An entry of a completion queue gets its number only while fewer than `entries` numbers of that
// queue are not consumed, the numbers of a queue follow each other from 0 on, and the phase turns at
// each wrap. So no entry is written that the driver has not consumed, and none is left out.
//
// Any one queue is observed (`watched`), whatever happens to the others.
module properties(
    input clock, input [`BITS_cq_write-1:0] cq_write, input [3:0] cq, input decide,
    input numbers, input loses
);
    wire full;
    wire [3:0] entry_queue;
    wire [31:0] word_7;
    wire [`BITS_cq_report-1:0] cq_report;
    `BLOCK block(
        .clock(clock), .cq_write(cq_write), .cq(cq), .decide(decide), .numbers(numbers),
        .loses(loses), .full(full), .entry_queue(entry_queue), .word_7(word_7),
        .cq_report(cq_report)
    );
    (* hierconn *) wire [3:0] \block.numbered.watched_address ;
    (* hierconn *) wire [3:0] \block.consumers.watched_address ;
    (* hierconn *) wire [3:0] \block.sizes.watched_address ;
    (* hierconn *) wire [30:0] \block.numbered.watched_data ;
    (* hierconn *) wire [16:0] \block.consumers.watched_data ;
    (* hierconn *) wire [4:0] \block.sizes.watched_data ;
    (* hierconn *) wire [16:0] \block.distance$q ;
    (* hierconn *) wire [4:0] \block.log2_q3$q ;
    (* hierconn *) wire [30:0] \block.number_q3$q ;
    (* hierconn *) wire [30:0] \block.number_q4$q ;
    (* hierconn *) wire [3:0] \block.queue_q3$q ;
    (* hierconn *) wire [3:0] \block.queue_q4$q ;
    (* hierconn *) wire \block.is_full$q ;
    (* hierconn *) wire \block.phase$q ;
    (* hierconn *) wire \block.empties$q ;
    (* hierconn *) wire [3:0] \block.emptied$q ;
    wire [3:0] watched = \block.numbered.watched_address ;

    // The queue as driver and device know it: numbers given since its set-up, how many of them are
    // consumed, and log2 of its entries. A set-up is over when its number is 0.
    reg [30:0] given = 0, given_1 = 0, given_2 = 0;
    reg [16:0] consumed = 0, consumed_1 = 0;
    reg [4:0] log2 = 0, log2_1 = 0;
    reg setting_up = 0;
    // Cycles since a record had or lost its entry, and since a register was written, up to 7.
    reg [2:0] after_record = 7, after_write = 7;
    reg mine_1 = 0, mine_2 = 0, decided = 0, decided_full = 0, decided_mine = 0;
    reg full_2 = 0, reported = 0, ran_1 = 0, ran_2 = 0;
    wire mine = cq == watched;
    wire written = cq_write[3:0] == watched;
    wire sets_up = cq_write[38], consumes = cq_write[39];
    wire [17:0] entries = 18'd1 << log2;
    wire [16:0] unconsumed = given[16:0] - consumed;
    wire [16:0] unconsumed_1 = given_1[16:0] - consumed_1;
    wire [16:0] consumes_to = cq_write[20:4];
    wire [16:0] advance = consumes_to - consumed;
    wire gives = numbers && decided_mine;
    always @(posedge clock) begin
        {ran_2, ran_1} <= {ran_1, 1'b1};
        {mine_2, mine_1} <= {mine_1, mine};
        {given_2, given_1} <= {given_1, given};
        consumed_1 <= consumed;
        log2_1 <= log2;
        full_2 <= log2_1 == 0 || unconsumed_1 >= (18'd1 << log2_1);
        if (written && consumes) consumed <= consumes_to;
        if (written && sets_up) log2 <= cq_write[8:4];
        if (written && sets_up) setting_up <= 1;
        else if (!numbers && !loses) setting_up <= 0;
        if (setting_up && !numbers && !loses) given <= 0;
        if (gives) given <= given + 1;
        reported <= gives || (setting_up && !numbers && !loses);
        decided <= decide;
        decided_mine <= decide && mine_2;
        decided_full <= full;
        after_record <= numbers || loses ? 0 : after_record + (after_record != 7);
        after_write <= sets_up || consumes ? 0 : after_write + (after_write != 7);
    end
    always @(*) begin
        assume(watched == \block.consumers.watched_address );
        assume(watched == \block.sizes.watched_address );
        // The register file sets one bit at most, and none for 3 cycles after one.
        assume(!(sets_up && consumes));
        if (sets_up || consumes) assume(after_write >= 3);
        if (sets_up) assume(cq_write[35:4] <= 16);
        // A record has its entry or loses it one cycle after its decision, as its verdict says.
        assume(!(numbers && loses));
        if (numbers) assume(decided && !decided_full);
        if (loses) assume(decided && decided_full);
        // The next one begins after that: 2 cycles before its cycle 2 (sequencer.sv).
        if (decide) assume(ran_2 && !numbers && !loses && after_record >= 4);
        // The driver's contract (rnic_abi::registers): a queue is set up while no connection uses it,
        // with the consumer at 0, which it gets while the queue is off; what is consumed has its
        // number.
        if ((written && sets_up) || setting_up) assume(!mine && !mine_1 && !mine_2 && !decided_mine);
        if (written && sets_up) assume(consumed == 0 || cq_write[8:4] == 0);
        if (written && consumes && log2 != 0) assume(advance <= unconsumed);
`ifdef ONE_QUEUE
        // One queue of two entries, of which nothing is consumed.
        assume(watched == 0 && cq_write[3:0] == 0 && !consumes && !loses);
        if (sets_up) assume(cq_write[35:4] == 1);
        if (log2 != 0) assume(!sets_up);
        if (log2 != 0 && !setting_up) assume(cq == 0);
`endif
    end
    always @(*) begin
        if (decide && mine_2) begin
            // Full by the registers of two cycles ago; the driver can only have made room since.
            assert(full == full_2);
            if (!full) assert(log2 != 0 && unconsumed < entries);
        end
        if (gives) begin
            assert(entry_queue == watched && word_7[30:0] == given);
            assert(word_7[31] == !given[log2]);
            assert(log2 != 0 && unconsumed < entries);
        end
        if (reported) assert(cq_report[4] && cq_report[3:0] == watched && cq_report[35:5] == given);
        if (cq_report[4] && cq_report[3:0] == watched) assert(reported);
`ifndef BROKEN
        // What makes these true after any number of cycles.
        if (log2 != 0 && !setting_up) assert(unconsumed <= entries);
        assert(log2 <= 16 && log2_1 <= 16);
        assert(\block.numbered.watched_data == given);
        assert(\block.consumers.watched_data == consumed);
        assert(\block.sizes.watched_data == log2);
        assert(setting_up == (\block.empties$q && \block.emptied$q == watched));
        if (\block.empties$q ) assert(after_write < 2);
        if (mine_1) begin
            assert(\block.distance$q == unconsumed_1 && \block.log2_q3$q == log2_1);
            assert(\block.number_q3$q == given_1);
        end
        if (ran_1) assert(mine_1 == (\block.queue_q3$q == watched));
        if (ran_2) assert(mine_2 == (\block.queue_q4$q == watched));
        if (mine_2) assert(\block.is_full$q == full_2 && \block.number_q4$q == given_2);
`endif
    end
endmodule
