//! Early runs: what a connection received beyond a gap, by the numbers that TCP gives the runs.
//!
//! ```text
//! arrived.left, arrived.right --> [ runs ] --> left_run, right_run
//!                                    ^                 |
//!                                    +---- sums <------+-- frame
//! ```
//!
//! | enters     | an accepted message that opens, lengthens, joins or ends a run; its frame   |
//! | leaves     | the runs it touches; the run it leaves is written                           |
//! | latency    | `fetch` to `load_right`: 2 cycles, to `load_left`: 3; what was loaded counts |
//! |            | from the next cycle on, `joined_octets` one later                           |
//! | throughput | one message at a time                                                       |
//! | units      | octets; slots as in [`QueuedFrame`]                                         |
//!
//! Frames of a run are linked as those of a stream are, so that a run joins another one, or the
//! stream, by one link, however many frames it holds.
use super::context::{EarlyRun, QueuedFrame};
use crate::common::ram::SdpRam;
use crate::messages::Accepted;
use rust_hdl::prelude::*;

/// First and last frame of every early run.
#[derive(LogicBlock, Default)]
pub struct EarlyRuns {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// The message; it holds from `fetch` to `write`.
    pub arrived: Signal<In, Accepted>,
    /// Its octets as a queued frame.
    pub frame: Signal<In, QueuedFrame>,
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
    /// Octets of the message and of `right_run`; counts from two cycles after `load_right` on.
    pub joined_octets: Signal<Out, Bits<18>>,
    runs: SdpRam<EarlyRun, 8>,
    right_kept: DFF<EarlyRun>,
    left_kept: DFF<EarlyRun>,
    joined: DFF<Bits<18>>,
    written: Signal<Local, EarlyRun>,
    arrived_octets: Signal<Local, Bits<18>>,
    behind: Signal<Local, Bits<18>>,
}

impl Logic for EarlyRuns {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, right_kept, left_kept, joined);
        self.runs.clock.next = self.clock.val();
        self.right_run.next = self.right_kept.q.val();
        self.left_run.next = self.left_kept.q.val();
        self.joined_octets.next = self.joined.q.val();

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
        self.arrived_octets.next = bit_cast::<18, 14>(self.arrived.val().octets);
        self.behind.next = self.arrived_octets.val();
        if self.arrived.val().has_right {
            self.behind.next = self.arrived_octets.val() + self.right_kept.q.val().octets;
        }
        self.joined.d.next = self.behind.val();

        // First the left run's frames, then this one, then the right run's.
        self.written.next.head = self.frame.val();
        self.written.next.last_slot = self.frame.val().slot;
        self.written.next.octets = self.joined.q.val();
        if self.arrived.val().has_left {
            self.written.next.head = self.left_kept.q.val().head;
            self.written.next.octets = self.left_kept.q.val().octets + self.joined.q.val();
        }
        if self.arrived.val().has_right {
            self.written.next.last_slot = self.right_kept.q.val().last_slot;
        }
        // A run that is only lengthened at its front keeps its number.
        self.runs.write_address.next = self.arrived.val().left;
        if self.arrived.val().has_right & !self.arrived.val().has_left {
            self.runs.write_address.next = self.arrived.val().right;
        }
        self.runs.write_data.next = self.written.val();
        self.runs.write_enable.next = self.write.val();
    }
}
