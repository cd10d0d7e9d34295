// One table operation at a time; a write that may revoke memory is over only when the room has done
// it and the fence after it has passed, unless it was told not to fence. An operation is short from
// its first cycle to its last, or never: what fences, or is another room's than ddp's, is not. Until then the request stands as it was given. A read of a
// region is over when the room has answered twice: what was asked for, and, after a cycle without a
// request, the rest of the same entry.
module properties(
    input clock, input reset, input command_write, input [9:0] word_write, input [31:0] write_data,
    input table_done, input [127:0] table_data, input fence_done
);
    wire busy, short, table_valid, fence;
    wire [319:0] words;
    wire [`BITS_table_request-1:0] table_request;
    `BLOCK block(
        .clock(clock), .reset(reset), .command_write(command_write), .word_write(word_write),
        .write_data(write_data), .busy(busy), .short(short), .words(words), .table_request(table_request),
        .table_valid(table_valid), .table_done(table_done), .table_data(table_data),
        .fence(fence), .fence_done(fence_done)
    );
    localparam READ_ON = 0, WRITE = 1, READ = 2, RELEASE = 3;
    localparam DDP = 4, QUEUE = 5, STAG = 8, REGION = 9, RECORDS = 13, LAST = 14;
    localparam REQUEST = 1, BETWEEN = 2, FENCE = 3;
    wire [1:0] operation = table_request[1:0];
    wire [3:0] number = table_request[5:2];
    // As the command said it.
    reg unfenced = 0;
    wire revokes = operation == WRITE && (number == QUEUE || number == STAG || number == REGION)
        && !unfenced;
    wire of_ddp = (number >= DDP && number <= REGION) || number == RECORDS;
    // Of the operation that runs.
    reg done_seen = 0, fenced = 0, passed = 0, answered = 0, rested = 0;
    reg [1:0] answers = 0;
    reg was_valid = 0, was_region_read = 0;
    reg started = 0, was_busy = 0, revoked = 0;
    reg [`BITS_table_request-1:0] request_before = 0;
    always @(posedge clock) begin
        started <= 1;
        was_busy <= busy && !reset;
        if (command_write && !busy) unfenced <= write_data[26];
        revoked <= revokes;
        request_before <= table_request;
        was_valid <= table_valid && !reset;
        was_region_read <= number == REGION && (operation == READ || operation == READ_ON);
        answered <= table_valid && (answered || table_done) && !reset;
        if (!busy) {done_seen, fenced, passed, rested, answers} <= 0;
        else begin
            if (table_done) done_seen <= 1;
            if (table_done) answers <= answers + 1;
            if (!table_valid) rested <= 1;
            if (fence) fenced <= 1;
            if (fence_done) passed <= 1;
        end
        if (reset) {done_seen, fenced, passed, rested, answers} <= 0;
    end
    always @(*) begin
        if (!started) assume(reset);
        // A room answers what it was asked (table_relay.sv), the fence what was begun (fence.sv).
        if (table_done) assume(table_valid && !answered);
        if (fence_done) assume(fenced && !passed);
        if (started) begin
            if (table_valid) assert(busy && !fenced);
            if (busy) assert(number != 0 && number <= LAST);
            if (busy && operation == READ_ON) assert(number == REGION && done_seen);
            if (busy && operation == READ_ON && table_valid) assert(rested);
            if (busy && was_busy) assert(table_request[21:2] == request_before[21:2]);
            if (table_valid && was_valid) assert(table_request == request_before);
            if (was_busy && !busy && was_region_read) assert(answers == 2);
            if (fence) assert(busy && done_seen && revokes && !fenced);
            if (was_busy && !busy) assert(done_seen);
            if (was_busy && !busy && revoked) assert(fenced && passed);
            assert(short == (busy && of_ddp && operation != RELEASE && !revokes));
            // What goes on from cycle to cycle.
            assert(\block.is_unfenced$q == unfenced);
            assert(\block.state$q <= FENCE && busy == (\block.state$q != 0));
            assert(!\block.reads_on$q || \block.operation$q == READ && number == REGION);
            assert(\block.reads_on$q || \block.operation$q != 0 || !busy);
            if (\block.reads_on$q ) assert(\block.state$q == REQUEST || \block.state$q == BETWEEN);
            if (\block.state$q == BETWEEN) assert(\block.reads_on$q && answers == 1 && answered);
            if (\block.state$q == BETWEEN) assert(!rested && !\block.is_done$q );
            if (\block.state$q == REQUEST) assert(rested == \block.reads_on$q );
            if (\block.state$q == REQUEST) assert(answers == answered + \block.reads_on$q );
            if (\block.state$q == REQUEST) assert(answered == \block.is_done$q );
            if (\block.state$q == FENCE) assert(done_seen && fenced && !passed && revokes);
            if (\block.state$q == REQUEST) assert(!fenced && !passed);
            if (\block.state$q == REQUEST && \block.is_done$q ) assert(done_seen);
            if (!busy && !was_busy) assert(!done_seen && !fenced && !passed);
        end
    end
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire [1:0] \block.operation$q ;
    (* hierconn *) wire \block.is_done$q ;
    (* hierconn *) wire \block.reads_on$q ;
    (* hierconn *) wire \block.is_unfenced$q ;
endmodule
