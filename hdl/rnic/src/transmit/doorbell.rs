//! Tail of a ring: moves forward, and at most as far as there are units.
//!
//! ```text
//! tail_valid --> Delta --> Room --> Decide --> tail_index, or ignored
//! ```
//!
//! | latency    | 4 cycles, `tail_valid` to `tail_index`                                |
//! | throughput | a doorbell each cycle: a later one replaces one that is still pending |
//! | units      | units of the ring, modulo 2^32                                        |
//! | source     | `rnic_abi::transmit_ring`                                             |
//!
//! The tail may move by the units of the ring less those between head and tail; a tail that goes
//! back moves it by far more. The head meanwhile only makes room.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What is done about the last doorbell.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum TailState {
    Idle,
    Delta,
    Room,
    Decide,
}

/// Doorbell of a ring.
#[derive(LogicBlock, Init)]
pub struct Doorbell {
    pub clock: Signal<In, Clock>,
    /// Synchronous, as is a set-up of the ring: the tail is 0.
    pub reset: Signal<In, Bit>,
    pub tail: Signal<In, Bits<32>>,
    pub tail_valid: Signal<In, Bit>,
    /// The ring has units.
    pub on: Signal<In, Bit>,
    /// So many.
    pub units: Signal<In, Bits<17>>,
    pub head: Signal<In, Bits<32>>,
    pub tail_index: Signal<Out, Bits<32>>,
    /// One cycle: a doorbell was not taken.
    pub ignored: Signal<Out, Bit>,
    state: DFF<TailState>,
    index: DFF<Bits<32>>,
    offered: DFF<Bits<32>>,
    // How far it moves the tail, how many units are between head and tail, and how far it may.
    delta: DFF<Bits<32>>,
    held: DFF<Bits<17>>,
    room: DFF<Bits<17>>,
    held_now: Signal<Local, Bits<32>>,
    delta_low: Signal<Local, Bits<17>>,
    delta_high: Signal<Local, Bits<15>>,
    accepts: Signal<Local, Bit>,
}

impl Logic for Doorbell {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, index, offered, delta, held, room);
        self.tail_index.next = self.index.q.val();
        self.held_now.next = self.index.q.val() - self.head.val();
        self.delta_low.next = self.delta.q.val().get_bits::<17>(0);
        self.delta_high.next = self.delta.q.val().get_bits::<15>(17);
        self.accepts.next = self.on.val()
            & !self.delta_high.val().any()
            & (self.delta_low.val() <= self.room.q.val());
        self.ignored.next = false;
        match self.state.q.val() {
            TailState::Delta => {
                self.delta.d.next = self.offered.q.val() - self.index.q.val();
                self.held.d.next = self.held_now.val().get_bits::<17>(0);
                self.state.d.next = TailState::Room;
            }
            TailState::Room => {
                self.room.d.next = self.units.val() - self.held.q.val();
                self.state.d.next = TailState::Decide;
            }
            TailState::Decide => {
                if self.accepts.val() {
                    self.index.d.next = self.offered.q.val();
                }
                self.ignored.next = !self.accepts.val();
                self.state.d.next = TailState::Idle;
            }
            _ => {}
        }
        if self.tail_valid.val() {
            self.offered.d.next = self.tail.val();
            self.state.d.next = TailState::Delta;
        }
        if self.reset.val() {
            self.index.d.next = 0.into();
            self.state.d.next = TailState::Idle;
        }
    }
}
