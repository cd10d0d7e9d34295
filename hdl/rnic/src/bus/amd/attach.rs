//! Puts a descriptor before a packet, without a gap between the two.
//!
//! ```text
//! s_head ---+
//!           v
//! s_* --> [ shift by N lanes ] --> m_*
//!           |        ^
//!           +-> carry (the lanes that had no room)
//! ```
//!
//! | latency    | none: combinational from `s_` to `m_`                                      |
//! | throughput | one beat per cycle; one more for a packet whose last lanes had no room     |
//! | units      | lanes of 32 bits                                                           |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Puts `N` lanes before each packet, 3 or 4; `L = D / 32`, `E = D + 128`, `M = L + 4`.
///
/// A beat that is not the last one of its packet has all lanes; a packet without payload is one
/// beat without lanes.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 * L && E == D + 128 && M == L + 4 && (N == 3 || N == 4),
        "AttachDescriptor: {N} lanes before beats of {D} bits, {L} lanes; E = {E}, M = {M}"
    );
    let head_bits = 32 * N as u64;
    let head_lanes = (1u64 << N) - 1;
)]
pub struct AttachDescriptor<
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
    /// The descriptor, valid with the first beat; bits from `32 N` on are 0.
    pub s_head: Signal<In, Bits<128>>,
    pub m_data: Signal<Out, Bits<D>>,
    pub m_keep: Signal<Out, Bits<L>>,
    /// The beat begins a packet.
    pub m_first: Signal<Out, Bit>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    carry: DFF<Bits<128>>,
    carry_keep: DFF<Bits<4>>,
    in_packet: DFF<Bit>,
    // The packet was taken whole; its last lanes are left.
    flushes: DFF<Bit>,
    front: Signal<Local, Bits<128>>,
    wide: Signal<Local, Bits<E>>,
    wide_keep: Signal<Local, Bits<M>>,
    rest: Signal<Local, Bits<E>>,
    rest_keep: Signal<Local, Bits<M>>,
    left_keep: Signal<Local, Bits<4>>,
    moves: Signal<Local, Bit>,
    #[constant(head_bits)]
    head_bits: Constant<Bits<8>>,
    #[constant(N as u64)]
    head_count: Constant<Bits<3>>,
    #[constant(head_lanes)]
    head_lanes: Constant<Bits<M>>,
    #[constant(D as u64)]
    beat_bits: Constant<Bits<10>>,
    #[constant(L as u64)]
    beat_lanes: Constant<Bits<5>>,
}

impl<const D: usize, const L: usize, const E: usize, const M: usize, const N: usize> Logic
    for AttachDescriptor<D, L, E, M, N>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; carry, carry_keep, in_packet, flushes);
        self.front.next = self.s_head.val();
        if self.in_packet.q.val() {
            self.front.next = self.carry.q.val();
        }
        self.wide.next = bit_cast::<E, 128>(self.front.val())
            | (bit_cast::<E, D>(self.s_data.val()) << self.head_bits.val());
        self.wide_keep.next =
            self.head_lanes.val() | (bit_cast::<M, L>(self.s_keep.val()) << self.head_count.val());
        self.rest.next = self.wide.val() >> self.beat_bits.val();
        self.rest_keep.next = self.wide_keep.val() >> self.beat_lanes.val();
        self.left_keep.next = self.rest_keep.val().get_bits::<4>(0);

        self.m_first.next = !self.in_packet.q.val() & !self.flushes.q.val();
        self.m_data.next = self.wide.val().get_bits::<D>(0);
        self.m_keep.next = self.wide_keep.val().get_bits::<L>(0);
        self.m_last.next = self.s_last.val() & !self.left_keep.val().any();
        self.m_valid.next = self.s_valid.val();
        self.s_ready.next = self.m_ready.val() & !self.flushes.q.val();
        self.moves.next = self.s_valid.val() & self.m_ready.val() & !self.flushes.q.val();
        if self.moves.val() {
            self.carry.d.next = self.rest.val().get_bits::<128>(0);
            self.carry_keep.d.next = self.left_keep.val();
            self.in_packet.d.next = !self.s_last.val();
            self.flushes.d.next = self.s_last.val() & self.left_keep.val().any();
        }
        if self.flushes.q.val() {
            self.m_data.next = bit_cast::<D, 128>(self.carry.q.val());
            self.m_keep.next = bit_cast::<L, 4>(self.carry_keep.q.val());
            self.m_last.next = true;
            self.m_valid.next = true;
            if self.m_ready.val() {
                self.flushes.d.next = false;
            }
        }
        if self.reset.val() {
            self.in_packet.d.next = false;
            self.flushes.d.next = false;
        }
    }
}
