// The header of a write TLP names exactly the octets of its segment: address, length and byte
// enables, as PCI Express Base Specification 2.2.5 and 2.2.7 have them; no TLP crosses 4 KiB.
module properties(
    input clock, input reset, input [15:0] device_id,
    input [`BITS_segment-1:0] segment, input segment_valid
);
    wire plan_valid, header_valid;
    wire [`BITS_plan-1:0] plan;
    wire [127:0] header;
    `BLOCK block(
        .clock(clock), .reset(reset), .device_id(device_id), .segment(segment),
        .segment_valid(segment_valid), .plan(plan), .plan_valid(plan_valid), .header(header),
        .header_valid(header_valid)
    );
    // A segment as splitter.sv proves them: inside one line of the maximum payload size.
    (* anyconst *) wire [1:0] max_payload;
    wire [9:0] line = max_payload == 0 ? 128 : max_payload == 1 ? 256 : 512;
    wire [63:0] base = {segment[99:43], 7'b0};
    wire [63:0] begins = base + segment[108:100];
    wire [63:0] ends = base + segment[117:109];
    always @(*) begin
        assume((base & (line - 1)) == 0);
        assume(segment[108:100] <= segment[117:109] && segment[117:109] < line);
        assume(segment[1] || segment[117:100] == 0);
        assume(segment[1] || (segment[0] && segment[36:35] == 0));
    end
    reg [63:0] begins_1 = 0, begins_2 = 0, begins_3 = 0, ends_1 = 0, ends_2 = 0, ends_3 = 0;
    reg writes_1 = 0, writes_2 = 0, writes_3 = 0;
    reg [2:0] cycles = 0;
    always @(posedge clock) begin
        {begins_3, begins_2, begins_1} <= {begins_2, begins_1, begins};
        {ends_3, ends_2, ends_1} <= {ends_2, ends_1, ends};
        writes_1 <= segment_valid && segment[1] && !reset;
        writes_2 <= writes_1 && !reset;
        writes_3 <= writes_2 && !reset;
        if (cycles != 7) cycles <= cycles + 1;
    end

`include "plan_steps.sv"

    // What the TLP writes, read from its header.
    wire [9:0] words = header[9:0];
    wire long_form = header[29];
    wire [3:0] first_be = header[35:32], last_be = header[39:36];
    wire [63:0] address = long_form
        ? {header[95:64], header[127:98], 2'b0} : {32'b0, header[95:66], 2'b0};
    wire [1:0] skipped = first_be[0] ? 0 : first_be[1] ? 1 : first_be[2] ? 2 : 3;
    wire [3:0] outer_be = words == 1 ? first_be : last_be;
    wire [1:0] last_lane = outer_be[3] ? 3 : outer_be[2] ? 2 : outer_be[1] ? 1 : 0;
    wire [63:0] first_octet = address + skipped;
    wire [63:0] last_octet = address + {words - 10'd1, last_lane};
    // Enables without a hole, from the first octet up or down to the last one.
    wire [3:0] from_first = 4'b1111 << skipped;
    wire [3:0] to_last = 4'b1111 >> (3 - last_lane);
    always @(*) if (cycles >= 3) begin
        assert(header_valid == writes_3);
        if (plan_valid) assert(plan[1] == writes_3 && steps_agree(plan));
        if (header_valid) begin
            assert(header[31:30] == 2'b01 && header[28:24] == 0);
            assert(words >= 1 && words <= 128);
            assert(first_octet == begins_3);
            assert(last_octet == ends_3);
            assert(first_octet >> 12 == last_octet >> 12);
            if (words == 1) assert(first_be == (from_first & to_last) && last_be == 0);
            else assert(first_be == from_first && last_be == to_last);
            assert(long_form == (address >> 32 != 0));
            // The plan has the beats of four words that the header counts.
            assert(words == {plan[48:44], plan[50:49]} + 10'd1 && plan[52:51] == 0);
        end
    end
endmodule
