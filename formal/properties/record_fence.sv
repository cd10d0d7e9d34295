// The record fence of ddp answers only when every earlier record has left: one of them,
// whichever (`pick`), is followed from the beginning of its FPDU to where what it gave is taken.
// Records of MPA come in the order in which they were begun; a replayed one enters at any time.
module properties(
    input clock, input reset, input begun, input record_valid, input enters, input load,
    input outputs_free, input fence
);
    wire fence_done;
    `BLOCK block(
        .clock(clock), .reset(reset), .begun(begun), .record_valid(record_valid),
        .enters(enters), .load(load), .outputs_free(outputs_free), .fence(fence),
        .fence_done(fence_done)
    );
    (* hierconn *) wire [5:0] \block.coming$q ;
    (* hierconn *) wire [4:0] \block.held$q ;
    (* hierconn *) wire \block.expecting$q ;
    (* hierconn *) wire [5:0] \block.expected$q ;
    (* hierconn *) wire \block.leaving$q ;
    (* hierconn *) wire [4:0] \block.ahead$q ;
    (* anyseq *) wire pick;
    localparam NONE = 0, COMING = 1, INSIDE = 2, LOADED = 3;

    reg [5:0] coming = 0;
    reg [4:0] inside = 0;
    // The record that is followed: where it is, and how many are before it there.
    reg [1:0] place = NONE;
    reg [5:0] before = 0;
    reg [4:0] front = 0;
    // A fence is at hand; it began after that record.
    reg open = 0, awaited = 0;
    reg started = 0, held = 0;
    wire gone = place == LOADED && outputs_free;
    always @(posedge clock) begin
        started <= 1;
        held <= fence && !fence_done && !reset;
        coming <= coming + begun - record_valid;
        inside <= inside + enters - load;
        case (place)
            NONE: if (pick && begun) begin
                place <= COMING;
                before <= coming - record_valid;
            end else if (pick && enters && !record_valid) begin
                place <= INSIDE;
                front <= inside - load;
            end
            COMING: if (record_valid) begin
                before <= before - 1;
                if (before == 0) begin
                    place <= INSIDE;
                    front <= inside - load;
                end
            end
            INSIDE: if (load) begin
                front <= front - 1;
                if (front == 0) place <= LOADED;
            end
            LOADED: if (gone) place <= NONE;
        endcase
        if (fence && !open) begin
            open <= 1;
            awaited <= place != NONE && !gone;
        end
        if (fence_done) {open, awaited} <= 0;
        if (gone) awaited <= 0;
        if (reset) begin
            {coming, inside, open, awaited} <= 0;
            place <= NONE;
        end
    end
    always @(*) begin
        if (!started) assume(reset);
        // A record comes later than its FPDU begins, and enters when it comes; one that leaves was
        // inside, and what the one before gave has been taken (sequencer.sv).
        if (coming == 63) assume(!begun);
        if (coming == 0) assume(!record_valid);
        if (record_valid) assume(enters);
        if (inside == 31) assume(!enters);
        if (inside == 0 || !outputs_free) assume(!load);
        if (held) assume(fence);
        if (started && !reset) begin
            if (fence_done) assert(open && (!awaited || gone));
        end
        // What goes on from cycle to cycle.
        if (started) begin
            assert(\block.coming$q == coming && \block.held$q == inside);
            assert(open == (\block.expecting$q || \block.leaving$q ));
            assert(!(\block.expecting$q && \block.leaving$q ));
            if (\block.expecting$q ) assert(\block.expected$q <= coming);
            if (\block.leaving$q ) assert(\block.ahead$q <= inside);
            if (place == COMING) assert(before < coming);
            if (place == INSIDE) assert(front < inside);
            if (awaited) assert(open && place != NONE);
            if (awaited && place == COMING)
                assert(\block.expecting$q && before < \block.expected$q );
            if (awaited && place == INSIDE && \block.leaving$q ) assert(front < \block.ahead$q );
        end
    end
endmodule
