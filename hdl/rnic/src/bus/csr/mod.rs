//! Control and status registers: BAR0 as `rnic_abi::registers` lays it out.
//!
//! ```text
//! register bus --> RegisterFile --> enable, max_payload, ring registers
//!                      |   |    \--> CompletionQueueRegisters --> cq_write; <-- cq_report
//!                      |   |
//!                      |   +--> TableEngine <--> table bus (request, done, data), fence
//!                      |              |--> TableRelay of each room with tables
//! register_hold <-- AccessHold <-- TableEngine; <-- post_busy
//!                      +------> Counters   <-- counts
//! ```
//!
//! | latency    | a read 4 cycles, of a counter up to 72; a write takes effect after 3 or 4 |
//! | throughput | one access at a time; every counter may count in every cycle              |
//! | units      | doublewords of BAR0; table words of 32 bits                               |
//! | source     | `rnic_abi::{registers, tables, counters}`                                 |
//!
//! No access waits for a table whose room may wait for the host: while such an operation runs,
//! `TABLE_COMMAND` reads as busy, and writes to the table registers are ignored. A short one, or a
//! post, keeps every access waiting by `register_hold`. Reads of unused addresses give 0. A value
//! that `rnic_abi::registers` does not allow is ignored; the register keeps its value. A reset
//! clears all registers, but not the counters, which are in RAM; until it ends writes are ignored.

pub mod access_hold;
pub mod completion_queues;
pub mod counters;
pub mod read_gather;
pub mod registers;
pub mod routes;
pub mod tables;
pub mod transmit;
pub mod transmit_ring;

use crate::messages::{CqReport, CqWrite, TableRequest};
use access_hold::AccessHold;
use counters::Counters;
use registers::RegisterFile;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;
use tables::TableEngine;
use transmit::TransmitRegisters;

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
    /// Synchronous: the reset pin; ends the access at hand.
    pub reset: Signal<In, Bit>,
    /// The rooms are in reset, and so are the registers and the table engine; with `reset` at least
    /// once.
    pub room_reset: Signal<In, Bit>,
    /// A reset is under way.
    pub resetting: Signal<In, Bit>,
    /// One cycle: `CONTROL_RESET` is written.
    pub reset_request: Signal<Out, Bit>,
    /// Register bus: doubleword of BAR0; reads and writes last one cycle.
    pub register_address: Signal<In, Bits<10>>,
    pub register_read: Signal<In, Bit>,
    pub register_write: Signal<In, Bit>,
    pub register_write_data: Signal<In, Bits<32>>,
    pub register_read_data: Signal<Out, Bits<32>>,
    pub register_read_valid: Signal<Out, Bit>,
    /// The next access waits.
    pub register_hold: Signal<Out, Bit>,
    /// The posting port, in another room, has a post that is not done.
    pub post_busy: Signal<In, Bit>,
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
    pub counts: Signal<In, Bits<61>>,
    // Values of registers: see [`RegisterFile`].
    pub free_pages: Signal<In, Bits<10>>,
    pub host_ring_producer: Signal<In, Bits<32>>,
    pub enable: Signal<Out, Bit>,
    pub max_payload: Signal<Out, Bits<2>>,
    pub cq_write: Signal<Out, CqWrite>,
    pub cq_report: Signal<In, CqReport>,
    pub host_ring_base: Signal<Out, Bits<64>>,
    pub host_ring_slots_log2: Signal<Out, Bits<5>>,
    pub host_ring_slot_octets_log2: Signal<Out, Bits<4>>,
    pub host_ring_consumer: Signal<Out, Bits<32>>,
    pub ooo_pages: Signal<Out, Bits<10>>,
    pub ooo_share: Signal<Out, Bits<10>>,
    pub reserve_grows: Signal<In, Bit>,
    pub reserve_pages: Signal<Out, Bits<10>>,
    pub long_pages: Signal<Out, Bits<10>>,
    pub reserve_grown: Signal<Out, Bit>,
    pub hold_log2: Signal<Out, Bits<5>>,
    pub event_producer: Signal<In, Bits<32>>,
    pub event_base: Signal<Out, Bits<64>>,
    pub event_entries_log2: Signal<Out, Bits<5>>,
    pub event_consumer: Signal<Out, Bits<32>>,
    pub event_delay_log2: Signal<Out, Bits<5>>,
    // Registers of transmit and reads: see [`TransmitRegisters`].
    pub tx_head: [Signal<In, Bits<32>>; 2],
    pub tx_base: [Signal<Out, Bits<64>>; 2],
    pub tx_report: [Signal<Out, Bits<64>>; 2],
    pub tx_units_log2: [Signal<Out, Bits<5>>; 2],
    pub tx_set_up: [Signal<Out, Bit>; 2],
    pub tx_tail: [Signal<Out, Bits<32>>; 2],
    pub tx_tail_valid: [Signal<Out, Bit>; 2],
    pub max_read_request: Signal<Out, Bits<3>>,
    pub timeout_ticks: Signal<Out, Bits<16>>,
    pub extended_tags: Signal<Out, Bit>,
    pub loopback: Signal<Out, Bit>,
    /// The access at hand, for registers that are in another room: doubleword of BAR0, data, one
    /// cycle to write; what they read as, a cycle later; 0 if it is none of theirs.
    pub access_address: Signal<Out, Bits<10>>,
    pub access_data: Signal<Out, Bits<32>>,
    pub access_write: Signal<Out, Bit>,
    pub apart: Signal<In, Bits<32>>,
    registers: RegisterFile<W, D>,
    transmit: TransmitRegisters,
    tables: TableEngine,
    counters: Counters,
    hold: AccessHold,
}

impl<const W: usize, const D: usize> Logic for Csr<W, D> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.registers; clock, reset);
        wire!(self => self.tables; clock, room_reset as reset);
        wire!(self => self.registers; room_reset as clear, resetting);
        wire!(self.registers => self; reset_request);
        wire!(self => self.counters; clock, reset);

        wire!(self => self.registers;
            register_address, register_read, register_write, register_write_data);
        wire!(self.registers => self; register_read_data, register_read_valid);

        self.hold.clock.next = self.clock.val();
        self.hold.reset.next = self.room_reset.val();
        wire!(self => self.hold; register_address, register_write, post_busy);
        self.hold.table_short.next = self.tables.short.val();
        self.register_hold.next = self.hold.register_hold.val();

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

        wire!(self => self.registers; free_pages, host_ring_producer, cq_report);
        wire!(self.registers => self;
            enable, max_payload, cq_write, host_ring_base, host_ring_slots_log2,
            host_ring_slot_octets_log2, host_ring_consumer, ooo_pages, ooo_share);
        self.registers.reserve_grows.next = self.reserve_grows.val();
        wire!(self.registers => self; reserve_pages, long_pages, reserve_grown, hold_log2);
        // Transmit and reads.
        self.transmit.clock.next = self.clock.val();
        self.transmit.clear.next = self.room_reset.val();
        wire!(self.registers => self.transmit;
            access_address as address, access_data as data, access_write as write);
        wire!(self.registers => self; access_address, access_data, access_write);
        self.registers.apart.next = self.transmit.value.val() | self.apart.val();
        for r in 0..2 {
            self.transmit.head[r].next = self.tx_head[r].val();
            self.tx_base[r].next = self.transmit.base[r].val();
            self.tx_report[r].next = self.transmit.report[r].val();
            self.tx_units_log2[r].next = self.transmit.units_log2[r].val();
            self.tx_set_up[r].next = self.transmit.set_up[r].val();
            self.tx_tail[r].next = self.transmit.tail[r].val();
            self.tx_tail_valid[r].next = self.transmit.tail_valid[r].val();
        }
        wire!(self.transmit => self; max_read_request, timeout_ticks, extended_tags, loopback);

        self.registers.event_producer.next = self.event_producer.val();
        wire!(self.registers => self;
            event_base, event_entries_log2, event_consumer, event_delay_log2);
    }
}

#[cfg(test)]
mod tests;
