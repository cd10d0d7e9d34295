//! The whole core: rooms joined, nothing decided.
//!
//! ```text
//! frame -> front_end -> packet -> tcp -> manager -> reader -> mpa -> ddp -> placement -> tlp
//!                                           ^                  |      |
//!                                           +--- job_done -----+      |
//!                                           +-------- stopped --------+
//! request -> pcie -> csr -> tables of tcp, manager, ddp
//! ```
//!
//! | width W | inner width D | for | clock |
//! |---|---|---|---|
//! | 64 | 128 | 10 Gb/s Ethernet | 156.25 MHz |
//! | 128 | 128 | 20 Gb/s | 156.25 MHz |
//! | 512 | 512 | 100 Gb/s | 322 MHz |
//!
//! Ports: the frame stream (no FCS, no ready: the wire does not wait), the TLP stream towards PCI
//! Express, BAR requests from it, and trace events that synthesis may leave open.

use crate::csr::relay::TableRelay;
use crate::csr::room::Csr;
use crate::ddp::room::DdpRoom;
use crate::emit::{verilog_named, EmitError};
use crate::front_end::{FrontEnd128, FrontEnd512, FrontEnd64};
use crate::messages::{FpduEvent, SegmentEvent};
use crate::mpa::manager::StreamManager;
use crate::mpa::replays::ReplayQueue;
use crate::mpa::room::{MpaRoom128, MpaRoom512};
use crate::mpa::settle::EarlySettle;
use crate::packet::room::{Packet128, Packet512, Packet64};
use crate::pcie::room::{PcieRoom128, PcieRoom512};
use crate::placement::room::{PlacementRoom128, PlacementRoom512};
use crate::tcp::room::TcpRoom;
use rust_hdl::prelude::*;

/// Counters, `rnic_abi::counters::COUNT`.
const COUNTERS: usize = 43;

/// The Verilog of the core for a frame path of `width` bits; its top module is `rnic`.
///
/// # Errors
/// The checks or the emission lint refuse the core.
///
/// # Panics
/// If `width` is not 64, 128 or 512.
pub fn verilog(width: usize) -> Result<String, EmitError> {
    let emit = move || match width {
        64 => verilog_named("rnic", &Rnic64::standalone()),
        128 => verilog_named("rnic", &Rnic128::standalone()),
        512 => verilog_named("rnic", &Rnic512::standalone()),
        other => panic!("there is no core of width {other}: use 64, 128 or 512"),
    };
    // A core is one value of some megabytes, more than the stack of a test's thread.
    let thread = std::thread::Builder::new().stack_size(STACK_OCTETS);
    let emitting = thread.spawn(emit).expect("a thread can be started");
    emitting
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Stack for building and emitting a core, amply.
const STACK_OCTETS: usize = 256 << 20;

/// Declares the core of one width. The rooms of a width are types of their own; the joining is the
/// same text for all.
macro_rules! core {
    ($(#[$doc:meta])* $name:ident, $w:literal, $d:literal, $l:literal,
     $front_end:ty, $packet:ty, $mpa:ty, $placement:ty, $pcie:ty) => {
        $(#[$doc])*
        #[derive(LogicBlock)]
        pub struct $name {
            /// The only clock; every port is synchronous to its rising edge.
            pub clock: Signal<In, Clock>,
            /// Synchronous reset.
            pub reset: Signal<In, Bit>,
            /// Bus, device and function number, for TLPs.
            pub device_id: Signal<In, Bits<16>>,
            /// Frame octets, first in bits 7:0.
            pub frame_data: Signal<In, Bits<$w>>,
            /// Octets in this beat.
            pub frame_octets: Signal<In, Bits<7>>,
            /// Last beat of the frame.
            pub frame_last: Signal<In, Bit>,
            /// With the last beat: the FCS was wrong.
            pub frame_error: Signal<In, Bit>,
            /// There is a beat.
            pub frame_valid: Signal<In, Bit>,
            /// TLP payload.
            pub tlp_data: Signal<Out, Bits<$d>>,
            /// One bit for each doubleword that counts.
            pub tlp_keep: Signal<Out, Bits<$l>>,
            /// Last beat of the TLP.
            pub tlp_last: Signal<Out, Bit>,
            /// There is a beat.
            pub tlp_valid: Signal<Out, Bit>,
            /// The beat is taken.
            pub tlp_ready: Signal<In, Bit>,
            /// Header doublewords, with the first beat.
            pub tlp_header: Signal<Out, Bits<128>>,
            /// BAR request: header doublewords.
            pub request_header: Signal<In, Bits<128>>,
            /// BAR request: the doubleword of a write.
            pub request_data: Signal<In, Bits<32>>,
            /// There is a request.
            pub request_valid: Signal<In, Bit>,
            /// The request is taken.
            pub request_ready: Signal<Out, Bit>,
            /// Free pages of packet memory.
            pub free_pages: Signal<Out, Bits<10>>,
            /// Stored frames that wait for TCP; at 16 the next one is dropped.
            pub stored_frames: Signal<Out, Bits<5>>,
            /// Trace: a segment with payload was judged.
            pub segment_event_valid: Signal<Out, Bit>,
            /// Its connection.
            pub segment_event_connection: Signal<Out, Bits<10>>,
            /// `rnic_abi::events::SegmentVerdict`.
            pub segment_event_verdict: Signal<Out, Bits<3>>,
            /// SEG.SEQ.
            pub segment_event_seg_seq: Signal<Out, Bits<32>>,
            /// Payload octets.
            pub segment_event_seg_len: Signal<Out, Bits<14>>,
            /// Trace: an FPDU was judged.
            pub fpdu_event_valid: Signal<Out, Bit>,
            /// Its connection.
            pub fpdu_event_connection: Signal<Out, Bits<10>>,
            /// Sequence number of its first octet.
            pub fpdu_event_sequence: Signal<Out, Bits<32>>,
            /// ULPDU_Length in octets.
            pub fpdu_event_ulpdu_length: Signal<Out, Bits<16>>,
            /// `rnic_abi::errors::StreamError`, 0 for none.
            pub fpdu_event_error: Signal<Out, Bits<5>>,
            /// RDMAP opcode.
            pub fpdu_event_opcode: Signal<Out, Bits<4>>,
            /// The opcode counts.
            pub fpdu_event_opcode_valid: Signal<Out, Bit>,
            /// Octets placed.
            pub fpdu_event_placed_octets: Signal<Out, Bits<16>>,
            /// They were placed while octets before the FPDU were still missing.
            pub fpdu_event_placed_early: Signal<Out, Bit>,
            front_end: $front_end,
            packet: $packet,
            tcp: TcpRoom,
            manager: StreamManager,
            settle: EarlySettle,
            replays: ReplayQueue,
            mpa: $mpa,
            ddp: DdpRoom,
            placement: $placement,
            pcie: $pcie,
            csr: Csr<$w, $d>,
            tcp_relay: TableRelay,
            manager_relay: TableRelay,
            ddp_relay: TableRelay,
            segment_event: Signal<Local, SegmentEvent>,
            fpdu_event: Signal<Local, FpduEvent>,
            front_counts: Signal<Local, Bits<8>>,
            tcp_counts: Signal<Local, Bits<10>>,
            placement_counts: Signal<Local, Bits<4>>,
            refusals: Signal<Local, Bits<COUNTERS>>,
            counts: Signal<Local, Bits<COUNTERS>>,
            /// Every message crosses between rooms; events and counts wait here for one cycle, so
            /// that no room's path ends in another.
            counts_held: DFF<Bits<COUNTERS>>,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    clock: Default::default(),
                    reset: Default::default(),
                    device_id: Default::default(),
                    frame_data: Default::default(),
                    frame_octets: Default::default(),
                    frame_last: Default::default(),
                    frame_error: Default::default(),
                    frame_valid: Default::default(),
                    tlp_data: Default::default(),
                    tlp_keep: Default::default(),
                    tlp_last: Default::default(),
                    tlp_valid: Default::default(),
                    tlp_ready: Default::default(),
                    tlp_header: Default::default(),
                    request_header: Default::default(),
                    request_data: Default::default(),
                    request_valid: Default::default(),
                    request_ready: Default::default(),
                    free_pages: Default::default(),
                    stored_frames: Default::default(),
                    segment_event_valid: Default::default(),
                    segment_event_connection: Default::default(),
                    segment_event_verdict: Default::default(),
                    segment_event_seg_seq: Default::default(),
                    segment_event_seg_len: Default::default(),
                    fpdu_event_valid: Default::default(),
                    fpdu_event_connection: Default::default(),
                    fpdu_event_sequence: Default::default(),
                    fpdu_event_ulpdu_length: Default::default(),
                    fpdu_event_error: Default::default(),
                    fpdu_event_opcode: Default::default(),
                    fpdu_event_opcode_valid: Default::default(),
                    fpdu_event_placed_octets: Default::default(),
                    fpdu_event_placed_early: Default::default(),
                    front_end: Default::default(),
                    packet: Default::default(),
                    tcp: Default::default(),
                    manager: Default::default(),
                    settle: Default::default(),
                    replays: Default::default(),
                    mpa: Default::default(),
                    ddp: Default::default(),
                    placement: Default::default(),
                    pcie: Default::default(),
                    csr: Default::default(),
                    tcp_relay: Default::default(),
                    manager_relay: Default::default(),
                    ddp_relay: Default::default(),
                    segment_event: Default::default(),
                    fpdu_event: Default::default(),
                    front_counts: Default::default(),
                    tcp_counts: Default::default(),
                    placement_counts: Default::default(),
                    refusals: Default::default(),
                    counts: Default::default(),
                    counts_held: Default::default(),
                }
            }
        }

        impl $name {
            /// The core with every input connected, ready to be emitted.
            pub fn standalone() -> Self {
                let mut core = Self::default();
                core.clock.connect();
                core.reset.connect();
                core.device_id.connect();
                core.frame_data.connect();
                core.frame_octets.connect();
                core.frame_last.connect();
                core.frame_error.connect();
                core.frame_valid.connect();
                core.tlp_ready.connect();
                core.request_header.connect();
                core.request_data.connect();
                core.request_valid.connect();
                core.connect_all();
                core
            }
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                dff_setup!(self, clock, counts_held);
                // Clock and reset.
                self.front_end.clock.next = self.clock.val();
                self.packet.clock.next = self.clock.val();
                self.tcp.clock.next = self.clock.val();
                self.manager.clock.next = self.clock.val();
                self.settle.clock.next = self.clock.val();
                self.replays.clock.next = self.clock.val();
                self.mpa.clock.next = self.clock.val();
                self.ddp.clock.next = self.clock.val();
                self.placement.clock.next = self.clock.val();
                self.pcie.clock.next = self.clock.val();
                self.csr.clock.next = self.clock.val();
                self.tcp_relay.clock.next = self.clock.val();
                self.manager_relay.clock.next = self.clock.val();
                self.ddp_relay.clock.next = self.clock.val();
                self.front_end.reset.next = self.reset.val();
                self.packet.reset.next = self.reset.val();
                self.tcp.reset.next = self.reset.val();
                self.manager.reset.next = self.reset.val();
                self.settle.reset.next = self.reset.val();
                self.replays.reset.next = self.reset.val();
                self.mpa.reset.next = self.reset.val();
                self.ddp.reset.next = self.reset.val();
                self.placement.reset.next = self.reset.val();
                self.pcie.reset.next = self.reset.val();
                self.csr.reset.next = self.reset.val();
                self.tcp_relay.reset.next = self.reset.val();
                self.manager_relay.reset.next = self.reset.val();
                self.ddp_relay.reset.next = self.reset.val();
                // Wire to front end.
                self.front_end.enable.next = self.csr.enable.val();
                self.front_end.frame_data.next = self.frame_data.val();
                self.front_end.frame_octets.next = self.frame_octets.val();
                self.front_end.frame_last.next = self.frame_last.val();
                self.front_end.frame_error.next = self.frame_error.val();
                self.front_end.frame_valid.next = self.frame_valid.val();
                // Front end to packet memory.
                self.packet.store_data.next = self.front_end.store_data.val();
                self.packet.store_valid.next = self.front_end.store_valid.val();
                self.packet.store_last.next = self.front_end.store_last.val();
                self.packet.frame_info.next = self.front_end.frame_info.val();
                self.packet.frame_info_valid.next = self.front_end.frame_info_valid.val();
                // Packet memory to TCP.
                self.tcp.stored.next = self.packet.stored.val();
                self.tcp.stored_valid.next = self.packet.stored_valid.val();
                self.packet.stored_ready.next = self.tcp.stored_ready.val();
                // TCP to the stream manager.
                self.manager.accepted.next = self.tcp.accepted.val();
                self.manager.accepted_valid.next = self.tcp.accepted_valid.val();
                self.tcp.accepted_ready.next = self.manager.accepted_ready.val();
                self.tcp.key_free.next = self.manager.slot_free.val();
                self.tcp.span_free.next = self.manager.span_free.val();
                self.tcp.early_pages.next = self.csr.early_pages.val();
                self.tcp.early_share.next = self.csr.early_share.val();
                // What a segment in order may take when few pages are left.
                self.tcp.free_pages.next = self.packet.free_pages.val();
                self.tcp.reserve_pages.next = self.csr.reserve_pages.val();
                self.tcp.long_pages.next = self.csr.long_pages.val();
                self.tcp.reserve_grown.next = self.csr.reserve_grown.val();
                self.tcp.long_fpdu.next = self.manager.long_fpdu.val();
                self.tcp.long_connection.next = self.manager.long_connection.val();
                self.csr.reserve_grows.next = self.tcp.grows.val();
                self.tcp.hold_log2.next = self.csr.hold_log2.val();
                self.tcp.unfinished.next = self.manager.unfinished.val();
                self.tcp.unfinished_valid.next = self.manager.unfinished_valid.val();
                self.manager.host_frame.next = self.tcp.host_frame.val();
                self.manager.host_frame_valid.next = self.tcp.host_frame_valid.val();
                self.tcp.host_frame_ready.next = self.manager.host_frame_ready.val();
                // Stream manager to the packet reader.
                self.packet.job.next = self.manager.job.val();
                self.packet.job_valid.next = self.manager.job_valid.val();
                self.manager.job_ready.next = self.packet.job_ready.val();
                self.packet.frame_table_write.next = self.manager.frame_table_write.val();
                self.packet.frame_table_index.next = self.manager.frame_table_index.val();
                self.packet.frame_table_data.next = self.manager.frame_table_data.val();
                self.packet.frame_link_write.next = self.manager.frame_link_write.val();
                self.packet.frame_link_index.next = self.manager.frame_link_index.val();
                self.packet.frame_link_next.next = self.manager.frame_link_next.val();
                // Page links to the stream manager, and pages given back.
                self.manager.link_write.next = self.packet.link_write.val();
                self.manager.link_page.next = self.packet.link_page.val();
                self.manager.link_next.next = self.packet.link_next.val();
                self.manager.jump_write.next = self.packet.jump_write.val();
                self.manager.jump_page.next = self.packet.jump_page.val();
                self.packet.release0.next = self.tcp.page_release.val();
                self.packet.release0_valid.next = self.tcp.page_release_valid.val();
                self.tcp.page_release_ready.next = self.packet.release0_ready.val();
                self.packet.release1.next = self.manager.page_release.val();
                self.packet.release1_valid.next = self.manager.page_release_valid.val();
                self.manager.page_release_ready.next = self.packet.release1_ready.val();
                self.packet.release2.next = self.placement.page_release.val();
                self.packet.release2_valid.next = self.placement.page_release_valid.val();
                self.placement.page_release_ready.next = self.packet.release2_ready.val();
                // A fourth place to give pages back, not in use.
                self.packet.release3.next = self.placement.page_release.val();
                self.packet.release3_valid.next = false;
                // Packet reader to MPA.
                self.mpa.joined_data.next = self.packet.joined_data.val();
                self.mpa.joined_octets.next = self.packet.joined_octets.val();
                self.mpa.joined_first.next = self.packet.joined_first.val();
                self.mpa.joined_last.next = self.packet.joined_last.val();
                self.mpa.joined_valid.next = self.packet.joined_valid.val();
                self.packet.joined_ready.next = self.mpa.joined_ready.val();
                self.mpa.started.next = self.packet.started.val();
                self.mpa.started_tag.next = self.packet.started_tag.val();
                self.mpa.started_valid.next = self.packet.started_valid.val();
                self.packet.started_ready.next = self.mpa.started_ready.val();
                self.packet.kill.next = self.mpa.kill.val();
                self.packet.kill_tag.next = self.mpa.kill_tag.val();
                self.settle.job_done.next = self.mpa.job_done.val();
                self.settle.job_done_valid.next = self.mpa.job_done_valid.val();
                self.mpa.job_done_ready.next = self.settle.job_done_ready.val();
                self.manager.job_done.next = self.settle.done.val();
                self.manager.job_done_valid.next = self.settle.done_valid.val();
                self.settle.done_ready.next = self.manager.job_done_ready.val();
                // MPA to DDP.
                self.ddp.record.next = self.mpa.record.val();
                self.ddp.record_valid.next = self.mpa.record_valid.val();
                self.mpa.record_room.next = self.ddp.record_room.val();
                self.ddp.fpdu_verdict.next = self.mpa.verdict.val();
                self.ddp.fpdu_verdict_valid.next = self.mpa.verdict_valid.val();
                // What is placed beyond a gap: results, and replays in order.
                self.settle.result.next = self.ddp.early_result.val();
                self.settle.result_valid.next = self.ddp.early_result_valid.val();
                self.settle.replayed.next = self.ddp.replayed.val();
                self.settle.replayed_valid.next = self.ddp.replayed_valid.val();
                self.ddp.replayed_ready.next = self.settle.replayed_ready.val();
                self.replays.order.next = self.manager.order.val();
                self.replays.order_valid.next = self.manager.order_valid.val();
                self.replays.begun.next = self.mpa.begun.val();
                self.replays.passed.next = self.mpa.record_valid.val();
                self.manager.forget_room.next = self.replays.forget_room.val();
                self.ddp.replay.next = self.replays.replay.val();
                self.ddp.replay_valid.next = self.replays.replay_valid.val();
                self.replays.replay_ready.next = self.ddp.replay_ready.val();
                self.manager.span_back.next = self.settle.span_back.val();
                self.manager.span_back_valid.next = self.settle.span_back_valid.val();
                self.settle.span_back_ready.next = self.manager.span_back_ready.val();
                self.manager.stopped.next = self.ddp.stopped.val();
                self.manager.stopped_valid.next = self.ddp.stopped_valid.val();
                self.ddp.stopped_ready.next = self.manager.stopped_ready.val();
                // DDP and the placement buffer to placement.
                self.placement.command.next = self.ddp.command.val();
                self.placement.command_valid.next = self.ddp.command_valid.val();
                self.ddp.command_ready.next = self.placement.command_ready.val();
                self.placement.placement_data.next = self.mpa.placement_data.val();
                self.placement.placement_valid.next = self.mpa.placement_valid.val();
                self.mpa.placement_ready.next = self.placement.placement_ready.val();
                // Placement to PCI Express.
                self.pcie.payload_tlp_data.next = self.placement.payload_tlp_data.val();
                self.pcie.payload_tlp_keep.next = self.placement.payload_tlp_keep.val();
                self.pcie.payload_tlp_last.next = self.placement.payload_tlp_last.val();
                self.pcie.payload_tlp_valid.next = self.placement.payload_tlp_valid.val();
                self.placement.payload_tlp_ready.next = self.pcie.payload_tlp_ready.val();
                self.pcie.payload_tlp_header.next = self.placement.payload_tlp_header.val();
                self.pcie.completion_tlp_data.next = self.placement.completion_tlp_data.val();
                self.pcie.completion_tlp_keep.next = self.placement.completion_tlp_keep.val();
                self.pcie.completion_tlp_last.next = self.placement.completion_tlp_last.val();
                self.pcie.completion_tlp_valid.next = self.placement.completion_tlp_valid.val();
                self.placement.completion_tlp_ready.next = self.pcie.completion_tlp_ready.val();
                self.pcie.completion_tlp_header.next = self.placement.completion_tlp_header.val();
                self.tlp_data.next = self.pcie.tlp_data.val();
                self.tlp_keep.next = self.pcie.tlp_keep.val();
                self.tlp_last.next = self.pcie.tlp_last.val();
                self.tlp_valid.next = self.pcie.tlp_valid.val();
                self.pcie.tlp_ready.next = self.tlp_ready.val();
                self.tlp_header.next = self.pcie.tlp_header.val();
                self.pcie.device_id.next = self.device_id.val();
                self.placement.device_id.next = self.device_id.val();
                // BAR requests to the register file.
                self.pcie.request_header.next = self.request_header.val();
                self.pcie.request_data.next = self.request_data.val();
                self.pcie.request_valid.next = self.request_valid.val();
                self.request_ready.next = self.pcie.request_ready.val();
                self.csr.register_address.next = self.pcie.register_address.val();
                self.csr.register_read.next = self.pcie.register_read.val();
                self.csr.register_write.next = self.pcie.register_write.val();
                self.csr.register_write_data.next = self.pcie.register_write_data.val();
                self.pcie.register_read_data.next = self.csr.register_read_data.val();
                self.pcie.register_read_valid.next = self.csr.register_read_valid.val();
                // Registers to placement, and back.
                self.placement.max_payload.next = self.csr.max_payload.val();
                self.placement.cq_base.next = self.csr.cq_base.val();
                self.placement.cq_entries_log2.next = self.csr.cq_entries_log2.val();
                self.placement.cq_consumer.next = self.csr.cq_consumer.val();
                self.csr.cq_producer.next = self.placement.cq_producer.val();
                self.placement.host_ring_base.next = self.csr.host_ring_base.val();
                self.placement.host_ring_slots_log2.next = self.csr.host_ring_slots_log2.val();
                self.placement.host_ring_slot_octets_log2.next =
                    self.csr.host_ring_slot_octets_log2.val();
                self.placement.host_ring_consumer.next = self.csr.host_ring_consumer.val();
                self.csr.host_ring_producer.next = self.placement.host_ring_producer.val();
                self.placement.fence.next = self.csr.fence.val();
                self.csr.fence_done.next = self.placement.fence_done.val();
                self.csr.free_pages.next = self.packet.free_pages.val();
                self.free_pages.next = self.packet.free_pages.val();
                self.stored_frames.next = self.packet.stored_frames.val();
                // Tables.
                self.tcp_relay.request.next = self.csr.table_request.val();
                self.tcp_relay.valid.next = self.csr.table_valid.val();
                self.tcp.table_request.next = self.tcp_relay.room_request.val();
                self.tcp.table_valid.next = self.tcp_relay.room_valid.val();
                self.tcp_relay.room_done.next = self.tcp.table_done.val();
                self.tcp_relay.room_data.next = self.tcp.table_data.val();
                self.manager_relay.request.next = self.csr.table_request.val();
                self.manager_relay.valid.next = self.csr.table_valid.val();
                self.manager.table_request.next = self.manager_relay.room_request.val();
                self.manager.table_valid.next = self.manager_relay.room_valid.val();
                self.manager_relay.room_done.next = self.manager.table_done.val();
                self.manager_relay.room_data.next = self.manager.table_data.val();
                self.ddp_relay.request.next = self.csr.table_request.val();
                self.ddp_relay.valid.next = self.csr.table_valid.val();
                self.ddp.table_request.next = self.ddp_relay.room_request.val();
                self.ddp.table_valid.next = self.ddp_relay.room_valid.val();
                self.ddp_relay.room_done.next = self.ddp.table_done.val();
                self.ddp_relay.room_data.next = self.ddp.table_data.val();
                self.csr.table_done.next = self.tcp_relay.done.val()
                    | self.manager_relay.done.val()
                    | self.ddp_relay.done.val();
                self.csr.table_data.next = self.tcp_relay.data.val()
                    | self.manager_relay.data.val()
                    | self.ddp_relay.data.val();
                // Counters, in the order of `rnic_abi::counters`.
                self.front_counts.next = self.front_end.counts.val();
                self.tcp_counts.next = self.tcp.counts.val();
                self.placement_counts.next = self.placement.counts.val();
                self.refusals.next = 0.into();
                if self.ddp.error_valid.val() {
                    for i in 1..20 {
                        if self.ddp.error_number.val().index() == i {
                            self.refusals.next = self.refusals.val().replace_bit(20 + i, true);
                        }
                    }
                }
                self.counts.next = self.refusals.val();
                for i in 0..5 {
                    self.counts.next =
                        self.counts.val().replace_bit(i, self.front_counts.val().get_bit(i));
                }
                self.counts.next =
                    self.counts.val().replace_bit(5, self.packet.count_no_page.val());
                for i in 5..8 {
                    self.counts.next =
                        self.counts.val().replace_bit(i + 1, self.front_counts.val().get_bit(i));
                }
                self.counts.next =
                    self.counts.val().replace_bit(9, self.tcp_counts.val().get_bit(0));
                for i in 0..3 {
                    self.counts.next = self
                        .counts
                        .val()
                        .replace_bit(10 + i, self.placement_counts.val().get_bit(i));
                }
                for i in 1..8 {
                    self.counts.next =
                        self.counts.val().replace_bit(12 + i, self.tcp_counts.val().get_bit(i));
                }
                for i in 8..10 {
                    self.counts.next =
                        self.counts.val().replace_bit(33 + i, self.tcp_counts.val().get_bit(i));
                }
                self.counts.next = self.counts.val().replace_bit(20, self.ddp.count_fpdu.val());
                self.counts.next =
                    self.counts.val().replace_bit(40, self.placement_counts.val().get_bit(3));
                self.counts_held.d.next = self.counts.val();
                self.csr.counts.next = self.counts_held.q.val();
                // Trace events.
                self.segment_event.next = self.tcp.segment_event.val();
                self.segment_event_valid.next = self.tcp.segment_event_valid.val();
                self.segment_event_connection.next = self.segment_event.val().connection;
                self.segment_event_verdict.next = self.segment_event.val().verdict;
                self.segment_event_seg_seq.next = self.segment_event.val().seg_seq;
                self.segment_event_seg_len.next = self.segment_event.val().seg_len;
                self.fpdu_event.next = self.ddp.fpdu_event.val();
                self.fpdu_event_valid.next = self.ddp.fpdu_event_valid.val();
                self.fpdu_event_connection.next = self.fpdu_event.val().connection;
                self.fpdu_event_sequence.next = self.fpdu_event.val().sequence;
                self.fpdu_event_ulpdu_length.next = self.fpdu_event.val().ulpdu_length;
                self.fpdu_event_error.next = self.fpdu_event.val().error;
                self.fpdu_event_opcode.next = self.fpdu_event.val().opcode;
                self.fpdu_event_opcode_valid.next = self.fpdu_event.val().opcode_valid;
                self.fpdu_event_placed_octets.next = self.fpdu_event.val().placed_octets;
                self.fpdu_event_placed_early.next = self.fpdu_event.val().placed_early;
            }
        }
    };
}

core!(
    /// The core for a frame path of 64 bits.
    Rnic64, 64, 128, 4, FrontEnd64, Packet64, MpaRoom128, PlacementRoom128, PcieRoom128
);
core!(
    /// The core for a frame path of 128 bits.
    Rnic128, 128, 128, 4, FrontEnd128, Packet128, MpaRoom128, PlacementRoom128, PcieRoom128
);
core!(
    /// The core for a frame path of 512 bits.
    Rnic512, 512, 512, 16, FrontEnd512, Packet512, MpaRoom512, PlacementRoom512, PcieRoom512
);
