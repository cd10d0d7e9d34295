//! The whole core: connects the rooms and decides nothing.
//!
//! ```text
//! frame -> front_end -> packet -> tcp -> stream -> reader -> fpdu -> ddp -> placement -> tlp
//!                                          ^                 |       |
//!                                          +---- job_done ---+       |
//!                                          +------ stream_error -----+
//! tcp (segments), ddp (first FPDU) -> events -> tlp
//! csr (doorbells) -> transmit <-> reads <-> read_request, completion
//!                       |  \--> tlp (statuses, reports)
//!                       v
//! frame <-> loopback <--+ --> tx
//! placement, events, transmit -> interrupts -> tlp
//! request -> pcie -> csr -> tables of tcp, stream, ddp; interrupts; posts of ddp
//! pin, csr -> reset_sequencer -> room_reset of all rooms but pcie, hold of pcie and reads
//! ```
//!
//! | width W | inner width D | for | clock |
//! |---|---|---|---|
//! | 64 | 128 | 10 Gb/s Ethernet | 156.25 MHz |
//! | 128 | 128 | 20 Gb/s | 156.25 MHz |
//! | 512 | 512 | 100 Gb/s | 322 MHz |
//!
//! Ports: frames from the wire (no FCS, no ready: the wire does not wait) and to it; three streams
//! towards PCI Express: posted requests and completions, read requests, completions for them; BAR
//! requests; a tick each microsecond; and trace events that synthesis may leave open.

use crate::bus::csr::routes::CounterRoutes;
use crate::bus::csr::tables::TableRelay;
use crate::bus::csr::Csr;
use crate::bus::events::{EventRoom128, EventRoom512};
use crate::bus::interrupts::{InterruptRoom128, InterruptRoom512};
use crate::bus::pcie::{PcieRoom128, PcieRoom512};
use crate::bus::reads::{ReadEngine128, ReadEngine512};
use crate::bus::reset::ResetSequencer;
use crate::common::build::with_sizes;
use crate::messages::{FpduEvent, SegmentEvent};
use crate::receive::ddp::DdpRoom;
use crate::receive::fpdu::{FpduRoom128, FpduRoom512};
use crate::receive::front_end::{FrontEnd128, FrontEnd512, FrontEnd64};
use crate::receive::packet::{Packet128, Packet512, Packet64};
use crate::receive::placement::{PlacementRoom128, PlacementRoom512};
use crate::receive::stream::ooo_completion::OutOfOrderCompletion;
use crate::receive::stream::replays::ReplayQueue;
use crate::receive::stream::StreamManager;
use crate::receive::tcp::TcpRoom;
use crate::transmit::loopback::Loopback;
use crate::transmit::{TransmitRoom128, TransmitRoom512, TransmitRoom64};
use rnic_abi::sizes::Sizes;
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// The Verilog of the core for a frame path of `width` bits, with tables of these sizes; its top
/// module is `rnic`.
///
/// # Errors
/// The checks or the emission lint refuse the core.
///
/// # Panics
/// If `width` is not 64, 128 or 512.
pub fn verilog(width: usize, sizes: Sizes) -> Result<String, EmitError> {
    let core = move || match width {
        64 => verilog_named("rnic", &Rnic64::standalone()),
        128 => verilog_named("rnic", &Rnic128::standalone()),
        512 => verilog_named("rnic", &Rnic512::standalone()),
        other => panic!("there is no core of width {other}: use 64, 128 or 512"),
    };
    emit_with(sizes, core)
}

/// What `emit` makes of blocks with tables of these sizes.
///
/// # Panics
/// If `emit` does.
pub fn emit_with<T: Send + 'static>(sizes: Sizes, emit: impl FnOnce() -> T + Send + 'static) -> T {
    let emit = move || with_sizes(sizes, emit);
    // A core is one value of some megabytes, more than the stack of a test's thread.
    let thread = std::thread::Builder::new().stack_size(STACK_OCTETS);
    let emitting = thread.spawn(emit).expect("a thread can be started");
    emitting
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Stack for building and emitting a core, with a wide margin.
const STACK_OCTETS: usize = 256 << 20;

/// Declares the core of one width. The rooms of a width are types of their own; the wiring is
/// the same for all.
macro_rules! core {
    ($(#[$doc:meta])* $name:ident, $w:literal, $d:literal, $l:literal,
     $front_end:ty, $packet:ty, $fpdu:ty, $placement:ty, $events:ty, $pcie:ty,
     $reads:ty, $transmit:ty, $interrupts:ty) => {
        $(#[$doc])*
        #[derive(LogicBlock, Default)]
        pub struct $name {
            /// The only clock; every port is synchronous to its rising edge.
            pub clock: Signal<In, Clock>,
            /// The reset pin, synchronous: power-up or a reset of the link.
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
            /// The beat is valid.
            pub frame_valid: Signal<In, Bit>,
            /// TLP payload.
            pub tlp_data: Signal<Out, Bits<$d>>,
            /// One bit for each doubleword that counts.
            pub tlp_keep: Signal<Out, Bits<$l>>,
            /// Last beat of the TLP.
            pub tlp_last: Signal<Out, Bit>,
            /// The beat is valid.
            pub tlp_valid: Signal<Out, Bit>,
            /// The beat is taken.
            pub tlp_ready: Signal<In, Bit>,
            /// Header doublewords, with the first beat.
            pub tlp_header: Signal<Out, Bits<128>>,
            /// Read requests: header doublewords. They wait apart from all other TLPs.
            pub read_request_header: Signal<Out, Bits<128>>,
            /// The request is valid.
            pub read_request_valid: Signal<Out, Bit>,
            /// The request is taken.
            pub read_request_ready: Signal<In, Bit>,
            /// Completions for read requests; always taken.
            pub completion_data: Signal<In, Bits<$d>>,
            /// One bit for each doubleword that counts.
            pub completion_keep: Signal<In, Bits<$l>>,
            /// Last beat of the TLP.
            pub completion_last: Signal<In, Bit>,
            /// The beat is valid.
            pub completion_valid: Signal<In, Bit>,
            /// Header doublewords, with the first beat.
            pub completion_header: Signal<In, Bits<128>>,
            /// MSI-X Enable of configuration space.
            pub msix_enable: Signal<In, Bit>,
            /// MSI-X Function Mask of configuration space.
            pub msix_mask: Signal<In, Bit>,
            /// One cycle each microsecond.
            pub tick: Signal<In, Bit>,
            /// Octets of frames to the wire, first in bits 7:0.
            pub tx_data: Signal<Out, Bits<$w>>,
            /// Octets in this beat: W / 8 in each but the last.
            pub tx_octets: Signal<Out, Bits<7>>,
            /// Last beat of the frame.
            pub tx_last: Signal<Out, Bit>,
            /// With the last beat: the frame is not whole, and its FCS must be wrong.
            pub tx_error: Signal<Out, Bit>,
            /// The beat is valid; once a frame has begun, each beat is until its end.
            pub tx_valid: Signal<Out, Bit>,
            /// The beat is taken.
            pub tx_ready: Signal<In, Bit>,
            /// No frame may begin (IEEE 802.3, annex 31B).
            pub tx_pause: Signal<In, Bit>,
            /// BAR requests: payload of writes.
            pub request_data: Signal<In, Bits<$d>>,
            /// Last beat of the TLP.
            pub request_last: Signal<In, Bit>,
            /// The beat is valid.
            pub request_valid: Signal<In, Bit>,
            /// The beat is taken.
            pub request_ready: Signal<Out, Bit>,
            /// Header doublewords, with the first beat.
            pub request_header: Signal<In, Bits<128>>,
            /// Free pages of packet memory.
            pub free_pages: Signal<Out, Bits<10>>,
            /// Stored frames that wait for TCP; at 16 the next one is dropped.
            pub stored_frames: Signal<Out, Bits<5>>,
            /// Trace: verdict on a segment with payload.
            pub segment_event_valid: Signal<Out, Bit>,
            /// Its connection.
            pub segment_event_connection: Signal<Out, Bits<10>>,
            /// `rnic_abi::events::SegmentVerdict`.
            pub segment_event_verdict: Signal<Out, Bits<3>>,
            /// SEG.SEQ.
            pub segment_event_seg_seq: Signal<Out, Bits<32>>,
            /// Payload octets.
            pub segment_event_seg_len: Signal<Out, Bits<14>>,
            /// Trace: outcome of an FPDU.
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
            /// The opcode is valid.
            pub fpdu_event_opcode_valid: Signal<Out, Bit>,
            /// Octets placed.
            pub fpdu_event_placed_octets: Signal<Out, Bits<16>>,
            /// They were placed while octets before the FPDU were still missing.
            pub fpdu_event_placed_ooo: Signal<Out, Bit>,
            front_end: $front_end,
            packet: $packet,
            tcp: TcpRoom,
            stream: StreamManager,
            ooo_completion: OutOfOrderCompletion,
            replays: ReplayQueue,
            fpdu: $fpdu,
            ddp: DdpRoom,
            placement: $placement,
            events: $events,
            reads: $reads,
            transmit: $transmit,
            loopback: Loopback<$w>,
            interrupts: $interrupts,
            pcie: $pcie,
            routes: CounterRoutes,
            csr: Csr<$w, $d>,
            tcp_relay: TableRelay,
            stream_relay: TableRelay,
            ddp_relay: TableRelay,
            reset_sequencer: ResetSequencer,
            room_reset: Signal<Local, Bit>,
            segment_event: Signal<Local, SegmentEvent>,
            fpdu_event: Signal<Local, FpduEvent>,
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
                core.request_last.connect();
                core.request_valid.connect();
                core.read_request_ready.connect();
                core.completion_data.connect();
                core.completion_keep.connect();
                core.completion_last.connect();
                core.completion_valid.connect();
                core.completion_header.connect();
                core.msix_enable.connect();
                core.msix_mask.connect();
                core.tick.connect();
                core.tx_ready.connect();
                core.tx_pause.connect();
                core.connect_all();
                core
            }
        }

        impl Logic for $name {
            #[kernel]
            fn update(&mut self) {
                // Clock and reset.
                wire!(self => self.{
                    front_end, packet, tcp, stream, ooo_completion, replays, fpdu, ddp, placement,
                    events, reads, transmit, loopback, interrupts, pcie, csr, tcp_relay,
                    stream_relay, ddp_relay, reset_sequencer
                }; clock);
                wire!(self => self.{pcie, csr, reset_sequencer, loopback}; reset);
                self.reads.link_reset.next = self.reset.val();
                self.front_end.wire_reset.next = self.reset.val();
                wire!(self.reset_sequencer => self; room_reset);
                wire!(self => self.{
                    front_end, packet, tcp, stream, ooo_completion, replays, fpdu, ddp, placement,
                    events, reads, transmit, interrupts, tcp_relay, stream_relay, ddp_relay
                }; room_reset as reset);
                self.loopback.cut.next = self.room_reset.val();
                wire!(self.reset_sequencer => self.csr; room_reset, resetting);
                self.reset_sequencer.request.next = self.csr.reset_request.val();
                wire!(self.reset_sequencer => self.{pcie, reads}; hold);
                self.reset_sequencer.held.next =
                    self.pcie.held.val() & !self.reads.request_valid.val();
                // Wire, or what is looped back, to front end.
                self.front_end.enable.next = self.csr.enable.val();
                wire!(self => self.loopback;
                    frame_data as wire_data, frame_octets as wire_octets, frame_last as wire_last,
                    frame_error as wire_error, frame_valid as wire_valid);
                wire!(self.loopback => self.front_end;
                    rx_data as frame_data, rx_octets as frame_octets, rx_last as frame_last,
                    rx_error as frame_error, rx_valid as frame_valid);
                // Front end to packet memory.
                wire!(self.front_end => self.packet;
                    store_data, store_valid, store_last, frame_info, frame_info_valid);
                // Packet memory to TCP.
                stream!(self.packet => self.tcp; stored);
                // TCP to the stream manager.
                stream!(self.tcp => self.stream; accepted);
                wire!(self.stream => self.tcp; fragment_free as fragment_free, span_free);
                wire!(self.csr => self.tcp; ooo_pages, ooo_share);
                // Admission of segments while few pages are free.
                self.tcp.free_pages.next = self.packet.free_pages.val();
                wire!(self.csr => self.tcp; reserve_pages, long_pages, reserve_grown);
                wire!(self.stream => self.tcp; long_fpdu, long_connection);
                self.csr.reserve_grows.next = self.tcp.grows.val();
                self.tcp.hold_log2.next = self.csr.hold_log2.val();
                wire!(self.stream => self.tcp; fpdu_status, fpdu_status_valid);
                stream!(self.tcp => self.stream; host_frame);
                // Stream manager to the packet reader.
                stream!(self.stream => self.packet; job);
                wire!(self.stream => self.packet;
                    frame_table_write, frame_table_index, frame_table_data, frame_link_write,
                    frame_link_index, frame_link_next);
                // Page links to the stream manager, and released pages.
                wire!(self.packet => self.stream;
                    link_write, link_page, link_next, jump_write, jump_page);
                stream!(self.tcp => self.packet; page_release as release0);
                stream!(self.stream => self.packet; page_release as release1);
                stream!(self.placement => self.packet; page_release as release2);
                // The fourth release port is not in use.
                self.packet.release3.next = self.placement.page_release.val();
                self.packet.release3_valid.next = false;
                // Packet reader to MPA.
                wire!(self.packet => self.fpdu; joined_data, joined_last, joined_valid);
                wire!(self.packet => self.fpdu; started, started_tag, started_valid);
                wire!(self.fpdu => self.packet; joined_ready, started_ready, cancel, cancel_tag);
                stream!(self.fpdu => self.ooo_completion; job_done);
                stream!(self.ooo_completion => self.stream; done as job_done);
                // MPA to DDP.
                wire!(self.fpdu => self.ddp; record, record_valid, begun);
                self.fpdu.record_room.next = self.ddp.record_room.val();
                self.ddp.fpdu_verdict.next = self.fpdu.verdict.val();
                self.ddp.fpdu_verdict_valid.next = self.fpdu.verdict_valid.val();
                // Out-of-order placement: results, and replays in order.
                wire!(self.ddp => self.ooo_completion;
                    ooo_result as result, ooo_result_valid as result_valid);
                stream!(self.ddp => self.ooo_completion; replayed);
                wire!(self.stream => self.replays; order, order_valid);
                wire!(self.fpdu => self.replays; begun, record_valid as passed);
                self.stream.forget_room.next = self.replays.forget_room.val();
                stream!(self.replays => self.ddp; replay);
                stream!(self.ooo_completion => self.stream; span_back);
                stream!(self.ddp => self.stream; stream_error);
                // A release ends after the records of its connection.
                wire!(self.stream => self.ddp; record_fence);
                wire!(self.ddp => self.stream; record_fence_done);
                // Completion queues: room, and numbers of entries. Posts.
                wire!(self.csr => self.ddp; cq_write, access_address, access_data, access_write);
                wire!(self.ddp => self.csr; cq_report, post_busy);
                // DDP and the placement buffer to placement.
                stream!(self.ddp => self.placement; command);
                wire!(self.fpdu => self.placement; placement_data, placement_valid);
                self.fpdu.placement_ready.next = self.placement.placement_ready.val();
                // Placement to PCI Express.
                tlps!(self.placement => self.pcie; payload_tlp, cqe_tlp);
                // Events to PCI Express.
                wire!(self.tcp => self.events; report, report_valid);
                wire!(self.ddp => self.events; first_fpdu, first_fpdu_valid);
                wire!(self.events => self.tcp;
                    read as event_read, read_connection as event_connection);
                wire!(self.tcp => self.events;
                    event_read_taken as read_taken, event_context as reported,
                    event_context_valid as reported_valid);
                wire!(self.csr => self.events;
                    event_base, event_entries_log2, event_consumer, event_delay_log2);
                self.csr.event_producer.next = self.events.event_producer.val();
                tlps!(self.events => self.pcie; tlp as event_tlp);
                // Transmit: registers, reads, frames, statuses.
                self.transmit.control_base.next = self.csr.tx_base[0].val();
                self.transmit.control_report.next = self.csr.tx_report[0].val();
                self.transmit.control_units_log2.next = self.csr.tx_units_log2[0].val();
                self.transmit.control_set_up.next = self.csr.tx_set_up[0].val();
                self.transmit.control_tail.next = self.csr.tx_tail[0].val();
                self.transmit.control_tail_valid.next = self.csr.tx_tail_valid[0].val();
                self.csr.tx_head[0].next = self.transmit.control_head.val();
                self.transmit.bulk_base.next = self.csr.tx_base[1].val();
                self.transmit.bulk_report.next = self.csr.tx_report[1].val();
                self.transmit.bulk_units_log2.next = self.csr.tx_units_log2[1].val();
                self.transmit.bulk_set_up.next = self.csr.tx_set_up[1].val();
                self.transmit.bulk_tail.next = self.csr.tx_tail[1].val();
                self.transmit.bulk_tail_valid.next = self.csr.tx_tail_valid[1].val();
                self.csr.tx_head[1].next = self.transmit.bulk_head.val();
                wire!(self => self.{
                    placement, events, pcie, transmit, reads, interrupts
                }; device_id);
                self.transmit.pause.next = self.tx_pause.val();
                stream!(self.transmit => self.reads; read_command as command);
                wire!(self.csr => self.reads; max_read_request, timeout_ticks, extended_tags);
                wire!(self.reads => self.transmit;
                    read_data, read_octets, read_last, read_error, read_valid);
                self.reads.read_ready.next = self.transmit.read_ready.val();
                wire!(self.reads => self;
                    request_header as read_request_header, request_valid as read_request_valid);
                wire!(self => self.reads;
                    completion_data, completion_keep, completion_last, completion_valid,
                    completion_header, read_request_ready as request_ready, tick);
                wire!(self.transmit => self.loopback;
                    frame_data, frame_octets, frame_last, frame_valid);
                self.transmit.frame_ready.next = self.loopback.frame_ready.val();
                self.loopback.loopback.next = self.csr.loopback.val();
                wire!(self.loopback => self; tx_data, tx_octets, tx_last, tx_error, tx_valid);
                self.loopback.tx_ready.next = self.tx_ready.val();
                tlps!(self.transmit => self.pcie; tlp as status_tlp);
                // Interrupts after what they report.
                wire!(self => self.interrupts; tick, msix_enable, msix_mask);
                wire!(self.placement => self.interrupts; entry_written, entry_queue, slot_written);
                wire!(self.events => self.interrupts;
                    tlp_last as event_tlp_last, tlp_valid as event_tlp_valid);
                self.interrupts.event_tlp_ready.next = self.pcie.event_tlp_ready.val();
                wire!(self.transmit => self.interrupts;
                    tlp_last as status_tlp_last, tlp_valid as status_tlp_valid);
                self.interrupts.status_tlp_ready.next = self.pcie.status_tlp_ready.val();
                wire!(self.csr => self.interrupts;
                    access_address as address, access_data as data, access_write as write);
                self.csr.apart.next = self.interrupts.value.val();
                tlps!(self.interrupts => self.pcie; tlp as message_tlp);
                // TLPs; BAR requests to the register file.
                tlps!(self.pcie => self; tlp);
                wire!(self => self.pcie; request_header, request_data, request_last, request_valid);
                wire!(self.pcie => self; request_ready);
                wire!(self.pcie => self.csr;
                    register_address, register_read, register_write, register_write_data);
                wire!(self.csr => self.pcie;
                    register_read_data, register_read_valid, register_hold);
                // Registers to placement, and back.
                wire!(self.csr => self.placement;
                    max_payload, cq_write, host_ring_base, host_ring_slots_log2,
                    host_ring_slot_octets_log2, host_ring_consumer);
                self.csr.host_ring_producer.next = self.placement.host_ring_producer.val();
                self.placement.fence.next = self.csr.fence.val();
                self.csr.fence_done.next = self.placement.fence_done.val();
                self.csr.free_pages.next = self.packet.free_pages.val();
                wire!(self.packet => self; free_pages, stored_frames);
                // Tables.
                wire!(self.csr => self.tcp_relay; table_request as request, table_valid as valid);
                self.tcp.table_request.next = self.tcp_relay.room_request.val();
                self.tcp.table_valid.next = self.tcp_relay.room_valid.val();
                wire!(self.tcp => self.tcp_relay; table_done as room_done, table_data as room_data);
                wire!(self.csr => self.stream_relay;
                    table_request as request, table_valid as valid);
                self.stream.table_request.next = self.stream_relay.room_request.val();
                self.stream.table_valid.next = self.stream_relay.room_valid.val();
                wire!(self.stream => self.stream_relay;
                    table_done as room_done, table_data as room_data);
                wire!(self.csr => self.ddp_relay; table_request as request, table_valid as valid);
                self.ddp.table_request.next = self.ddp_relay.room_request.val();
                self.ddp.table_valid.next = self.ddp_relay.room_valid.val();
                wire!(self.ddp => self.ddp_relay; table_done as room_done, table_data as room_data);
                self.csr.table_done.next = self.tcp_relay.done.val()
                    | self.stream_relay.done.val()
                    | self.ddp_relay.done.val();
                self.csr.table_data.next = self.tcp_relay.data.val()
                    | self.stream_relay.data.val()
                    | self.ddp_relay.data.val();
                // Counters.
                self.routes.clock.next = self.clock.val();
                self.routes.front_end.next = self.front_end.counts.val();
                self.routes.no_page.next = self.packet.count_no_page.val();
                self.routes.tcp.next = self.tcp.counts.val();
                wire!(self.ddp => self.routes; count_fpdu as fpdu, error_number, error_valid);
                wire!(self.ddp => self.routes; post_closed, post_full);
                self.routes.placement.next = self.placement.counts.val();
                self.routes.transmit.next = self.transmit.counts.val();
                self.routes.reads.next = self.reads.counts.val();
                self.routes.looped.next = self.loopback.dropped.val();
                self.csr.counts.next = self.routes.counts.val();
                // Trace events.
                wire!(self.tcp => self; segment_event, segment_event_valid);
                self.segment_event_connection.next = self.segment_event.val().connection;
                self.segment_event_verdict.next = self.segment_event.val().verdict;
                self.segment_event_seg_seq.next = self.segment_event.val().seg_seq;
                self.segment_event_seg_len.next = self.segment_event.val().seg_len;
                wire!(self.ddp => self; fpdu_event, fpdu_event_valid);
                self.fpdu_event_connection.next = self.fpdu_event.val().connection;
                self.fpdu_event_sequence.next = self.fpdu_event.val().sequence;
                self.fpdu_event_ulpdu_length.next = self.fpdu_event.val().ulpdu_length;
                self.fpdu_event_error.next = self.fpdu_event.val().error;
                self.fpdu_event_opcode.next = self.fpdu_event.val().opcode;
                self.fpdu_event_opcode_valid.next = self.fpdu_event.val().opcode_valid;
                self.fpdu_event_placed_octets.next = self.fpdu_event.val().placed_octets;
                self.fpdu_event_placed_ooo.next = self.fpdu_event.val().placed_ooo;
            }
        }
    };
}

core!(
    /// The core for a frame path of 64 bits.
    Rnic64, 64, 128, 4, FrontEnd64, Packet64, FpduRoom128, PlacementRoom128,
    EventRoom128, PcieRoom128, ReadEngine128, TransmitRoom64, InterruptRoom128
);
core!(
    /// The core for a frame path of 128 bits.
    Rnic128, 128, 128, 4, FrontEnd128, Packet128, FpduRoom128, PlacementRoom128,
    EventRoom128, PcieRoom128, ReadEngine128, TransmitRoom128, InterruptRoom128
);
core!(
    /// The core for a frame path of 512 bits.
    Rnic512, 512, 512, 16, FrontEnd512, Packet512, FpduRoom512, PlacementRoom512,
    EventRoom512, PcieRoom512, ReadEngine512, TransmitRoom512, InterruptRoom512
);
