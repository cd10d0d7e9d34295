// Whatever an access of BAR0 has started is done before the next access gets anywhere: no access
// reaches the posting port while it has a post, so none is lost or mixed with it, and none reaches
// the table engine while a short operation runs. The register file carries both to their places, so
// this is about its stages too.
module properties(
    input clock, input reset, input room_reset, input resetting,
    input [9:0] register_address, input register_read, input register_write,
    input [31:0] register_write_data, input post_busy, input post_ends,
    input table_done, input fence_done
);
    wire register_hold, access_write;
    wire [9:0] access_address;
    `BLOCK block(
        .clock(clock), .reset(reset), .room_reset(room_reset), .resetting(resetting),
        .register_address(register_address), .register_read(register_read),
        .register_write(register_write), .register_write_data(register_write_data),
        .register_hold(register_hold), .post_busy(post_busy), .access_write(access_write),
        .access_address(access_address), .table_done(table_done), .fence_done(fence_done)
    );
    localparam POST = 10'h47;
    (* hierconn *) wire \block.tables.short ;
    (* hierconn *) wire \block.tables.command_write ;
    (* hierconn *) wire [9:0] \block.tables.word_write ;
    (* hierconn *) wire [1:0] \block.tables.state$q ;
    (* hierconn *) wire [1:0] \block.tables.operation$q ;
    (* hierconn *) wire [3:0] \block.tables.table_number$q ;
    (* hierconn *) wire \block.tables.reads_on$q ;
    localparam IDLE = 0, FENCE = 3, READ = 2, REGION = 9;
    wire reads_region = \block.tables.operation$q == READ && \block.tables.table_number$q == REGION;
    wire access = register_read || register_write;
    wire rings = access_write && access_address == POST;
    reg started = 0, access_before = 0, has_post = 0, room_reset_before = 0, reset_before = 0;
    reg [2:0] resetting_before = 0;
    reg [5:0] room_resets = 0;
    always @(posedge clock) begin
        started <= 1;
        access_before <= access;
        has_post <= (rings || (has_post && !post_ends)) && !room_reset;
        room_reset_before <= room_reset;
        reset_before <= reset;
        resetting_before <= {resetting_before[1:0], resetting};
        room_resets <= {room_resets[4:0], room_reset};
    end
    always @(*) begin
        if (!started) assume(reset && room_reset);
        // The endpoint waits (endpoint_hold.sv), and never has two accesses in a row.
        if (register_hold || access_before) assume(!access);
        assume(!(register_read && register_write));
        // The port has a post from its doorbell on (posting_port.sv).
        assume(post_busy == has_post);
        // Rooms are reset when writes have been ignored for some cycles, or by the pin
        // (reset_sequencer.sv).
        if (started && room_reset) assume(resetting);
        // Writes are ignored for some cycles more (reset_sequencer.sv): none is taken that AccessHold
        // has not seen.
        if (started && room_resets != 0) assume(resetting);
        if (started && room_reset && !room_reset_before)
            assume(resetting_before == 7 || reset_before);
        // What goes on from cycle to cycle: a region is read twice, and short all the time.
        if (started && \block.tables.state$q != IDLE && reads_region) assert(\block.tables.short );
        if (started && \block.tables.reads_on$q )
            assert(reads_region && \block.tables.state$q != IDLE);
        if (started && (\block.tables.state$q == IDLE || \block.tables.state$q == FENCE))
            assert(!\block.tables.short && !\block.tables.reads_on$q );
        if (started && !reset && !reset_before) begin
            if (access_write) assert(!post_busy);
            if (\block.tables.short ) assert(!\block.tables.command_write );
            if (\block.tables.short ) assert(\block.tables.word_write == 0);
            if (register_read) assert(!post_busy && !\block.tables.short );
        end
    end
endmodule
