// One word of a FIFO, any one (`pick`), followed from its write to its read: after how many others
// it is, and what it is. As many words come out as went in (`inside`).
module followed_word #(parameter BITS = 1, parameter COUNT_BITS = 1) (
    input clock, input reset, input push, input pop, input [BITS-1:0] data_in,
    output chosen,
    output reg [COUNT_BITS-1:0] inside,
    output reg followed,
    output reg [COUNT_BITS-1:0] ahead,
    output reg [BITS-1:0] word
);
    (* anyseq *) wire pick;
    assign chosen = push && pick && !followed;
    initial inside = 0;
    initial followed = 0;
    initial ahead = 0;
    initial word = 0;
    always @(posedge clock) begin
        inside <= inside + push - pop;
        if (followed && pop) begin
            ahead <= ahead - 1;
            if (ahead == 0) followed <= 0;
        end
        if (chosen) begin
            followed <= 1;
            ahead <= inside - pop;
            word <= data_in;
        end
        if (reset) begin
            inside <= 0;
            followed <= 0;
        end
    end
endmodule
