//! The register room's top: register file, table engine and counters, joined.
//!
//! | latency, throughput, units | see the room's door ([`super`]) |
use super::counters::Counters;
use super::registers::RegisterFile;
use super::tables::TableEngine;
use crate::messages::TableRequest;
use rust_hdl::prelude::*;

/// Control and status registers of a device with frame path `W` and inner path `D`, in bits.
#[derive(LogicBlock)]
pub struct Csr<const W: usize, const D: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; see the room's door for what it clears.
    pub reset: Signal<In, Bit>,
    /// Register bus: doubleword of BAR0.
    pub register_address: Signal<In, Bits<10>>,
    /// Register bus: read, one cycle.
    pub register_read: Signal<In, Bit>,
    /// Register bus: write, one cycle.
    pub register_write: Signal<In, Bit>,
    /// Register bus: value to write.
    pub register_write_data: Signal<In, Bits<32>>,
    /// Register bus: the value read.
    pub register_read_data: Signal<Out, Bits<32>>,
    /// Register bus: `register_read_data` counts, one cycle.
    pub register_read_valid: Signal<Out, Bit>,
    /// Table operation; holds until done.
    pub table_request: Signal<Out, TableRequest>,
    /// `table_request` counts.
    pub table_valid: Signal<Out, Bit>,
    /// One cycle: the owning room has done it.
    pub table_done: Signal<In, Bit>,
    /// With `table_done`: words 0 to 3 of the entry read; zero otherwise.
    pub table_data: Signal<In, Bits<128>>,
    /// One cycle: begin a fence in placement.
    pub fence: Signal<Out, Bit>,
    /// One cycle: the fence is passed.
    pub fence_done: Signal<In, Bit>,
    /// Pulses in the order of `rnic_abi::counters`.
    pub counts: Signal<In, Bits<43>>,
    /// Free pages of packet memory.
    pub free_pages: Signal<In, Bits<10>>,
    /// Completion entries written.
    pub cq_producer: Signal<In, Bits<32>>,
    /// Host slots filled.
    pub host_ring_producer: Signal<In, Bits<32>>,
    /// Frames are accepted.
    pub enable: Signal<Out, Bit>,
    /// Maximum payload size: 128 octets shifted left by this.
    pub max_payload: Signal<Out, Bits<2>>,
    /// Completion queue: bus address.
    pub cq_base: Signal<Out, Bits<64>>,
    /// Completion queue: log2 of the entries; 0: off.
    pub cq_entries_log2: Signal<Out, Bits<5>>,
    /// Completion queue: entries consumed.
    pub cq_consumer: Signal<Out, Bits<32>>,
    /// Host ring: bus address.
    pub host_ring_base: Signal<Out, Bits<64>>,
    /// Host ring: log2 of the slots; 0: off.
    pub host_ring_slots_log2: Signal<Out, Bits<5>>,
    /// Host ring: log2 of the octets of a slot.
    pub host_ring_slot_octets_log2: Signal<Out, Bits<4>>,
    /// Host ring: slots consumed.
    pub host_ring_consumer: Signal<Out, Bits<32>>,
    /// Pages that segments beyond rcv_nxt may hold.
    pub early_pages: Signal<Out, Bits<10>>,
    /// The same for one connection.
    pub early_share: Signal<Out, Bits<10>>,
    /// A second stream has shown a long FPDU; one cycle or more.
    pub reserve_grows: Signal<In, Bit>,
    /// Free pages below which one connection at a time goes on.
    pub reserve_pages: Signal<Out, Bits<10>>,
    /// The same once there was a long FPDU.
    pub long_pages: Signal<Out, Bits<10>>,
    /// There was one.
    pub reserve_grown: Signal<Out, Bit>,
    /// log2 of the cycles that it stays while nothing of it is accepted.
    pub hold_log2: Signal<Out, Bits<5>>,
    registers: RegisterFile,
    tables: TableEngine,
    counters: Counters,
}

impl<const W: usize, const D: usize> Default for Csr<W, D> {
    fn default() -> Self {
        assert!(
            matches!((W, D), (64, 128) | (128, 128) | (512, 512)),
            "Csr: W = {W}, D = {D}; the device has (64, 128), (128, 128) or (512, 512)"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            register_address: Default::default(),
            register_read: Default::default(),
            register_write: Default::default(),
            register_write_data: Default::default(),
            register_read_data: Default::default(),
            register_read_valid: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            fence: Default::default(),
            fence_done: Default::default(),
            counts: Default::default(),
            free_pages: Default::default(),
            cq_producer: Default::default(),
            host_ring_producer: Default::default(),
            enable: Default::default(),
            max_payload: Default::default(),
            cq_base: Default::default(),
            cq_entries_log2: Default::default(),
            cq_consumer: Default::default(),
            host_ring_base: Default::default(),
            host_ring_slots_log2: Default::default(),
            host_ring_slot_octets_log2: Default::default(),
            host_ring_consumer: Default::default(),
            early_pages: Default::default(),
            early_share: Default::default(),
            reserve_grows: Default::default(),
            reserve_pages: Default::default(),
            long_pages: Default::default(),
            reserve_grown: Default::default(),
            hold_log2: Default::default(),
            registers: RegisterFile::new(W, D),
            tables: Default::default(),
            counters: Default::default(),
        }
    }
}

impl<const W: usize, const D: usize> Logic for Csr<W, D> {
    #[hdl_gen]
    fn update(&mut self) {
        self.registers.clock.next = self.clock.val();
        self.registers.reset.next = self.reset.val();
        self.tables.clock.next = self.clock.val();
        self.tables.reset.next = self.reset.val();
        self.counters.clock.next = self.clock.val();
        self.counters.reset.next = self.reset.val();

        self.registers.register_address.next = self.register_address.val();
        self.registers.register_read.next = self.register_read.val();
        self.registers.register_write.next = self.register_write.val();
        self.registers.register_write_data.next = self.register_write_data.val();
        self.register_read_data.next = self.registers.register_read_data.val();
        self.register_read_valid.next = self.registers.register_read_valid.val();

        self.counters.counts.next = self.counts.val();
        self.counters.read.next = self.registers.counter_read.val();
        self.counters.read_index.next = self.registers.counter_index.val();
        self.registers.counter_data.next = self.counters.read_data.val();
        self.registers.counter_valid.next = self.counters.read_valid.val();

        self.tables.command_write.next = self.registers.table_command_write.val();
        self.tables.word_write.next = self.registers.table_word_write.val();
        self.tables.write_data.next = self.registers.table_write_data.val();
        self.registers.table_busy.next = self.tables.busy.val();
        self.registers.table_words.next = self.tables.words.val();
        self.table_request.next = self.tables.table_request.val();
        self.table_valid.next = self.tables.table_valid.val();
        self.tables.table_done.next = self.table_done.val();
        self.tables.table_data.next = self.table_data.val();
        self.fence.next = self.tables.fence.val();
        self.tables.fence_done.next = self.fence_done.val();

        self.registers.free_pages.next = self.free_pages.val();
        self.registers.cq_producer.next = self.cq_producer.val();
        self.registers.host_ring_producer.next = self.host_ring_producer.val();
        self.enable.next = self.registers.enable.val();
        self.max_payload.next = self.registers.max_payload.val();
        self.cq_base.next = self.registers.cq_base.val();
        self.cq_entries_log2.next = self.registers.cq_entries_log2.val();
        self.cq_consumer.next = self.registers.cq_consumer.val();
        self.host_ring_base.next = self.registers.host_ring_base.val();
        self.host_ring_slots_log2.next = self.registers.host_ring_slots_log2.val();
        self.host_ring_slot_octets_log2.next = self.registers.host_ring_slot_octets_log2.val();
        self.host_ring_consumer.next = self.registers.host_ring_consumer.val();
        self.early_pages.next = self.registers.early_pages.val();
        self.early_share.next = self.registers.early_share.val();
        self.registers.reserve_grows.next = self.reserve_grows.val();
        self.reserve_pages.next = self.registers.reserve_pages.val();
        self.long_pages.next = self.registers.long_pages.val();
        self.reserve_grown.next = self.registers.reserve_grown.val();
        self.hold_log2.next = self.registers.hold_log2.val();
    }
}
