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
        registers!(clock; right_kept, left_kept);
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
mod tests;
