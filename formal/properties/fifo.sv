// A FIFO loses nothing, doubles nothing, and keeps the order.
//
// One word, any one (`pick`), is followed from its write to its read: exactly the words that were
// inside before it come out before it, and it comes out as it went in. As many words come out as
// went in (`inside`).
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
    reg [A:0] inside = 0;
    // The word that is followed: is it inside, behind how many others, and what is it?
    (* anyseq *) wire pick;
    reg followed = 0;
    reg [A:0] ahead = 0;
    reg [`BITS_data_in-1:0] word = 0;
    always @(posedge clock) begin
        inside <= inside + push - pop;
        if (followed && pop) begin
            ahead <= ahead - 1;
            if (ahead == 0) followed <= 0;
        end
        if (push && pick && !followed) begin
            followed <= 1;
            ahead <= inside - pop;
            word <= data_in;
        end
        if (reset) begin
            inside <= 0;
            followed <= 0;
        end
    end

    wire [A-1:0] waiting = inside - (inside != 0);
    wire [A-1:0] place = \block.read_pointer$q + ahead - 1;
    always @(*) begin
        // Any word is written somewhere; this run follows one that is written there.
        if (push && pick && !followed)
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
