//! Memory writes and memory reads of the device as one stream of requests (RQ).
//!
//! ```text
//! writes --+--> one packet after the other --> [ descriptor ] --> s_axis_rq
//! reads ---+
//!    ^ credit
//! ```
//!
//! | latency    | 1 cycle until a source has its turn, then none                              |
//! | throughput | one beat per cycle; at D = 128 a write takes one beat more than its payload |
//! | units      | lanes of 32 bits                                                            |
//! | source     | AMD PG213, requester request interface; avoiding head-of-line blocking      |
//!
//! The block of AMD holds a read without credit, and every write after it. So a read is offered
//! only if it has credit: `pcie_tfc_nph_av` is two cycles old, which is one or two reads here, so
//! four credits are enough at any time, and fewer when no read has left lately.
//!
//! Every write has sequence number 1 and every read 0: the block returns the number of a request
//! that no later completion can pass, and only writes are counted.
use super::attach::AttachDescriptor;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Request type of a memory write.
const WRITE: u64 = 1;
/// Sequence number of writes.
pub const WRITE_NUMBER: u64 = 1;
/// Credits that are enough whatever left in the cycles before.
const MANY_CREDITS: u64 = 4;
/// Cycles after a read in which its credit may still be among those reported, and one more.
const QUIET_CYCLES: u64 = 3;

/// Descriptor of a request, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct RequestDescriptor {
    address_type: Bits<2>,
    /// Bits 63:2.
    address: Bits<62>,
    dwords: Bits<11>,
    kind: Bits<4>,
    poisoned: Bit,
    requester: Bits<16>,
    tag: Bits<8>,
    completer: Bits<16>,
    /// Zero: the block puts in the number of the device.
    requester_enable: Bit,
    traffic_class: Bits<3>,
    attributes: Bits<3>,
    force_ecrc: Bit,
}

/// Requests; `U` is the width of `tuser`, 62 at D = 128 and 137 at 512.
#[derive(LogicBlock, Init)]
#[init(
    assert!(U == 62 || U == 137, "RequesterRequest: tuser has 62 or 137 bits, not {U}");
    let is_wide = U == 137;
    let last_be_at: u64 = if is_wide { 8 } else { 4 };
    let number_at: u64 = if is_wide { 61 } else { 24 };
    let places = u64::from(is_wide);
)]
pub struct RequesterRequest<
    const D: usize,
    const L: usize,
    const E: usize,
    const M: usize,
    const U: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Memory writes: see [`crate::bus::pcie`].
    pub write_data: Signal<In, Bits<D>>,
    pub write_keep: Signal<In, Bits<L>>,
    pub write_last: Signal<In, Bit>,
    pub write_valid: Signal<In, Bit>,
    pub write_ready: Signal<Out, Bit>,
    pub write_header: Signal<In, Bits<128>>,
    /// Memory reads.
    pub read_header: Signal<In, Bits<128>>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    /// `pcie_tfc_nph_av`: header credits for reads; 15 is 15 or more.
    pub credits: Signal<In, Bits<4>>,
    pub tdata: Signal<Out, Bits<D>>,
    pub tkeep: Signal<Out, Bits<L>>,
    pub tlast: Signal<Out, Bit>,
    pub tuser: Signal<Out, Bits<U>>,
    pub tvalid: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
    attach: AttachDescriptor<D, L, E, M, 4>,
    reads: DFF<Bit>,
    in_packet: DFF<Bit>,
    // Cycles in which the credit of the last read may still be reported.
    recent: DFF<Bits<2>>,
    // Last lane of a packet of several beats.
    later_lane: DFF<Bits<4>>,
    has_credit: Signal<Local, Bit>,
    chosen_header: Signal<Local, Bits<128>>,
    chosen_last: Signal<Local, Bit>,
    chosen_valid: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    length: Signal<Local, Bits<10>>,
    low_dword: Signal<Local, Bits<32>>,
    high_dword: Signal<Local, Bits<32>>,
    attributes: Signal<Local, Bits<3>>,
    fields: Signal<Local, RequestDescriptor>,
    first_be: Signal<Local, Bits<4>>,
    last_be: Signal<Local, Bits<4>>,
    ending: Signal<Local, Bits<4>>,
    last_lane: Signal<Local, Bits<4>>,
    user: Signal<Local, Bits<U>>,
    #[constant(WRITE)]
    write: Constant<Bits<4>>,
    #[constant(1024)]
    most_dwords: Constant<Bits<11>>,
    #[constant(4)]
    id_ordered: Constant<Bits<3>>,
    #[constant(MANY_CREDITS)]
    many_credits: Constant<Bits<4>>,
    #[constant(QUIET_CYCLES)]
    quiet_cycles: Constant<Bits<2>>,
    #[constant(1)]
    one_cycle: Constant<Bits<2>>,
    #[constant(3)]
    descriptor_lane: Constant<Bits<4>>,
    #[constant(last_be_at)]
    last_be_at: Constant<Bits<5>>,
    #[constant(number_at)]
    number_at: Constant<Bits<6>>,
    #[constant(WRITE_NUMBER)]
    write_number: Constant<Bits<U>>,
    // Where packets begin and end in a beat: fields of the wide interface alone.
    #[constant(places << 20)]
    is_sop: Constant<Bits<U>>,
    #[constant(places << 26)]
    is_eop: Constant<Bits<U>>,
    #[constant(places * 15)]
    end_mask: Constant<Bits<4>>,
}

impl<const D: usize, const L: usize, const E: usize, const M: usize, const U: usize> Logic
    for RequesterRequest<D, L, E, M, U>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; reads, in_packet, recent, later_lane);
        wire!(self => self.attach; clock, reset);

        // Whose turn it is.
        self.has_credit.next = (self.credits.val() >= self.many_credits.val())
            | (self.credits.val().any() & !self.recent.q.val().any());
        self.chosen_header.next = self.write_header.val();
        self.chosen_last.next = self.write_last.val();
        self.chosen_valid.next = self.write_valid.val();
        self.attach.s_keep.next = self.write_keep.val();
        if self.reads.q.val() {
            self.chosen_header.next = self.read_header.val();
            self.chosen_last.next = true;
            self.chosen_valid.next = self.read_valid.val();
            self.attach.s_keep.next = 0.into();
        }
        self.write_ready.next = !self.reads.q.val() & self.attach.s_ready.val();
        self.read_ready.next = self.reads.q.val() & self.attach.s_ready.val();
        self.moves.next = self.chosen_valid.val() & self.attach.s_ready.val();
        if self.moves.val() {
            self.in_packet.d.next = !self.chosen_last.val();
        }
        if self.recent.q.val().any() {
            self.recent.d.next = self.recent.q.val() - self.one_cycle.val();
        }
        if self.moves.val() & self.reads.q.val() {
            self.recent.d.next = self.quiet_cycles.val();
        }
        if (self.moves.val() & self.chosen_last.val())
            | (!self.in_packet.q.val() & !self.chosen_valid.val())
        {
            // After a read it is the writes' turn.
            self.reads.d.next = self.read_valid.val()
                & self.has_credit.val()
                & !(self.reads.q.val() & self.moves.val());
        }

        // The descriptor.
        self.length.next = self.chosen_header.val().get_bits::<10>(0);
        self.low_dword.next = self.chosen_header.val().get_bits::<32>(64);
        self.high_dword.next = 0.into();
        if self.chosen_header.val().get_bit(29) {
            self.low_dword.next = self.chosen_header.val().get_bits::<32>(96);
            self.high_dword.next = self.chosen_header.val().get_bits::<32>(64);
        }
        self.fields.next.address_type = 0.into();
        self.fields.next.address = bit_cast::<62, 30>(self.low_dword.val().get_bits::<30>(2))
            | (bit_cast::<62, 32>(self.high_dword.val()) << 30);
        self.fields.next.dwords = bit_cast::<11, 10>(self.length.val());
        if !self.length.val().any() {
            self.fields.next.dwords = self.most_dwords.val();
        }
        self.fields.next.kind = self.write.val();
        if self.reads.q.val() {
            self.fields.next.kind = 0.into();
        }
        self.fields.next.poisoned = false;
        self.fields.next.requester = self.chosen_header.val().get_bits::<16>(48);
        self.fields.next.tag = self.chosen_header.val().get_bits::<8>(40);
        self.fields.next.completer = 0.into();
        self.fields.next.requester_enable = false;
        self.fields.next.traffic_class = self.chosen_header.val().get_bits::<3>(20);
        self.attributes.next = bit_cast::<3, 2>(self.chosen_header.val().get_bits::<2>(12));
        self.fields.next.attributes = self.attributes.val();
        if self.chosen_header.val().get_bit(18) {
            self.fields.next.attributes = self.attributes.val() | self.id_ordered.val();
        }
        self.fields.next.force_ecrc = false;

        self.attach.s_head.next = self.fields.val().into();
        self.attach.s_data.next = self.write_data.val();
        self.attach.s_last.next = self.chosen_last.val();
        self.attach.s_valid.next = self.chosen_valid.val();
        self.tdata.next = self.attach.m_data.val();
        self.tkeep.next = self.attach.m_keep.val();
        self.tlast.next = self.attach.m_last.val();
        self.tvalid.next = self.attach.m_valid.val();
        self.attach.m_ready.next = self.tready.val();

        // What stands beside it.
        self.first_be.next = self.chosen_header.val().get_bits::<4>(32);
        self.last_be.next = self.chosen_header.val().get_bits::<4>(36);
        // The last lane of descriptor and payload.
        self.ending.next = self.length.val().get_bits::<4>(0) + self.descriptor_lane.val();
        self.last_lane.next = self.later_lane.q.val();
        self.user.next = 0.into();
        if self.attach.m_first.val() {
            self.last_lane.next = self.ending.val();
            if self.reads.q.val() {
                self.last_lane.next = self.descriptor_lane.val();
            }
            self.later_lane.d.next = self.ending.val();
            self.user.next = bit_cast::<U, 4>(self.first_be.val())
                | (bit_cast::<U, 4>(self.last_be.val()) << self.last_be_at.val())
                | self.is_sop.val();
            if !self.reads.q.val() {
                self.user.next =
                    self.user.val() | (self.write_number.val() << self.number_at.val());
            }
        }
        self.tuser.next = self.user.val();
        if self.attach.m_last.val() {
            self.tuser.next = self.user.val()
                | self.is_eop.val()
                | (bit_cast::<U, 4>(self.last_lane.val() & self.end_mask.val()) << 28);
        }
        if self.reset.val() {
            self.reads.d.next = false;
            self.in_packet.d.next = false;
            self.recent.d.next = 0.into();
        }
    }
}
