//! Windows: what may be bound, what a bound window holds back, and what closes with a connection.
use super::*;
use crate::testing::Tables;
use rnic_abi::tables::{RIGHT_REMOTE_INVALIDATE, RIGHT_STREAM_BOUND};

const CONNECTION: ConnectionId = ConnectionId(6);
const DOMAIN: u16 = 3;
const REGION_STAG: u32 = 0x0011_1111;
const WINDOW_STAG: u32 = 0x0022_2222;

fn region() -> RegionConfig {
    RegionConfig {
        stag: REGION_STAG,
        rights: 0,
        protection_domain: DOMAIN,
        connection: None,
        tagged_offset: 0x5000,
        octets: 0x1000,
        address: 0x9_0000,
    }
}

fn window() -> WindowConfig {
    WindowConfig {
        stag: WINDOW_STAG,
        region: REGION_STAG,
        connection: CONNECTION,
        rights: RIGHT_REMOTE_WRITE,
        tagged_offset: 0,
        offset: 0x800,
        octets: 0x800,
    }
}

/// A window is opened by writes alone, and closed by two that wait: each hangs, and the window is
/// still known, so that its region cannot go.
#[test]
fn a_window_whose_unbinding_hangs_is_still_known() {
    let failures = each_hanging(
        |regions, bar| {
            regions.register(bar, &region()).expect("there is room");
            let (accesses, reads) = (bar.tables.accesses, bar.tables.reads);
            regions.bind(bar, &window(), DOMAIN).expect("it is inside");
            assert_eq!(bar.tables.accesses - accesses, 12);
            assert_eq!(bar.tables.reads, reads);
        },
        |regions, bar| regions.unbind(bar, WINDOW_STAG),
        |regions, bar| {
            assert!(regions.has_index(WINDOW_STAG >> 8));
            let removed = regions.deregister(bar, REGION_STAG);
            assert!(matches!(removed, Err(DriverError::Window { .. })));
            assert_eq!(regions.unbind(bar, WINDOW_STAG), Ok(()));
            assert!(reachable(bar, WINDOW_STAG >> 8).is_empty());
            let removed = regions.deregister(bar, REGION_STAG);
            assert_eq!(removed, Ok(()), "it has no windows");
        },
    );
    assert_eq!(failures, 2 * 2, "the two writes of the window's entry");
}

/// What a peer has invalidated is not valid when the completion says so: the window is closed by
/// the write of its STag alone, nothing is waited for, and its entry and its STag are free again.
#[test]
fn a_window_that_a_peer_has_invalidated_is_closed_by_one_write() {
    let (mut regions, mut bar) = with_window();
    bar.written.get_mut(&(REGION, 1)).expect("the window's")[0] &= !(1 << 31);
    regions.note_invalidated(WINDOW_STAG ^ 1);
    regions.note_invalidated(WINDOW_STAG);
    let (operations, fences) = (bar.operations.len(), bar.fences.len());
    regions.unbind(&mut bar, WINDOW_STAG).expect("it is bound");
    assert_eq!(bar.operations.len() - operations, 1);
    assert_eq!(bar.fences.len(), fences);
    let is_stag = |(&(table, _), words): (&(u32, Index), &[u32; 10])| {
        table == STAG && words[0] >> 31 == 1 && words[1] == WINDOW_STAG >> 8
    };
    assert!(!bar.written.iter().any(is_stag), "no STag leads to it");
    // The next one is no window that a peer has invalidated.
    let bound = regions.bind(&mut bar, &window(), DOMAIN);
    bound.expect("its entry is free");
    let operations = bar.operations.len();
    regions.unbind(&mut bar, WINDOW_STAG).expect("it is bound");
    assert_eq!(bar.operations.len() - operations, 3);
    regions
        .deregister(&mut bar, REGION_STAG)
        .expect("no window is left");
}

/// A region and a window of it.
fn with_window() -> (RegionTable, Tables) {
    let (mut regions, mut bar) = (RegionTable::default(), Tables::default());
    regions
        .register(&mut bar, &region())
        .expect("there is room");
    let bound = regions.bind(&mut bar, &window(), DOMAIN);
    bound.expect("it is inside");
    (regions, bar)
}

fn is_refused(regions: &mut RegionTable, bar: &mut Tables, config: &WindowConfig) -> bool {
    let bound = regions.bind(bar, config, DOMAIN);
    matches!(bound, Err(DriverError::Window { .. }))
}

/// DDP-048: the entry names one connection, and the window's part of the region.
#[test]
fn a_window_is_a_region_bound_to_its_connection() {
    let (_, bar) = with_window();
    let words = bar.written[&(REGION, 1)];
    assert_eq!(words[0] & 0x1f, RIGHT_REMOTE_WRITE | RIGHT_STREAM_BOUND);
    assert_eq!(words[1] >> 16, u32::from(CONNECTION.0));
    assert_eq!((words[2], words[4]), (0, 0x800));
    assert_eq!(words[6], 0x9_0800);
}

#[test]
fn a_window_ends_at_its_regions_last_octet_at_most() {
    let (mut regions, mut bar) = (RegionTable::default(), Tables::default());
    regions
        .register(&mut bar, &region())
        .expect("there is room");
    for (offset, octets) in [(0x800, 0x801), (0x1001, 0), (u64::MAX, 2), (2, u64::MAX)] {
        let config = WindowConfig {
            offset,
            octets,
            ..window()
        };
        let bound = regions.bind(&mut bar, &config, DOMAIN);
        let is_outside = matches!(bound, Err(DriverError::Configuration { .. }));
        assert!(is_outside, "{offset:#x}, {octets:#x}");
    }
    let whole = WindowConfig {
        offset: 0,
        octets: 0x1000,
        ..window()
    };
    let bound = regions.bind(&mut bar, &whole, DOMAIN);
    bound.expect("it is inside");
}

#[test]
fn a_region_cannot_change_while_it_has_windows() {
    let (mut regions, mut bar) = with_window();
    for stag in [REGION_STAG, WINDOW_STAG] {
        let renewed = regions.renew(&mut bar, &RegionConfig { stag, ..region() });
        let gone = regions.deregister(&mut bar, stag);
        for result in [renewed, gone] {
            let is_refused = matches!(result, Err(DriverError::Window { .. }));
            assert!(is_refused, "{stag:#x}");
        }
    }
    regions.unbind(&mut bar, WINDOW_STAG).expect("it is bound");
    let gone = regions.deregister(&mut bar, REGION_STAG);
    gone.expect("it has no window");
    let again = regions.unbind(&mut bar, WINDOW_STAG);
    assert!(matches!(again, Err(DriverError::Unknown { .. })));
}

#[test]
fn a_window_needs_a_region_that_its_connection_may_use() {
    let (mut regions, mut bar) = with_window();
    let another = WindowConfig {
        stag: 0x0033_3333,
        ..window()
    };
    let within = WindowConfig {
        region: WINDOW_STAG,
        ..another
    };
    assert!(is_refused(&mut regions, &mut bar, &within), "in a window");
    let old_key = WindowConfig {
        region: REGION_STAG ^ 1,
        ..another
    };
    assert!(is_refused(&mut regions, &mut bar, &old_key), "another key");
    let foreign = RegionConfig {
        stag: 0x0044_4444,
        protection_domain: DOMAIN + 1,
        ..region()
    };
    let bound = RegionConfig {
        stag: 0x0055_5555,
        connection: Some(ConnectionId(CONNECTION.0 + 1)),
        ..region()
    };
    let open_to_peers = RegionConfig {
        stag: 0x0066_6666,
        rights: RIGHT_REMOTE_INVALIDATE,
        ..region()
    };
    for config in [foreign, bound, open_to_peers] {
        regions.register(&mut bar, &config).expect("there is room");
        let region = config.stag;
        let window = WindowConfig { region, ..another };
        assert!(is_refused(&mut regions, &mut bar, &window), "{config:?}");
    }
    let second = regions.bind(&mut bar, &another, DOMAIN);
    second.expect("a region may have several windows");
}

/// The next connection with that id finds none of it.
#[test]
fn what_is_bound_to_a_connection_is_removed_with_it() {
    let (mut regions, mut bar) = with_window();
    let bound = RegionConfig {
        stag: 0x0077_7777,
        connection: Some(CONNECTION),
        ..region()
    };
    regions.register(&mut bar, &bound).expect("there is room");
    let removed = regions.remove_bound(&mut bar, CONNECTION);
    removed.expect("both are known");
    let is_valid = |entry| bar.written[&(REGION, entry)][0] >> 31 == 1;
    assert_eq!([0, 1, 2].map(is_valid), [true, false, false]);
    let gone = regions.deregister(&mut bar, REGION_STAG);
    gone.expect("no window is left");
}

#[test]
fn without_a_region_there_is_no_window() {
    let (mut regions, mut bar) = (RegionTable::default(), Tables::default());
    let bound = regions.bind(&mut bar, &window(), DOMAIN);
    assert!(matches!(bound, Err(DriverError::Unknown { .. })));
}
