// A word is fetched from the store only if the frame that it is of was committed, each word once, in
// order; nothing of a frame that is rolled back is. Writes keep to what was promised: then the words
// inside never are more than the store has, and none is overwritten before it was fetched. The
// prefetch FIFO is never written while it is full.
module properties(
    input clock, input reset, input write, input [`BITS_data_in-1:0] data_in, input commit,
    input rollback, input [11:0] reserve, input [11:0] refund, input read
);
    wire [11:0] free;
    wire [`BITS_data_in-1:0] data_out;
    wire empty;
    `BLOCK block(
        .clock(clock), .reset(reset), .write(write), .data_in(data_in), .commit(commit),
        .rollback(rollback), .free(free), .reserve(reserve), .refund(refund), .read(read),
        .data_out(data_out), .empty(empty)
    );
    (* hierconn *) wire [9:0] \block.write_pointer$q ;
    (* hierconn *) wire [9:0] \block.whole_pointer$q ;
    (* hierconn *) wire [9:0] \block.read_pointer$q ;
    (* hierconn *) wire \block.waits$q ;
    (* hierconn *) wire \block.fetch ;
    (* hierconn *) wire [11:0] \block.used$q ;
    (* hierconn *) wire [11:0] \block.returned$q ;

    // Words of whole frames that were not fetched, words of the frame at hand, and promised ones.
    reg [11:0] whole = 0, open = 0, promised = 0;
    wire [11:0] written = open + write;
    always @(*) begin
        // Several frames may be promised. One writes no more than was promised for it, and that is
        // refunded if it is given up.
        assume(reserve <= free);
        assume(written <= promised);
        assume(!(commit && rollback));
        if (rollback) assume(refund >= written && refund <= promised);
        else assume(refund == 0);
    end
    always @(posedge clock) begin
        whole <= whole + (commit ? written : 0) - \block.fetch ;
        open <= commit || rollback ? 0 : written;
        promised <= promised + reserve - (commit ? written : refund);
        if (reset) begin
            whole <= 0;
            open <= 0;
            promised <= 0;
        end
    end
    always @(*) begin
        if (\block.fetch ) assert(whole != 0);
        assert(whole <= 1023 && open <= promised && whole + promised <= 1023);
        assert(free <= 1023);

        // For the induction.
        assert(\block.whole_pointer$q == \block.read_pointer$q + whole[9:0]);
        assert(\block.write_pointer$q == \block.whole_pointer$q + open[9:0]);
        assert(\block.used$q <= 1023);
        assert(\block.used$q == whole + promised + \block.returned$q );
        if (\block.waits$q ) assert(whole != 0);
    end
endmodule
