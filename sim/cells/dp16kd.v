// DP16KD: block RAM of ECP5, as yosys uses it for the core's memories.
//
//   port A writes --> [ 2,048 octets of 9 bits ] --+--> port B reads, 1 cycle
//                                                  +--> port A reads, the old word of a write
//
// | parameters | DATA_WIDTH_A, DATA_WIDTH_B of 1, 2, 4, 9, 18 or 36 bits; 36 joins both ports    |
// | contents   | INITVAL_00 to INITVAL_3F: 16 words of 18 bits each, a word in 20 bits           |
// | collision  | a read of bits that are written at the same edge gives noise, another value     |
// |            | each time, as the part defines none                                             |
// | source     | FPGA-TN-02204, ECP5 memory usage guide; pins as in yosys' own brams_map_16kd.v  |
//
// Anything else stops the simulation at its first use: two clocks, an inverted clock, output
// registers, chip selects, resets, writes through port B, WRITETHROUGH. An address counts bits:
// that of a word of 9 bits is in bits 13:3, of 18 in 13:4, of 36 in 13:5, and the low bits that are
// free then enable octets of a write.
module DP16KD (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
          DIA4, DIA3, DIA2, DIA1, DIA0, ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6,
          ADA5, ADA4, ADA3, ADA2, ADA1, ADA0, CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
          DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
          DIB4, DIB3, DIB2, DIB1, DIB0, ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6,
          ADB5, ADB4, ADB3, ADB2, ADB1, ADB0, CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
           DOA4, DOA3, DOA2, DOA1, DOA0, DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10,
           DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);
    parameter DATA_WIDTH_A = 18;
    parameter DATA_WIDTH_B = 18;
    parameter REGMODE_A = "NOREG";
    parameter REGMODE_B = "NOREG";
    parameter RESETMODE = "SYNC";
    parameter ASYNC_RESET_RELEASE = "SYNC";
    parameter CSDECODE_A = "0b000";
    parameter CSDECODE_B = "0b000";
    parameter CLKAMUX = "CLKA";
    parameter CLKBMUX = "CLKB";
    parameter WRITEMODE_A = "NORMAL";
    parameter WRITEMODE_B = "NORMAL";
    parameter GSR = "ENABLED";
    parameter [319:0] INITVAL_00 = 320'h0;
    parameter [319:0] INITVAL_01 = 320'h0;
    parameter [319:0] INITVAL_02 = 320'h0;
    parameter [319:0] INITVAL_03 = 320'h0;
    parameter [319:0] INITVAL_04 = 320'h0;
    parameter [319:0] INITVAL_05 = 320'h0;
    parameter [319:0] INITVAL_06 = 320'h0;
    parameter [319:0] INITVAL_07 = 320'h0;
    parameter [319:0] INITVAL_08 = 320'h0;
    parameter [319:0] INITVAL_09 = 320'h0;
    parameter [319:0] INITVAL_0A = 320'h0;
    parameter [319:0] INITVAL_0B = 320'h0;
    parameter [319:0] INITVAL_0C = 320'h0;
    parameter [319:0] INITVAL_0D = 320'h0;
    parameter [319:0] INITVAL_0E = 320'h0;
    parameter [319:0] INITVAL_0F = 320'h0;
    parameter [319:0] INITVAL_10 = 320'h0;
    parameter [319:0] INITVAL_11 = 320'h0;
    parameter [319:0] INITVAL_12 = 320'h0;
    parameter [319:0] INITVAL_13 = 320'h0;
    parameter [319:0] INITVAL_14 = 320'h0;
    parameter [319:0] INITVAL_15 = 320'h0;
    parameter [319:0] INITVAL_16 = 320'h0;
    parameter [319:0] INITVAL_17 = 320'h0;
    parameter [319:0] INITVAL_18 = 320'h0;
    parameter [319:0] INITVAL_19 = 320'h0;
    parameter [319:0] INITVAL_1A = 320'h0;
    parameter [319:0] INITVAL_1B = 320'h0;
    parameter [319:0] INITVAL_1C = 320'h0;
    parameter [319:0] INITVAL_1D = 320'h0;
    parameter [319:0] INITVAL_1E = 320'h0;
    parameter [319:0] INITVAL_1F = 320'h0;
    parameter [319:0] INITVAL_20 = 320'h0;
    parameter [319:0] INITVAL_21 = 320'h0;
    parameter [319:0] INITVAL_22 = 320'h0;
    parameter [319:0] INITVAL_23 = 320'h0;
    parameter [319:0] INITVAL_24 = 320'h0;
    parameter [319:0] INITVAL_25 = 320'h0;
    parameter [319:0] INITVAL_26 = 320'h0;
    parameter [319:0] INITVAL_27 = 320'h0;
    parameter [319:0] INITVAL_28 = 320'h0;
    parameter [319:0] INITVAL_29 = 320'h0;
    parameter [319:0] INITVAL_2A = 320'h0;
    parameter [319:0] INITVAL_2B = 320'h0;
    parameter [319:0] INITVAL_2C = 320'h0;
    parameter [319:0] INITVAL_2D = 320'h0;
    parameter [319:0] INITVAL_2E = 320'h0;
    parameter [319:0] INITVAL_2F = 320'h0;
    parameter [319:0] INITVAL_30 = 320'h0;
    parameter [319:0] INITVAL_31 = 320'h0;
    parameter [319:0] INITVAL_32 = 320'h0;
    parameter [319:0] INITVAL_33 = 320'h0;
    parameter [319:0] INITVAL_34 = 320'h0;
    parameter [319:0] INITVAL_35 = 320'h0;
    parameter [319:0] INITVAL_36 = 320'h0;
    parameter [319:0] INITVAL_37 = 320'h0;
    parameter [319:0] INITVAL_38 = 320'h0;
    parameter [319:0] INITVAL_39 = 320'h0;
    parameter [319:0] INITVAL_3A = 320'h0;
    parameter [319:0] INITVAL_3B = 320'h0;
    parameter [319:0] INITVAL_3C = 320'h0;
    parameter [319:0] INITVAL_3D = 320'h0;
    parameter [319:0] INITVAL_3E = 320'h0;
    parameter [319:0] INITVAL_3F = 320'h0;

    localparam [20479:0] CONTENTS = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39,
        INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32,
        INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
        INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24,
        INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D,
        INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16,
        INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F,
        INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
        INITVAL_00
    };
    wire [13:0] written = {
        ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0
    };
    wire [13:0] read = {
        ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0
    };
    wire [35:0] data = {
        DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
        DIB4, DIB3, DIB2, DIB1, DIB0, DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10,
        DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0
    };

    reg [8:0] octets[0:2047];
    reg [35:0] fetched = 36'h0;
    reg [17:0] fetched_a = 18'h0;
    reg [31:0] noise;

    // Octets of the 36-bit word at hand that the write changes, and that the read asks for.
    reg [3:0] writes, reads;
    always @(*) begin
        case (DATA_WIDTH_A)
            36: writes = written[3:0];
            18: writes = {2'b00, written[1:0]} << {written[4], 1'b0};
            default: writes = 4'b0001 << written[4:3];
        endcase
        if (!CEA || !WEA) writes = 4'b0000;
        case (DATA_WIDTH_B)
            36: reads = 4'b1111;
            18: reads = 4'b0011 << {read[4], 1'b0};
            default: reads = 4'b0001 << read[4:3];
        endcase
    end
    // Words of less than an octet collide only if they are the same one.
    wire apart = DATA_WIDTH_A == DATA_WIDTH_B && (
        DATA_WIDTH_A == 1 && written[2:0] != read[2:0] ||
        DATA_WIDTH_A == 2 && written[2:1] != read[2:1] ||
        DATA_WIDTH_A == 4 && written[2] != read[2]);
    wire collides = written[13:5] == read[13:5] && (writes & reads) != 4'b0000 && !apart;

    wire [10:0] first = {written[13:5], 2'b00};
    always @(posedge CLKA) begin
        case (DATA_WIDTH_A)
            1: if (writes != 0) octets[written[13:3]][written[2:0]] <= data[0];
            2: if (writes != 0) octets[written[13:3]][{1'b0, written[2:1], 1'b0} +: 2] <= data[1:0];
            4: if (writes != 0) octets[written[13:3]][{1'b0, written[2], 2'b00} +: 4] <= data[3:0];
            9: if (writes != 0) octets[written[13:3]] <= data[8:0];
            18: begin
                if (writes[0] || writes[2]) octets[{written[13:4], 1'b0}] <= data[8:0];
                if (writes[1] || writes[3]) octets[{written[13:4], 1'b1}] <= data[17:9];
            end
            default: begin
                if (writes[0]) octets[first] <= data[8:0];
                if (writes[1]) octets[first + 1] <= data[17:9];
                if (writes[2]) octets[first + 2] <= data[26:18];
                if (writes[3]) octets[first + 3] <= data[35:27];
            end
        endcase
    end

    // The word of so many bits at an address.
    function [35:0] word(input integer bits, input [13:0] address);
        begin
            word = 36'h0;
            case (bits)
                1: word[0] = octets[address[13:3]][address[2:0]];
                2: word[1:0] = octets[address[13:3]][{1'b0, address[2:1], 1'b0} +: 2];
                4: word[3:0] = octets[address[13:3]][{1'b0, address[2], 2'b00} +: 4];
                9: word[8:0] = octets[address[13:3]];
                18: word[17:0] = {octets[{address[13:4], 1'b1}], octets[{address[13:4], 1'b0}]};
                default: word = {
                    octets[{address[13:5], 2'd3}], octets[{address[13:5], 2'd2}],
                    octets[{address[13:5], 2'd1}], octets[{address[13:5], 2'd0}]
                };
            endcase
        end
    endfunction
    always @(posedge CLKA)
        if (CEB) begin
            fetched <= collides ? {noise[3:0], noise} : word(DATA_WIDTH_B, read);
            if (collides) noise <= noise * 32'd1664525 + 32'd1013904223;
        end
    always @(posedge CLKA)
        if (CEA && DATA_WIDTH_A != 36 && (!WEA || WRITEMODE_A == "READBEFOREWRITE"))
            fetched_a <= word(DATA_WIDTH_A, written);
    // A word of 36 bits leaves through both ports.
    wire [17:0] low = DATA_WIDTH_B == 36 ? fetched[17:0] : fetched_a;
    wire [17:0] high = DATA_WIDTH_B == 36 ? fetched[35:18] : fetched[17:0];
    assign {
        DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0
    } = low;
    assign {
        DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0
    } = high;

    function is_width(input integer bits);
        is_width = bits == 1 || bits == 2 || bits == 4 || bits == 9 || bits == 18 || bits == 36;
    endfunction

    integer number;
    initial begin
        for (number = 0; number < 1024; number = number + 1) begin
            octets[2 * number] = CONTENTS[20 * number +: 9];
            octets[2 * number + 1] = CONTENTS[20 * number + 9 +: 9];
        end
        if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG" || CSDECODE_A != "0b000" ||
            CSDECODE_B != "0b000" || CLKAMUX != "CLKA" || CLKBMUX != "CLKB" ||
            WRITEMODE_A == "WRITETHROUGH" || !is_width(DATA_WIDTH_A) ||
            !is_width(DATA_WIDTH_B)) begin
            $display("%m: DP16KD with output registers, chip selects, an inverted clock,");
            $display("    a port that reads what it writes, or a width that there is not");
            $stop;
        end
    end
    always @(posedge CLKA)
        if (CEB && !CLKB || WEB || RSTA || RSTB ||
            CSA0 || CSA1 || CSA2 || CSB0 || CSB1 || CSB2) begin
            $display("%m: DP16KD with two clocks, a reset, a chip select or writes of port B");
            $stop;
        end
endmodule
