//! The part's JTAG port as its fabric sees it: the register that the instruction ER1 selects.
//!
//! | signal   | meaning                                                            |
//! |----------|--------------------------------------------------------------------|
//! | `tck`    | TCK                                                                |
//! | `tdi`    | TDI as it was at the last rising edge of TCK                       |
//! | `tdo`    | to TDO at each falling edge of TCK in Shift-DR                     |
//! | `select` | the TAP is in Capture-DR or Shift-DR, and ER1 is its instruction   |
//! | `shift`  | it is in Shift-DR                                                  |
//! | `update` | it is in Update-DR                                                 |
//!
//! | source   | yosys' `cells_bb_ecp5.v` (pins), FPGA-TN-02039 (ECP5 sysCONFIG)    |
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// The JTAG primitive. It has no behaviour in Rust: boards are simulated as Verilog.
#[derive(LogicBlock, Init)]
pub struct JtagTap {
    pub tdo: Signal<In, Bit>,
    pub tck: Signal<Out, Bit>,
    pub tdi: Signal<Out, Bit>,
    pub select: Signal<Out, Bit>,
    pub shift: Signal<Out, Bit>,
    pub update: Signal<Out, Bit>,
}

impl Logic for JtagTap {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.tck.connect();
        self.tdi.connect();
        self.select.connect();
        self.shift.connect();
        self.update.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "\
wire pin_tck, pin_tdi, pin_select, pin_shift, pin_update;
JTAGG #(.ER1(\"ENABLED\"), .ER2(\"DISABLED\")) jtagg (
   .JTCK(pin_tck), .JTDI(pin_tdi), .JCE1(pin_select), .JSHIFT(pin_shift),
   .JUPDATE(pin_update), .JTDO1(tdo), .JTDO2(1'b0)
);
always @(*) tck = pin_tck;
always @(*) tdi = pin_tdi;
always @(*) select = pin_select;
always @(*) shift = pin_shift;
always @(*) update = pin_update;
"
            .into(),
        )
    }
}
