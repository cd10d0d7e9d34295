//! Which vector sends a message next.
//!
//! ```text
//! raises --> [ pending ] --(not masked, hold-off over, MSI-X on)--> [ due ] --> chosen
//!                 ^ taken                      tick --> [ hold-offs ]
//! ```
//!
//! | latency    | 2 cycles, `raises` to `chosen_valid`                             |
//! | throughput | a vector a cycle                                                 |
//! | units      | ticks                                                            |
//! | source     | PCI Express Base Specification, section 6.1.4                    |
//!
//! Vectors take turns: after the one that was taken, the next higher one that is due. A vector
//! that is raised in the cycle in which it is taken stays pending.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Pending bits, hold-offs and turns of the vectors.
#[derive(LogicBlock, Init)]
pub struct Vectors {
    pub clock: Signal<In, Clock>,
    /// Synchronous; nothing is pending.
    pub reset: Signal<In, Bit>,
    /// One cycle each microsecond.
    pub tick: Signal<In, Bit>,
    /// MSI-X Enable: without it nothing is pending.
    pub enable: Signal<In, Bit>,
    /// Function Mask: every vector is masked.
    pub function_mask: Signal<In, Bit>,
    pub raises: Signal<In, Bits<8>>,
    /// By vector: it is masked; ticks from a message to the next one.
    pub masked: [Signal<In, Bit>; 8],
    pub hold_off: [Signal<In, Bits<10>>; 8],
    pub pending: Signal<Out, Bits<8>>,
    /// The vector whose message is due; `take` for one cycle begins it.
    pub chosen: Signal<Out, Bits<3>>,
    pub chosen_valid: Signal<Out, Bit>,
    pub take: Signal<In, Bit>,
    waits: DFF<Bits<8>>,
    due: DFF<Bits<8>>,
    left: [DFF<Bits<10>>; 8],
    last: DFF<Bits<3>>,
    is_due: Signal<Local, Bits<8>>,
    may_send: Signal<Local, Bit>,
    above: Signal<Local, Bits<8>>,
    turn: Signal<Local, Bits<8>>,
    index: Signal<Local, Bits<3>>,
    taken: Signal<Local, Bits<8>>,
    #[constant(1)]
    one: Constant<Bits<8>>,
    #[constant(0xfe)]
    higher: Constant<Bits<8>>,
    #[constant(1)]
    one_tick: Constant<Bits<10>>,
}

impl Logic for Vectors {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; waits, due, last);
        // After the last one, or from the first on.
        self.above.next = self.due.q.val() & (self.higher.val() << self.last.q.val());
        self.turn.next = self.due.q.val();
        if self.above.val().any() {
            self.turn.next = self.above.val();
        }
        self.index.next = 7.into();
        if self.turn.val().get_bit(6) {
            self.index.next = 6.into();
        }
        if self.turn.val().get_bit(5) {
            self.index.next = 5.into();
        }
        if self.turn.val().get_bit(4) {
            self.index.next = 4.into();
        }
        if self.turn.val().get_bit(3) {
            self.index.next = 3.into();
        }
        if self.turn.val().get_bit(2) {
            self.index.next = 2.into();
        }
        if self.turn.val().get_bit(1) {
            self.index.next = 1.into();
        }
        if self.turn.val().get_bit(0) {
            self.index.next = 0.into();
        }
        self.chosen.next = self.index.val();
        self.chosen_valid.next = self.due.q.val().any();
        self.taken.next = 0.into();
        if self.take.val() {
            self.taken.next = self.one.val() << self.index.val();
            self.last.d.next = self.index.val();
        }

        self.waits.d.next = (self.waits.q.val() & !self.taken.val()) | self.raises.val();
        self.pending.next = self.waits.q.val();
        self.may_send.next = self.enable.val() & !self.function_mask.val();
        self.is_due.next = 0.into();
        for v in 0..8 {
            self.left[v].clock.next = self.clock.val();
            self.left[v].d.next = self.left[v].q.val();
            if self.tick.val() & self.left[v].q.val().any() {
                self.left[v].d.next = self.left[v].q.val() - self.one_tick.val();
            }
            if self.taken.val().get_bit(v) {
                self.left[v].d.next = self.hold_off[v].val();
            }
            if self.waits.q.val().get_bit(v)
                & !self.masked[v].val()
                & !self.left[v].q.val().any()
                & self.may_send.val()
                & !self.taken.val().get_bit(v)
            {
                self.is_due.next = self.is_due.val().replace_bit(v, true);
            }
            if self.reset.val() {
                self.left[v].d.next = 0.into();
            }
        }
        self.due.d.next = self.is_due.val();
        if self.reset.val() | !self.enable.val() {
            self.waits.d.next = 0.into();
            self.due.d.next = 0.into();
        }
        if self.reset.val() {
            self.last.d.next = 0.into();
        }
    }
}
