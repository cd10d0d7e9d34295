//! Every register is read once, after a reset of the function and before the driver writes any.

use super::checked::{expect, Checked};
use rnic_abi::counters;
use rnic_abi::limits::{COMPLETION_QUEUES, PAGES};
use rnic_abi::registers::*;
use rnic_abi::sizes::Sizes;
use rnic_abi::transmit_ring::RINGS;
use rnic_driver::Bar;
use std::time::{Duration, Instant};

/// Registers with the value that they have after a reset; the others hold no state that a reset
/// must clear, or are counters.
const FIRST_VALUES: [(&str, u32, u32); 15] = [
    ("IDENTITY", IDENTITY, IDENTITY_VALUE),
    ("REVISION", REVISION, REVISION_VALUE),
    ("PACKET_PAGES", PACKET_PAGES, PAGES as u32),
    ("CONTROL", CONTROL, 0),
    ("MAX_PAYLOAD", MAX_PAYLOAD, 0),
    ("FREE_PAGES", FREE_PAGES, PAGES as u32),
    ("CQ_OVERFLOW", CQ_OVERFLOW, 0),
    ("HOST_RING_SLOTS_LOG2", HOST_RING_SLOTS_LOG2, 0),
    (
        "OUT_OF_ORDER_PAGES",
        OUT_OF_ORDER_PAGES,
        OUT_OF_ORDER_PAGES_MAX,
    ),
    (
        "OUT_OF_ORDER_SHARE",
        OUT_OF_ORDER_SHARE,
        OUT_OF_ORDER_PAGES_MAX,
    ),
    ("IN_ORDER_RESERVE", IN_ORDER_RESERVE, IN_ORDER_RESERVE_FIRST),
    ("EVENT_ENTRIES_LOG2", EVENT_ENTRIES_LOG2, 0),
    ("READ_MAX_REQUEST", READ_MAX_REQUEST, READ_MAX_REQUEST_FIRST),
    ("READ_TIMEOUT", READ_TIMEOUT, READ_TIMEOUT_FIRST),
    ("TX_CONTROL", TX_CONTROL, 0),
];

/// Registers without a first value of their own.
const OTHERS: [u32; 13] = [
    CAPABILITIES,
    HOST_RING_BASE_LOW,
    HOST_RING_BASE_HIGH,
    HOST_RING_SLOT_OCTETS_LOG2,
    HOST_RING_CONSUMER,
    HOST_RING_PRODUCER,
    EVENT_BASE_LOW,
    EVENT_BASE_HIGH,
    EVENT_CONSUMER,
    EVENT_PRODUCER,
    EVENT_DELAY_LOG2,
    TABLE_COMMAND,
    TABLE_DATA,
];

/// What a register reads as without a device.
const ALL_ONES: u32 = u32::MAX;

pub(super) fn check(bar: &mut impl Bar, patience: Duration) -> Checked {
    let began = Instant::now();
    while bar.read32(CONTROL) & CONTROL_RESET != 0 {
        let seconds = patience.as_secs();
        expect(
            began.elapsed() <= patience,
            format!("the device is not ready {seconds} s after a reset"),
        )?;
        std::thread::yield_now();
    }
    for (name, register, first) in FIRST_VALUES {
        let value = bar.read32(register);
        expect(
            value == first,
            format!("{name} is {value:#x} after a reset, not {first:#x}"),
        )?;
    }
    let capabilities = bar.read32(CAPABILITIES);
    expect(
        Sizes::decode(capabilities).is_some(),
        format!("CAPABILITIES of {capabilities:#x} name no size that is built"),
    )?;
    let off = |ring: u32| ("transmit ring", ring, tx_register(ring, TX_UNITS_LOG2));
    let rings = (0..RINGS as u32).map(off);
    let queue = |queue: u32| {
        let register = cq_register(queue, CQ_ENTRIES_LOG2);
        ("completion queue", queue, register)
    };
    let queues = (0..COMPLETION_QUEUES as u32).map(queue);
    for (name, number, register) in rings.chain(queues) {
        let value = bar.read32(register);
        let what = format!("{name} {number} has size {value:#x} after a reset, not 0");
        expect(value == 0, what)?;
    }
    let counters = (0..counters::COUNT as u32).map(|index| COUNTERS + 4 * index);
    let others: Vec<u32> = OTHERS.into_iter().chain(counters).collect();
    for &register in &others {
        let what = format!("the register at {register:#x} reads as ones: nothing answers there");
        expect(bar.read32(register) != ALL_ONES, what)?;
    }
    let count = FIRST_VALUES.len() + RINGS + COMPLETION_QUEUES + others.len();
    Ok(format!("{count} read, all as after a reset"))
}
