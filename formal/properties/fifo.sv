// A FIFO loses nothing, doubles nothing, and keeps the order.
//
// Exactly the words that were inside before the followed one come out before it, and it comes out as
// it went in.
`include "followed_word.sv"

module properties(
    input clock, input reset, input write, input [`BITS_data_in-1:0] data_in, input read
);
    localparam A = `ADDRESS_BITS_memory;
    wire full, almost_full, empty;
    wire [`BITS_data_out-1:0] data_out;
    wire [A:0] fill;
    `BLOCK block(
        .clock(clock), .reset(reset), .write(write), .data_in(data_in), .full(full),
        .almost_full(almost_full), .read(read), .data_out(data_out), .empty(empty), .fill(fill)
    );
    (* hierconn *) wire [A-1:0] \block.memory.watched_address ;
    (* hierconn *) wire [`BITS_data_in-1:0] \block.memory.watched_data ;
    (* hierconn *) wire [A-1:0] \block.write_pointer$q ;
    (* hierconn *) wire [A-1:0] \block.read_pointer$q ;
    (* hierconn *) wire \block.waits$q ;

    wire push = write && !full;
    wire pop = read && !empty;
    wire chosen, followed;
    wire [A:0] inside, ahead;
    wire [`BITS_data_in-1:0] word;
    followed_word #(.BITS(`BITS_data_in), .COUNT_BITS(A + 1)) one(
        .clock(clock), .reset(reset), .push(push), .pop(pop), .data_in(data_in),
        .chosen(chosen), .inside(inside), .followed(followed), .ahead(ahead), .word(word)
    );

    wire [A-1:0] waiting = inside - (inside != 0);
    wire [A-1:0] place = \block.read_pointer$q + ahead - 1;
    always @(*) begin
        // Any word is written somewhere; this run follows one that is written there.
        if (chosen)
            assume(\block.memory.watched_address == \block.write_pointer$q );
        assert(fill == inside && inside <= 1 << A);
        assert(full == (inside == 1 << A));
        assert(empty == (inside == 0));
        if (followed && pop && ahead == 0) assert(data_out == word);
        // What makes these true after any number of cycles.
        assert(\block.waits$q == (inside > 1));
        assert(\block.write_pointer$q == \block.read_pointer$q + waiting);
        if (followed) begin
            assert(ahead < inside);
            if (ahead == 0) assert(data_out == word);
            else assert(\block.memory.watched_address == place
                && \block.memory.watched_data == word);
        end
    end
endmodule
