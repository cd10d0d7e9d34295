//! Connections over a device that is only its tables.
use super::*;
use crate::testing::{connected, NoMemory, Tables};

#[test]
fn a_connection_loses_its_key_then_its_ranges_then_its_pages() {
    let (mut device, connection) = connected();
    device.bar.operations.clear();
    device.close_connection(connection).expect("closes");
    let order = [
        (tables::WRITE, tables::LOOKUP),
        (tables::RELEASE, tables::TCP),
        (tables::RELEASE, tables::MPA),
    ];
    assert_eq!(device.bar.operations[..3], order);
}

#[test]
fn early_ranges_begin_with_the_one_changed_last() {
    let (mut device, connection) = connected();
    let index = u32::from(connection.0);
    let read = |device: &mut Device<Tables, NoMemory>| {
        let ranges = device.early_ranges(connection).expect("an open connection");
        ranges
            .iter()
            .map(|range| (range.left, range.right))
            .collect::<Vec<_>>()
    };
    assert_eq!(read(&mut device), []);
    // Ranges 200, 7 and 255 in sequence order; 7 was changed last.
    let entries = &mut device.bar.entries;
    entries.insert((tables::EARLY, index), [200 | 3 << 8 | 7 << 16, 9, 5, 0]);
    entries.insert((tables::RANGE, 200), [10, 20, 7 | 1 << 8, 4]);
    entries.insert((tables::RANGE, 7), [30, 40, 255 | 1 << 8, 4]);
    entries.insert((tables::RANGE, 255), [0xffff_fff0, 60, 0, 1]);
    assert_eq!(read(&mut device), [(30, 40), (10, 20), (0xffff_fff0, 60)]);
    // The list became shorter between two accesses.
    device
        .bar
        .entries
        .insert((tables::RANGE, 7), [30, 40, 0, 4]);
    assert_eq!(read(&mut device), [(30, 40), (10, 20)]);
    // The range changed last is in order by now.
    device
        .bar
        .entries
        .insert((tables::EARLY, index), [200 | 2 << 8 | 9 << 16, 9, 5, 0]);
    assert_eq!(read(&mut device), [(10, 20), (30, 40)]);
}

#[test]
fn tcp_state_counts_the_ranges_beyond_rcv_nxt() {
    let (mut device, connection) = connected();
    let words = [77, 1 << 16, 5, 0x1234 | 1 << 16 | 16 << 17 | 0xff << 22];
    device
        .bar
        .entries
        .insert((tables::TCP, u32::from(connection.0)), words);
    let state = device.tcp_state(connection).expect("an open connection");
    let expected = TcpState {
        rcv_nxt: 77,
        seg_ack: 5,
        seg_wnd: 0x1234,
        fin_seen: true,
        ranges: 16,
    };
    assert_eq!(state, expected);
}
