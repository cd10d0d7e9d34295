//! Takes the descriptor from the front of a packet and closes the gap.
//!
//! ```text
//! s_* --> [ shift by N lanes ] --> held --+--> m_*
//!           |        \--------------------^
//!           +--> m_head
//! ```
//!
//! | latency    | 1 cycle, or until the next beat of the packet                              |
//! | throughput | one beat per cycle; one more for a packet that ends in lanes of the beat   |
//! |            | before                                                                     |
//! | units      | lanes of 32 bits                                                           |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Takes `N` lanes from the front of each packet, 3 or 4; `L = D / 32`, `E = D + 128`, `M = L + 4`.
///
/// A packet without payload becomes one beat without lanes.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 * L && E == D + 128 && M == L + 4 && (N == 3 || N == 4),
        "DetachDescriptor: {N} lanes before beats of {D} bits, {L} lanes; E = {E}, M = {M}"
    );
    let head_bits = 32 * N as u64;
    let room_bits = 32 * (L - N) as u64;
)]
pub struct DetachDescriptor<
    const D: usize,
    const L: usize,
    const E: usize,
    const M: usize,
    const N: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<D>>,
    pub s_keep: Signal<In, Bits<L>>,
    pub s_last: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    /// What stands beside the first beat.
    pub s_side: Signal<In, Bits<8>>,
    pub m_data: Signal<Out, Bits<D>>,
    pub m_keep: Signal<Out, Bits<L>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    /// The first 128 bits of the packet and what stood beside them, valid with all its beats.
    pub m_head: Signal<Out, Bits<128>>,
    pub m_side: Signal<Out, Bits<8>>,
    head: DFF<Bits<128>>,
    side: DFF<Bits<8>>,
    // Lanes of the beat before, at the bottom.
    held: DFF<Bits<D>>,
    held_keep: DFF<Bits<L>>,
    is_held: DFF<Bit>,
    // They are the last ones of their packet.
    ends: DFF<Bit>,
    data: Signal<Local, Bits<E>>,
    keep: Signal<Local, Bits<M>>,
    lowered: Signal<Local, Bits<E>>,
    lowered_keep: Signal<Local, Bits<M>>,
    raised: Signal<Local, Bits<E>>,
    raised_keep: Signal<Local, Bits<M>>,
    rest_keep: Signal<Local, Bits<L>>,
    takes: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    #[constant(head_bits)]
    head_bits: Constant<Bits<8>>,
    #[constant(N as u64)]
    head_count: Constant<Bits<3>>,
    // Lanes of a beat beside the descriptor.
    #[constant(room_bits)]
    room_bits: Constant<Bits<9>>,
    #[constant((L - N) as u64)]
    room_count: Constant<Bits<4>>,
}

impl<const D: usize, const L: usize, const E: usize, const M: usize, const N: usize> Logic
    for DetachDescriptor<D, L, E, M, N>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; head, side, held, held_keep, is_held, ends);
        self.data.next = bit_cast::<E, D>(self.s_data.val());
        self.keep.next = bit_cast::<M, L>(self.s_keep.val());
        self.lowered.next = self.data.val() >> self.head_bits.val();
        self.lowered_keep.next = self.keep.val() >> self.head_count.val();
        self.raised.next = self.data.val() << self.room_bits.val();
        self.raised_keep.next = self.keep.val() << self.room_count.val();
        self.rest_keep.next = self.lowered_keep.val().get_bits::<L>(0);

        self.m_head.next = self.head.q.val();
        self.m_side.next = self.side.q.val();
        self.m_data.next = self.held.q.val() | self.raised.val().get_bits::<D>(0);
        self.m_keep.next = self.held_keep.q.val() | self.raised_keep.val().get_bits::<L>(0);
        self.m_last.next = self.s_last.val() & !self.rest_keep.val().any();
        self.m_valid.next = self.is_held.q.val() & self.s_valid.val();
        self.s_ready.next = !self.is_held.q.val() | self.m_ready.val();
        if self.ends.q.val() {
            self.m_data.next = self.held.q.val();
            self.m_keep.next = self.held_keep.q.val();
            self.m_last.next = true;
            self.m_valid.next = true;
            if self.m_ready.val() {
                self.is_held.d.next = false;
                self.ends.d.next = false;
            }
        }
        self.takes.next = self.s_valid.val() & (!self.is_held.q.val() | self.m_ready.val());
        self.begins.next = !self.is_held.q.val() | self.ends.q.val();
        if self.takes.val() {
            self.held.d.next = self.lowered.val().get_bits::<D>(0);
            self.held_keep.d.next = self.rest_keep.val();
            self.ends.d.next = self.s_last.val();
            // A packet that leaves with this beat leaves nothing behind.
            self.is_held.d.next =
                self.begins.val() | !self.s_last.val() | self.rest_keep.val().any();
            if !self.begins.val() & !self.rest_keep.val().any() {
                self.ends.d.next = false;
            }
            if self.begins.val() {
                self.head.d.next = self.s_data.val().get_bits::<128>(0);
                self.side.d.next = self.s_side.val();
            }
        }
        if self.reset.val() {
            self.is_held.d.next = false;
            self.ends.d.next = false;
        }
    }
}
