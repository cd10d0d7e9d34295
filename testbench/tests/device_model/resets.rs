//! Each register reads, after each reset, what `rnic_abi::resets` says: of both devices.
//!
//! ```text
//!  every register written with several values --> reset --> every register read
//! ```

use rnic_abi::registers::{
    table_command, CAPABILITIES, CONTROL, CONTROL_RESET, COUNTERS, POST, TABLE_BUSY, TABLE_COMMAND,
    TABLE_DATA, TABLE_DATA_WORDS, TX_STRIDE, TX_TAIL,
};
use rnic_abi::resets::{Access, AfterReset, REGISTERS};
use rnic_abi::sizes::Sizes;
use rnic_abi::tables::{LAST, LOOKUP, READ, REGION, TCP, WRITE};
use rnic_device::model::DeviceModel;
use rnic_sim::{DeviceCore, Simulation, SimulationConfig};
use std::collections::BTreeMap;

/// Cycles until a reset through `CONTROL` is over, many times over.
const RESET_CYCLES: usize = 20_000;
/// Cycles until a frame is counted.
const COUNT_CYCLES: usize = 1_000;

/// Values that each register is written with: one of them is not what it resets to, and is allowed.
const WRITTEN: [u32; 5] = [!0, 0x0101_5000, 15, 10, 1];

/// A reset: its name, and how it is asked for.
type Reset<C> = (&'static str, fn(&mut C));

fn resets<C: DeviceCore>() -> [Reset<C>; 2] {
    [
        ("CONTROL_RESET", |device| {
            write(device, CONTROL, CONTROL_RESET);
            device.run(RESET_CYCLES);
        }),
        ("the reset pin", C::reset),
    ]
}

fn write(device: &mut impl DeviceCore, offset: u32, value: u32) {
    device.write_bar(offset, &value.to_le_bytes());
}

fn read(device: &mut impl DeviceCore, offset: u32) -> u32 {
    let mut octets = [0; 4];
    device.read_bar(offset, &mut octets);
    u32::from_le_bytes(octets)
}

/// Offsets of all registers, with what they are.
fn offsets() -> impl Iterator<Item = (u32, Access, AfterReset)> {
    REGISTERS.iter().flat_map(|register| {
        let offsets = (0..register.count).map(|n| register.offset + n * register.stride);
        offsets.map(|offset| (offset, register.access, register.after_reset))
    })
}

fn read_all(device: &mut impl DeviceCore) -> BTreeMap<u32, u32> {
    let read = offsets().map(|(offset, ..)| (offset, read(device, offset)));
    read.collect()
}

/// Registers that read otherwise than they should, if they were `before`.
fn differences(device: &mut impl DeviceCore, before: &BTreeMap<u32, u32>) -> Vec<String> {
    let mut found = Vec::new();
    for (offset, _, after_reset) in offsets() {
        let value = read(device, offset);
        let expected = match after_reset {
            AfterReset::Value(expected) => expected,
            AfterReset::Build | AfterReset::Kept => before[&offset],
        };
        if value != expected {
            found.push(format!("{offset:#05x}: {value:#x}, not {expected:#x}"));
        }
    }
    found
}

/// Has a frame counted, then writes every register that starts nothing. Returns those whose value
/// did not move.
fn disturb(device: &mut impl DeviceCore) -> Vec<String> {
    // Before loopback is on: then it would not be among `frames`.
    device.push_frame(vec![0; 64], false);
    device.run(COUNT_CYCLES);
    let mut unmoved = Vec::new();
    for (offset, access, after_reset) in offsets() {
        let is_tail = [TX_TAIL, TX_TAIL + TX_STRIDE].contains(&offset);
        if access == Access::Read || is_tail || [CONTROL, TABLE_COMMAND].contains(&offset) {
            continue;
        }
        if access == Access::Write {
            // What was written does not show; a doorbell starts something.
            if offset != POST {
                WRITTEN
                    .iter()
                    .for_each(|value| write(device, offset, *value));
            }
            continue;
        }
        let moves = |value: &u32| {
            write(device, offset, *value);
            AfterReset::Value(read(device, offset)) != after_reset
        };
        if !WRITTEN.iter().any(moves) {
            unmoved.push(format!("{offset:#05x}"));
        }
    }
    unmoved
}

fn check<C: DeviceCore>(device: &mut C) {
    let first = read_all(device);
    assert_eq!(Sizes::decode(first[&CAPABILITIES]), Some(Sizes::LARGEST));
    assert_eq!(differences(device, &first), [""; 0], "power-up");
    for ((name, reset), frames) in resets().into_iter().zip(1..) {
        assert_eq!(disturb(device), [""; 0], "before {name}");
        let before = read_all(device);
        assert_eq!(before[&COUNTERS], frames, "frames are counter 0");
        assert!(differences(device, &before).len() > 100, "before {name}");
        reset(device);
        assert_eq!(differences(device, &before), [""; 0], "after {name}");
    }
}

#[test]
fn the_hardware_resets_as_documented() {
    let device = Simulation::new(&SimulationConfig::default());
    check(&mut device.expect("the core is built"));
}

#[test]
fn the_model_resets_as_documented() {
    check(&mut DeviceModel::new(64, Sizes::LARGEST));
}

/// Every register after each value that it was written with: both devices take the same ones.
#[test]
fn registers_read_the_same_on_hardware_and_model() {
    let hardware = Simulation::new(&SimulationConfig::default());
    let mut hardware = hardware.expect("the core is built");
    let mut model = DeviceModel::new(64, Sizes::LARGEST);
    let mut differ = Vec::new();
    for (offset, access, _) in offsets() {
        let is_tail = [TX_TAIL, TX_TAIL + TX_STRIDE].contains(&offset);
        if access == Access::Read || is_tail || [CONTROL, TABLE_COMMAND].contains(&offset) {
            continue;
        }
        for value in WRITTEN {
            write(&mut hardware, offset, value);
            write(&mut model, offset, value);
            let [left, right] = [read(&mut hardware, offset), read(&mut model, offset)];
            if left != right {
                differ.push(format!(
                    "{offset:#05x} after {value:#x}: {left:#x}, {right:#x}"
                ));
            }
        }
    }
    assert_eq!(differ, [""; 0]);
}

/// Every entry that can be read, as it is after a reset and after all its words were written as
/// ones: both devices have the same in it.
#[test]
fn entries_read_the_same_on_hardware_and_model() {
    let hardware = Simulation::new(&SimulationConfig::default());
    let found = [
        entries(&mut hardware.expect("the core is built")),
        entries(&mut DeviceModel::new(64, Sizes::LARGEST)),
    ];
    let [hardware, model] = found;
    assert_eq!(hardware, model);
    let region = hardware[&(REGION, true)];
    assert!(
        region[..8].iter().all(|&word| word != 0) && region[8..] == [0; 2],
        "{region:x?}"
    );
}

/// The words of each table's entry by table, and whether it was written before.
fn entries(device: &mut impl DeviceCore) -> BTreeMap<(u32, bool), [u32; TABLE_DATA_WORDS]> {
    let mut found = BTreeMap::new();
    for table in LOOKUP..=LAST {
        for is_written in [false, true] {
            // The others are no more than what a write of them does.
            if is_written && ![TCP, REGION].contains(&table) {
                continue;
            }
            if is_written {
                fill(device, u32::MAX);
                operate(device, table_command(WRITE, table, 5));
            }
            fill(device, 0xdead_beef);
            operate(device, table_command(READ, table, 5));
            let offsets = (TABLE_DATA..).step_by(4).take(TABLE_DATA_WORDS);
            let words: Vec<u32> = offsets.map(|offset| read(device, offset)).collect();
            found.insert((table, is_written), words.try_into().expect("ten"));
        }
    }
    found
}

fn fill(device: &mut impl DeviceCore, word: u32) {
    for offset in (TABLE_DATA..).step_by(4).take(TABLE_DATA_WORDS) {
        write(device, offset, word);
    }
}

fn operate(device: &mut impl DeviceCore, command: u32) {
    write(device, TABLE_COMMAND, command);
    while read(device, TABLE_COMMAND) & TABLE_BUSY != 0 {}
}
