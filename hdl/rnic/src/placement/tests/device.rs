//! The back of the device as the top joins it: placement, PCI Express and registers.
// A test block: its ports are those of the rooms.
#![allow(missing_docs)]
use super::super::PlacementRoom;
use crate::csr::Csr;
use crate::messages::*;
use crate::pcie::PcieRoom;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Device<const D: usize, const L: usize, const E: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub device_id: Signal<In, Bits<16>>,
    pub command: Signal<In, PlaceCommand>,
    pub command_valid: Signal<In, Bit>,
    pub command_ready: Signal<Out, Bit>,
    pub placement_data: Signal<In, Bits<D>>,
    pub placement_valid: Signal<In, Bit>,
    pub placement_ready: Signal<Out, Bit>,
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    pub request_header: Signal<In, Bits<128>>,
    pub request_data: Signal<In, Bits<32>>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    pub table_request: Signal<Out, TableRequest>,
    pub table_valid: Signal<Out, Bit>,
    pub table_done: Signal<In, Bit>,
    pub table_data: Signal<In, Bits<128>>,
    pub free_pages: Signal<In, Bits<10>>,
    pub enable: Signal<Out, Bit>,
    placement: PlacementRoom<D, L, E, P>,
    pcie: PcieRoom<D, L>,
    csr: Csr<D, D>,
    pulses: Signal<Local, Bits<4>>,
    counts: Signal<Local, Bits<43>>,
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Default
    for Device<D, L, E, P>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            device_id: Default::default(),
            command: Default::default(),
            command_valid: Default::default(),
            command_ready: Default::default(),
            placement_data: Default::default(),
            placement_valid: Default::default(),
            placement_ready: Default::default(),
            page_release: Default::default(),
            page_release_valid: Default::default(),
            page_release_ready: Default::default(),
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
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            free_pages: Default::default(),
            enable: Default::default(),
            placement: Default::default(),
            pcie: Default::default(),
            csr: Default::default(),
            pulses: Default::default(),
            counts: Default::default(),
        }
    }
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Logic for Device<D, L, E, P> {
    #[hdl_gen]
    fn update(&mut self) {
        self.placement.clock.next = self.clock.val();
        self.placement.reset.next = self.reset.val();
        self.pcie.clock.next = self.clock.val();
        self.pcie.reset.next = self.reset.val();
        self.csr.clock.next = self.clock.val();
        self.csr.reset.next = self.reset.val();
        self.placement.device_id.next = self.device_id.val();
        self.pcie.device_id.next = self.device_id.val();

        self.placement.command.next = self.command.val();
        self.placement.command_valid.next = self.command_valid.val();
        self.command_ready.next = self.placement.command_ready.val();
        self.placement.placement_data.next = self.placement_data.val();
        self.placement.placement_valid.next = self.placement_valid.val();
        self.placement_ready.next = self.placement.placement_ready.val();
        self.page_release.next = self.placement.page_release.val();
        self.page_release_valid.next = self.placement.page_release_valid.val();
        self.placement.page_release_ready.next = self.page_release_ready.val();
        self.tlp_data.next = self.pcie.tlp_data.val();
        self.tlp_keep.next = self.pcie.tlp_keep.val();
        self.tlp_last.next = self.pcie.tlp_last.val();
        self.tlp_valid.next = self.pcie.tlp_valid.val();
        self.pcie.tlp_ready.next = self.tlp_ready.val();
        self.tlp_header.next = self.pcie.tlp_header.val();
        self.pcie.request_header.next = self.request_header.val();
        self.pcie.request_data.next = self.request_data.val();
        self.pcie.request_valid.next = self.request_valid.val();
        self.request_ready.next = self.pcie.request_ready.val();
        self.table_request.next = self.csr.table_request.val();
        self.table_valid.next = self.csr.table_valid.val();
        self.csr.table_done.next = self.table_done.val();
        self.csr.table_data.next = self.table_data.val();
        self.csr.free_pages.next = self.free_pages.val();
        self.csr.reserve_grows.next = false;
        self.enable.next = self.csr.enable.val();

        self.pcie.payload_tlp_data.next = self.placement.payload_tlp_data.val();
        self.pcie.payload_tlp_keep.next = self.placement.payload_tlp_keep.val();
        self.pcie.payload_tlp_last.next = self.placement.payload_tlp_last.val();
        self.pcie.payload_tlp_valid.next = self.placement.payload_tlp_valid.val();
        self.pcie.payload_tlp_header.next = self.placement.payload_tlp_header.val();
        self.placement.payload_tlp_ready.next = self.pcie.payload_tlp_ready.val();
        self.pcie.completion_tlp_data.next = self.placement.completion_tlp_data.val();
        self.pcie.completion_tlp_keep.next = self.placement.completion_tlp_keep.val();
        self.pcie.completion_tlp_last.next = self.placement.completion_tlp_last.val();
        self.pcie.completion_tlp_valid.next = self.placement.completion_tlp_valid.val();
        self.pcie.completion_tlp_header.next = self.placement.completion_tlp_header.val();
        self.placement.completion_tlp_ready.next = self.pcie.completion_tlp_ready.val();
        self.csr.register_address.next = self.pcie.register_address.val();
        self.csr.register_read.next = self.pcie.register_read.val();
        self.csr.register_write.next = self.pcie.register_write.val();
        self.csr.register_write_data.next = self.pcie.register_write_data.val();
        self.pcie.register_read_data.next = self.csr.register_read_data.val();
        self.pcie.register_read_valid.next = self.csr.register_read_valid.val();
        self.placement.fence.next = self.csr.fence.val();
        self.csr.fence_done.next = self.placement.fence_done.val();
        self.placement.max_payload.next = self.csr.max_payload.val();
        self.placement.cq_base.next = self.csr.cq_base.val();
        self.placement.cq_entries_log2.next = self.csr.cq_entries_log2.val();
        self.placement.cq_consumer.next = self.csr.cq_consumer.val();
        self.placement.host_ring_base.next = self.csr.host_ring_base.val();
        self.placement.host_ring_slots_log2.next = self.csr.host_ring_slots_log2.val();
        self.placement.host_ring_slot_octets_log2.next = self.csr.host_ring_slot_octets_log2.val();
        self.placement.host_ring_consumer.next = self.csr.host_ring_consumer.val();
        self.csr.cq_producer.next = self.placement.cq_producer.val();
        self.csr.host_ring_producer.next = self.placement.host_ring_producer.val();

        // HostFrames 10, DropHostRingFull 11, DropHostFrameTooLong 12, Completions 40.
        self.pulses.next = self.placement.counts.val();
        self.counts.next = 0.into();
        self.counts.next = self
            .counts
            .val()
            .replace_bit(10, self.pulses.val().get_bit(0));
        self.counts.next = self
            .counts
            .val()
            .replace_bit(11, self.pulses.val().get_bit(1));
        self.counts.next = self
            .counts
            .val()
            .replace_bit(12, self.pulses.val().get_bit(2));
        self.counts.next = self
            .counts
            .val()
            .replace_bit(40, self.pulses.val().get_bit(3));
        self.csr.counts.next = self.counts.val();
    }
}
