use super::*;
use crate::device::ids::QueueId;
use crate::testing::hanging::Hanging;
use crate::testing::{connection_config, Tables};

/// Reserve and activate.
fn open(
    connections: &mut ConnectionTable,
    bar: &mut impl Registers,
    config: &ConnectionConfig,
) -> Result<(ConnectionId, u32), DriverError> {
    let connection = connections.reserve(bar, &config.reservation())?;
    let events_written = connections.activate(bar, connection, config);
    if events_written.is_err() {
        connections.forget(connection);
    }
    Ok((connection, events_written?))
}

/// A table with one connection, and its device.
fn opened() -> (ConnectionTable, Tables, ConnectionId) {
    let (mut connections, mut bar) = (ConnectionTable::default(), Tables::default());
    let opened = open(&mut connections, &mut bar, &connection_config());
    let (connection, _) = opened.expect("the table is empty");
    bar.operations.clear();
    (connections, bar, connection)
}

#[test]
fn the_lookup_entry_is_written_last_and_removed_first() {
    let (mut connections, mut bar) = (ConnectionTable::default(), Tables::default());
    let opened = open(&mut connections, &mut bar, &connection_config());
    let (connection, _) = opened.expect("the table is empty");
    let is_lookup = |&(_, table): &(u32, u32)| table == tables::LOOKUP;
    let lookup = bar.operations.iter().position(is_lookup);
    assert_eq!(lookup, Some(bar.operations.len() - 1));
    assert_eq!(lookup, Some(3 + QUEUE_SLOTS));
    bar.operations.clear();
    connections.stop(&mut bar, connection).expect("it is open");
    let order = [
        (tables::WRITE, tables::LOOKUP),
        (tables::RELEASE, tables::TCP),
        (tables::RELEASE, tables::MPA),
    ];
    assert_eq!(bar.operations, order);
}

/// Each table operation of an opening hangs, before or after its effect: no frame finds the
/// connection, and it can be opened as if nothing had been.
#[test]
fn a_connection_whose_opening_hangs_is_in_no_table() {
    let mut failures = 0;
    for takes_effect in [false, true] {
        for hangs_after in 0.. {
            let mut bar = Hanging {
                takes_effect,
                hangs_after: Some(hangs_after),
                ..Hanging::default()
            };
            let mut connections = ConnectionTable::default();
            let opened = open(&mut connections, &mut bar, &connection_config());
            if opened.is_ok() {
                break;
            }
            failures += 1;
            bar.hangs_after = None;
            let lookup = bar.tables.written.iter();
            let mut lookup = lookup.filter(|((table, _), _)| *table == tables::LOOKUP);
            assert!(lookup.all(|(_, words)| words[0] >> 31 == 0));
            let config = connections.config(ConnectionId(0));
            assert!(matches!(config, Err(DriverError::Unknown { .. })));
            let again = open(&mut connections, &mut bar, &connection_config());
            assert_eq!(again, Ok((ConnectionId(0), 0)));
        }
    }
    assert_eq!(failures, 2 * 3, "TCP, MPA, and the lookup's");
}

#[test]
fn a_window_is_written_alone_and_within_its_limits() {
    let (mut connections, mut bar, connection) = opened();
    for window in [1, 1 << 30] {
        connections
            .set_window(&mut bar, connection, window)
            .expect("it is open");
        assert_eq!(bar.operations, [(tables::WRITE, tables::TCP_WINDOW)]);
        assert_eq!(
            connections.config(connection).map(|config| config.window),
            Ok(window)
        );
        bar.operations.clear();
    }
    for window in [0, (1 << 30) + 1] {
        let refused = connections.set_window(&mut bar, connection, window);
        assert!(matches!(refused, Err(DriverError::Configuration { .. })));
    }
    let closed = connections.set_window(&mut bar, ConnectionId(9), 1);
    assert!(matches!(closed, Err(DriverError::Unknown { .. })));
    assert!(bar.operations.is_empty());
}

/// The queues are written first, and with them what the device has of a reserved connection.
#[test]
fn a_reserved_connection_has_queues_and_nothing_else() {
    let (mut connections, mut bar) = (ConnectionTable::default(), Tables::default());
    let config = connection_config();
    let reserved = connections.reserve(&mut bar, &config.reservation());
    let connection = reserved.expect("the table is empty");
    assert_eq!(
        bar.operations,
        [(tables::WRITE, tables::QUEUE); QUEUE_SLOTS]
    );
    bar.operations.clear();
    let reserved = || DriverError::Reserved { connection: 0 };
    assert_eq!(connections.config(connection), Err(reserved()));
    let state = connections.tcp_state(&mut bar, connection);
    assert_eq!(state, Err(reserved()), "that of an earlier one");
    let window = connections.set_window(&mut bar, connection, 1);
    assert_eq!(window, Err(reserved()));
    assert_eq!(connections.iter().count(), 0);
    let again = connections.reserve(&mut bar, &config.reservation());
    assert!(matches!(again, Err(DriverError::Duplicate { .. })));
    assert!(bar.operations.is_empty());
    assert_eq!(
        connections.reservation(connection),
        Ok(config.reservation())
    );
    connections.stop(&mut bar, connection).expect("it is there");
    connections.forget(connection);
    let again = connections.reserve(&mut bar, &config.reservation());
    assert_eq!(again, Ok(connection));
}

/// With other ends, another domain or queue, a second time, or of an id that is free.
#[test]
fn a_connection_is_activated_once_and_as_it_was_reserved() {
    let (mut connections, mut bar) = (ConnectionTable::default(), Tables::default());
    let config = connection_config();
    let reserved = connections.reserve(&mut bar, &config.reservation());
    let connection = reserved.expect("the table is empty");
    bar.operations.clear();
    let mut other_key = config;
    other_key.key.local.set_port(2001);
    for other in [
        other_key,
        ConnectionConfig {
            protection_domain: 4,
            ..config
        },
        ConnectionConfig {
            completion_queue: QueueId(1),
            ..config
        },
    ] {
        let refused = connections.activate(&mut bar, connection, &other);
        assert!(matches!(refused, Err(DriverError::Activation { .. })));
    }
    let unknown = connections.activate(&mut bar, ConnectionId(1), &config);
    assert!(matches!(unknown, Err(DriverError::Unknown { id: 1, .. })));
    assert!(bar.operations.is_empty());
    connections
        .activate(&mut bar, connection, &config)
        .expect("it is as it was reserved");
    let tcp = [1, 1 << 16, 0x0a0b_0c0d, 0xfedc];
    assert_eq!(bar.written[&(tables::TCP, 0)][..4], tcp);
    bar.operations.clear();
    let again = connections.activate(&mut bar, connection, &config);
    assert!(matches!(again, Err(DriverError::Activation { .. })));
    assert!(bar.operations.is_empty());
}

#[test]
fn the_events_written_before_an_opening_are_returned() {
    let (mut connections, mut bar) = (ConnectionTable::default(), Tables::default());
    bar.registers.insert(registers::EVENT_PRODUCER, 77);
    let opened = open(&mut connections, &mut bar, &connection_config());
    assert_eq!(opened, Ok((ConnectionId(0), 77)));
}

#[test]
fn an_id_is_used_again_only_when_forgotten() {
    let (mut connections, mut bar, first) = opened();
    let again = open(&mut connections, &mut bar, &connection_config());
    assert!(matches!(again, Err(DriverError::Duplicate { .. })));
    connections.stop(&mut bar, first).expect("it is open");
    let mut other = connection_config();
    other.key.remote.set_port(1001);
    let (second, _) = open(&mut connections, &mut bar, &other).expect("ids are free");
    assert_ne!(second, first);
    connections.stop(&mut bar, first).expect("stopping repeats");
    connections.forget(first);
    let unknown = connections.stop(&mut bar, first);
    assert!(matches!(unknown, Err(DriverError::Unknown { .. })));
    let third = open(&mut connections, &mut bar, &connection_config());
    assert_eq!(third, Ok((first, 0)));
}

/// The release hangs: the id stays in use, and everything that the checks go by stays as it is.
#[test]
fn an_id_is_not_free_before_the_release_is_answered() {
    let (mut connections, mut bar) = (ConnectionTable::default(), Hanging::default());
    let opened = open(&mut connections, &mut bar, &connection_config());
    let (connection, _) = opened.expect("opens");
    // The lookup entry and table TCP are answered.
    bar.hangs_after = Some(2);
    let stopped = connections.stop(&mut bar, connection);
    let release = (tables::RELEASE, tables::MPA);
    assert!(
        matches!(stopped, Err(DriverError::TableTimeout { operation, table, .. })
            if (operation, table) == release),
        "{stopped:?}"
    );
    bar.hangs_after = None;
    let mut other = connection_config();
    other.key.remote.set_port(1001);
    let next = open(&mut connections, &mut bar, &other);
    assert_ne!(next.expect("ids are free").0, connection);
}

#[test]
fn parameters_that_the_device_lacks_are_refused() {
    let (mut connections, mut bar) = (ConnectionTable::default(), Tables::default());
    let config = connection_config();
    let reserved = connections.reserve(&mut bar, &config.reservation());
    let connection = reserved.expect("the table is empty");
    bar.operations.clear();
    for refused in [
        ConnectionConfig {
            window: 0,
            ..config
        },
        ConnectionConfig {
            window: (1 << 30) + 1,
            ..config
        },
        ConnectionConfig {
            version: 2,
            ..config
        },
    ] {
        let opened = connections.activate(&mut bar, connection, &refused);
        assert!(matches!(opened, Err(DriverError::Configuration { .. })));
    }
    assert!(bar.operations.is_empty());
}

#[test]
fn out_of_order_ranges_begin_with_the_one_changed_last() {
    let (connections, mut bar, connection) = opened();
    let index = u32::from(connection.0);
    let read = |bar: &mut Tables| {
        let ranges = connections.out_of_order_ranges(bar, connection);
        let ranges = ranges.expect("an open connection");
        let pairs = ranges.iter().map(|range| (range.left, range.right));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(read(&mut bar), []);
    // Ranges 200, 7 and 255 in sequence order; 7 was changed last.
    let entries = &mut bar.entries;
    entries.insert(
        (tables::OUT_OF_ORDER, index),
        [200 | 3 << 8 | 7 << 16, 9, 5, 0],
    );
    entries.insert((tables::RANGE, 200), [10, 20, 7 | 1 << 8, 4]);
    entries.insert((tables::RANGE, 7), [30, 40, 255 | 1 << 8, 4]);
    entries.insert((tables::RANGE, 255), [0xffff_fff0, 60, 0, 1]);
    assert_eq!(read(&mut bar), [(30, 40), (10, 20), (0xffff_fff0, 60)]);
    // The list became shorter between two operations.
    bar.entries.insert((tables::RANGE, 7), [30, 40, 0, 4]);
    assert_eq!(read(&mut bar), [(30, 40), (10, 20)]);
    // The range changed last has become in order.
    bar.entries.insert(
        (tables::OUT_OF_ORDER, index),
        [200 | 2 << 8 | 9 << 16, 9, 5, 0],
    );
    assert_eq!(read(&mut bar), [(10, 20), (30, 40)]);
}

#[test]
fn tcp_and_out_of_order_state_are_decoded_field_by_field() {
    let (connections, mut bar, connection) = opened();
    let index = u32::from(connection.0);
    let words = [77, 1 << 16, 5, 0x1234 | 1 << 16 | 16 << 17 | 0xff << 22];
    bar.entries.insert((tables::TCP, index), words);
    let state = connections.tcp_state(&mut bar, connection);
    let expected = TcpState {
        rcv_nxt: 77,
        seg_ack: 5,
        seg_wnd: 0x1234,
        fin_seen: true,
        ranges: 16,
    };
    assert_eq!(state, Ok(expected));
    bar.entries
        .insert((tables::OUT_OF_ORDER, index), [0, 0xfe09, 0xff05, 0]);
    let state = connections.out_of_order_state(&mut bar, connection);
    let expected = OutOfOrderState {
        pages: 0x209,
        duplicate_acks: 5,
    };
    assert_eq!(state, Ok(expected));
}
