// The fence of placement answers only when every command that was inside at its beginning has left:
// all of them (`before`), counted by themselves; and it does answer.
module properties(input clock, input reset, input opens, input closes, input fence);
    wire fence_done;
    `BLOCK block(
        .clock(clock), .reset(reset), .opens(opens), .closes(closes), .fence(fence),
        .fence_done(fence_done)
    );
    (* hierconn *) wire [6:0] \block.held$q ;
    (* hierconn *) wire [6:0] \block.ahead$q ;
    (* hierconn *) wire \block.waiting$q ;

    reg [6:0] inside = 0, before = 0;
    reg open = 0;
    always @(*) begin
        // At most 127 commands are inside, none leaves that did not enter; one fence at a time.
        if (inside == 127) assume(!opens);
        if (inside == 0) assume(!closes);
        if (open) assume(!fence);
    end
    always @(posedge clock) begin
        inside <= inside + opens - closes;
        if (open && closes && before != 0) before <= before - 1;
        if (fence_done) open <= 0;
        if (fence) begin
            open <= 1;
            before <= inside - closes;
        end
        if (reset) begin
            inside <= 0;
            open <= 0;
        end
    end
    always @(*) begin
        if (fence_done) assert(open && before == 0);
        if (open && before == 0) assert(fence_done);
        assert(\block.held$q == inside);
        assert(\block.waiting$q == open);
        if (open) assert(\block.ahead$q == before && before <= inside);
    end
endmodule
