use super::*;
use crate::testing::memory::Memory;
use crate::testing::{connection_config, NoMemory, Tables};
use rnic_abi::cqe::{KIND_RECEIVE, PHASE};

/// A device with empty tables.
fn device() -> Device<Tables, NoMemory> {
    let config = Config {
        fresh: true,
        ..Config::default()
    };
    Device::open(Tables::default(), NoMemory, config).expect("opens")
}

fn region(stag: u32, connection: Option<Connection>) -> RegionConfig {
    RegionConfig {
        stag,
        rights: 0,
        protection_domain: connection_config().protection_domain,
        connection,
        tagged_offset: 0,
        octets: 4096,
        address: 0x1000,
    }
}

/// Stale entries of an earlier driver are all cleared, each before it could be read.
#[test]
fn opening_a_used_device_clears_the_tables_that_admit_peers() {
    let mut bar = Tables::default();
    let valid = [1 << 31; registers::TABLE_DATA_WORDS];
    for (table, entries) in CLEARED {
        for index in 0..entries {
            bar.written.insert((table, index), valid);
        }
    }
    let config = Config::default();
    assert!(!config.fresh, "by default the tables are cleared");
    let device = Device::open(bar, NoMemory, config).expect("opens");
    let valid = device.bar.written.values().filter(|words| words[0] != 0);
    assert_eq!(valid.count(), 0);
    let writes = device.bar.operations.len();
    let entries: u32 = CLEARED.iter().map(|(_, entries)| entries + 1).sum();
    assert_eq!(writes, entries as usize);
}

#[test]
fn opening_a_fresh_device_writes_no_table() {
    assert!(device().bar.operations.is_empty());
}

#[test]
fn another_device_or_revision_is_not_opened() {
    for register in [registers::IDENTITY, registers::REVISION] {
        let mut bar = Tables::default();
        bar.registers.insert(register, 0x1234);
        let opened = Device::open(bar, NoMemory, Config::default());
        match opened.expect_err("it is not this driver's device") {
            DriverError::Identity { found, .. } => {
                assert_eq!((register, found), (registers::IDENTITY, 0x1234));
            }
            DriverError::Revision { found, .. } => {
                assert_eq!((register, found), (registers::REVISION, 0x1234));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn without_memory_for_its_rings_a_device_is_not_opened() {
    for (allocations, missing) in [(0, "completion queue"), (1, "host receive ring")] {
        let memory = Memory::new(allocations);
        let opened = Device::open(Tables::default(), memory, Config::default());
        let error = opened.expect_err("there is no memory");
        let DriverError::OutOfMemory { name, octets } = &error else {
            panic!("{error}");
        };
        assert!(name == missing && *octets > 0, "{error}");
        assert!(error.to_string().contains(missing));
    }
}

#[test]
fn a_connection_closes_lookup_first_and_queues_last() {
    let mut device = device();
    let opened = device.open_connection(&connection_config());
    let connection = opened.expect("opens");
    let bound = region(0x0011_1111, Some(connection));
    device.register_region(&bound).expect("there is room");
    device.open_queue(connection, 0, 1).expect("there is room");
    device.bar.operations.clear();
    device.close_connection(connection).expect("closes");
    let order = [
        (tables::WRITE, tables::LOOKUP),
        (tables::RELEASE, tables::TCP),
        (tables::RELEASE, tables::MPA),
        (tables::WRITE, tables::REGION),
        (tables::WRITE, tables::REGION),
        (tables::WRITE, tables::STAG),
        (tables::WRITE, tables::QUEUE),
        (tables::WRITE, tables::QUEUE),
    ];
    assert_eq!(device.bar.operations, order);
    let unknown = device.close_connection(connection);
    assert!(matches!(unknown, Err(DriverError::Unknown { .. })));
}

#[test]
fn queues_and_windows_need_an_open_connection() {
    let mut device = device();
    let closed = Connection(9);
    let opened = device.open_queue(closed, 0, 1);
    assert!(matches!(opened, Err(DriverError::Unknown { .. })));
    let target = region(0x0011_1111, None);
    device.register_region(&target).expect("there is room");
    let window = WindowConfig {
        stag: 0x0022_2222,
        region: target.stag,
        connection: closed,
        rights: 0,
        tagged_offset: 0,
        offset: 0,
        octets: 1,
    };
    let bound = device.bind_window(&window);
    assert!(matches!(bound, Err(DriverError::Unknown { .. })));
}

#[test]
fn a_drawn_stag_has_an_index_without_a_region() {
    let mut device = device();
    for _ in 0..REGIONS {
        let stag = device.draw_stag().expect("random octets");
        let registered = device.register_region(&region(stag, None));
        registered.expect("a free index");
        let next = device.draw_next_key(stag).expect("random octets");
        assert!(next >> 8 == stag >> 8 && next != stag);
    }
    let unknown = device.draw_next_key(0);
    assert!(matches!(unknown, Err(DriverError::Unknown { .. })));
}

#[test]
fn a_polled_message_frees_its_queue_entry() {
    let config = Config {
        fresh: true,
        ..Config::default()
    };
    let mut device = Device::open(Tables::default(), Memory::new(2), config).expect("opens");
    let opened = device.open_connection(&connection_config());
    let connection = opened.expect("opens");
    device.open_queue(connection, 0, 0).expect("there is room");
    let buffer = DmaBuffer {
        address: 0x1000,
        octets: 64,
    };
    let first = device.post_receive(connection, 0, buffer);
    assert_eq!(first.map(|posted| posted.msn), Ok(1));
    let full = device.post_receive(connection, 0, buffer);
    assert!(matches!(full, Err(DriverError::QueueFull { .. })));
    let queue = device.completions.buffer().address;
    let word_0 = KIND_RECEIVE | u32::from(connection.0) << 16;
    for (word, offset) in [(word_0, 0), (1, 4), (PHASE, 28)] {
        device.dma.write(queue + offset, &u32::to_le_bytes(word));
    }
    let completion = device.poll_completion();
    assert!(matches!(
        completion,
        Some(Completion::Receive { msn: 1, .. })
    ));
    let second = device.post_receive(connection, 0, buffer);
    assert_eq!(second.map(|posted| posted.msn), Ok(2));
}
