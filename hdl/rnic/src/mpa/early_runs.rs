//! Early runs: what a connection received beyond a gap, by the numbers that TCP gives the runs.
//!
//! ```text
//! arrived.left, arrived.right --> [ runs ] --> left_run, right_run
//!                                    ^                 |
//! span ------------------------------+-----------------+
//! ```
//!
//! | enters     | an accepted message that opens, lengthens, joins or ends a run; the span    |
//! |            | that it opens                                                               |
//! | leaves     | the runs it touches; the run it leaves is written                           |
//! | latency    | `fetch` to `load_right`: 2 cycles, to `load_left`: 3; what was loaded counts |
//! |            | from the next cycle on                                                      |
//! | throughput | one message at a time                                                       |
//! | units      | numbers of spans                                                            |
//!
//! A run is a chain of spans, and its spans know which one follows them, so that two runs become
//! one by one link, however much they hold.
use super::context::EarlyRun;
use crate::common::ram::SdpRam;
use crate::messages::Accepted;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// First and last span of every early run.
#[derive(LogicBlock, Default)]
pub struct EarlyRuns {
    pub clock: Signal<In, Clock>,
    /// The message; it holds from `fetch` to `write`.
    pub arrived: Signal<In, Accepted>,
    /// The span that it opens, if it follows no run.
    pub span: Signal<In, Bits<9>>,
    /// Run `right` is to be read, and in the next cycle run `left`.
    pub fetch: Signal<In, Bit>,
    /// `right` is at the RAM's output.
    pub load_right: Signal<In, Bit>,
    /// `left` is at the RAM's output.
    pub load_left: Signal<In, Bit>,
    /// The run that the octets belong to from now on is written.
    pub write: Signal<In, Bit>,
    /// The run that follows the octets; counts from the cycle after `load_right` on.
    pub right_run: Signal<Out, EarlyRun>,
    /// The run that the octets follow; counts from the cycle after `load_left` on.
    pub left_run: Signal<Out, EarlyRun>,
    runs: SdpRam<EarlyRun, 8>,
    right_kept: DFF<EarlyRun>,
    left_kept: DFF<EarlyRun>,
    written: Signal<Local, EarlyRun>,
}

impl Logic for EarlyRuns {
    #[kernel]
    fn update(&mut self) {
        dff_setup!(self, clock, right_kept, left_kept);
        self.runs.clock.next = self.clock.val();
        self.right_run.next = self.right_kept.q.val();
        self.left_run.next = self.left_kept.q.val();

        self.runs.read_address.next = self.arrived.val().left;
        if self.fetch.val() {
            self.runs.read_address.next = self.arrived.val().right;
        }
        if self.load_right.val() {
            self.right_kept.d.next = self.runs.read_data.val();
        }
        if self.load_left.val() {
            self.left_kept.d.next = self.runs.read_data.val();
        }

        // First the left run's spans, or the new one, then the right run's.
        self.written.next.first = self.span.val();
        self.written.next.last = self.span.val();
        if self.arrived.val().has_left {
            self.written.next = self.left_kept.q.val();
        }
        if self.arrived.val().has_right {
            self.written.next.last = self.right_kept.q.val().last;
        }
        // A run that is only lengthened at its front keeps its number.
        self.runs.write_address.next = self.arrived.val().left;
        if self.arrived.val().has_right & !self.arrived.val().has_left {
            self.runs.write_address.next = self.arrived.val().right;
        }
        wire!(self => self.runs; written as write_data, write as write_enable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{lockstep, Random};

    fn random_message(random: &mut Random) -> Accepted {
        Accepted {
            has_left: random.chance(1, 2),
            left: random.below(6).into(),
            has_right: random.chance(1, 2),
            right: (6 + random.below(6)).into(),
            ..Accepted::default()
        }
    }

    /// What the run of these octets is afterwards, and its number.
    fn joined(runs: &[EarlyRun], message: &Accepted, span: Bits<9>) -> (usize, EarlyRun) {
        let (left, right) = (message.left.index(), message.right.index());
        let new = EarlyRun {
            first: span,
            last: span,
        };
        let mut parts = vec![if message.has_left { runs[left] } else { new }];
        if message.has_right {
            parts.push(runs[right]);
        }
        let number = match (message.has_left, message.has_right) {
            (false, true) => right,
            _ => left,
        };
        let run = EarlyRun {
            first: parts[0].first,
            last: parts[parts.len() - 1].last,
        };
        (number, run)
    }

    #[test]
    fn lockstep_with_verilog_and_runs_join_end_to_end() {
        let mut runs = vec![EarlyRun::default(); 12];
        let mut cycle = 0;
        lockstep(
            "early_runs",
            EarlyRuns::default(),
            7000,
            |uut| &mut uut.clock,
            |uut, random| {
                let step = cycle % 7;
                if step == 0 {
                    uut.arrived.next = random_message(random);
                    uut.span.next = random.wide();
                }
                uut.fetch.next = step == 0;
                uut.load_right.next = step == 2;
                uut.load_left.next = step == 3;
                uut.write.next = step == 5;
                let message = uut.arrived.next;
                if step == 4 {
                    let (left, right) = (message.left.index(), message.right.index());
                    assert_eq!(uut.right_run.val(), runs[right], "{random}");
                    assert_eq!(uut.left_run.val(), runs[left], "{random}");
                }
                if step == 5 {
                    let (number, run) = joined(&runs, &message, uut.span.next);
                    runs[number] = run;
                }
                cycle += 1;
            },
        );
    }
}
