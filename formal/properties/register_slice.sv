// A register slice loses nothing, doubles nothing, keeps the order, and keeps its handshakes: what
// it offers stands until it is taken.
module properties(
    input clock, input reset, input s_valid, input [`BITS_s_data-1:0] s_data, input m_ready
);
    wire s_ready, m_valid;
    wire [`BITS_m_data-1:0] m_data;
    `BLOCK block(
        .clock(clock), .reset(reset), .s_valid(s_valid), .s_data(s_data), .s_ready(s_ready),
        .m_valid(m_valid), .m_data(m_data), .m_ready(m_ready)
    );
    // A queue of two words, older one first.
    reg [1:0] inside = 0;
    reg [`BITS_s_data-1:0] first = 0, second = 0;
    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;
    wire [1:0] left = inside - pop;
    always @(posedge clock) begin
        inside <= left + push;
        if (pop) first <= second;
        if (push && left == 0) first <= s_data;
        if (push && left == 1) second <= s_data;
        if (reset) inside <= 0;
    end
    always @(*) begin
        assert(inside <= 2);
        assert(s_ready == (inside != 2));
        assert(m_valid == (inside != 0));
        if (m_valid) assert(m_data == first);
        if (inside == 2) assert(\block.spare$q == second);
    end
    (* hierconn *) wire [`BITS_s_data-1:0] \block.spare$q ;
endmodule
