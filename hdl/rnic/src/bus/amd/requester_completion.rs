//! Completions for the reads of the device (RC), with the header of a TLP in place of the
//! descriptor.
//!
//! ```text
//! m_axis_rc --> [ descriptor off ] --> error code? --> completion
//! ```
//!
//! | latency    | 1 cycle, and for a packet of several beats until its second one            |
//! | throughput | one beat per cycle                                                         |
//! | units      | lanes of 32 bits                                                           |
//! | source     | AMD PG213, requester completion interface                                  |
//!
//! A completion that is whole, poisoned or refused (error codes 0 to 2) is passed on as what it
//! was. One that the block found to be of no request, of the wrong size or too late is dropped: the
//! time-out of the read engine ends the read, as it does when nothing comes.
use super::detach::DetachDescriptor;
use crate::bus::pcie::completion::{CompletionHeader, COMPLETION, COMPLETION_DATA};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The last error code that is passed on.
const REFUSED: u64 = 2;

/// Completions of reads; `U` is the width of `tuser`, 75 at D = 128 and 161 at 512.
#[derive(LogicBlock, Init)]
#[init(
    assert!(U == 75 || U == 161, "RequesterCompletion: tuser has 75 or 161 bits, not {U}");
    let discontinue_at: u64 = if U == 161 { 96 } else { 42 };
)]
pub struct RequesterCompletion<
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
    /// Completions: see [`crate::bus::pcie`]. The read engine takes each at once.
    pub completion_data: Signal<Out, Bits<D>>,
    pub completion_keep: Signal<Out, Bits<L>>,
    pub completion_last: Signal<Out, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_header: Signal<Out, Bits<128>>,
    /// The block gave up in mid-packet: what it has delivered is wrong.
    pub failed: Signal<Out, Bit>,
    detach: DetachDescriptor<D, L, E, M, 3>,
    head: Signal<Local, Bits<128>>,
    error: Signal<Local, Bits<4>>,
    attributes: Signal<Local, Bits<14>>,
    fields: Signal<Local, CompletionHeader>,
    ended: Signal<Local, Bits<U>>,
    #[constant(REFUSED)]
    refused: Constant<Bits<4>>,
    #[constant(COMPLETION_DATA)]
    format_data: Constant<Bits<8>>,
    #[constant(COMPLETION)]
    format_plain: Constant<Bits<8>>,
    #[constant(discontinue_at)]
    discontinue_at: Constant<Bits<7>>,
    #[constant(1 << 8)]
    id_ordered: Constant<Bits<14>>,
    #[constant(1 << 4)]
    poisoned: Constant<Bits<14>>,
    #[constant(0)]
    no_attribute: Constant<Bits<14>>,
    id_order: Signal<Local, Bits<14>>,
    poison: Signal<Local, Bits<14>>,
}

impl<const D: usize, const L: usize, const E: usize, const M: usize, const U: usize> Logic
    for RequesterCompletion<D, L, E, M, U>
{
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.detach; clock, reset);
        self.detach.s_data.next = self.tdata.val();
        self.detach.s_keep.next = self.tkeep.val();
        self.detach.s_last.next = self.tlast.val();
        self.detach.s_valid.next = self.tvalid.val();
        self.detach.s_side.next = 0.into();
        self.detach.m_ready.next = true;
        self.tready.next = self.detach.s_ready.val();
        self.ended.next = self.tuser.val() >> self.discontinue_at.val();
        self.failed.next = self.tvalid.val() & self.tlast.val() & self.ended.val().get_bit(0);

        self.head.next = self.detach.m_head.val();
        self.error.next = self.head.val().get_bits::<4>(12);
        self.id_order.next = self.no_attribute.val();
        if self.head.val().get_bit(94) {
            self.id_order.next = self.id_ordered.val();
        }
        self.poison.next = self.no_attribute.val();
        if self.head.val().get_bit(46) {
            self.poison.next = self.poisoned.val();
        }
        self.attributes.next = (bit_cast::<14, 3>(self.head.val().get_bits::<3>(89)) << 10)
            | (bit_cast::<14, 2>(self.head.val().get_bits::<2>(92)) << 2);
        self.fields.next.attributes =
            self.attributes.val() | self.id_order.val() | self.poison.val();
        self.fields.next.length = self.head.val().get_bits::<10>(32);
        self.fields.next.format = self.format_plain.val();
        if self.detach.m_keep.val().any() {
            self.fields.next.format = self.format_data.val();
        }
        self.fields.next.byte_count = self.head.val().get_bits::<12>(16);
        self.fields.next.byte_count_modified = false;
        self.fields.next.status = self.head.val().get_bits::<3>(43);
        self.fields.next.completer = self.head.val().get_bits::<16>(72);
        self.fields.next.lower_address = self.head.val().get_bits::<7>(0);
        self.fields.next.reserved = false;
        self.fields.next.tag = self.head.val().get_bits::<8>(64);
        self.fields.next.requester = self.head.val().get_bits::<16>(48);
        self.fields.next.dword_3 = 0.into();
        self.completion_header.next = self.fields.val().into();
        self.completion_data.next = self.detach.m_data.val();
        self.completion_keep.next = self.detach.m_keep.val();
        self.completion_last.next = self.detach.m_last.val();
        self.completion_valid.next =
            self.detach.m_valid.val() & (self.error.val() <= self.refused.val());
    }
}
