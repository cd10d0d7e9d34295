// While accesses are held none begins; one that has waited comes as it would have come.
module properties(
    input clock, input reset, input [15:0] device_id, input [`BITS_request_data-1:0] request_data,
    input request_last, input request_valid, input [127:0] request_header,
    input [31:0] register_read_data, input register_read_valid, input register_hold,
    input completion_ready
);
    wire [9:0] register_address;
    wire [31:0] register_write_data;
    wire register_read, register_write;
    `BLOCK block(
        .clock(clock), .reset(reset), .device_id(device_id), .request_data(request_data),
        .request_last(request_last), .request_valid(request_valid),
        .request_header(request_header), .register_address(register_address),
        .register_read(register_read), .register_write(register_write),
        .register_write_data(register_write_data), .register_read_data(register_read_data),
        .register_read_valid(register_read_valid), .register_hold(register_hold),
        .completion_ready(completion_ready)
    );
    localparam WRITE = 3, READ = 8;
    (* hierconn *) wire [3:0] \block.state$q ;
    wire [3:0] state = \block.state$q ;
    reg started = 0, waited = 0, access_before = 0;
    reg [3:0] state_before = 0;
    reg [9:0] address_before = 0;
    reg [31:0] data_before = 0;
    always @(posedge clock) begin
        started <= 1;
        waited <= register_hold && (state == WRITE || state == READ) && !reset;
        access_before <= (register_read || register_write) && !reset;
        state_before <= state;
        address_before <= register_address;
        data_before <= register_write_data;
    end
    always @(*) begin
        if (!started) assume(reset);
        if (started) begin
            if (register_hold) assert(!register_read && !register_write);
            if (access_before) assert(!register_read && !register_write);
            if (waited) assert(state == state_before && register_address == address_before);
            if (waited) assert(register_write_data == data_before);
        end
    end
endmodule
