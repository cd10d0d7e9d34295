// EHXPLLL: the PLL of an ECP5, as far as a board uses it: one output, which is its own feedback.
//
//   CLKI --> / CLKI_DIV --> phase detector --> oscillator --> / CLKOP_DIV --> CLKOP --+
//                                ^                                                    |
//                                +--------------- / CLKFB_DIV <------- CLKFB ---------+
//
// | frequencies | CLKOP = CLKI x CLKFB_DIV / CLKI_DIV; oscillator = CLKOP x CLKOP_DIV           |
// | limits      | CLKI 8 to 400 MHz, phase detector 3.125 to 400, oscillator 400 to 800         |
// | source      | FPGA-TN-02200 (sysCLOCK), FPGA-DS-02012 table of the PLL                      |
//
// Simulation has one clock, that of the bench, which must be called `rnic`: it is what comes out,
// and the model counts whether it is as many times as fast as CLKI as the parameters say. LOCK
// rises when that was so for LOCK_PERIODS, and falls when it is not. Parameters beyond the limits,
// and features that are not modelled, stop the simulation.
module EHXPLLL (
    input CLKI, CLKFB, PHASESEL1, PHASESEL0, PHASEDIR, PHASESTEP, PHASELOADREG, STDBY, PLLWAKESYNC,
          RST, ENCLKOP, ENCLKOS, ENCLKOS2, ENCLKOS3,
    output CLKOP, CLKOS, CLKOS2, CLKOS3, LOCK, INTLOCK, REFCLK, CLKINTFB
);
    parameter CLKI_DIV = 1;
    parameter CLKFB_DIV = 1;
    parameter CLKOP_DIV = 8;
    parameter CLKOP_ENABLE = "ENABLED";
    parameter CLKOP_CPHASE = 0;
    parameter CLKOP_FPHASE = 0;
    parameter FEEDBK_PATH = "CLKOP";
    parameter OUTDIVIDER_MUXA = "DIVA";
    parameter STDBY_ENABLE = "DISABLED";
    parameter DPHASE_SOURCE = "DISABLED";
    parameter PLLRST_ENA = "DISABLED";
    parameter INTFB_WAKE = "DISABLED";
    localparam LOCK_PERIODS = 8;
    // In kHz; the bench says what CLKI has.
    wire [31:0] reference = rnic.REFERENCE_KHZ;
    wire [31:0] detector = reference / CLKI_DIV;
    wire [31:0] oscillator = detector * CLKFB_DIV * CLKOP_DIV;

    reg [31:0] periods = 0, cycles = 0;
    reg earlier = 1'b0;
    always @(posedge CLKFB) begin
        earlier <= CLKI;
        cycles <= cycles + 1;
        if (CLKI && !earlier) begin
            cycles <= 1;
            periods <= cycles * CLKI_DIV == CLKFB_DIV ? periods + 1 : 0;
        end
    end
    assign CLKOP = rnic.clock;
    assign LOCK = periods >= LOCK_PERIODS;
    assign {CLKOS, CLKOS2, CLKOS3, INTLOCK, REFCLK, CLKINTFB} = 6'h0;
    always @(posedge CLKI)
        if (reference < 8000 || reference > 400000 || detector < 3125 ||
            oscillator < 400000 || oscillator > 800000 || FEEDBK_PATH != "CLKOP" ||
            CLKOP_ENABLE != "ENABLED" || OUTDIVIDER_MUXA != "DIVA" || STDBY_ENABLE != "DISABLED" ||
            PLLRST_ENA != "DISABLED" || DPHASE_SOURCE != "DISABLED") begin
            $display("%m: EHXPLLL beyond its limits, or with a feature that is not modelled");
            $stop;
        end
endmodule
