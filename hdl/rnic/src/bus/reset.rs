//! Reset sequencer: brings the device from any state to that of power-up, without a cut TLP.
//!
//! ```text
//!                    request
//!        Ready <---------------------+
//!          |  \--> Drain --(held)--> Sweep --(4,160 cycles)--> Settle --(640 cycles)--> Ready
//!        (pin) --------------------->
//! ```
//!
//! | state  | rooms    | frames          | posted requests                            |
//! |--------|----------|-----------------|--------------------------------------------|
//! | Drain  | work     | dropped         | the TLP under way ends, none begins        |
//! | Sweep  | in reset | not seen        | none                                       |
//! | Settle | start up | dropped         | none: nothing has a reason to send one     |
//!
//! | latency    | `RESET_CYCLES`, and in Drain 3 cycles and the rest of the TLP under way     |
//! | units      | cycles                                                                      |
//! | source     | PCI Express Base Specification, section 6.6 (conventional and function-level|
//! |            | reset)                                                                      |
//!
//! Block RAM has no reset. In Sweep each table is written empty, entry by entry, all tables at the
//! same time: every [`TableRelay`](super::csr::tables::TableRelay) counts an index with zero data,
//! and the rooms write what the relay shows. In Settle the page pool and the record store build
//! their free lists. BAR reads are answered all the time; register writes are ignored.
//!
//! The pin may come at any time, and cuts the TLP under way: with it the link is gone too.
use rnic_abi::limits::RESET_CYCLES;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Cycles of the sweep: the 4,096 entries of the largest table, and the registers on the way to
/// them and from the sequencer to the rooms.
pub const SWEEP_CYCLES: u64 = 4_160;
/// Cycles until all free lists are built: 512 entries, and the stages around them.
const SETTLE_CYCLES: u64 = RESET_CYCLES - SWEEP_CYCLES;

const _: () = assert!(
    4 * rnic_abi::limits::CONNECTIONS as u64 <= 4_096
        && (rnic_abi::limits::HASH_WAYS as u64) << rnic_abi::limits::HASH_SLOTS_LOG2 <= 4_096,
    "the sweep reaches every entry of every table"
);

/// States of a reset.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ResetState {
    /// The device works.
    Ready,
    /// Waits for the end of the TLP under way.
    Drain,
    /// The rooms are in reset; tables are written empty.
    Sweep,
    /// The rooms build their free lists.
    Settle,
}

/// Reset sequencer.
#[derive(LogicBlock, Init)]
pub struct ResetSequencer {
    pub clock: Signal<In, Clock>,
    /// The reset pin: power-up, a reset of the link.
    pub reset: Signal<In, Bit>,
    /// One cycle: `CONTROL_RESET` is written.
    pub request: Signal<In, Bit>,
    /// No TLP is under way, and while `hold` none begins.
    pub held: Signal<In, Bit>,
    /// No posted request may begin.
    pub hold: Signal<Out, Bit>,
    /// Reset of all rooms but the bus.
    pub room_reset: Signal<Out, Bit>,
    /// Reads as `CONTROL_RESET`.
    pub resetting: Signal<Out, Bit>,
    state: DFF<ResetState>,
    rooms: DFF<Bit>,
    holds: DFF<Bit>,
    // `held` comes from two rooms; their answer to `hold`, a cycle later.
    is_held: DFF<Bit>,
    count: DFF<Bits<13>>,
    // The count is that of the last cycle, found a cycle before: much follows from it.
    sweep_ends: DFF<Bit>,
    settle_ends: DFF<Bit>,
    #[constant(1)]
    one: Constant<Bits<13>>,
    // The last count but one.
    #[constant(SWEEP_CYCLES - 2)]
    sweep_near: Constant<Bits<13>>,
    #[constant(SETTLE_CYCLES - 2)]
    settle_near: Constant<Bits<13>>,
}

impl Logic for ResetSequencer {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, rooms, holds, is_held, count, sweep_ends, settle_ends);
        self.hold.next = self.holds.q.val();
        self.room_reset.next = self.rooms.q.val();
        self.resetting.next = self.state.q.val() != ResetState::Ready;
        self.count.d.next = self.count.q.val() + self.one.val();
        self.sweep_ends.d.next = self.count.q.val() == self.sweep_near.val();
        self.settle_ends.d.next = self.count.q.val() == self.settle_near.val();
        self.is_held.d.next = self.held.val() & self.holds.q.val();
        match self.state.q.val() {
            ResetState::Ready => {
                if self.request.val() {
                    self.holds.d.next = true;
                    self.state.d.next = ResetState::Drain;
                }
            }
            ResetState::Drain => {
                self.count.d.next = 0.into();
                self.sweep_ends.d.next = false;
                if self.is_held.q.val() {
                    self.rooms.d.next = true;
                    self.state.d.next = ResetState::Sweep;
                }
            }
            ResetState::Sweep => {
                if self.sweep_ends.q.val() {
                    self.count.d.next = 0.into();
                    self.settle_ends.d.next = false;
                    self.rooms.d.next = false;
                    self.state.d.next = ResetState::Settle;
                }
            }
            ResetState::Settle => {
                if self.settle_ends.q.val() {
                    self.holds.d.next = false;
                    self.state.d.next = ResetState::Ready;
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.count.d.next = 0.into();
            self.sweep_ends.d.next = false;
            self.rooms.d.next = true;
            self.holds.d.next = true;
            self.state.d.next = ResetState::Sweep;
        }
    }
}

#[cfg(test)]
mod tests;
