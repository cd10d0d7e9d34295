//! Completions of the device (CC), none of which passes a write.
//!
//! ```text
//! completion --> [ FIFO 16 beats ] --> fence --> [ descriptor ] --> s_axis_cc
//! sent ------------^ mark               ^
//! passed -------------------------------+
//! ```
//!
//! | latency    | 1 cycle, and until every write before it has been passed                    |
//! | throughput | one beat per cycle                                                          |
//! | units      | lanes of 32 bits; `sent` and `passed` count writes, modulo 2^16             |
//! | source     | AMD PG213, completer completion interface; maintaining transaction order    |
//!
//! A completion of the device does not pass the writes that left before it (PCI Express Base
//! Specification, section 2.4.1), but AMD's block takes the two in different places. It returns
//! the sequence number of a write that no later completion can pass: a completion waits in the FIFO
//! until as many have returned as were sent before it. A completion has at most 128 octets, so one
//! always fits; writes after it wait only for room in the FIFO.
use super::attach::AttachDescriptor;
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Descriptor of a completion, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct CompletionDescriptor {
    lower_address: Bits<7>,
    reserved_7: Bit,
    address_type: Bits<2>,
    reserved_10: Bits<6>,
    byte_count: Bits<13>,
    locked: Bit,
    reserved_30: Bits<2>,
    dwords: Bits<11>,
    status: Bits<3>,
    poisoned: Bit,
    reserved_47: Bit,
    requester: Bits<16>,
    tag: Bits<8>,
    completer: Bits<16>,
    /// Zero: the block puts in the number of the device.
    completer_enable: Bit,
    traffic_class: Bits<3>,
    attributes: Bits<3>,
    force_ecrc: Bit,
    /// No part of the descriptor.
    padding: Bits<32>,
}

/// Completions; `U` is the width of `tuser`, 33 at D = 128 and 81 at 512.
#[derive(LogicBlock, Init)]
#[init(
    assert!(U == 33 || U == 81, "CompleterCompletion: tuser has 33 or 81 bits, not {U}");
    let places = u64::from(U == 81);
)]
pub struct CompleterCompletion<
    const D: usize,
    const L: usize,
    const E: usize,
    const M: usize,
    const U: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Completions: see [`crate::bus::pcie`].
    pub completion_data: Signal<In, Bits<D>>,
    pub completion_keep: Signal<In, Bits<L>>,
    pub completion_last: Signal<In, Bit>,
    pub completion_valid: Signal<In, Bit>,
    pub completion_ready: Signal<Out, Bit>,
    pub completion_header: Signal<In, Bits<128>>,
    /// Writes that were taken whole before this beat, and those that cannot be passed any more.
    pub sent: Signal<In, Bits<16>>,
    pub passed: Signal<In, Bits<16>>,
    pub tdata: Signal<Out, Bits<D>>,
    pub tkeep: Signal<Out, Bits<L>>,
    pub tlast: Signal<Out, Bit>,
    pub tuser: Signal<Out, Bits<U>>,
    pub tvalid: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
    data: Fifo<Bits<D>, 4, 5>,
    keep: Fifo<Bits<L>, 4, 5>,
    header: Fifo<Bits<128>, 4, 5>,
    mark: Fifo<Bits<16>, 4, 5>,
    last: Fifo<Bit, 4, 5>,
    attach: AttachDescriptor<D, L, E, M, 3>,
    // Last lane of a packet of several beats.
    later_lane: DFF<Bits<4>>,
    behind: Signal<Local, Bits<16>>,
    may_leave: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    head: Signal<Local, Bits<128>>,
    length: Signal<Local, Bits<10>>,
    byte_count: Signal<Local, Bits<12>>,
    attributes: Signal<Local, Bits<3>>,
    fields: Signal<Local, CompletionDescriptor>,
    ending: Signal<Local, Bits<4>>,
    last_lane: Signal<Local, Bits<4>>,
    user: Signal<Local, Bits<U>>,
    #[constant(4096)]
    most_octets: Constant<Bits<13>>,
    #[constant(4)]
    id_ordered: Constant<Bits<3>>,
    #[constant(2)]
    descriptor_lane: Constant<Bits<4>>,
    // Where packets begin and end in a beat: fields of the wide interface alone.
    #[constant(places)]
    is_sop: Constant<Bits<U>>,
    #[constant(places << 6)]
    is_eop: Constant<Bits<U>>,
    #[constant(places * 15)]
    end_mask: Constant<Bits<4>>,
}

impl<const D: usize, const L: usize, const E: usize, const M: usize, const U: usize> Logic
    for CompleterCompletion<D, L, E, M, U>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; later_lane);
        wire!(self => self.data;
            clock, reset, completion_data as data_in, completion_valid as write);
        wire!(self => self.keep;
            clock, reset, completion_keep as data_in, completion_valid as write);
        wire!(self => self.header;
            clock, reset, completion_header as data_in, completion_valid as write);
        wire!(self => self.mark;
            clock, reset, sent as data_in, completion_valid as write);
        wire!(self => self.last;
            clock, reset, completion_last as data_in, completion_valid as write);
        wire!(self => self.attach; clock, reset);
        self.completion_ready.next = !self.data.full.val();

        // The fence, where a packet begins.
        self.behind.next = self.passed.val() - self.mark.data_out.val();
        self.may_leave.next = !self.attach.m_first.val() | !self.behind.val().get_bit(15);
        self.attach.s_valid.next = !self.data.empty.val() & self.may_leave.val();
        self.takes.next = self.may_leave.val() & self.attach.s_ready.val();
        wire!(self => self.data; takes as read);
        wire!(self => self.keep; takes as read);
        wire!(self => self.header; takes as read);
        wire!(self => self.mark; takes as read);
        wire!(self => self.last; takes as read);

        // The descriptor.
        self.head.next = self.header.data_out.val();
        self.length.next = self.head.val().get_bits::<10>(0);
        self.byte_count.next = self.head.val().get_bits::<12>(32);
        self.fields.next.lower_address = self.head.val().get_bits::<7>(64);
        self.fields.next.reserved_7 = false;
        self.fields.next.address_type = 0.into();
        self.fields.next.reserved_10 = 0.into();
        self.fields.next.byte_count = bit_cast::<13, 12>(self.byte_count.val());
        if !self.byte_count.val().any() {
            self.fields.next.byte_count = self.most_octets.val();
        }
        self.fields.next.locked = self.head.val().get_bit(24);
        self.fields.next.reserved_30 = 0.into();
        self.fields.next.dwords = bit_cast::<11, 10>(self.length.val());
        self.fields.next.status = self.head.val().get_bits::<3>(45);
        self.fields.next.poisoned = false;
        self.fields.next.reserved_47 = false;
        self.fields.next.requester = self.head.val().get_bits::<16>(80);
        self.fields.next.tag = self.head.val().get_bits::<8>(72);
        self.fields.next.completer = self.head.val().get_bits::<16>(48);
        self.fields.next.completer_enable = false;
        self.fields.next.traffic_class = self.head.val().get_bits::<3>(20);
        self.attributes.next = bit_cast::<3, 2>(self.head.val().get_bits::<2>(12));
        self.fields.next.attributes = self.attributes.val();
        if self.head.val().get_bit(18) {
            self.fields.next.attributes = self.attributes.val() | self.id_ordered.val();
        }
        self.fields.next.force_ecrc = false;
        self.fields.next.padding = 0.into();

        self.attach.s_head.next = self.fields.val().into();
        self.attach.s_data.next = self.data.data_out.val();
        self.attach.s_keep.next = self.keep.data_out.val();
        self.attach.s_last.next = self.last.data_out.val();
        self.tdata.next = self.attach.m_data.val();
        self.tkeep.next = self.attach.m_keep.val();
        self.tlast.next = self.attach.m_last.val();
        self.tvalid.next = self.attach.m_valid.val();
        self.attach.m_ready.next = self.tready.val();

        // What stands beside it.
        // The last lane of descriptor and payload.
        self.ending.next = self.length.val().get_bits::<4>(0) + self.descriptor_lane.val();
        self.last_lane.next = self.later_lane.q.val();
        self.user.next = 0.into();
        if self.attach.m_first.val() {
            self.last_lane.next = self.ending.val();
            self.later_lane.d.next = self.ending.val();
            self.user.next = self.is_sop.val();
        }
        self.tuser.next = self.user.val();
        if self.attach.m_last.val() {
            self.tuser.next = self.user.val()
                | self.is_eop.val()
                | (bit_cast::<U, 4>(self.last_lane.val() & self.end_mask.val()) << 8);
        }
    }
}
