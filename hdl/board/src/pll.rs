//! The core's clock, made of the board's by the part's PLL.
//!
//! | enters     | 12 MHz                                                                      |
//! | leaves     | 60 MHz, and whether it is stable                                            |
//! | parameters | 12 MHz / 1 at the phase detector; oscillator 600 MHz (of 400 to 800);       |
//! |            | 600 MHz / 10 at the output, / 5 in feedback                                 |
//! | source     | FPGA-TN-02200, ECP5 sysCLOCK: EHXPLLL, feedback from the primary output     |
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// The core's clock in MHz.
pub const CORE_MHZ: u64 = 60;
/// The board's clock in MHz.
const BOARD_MHZ: u64 = 12;

/// The PLL's oscillator in MHz.
const OSCILLATOR_MHZ: u64 = 600;

/// The PLL. It has no behaviour in Rust: boards are simulated as Verilog.
#[derive(LogicBlock, Init)]
pub struct Pll {
    /// The board's clock.
    pub reference: Signal<In, Clock>,
    /// The core's clock.
    pub clock: Signal<Out, Clock>,
    /// The core's clock is stable.
    pub locked: Signal<Out, Bit>,
}

impl Logic for Pll {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.clock.connect();
        self.locked.connect();
    }

    fn hdl(&self) -> Verilog {
        let feedback = CORE_MHZ / BOARD_MHZ;
        Verilog::Custom(format!(
            "\
wire made, stable;
(* FREQUENCY_PIN_CLKI = \"{BOARD_MHZ}\", FREQUENCY_PIN_CLKOP = \"{CORE_MHZ}\" *)
EHXPLLL #(
   .PLLRST_ENA(\"DISABLED\"), .INTFB_WAKE(\"DISABLED\"), .STDBY_ENABLE(\"DISABLED\"),
   .DPHASE_SOURCE(\"DISABLED\"), .OUTDIVIDER_MUXA(\"DIVA\"), .FEEDBK_PATH(\"CLKOP\"),
   .CLKI_DIV(1), .CLKFB_DIV({feedback}), .CLKOP_ENABLE(\"ENABLED\"), .CLKOP_DIV({output}),
   .CLKOP_CPHASE({phase}), .CLKOP_FPHASE(0)
) pll (
   .CLKI(reference), .CLKFB(made), .CLKOP(made), .LOCK(stable), .RST(1'b0), .STDBY(1'b0),
   .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b0), .PHASESTEP(1'b0),
   .PHASELOADREG(1'b0), .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0)
);
always @(*) clock = made;
always @(*) locked = stable;
",
            output = OSCILLATOR_MHZ / CORE_MHZ,
            phase = OSCILLATOR_MHZ / CORE_MHZ - 1,
        ))
    }
}
