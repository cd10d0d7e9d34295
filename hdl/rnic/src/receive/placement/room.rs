//! The placement room's top: payload writer, completion writer and fence, joined.
//!
//! | latency, throughput, units | see the room's door ([`super`]) |
//!
//! Both TLP streams go to one mux that takes whole packets and holds no beat before its choice:
//! what it has taken is ahead of what it takes later, so payload stays ahead of its completion.
use super::fence::Fence;
use super::writer::PayloadWriter;
use crate::messages::{PageChain, PlaceCommand};
use crate::receive::placement::cqe::CompletionWriter;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// The room at D = 128.
pub type PlacementRoom128 = PlacementRoom<128, 4, 160, 256>;
/// The room at D = 512.
pub type PlacementRoom512 = PlacementRoom<512, 16, 544, 1024>;

/// Placement and completion of width `D`, with `L = D / 32`, `E = D + 32`, `P = 2 D`.
#[derive(LogicBlock)]
pub struct PlacementRoom<const D: usize, const L: usize, const E: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id of the TLPs.
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
    /// Payload TLPs: the first octet's doubleword in lane 0.
    pub payload_tlp_data: Signal<Out, Bits<D>>,
    /// Lanes that count.
    pub payload_tlp_keep: Signal<Out, Bits<L>>,
    /// The TLP ends.
    pub payload_tlp_last: Signal<Out, Bit>,
    pub payload_tlp_valid: Signal<Out, Bit>,
    pub payload_tlp_ready: Signal<In, Bit>,
    /// The TLP's header.
    pub payload_tlp_header: Signal<Out, Bits<128>>,
    /// Completion entries and slot headers, one TLP each.
    pub completion_tlp_data: Signal<Out, Bits<D>>,
    /// Lanes that count.
    pub completion_tlp_keep: Signal<Out, Bits<L>>,
    /// The TLP ends.
    pub completion_tlp_last: Signal<Out, Bit>,
    pub completion_tlp_valid: Signal<Out, Bit>,
    pub completion_tlp_ready: Signal<In, Bit>,
    /// The TLP's header.
    pub completion_tlp_header: Signal<Out, Bits<128>>,
    /// Completion queue: bus address.
    pub cq_base: Signal<In, Bits<64>>,
    /// Completion queue: log2 of the entries; 0: off.
    pub cq_entries_log2: Signal<In, Bits<5>>,
    /// Completion queue: entries consumed.
    pub cq_consumer: Signal<In, Bits<32>>,
    /// Completion queue: entries written.
    pub cq_producer: Signal<Out, Bits<32>>,
    /// Host ring: bus address.
    pub host_ring_base: Signal<In, Bits<64>>,
    /// Host ring: log2 of the slots; 0: off.
    pub host_ring_slots_log2: Signal<In, Bits<5>>,
    /// Host ring: log2 of the octets of a slot.
    pub host_ring_slot_octets_log2: Signal<In, Bits<4>>,
    /// Host ring: slots consumed.
    pub host_ring_consumer: Signal<In, Bits<32>>,
    /// Host ring: slots filled.
    pub host_ring_producer: Signal<Out, Bits<32>>,
    /// Pulses: 0 HostFrames, 1 DropHostRingFull, 2 DropHostFrameTooLong, 3 Completions.
    pub counts: Signal<Out, Bits<4>>,
    /// One cycle: begins a fence over the commands taken so far.
    pub fence: Signal<In, Bit>,
    /// One cycle: their TLPs (completions apart) have been taken by the mux.
    pub fence_done: Signal<Out, Bit>,
    writer: PayloadWriter<D, L, E, P>,
    completion: CompletionWriter<D, L>,
    fences: Fence,
    // One cycle late, so that the way from the mux ends at the writer.
    payload_done: DFF<Bit>,
    command_closes: DFF<Bit>,
    pulses: Signal<Local, Bits<4>>,
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Default
    for PlacementRoom<D, L, E, P>
{
    fn default() -> Self {
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
            payload_tlp_data: Default::default(),
            payload_tlp_keep: Default::default(),
            payload_tlp_last: Default::default(),
            payload_tlp_valid: Default::default(),
            payload_tlp_ready: Default::default(),
            payload_tlp_header: Default::default(),
            completion_tlp_data: Default::default(),
            completion_tlp_keep: Default::default(),
            completion_tlp_last: Default::default(),
            completion_tlp_valid: Default::default(),
            completion_tlp_ready: Default::default(),
            completion_tlp_header: Default::default(),
            cq_base: Default::default(),
            cq_entries_log2: Default::default(),
            cq_consumer: Default::default(),
            cq_producer: Default::default(),
            host_ring_base: Default::default(),
            host_ring_slots_log2: Default::default(),
            host_ring_slot_octets_log2: Default::default(),
            host_ring_consumer: Default::default(),
            host_ring_producer: Default::default(),
            counts: Default::default(),
            fence: Default::default(),
            fence_done: Default::default(),
            writer: Default::default(),
            completion: Default::default(),
            fences: Default::default(),
            payload_done: Default::default(),
            command_closes: Default::default(),
            pulses: Default::default(),
        }
    }
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Logic
    for PlacementRoom<D, L, E, P>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; payload_done, command_closes);
        wire!(self => self.writer; clock, reset);
        wire!(self => self.completion; clock, reset);
        wire!(self => self.fences; clock, reset);

        wire!(self => self.writer; device_id, max_payload);
        stream!(self => self.writer; command);
        wire!(self => self.writer; placement_data, placement_valid);
        self.placement_ready.next = self.writer.placement_ready.val();
        stream!(self.writer => self; page_release);
        wire!(self => self.writer;
            host_ring_base, host_ring_slots_log2, host_ring_slot_octets_log2, host_ring_consumer);
        wire!(self.writer => self;
            tlp_data as payload_tlp_data, tlp_keep as payload_tlp_keep,
            tlp_last as payload_tlp_last, tlp_valid as payload_tlp_valid);
        self.writer.tlp_ready.next = self.payload_tlp_ready.val();
        self.payload_tlp_header.next = self.writer.tlp_header.val();

        self.completion.device_id.next = self.device_id.val();
        stream!(self.writer => self.completion; completion as request);
        self.payload_done.d.next = self.writer.payload_done.val();
        self.completion.payload_done.next = self.payload_done.q.val();
        wire!(self => self.completion; cq_base, cq_entries_log2, cq_consumer);
        wire!(self.completion => self;
            cq_producer, host_ring_producer, tlp_data as completion_tlp_data,
            tlp_keep as completion_tlp_keep, tlp_last as completion_tlp_last,
            tlp_valid as completion_tlp_valid);
        self.completion.tlp_ready.next = self.completion_tlp_ready.val();
        self.completion_tlp_header.next = self.completion.tlp_header.val();

        self.fences.opens.next = self.writer.command_opens.val();
        self.command_closes.d.next = self.writer.command_closes.val();
        self.fences.closes.next = self.command_closes.q.val();
        self.fences.fence.next = self.fence.val();
        self.fence_done.next = self.fences.fence_done.val();

        self.pulses.next = 0.into();
        self.pulses.next = self
            .pulses
            .val()
            .replace_bit(0, self.completion.slot_written.val());
        self.pulses.next = self
            .pulses
            .val()
            .replace_bit(1, self.writer.drop_ring_full.val());
        self.pulses.next = self
            .pulses
            .val()
            .replace_bit(2, self.writer.drop_too_long.val());
        self.pulses.next = self
            .pulses
            .val()
            .replace_bit(3, self.completion.entry_written.val());
        self.counts.next = self.pulses.val();
        if self.reset.val() {
            self.payload_done.d.next = false;
            self.command_closes.d.next = false;
        }
    }
}
