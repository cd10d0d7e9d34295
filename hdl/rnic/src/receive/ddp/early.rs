//! Early chain: does an early FPDU follow one of the same job that was not placed?
//!
//! ```text
//!  bad FPDU --> [ span, sequence_end ] --> [ compare ] --> follows_bad
//!                        record ---------------^
//! ```
//!
//! | latency    | 1 cycle, `record` to `follows_bad`; `judged` counts from the next cycle on |
//! | throughput | one record per 5 cycles, as [`super::sequencer`] steps them                |
//! | units      | sequence numbers of TCP, spans of MPA                                      |
//!
//! The FPDUs of an early job come one behind the other: the next one begins where the one before
//! ends, in the same span. Behind one that was not placed no other is, so that what is placed of a
//! job is its beginning. Only the last one judged is remembered: if it was good, another job has
//! begun since the last bad one.
use crate::messages::FpduRecord;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Remembers the last early FPDU that was not placed.
#[derive(LogicBlock, Default)]
pub struct EarlyChain {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The record in the checks.
    pub record: Signal<In, FpduRecord>,
    /// It begins where the last bad FPDU of its span ended.
    pub follows_bad: Signal<Out, Bit>,
    /// The record is an `FPDU_EARLY` and has been judged, one cycle.
    pub judged: Signal<In, Bit>,
    /// With `judged`: it is good.
    pub good: Signal<In, Bit>,
    bad_span: DFF<Bits<9>>,
    bad_end: DFF<Bits<32>>,
    bad_valid: DFF<Bit>,
    follows: DFF<Bit>,
}

impl Logic for EarlyChain {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; bad_span, bad_end, bad_valid, follows);
        self.follows.d.next = self.bad_valid.q.val()
            & (self.record.val().span == self.bad_span.q.val())
            & (self.record.val().sequence == self.bad_end.q.val());
        self.follows_bad.next = self.follows.q.val();
        if self.judged.val() {
            self.bad_span.d.next = self.record.val().span;
            self.bad_end.d.next = self.record.val().sequence_end;
            self.bad_valid.d.next = !self.good.val();
        }
        if self.reset.val() {
            self.bad_valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
