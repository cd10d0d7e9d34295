//! Payload writer: commands and placement beats in, memory-write TLPs out.
//!
//! ```text
//! command --> [FIFO 16] --> splitter --> shaper --+--> [FIFO 16] plans --> mover
//!                  slot --^                       |                          |
//! beats ----> [slice] --------------------------- | ----------------> aligner|
//!                                                 +--> [FIFO 16] headers     v
//!                                                          |      [FIFO 16] beats --> tlp
//! ```
//!
//! | latency    | 15 cycles, command (beats waiting) to the TLP's first beat                  |
//! | throughput | one beat per cycle; a command costs max(primes + beats out, 3 + TLPs) cycles |
//! | units      | octets; beats of `D` bits                                                   |
//!
//! `payload_done` tells completion that the TLPs of one more announcing command have left, in the
//! cycle in which the last beat is taken.
use super::aligner::Aligner;
use super::mover::Mover;
use super::plan::{BeatSide, TlpPlan};
use super::shaper::Shaper;
use super::slot::HostSlot;
use super::splitter::Splitter;
use crate::common::fifo::Fifo;
use crate::common::skid::Skid;
use crate::messages::{PageChain, PlaceCommand};
use crate::receive::placement::cqe::CompletionRequest;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Places of the output FIFO that beats under way may still need.
const BEATS_UNDER_WAY: usize = 6;
/// Places of the plan FIFO that segments under way may still need.
const PLANS_UNDER_WAY: usize = 6;

/// Payload writer of width `D`, with `L = D / 32`, `E = D + 32`, `P = 2 D`.
#[derive(LogicBlock)]
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
    /// What follows a command's octets.
    pub completion: Signal<Out, CompletionRequest>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    /// One cycle: the octets before one more completion have left.
    pub payload_done: Signal<Out, Bit>,
    /// One cycle: one more command has been taken in.
    pub command_opens: Signal<Out, Bit>,
    /// One cycle: all of one more command has left.
    pub command_closes: Signal<Out, Bit>,
    /// Payload of a TLP, the first octet's doubleword in lane 0.
    pub tlp_data: Signal<Out, Bits<D>>,
    /// Lanes that count.
    pub tlp_keep: Signal<Out, Bits<L>>,
    /// The TLP ends.
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    /// The TLP's header, beside all its beats.
    pub tlp_header: Signal<Out, Bits<128>>,
    /// Host ring: bus address.
    pub host_ring_base: Signal<In, Bits<64>>,
    /// Host ring: log2 of the slots.
    pub host_ring_slots_log2: Signal<In, Bits<5>>,
    /// Host ring: log2 of the octets of a slot.
    pub host_ring_slot_octets_log2: Signal<In, Bits<4>>,
    /// Host ring: slots consumed.
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
    plans: Fifo<TlpPlan, 4, 5>,
    headers: Fifo<Bits<128>, 4, 5>,
    mover: Mover<L>,
    aligner: Aligner<D, E, P>,
    beats: Fifo<Bits<D>, 4, 5>,
    sides: Fifo<BeatSide, 4, 5>,
    pages: Fifo<PageChain, 2, 3>,
    head: Signal<Local, BeatSide>,
    lane: Signal<Local, Bits<4>>,
    keep: Signal<Local, Bits<L>>,
    leaves: Signal<Local, Bit>,
    lane_number: [Constant<Bits<4>>; L],
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Default
    for PayloadWriter<D, L, E, P>
{
    fn default() -> Self {
        assert!(
            D == 32 * L,
            "PayloadWriter: D = {D} must be 32 L = {}",
            32 * L
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            device_id: Default::default(),
            max_payload: Default::default(),
            command: Default::default(),
            command_valid: Default::default(),
            command_ready: Default::default(),
            placement_data: Default::default(),
            placement_valid: Default::default(),
            placement_ready: Default::default(),
            page_release: Default::default(),
            page_release_valid: Default::default(),
            page_release_ready: Default::default(),
            completion: Default::default(),
            completion_valid: Default::default(),
            completion_ready: Default::default(),
            payload_done: Default::default(),
            command_opens: Default::default(),
            command_closes: Default::default(),
            tlp_data: Default::default(),
            tlp_keep: Default::default(),
            tlp_last: Default::default(),
            tlp_valid: Default::default(),
            tlp_ready: Default::default(),
            tlp_header: Default::default(),
            host_ring_base: Default::default(),
            host_ring_slots_log2: Default::default(),
            host_ring_slot_octets_log2: Default::default(),
            host_ring_consumer: Default::default(),
            drop_ring_full: Default::default(),
            drop_too_long: Default::default(),
            commands: Default::default(),
            beats_in: Default::default(),
            slot: Default::default(),
            splitter: Default::default(),
            shaper: Default::default(),
            plans: Fifo::new(PLANS_UNDER_WAY),
            headers: Fifo::new(PLANS_UNDER_WAY),
            mover: Default::default(),
            aligner: Default::default(),
            beats: Fifo::new(BEATS_UNDER_WAY),
            sides: Fifo::new(BEATS_UNDER_WAY),
            pages: Fifo::new(2),
            head: Default::default(),
            lane: Default::default(),
            keep: Default::default(),
            leaves: Default::default(),
            lane_number: std::array::from_fn(|i| Constant::new((i as LiteralType).into())),
        }
    }
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

        // Beats out; an entry without a beat leaves by itself.
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
