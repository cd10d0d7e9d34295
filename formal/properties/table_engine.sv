// One table operation at a time; a write that may revoke memory is over only when the room has done
// it and the fence after it has passed. Until then the request stands as it was given.
module properties(
    input clock, input reset, input command_write, input [9:0] word_write, input [31:0] write_data,
    input table_done, input [127:0] table_data, input fence_done
);
    wire busy, table_valid, fence;
    wire [319:0] words;
    wire [`BITS_table_request-1:0] table_request;
    `BLOCK block(
        .clock(clock), .reset(reset), .command_write(command_write), .word_write(word_write),
        .write_data(write_data), .busy(busy), .words(words), .table_request(table_request),
        .table_valid(table_valid), .table_done(table_done), .table_data(table_data),
        .fence(fence), .fence_done(fence_done)
    );
    localparam WRITE = 1, QUEUE = 5, STAG = 8, REGION = 9, LAST = 14, REQUEST = 1, FENCE = 2;
    wire [1:0] operation = table_request[1:0];
    wire [3:0] number = table_request[5:2];
    wire revokes = operation == WRITE && (number == QUEUE || number == STAG || number == REGION);
    // Of the operation that runs.
    reg done_seen = 0, fenced = 0, passed = 0;
    reg started = 0, was_busy = 0, revoked = 0;
    reg [`BITS_table_request-1:0] request_before = 0;
    always @(posedge clock) begin
        started <= 1;
        was_busy <= busy && !reset;
        revoked <= revokes;
        request_before <= table_request;
        if (!busy) {done_seen, fenced, passed} <= 0;
        else begin
            if (table_done) done_seen <= 1;
            if (fence) fenced <= 1;
            if (fence_done) passed <= 1;
        end
        if (reset) {done_seen, fenced, passed} <= 0;
    end
    always @(*) begin
        if (!started) assume(reset);
        // A room answers what it was asked (table_relay.sv), the fence what was begun (fence.sv).
        if (table_done) assume(table_valid);
        if (fence_done) assume(fenced && !passed);
        if (started) begin
            if (table_valid) assert(busy && !fenced);
            if (busy) assert(operation != 0 && number != 0 && number <= LAST);
            if (busy && was_busy) assert(table_request == request_before);
            if (fence) assert(busy && done_seen && revokes && !fenced);
            if (was_busy && !busy) assert(done_seen);
            if (was_busy && !busy && revoked) assert(fenced && passed);
            // What goes on from cycle to cycle.
            assert(\block.state$q <= FENCE && busy == (\block.state$q != 0));
            if (\block.state$q == FENCE) assert(done_seen && fenced && !passed && revokes);
            if (\block.state$q == REQUEST) assert(!fenced && !passed);
            if (\block.state$q == REQUEST && \block.is_done$q ) assert(done_seen);
            if (!busy && !was_busy) assert(!done_seen && !fenced && !passed);
        end
    end
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire \block.is_done$q ;
endmodule
