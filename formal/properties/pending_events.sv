// Any one connection `c`: it has at most one pending event, and none is lost. What is reported of it
// is in its entry, reasons and range, until its event is taken; the event has exactly what was
// reported since the one before. A reason that must be reported at once has an event pending. Of the
// acceptable segments the highest SEG.ACK is in the entry, by the sign of the difference, with the
// window of its segment, the last one of equals; if all are less than half of sequence space after
// some number, none is farther from it.
//
// Two reports are five cycles apart or more, and so are two first FPDUs. An event is taken only if
// its number was pushed and not taken since: numbers wait in a FIFO (block_fifo.sv). The block starts
// as a reset leaves it, with empty entries.
module properties(
    input clock, input [`BITS_report-1:0] report, input report_valid, input [9:0] first_fpdu,
    input first_fpdu_valid, input [4:0] delay_log2, input take, input [9:0] take_connection
);
    wire push, taking, taken_valid;
    wire [9:0] push_connection;
    wire [120:0] taken;
    `BLOCK block(
        .clock(clock), .reset(1'b0), .report(report), .report_valid(report_valid),
        .first_fpdu(first_fpdu), .first_fpdu_valid(first_fpdu_valid), .delay_log2(delay_log2),
        .push(push), .push_connection(push_connection), .take(take),
        .take_connection(take_connection), .taking(taking), .taken(taken),
        .taken_valid(taken_valid)
    );
    (* hierconn *) wire [9:0] \block.entries.watched_address ;
    (* hierconn *) wire [120:0] \block.entries.watched_data ;
    (* hierconn *) wire [120:0] \block.entries.fetched ;
    (* hierconn *) wire [120:0] \block.entries.read_data ;
    (* hierconn *) wire \block.has_report$q ;
    (* hierconn *) wire \block.has_fpdu$q ;
    (* hierconn *) wire [132:0] \block.held_report$q ;
    (* hierconn *) wire [9:0] \block.held_fpdu$q ;
    (* hierconn *) wire \block.is_address$q ;
    (* hierconn *) wire \block.is_fetch$q ;
    (* hierconn *) wire \block.is_change$q ;
    (* hierconn *) wire [135:0] \block.address$q ;
    (* hierconn *) wire [135:0] \block.change$q ;
    (* hierconn *) wire [29:0] \block.change_octets$q ;
    (* hierconn *) wire [120:0] \block.written$q ;
    (* hierconn *) wire [120:0] \block.stored ;
    (* hierconn *) wire \block.forwards$q ;
    (* hierconn *) wire \block.advances$q ;
    (* hierconn *) wire [9:0] \block.written_connection$q ;
    (* hierconn *) wire \block.writes$q ;
    (* hierconn *) wire \block.pushes$q ;
    (* hierconn *) wire \block.at_once$q ;
    wire [9:0] c = \block.entries.watched_address ;

    // Each input leaves its register before the next one comes, as the operation that it says.
    reg [2:0] since_report = 5, since_fpdu = 5;
    reg [132:0] given_report = 0;
    reg [9:0] given_fpdu = 0;
    // An input waited in its register in the cycle before, and came or was not issued.
    reg report_waits = 0, fpdu_waits = 0;
    wire free = !\block.is_address$q ;
    wire issues_fpdu = free && \block.has_fpdu$q ;
    wire issues_report = free && !\block.has_fpdu$q && \block.has_report$q ;
    always @(posedge clock) begin
        since_report <= report_valid ? 1 : since_report == 5 ? 5 : since_report + 1;
        since_fpdu <= first_fpdu_valid ? 1 : since_fpdu == 5 ? 5 : since_fpdu + 1;
        if (report_valid) given_report <= report;
        if (first_fpdu_valid) given_fpdu <= first_fpdu;
        report_waits <= report_valid || (\block.has_report$q && !issues_report);
        fpdu_waits <= first_fpdu_valid || (\block.has_fpdu$q && !issues_fpdu);
    end
    // Operations as they were issued: connection, reasons, range, begins, acknowledgement; takes.
    reg [133:0] issued = 0, fetching = 0;
    reg issued_takes = 0, fetching_takes = 0;
    reg was_issued = 0, was_fetched = 0, was_changed = 0;
    wire issues = issues_fpdu || issues_report || taking;
    always @(posedge clock) begin
        was_issued <= issues;
        was_fetched <= was_issued;
        was_changed <= was_fetched;
        if (issues) begin
            issued <= issues_fpdu ? {49'b0, 1'b0, 65'b0, 9'h100, given_fpdu}
                : issues_report ? {given_report[132:84], given_report[83], given_report[82:51],
                    given_report[50:19], given_report[18], 1'b0, given_report[17:10],
                    given_report[9:0]}
                : {124'b0, take_connection};
            issued_takes <= taking;
        end
        if (was_fetched) begin
            fetching <= issued;
            fetching_takes <= issued_takes;
        end
    end
    wire [133:0] changing = {\block.change$q [135:87], \block.change$q [84:0]};
    // Without a range its bounds do not matter; without a report neither do any.
    wire range_counts = fetching[19];
    wire [29:0] span = fetching[83:52] - fetching[51:20];

    wire changes_c = \block.is_change$q && \block.change$q [9:0] == c;
    wire [120:0] entry = \block.written_connection$q == c
        ? \block.stored : \block.entries.watched_data ;
    wire begins = \block.change$q [84], takes = \block.change$q [85], visits = \block.change$q [86];
    wire [8:0] reasons = \block.change$q [18:10];
    // What is owed to the sender's software of connection c.
    reg [8:0] owed = 0;
    reg [31:0] left = 0;
    reg [29:0] octets = 0;
    reg queued = 0, raised = 0;
    // The acknowledgement owed: of the segments that joined; and the farthest from `base`, if all
    // are in the half of sequence space from there on.
    (* anyconst *) reg [31:0] base;
    reg has_ack = 0, all_near = 1;
    reg [31:0] ack = 0, farthest = 0;
    reg [15:0] wnd = 0;
    wire joins = \block.change$q [87];
    wire [31:0] joining = \block.change$q [119:88];
    wire [31:0] advance = joining - ack, distance = joining - base;
    always @(posedge clock) begin
        if (changes_c) begin
            if (begins || takes) has_ack <= 0;
            else if (joins) begin
                has_ack <= 1;
                if (!has_ack || !advance[31]) {wnd, ack} <= \block.change$q [135:88];
                all_near <= (!has_ack || all_near) && !distance[31];
                farthest <= !has_ack || distance > farthest ? distance : farthest;
            end
        end
    end
    always @(posedge clock) begin
        raised <= 0;
        if (changes_c) begin
            owed <= begins || takes ? 0 : owed | reasons;
            if (begins) {left, octets} <= 0;
            else if (\block.change$q [19])
                {left, octets} <= {\block.change$q [51:20], \block.change_octets$q };
            raised <= !begins && !takes && (reasons[8:1] != 0
                || ((reasons[0] || visits) && owed[0]) || (reasons[0] && \block.at_once$q ));
        end
        if (push && push_connection == c) queued <= 1;
        if (taking && take_connection == c) queued <= 0;
    end
    wire pushing = \block.pushes$q && \block.written_connection$q == c;
    wire takes_c = ((\block.is_address$q || \block.is_fetch$q ) && \block.address$q [85]
        && \block.address$q [9:0] == c) || (changes_c && takes);
    always @(*) begin
        assume(!report_valid || since_report == 5);
        assume(!first_fpdu_valid || since_fpdu == 5);
        assume(!take || take_connection != c || queued);
        // A connection begins without a segment.
        assume(!report[83] || (report[18:10] == 0 && !report[84]));

        assert(\block.has_report$q == report_waits && \block.has_fpdu$q == fpdu_waits);
        if (\block.has_report$q ) assert(since_report < 5 && \block.held_report$q == given_report);
        if (\block.has_fpdu$q ) assert(since_fpdu < 3 && \block.held_fpdu$q == given_fpdu);
        if (\block.has_report$q && since_report == 4) assert(issues_report);
        if (\block.has_report$q && since_report == 3) assert(!issues_fpdu);
        if (was_issued) assert(\block.is_address$q );
        assert(!(\block.is_address$q && \block.is_fetch$q ));
        assert(!(\block.is_fetch$q && \block.is_change$q ));
        if (was_issued || was_fetched) begin
            assert(\block.address$q [19:0] == issued[19:0]);
            assert(\block.address$q [85:84] == {issued_takes, issued[84]});
            assert(!\block.address$q [86]);
            if (issued[19]) assert(\block.address$q [83:20] == issued[83:20]);
            assert(\block.address$q [87] == issued[85]);
            if (issued[85]) assert(\block.address$q [135:88] == issued[133:86]);
        end
        assert(was_fetched <= \block.is_fetch$q );
        assert(was_changed <= \block.is_change$q );
        // The operation changes the entry as it was issued, two cycles after it was addressed.
        if (was_changed) begin
            assert(changing[19:0] == fetching[19:0] && begins == fetching[84]);
            assert(takes == fetching_takes && !visits);
            assert(changing[85] == fetching[85]);
            if (fetching[85]) assert(changing[133:86] == fetching[133:86]);
            if (range_counts) begin
                assert(changing[51:20] == fetching[51:20]);
                assert(\block.change_octets$q == span);
            end
        end
        // Others only visit.
        if (\block.is_change$q && !was_changed) assert(visits && !takes && !begins && reasons == 0
            && !\block.change$q [19] && !joins);
        if ((\block.is_address$q && !was_issued) || (\block.is_fetch$q && !was_fetched))
            assert(\block.address$q [87:84] == 4 && \block.address$q [19:10] == 0);

        // What is read is what was written last. Which entry that was is known a cycle before.
        assert(\block.is_change$q || \block.change$q [9:0] == \block.written_connection$q );
        if (\block.is_change$q ) assert(!\block.advances$q && \block.forwards$q
            == (\block.change$q [9:0] == \block.written_connection$q ));
        if (\block.written_connection$q == c && !\block.writes$q )
            assert(\block.entries.watched_data == \block.written$q );
        if (\block.is_fetch$q && \block.address$q [9:0] == c && \block.written_connection$q != c)
            assert(\block.entries.fetched == \block.entries.watched_data );
        if (changes_c && \block.written_connection$q != c)
            assert(\block.entries.read_data == \block.entries.watched_data );

        // The entry has what is owed; one event is pending at most, and one if it has to be.
        assert(entry[8:0] == owed && entry[41:10] == left && entry[71:42] == octets);
        assert(entry[72] == has_ack);
        if (has_ack) assert(entry[104:73] == ack && entry[120:105] == wnd);
        if (has_ack && all_near) assert(farthest == ack - base && !farthest[31]);
        assert(entry[9] == (queued || pushing || takes_c));
        assert(queued + pushing + takes_c <= 1);
        if (owed[8:1] != 0 || raised) assert(entry[9]);
        if (push && push_connection == c) assert(!queued);
        if (taken_valid && \block.change$q [9:0] == c)
        begin
            assert(taken[8:0] == owed && taken[41:10] == left && taken[71:42] == octets);
            assert(taken[72] == has_ack);
            if (has_ack) assert(taken[104:73] == ack && taken[120:105] == wnd);
        end
        assert(taken_valid == (was_changed && fetching_takes));
    end
endmodule
