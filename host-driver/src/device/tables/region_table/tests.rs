use super::*;
use crate::device::tables::hash_table::Index;
use crate::testing::hanging::Hanging;
use rnic_abi::tables::{hash_slot, REGION, RIGHT_REMOTE_WRITE, STAG};

mod windows;

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

/// Regions that the device lets a peer access under this index: an STag entry leads to them, and
/// they are valid.
fn reachable(bar: &Hanging, stag_index: u32) -> Vec<u32> {
    let written = &bar.tables.written;
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

/// Runs `operation` once for each table operation that it needs, with that one hanging: without
/// and with its effect. `after` checks what is left. Returns the number of failed runs.
fn each_hanging(
    prepare: impl Fn(&mut RegionTable, &mut Hanging),
    operation: impl Fn(&mut RegionTable, &mut Hanging) -> Result<(), DriverError>,
    after: impl Fn(&mut RegionTable, &mut Hanging),
) -> usize {
    let mut failures = 0;
    for takes_effect in [false, true] {
        for hangs_after in 0.. {
            let (mut regions, mut bar) = (RegionTable::default(), Hanging::default());
            prepare(&mut regions, &mut bar);
            bar.takes_effect = takes_effect;
            bar.hangs_after = Some(hangs_after);
            match operation(&mut regions, &mut bar) {
                Ok(()) => break,
                Err(DriverError::TableTimeout { table, .. }) => {
                    assert!([STAG, REGION].contains(&table));
                }
                Err(other) => panic!("{other}"),
            }
            bar.hangs_after = None;
            failures += 1;
            after(&mut regions, &mut bar);
        }
    }
    failures
}

/// Register region [`ONE`].
fn with_one(regions: &mut RegionTable, bar: &mut Hanging) {
    let registered = regions.register(bar, &region(ONE));
    registered.expect("there is room");
}

/// Its two entries are written by short operations, which are not waited for: there is no region of
/// that entry, and no STag leads to it, before.
#[test]
fn a_registration_reads_nothing() {
    let (mut regions, mut bar) = (RegionTable::default(), Hanging::default());
    bar.hangs_after = Some(0);
    with_one(&mut regions, &mut bar);
    assert_eq!(reachable(&bar, ONE >> 8), [0]);
    // The region's 8 words, the STag's 2, and a command each.
    assert_eq!((bar.tables.accesses, bar.tables.reads), (12, 0));
    assert!(bar.tables.fences.is_empty());
}

#[test]
fn a_region_whose_removal_hangs_is_still_known() {
    let failures = each_hanging(
        with_one,
        |regions, bar| regions.deregister(bar, ONE),
        |regions, bar| {
            assert!(regions.has_index(ONE >> 8));
            let again = regions.deregister(bar, ONE);
            again.expect("the device works again");
            assert!(!regions.has_index(ONE >> 8));
            assert!(reachable(bar, ONE >> 8).is_empty());
            let is_stag =
                |entry: (&(u32, u32), &[u32; 10])| entry.0 .0 == STAG && entry.1[0] >> 31 == 1;
            assert!(!bar.tables.written.iter().any(is_stag), "no slot is left");
        },
    );
    assert_eq!(
        failures,
        2 * 2,
        "the writes of the region; then no STag is waited for"
    );
}

#[test]
fn a_region_whose_renewal_hangs_is_as_before_or_invalid() {
    let renewed = RegionConfig {
        octets: 0x800,
        ..region(ONE ^ 1)
    };
    let failures = each_hanging(
        with_one,
        |regions, bar| regions.renew(bar, &renewed),
        |regions, bar| {
            assert_eq!(regions.get(ONE), Ok(&region(ONE)));
            if !reachable(bar, ONE >> 8).is_empty() {
                let held = bar.tables.written[&(REGION, 0)];
                assert_eq!(held[..8], region(ONE).words(true));
            }
            let again = regions.renew(bar, &renewed);
            again.expect("the device works again");
            let held = bar.tables.written[&(REGION, 0)];
            assert_eq!(held[..8], renewed.words(true));
        },
    );
    assert_eq!(
        failures,
        2 * 2,
        "two writes that revoke; the new one is short"
    );
}

/// A length that the device's entry has no room for is refused before anything is changed.
#[test]
fn a_region_that_is_too_long_is_neither_registered_nor_renewed() {
    let (mut regions, mut bar) = (RegionTable::default(), Hanging::default());
    with_one(&mut regions, &mut bar);
    let written = bar.tables.operations.len();
    let long = |stag| RegionConfig {
        octets: 1 << 48,
        ..region(stag)
    };
    let results = [
        regions.renew(&mut bar, &long(ONE)),
        regions.register(&mut bar, &long(ONE ^ 1 << 8)),
    ];
    for result in results {
        assert!(matches!(result, Err(DriverError::Configuration { .. })));
    }
    assert_eq!(bar.tables.operations.len(), written, "no table is written");
    assert_eq!(regions.get(ONE), Ok(&region(ONE)));
    assert!(!regions.has_index(ONE >> 8 ^ 1));
}

/// More STags than slots: indices that share eight slots in each way.
#[test]
fn an_stag_without_a_slot_is_refused_and_leaves_nothing() {
    let shares = |index: &u32| {
        let hash = stag_hash(*index);
        (0..3).all(|way| hash_slot(hash, way) < 8)
    };
    let (mut regions, mut bar) = (RegionTable::default(), Hanging::default());
    let mut registered = Vec::new();
    for index in (1..1 << 24).filter(shares) {
        match regions.register(&mut bar, &region(index << 8)) {
            Ok(()) => registered.push(index),
            Err(error) => {
                assert_eq!(error, DriverError::HashFull { what: "STag" });
                assert!(!regions.has_index(index) && reachable(&bar, index).is_empty());
                assert!(registered.len() > 16, "{} found a slot", registered.len());
                for index in registered {
                    assert_eq!(reachable(&bar, index).len(), 1, "{index:#x}");
                }
                return;
            }
        }
    }
    panic!("{} STags in 24 slots", registered.len());
}

/// A peer's invalidation is in the device alone.
#[test]
fn validity_is_read_from_the_device() {
    let (mut regions, mut bar) = (RegionTable::default(), Hanging::default());
    with_one(&mut regions, &mut bar);
    for (word, is_valid) in [(1 << 31, true), (0, false)] {
        let entry = [word, 0, 0, 0];
        bar.tables.entries.insert((REGION, 0), entry);
        assert_eq!(regions.is_valid(&mut bar, ONE), Ok(is_valid));
    }
    let unknown = regions.is_valid(&mut bar, ONE ^ 1 << 8);
    assert!(matches!(unknown, Err(DriverError::Unknown { .. })));
}
