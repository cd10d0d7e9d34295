//! The device in software against the verilated one: the same driver program on both, in one
//! process.
//!
//! ```text
//!   seed --> frames, frames to send --+--> driver --> verilated device --> Found --+
//!                                     |                                            +-- equal?
//!                                     +--> driver --> device model ------> Found --+
//! ```
//!
//! Compared are memory, completions, host frames, results and octets of frames sent, TCP states,
//! ranges, valid regions and every counter. What depends on the cycle is not: the order of
//! completions of different connections; how many events a connection has, of which all reasons and
//! the last numbers are compared. A stream that stops with an error, or ends with a gap, has its
//! segments in order or no markers: else the hardware may place an FPDU after it, and the model
//! never does.

mod machine;
mod posts;
mod program;
mod resets;
mod traffic;

use machine::{Machine, Model, Rtl, Spoiled};
use program::{run, Found};
use rnic_abi::counters::Counter;
use rnic_abi::sizes::Sizes;
use rnic_device::model::DeviceModel;

fn on_model(seed: u64) -> Found {
    let machine = Model::new();
    let (bar, dma) = machine.attach();
    run(bar, dma, &machine, seed)
}

fn on_rtl(seed: u64) -> Found {
    let machine = Rtl::new();
    let (bar, dma) = machine.attach();
    run(bar, dma, &machine, seed)
}

/// Programs that run on both devices, but for `FERROWARP_PROGRAMS`.
const PROGRAMS: u64 = 3;

/// Counters that no program may leave alone: a comparison of nothing would succeed too.
const MOVED: [Counter; 14] = [
    Counter::Frames,
    Counter::Fpdus,
    Counter::Completions,
    Counter::TcpOutOfOrder,
    Counter::DropTcpDuplicate,
    Counter::DropTcpOutsideWindow,
    Counter::HostFrames,
    Counter::DropTcpChecksum,
    Counter::TcpControl,
    Counter::RefuseMpaCrc,
    Counter::RefuseDdpStag,
    Counter::RefuseDdpBounds,
    Counter::TxFailed,
    Counter::DropLoopback,
];

#[test]
fn both_devices_do_the_same() {
    let programs = std::env::var("FERROWARP_PROGRAMS").ok();
    let programs = programs.map(|text| text.parse().expect("FERROWARP_PROGRAMS is a number"));
    let mut sums = MOVED.map(|counter| (counter.name(), 0));
    for seed in 1..=programs.unwrap_or(PROGRAMS) {
        let (model, rtl) = (on_model(seed), on_rtl(seed));
        let differences = rtl.differences(&model);
        assert!(differences.is_empty(), "seed {seed}: {differences:#?}");
        for ((_, sum), counter) in sums.iter_mut().zip(MOVED) {
            *sum += model.counters[counter.index()].1;
        }
    }
    println!("{sums:?}");
    assert!(sums.iter().all(|&(_, sum)| sum > 0), "{sums:?}");
}

/// The comparison itself: of two models one of which writes one octet wrong.
#[test]
fn one_wrong_octet_is_found() {
    const WRITES: usize = 60;
    let right = on_model(3);
    assert!(right.differences(&on_model(3)).is_empty());
    let is_found = |wrong_write: &usize| {
        let machine = Model::new();
        let (bar, dma) = machine.attach();
        machine.spoil(Spoiled::new(dma.memory(), *wrong_write));
        let found = run(bar, dma, &machine, 3);
        !found.differences(&right).is_empty()
    };
    let found = (1..=WRITES).filter(is_found).count();
    assert_eq!(found, WRITES);
}

/// Refused operations are named, and the device goes on.
#[test]
fn what_the_model_does_not_do_is_reported() {
    use rnic_abi::registers::{table_command, CQ_ENTRIES_LOG2, TABLE_COMMAND};
    use rnic_abi::tables::{DDP, LOOKUP, QUEUE_TAIL, RELEASE, WRITE};
    use rnic_sim::DeviceCore;
    let mut device = DeviceModel::new(64, Sizes::LARGEST);
    for (register, value, named) in [
        (CQ_ENTRIES_LOG2, 17, "CQ_ENTRIES_LOG2"),
        (
            TABLE_COMMAND,
            table_command(WRITE, QUEUE_TAIL, 5),
            "QUEUE_TAIL",
        ),
        (
            TABLE_COMMAND,
            table_command(WRITE, LOOKUP, 3 << 9),
            "LOOKUP",
        ),
        (TABLE_COMMAND, table_command(RELEASE, DDP, 1), "RELEASE"),
        (TABLE_COMMAND, table_command(WRITE, 15, 0), "table 15"),
    ] {
        device.write_bar(register, &u32::to_le_bytes(value));
        let faults = device.take_faults();
        assert!(
            matches!(&faults[..], [fault] if fault.contains(named)),
            "{faults:?}"
        );
        device.read_bar(TABLE_COMMAND, &mut [0; 4]);
    }
    assert_eq!(device.inactive_cycles(), u64::MAX);
}

/// What hardware loses while a table operation runs, the model refuses until somebody has seen that
/// it is done: data and commands, each with its name, and the entries before are as they were.
#[test]
fn the_model_refuses_what_hardware_loses() {
    use rnic_abi::registers::{
        table_command, CONTROL, CONTROL_RESET, MAX_PAYLOAD, TABLE_COMMAND, TABLE_DATA,
    };
    use rnic_abi::tables::{READ, REGION, WRITE};
    use rnic_sim::DeviceCore;
    let mut device = DeviceModel::new(64, Sizes::LARGEST);
    let write = |device: &mut DeviceModel, register: u32, value: u32| {
        device.write_bar(register, &value.to_le_bytes());
        device.take_faults()
    };
    let read = |device: &mut DeviceModel, register: u32| {
        let mut value = [0; 4];
        device.read_bar(register, &mut value);
        u32::from_le_bytes(value)
    };
    for word in 0..8 {
        assert!(write(&mut device, TABLE_DATA + 4 * word, 8 - word).is_empty());
    }
    assert!(write(&mut device, TABLE_COMMAND, table_command(WRITE, REGION, 3)).is_empty());
    for (register, value, named) in [
        (TABLE_DATA, 7, "TABLE_DATA"),
        (TABLE_DATA + 36, 7, "TABLE_DATA"),
        (
            TABLE_COMMAND,
            table_command(WRITE, REGION, 4),
            "TABLE_COMMAND",
        ),
    ] {
        let faults = write(&mut device, register, value);
        assert!(
            matches!(&faults[..], [fault] if fault.starts_with(named)),
            "{faults:?}"
        );
    }
    assert_eq!(read(&mut device, TABLE_COMMAND), 0);
    for (region, is_there) in [(3, true), (4, false)] {
        let command = table_command(READ, REGION, region);
        assert!(write(&mut device, TABLE_COMMAND, command).is_empty());
        assert_eq!(read(&mut device, TABLE_COMMAND), 0);
        assert_eq!(read(&mut device, TABLE_DATA + 28) != 0, is_there);
    }
    // A second reset within the first one is ignored as well.
    assert!(write(&mut device, CONTROL, CONTROL_RESET).is_empty());
    for (register, value) in [(TABLE_DATA, 7), (MAX_PAYLOAD, 1), (CONTROL, CONTROL_RESET)] {
        let faults = write(&mut device, register, value);
        assert!(
            matches!(&faults[..], [fault] if fault.contains("the reset is over")),
            "{faults:?}"
        );
    }
    assert_eq!(read(&mut device, CONTROL), 0);
    assert_eq!(read(&mut device, TABLE_DATA), 0);
    assert!(write(&mut device, MAX_PAYLOAD, 1).is_empty());
    assert_eq!(read(&mut device, MAX_PAYLOAD), 1);
}
