// The multiplexer passes packets on whole: each beat leaves once, in the order in which the beats
// were taken, with the header, lanes and end of its own source; between two beats of a packet there
// is none of another. From the cycle after `hold`, or a reset, on
// only read completions begin; once `held`, nothing else leaves.
module properties(
    input clock, input reset,
    input [`BITS_tlp_data-1:0] data_0, input [`BITS_tlp_data-1:0] data_1,
    input [`BITS_tlp_data-1:0] data_2, input [`BITS_tlp_data-1:0] data_3,
    input [`BITS_tlp_data-1:0] data_4, input [`BITS_tlp_keep-1:0] keep_4,
    input [`BITS_tlp_data-1:0] data_5, input [`BITS_tlp_keep-1:0] keep_5,
    input [`BITS_tlp_keep-1:0] keep_0, input [`BITS_tlp_keep-1:0] keep_1,
    input [`BITS_tlp_keep-1:0] keep_2, input [`BITS_tlp_keep-1:0] keep_3,
    input [127:0] header_0, input [127:0] header_1, input [127:0] header_2,
    input [127:0] header_3, input [127:0] header_4, input [127:0] header_5,
    input [5:0] last, input [5:0] valid,
    input tlp_ready, input hold
);
    localparam DATA = `BITS_tlp_data, KEEP = `BITS_tlp_keep, BEAT = DATA + KEEP + 129;
    wire [5:0] ready;
    wire [DATA-1:0] tlp_data;
    wire [KEEP-1:0] tlp_keep;
    wire tlp_last, tlp_valid, held;
    wire [127:0] tlp_header;
    `BLOCK block(
        .clock(clock), .reset(reset), .s_data$0(data_0), .s_data$1(data_1), .s_data$2(data_2),
        .s_data$3(data_3), .s_keep$0(keep_0), .s_keep$1(keep_1), .s_keep$2(keep_2),
        .s_keep$3(keep_3), .s_last$0(last[0]), .s_last$1(last[1]), .s_last$2(last[2]),
        .s_last$3(last[3]), .s_valid$0(valid[0]), .s_valid$1(valid[1]), .s_valid$2(valid[2]),
        .s_valid$3(valid[3]), .s_ready$0(ready[0]), .s_ready$1(ready[1]), .s_ready$2(ready[2]),
        .s_ready$3(ready[3]), .s_header$0(header_0), .s_header$1(header_1),
        .s_header$2(header_2), .s_header$3(header_3), .s_data$4(data_4), .s_keep$4(keep_4),
        .s_last$4(last[4]), .s_valid$4(valid[4]), .s_ready$4(ready[4]), .s_header$4(header_4),
        .s_data$5(data_5), .s_keep$5(keep_5), .s_last$5(last[5]), .s_valid$5(valid[5]),
        .s_ready$5(ready[5]), .s_header$5(header_5),
        .tlp_data(tlp_data), .tlp_keep(tlp_keep), .tlp_last(tlp_last), .tlp_valid(tlp_valid),
        .tlp_ready(tlp_ready), .tlp_header(tlp_header), .hold(hold), .held(held)
    );
    wire [5:0] taken = ready & valid;
    wire [BEAT-1:0] beat = taken[0] ? {data_0, keep_0, header_0, last[0]}
        : taken[1] ? {data_1, keep_1, header_1, last[1]}
        : taken[2] ? {data_2, keep_2, header_2, last[2]}
        : taken[3] ? {data_3, keep_3, header_3, last[3]}
        : taken[4] ? {data_4, keep_4, header_4, last[4]} : {data_5, keep_5, header_5, last[5]};
    wire [BEAT-1:0] leaves = {tlp_data, tlp_keep, tlp_header, tlp_last};

    // Beats inside, older one first; and the source whose packet is open.
    reg [1:0] inside = 0;
    reg [BEAT-1:0] first = 0, second = 0;
    reg [5:0] open = 0;
    reg holds = 0;
    wire push = |taken, pop = tlp_valid && tlp_ready;
    wire [1:0] left = inside - pop;
    always @(posedge clock) begin
        holds <= hold || reset;
        inside <= left + push;
        if (pop) first <= second;
        if (push && left == 0) first <= beat;
        if (push && left == 1) second <= beat;
        if (push) open <= taken & ~last;
        if (reset) begin
            inside <= 0;
            open <= 0;
        end
    end
    always @(*) begin
        assert(inside <= 2);
        assert((ready & (ready - 1)) == 0);
        if (open != 0) assert((taken & ~open) == 0);
        if (holds && open == 0) assert(taken[5:1] == 0);
        // A packet under way goes on, held or not.
        if ((open & valid) != 0 && inside != 2) assert(taken == open);
        if (held) assert(holds && open == 0 && inside == 0);
        if (holds && open == 0 && inside == 0) assert(held);
        assert(tlp_valid == (inside != 0));
        if (tlp_valid) assert(leaves == first);
        // What goes on from cycle to cycle: the four slices move together, and the grant stands
        // while a packet is open.
        assert(\block.data.head_valid$q == (inside != 0) && \block.data.spare_valid$q == (inside == 2));
        assert(\block.keep.head_valid$q == (inside != 0) && \block.keep.spare_valid$q == (inside == 2));
        assert(\block.header.head_valid$q == (inside != 0));
        assert(\block.header.spare_valid$q == (inside == 2));
        assert(\block.last.head_valid$q == (inside != 0) && \block.last.spare_valid$q == (inside == 2));
        if (inside == 2) begin
            assert(second == {
                \block.data.spare$q , \block.keep.spare$q , \block.header.spare$q ,
                \block.last.spare$q });
        end
        assert(\block.holds$q == holds);
        assert(\block.in_packet$q == (open != 0));
        assert((\block.granted$q & (\block.granted$q - 1)) == 0);
        assert(\block.grants_other$q == (\block.granted$q != 0));
        if (open != 0) assert(open == (\block.granted$q == 0 ? 32 : \block.granted$q ));
    end
    (* hierconn *) wire \block.data.head_valid$q ;
    (* hierconn *) wire \block.data.spare_valid$q ;
    (* hierconn *) wire [DATA-1:0] \block.data.spare$q ;
    (* hierconn *) wire \block.keep.head_valid$q ;
    (* hierconn *) wire \block.keep.spare_valid$q ;
    (* hierconn *) wire [KEEP-1:0] \block.keep.spare$q ;
    (* hierconn *) wire \block.header.head_valid$q ;
    (* hierconn *) wire \block.header.spare_valid$q ;
    (* hierconn *) wire [127:0] \block.header.spare$q ;
    (* hierconn *) wire \block.last.head_valid$q ;
    (* hierconn *) wire \block.last.spare_valid$q ;
    (* hierconn *) wire \block.last.spare$q ;
    (* hierconn *) wire \block.holds$q ;
    (* hierconn *) wire \block.in_packet$q ;
    (* hierconn *) wire [4:0] \block.granted$q ;
    (* hierconn *) wire \block.grants_other$q ;
endmodule
