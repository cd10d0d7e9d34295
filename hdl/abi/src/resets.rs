//! Which registers there are, what software may do with each, and what each reads after a reset.
//!
//! There are two resets of the device: `CONTROL_RESET`, and its reset pin, by which a host carries
//! out a function-level reset. Both leave the registers as they are here: of an owner of the device
//! nothing reaches the next but what counters have counted. What else a reset does is in
//! `docs/registers.md`.
use crate::interrupts::{self, CONTROL_MASKED, VECTORS};
use crate::limits::{COMPLETION_QUEUES, PAGES};
use crate::registers::*;
use crate::transmit_ring::RINGS;

/// What software may do with a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it; a write is ignored.
    Read,
    /// Read and write it.
    ReadWrite,
    /// Write it; it reads as 0.
    Write,
}

/// What a register reads after a reset.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AfterReset {
    /// This number.
    Value(u32),
    /// What the build of the device says; no reset changes it.
    Build,
    /// What it read before: a counter, which is the device's and no owner's.
    Kept,
}

/// A register, or several alike.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Offset in BAR0 of the first one.
    pub offset: u32,
    /// How many there are.
    pub count: u32,
    /// Octets from one to the next.
    pub stride: u32,
    /// What software may do.
    pub access: Access,
    /// What it reads after a reset.
    pub after_reset: AfterReset,
}

const fn register(offset: u32, access: Access, after_reset: AfterReset) -> Register {
    Register {
        offset,
        count: 1,
        stride: 4,
        access,
        after_reset,
    }
}

/// One that is read and written, and `value` after a reset.
const fn writable(offset: u32, value: u32) -> Register {
    register(offset, Access::ReadWrite, AfterReset::Value(value))
}

/// One that is only read, and `value` after a reset.
const fn read_only(offset: u32, value: u32) -> Register {
    register(offset, Access::Read, AfterReset::Value(value))
}

/// One that is written, and reads as 0.
const fn write_only(offset: u32) -> Register {
    register(offset, Access::Write, AfterReset::Value(0))
}

impl Register {
    const fn times(self, count: usize, stride: u32) -> Self {
        Self {
            count: count as u32,
            stride,
            ..self
        }
    }

    const fn after_reset(self, after_reset: AfterReset) -> Self {
        Self {
            after_reset,
            ..self
        }
    }
}

const CQS: usize = COMPLETION_QUEUES;

/// Every register, in the order of the offsets.
pub const REGISTERS: &[Register] = &[
    read_only(IDENTITY, IDENTITY_VALUE),
    read_only(REVISION, REVISION_VALUE),
    read_only(CAPABILITIES, 0).after_reset(AfterReset::Build),
    read_only(PACKET_PAGES, PAGES as u32),
    writable(CONTROL, 0),
    writable(MAX_PAYLOAD, 0),
    read_only(FREE_PAGES, PAGES as u32),
    read_only(CQ_OVERFLOW, 0),
    writable(HOST_RING_BASE_LOW, 0),
    writable(HOST_RING_BASE_HIGH, 0),
    writable(HOST_RING_SLOTS_LOG2, 0),
    writable(HOST_RING_SLOT_OCTETS_LOG2, HOST_RING_SLOT_OCTETS_LOG2_FIRST),
    writable(HOST_RING_CONSUMER, 0),
    read_only(HOST_RING_PRODUCER, 0),
    writable(OUT_OF_ORDER_PAGES, OUT_OF_ORDER_PAGES_MAX),
    writable(OUT_OF_ORDER_SHARE, OUT_OF_ORDER_PAGES_MAX),
    writable(IN_ORDER_RESERVE, IN_ORDER_RESERVE_FIRST),
    writable(EVENT_BASE_LOW, 0),
    writable(EVENT_BASE_HIGH, 0),
    writable(EVENT_ENTRIES_LOG2, 0),
    writable(EVENT_CONSUMER, 0),
    read_only(EVENT_PRODUCER, 0),
    writable(EVENT_DELAY_LOG2, 0),
    writable(TX_BASE_LOW, 0).times(RINGS, TX_STRIDE),
    writable(TX_BASE_HIGH, 0).times(RINGS, TX_STRIDE),
    writable(TX_UNITS_LOG2, 0).times(RINGS, TX_STRIDE),
    writable(TX_TAIL, 0).times(RINGS, TX_STRIDE),
    read_only(TX_HEAD, 0).times(RINGS, TX_STRIDE),
    writable(TX_REPORT_LOW, 0).times(RINGS, TX_STRIDE),
    writable(TX_REPORT_HIGH, 0).times(RINGS, TX_STRIDE),
    writable(READ_MAX_REQUEST, READ_MAX_REQUEST_FIRST),
    writable(READ_TIMEOUT, READ_TIMEOUT_FIRST),
    writable(TX_CONTROL, 0),
    writable(TABLE_COMMAND, 0),
    write_only(POST_0),
    write_only(POST_1),
    write_only(POST_2),
    write_only(POST),
    writable(TABLE_DATA, 0).times(TABLE_DATA_WORDS, 4),
    writable(CQ_BASE_LOW, 0).times(CQS, CQ_STRIDE),
    writable(CQ_BASE_HIGH, 0).times(CQS, CQ_STRIDE),
    writable(CQ_ENTRIES_LOG2, 0).times(CQS, CQ_STRIDE),
    writable(CQ_CONSUMER, 0).times(CQS, CQ_STRIDE),
    read_only(CQ_PRODUCER, 0).times(CQS, CQ_STRIDE),
    read_only(COUNTERS, 0)
        .times(crate::counters::COUNT, 4)
        .after_reset(AfterReset::Kept),
    entry(interrupts::TABLE),
    entry(interrupts::TABLE + 4),
    entry(interrupts::TABLE + 8),
    entry(interrupts::TABLE + 12).after_reset(AfterReset::Value(CONTROL_MASKED)),
    read_only(interrupts::PENDING, 0),
    writable(interrupts::HOLD_OFF, 0).times(VECTORS, 4),
    writable(interrupts::QUEUE_ROUTES_LOW, 0),
    writable(interrupts::QUEUE_ROUTES_HIGH, 0),
    writable(interrupts::RING_ROUTES, 0),
];

/// A doubleword of each entry of the MSI-X table.
const fn entry(offset: u32) -> Register {
    writable(offset, 0).times(VECTORS, interrupts::ENTRY_OCTETS)
}

const _: () = {
    let mut i = 1;
    while i < REGISTERS.len() {
        assert!(
            REGISTERS[i - 1].offset < REGISTERS[i].offset,
            "registers are in the order of their offsets"
        );
        i += 1;
    }
};
