//! Loopback: frames that are sent are received instead of those of the wire.
//!
//! ```text
//! wire_* (MAC) ------------+--> [ one of both ] --> rx_* (front end)
//!                          |         ^
//! frame_* (sender) --------+---------+
//!                          \--> [ Skid ] --> tx_* (MAC)
//! ```
//!
//! | latency    | none to `rx_*`; 1 cycle to `tx_*`, and from `loopback`, `cut` to what follows |
//! | throughput | a beat a cycle; looped, one in 2 cycles at W = 512                            |
//! | units      | beats of `W` bits                                                             |
//! | source     | `rnic_abi::registers::TX_CONTROL`                                             |
//!
//! Each frame goes one way to its end, whatever the register says by then. A frame of the wire is
//! dropped, and counted, if it begins a cycle after `loopback` is high, a looped frame is under
//! way, or one was `GAP_CYCLES` before; a looped frame begins only when no frame of the wire is
//! under way, and `GAP_CYCLES` after the last one. So neither is ever cut, and the front end has
//! its spaces.
//!
//! `cut` resets the sender. A frame that is under way then ends with one more beat that has an
//! error: the front end drops it, the MAC spoils its FCS.
use crate::common::skid::Skid;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Cycles between two frames that the front end gets.
pub const GAP_CYCLES: u64 = 3;

/// What goes with the data of a beat to the MAC.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TxNote {
    /// Valid octets, from lane 0 on.
    pub octets: Bits<7>,
    /// Last beat of its frame.
    pub last: Bit,
    /// With `last`: the frame is not whole.
    pub error: Bit,
}

/// Loopback of frames of width `W`.
#[derive(LogicBlock, Init)]
pub struct Loopback<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// The reset pin.
    pub reset: Signal<In, Bit>,
    /// The sender is in reset: it offers nothing from the next cycle on.
    pub cut: Signal<In, Bit>,
    /// `TX_CONTROL_LOOPBACK`.
    pub loopback: Signal<In, Bit>,
    /// Frames of the wire: see [`crate::receive::front_end`].
    pub wire_data: Signal<In, Bits<W>>,
    pub wire_octets: Signal<In, Bits<7>>,
    pub wire_last: Signal<In, Bit>,
    pub wire_error: Signal<In, Bit>,
    pub wire_valid: Signal<In, Bit>,
    /// Frames of the sender.
    pub frame_data: Signal<In, Bits<W>>,
    pub frame_octets: Signal<In, Bits<7>>,
    pub frame_last: Signal<In, Bit>,
    pub frame_valid: Signal<In, Bit>,
    pub frame_ready: Signal<Out, Bit>,
    /// To the front end.
    pub rx_data: Signal<Out, Bits<W>>,
    pub rx_octets: Signal<Out, Bits<7>>,
    pub rx_last: Signal<Out, Bit>,
    pub rx_error: Signal<Out, Bit>,
    pub rx_valid: Signal<Out, Bit>,
    /// To the MAC.
    pub tx_data: Signal<Out, Bits<W>>,
    pub tx_octets: Signal<Out, Bits<7>>,
    pub tx_last: Signal<Out, Bit>,
    pub tx_error: Signal<Out, Bit>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx_ready: Signal<In, Bit>,
    /// One cycle: a frame of the wire is dropped.
    pub dropped: Signal<Out, Bit>,
    data: Skid<Bits<W>>,
    notes: Skid<TxNote>,
    // The register and the reset are far away; every beat depends on these copies of them.
    is_on: DFF<Bit>,
    cuts: DFF<Bit>,
    // A frame of the wire is under way: to the front end, or dropped.
    receives: DFF<Bit>,
    drops: DFF<Bit>,
    // A frame of the sender is under way: to the front end, or to the MAC; this one was cut.
    loops: DFF<Bit>,
    sends: DFF<Bit>,
    is_cut: DFF<Bit>,
    // As of the cycle before, a looped frame may begin now if the switch is on.
    is_free: DFF<Bit>,
    // A looped beat was sent in the cycle before.
    paced: DFF<Bit>,
    gap: DFF<Bits<2>>,
    // The last frame that the front end got was looped.
    was_looped: DFF<Bit>,
    takes_wire: Signal<Local, Bit>,
    // A beat of the sender would go this way; to the MAC, when the slice takes it.
    may_loop: Signal<Local, Bit>,
    may_send: Signal<Local, Bit>,
    looped: Signal<Local, Bit>,
    sent: Signal<Local, Bit>,
    offers: Signal<Local, Bit>,
    aborts: Signal<Local, Bit>,
    note: Signal<Local, TxNote>,
    #[constant(W == 512)]
    is_wide: Constant<Bit>,
    #[constant(GAP_CYCLES)]
    gap_cycles: Constant<Bits<2>>,
    #[constant(1)]
    one: Constant<Bits<2>>,
}

impl<const W: usize> Logic for Loopback<W> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; is_on, cuts, receives, drops, loops, sends, is_cut);
        registers!(clock; is_free, paced, gap, was_looped);
        wire!(self => self.{data, notes}; clock, reset);

        self.is_on.d.next = self.loopback.val();
        self.cuts.d.next = self.cut.val();

        // Frames of the wire.
        self.takes_wire.next = self.receives.q.val()
            | (!self.drops.q.val()
                & !self.is_on.q.val()
                & !self.loops.q.val()
                & !(self.gap.q.val().any() & self.was_looped.q.val()));
        self.dropped.next = self.wire_valid.val() & !self.takes_wire.val() & !self.drops.q.val();
        if self.wire_valid.val() {
            self.receives.d.next = self.takes_wire.val() & !self.wire_last.val();
            self.drops.d.next = !self.takes_wire.val() & !self.wire_last.val();
        }

        // Frames of the sender; `loops` and `sends` are never high together.
        self.may_loop.next = !self.cuts.q.val()
            & !(self.paced.q.val() & self.is_wide.val())
            & (self.loops.q.val() | (self.is_free.q.val() & self.is_on.q.val()));
        self.looped.next = self.frame_valid.val() & self.may_loop.val();
        self.paced.d.next = self.looped.val();
        // While the switch is on, no other frame begins; the gap ends with this cycle.
        self.is_free.d.next = self.is_on.q.val()
            & !self.sends.q.val()
            & !self.receives.q.val()
            & !self.loops.q.val()
            & !self.looped.val()
            & !self.gap.q.val().get_bit(1);
        self.aborts.next = self.sends.q.val() & (self.cuts.q.val() | self.is_cut.q.val());
        self.may_send.next = !self.cuts.q.val()
            & !self.is_cut.q.val()
            & (self.sends.q.val() | (!self.loops.q.val() & !self.is_on.q.val()));
        self.offers.next = self.aborts.val() | (self.frame_valid.val() & self.may_send.val());
        self.sent.next = self.offers.val() & self.data.s_ready.val();
        self.frame_ready.next =
            self.may_loop.val() | (self.may_send.val() & self.data.s_ready.val());
        self.note.next.octets = self.frame_octets.val();
        self.note.next.last = self.frame_last.val();
        self.note.next.error = false;
        if self.aborts.val() {
            self.note.next.octets = 1.into();
            self.note.next.last = true;
            self.note.next.error = true;
        }
        if self.looped.val() {
            self.loops.d.next = !self.frame_last.val();
        }
        if self.sent.val() {
            self.sends.d.next = !self.note.val().last;
        }
        self.is_cut.d.next = self.aborts.val() & !self.sent.val();

        // One of both to the front end.
        self.rx_data.next = self.wire_data.val();
        self.rx_octets.next = self.wire_octets.val();
        self.rx_last.next = self.wire_last.val();
        self.rx_error.next = self.wire_error.val();
        self.rx_valid.next = self.wire_valid.val() & self.takes_wire.val();
        if self.loops.q.val() | self.looped.val() {
            self.rx_data.next = self.frame_data.val();
            self.rx_octets.next = self.frame_octets.val();
            self.rx_last.next = self.frame_last.val();
            self.rx_error.next = false;
            self.rx_valid.next = self.looped.val();
        }
        if self.loops.q.val() & self.cuts.q.val() {
            self.rx_octets.next = 1.into();
            self.rx_last.next = true;
            self.rx_error.next = true;
            self.rx_valid.next = true;
            self.loops.d.next = false;
        }
        if self.gap.q.val().any() {
            self.gap.d.next = self.gap.q.val() - self.one.val();
        }
        if self.rx_valid.val() & self.rx_last.val() {
            self.gap.d.next = self.gap_cycles.val();
            self.was_looped.d.next = !self.takes_wire.val();
        }

        wire!(self => self.data; frame_data as s_data, offers as s_valid, tx_ready as m_ready);
        wire!(self => self.notes; note as s_data, offers as s_valid, tx_ready as m_ready);
        wire!(self.data => self; m_data as tx_data, m_valid as tx_valid);
        self.tx_octets.next = self.notes.m_data.val().octets;
        self.tx_last.next = self.notes.m_data.val().last;
        self.tx_error.next = self.notes.m_data.val().error;
        if self.reset.val() {
            self.receives.d.next = false;
            self.drops.d.next = false;
            self.loops.d.next = false;
            self.sends.d.next = false;
            self.is_cut.d.next = false;
            self.is_free.d.next = false;
            self.gap.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
