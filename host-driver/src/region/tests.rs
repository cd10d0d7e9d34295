//! Tests: what is left of a region when the device does not finish an operation, and when no slot
//! is left for its STag.
use super::*;
use crate::hash_table::Index;
use crate::testing::hanging::{hanging_device, Hanging};
use crate::testing::NoMemory;
use rnic_abi::tables::{hash_slot, REGION, RIGHT_REMOTE_WRITE, STAG};

fn region(stag: u32) -> RegionConfig {
    RegionConfig {
        stag,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: 3,
        connection: None,
        tagged_offset: 0x5000,
        octets: 0x1000,
        address: 0x9_0000,
    }
}

const ONE: u32 = 0x0011_1111;

/// Regions that the device lets a peer reach under this index: an STag entry leads to them, and
/// they are valid.
fn reachable(device: &Device<Hanging, NoMemory>, stag_index: u32) -> Vec<u32> {
    let written = &device.bar.tables.written;
    let leads = |(&(table, _), words): (&(u32, Index), &[u32; 10])| {
        let is_one = table == STAG && words[0] >> 31 == 1 && words[1] == stag_index;
        is_one.then_some(words[0] & 0x3ff)
    };
    let is_valid = |region: &u32| {
        let entry = written.get(&(REGION, *region));
        entry.is_some_and(|words| words[0] >> 31 == 1)
    };
    written.iter().filter_map(leads).filter(is_valid).collect()
}

/// Runs `operation` once for each table operation that it takes, that one not ending, with and
/// without its effect; `after` sees what is left. Gives how many runs failed.
fn each_hanging(
    prepare: impl Fn(&mut Device<Hanging, NoMemory>),
    operation: impl Fn(&mut Device<Hanging, NoMemory>) -> Result<(), DriverError>,
    after: impl Fn(&mut Device<Hanging, NoMemory>),
) -> usize {
    let mut failures = 0;
    for takes_effect in [false, true] {
        for hangs_after in 0.. {
            let mut device = hanging_device();
            prepare(&mut device);
            device.bar.takes_effect = takes_effect;
            device.bar.hangs_after = Some(hangs_after);
            match operation(&mut device) {
                Ok(()) => break,
                Err(DriverError::TableTimeout { table, .. }) => {
                    assert!([STAG, REGION].contains(&table));
                }
                Err(other) => panic!("{other}"),
            }
            device.bar.hangs_after = None;
            failures += 1;
            after(&mut device);
        }
    }
    failures
}

#[test]
fn a_region_that_the_device_did_not_take_is_in_no_table() {
    let failures = each_hanging(
        |_| (),
        |device| device.register_region(&region(ONE)),
        |device| {
            assert!(!device.has_region(ONE >> 8));
            assert_eq!(reachable(device, ONE >> 8), []);
            let held = device.bar.tables.written.get(&(REGION, 0));
            assert!(held.is_none_or(|words| words[0] >> 31 == 0), "{held:?}");
            let entry = StagEntry {
                stag_index: ONE >> 8,
                region: 0,
            };
            assert!(!device.stags.contains(stag_hash(ONE >> 8), &entry));
            device
                .register_region(&region(ONE))
                .expect("the device goes on");
            assert_eq!(reachable(device, ONE >> 8), [0]);
        },
    );
    assert_eq!(failures, 2 * 2, "the region's entry and the STag's");
}

#[test]
fn a_region_that_the_device_did_not_give_up_is_still_known() {
    let failures = each_hanging(
        |device| device.register_region(&region(ONE)).expect("there is room"),
        |device| device.deregister_region(ONE),
        |device| {
            assert!(device.has_region(ONE >> 8));
            device.deregister_region(ONE).expect("the device goes on");
            assert!(!device.has_region(ONE >> 8));
            assert_eq!(reachable(device, ONE >> 8), []);
            let words =
                |entry: (&(u32, u32), &[u32; 10])| entry.0 .0 == STAG && entry.1[0] >> 31 == 1;
            assert!(
                !device.bar.tables.written.iter().any(words),
                "no slot is left"
            );
        },
    );
    assert_eq!(failures, 2 * 3, "two writes of the region, and the STag's");
}

#[test]
fn a_region_that_was_not_renewed_is_as_before_or_invalid() {
    let renewed = RegionConfig {
        octets: 0x800,
        ..region(ONE ^ 1)
    };
    let failures = each_hanging(
        |device| device.register_region(&region(ONE)).expect("there is room"),
        |device| device.renew_region(&renewed),
        |device| {
            assert_eq!(device.region(ONE).expect("it is known"), &region(ONE));
            if !reachable(device, ONE >> 8).is_empty() {
                let held = device.bar.tables.written[&(REGION, 0)];
                assert_eq!(held[..8], region(ONE).words(true));
            }
            device.renew_region(&renewed).expect("the device goes on");
            assert_eq!(
                device.bar.tables.written[&(REGION, 0)][..8],
                renewed.words(true)
            );
        },
    );
    assert_eq!(failures, 2 * 3, "two writes that revoke, and the new one");
}

/// More STags than slots: indices that share eight slots in each way.
#[test]
fn an_stag_without_a_slot_is_refused_and_leaves_nothing() {
    let shares = |index: &u32| {
        let hash = stag_hash(*index);
        (0..3).all(|way| hash_slot(hash, way) < 8)
    };
    let mut device = hanging_device();
    let mut registered = Vec::new();
    for index in (1..1 << 24).filter(shares) {
        match device.register_region(&region(index << 8)) {
            Ok(()) => registered.push(index),
            Err(error) => {
                assert_eq!(error, DriverError::HashFull { what: "STag" });
                assert!(!device.has_region(index) && reachable(&device, index).is_empty());
                assert!(registered.len() > 16, "{} found a slot", registered.len());
                for index in registered {
                    assert_eq!(reachable(&device, index).len(), 1, "{index:#x}");
                }
                return;
            }
        }
    }
    panic!("{} STags in 24 slots", registered.len());
}
