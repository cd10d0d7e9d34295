//! The back of the device as the top joins it: placement, PCI Express and registers.
// A test block: its ports are those of the rooms.
use super::super::PlacementRoom;
use crate::bus::csr::Csr;
use crate::bus::pcie::PcieRoom;
use crate::messages::*;
use rnic_abi::counters::Counter;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Counters of the bits that the wiring below names.
const COUNTS: [(Counter, usize); 4] = [
    (Counter::HostFrames, 10),
    (Counter::DropHostRingFull, 11),
    (Counter::DropHostFrameTooLong, 12),
    (Counter::Completions, 42),
];
const _: () = {
    let mut n = 0;
    while n < COUNTS.len() {
        assert!(
            COUNTS[n].0 as usize == COUNTS[n].1,
            "a bit of another counter"
        );
        n += 1;
    }
};

#[derive(LogicBlock, Init)]
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
    /// Of a request of one doubleword.
    pub request_data: Signal<In, Bits<32>>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    pub table_request: Signal<Out, TableRequest>,
    pub table_valid: Signal<Out, Bit>,
    pub table_done: Signal<In, Bit>,
    pub table_data: Signal<In, Bits<128>>,
    pub free_pages: Signal<In, Bits<10>>,
    /// There is no ddp.
    pub cq_report: Signal<In, CqReport>,
    pub enable: Signal<Out, Bit>,
    placement: PlacementRoom<D, L, E, P>,
    pcie: PcieRoom<D, L>,
    csr: Csr<D, D>,
    pulses: Signal<Local, Bits<4>>,
    counts: Signal<Local, Bits<61>>,
}

impl<const D: usize, const L: usize, const E: usize, const P: usize> Logic for Device<D, L, E, P> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.placement; clock, reset);
        wire!(self => self.pcie; clock, reset);
        wire!(self => self.csr; clock, reset);
        self.placement.device_id.next = self.device_id.val();
        self.pcie.device_id.next = self.device_id.val();

        stream!(self => self.placement; command);
        wire!(self => self.placement; placement_data, placement_valid);
        self.placement_ready.next = self.placement.placement_ready.val();
        stream!(self.placement => self; page_release);
        wire!(self.pcie => self; tlp_data, tlp_keep, tlp_last, tlp_valid);
        self.pcie.tlp_ready.next = self.tlp_ready.val();
        self.tlp_header.next = self.pcie.tlp_header.val();
        wire!(self => self.pcie; request_header, request_valid);
        self.pcie.request_data.next = bit_cast::<D, 32>(self.request_data.val());
        self.pcie.request_last.next = true;
        self.request_ready.next = self.pcie.request_ready.val();
        wire!(self.csr => self; table_request, table_valid);
        wire!(self => self.csr; table_done, table_data, free_pages);
        self.csr.reserve_grows.next = false;
        self.csr.room_reset.next = self.reset.val();
        self.csr.resetting.next = false;
        self.pcie.hold.next = false;
        self.pcie.event_tlp_data.next = 0.into();
        self.pcie.event_tlp_keep.next = 0.into();
        self.pcie.event_tlp_last.next = false;
        self.pcie.event_tlp_valid.next = false;
        self.pcie.event_tlp_header.next = 0.into();
        self.pcie.status_tlp_data.next = 0.into();
        self.pcie.status_tlp_keep.next = 0.into();
        self.pcie.status_tlp_last.next = false;
        self.pcie.status_tlp_valid.next = false;
        self.pcie.status_tlp_header.next = 0.into();
        self.pcie.message_tlp_data.next = 0.into();
        self.pcie.message_tlp_keep.next = 0.into();
        self.pcie.message_tlp_last.next = false;
        self.pcie.message_tlp_valid.next = false;
        self.pcie.message_tlp_header.next = 0.into();
        self.csr.apart.next = 0.into();
        for ring in 0..2 {
            self.csr.tx_head[ring].next = 0.into();
        }
        self.csr.event_producer.next = 0.into();
        self.enable.next = self.csr.enable.val();

        tlps!(self.placement => self.pcie; payload_tlp, cqe_tlp);
        wire!(self.pcie => self.csr;
            register_address, register_read, register_write, register_write_data);
        wire!(self.csr => self.pcie; register_read_data, register_read_valid, register_hold);
        self.csr.post_busy.next = false;
        self.placement.fence.next = self.csr.fence.val();
        self.csr.fence_done.next = self.placement.fence_done.val();
        wire!(self.csr => self.placement;
            max_payload, cq_write, host_ring_base, host_ring_slots_log2,
            host_ring_slot_octets_log2, host_ring_consumer);
        wire!(self.placement => self.csr; host_ring_producer);
        self.csr.cq_report.next = self.cq_report.val();

        // Each bit is that of its counter, as `COUNTS` asserts.
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
            .replace_bit(42, self.pulses.val().get_bit(3));
        self.csr.counts.next = self.counts.val();
    }
}
