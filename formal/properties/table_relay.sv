// A room sees each table operation once and as it was given; its answer is passed on once. In reset
// it sees every index in turn, with zero data.
module properties(
    input clock, input reset, input [`BITS_request-1:0] request, input valid, input room_done,
    input [127:0] room_data
);
    wire done, room_valid;
    wire [127:0] data;
    wire [`BITS_room_request-1:0] room_request;
    `BLOCK block(
        .clock(clock), .reset(reset), .request(request), .valid(valid), .done(done),
        .data(data), .room_request(room_request), .room_valid(room_valid),
        .room_done(room_done), .room_data(room_data)
    );
    reg started = 0, valid_before = 0, answered = 0, done_before = 0, reported = 0, visible = 0;
    reg [`BITS_request-1:0] request_before = 0;
    reg [127:0] data_before = 0;
    reg in_reset = 0, long_in_reset = 0;
    reg [15:0] index_before = 0;
    always @(posedge clock) begin
        started <= 1;
        in_reset <= reset;
        long_in_reset <= in_reset && reset;
        index_before <= room_request[6 +: 16];
        valid_before <= valid && !reset;
        request_before <= request;
        visible <= room_valid && !room_done && !reset;
        answered <= valid && (answered || room_done) && !reset;
        done_before <= room_done && !reset;
        data_before <= room_data;
        reported <= valid && (reported || done) && !reset;
    end
    always @(*) begin
        if (!started) assume(reset);
        // As table_engine.sv proves it: a request stands until it is answered.
        if (valid_before && !reported) assume(valid);
        if (valid_before && valid) assume(request == request_before);
        // A room answers what stands at its door, and gives nothing at other times.
        if (room_done) assume(room_valid);
        else assume(room_data == 0);
        if (started) begin
            if (room_valid) assert(valid && !answered && room_request == request);
            if (visible) assert(room_valid);
            if (in_reset) assert(room_request[22 +: 320] == 0);
            if (long_in_reset) assert(room_request[6 +: 16] == index_before + 16'd1);
            assert(done == done_before);
            if (done) assert(data == data_before);
            else assert(data == 0);
            // What goes on from cycle to cycle.
            if (reported) assert(answered);
            if (done) assert(answered && !reported && valid);
            if (answered && !reported) assert(done);
            assert(answered == (\block.answered$q && valid_before));
            if (\block.stands$q ) assert(!\block.answered$q && valid_before);
            if (\block.stands$q ) assert(\block.held$q == request_before);
        end
    end
    (* hierconn *) wire \block.answered$q ;
    (* hierconn *) wire \block.stands$q ;
    (* hierconn *) wire [`BITS_request-1:0] \block.held$q ;
endmodule
