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
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, bad_span, bad_end, bad_valid, follows);
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
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{settle, tick};

    /// The chain's answer to a record, which is then judged.
    fn step(uut: &mut EarlyChain, span: u64, sequence: u64, end: u64, good: bool) -> bool {
        uut.record.next = FpduRecord {
            span: span.into(),
            sequence: sequence.into(),
            sequence_end: end.into(),
            ..FpduRecord::default()
        };
        tick(uut, |uut| &mut uut.clock);
        let follows = uut.follows_bad.val();
        uut.judged.next = true;
        uut.good.next = good;
        tick(uut, |uut| &mut uut.clock);
        uut.judged.next = false;
        follows
    }

    #[test]
    fn mpa_045_the_chain_goes_on_from_bad_to_bad_and_ends_with_another_job() {
        let mut uut = EarlyChain::default();
        uut.connect_all();
        settle(&mut uut);
        assert!(!step(&mut uut, 0, 0, 20, true), "nothing was bad yet");
        assert!(!step(&mut uut, 0, 20, 40, false));
        assert!(step(&mut uut, 0, 40, 60, false));
        assert!(step(&mut uut, 0, 60, 80, false));
        assert!(!step(&mut uut, 1, 80, 90, false), "another span");
        assert!(!step(&mut uut, 1, 80, 90, false), "the same one once more");
        assert!(!step(&mut uut, 1, 91, 99, true), "not where it ended");
        assert!(!step(&mut uut, 1, 90, 95, true), "a good one came between");
        assert!(!step(&mut uut, 1, 95, 7, false));
        uut.reset.next = true;
        tick(&mut uut, |uut| &mut uut.clock);
        uut.reset.next = false;
        assert!(!step(&mut uut, 1, 7, 8, true), "reset forgets");
    }
}
