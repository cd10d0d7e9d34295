//! Payload writer: commands and placement beats in, memory-write TLPs out.
//!
//! ```text
//! command --> [FIFO 16] --> Splitter --> Shaper --+--> [FIFO 16] plans --> Mover
//!              HostSlot --^    |                  |                          |
//! beats ----> [slice] -------- | ---------------- | ----------------> Aligner|
//!                              |                  +--> [FIFO 16] headers     v
//!                              v                           |      [FIFO 16] beats --> tlp
//!                        completion: CqeRequest
//! ```
//!
//! | latency    | 15 cycles, command (beats waiting) to the first beat of the TLP              |
//! | throughput | one beat per cycle; a command costs max(primes + beats out, 3 + TLPs) cycles |
//! | units      | octets; beats of `D` bits                                                    |
//! | source     | PCI Express Base Specification, section 2.2                                  |
//!
//! This file joins the blocks and cuts commands at line borders; [`super::tlp`] makes the header
//! and the beats of each TLP, [`super::slot`] finds the slot of a host frame.
use super::cqe::{CqeRequest, SlotHeaderWords};
use super::slot::{HostSlot, LATENCY_CYCLES};
use super::tlp::{Aligner, BeatSide, Mover, Shaper, TlpPlan, TlpSegment};
use crate::common::fifo::Fifo;
use crate::common::skid::Skid;
use crate::messages::*;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Entries of the output FIFO reserved for beats in flight.
const BEATS_IN_FLIGHT: usize = 6;
/// Entries of the plan FIFO reserved for segments in flight.
const PLANS_IN_FLIGHT: usize = 6;

/// Payload writer of width `D`, with `L = D / 32`, `E = D + 32`, `P = 2 D`: joins the blocks of the
/// picture.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 * L,
        "PayloadWriter: D = {D} must be 32 L = {}",
        32 * L
    );
)]
pub struct PayloadWriter<const D: usize, const L: usize, const E: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// Maximum payload size: 128 octets shifted left by this.
    pub max_payload: Signal<In, Bits<2>>,
    pub command: Signal<In, PlaceCommand>,
    pub command_valid: Signal<In, Bit>,
    pub command_ready: Signal<Out, Bit>,
    /// Beats of the placement buffer, in command order.
    pub placement_data: Signal<In, Bits<D>>,
    pub placement_valid: Signal<In, Bit>,
    pub placement_ready: Signal<Out, Bit>,
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    /// What is written after the octets of a command.
    pub completion: Signal<Out, CqeRequest>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    /// One cycle: the mux takes the last beat before one more `completion`.
    pub payload_done: Signal<Out, Bit>,
    /// One cycle: one more command has entered.
    pub command_opens: Signal<Out, Bit>,
    /// One cycle: all of one more command has left.
    pub command_closes: Signal<Out, Bit>,
    /// TLP stream: see [`crate::bus::pcie`].
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    /// Registers of the host ring: see [`HostSlot`].
    pub host_ring_base: Signal<In, Bits<64>>,
    pub host_ring_slots_log2: Signal<In, Bits<5>>,
    pub host_ring_slot_octets_log2: Signal<In, Bits<4>>,
    pub host_ring_consumer: Signal<In, Bits<32>>,
    /// One cycle for each frame that found the ring full or off.
    pub drop_ring_full: Signal<Out, Bit>,
    /// One cycle for each frame that does not fit a slot.
    pub drop_too_long: Signal<Out, Bit>,
    commands: Fifo<PlaceCommand, 4, 5>,
    beats_in: Skid<Bits<D>>,
    slot: HostSlot,
    splitter: Splitter<D>,
    shaper: Shaper<D>,
    #[init(Fifo::new(PLANS_IN_FLIGHT))]
    plans: Fifo<TlpPlan, 4, 5>,
    #[init(Fifo::new(PLANS_IN_FLIGHT))]
    headers: Fifo<Bits<128>, 4, 5>,
    mover: Mover<L>,
    aligner: Aligner<D, E, P>,
    #[init(Fifo::new(BEATS_IN_FLIGHT))]
    beats: Fifo<Bits<D>, 4, 5>,
    #[init(Fifo::new(BEATS_IN_FLIGHT))]
    sides: Fifo<BeatSide, 4, 5>,
    #[init(Fifo::new(2))]
    pages: Fifo<PageChain, 2, 3>,
    head: Signal<Local, BeatSide>,
    lane: Signal<Local, Bits<4>>,
    keep: Signal<Local, Bits<L>>,
    leaves: Signal<Local, Bit>,
    #[constants(|i| i as LiteralType)]
    lane_number: [Constant<Bits<4>>; L],
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Logic
    for PayloadWriter<D, L, E, P>
{
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.commands; clock, reset);
        wire!(self => self.beats_in; clock, reset);
        wire!(self => self.slot; clock, reset);
        wire!(self => self.splitter; clock, reset);
        wire!(self => self.shaper; clock, reset);
        wire!(self => self.plans; clock, reset);
        wire!(self => self.headers; clock, reset);
        wire!(self => self.mover; clock, reset);
        wire!(self => self.aligner; clock, reset);
        wire!(self => self.beats; clock, reset);
        wire!(self => self.sides; clock, reset);
        wire!(self => self.pages; clock, reset);

        // Commands to segments.
        wire!(self => self.commands; command as data_in, command_valid as write);
        self.command_ready.next = !self.commands.full.val();
        self.command_opens.next = self.command_valid.val() & !self.commands.full.val();
        self.splitter.command.next = self.commands.data_out.val();
        self.splitter.command_valid.next = !self.commands.empty.val();
        self.commands.read.next = self.splitter.command_take.val();
        self.splitter.max_payload.next = self.max_payload.val();
        wire!(self.splitter => self.slot; slot_octets as octets, slot_take as take);
        wire!(self => self.slot;
            host_ring_base as base, host_ring_slots_log2 as slots_log2,
            host_ring_slot_octets_log2 as slot_octets_log2, host_ring_consumer as consumer);
        wire!(self.slot => self.splitter;
            address as slot_address, word_3 as slot_word_3, too_long as slot_too_long,
            full as slot_full);
        wire!(self.splitter => self; drop_ring_full, drop_too_long);
        stream!(self.splitter => self; completion);

        // Segments to plans and headers.
        self.shaper.device_id.next = self.device_id.val();
        wire!(self.splitter => self.shaper; segment, segment_valid);
        self.splitter.segment_room.next =
            !self.plans.almost_full.val() & !self.headers.almost_full.val();
        wire!(self.shaper => self.plans; plan as data_in, plan_valid as write);
        wire!(self.shaper => self.headers; header as data_in, header_valid as write);

        // Plans and beats to beats.
        wire!(self => self.beats_in; placement_data as s_data, placement_valid as s_valid);
        self.placement_ready.next = self.beats_in.s_ready.val();
        self.beats_in.m_ready.next = self.mover.beat_take.val();
        self.mover.plan.next = self.plans.data_out.val();
        self.mover.plan_valid.next = !self.plans.empty.val();
        self.plans.read.next = self.mover.plan_take.val();
        self.mover.beat_valid.next = self.beats_in.m_valid.val();
        self.mover.room.next = !self.beats.almost_full.val();
        self.mover.pages_room.next = !self.pages.almost_full.val();
        wire!(self.mover => self.pages; pages as data_in, pages_valid as write);
        self.page_release.next = self.pages.data_out.val();
        self.page_release_valid.next = !self.pages.empty.val();
        self.pages.read.next = self.page_release_ready.val();
        self.aligner.newer.next = self.beats_in.m_data.val();
        wire!(self.mover => self.aligner; beat_take as take, emit, rotation, side);
        wire!(self.aligner => self.beats; data as data_in, valid as write);
        wire!(self.aligner => self.sides; data_side as data_in, valid as write);

        // Beats out; an entry without a beat needs no `tlp_ready`.
        self.head.next = self.sides.data_out.val();
        self.tlp_data.next = self.beats.data_out.val();
        self.tlp_header.next = self.headers.data_out.val();
        self.tlp_last.next = self.head.val().last;
        self.tlp_valid.next = !self.sides.empty.val() & self.head.val().present;
        self.lane.next = self.head.val().last_lane;
        self.keep.next = 1.into();
        for i in 1..L {
            self.keep.next = self
                .keep
                .val()
                .replace_bit(i, self.lane.val() >= self.lane_number[i].val());
        }
        self.tlp_keep.next = self.keep.val();
        self.leaves.next =
            !self.sides.empty.val() & (self.tlp_ready.val() | !self.head.val().present);
        self.beats.read.next = self.leaves.val();
        self.sides.read.next = self.leaves.val();
        self.headers.read.next =
            self.leaves.val() & (self.head.val().present & self.head.val().last);
        self.payload_done.next = self.leaves.val() & self.head.val().complete;
        self.command_closes.next = self.leaves.val() & self.head.val().closes;
    }
}

/// State of the command at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum SplitterState {
    Load,
    Prepare,
    Count,
    Issue,
}

/// Splitter: cuts each command into segments that stay inside one line of the maximum payload size.
///
/// ```text
///             line (128, 256 or 512 octets)
///   |--------------|--------------|--------------|
///          [ start    segments, one per cycle  end ]     last_octet counts from octet 0
///          |origin                                |      of the first line
/// ```
///
/// | latency    | 4 cycles, command to first segment; host frames 9                     |
/// | throughput | a command takes 3 cycles and one for each segment                     |
/// | units      | octets; `TlpSegment::line` in units of 128 octets                     |
/// | source     | PCI Express Base Specification, section 2.2.2 (max payload) and 2.2.7 |
///
/// A line border is a multiple of 128, so no TLP crosses a 4 KiB border either. A `max_payload` of
/// 3 (reserved) means 512. The request for a CQE or slot header leaves before the first segment, so
/// it always waits in [`super::cqe`] when its `payload_done` comes.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 128 || D == 512,
        "Splitter: D = {D} bits; a beat has 128 or 512"
    );
    let octets = D as LiteralType / 8;
)]
pub struct Splitter<const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The oldest command; holds until `command_take`.
    pub command: Signal<In, PlaceCommand>,
    pub command_valid: Signal<In, Bit>,
    /// The command is no longer needed.
    pub command_take: Signal<Out, Bit>,
    /// Maximum payload size: 128 octets shifted left by this.
    pub max_payload: Signal<In, Bits<2>>,
    /// Octets of the frame for the host, to [`HostSlot`]; its answers are stable 5 cycles later.
    pub slot_octets: Signal<Out, Bits<16>>,
    pub slot_address: Signal<In, Bits<64>>,
    pub slot_word_3: Signal<In, Bits<32>>,
    pub slot_too_long: Signal<In, Bit>,
    pub slot_full: Signal<In, Bit>,
    pub slot_take: Signal<Out, Bit>,
    pub segment: Signal<Out, TlpSegment>,
    pub segment_valid: Signal<Out, Bit>,
    /// The shaper may be given a segment.
    pub segment_room: Signal<In, Bit>,
    /// What is written after the octets of the command.
    pub completion: Signal<Out, CqeRequest>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    /// One cycle for each frame that found the ring full or off.
    pub drop_ring_full: Signal<Out, Bit>,
    /// One cycle for each frame that does not fit a slot.
    pub drop_too_long: Signal<Out, Bit>,
    state: DFF<SplitterState>,
    settle: DFF<Bits<3>>,
    address: DFF<Bits<64>>,
    less_one: DFF<Bits<16>>,
    writes: DFF<Bit>,
    host: DFF<Bit>,
    announces: DFF<Bit>,
    first: DFF<Bit>,
    is_last: DFF<Bit>,
    drain: DFF<Bits<13>>,
    pages: DFF<PageChain>,
    origin: DFF<Bits<9>>,
    last_octet: DFF<Bits<17>>,
    line: DFF<Bits<57>>,
    rotation_first: DFF<Bits<6>>,
    rotation_next: DFF<Bits<6>>,
    primes: DFF<Bits<2>>,
    used_octets: DFF<Bits<18>>,
    is_host: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    settled: Signal<Local, Bit>,
    first_line: Signal<Local, Bits<57>>,
    cqe: Signal<Local, Bits<256>>,
    slot_header: Signal<Local, SlotHeaderWords>,
    low: Signal<Local, Bits<9>>,
    low_address: Signal<Local, Bits<6>>,
    within_dword: Signal<Local, Bits<6>>,
    skip: Signal<Local, Bits<6>>,
    rotation: Signal<Local, Bits<6>>,
    rotation_within: Signal<Local, Bits<6>>,
    rotation_after: Signal<Local, Bits<6>>,
    reach: Signal<Local, Bits<7>>,
    room: Signal<Local, Bits<7>>,
    used: Signal<Local, Bits<18>>,
    lines: Signal<Local, Bits<10>>,
    #[constant(1)]
    one_line: Constant<Bits<10>>,
    // MPS - 1, and MPS in octets and in units of 128 octets.
    line_mask: DFF<Bits<9>>,
    line_octets: DFF<Bits<17>>,
    line_step: DFF<Bits<57>>,
    #[constant(LATENCY_CYCLES)]
    slot_settled: Constant<Bits<3>>,
    #[constant(octets - 1)]
    rotation_mask: Constant<Bits<6>>,
    #[constant(octets - 1)]
    beat_mask: Constant<Bits<7>>,
    #[constant(octets - 1)]
    beat_round: Constant<Bits<18>>,
    #[constant(LiteralType::from(octets.ilog2()))]
    beat_log2: Constant<Bits<3>>,
}

impl<const D: usize> Logic for Splitter<D> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, settle, address, less_one, writes, host, announces, first);
        registers!(clock; origin, last_octet, line, rotation_first, rotation_next);
        registers!(clock; primes, used_octets, is_last, drain, pages);
        registers!(clock; line_mask, line_octets, line_step);
        self.command_take.next = false;
        self.slot_take.next = false;
        self.segment_valid.next = false;
        self.completion_valid.next = false;
        self.drop_ring_full.next = false;
        self.drop_too_long.next = false;
        self.slot_octets.next = self.command.val().octets;
        self.is_host.next = self.command.val().kind == PlaceKind::Host;
        self.is_write.next = self.command.val().kind == PlaceKind::Write;
        self.settled.next = self.settle.q.val() == self.slot_settled.val();
        self.settle.d.next = 0.into();

        // Sizes of a line. `max_payload` changes only while nothing moves.
        self.line_mask.d.next = 0x1ff.into();
        self.line_octets.d.next = 512.into();
        self.line_step.d.next = 4.into();
        if self.max_payload.val() == 0 {
            self.line_mask.d.next = 0x7f.into();
            self.line_octets.d.next = 128.into();
            self.line_step.d.next = 1.into();
        } else if self.max_payload.val() == 1 {
            self.line_mask.d.next = 0xff.into();
            self.line_octets.d.next = 256.into();
            self.line_step.d.next = 2.into();
        }

        // To the CQE writer: the header of the host slot, or the CQE as DDP composed it.
        self.slot_header.next.octets = bit_cast::<32, 16>(self.command.val().octets);
        self.slot_header.next.address = self.slot_address.val();
        self.slot_header.next.word_3 = self.slot_word_3.val();
        self.slot_header.next.unused = 0.into();
        self.cqe.next = self.command.val().cqe;
        self.completion.next.host = self.host.q.val();
        self.completion.next.queue = self.command.val().queue;
        self.completion.next.words = self.cqe.val();
        if self.host.q.val() {
            self.completion.next.words = self.slot_header.val().into();
        }

        // Position p of lane 0 in the input, in octets: 4 skip - (address mod 4) for the first TLP;
        // later ones begin on a line border, so there p = 4 skip - address (mod beat). The window
        // begins in the older beat, at 1..=K: `rotation` is ((p - 1) mod K), primes ceil(p / K).
        self.low.next = self.address.q.val().get_bits::<9>(0);
        self.low_address.next = self.address.q.val().get_bits::<6>(0);
        self.within_dword.next = self.low_address.val() & 3;
        self.skip.next = bit_cast::<6, 3>(self.command.val().skip_words) << 2;
        self.rotation.next = self.skip.val() + !self.within_dword.val();
        self.rotation_within.next = self.rotation.val() & self.rotation_mask.val();
        self.rotation.next = self.skip.val() + !self.low_address.val();
        self.rotation_after.next = self.rotation.val() & self.rotation_mask.val();
        self.room.next = self.beat_mask.val() ^ bit_cast::<7, 6>(self.within_dword.val());
        self.reach.next = bit_cast::<7, 6>(self.skip.val()) + self.room.val();
        self.reach.next = self.reach.val() >> self.beat_log2.val();

        // The first line: the address down to a multiple of the line's octets.
        self.first_line.next = self.address.q.val().get_bits::<57>(7);
        if self.max_payload.val() != 0 {
            self.first_line.next = self.first_line.val().replace_bit(0, false);
        }
        if self.max_payload.val() > 1 {
            self.first_line.next = self.first_line.val().replace_bit(1, false);
        }

        // Lines after this one that the command reaches.
        self.lines.next = self.last_octet.q.val().get_bits::<10>(7);
        if self.max_payload.val() == 1 {
            self.lines.next = bit_cast::<10, 9>(self.last_octet.q.val().get_bits::<9>(8));
        }
        if self.max_payload.val() > 1 {
            self.lines.next = bit_cast::<10, 8>(self.last_octet.q.val().get_bits::<8>(9));
        }

        self.segment.next.closes = self.is_last.q.val();
        self.segment.next.writes = self.writes.q.val();
        self.segment.next.complete = self.announces.q.val();
        self.segment.next.release_pages = self.host.q.val();
        self.segment.next.head_page = self.pages.q.val().head_page;
        self.segment.next.tail_page = self.pages.q.val().tail_page;
        self.used.next = self.used_octets.q.val() >> self.beat_log2.val();
        self.segment.next.drain = self.drain.q.val();
        self.segment.next.primes = 0.into();
        self.segment.next.line = self.line.q.val();
        self.segment.next.rotation = self.rotation_next.q.val();
        self.segment.next.start_octet = 0.into();
        if self.first.q.val() {
            self.segment.next.rotation = self.rotation_first.q.val();
            self.segment.next.start_octet = self.origin.q.val();
            self.segment.next.primes = self.primes.q.val();
        }
        self.segment.next.end_octet = self.line_mask.q.val();
        if self.is_last.q.val() {
            self.segment.next.end_octet = self.last_octet.q.val().get_bits::<9>(0);
        }

        match self.state.q.val() {
            // Waits for a command, and for [`HostSlot`] if it is a host frame.
            SplitterState::Load => {
                self.address.d.next = self.command.val().address;
                self.less_one.d.next = self.command.val().octets - 1;
                self.host.d.next = self.is_host.val();
                self.writes.d.next = self.is_write.val();
                self.announces.d.next = self.command.val().complete;
                if self.is_host.val() {
                    // A slot is aligned to 128 octets: its header's 16 are set as a bit.
                    self.address.d.next = self.slot_address.val().replace_bit(4, true);
                    self.writes.d.next = !self.slot_too_long.val() & !self.slot_full.val();
                    self.announces.d.next = !self.slot_too_long.val() & !self.slot_full.val();
                }
                if self.command_valid.val() {
                    if !self.is_host.val() | self.settled.val() {
                        self.state.d.next = SplitterState::Prepare;
                        self.drop_too_long.next = self.is_host.val() & self.slot_too_long.val();
                        self.drop_ring_full.next =
                            self.is_host.val() & (self.slot_full.val() & !self.slot_too_long.val());
                    } else {
                        self.settle.d.next = self.settle.q.val() + 1;
                    }
                }
            }
            // Waits until the CQE writer takes the request of the command.
            SplitterState::Prepare => {
                self.origin.d.next = self.low.val() & self.line_mask.q.val();
                self.last_octet.d.next = bit_cast::<17, 9>(self.low.val() & self.line_mask.q.val())
                    + bit_cast::<17, 16>(self.less_one.q.val());
                self.line.d.next = self.first_line.val();
                // Beats up to the last octet of payload; rounded up.
                self.used_octets.d.next = bit_cast::<18, 16>(self.command.val().octets)
                    + (bit_cast::<18, 6>(self.skip.val()) + self.beat_round.val());
                self.primes.d.next = self.reach.val().get_bits::<2>(0);
                if !self.writes.q.val() {
                    self.origin.d.next = 0.into();
                    self.used_octets.d.next = 0.into();
                    self.primes.d.next = 0.into();
                    self.last_octet.d.next = 0.into();
                }
                self.rotation_first.d.next = self.rotation_within.val();
                self.rotation_next.d.next = self.rotation_after.val();
                self.first.d.next = true;
                self.completion_valid.next = self.announces.q.val();
                if !self.announces.q.val() | self.completion_ready.val() {
                    self.state.d.next = SplitterState::Count;
                    self.slot_take.next = self.host.q.val() & self.writes.q.val();
                }
            }
            // One cycle to count; the command is not needed after it.
            SplitterState::Count => {
                self.drain.d.next = self.command.val().beats - self.used.val().get_bits::<13>(0);
                self.pages.d.next.head_page = self.cqe.val().get_bits::<9>(0);
                self.pages.d.next.tail_page = self.cqe.val().get_bits::<9>(16);
                self.is_last.d.next = !self.lines.val().any();
                self.command_take.next = true;
                self.state.d.next = SplitterState::Issue;
            }
            // One segment per cycle while there is room.
            SplitterState::Issue => {
                if self.segment_room.val() {
                    self.segment_valid.next = true;
                    self.first.d.next = false;
                    self.is_last.d.next = self.lines.val() == self.one_line.val();
                    self.last_octet.d.next = self.last_octet.q.val() - self.line_octets.q.val();
                    self.line.d.next = self.line.q.val() + self.line_step.q.val();
                    if self.is_last.q.val() {
                        self.state.d.next = SplitterState::Load;
                    }
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = SplitterState::Load;
            self.settle.d.next = 0.into();
        }
    }
}
