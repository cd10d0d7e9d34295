// A release is answered once the manager has done it (`take_request`) and after the record fence
// that follows; no operation is begun while that fence is under way, and none before a stop
// that is queued, which may be for the connection that had the id before.
module properties(
    input clock, input reset, input accepted_valid, input host_frame_valid, input job_done_valid,
    input [9:0] stream_error, input stream_error_valid,
    input [`BITS_table_request-1:0] table_request, input table_valid, input job_room,
    input job_credit, input record_fence_done, input release_waits, input drop_pending,
    input take_accepted, input take_host, input take_done, input take_stream_error,
    input take_request
);
    wire table_done, record_fence;
    wire [`BITS_next_event-1:0] next_event;
    `BLOCK block(
        .clock(clock), .reset(reset), .accepted_valid(accepted_valid),
        .host_frame_valid(host_frame_valid), .job_done_valid(job_done_valid),
        .stream_error(stream_error), .stream_error_valid(stream_error_valid),
        .table_request(table_request), .table_valid(table_valid), .table_done(table_done),
        .job_room(job_room), .job_credit(job_credit), .record_fence(record_fence),
        .record_fence_done(record_fence_done), .release_waits(release_waits),
        .drop_pending(drop_pending), .next_event(next_event), .take_accepted(take_accepted),
        .take_host(take_host), .take_done(take_done), .take_stream_error(take_stream_error),
        .take_request(take_request)
    );
    (* hierconn *) wire \block.answer$q ;
    (* hierconn *) wire \block.fencing$q ;
    (* hierconn *) wire \block.stream_error_queue.empty ;
    localparam RELEASE = 3, START = 5;
    wire begins = next_event >= START;
    wire releases = table_request[1:0] == RELEASE;

    // The operation on the bus has been done in the manager; the fence after it has answered.
    reg done = 0, fenced = 0, started = 0, stands = 0;
    reg [`BITS_table_request-1:0] request = 0;
    always @(posedge clock) begin
        started <= 1;
        stands <= table_valid && !table_done && !reset;
        request <= table_request;
        if (take_request) done <= 1;
        if (record_fence && record_fence_done) fenced <= 1;
        if (table_done || reset) {done, fenced} <= 0;
    end
    always @(*) begin
        if (!started) assume(reset);
        // The bus (table_relay.sv), the manager, and the fence (record_fence.sv).
        if (stands) assume(table_valid && table_request == request);
        if (done && !table_done) assume(table_valid);
        if (take_request) assume(table_valid && !done);
        if (!record_fence) assume(!record_fence_done);
        if (started && !reset) begin
            if (table_done) assert(done && (fenced || !releases));
            if (begins) assert(!done && \block.stream_error_queue.empty );
            if (record_fence) assert(done && !fenced && releases && !table_done);
        end
        // What goes on from cycle to cycle.
        if (started) begin
            assert(\block.answer$q == (done && (fenced || !releases)));
            assert(\block.fencing$q == (done && !fenced && releases));
            if (fenced) assert(done);
            if (done) assert(stands);
        end
    end
endmodule
