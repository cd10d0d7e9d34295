// The head of a ring passes a frame with a status in the cycle after that status leaves, and not
// otherwise; one without a status, or of a ring that settles when it is examined, writes nothing.
// A report has the head of its ring as it was when the report was composed. So no report passes a
// frame before its status.
module properties(
    input clock, input reset, input [15:0] device_id, input [`BITS_frame_end-1:0] frame_end,
    input frame_end_valid, input [63:0] control_base, input [63:0] control_report,
    input control_set_up, input [4:0] control_units_log2, input [31:0] control_head,
    input [31:0] control_given_up, input control_stopped, input control_stops,
    input control_settles, input [63:0] bulk_base, input [63:0] bulk_report, input bulk_set_up,
    input [4:0] bulk_units_log2, input [31:0] bulk_head, input [31:0] bulk_given_up,
    input bulk_stopped, input bulk_stops, input bulk_settles, input tlp_ready
);
    wire frame_end_ready, control_writing, bulk_writing, control_passes, bulk_passes, gave_up;
    wire refused, tlp_last, tlp_valid;
    wire [3:0] pass_units, tlp_keep;
    wire [127:0] tlp_data, tlp_header;
    `BLOCK block(
        .clock(clock), .reset(reset), .device_id(device_id), .frame_end(frame_end),
        .frame_end_valid(frame_end_valid), .frame_end_ready(frame_end_ready),
        .control_base(control_base), .control_report(control_report),
        .control_set_up(control_set_up), .control_units_log2(control_units_log2),
        .control_head(control_head), .control_given_up(control_given_up),
        .control_stopped(control_stopped), .control_stops(control_stops),
        .control_settles(control_settles), .bulk_base(bulk_base), .bulk_report(bulk_report),
        .bulk_set_up(bulk_set_up), .bulk_units_log2(bulk_units_log2), .bulk_head(bulk_head),
        .bulk_given_up(bulk_given_up), .bulk_stopped(bulk_stopped), .bulk_stops(bulk_stops),
        .bulk_settles(bulk_settles), .control_writing(control_writing),
        .bulk_writing(bulk_writing), .control_passes(control_passes), .bulk_passes(bulk_passes),
        .pass_units(pass_units), .gave_up(gave_up), .refused(refused), .tlp_data(tlp_data),
        .tlp_keep(tlp_keep), .tlp_last(tlp_last), .tlp_valid(tlp_valid), .tlp_ready(tlp_ready),
        .tlp_header(tlp_header)
    );
    (* hierconn *) wire [2:0] \block.state$q ;
    (* hierconn *) wire \block.sends$q ;
    (* hierconn *) wire \block.is_status$q ;
    (* hierconn *) wire \block.ring$q ;
    (* hierconn *) wire [3:0] \block.keep$q ;
    (* hierconn *) wire [127:0] \block.words$q ;

    wire ring = frame_end[0];
    wire [1:0] status = frame_end[6:5];
    wire settles = ring ? bulk_settles : control_settles;
    wire leaves = tlp_valid && tlp_ready;

    reg waits = 0, status_left = 0, settled = 0;
    reg [`BITS_frame_end-1:0] frame_end_before = 0;
    reg [31:0] control_composed = 0, bulk_composed = 0;
    always @(posedge clock) begin
        waits <= frame_end_valid && !frame_end_ready && !reset;
        status_left <= leaves && tlp_keep == 1 && !reset;
        frame_end_before <= frame_end;
        if (\block.state$q == 0) begin
            control_composed <= control_head;
            bulk_composed <= bulk_head;
            settled <= settles;
        end
    end
    always @(*) begin
        // Ends of frames wait until they are taken.
        if (waits) assume(frame_end_valid && frame_end == frame_end_before);

        assert(frame_end_ready == (control_passes || bulk_passes));
        assert(!(control_passes && bulk_passes));
        if (frame_end_ready) begin
            assert(frame_end_valid && bulk_passes == ring && pass_units == frame_end[4:1]);
            assert(status_left == (status != 0 && !settled));
            assert(gave_up == (status_left && !settles));
        end
        if (leaves && tlp_keep == 1) assert(!frame_end_ready && tlp_data[31:0] == status);
        if (status_left) assert(frame_end_ready);
        if (tlp_valid) assert(tlp_last && (tlp_keep == 1 || tlp_keep == 15));
        if (tlp_valid && tlp_keep == 15)
            assert(tlp_data[31:0] == (bulk_writing ? bulk_composed : control_composed));
        assert(!(control_writing && bulk_writing));
        if (tlp_valid) assert(control_writing || bulk_writing);

        // For the induction.
        assert(\block.state$q <= 5);
        assert(\block.sends$q == (\block.state$q == 4));
        assert((\block.state$q == 5 && \block.is_status$q ) == status_left);
        if (\block.state$q == 1 || \block.state$q == 2) assert(\block.is_status$q );
        if (\block.state$q == 5) assert(waits && \block.ring$q == frame_end_before[0]
            && \block.is_status$q == (frame_end_before[6:5] != 0 && !settled));
        else if (\block.state$q != 0) begin
            assert(\block.keep$q == (\block.is_status$q ? 1 : 15));
            if (\block.is_status$q )
                assert(waits && frame_end_before[6:5] != 0 && !settled
                    && \block.ring$q == frame_end_before[0]
                    && \block.words$q == frame_end_before[6:5]);
            else
                assert(\block.words$q [31:0]
                    == (\block.ring$q ? bulk_composed : control_composed));
        end
    end
endmodule
