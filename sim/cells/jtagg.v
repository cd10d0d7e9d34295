// JTAGG: what the fabric of an ECP5 sees of its JTAG port, with the TAP behind it.
//
//   pins of the bench (tck, tms, tdi) --> [ TAP: IEEE 1149.1 ] --> JTCK, JTDI, JSHIFT, JUPDATE, JCE1
//   pin of the bench (tdo)            <-- [ IDCODE, BYPASS ]   <-- JTDO1
//
// | instructions | IDCODE (0xE0, after reset), ER1 (0x32), ER2 (0x38), all others BYPASS          |
// | edges        | states change and TDI is taken when TCK rises; TDO changes when it falls       |
// | source       | IEEE 1149.1 chapter 6; FPGA-TN-02039 (ECP5 sysCONFIG); identification of the   |
// |              | LFE5UM5G-85F as Project Trellis lists it                                       |
//
// The pins are not ports of the fabric, so the bench is named: it must be called `rnic`, and have
// `tck`, `tms`, `tdi`, and a variable `tdo`. JTDI is TDI as it was at the last rising edge.
module JTAGG (
    input JTDO2, JTDO1,
    output JTDI, JTCK, JRTI2, JRTI1, JSHIFT, JUPDATE, JRSTN, JCE2, JCE1
);
    parameter ER1 = "ENABLED";
    parameter ER2 = "ENABLED";
    localparam IDENTIFICATION = 32'h81113043;
    localparam [7:0] IDCODE = 8'he0, SELECTS_ER1 = 8'h32, SELECTS_ER2 = 8'h38;
    localparam RESET = 0, IDLE = 1, SELECT_DR = 2, CAPTURE_DR = 3, SHIFT_DR = 4, EXIT1_DR = 5,
        PAUSE_DR = 6, EXIT2_DR = 7, UPDATE_DR = 8, SELECT_IR = 9, CAPTURE_IR = 10, SHIFT_IR = 11,
        EXIT1_IR = 12, PAUSE_IR = 13, EXIT2_IR = 14, UPDATE_IR = 15;

    wire tck = rnic.tck;
    wire tms = rnic.tms;
    wire tdi = rnic.tdi;
    reg [3:0] state = RESET;
    reg [7:0] instruction = IDCODE, shifted_instruction = 8'h0;
    reg [31:0] identification = IDENTIFICATION;
    reg bypass = 1'b0, taken = 1'b0;
    wire is_er1 = ER1 == "ENABLED" && instruction == SELECTS_ER1;
    wire is_er2 = ER2 == "ENABLED" && instruction == SELECTS_ER2;

    always @(posedge tck) begin
        taken <= tdi;
        case (state)
            RESET: begin state <= tms ? RESET : IDLE; instruction <= IDCODE; end
            IDLE: state <= tms ? SELECT_DR : IDLE;
            SELECT_DR: state <= tms ? SELECT_IR : CAPTURE_DR;
            CAPTURE_DR: state <= tms ? EXIT1_DR : SHIFT_DR;
            SHIFT_DR: state <= tms ? EXIT1_DR : SHIFT_DR;
            EXIT1_DR: state <= tms ? UPDATE_DR : PAUSE_DR;
            PAUSE_DR: state <= tms ? EXIT2_DR : PAUSE_DR;
            EXIT2_DR: state <= tms ? UPDATE_DR : SHIFT_DR;
            SELECT_IR: state <= tms ? RESET : CAPTURE_IR;
            CAPTURE_IR: state <= tms ? EXIT1_IR : SHIFT_IR;
            SHIFT_IR: state <= tms ? EXIT1_IR : SHIFT_IR;
            EXIT1_IR: state <= tms ? UPDATE_IR : PAUSE_IR;
            PAUSE_IR: state <= tms ? EXIT2_IR : PAUSE_IR;
            EXIT2_IR: state <= tms ? UPDATE_IR : SHIFT_IR;
            // Update-DR and Update-IR.
            default: state <= tms ? SELECT_DR : IDLE;
        endcase
        case (state)
            CAPTURE_DR: begin identification <= IDENTIFICATION; bypass <= 1'b0; end
            SHIFT_DR: begin identification <= {tdi, identification[31:1]}; bypass <= tdi; end
            CAPTURE_IR: shifted_instruction <= 8'h01;
            SHIFT_IR: shifted_instruction <= {tdi, shifted_instruction[7:1]};
            UPDATE_IR: instruction <= shifted_instruction;
        endcase
    end
    always @(negedge tck)
        case (state)
            SHIFT_IR: rnic.tdo <= shifted_instruction[0];
            SHIFT_DR:
                rnic.tdo <= is_er1 ? JTDO1 : is_er2 ? JTDO2 :
                    instruction == IDCODE ? identification[0] : bypass;
            default: ;
        endcase

    assign JTCK = tck;
    assign JTDI = taken;
    assign JSHIFT = state == SHIFT_DR;
    assign JUPDATE = state == UPDATE_DR;
    assign JRSTN = state != RESET;
    assign JCE1 = is_er1 && (state == CAPTURE_DR || state == SHIFT_DR);
    assign JCE2 = is_er2 && (state == CAPTURE_DR || state == SHIFT_DR);
    assign JRTI1 = is_er1 && state == IDLE;
    assign JRTI2 = is_er2 && state == IDLE;
endmodule
