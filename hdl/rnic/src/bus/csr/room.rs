//! The register room's top: register file, table engine and counters, joined.
//!
//! | latency, throughput, units | see the room's door ([`super`]) |
use super::counters::Counters;
use super::registers::RegisterFile;
use super::tables::TableEngine;
use crate::messages::TableRequest;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Control and status registers of a device with frame path `W` and inner path `D`, in bits.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        matches!((W, D), (64, 128) | (128, 128) | (512, 512)),
        "Csr: W = {W}, D = {D}; the device has (64, 128), (128, 128) or (512, 512)"
    );
)]
pub struct Csr<const W: usize, const D: usize> {
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
    #[init(RegisterFile::new(W, D))]
    registers: RegisterFile,
    tables: TableEngine,
    counters: Counters,
}

impl<const W: usize, const D: usize> Logic for Csr<W, D> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.registers; clock, reset);
        wire!(self => self.tables; clock, reset);
        wire!(self => self.counters; clock, reset);

        wire!(self => self.registers;
            register_address, register_read, register_write, register_write_data);
        wire!(self.registers => self; register_read_data, register_read_valid);

        self.counters.counts.next = self.counts.val();
        wire!(self.registers => self.counters; counter_read as read, counter_index as read_index);
        self.registers.counter_data.next = self.counters.read_data.val();
        self.registers.counter_valid.next = self.counters.read_valid.val();

        self.tables.command_write.next = self.registers.table_command_write.val();
        self.tables.word_write.next = self.registers.table_word_write.val();
        self.tables.write_data.next = self.registers.table_write_data.val();
        wire!(self.tables => self.registers; busy as table_busy, words as table_words);
        wire!(self.tables => self; table_request, table_valid);
        wire!(self => self.tables; table_done, table_data);
        self.fence.next = self.tables.fence.val();
        self.tables.fence_done.next = self.fence_done.val();

        wire!(self => self.registers; free_pages, cq_producer, host_ring_producer);
        wire!(self.registers => self;
            enable, max_payload, cq_base, cq_entries_log2, cq_consumer, host_ring_base,
            host_ring_slots_log2, host_ring_slot_octets_log2, host_ring_consumer, early_pages,
            early_share);
        self.registers.reserve_grows.next = self.reserve_grows.val();
        wire!(self.registers => self; reserve_pages, long_pages, reserve_grown, hold_log2);
    }
}
