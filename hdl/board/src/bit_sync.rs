//! A bit from another clock: the only crossing there is, and it is this leaf.
//!
//! ```text
//! data (any clock) --> [ register ] --> [ register ] --> synced
//! ```
//!
//! | latency    | 2 cycles, of which one may be missing or double                             |
//! | units      | one bit; neighbours that cross together may arrive a cycle apart            |
//! | constraint | no path to the first register is timed, and no other register takes such a  |
//! |            | bit: `constraints/bitstream.py` refuses a netlist with one                  |
//!
//! The first register may see a bit while it changes, and take a moment to settle; the second
//! gives it a cycle for that. Verilator shows a change a cycle late at random, as silicon may.
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Synchroniser of one bit.
#[derive(LogicBlock, Init)]
pub struct BitSync {
    pub clock: Signal<In, Clock>,
    /// The bit, of any clock or none.
    pub data: Signal<In, Bit>,
    /// The bit in this clock's domain.
    pub synced: Signal<Out, Bit>,
    _first: bool,
}

impl Logic for BitSync {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.synced.next = self._first;
            self._first = self.data.val();
        }
    }

    fn connect(&mut self) {
        self.synced.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "\
(* keep, async_reg = \"true\" *)
reg crossing_first = 1'b0;
initial synced = 1'b0;
`ifdef VERILATOR
// A bit that has changed since the last edge is seen as it is, or as it was.
reg earlier = 1'b0;
always @(posedge clock) begin
   earlier <= data;
   crossing_first <= (data != earlier && $urandom_range(1) == 1) ? earlier : data;
   synced <= crossing_first;
end
`else
always @(posedge clock) begin
   crossing_first <= data;
   synced <= crossing_first;
end
`endif
"
            .into(),
        )
    }

    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "bit_sync".into(),
            clock: "clock".into(),
            inputs: vec![],
            outputs: vec!["synced".into()],
        }]
    }
}

#[cfg(test)]
mod tests;
