//! Placement: payload and host frames leave the placement buffer as memory-write TLPs.
//!
//! ```text
//! command (PlaceCommand) --> PayloadWriter --> payload TLPs
//! placement beats ---------^    |  |
//!                  CqeRequest   |  +--> commands in and out --> Fence --> fence_done
//!                               v
//! cq_write ---------------> CqeWriter --> CQE TLPs
//! ```
//!
//! Enters: one `PlaceCommand` for each FPDU or host frame in the placement buffer, and its beats in
//! the same order. Exactly `PlaceCommand::beats` beats are taken for each, whatever its kind.
//!
//! Leaves: TLPs inside one line of `128 << max_payload` octets, with exact byte enables; entries of
//! completion queues (CQEs) and headers of host slots, each after the octets it announces; page
//! chains of host frames, once their beats are taken. TLP streams: see [`crate::bus::pcie`].
//!
//! | counter (bit of `counts`)   | when                                                        |
//! |-----------------------------|-------------------------------------------------------------|
//! | 0 `HostFrames`              | the mux has taken a frame and its slot header               |
//! | 1 `DropHostRingFull`        | the frame fits a slot, but the ring is full or off          |
//! | 2 `DropHostFrameTooLong`    | frame and header are longer than a slot; tested first       |
//! | 3 `Completions`             | the mux has taken an entry of a completion queue            |
//!
//! | latency    | 15 cycles from command (beats waiting) to the first TLP beat, 5 more from   |
//! |            | the last payload beat to the CQE                                            |
//! | throughput | one beat per cycle; a tagged segment of 70 octets with a CQE takes 8 cycles |
//! |            | of the stream at D = 128                                                    |
//! | units      | octets, beats of `D` bits                                                   |
//! | source     | PCI Express Base Specification 2.2; `rnic_abi::{cqe, host_ring}`            |
//!
//! Both TLP streams enter one mux that takes whole packets and holds no beat before its choice:
//! what it took first leaves first, so payload stays ahead of its CQE.
//!
//! What is here waits for the mux, that is for the host to take TLPs, and for page chains to be
//! taken; never for the driver. Entries of a completion queue come with their numbers, those of
//! free entries ([`crate::receive::ddp::completion_queues`]).

pub mod cqe;
pub mod slot;
pub mod tlp;
pub mod writer;

use crate::messages::{CqWrite, PageChain, PlaceCommand};
use cqe::CqeWriter;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;
use writer::PayloadWriter;

/// The room at D = 128.
pub type PlacementRoom128 = PlacementRoom<128, 4, 160, 256>;
/// The room at D = 512.
pub type PlacementRoom512 = PlacementRoom<512, 16, 544, 1024>;

/// Placement of width `D`, with `L = D / 32`, `E = D + 32`, `P = 2 D`.
#[derive(LogicBlock, Default)]
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
    /// Payload TLPs: the doubleword of the first octet in lane 0.
    pub payload_tlp_data: Signal<Out, Bits<D>>,
    pub payload_tlp_keep: Signal<Out, Bits<L>>,
    pub payload_tlp_last: Signal<Out, Bit>,
    pub payload_tlp_valid: Signal<Out, Bit>,
    pub payload_tlp_ready: Signal<In, Bit>,
    pub payload_tlp_header: Signal<Out, Bits<128>>,
    /// CQE TLPs: completion queue entries and slot headers, one TLP each.
    pub cqe_tlp_data: Signal<Out, Bits<D>>,
    pub cqe_tlp_keep: Signal<Out, Bits<L>>,
    pub cqe_tlp_last: Signal<Out, Bit>,
    pub cqe_tlp_valid: Signal<Out, Bit>,
    pub cqe_tlp_ready: Signal<In, Bit>,
    pub cqe_tlp_header: Signal<Out, Bits<128>>,
    /// One cycle: the mux has taken an entry of completion queue `entry_queue`, or a slot header.
    pub entry_written: Signal<Out, Bit>,
    pub entry_queue: Signal<Out, Bits<4>>,
    pub slot_written: Signal<Out, Bit>,
    /// Registers of the completion queues.
    pub cq_write: Signal<In, CqWrite>,
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
    /// Pulses, see above.
    pub counts: Signal<Out, Bits<4>>,
    /// One cycle: begins a fence over the commands taken so far (see [`Fence`]).
    pub fence: Signal<In, Bit>,
    /// One cycle: the mux has taken their payload TLPs.
    pub fence_done: Signal<Out, Bit>,
    writer: PayloadWriter<D, L, E, P>,
    cqe: CqeWriter<D, L>,
    fences: Fence,
    // One cycle late, so that the path from the mux ends at the writer.
    payload_done: DFF<Bit>,
    command_closes: DFF<Bit>,
    pulses: Signal<Local, Bits<4>>,
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Logic
    for PlacementRoom<D, L, E, P>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; payload_done, command_closes);
        wire!(self => self.writer; clock, reset);
        wire!(self => self.cqe; clock, reset);
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

        self.cqe.device_id.next = self.device_id.val();
        stream!(self.writer => self.cqe; completion as request);
        self.payload_done.d.next = self.writer.payload_done.val();
        self.cqe.payload_done.next = self.payload_done.q.val();
        self.cqe.cq_write.next = self.cq_write.val();
        wire!(self.cqe => self;
            host_ring_producer, entry_written, entry_queue, slot_written, tlp_data as cqe_tlp_data,
            tlp_keep as cqe_tlp_keep, tlp_last as cqe_tlp_last,
            tlp_valid as cqe_tlp_valid);
        self.cqe.tlp_ready.next = self.cqe_tlp_ready.val();
        self.cqe_tlp_header.next = self.cqe.tlp_header.val();

        self.fences.opens.next = self.writer.command_opens.val();
        self.command_closes.d.next = self.writer.command_closes.val();
        self.fences.closes.next = self.command_closes.q.val();
        self.fences.fence.next = self.fence.val();
        self.fence_done.next = self.fences.fence_done.val();

        self.pulses.next = 0.into();
        self.pulses.next = self
            .pulses
            .val()
            .replace_bit(0, self.cqe.slot_written.val());
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
            .replace_bit(3, self.cqe.entry_written.val());
        self.counts.next = self.pulses.val();
        if self.reset.val() {
            self.payload_done.d.next = false;
            self.command_closes.d.next = false;
        }
    }
}

/// Fence: reports when every command that was inside at `fence` has left.
///
/// A table write that may revoke memory ends after a fence (`csr/tables`): no TLP of a command
/// that was checked against the old entry follows it.
///
/// | latency    | 1 cycle if nothing is inside, else until the last command has left |
/// | throughput | one fence at a time                                                |
/// | units      | commands, at most 127 inside                                       |
#[derive(LogicBlock, Init)]
pub struct Fence {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A command enters.
    pub opens: Signal<In, Bit>,
    /// The oldest command inside has left.
    pub closes: Signal<In, Bit>,
    /// One cycle: begins a fence ...
    pub fence: Signal<In, Bit>,
    /// ... and one cycle: all commands inside at that time have left.
    pub fence_done: Signal<Out, Bit>,
    held: DFF<Bits<7>>,
    ahead: DFF<Bits<7>>,
    waiting: DFF<Bit>,
    #[constant(1)]
    one: Constant<Bits<7>>,
}

impl Logic for Fence {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, ahead, waiting);
        if self.opens.val() & !self.closes.val() {
            self.held.d.next = self.held.q.val() + self.one.val();
        }
        if self.closes.val() & !self.opens.val() {
            self.held.d.next = self.held.q.val() - self.one.val();
        }
        if self.closes.val() & self.ahead.q.val().any() {
            self.ahead.d.next = self.ahead.q.val() - self.one.val();
        }
        self.fence_done.next = self.waiting.q.val() & !self.ahead.q.val().any();
        if self.fence_done.val() {
            self.waiting.d.next = false;
        }
        if self.fence.val() {
            // A command that leaves in this cycle is not waited for.
            self.waiting.d.next = true;
            self.ahead.d.next = self.held.q.val();
            if self.closes.val() {
                self.ahead.d.next = self.held.q.val() - self.one.val();
            }
        }
        if self.reset.val() {
            self.held.d.next = 0.into();
            self.waiting.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
