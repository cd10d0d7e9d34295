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
mod program;
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
    }
    assert_eq!(device.inactive_cycles(), u64::MAX);
}
