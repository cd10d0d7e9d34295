//! Requests of the host that hit BAR0 (CQ), with the header of a TLP in place of the descriptor.
//!
//! ```text
//! m_axis_cq --> [ descriptor off ] --> header, data --> request
//! ```
//!
//! | latency    | 1 cycle, and for a packet with payload until its second beat               |
//! | throughput | one beat per cycle                                                         |
//! | units      | lanes of 32 bits                                                           |
//! | source     | AMD PG213, completer request interface                                     |
//!
//! Every request type is passed on as what it was: the BAR endpoint refuses what this device does
//! not support. The descriptor has no poison bit, so what becomes of a poisoned write is the
//! block's decision.
use super::detach::DetachDescriptor;
use crate::bus::pcie::MemoryHeader;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Fmt and Type of each request type of the block, with three header doublewords (four are 0x20
/// more). Types 12 to 15 are messages, which have a routing in the low bits; 15 is reserved.
const FORMATS: [u64; 16] = [
    0x00, 0x40, 0x02, 0x42, 0x4c, 0x4d, 0x4e, 0x01, 0x04, 0x05, 0x44, 0x45, 0x30, 0x30, 0x30, 0x30,
];

/// Requests of the host; `U` is the width of `tuser`, 88 at D = 128 and 183 at 512.
#[derive(LogicBlock, Init)]
#[init(
    assert!(U == 88 || U == 183, "CompleterRequest: tuser has 88 or 183 bits, not {U}");
    let last_be_at: u64 = if U == 183 { 8 } else { 4 };
    let discontinue_at: u64 = if U == 183 { 96 } else { 41 };
)]
pub struct CompleterRequest<
    const D: usize,
    const L: usize,
    const E: usize,
    const M: usize,
    const U: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub tdata: Signal<In, Bits<D>>,
    pub tkeep: Signal<In, Bits<L>>,
    pub tlast: Signal<In, Bit>,
    pub tuser: Signal<In, Bits<U>>,
    pub tvalid: Signal<In, Bit>,
    pub tready: Signal<Out, Bit>,
    /// Requests: see [`crate::bus::pcie`].
    pub request_data: Signal<Out, Bits<D>>,
    pub request_last: Signal<Out, Bit>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    pub request_header: Signal<Out, Bits<128>>,
    /// The block gave up in mid-packet: what it has delivered is wrong.
    pub failed: Signal<Out, Bit>,
    detach: DetachDescriptor<D, L, E, M, 4>,
    head: Signal<Local, Bits<128>>,
    side: Signal<Local, Bits<8>>,
    kind: Signal<Local, Bits<4>>,
    is_message: Signal<Local, Bit>,
    with_data: Signal<Local, Bit>,
    is_long: Signal<Local, Bit>,
    low_dword: Signal<Local, Bits<32>>,
    high_dword: Signal<Local, Bits<32>>,
    format: Signal<Local, Bits<8>>,
    attributes: Signal<Local, Bits<14>>,
    fields: Signal<Local, MemoryHeader>,
    first_be: Signal<Local, Bits<8>>,
    last_be: Signal<Local, Bits<8>>,
    shifted: Signal<Local, Bits<U>>,
    ended: Signal<Local, Bits<U>>,
    #[constants(|i| FORMATS[i])]
    formats: [Constant<Bits<8>>; 16],
    #[constant(0x20)]
    long_format: Constant<Bits<8>>,
    #[constant(0x40)]
    data_format: Constant<Bits<8>>,
    #[constant(last_be_at)]
    last_be_at: Constant<Bits<5>>,
    #[constant(discontinue_at)]
    discontinue_at: Constant<Bits<7>>,
    #[constant(1 << 8)]
    id_ordered: Constant<Bits<14>>,
    #[constant(0xffff_fffc)]
    dword_mask: Constant<Bits<32>>,
}

impl<const D: usize, const L: usize, const E: usize, const M: usize, const U: usize> Logic
    for CompleterRequest<D, L, E, M, U>
{
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.detach; clock, reset);
        self.detach.s_data.next = self.tdata.val();
        self.detach.s_keep.next = self.tkeep.val();
        self.detach.s_last.next = self.tlast.val();
        self.detach.s_valid.next = self.tvalid.val();
        self.tready.next = self.detach.s_ready.val();
        self.shifted.next = self.tuser.val() >> self.last_be_at.val();
        self.ended.next = self.tuser.val() >> self.discontinue_at.val();
        self.first_be.next = bit_cast::<8, 4>(self.tuser.val().get_bits::<4>(0));
        self.last_be.next = bit_cast::<8, 4>(self.shifted.val().get_bits::<4>(0));
        self.detach.s_side.next = self.first_be.val() | (self.last_be.val() << 4);
        self.failed.next = self.tvalid.val() & self.tlast.val() & self.ended.val().get_bit(0);

        // What is asked for.
        self.head.next = self.detach.m_head.val();
        self.side.next = self.detach.m_side.val();
        self.kind.next = self.head.val().get_bits::<4>(75);
        self.is_message.next = self.kind.val().get_bit(3) & self.kind.val().get_bit(2);
        self.with_data.next = self.detach.m_keep.val().any();
        self.low_dword.next = self.head.val().get_bits::<32>(0);
        if !self.is_message.val() {
            // Without the address type.
            self.low_dword.next = self.head.val().get_bits::<32>(0) & self.dword_mask.val();
        }
        self.high_dword.next = self.head.val().get_bits::<32>(32);
        self.is_long.next = self.high_dword.val().any() | self.is_message.val();
        self.format.next = 0.into();
        for i in 0..16 {
            if self.kind.val().index() == i {
                self.format.next = self.formats[i].val();
            }
        }
        self.fields.next.format = self.format.val();
        if self.is_message.val() {
            // The routing, in the low bits.
            self.fields.next.format =
                self.format.val() | bit_cast::<8, 3>(self.head.val().get_bits::<3>(112));
            if self.with_data.val() {
                self.fields.next.format = self.format.val()
                    | self.data_format.val()
                    | bit_cast::<8, 3>(self.head.val().get_bits::<3>(112));
            }
        } else if self.is_long.val() {
            self.fields.next.format = self.format.val() | self.long_format.val();
        }

        // The header of the packet.
        self.fields.next.length = self.head.val().get_bits::<10>(64);
        self.attributes.next = (bit_cast::<14, 3>(self.head.val().get_bits::<3>(121)) << 10)
            | (bit_cast::<14, 2>(self.head.val().get_bits::<2>(124)) << 2);
        self.fields.next.attributes = self.attributes.val();
        if self.head.val().get_bit(126) {
            self.fields.next.attributes = self.attributes.val() | self.id_ordered.val();
        }
        self.fields.next.first_be = self.side.val().get_bits::<4>(0);
        self.fields.next.last_be = self.side.val().get_bits::<4>(4);
        if self.is_message.val() {
            // A message code stands there.
            self.fields.next.first_be = self.head.val().get_bits::<4>(104);
            self.fields.next.last_be = self.head.val().get_bits::<4>(108);
        }
        self.fields.next.tag = self.head.val().get_bits::<8>(96);
        self.fields.next.requester = self.head.val().get_bits::<16>(80);
        self.fields.next.dword_2 = self.low_dword.val();
        self.fields.next.dword_3 = 0.into();
        if self.is_long.val() {
            self.fields.next.dword_2 = self.high_dword.val();
            self.fields.next.dword_3 = self.low_dword.val();
        }
        self.request_header.next = self.fields.val().into();
        self.request_data.next = self.detach.m_data.val();
        self.request_last.next = self.detach.m_last.val();
        self.request_valid.next = self.detach.m_valid.val();
        self.detach.m_ready.next = self.request_ready.val();
    }
}
