//! Fence of records: the FPDUs that MPA had begun at some time have left the checks.
//!
//! ```text
//!  begun --> [ coming ] -- record --> [ held: FIFO, checks ] -- load --> outputs --> taken
//!                |                         |    ^-- replayed records
//!  fence --> [ expected ] -- 0 --> [ ahead ] -- 0, outputs free --> fence_done
//! ```
//!
//! The release of a connection ends after this fence. When the stream manager has nothing left of
//! a connection, no job and no replay, the records of its last FPDUs are on their way from MPA, in
//! the FIFO or in the checks. They must be judged by this connection's tables, not by those of the
//! next one with its id (docs/security.md).
//!
//! Two counts, one after the other, since a replayed record may enter the FIFO before one that
//! is on its way. From the time when the last expected record has entered, the FIFO's order is that
//! of the checks.
//!
//! | latency    | 2 cycles, `fence` to `fence_done`, in an idle room; else until the last     |
//! |            | record has been loaded and its command and stream error have been taken     |
//! | throughput | one fence at a time                                                         |
//! | units      | records; at most 63 on their way, and 31 inside                             |
//! | size       | 49 LUT4, 18 carry cells, 24 FF (ECP5)                                       |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Reports when every record that was begun or inside at `fence` has left.
#[derive(LogicBlock, Init)]
pub struct RecordFence {
    pub clock: Signal<In, Clock>,
    /// Synchronous; the room is empty.
    pub reset: Signal<In, Bit>,
    /// An FPDU begins, its record will come; one cycle.
    pub begun: Signal<In, Bit>,
    /// A record comes from MPA.
    pub record_valid: Signal<In, Bit>,
    /// A record enters the FIFO: that of MPA, or a replayed one.
    pub enters: Signal<In, Bit>,
    /// The oldest record inside leaves the checks.
    pub load: Signal<In, Bit>,
    /// All output messages have been taken; no record is loaded before.
    pub outputs_free: Signal<In, Bit>,
    /// Begins a fence; holds to `fence_done`.
    pub fence: Signal<In, Bit>,
    /// One cycle: all earlier records have left.
    pub fence_done: Signal<Out, Bit>,
    coming: DFF<Bits<6>>,
    held: DFF<Bits<5>>,
    // Records from before the fence: those still to come; then those in the FIFO before its end.
    expecting: DFF<Bit>,
    expected: DFF<Bits<6>>,
    leaving: DFF<Bit>,
    ahead: DFF<Bits<5>>,
    #[constant(1)]
    one_coming: Constant<Bits<6>>,
    #[constant(1)]
    one_held: Constant<Bits<5>>,
}

impl Logic for RecordFence {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; coming, held, expecting, expected, leaving, ahead);
        if self.begun.val() & !self.record_valid.val() {
            self.coming.d.next = self.coming.q.val() + self.one_coming.val();
        }
        if self.record_valid.val() & !self.begun.val() {
            self.coming.d.next = self.coming.q.val() - self.one_coming.val();
        }
        if self.enters.val() & !self.load.val() {
            self.held.d.next = self.held.q.val() + self.one_held.val();
        }
        if self.load.val() & !self.enters.val() {
            self.held.d.next = self.held.q.val() - self.one_held.val();
        }

        if self.record_valid.val() & self.expected.q.val().any() {
            self.expected.d.next = self.expected.q.val() - self.one_coming.val();
        }
        if self.load.val() & self.ahead.q.val().any() {
            self.ahead.d.next = self.ahead.q.val() - self.one_held.val();
        }
        self.fence_done.next =
            self.leaving.q.val() & !self.ahead.q.val().any() & self.outputs_free.val();
        if self.fence_done.val() {
            self.leaving.d.next = false;
        }
        // What comes, or leaves, in the cycle of a snapshot is not waited for.
        if self.expecting.q.val() & !self.expected.q.val().any() {
            self.expecting.d.next = false;
            self.leaving.d.next = true;
            self.ahead.d.next = self.held.q.val();
            if self.load.val() {
                self.ahead.d.next = self.held.q.val() - self.one_held.val();
            }
        }
        if self.fence.val() & !self.expecting.q.val() & !self.leaving.q.val() {
            self.expecting.d.next = true;
            self.expected.d.next = self.coming.q.val();
            if self.record_valid.val() {
                self.expected.d.next = self.coming.q.val() - self.one_coming.val();
            }
        }
        if self.reset.val() {
            self.coming.d.next = 0.into();
            self.held.d.next = 0.into();
            self.expecting.d.next = false;
            self.leaving.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
