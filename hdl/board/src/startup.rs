//! Reset after power-up and at the button, and the tick of a microsecond.
//!
//! | latency | reset ends [`QUIET_CYCLES`] cycles after the clock is stable and the button is up |
//! | units   | cycles of the core's clock                                                        |
use crate::pll::CORE_MHZ;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Cycles of reset after its last cause.
pub const QUIET_CYCLES: u64 = 255;

/// Reset and tick.
#[derive(LogicBlock, Init)]
pub struct Startup {
    pub clock: Signal<In, Clock>,
    /// The clock is stable, synchronised.
    pub locked: Signal<In, Bit>,
    /// The button is up, synchronised.
    pub button_n: Signal<In, Bit>,
    pub reset: Signal<Out, Bit>,
    /// One cycle each microsecond.
    pub tick: Signal<Out, Bit>,
    quiet: DFF<Bits<8>>,
    holds: DFF<Bit>,
    phase: DFF<Bits<6>>,
    ticks: DFF<Bit>,
    #[constant(1)]
    one: Constant<Bits<8>>,
    #[constant(1)]
    one_phase: Constant<Bits<6>>,
    #[constant(QUIET_CYCLES)]
    quiet_last: Constant<Bits<8>>,
    #[constant(CORE_MHZ - 1)]
    phase_last: Constant<Bits<6>>,
}

impl Logic for Startup {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; quiet, holds, phase, ticks);
        self.reset.next = self.holds.q.val();
        self.tick.next = self.ticks.q.val();
        self.holds.d.next = self.quiet.q.val() != self.quiet_last.val();
        if self.quiet.q.val() != self.quiet_last.val() {
            self.quiet.d.next = self.quiet.q.val() + self.one.val();
        }
        if !self.locked.val() | !self.button_n.val() {
            self.quiet.d.next = 0.into();
            self.holds.d.next = true;
        }
        self.ticks.d.next = self.phase.q.val() == self.phase_last.val();
        self.phase.d.next = self.phase.q.val() + self.one_phase.val();
        if self.phase.q.val() == self.phase_last.val() {
            self.phase.d.next = 0.into();
        }
    }
}
