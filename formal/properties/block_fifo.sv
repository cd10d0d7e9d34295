// A FIFO in block RAM loses nothing, doubles nothing, and keeps the order, on its way through RAM,
// two registers of the RAM and the FIFO of prefetched words; and the RAM is never read where it is
// written, which block RAM leaves undefined.
`include "followed_word.sv"

module properties(
    input clock, input reset, input write, input [`BITS_data_in-1:0] data_in, input read
);
    localparam A = `ADDRESS_BITS_memory;
    localparam P = `ADDRESS_BITS_prefetched_memory;
    wire full, almost_full, empty;
    wire [`BITS_data_out-1:0] data_out;
    `BLOCK block(
        .clock(clock), .reset(reset), .write(write), .data_in(data_in), .full(full),
        .almost_full(almost_full), .read(read), .data_out(data_out), .empty(empty)
    );
    (* hierconn *) wire [A-1:0] \block.memory.watched_address ;
    (* hierconn *) wire [`BITS_data_in-1:0] \block.memory.watched_data ;
    (* hierconn *) wire [`BITS_data_in-1:0] \block.memory.fetched ;
    (* hierconn *) wire [`BITS_data_in-1:0] \block.memory.read_data ;
    (* hierconn *) wire [A-1:0] \block.write_pointer$q ;
    (* hierconn *) wire [A-1:0] \block.read_pointer$q ;
    (* hierconn *) wire [A:0] \block.count$q ;
    (* hierconn *) wire \block.waits$q ;
    (* hierconn *) wire \block.fetch ;
    (* hierconn *) wire \block.fetched_1$q ;
    (* hierconn *) wire \block.fetched_2$q ;
    (* hierconn *) wire [3:0] \block.credits$q ;
    (* hierconn *) wire [P-1:0] \block.prefetched.memory.watched_address ;
    (* hierconn *) wire [`BITS_data_in-1:0] \block.prefetched.memory.watched_data ;
    (* hierconn *) wire [P-1:0] \block.prefetched.write_pointer$q ;
    (* hierconn *) wire [P-1:0] \block.prefetched.read_pointer$q ;
    (* hierconn *) wire [P:0] \block.prefetched.count$q ;
    (* hierconn *) wire \block.prefetched.waits$q ;
    (* hierconn *) wire \block.prefetched.is_full$q ;

    // Its credits are there from a reset on.
    reg ran = 0;
    always @(posedge clock) ran <= 1;
    always @(*) if (!ran) assume(reset);

    wire push = write && !full;
    wire pop = read && !empty;
    wire chosen, followed;
    wire [A+1:0] inside, ahead;
    wire [`BITS_data_in-1:0] word;
    followed_word #(.BITS(`BITS_data_in), .COUNT_BITS(A + 2)) one(
        .clock(clock), .reset(reset), .push(push), .pop(pop), .data_in(data_in),
        .chosen(chosen), .inside(inside), .followed(followed), .ahead(ahead), .word(word)
    );

    // Words behind the RAM: prefetched, in the RAM's output register, in its inner register.
    wire [A+1:0] ready = \block.prefetched.count$q ;
    wire [A+1:0] second = ready + \block.fetched_2$q ;
    wire [A+1:0] first = second + \block.fetched_1$q ;
    wire [A-1:0] place = \block.read_pointer$q + ahead - first;
    wire [P-1:0] ready_place = \block.prefetched.read_pointer$q + ahead - 1;
    wire [P-1:0] ready_waiting = ready - (ready != 0);
    wire in_output = followed && ahead >= ready && ahead < second;
    always @(*) if (ran) begin
        // Any word is written somewhere; this run follows one that is written there.
        if (chosen)
            assume(\block.memory.watched_address == \block.write_pointer$q );
        if (in_output)
            assume(\block.prefetched.memory.watched_address == \block.prefetched.write_pointer$q );
        assert(inside == first + \block.count$q );
        assert(full == (\block.count$q == 1 << A) && \block.count$q <= 1 << A);
        if (!empty && followed && ahead == 0) assert(data_out == word);
        if (push && \block.fetch ) assert(\block.write_pointer$q != \block.read_pointer$q );
        // What makes these true after any number of cycles.
        assert(empty == (ready == 0));
        assert(\block.waits$q == (\block.count$q != 0));
        assert(\block.credits$q + first == 1 << P);
        assert(\block.write_pointer$q == \block.read_pointer$q + \block.count$q [A-1:0]);
        assert(\block.prefetched.waits$q == (ready > 1));
        assert(\block.prefetched.is_full$q == (ready == 1 << P));
        assert(\block.prefetched.write_pointer$q
            == \block.prefetched.read_pointer$q + ready_waiting);
        if (followed) begin
            assert(ahead < inside);
            if (ahead >= first)
                assert(\block.memory.watched_address == place
                    && \block.memory.watched_data == word);
            else if (ahead >= second) assert(\block.memory.fetched == word);
            else if (ahead >= ready) assert(\block.memory.read_data == word);
            else if (ahead != 0)
                assert(\block.prefetched.memory.watched_address == ready_place
                    && \block.prefetched.memory.watched_data == word);
        end
    end
endmodule
