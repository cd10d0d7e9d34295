use super::*;
use crate::device::config::Config;
use crate::testing::memory::Memory;
use crate::testing::{connection_config, NoMemory, Tables};
use rnic_abi::counters::ALL;
use rnic_abi::cqe::{KIND_RECEIVE, PHASE};
use rnic_abi::limits::{READ_QUEUE, REGIONS};
use rnic_abi::sizes::Sizes;
use rnic_abi::tables;
use std::cell::Cell;
use std::rc::Rc;

mod reserved;

/// All rings that a device can have.
fn with_transmit_rings() -> Config {
    Config {
        control_units_log2: 4,
        bulk_units_log2: 4,
        ..Config::default()
    }
}

/// A connection that is not open.
fn other_config() -> ConnectionConfig {
    let mut config = connection_config();
    config.key.remote.set_port(1001);
    config
}

/// A device with empty tables.
fn device() -> Device<Tables, NoMemory> {
    Device::open(Tables::default(), NoMemory, Config::default()).expect("opens")
}

/// Allocations of a [`Lent`].
#[derive(Copy, Clone, Debug, Default)]
struct Pool {
    allocated: usize,
    freed: usize,
    /// All of it was unmapped.
    dropped: bool,
}

/// Memory that is unmapped when it is dropped.
#[derive(Debug)]
struct Lent(Rc<Cell<Pool>>);

impl Dma for Lent {
    fn allocate(&mut self, _: &str, octets: usize, _: u64) -> Result<DmaBuffer, DriverError> {
        let mut pool = self.0.get();
        pool.allocated += 1;
        self.0.set(pool);
        let address = 4096 * pool.allocated as u64;
        Ok(DmaBuffer { address, octets })
    }

    fn free(&mut self, _: DmaBuffer) {
        let mut pool = self.0.get();
        pool.freed += 1;
        self.0.set(pool);
    }

    fn read_u32_acquire(&self, _: u64) -> u32 {
        0
    }

    fn read(&self, _: u64, out: &mut [u8]) {
        out.fill(0);
    }

    fn write(&mut self, _: u64, _: &[u8]) {}
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut pool = self.0.get();
        pool.dropped = true;
        self.0.set(pool);
    }
}

fn region(stag: u32, connection: Option<ConnectionId>) -> RegionConfig {
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

/// Entries, registers and counts of an earlier driver.
fn used() -> Tables {
    let mut bar = Tables {
        reset_reads: 400,
        ..Tables::default()
    };
    let valid = [1 << 31; registers::TABLE_DATA_WORDS];
    for table in [tables::LOOKUP, tables::STAG, tables::REGION, tables::QUEUE] {
        bar.written.insert((table, 7), valid);
    }
    bar.registers
        .insert(registers::CONTROL, registers::CONTROL_ENABLE);
    bar.registers.insert(registers::CQ_CONSUMER, 99);
    bar.counters.insert(ALL[2].index(), 5);
    bar
}

#[test]
fn opening_resets_a_device_that_was_used() {
    let mut device = Device::open(used(), NoMemory, Config::default()).expect("opens");
    let bar = device.bar.double();
    assert_eq!((bar.resets, bar.written.len()), (1, 0));
    assert!(bar.operations.is_empty(), "no table is written");
    assert_eq!(bar.registers[&registers::CQ_CONSUMER], 0);
    assert_eq!(
        bar.registers[&registers::CONTROL],
        registers::CONTROL_ENABLE
    );
    assert_eq!(device.counter(ALL[2]), Ok(0), "counts begin at the opening");
    device.bar.double().counters.insert(ALL[2].index(), 6);
    assert_eq!(device.counter(ALL[2]), Ok(1));
}

fn is_exhausted(error: Option<&DriverError>, at: usize) -> bool {
    matches!(error, Some(DriverError::Exhausted { limit, .. }) if *limit == at)
}

#[test]
fn a_smaller_build_has_fewer_connections_and_regions() {
    let mut bar = Tables::default();
    let sizes = Sizes::new(256, 512).expect("a build");
    bar.registers
        .insert(registers::CAPABILITIES, sizes.encode());
    let mut device = Device::open(bar, NoMemory, Config::default()).expect("opens");
    assert_eq!(device.sizes(), sizes);
    for port in 0..=256 {
        let mut config = connection_config();
        config.key.remote.set_port(port);
        let opened = device.open_connection(&config);
        assert_eq!(
            is_exhausted(opened.as_ref().err(), 256),
            port == 256,
            "{opened:?}"
        );
    }
    for number in 0..=512 {
        let registered = device.register_region(&region(number << 8, None));
        assert_eq!(is_exhausted(registered.as_ref().err(), 512), number == 512);
    }
}

#[test]
fn another_device_or_revision_is_not_opened() {
    for register in [
        registers::IDENTITY,
        registers::REVISION,
        registers::CAPABILITIES,
    ] {
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
            DriverError::Sizes { capabilities } => {
                assert_eq!((register, capabilities), (registers::CAPABILITIES, 0x1234));
            }
            other => panic!("{other}"),
        }
    }
}

/// All ones is neither another device nor another revision.
#[test]
fn a_device_that_is_gone_is_not_opened() {
    let bar = Tables {
        gone_after: Some(0),
        ..Tables::default()
    };
    let opened = Device::open(bar, NoMemory, Config::default());
    assert_eq!(opened.err(), Some(DriverError::Gone));
}

/// What a device whose reset does not end was given is not given to anybody else.
#[test]
fn memory_is_freed_only_after_a_reset() {
    for (reset_reads, gone_after, expected) in [
        (400, None, None),
        (u32::MAX, None, Some(DriverError::ResetTimeout)),
        (400, Some(20), Some(DriverError::Gone)),
    ] {
        let pool = Rc::new(Cell::new(Pool::default()));
        let lent = Lent(Rc::clone(&pool));
        let opened = Device::open(Tables::default(), lent, with_transmit_rings());
        let mut device = opened.expect("opens");
        let bar = device.bar.double();
        bar.reset_reads = reset_reads;
        bar.gone_after = gone_after;
        let closed = device.close();
        let held = match closed {
            Ok((bar, dma)) => {
                assert_eq!((expected, bar.resets), (None, 2));
                let pool = pool.get();
                drop(dma);
                pool
            }
            Err(error) => {
                assert_eq!(expected, Some(error));
                let Pool { freed, dropped, .. } = pool.get();
                assert_eq!((freed, dropped), (0, false), "its memory stays mapped");
                continue;
            }
        };
        assert_eq!((held.allocated, held.freed), (5, 5));
    }
}

/// The device goes at each register access of an opening: either nothing was allocated, or the
/// memory stays mapped.
#[test]
fn memory_of_an_opening_that_fails_is_not_given_to_others() {
    let (mut before, mut after) = (0, 0);
    for gone_after in 0.. {
        let pool = Rc::new(Cell::new(Pool::default()));
        let bar = Tables {
            gone_after: Some(gone_after),
            ..Tables::default()
        };
        match Device::open(bar, Lent(Rc::clone(&pool)), Config::default()) {
            Ok(_) => break,
            Err(error) => assert_eq!(error, DriverError::Gone),
        }
        match pool.get() {
            Pool { allocated: 0, .. } => before += 1,
            held => {
                after += 1;
                assert_eq!((held.freed, held.dropped), (0, false));
            }
        }
    }
    assert!(before > ALL.len() && after > 10, "{before}, {after}");
}

/// The device goes at each register access of each call: the call fails, and with it every later
/// one, without an access. A call that only writes does not notice; the next one that reads does.
#[test]
fn nothing_is_done_with_a_device_that_is_gone() {
    type Call = fn(&mut Device<Tables, NoMemory>, ConnectionId) -> Result<(), DriverError>;
    const STAG: u32 = 0x0011_1111;
    const BUFFER: DmaBuffer = DmaBuffer {
        address: 0x1000,
        octets: 64,
    };
    let calls: [Call; 17] = [
        |device, _| device.check_present(),
        |device, _| device.frame_path_bits().map(drop),
        |device, _| device.free_pages().map(drop),
        |device, _| device.in_use().map(drop),
        |device, _| device.counters().map(drop),
        |device, _| device.counter(ALL[0]).map(drop),
        |device, connection| device.tcp_state(connection).map(drop),
        |device, connection| device.out_of_order_ranges(connection).map(drop),
        |device, _| device.table_entry(tables::TCP, 0).map(drop),
        |device, _| device.region_valid(STAG).map(drop),
        |device, _| device.renew_region(&region(STAG, None)),
        |device, _| device.register_region(&region(0x0022_2222, None)),
        |device, connection| device.open_queue(connection, 1, 1),
        |device, _| {
            device
                .reserve_connection(&other_config().reservation())
                .map(drop)
        },
        |device, _| device.open_connection(&other_config()).map(drop),
        |device, connection| device.post_receive(connection, 0, BUFFER).map(drop),
        |device, connection| device.close_connection(connection),
    ];
    for (number, call) in calls.iter().enumerate() {
        let mut failures = 0;
        for gone_after in 0.. {
            let mut device = device();
            let connection = device.open_connection(&connection_config());
            let connection = connection.expect("opens");
            let registered = device.register_region(&region(STAG, None));
            registered.expect("there is room");
            device.open_queue(connection, 0, 1).expect("there is room");
            device.bar.double().gone_after = Some(gone_after);
            let result = call(&mut device, connection);
            let went_on = result.is_ok();
            let result = match went_on && device.bar.double().gone_after == Some(0) {
                true => device.check_present(),
                false => result,
            };
            if result.is_ok() {
                break;
            }
            failures += 1;
            assert_eq!(result, Err(DriverError::Gone), "call {number}");
            let accesses = device.bar.double().accesses;
            for (later, call) in calls.iter().enumerate() {
                let result = call(&mut device, connection);
                assert_eq!(
                    result,
                    Err(DriverError::Gone),
                    "call {later} after {number}"
                );
            }
            assert_eq!(device.poll_completion(), None);
            assert_eq!(device.poll_host_frame(), None);
            assert_eq!(device.bar.double().accesses, accesses, "call {number}");
            let is_there = device.regions.has_index(0x22_22);
            assert!(went_on || !is_there, "call {number}");
        }
        assert!(failures > 0, "call {number} makes no access");
    }
}

#[test]
fn without_memory_for_its_rings_a_device_is_not_opened() {
    for (allocations, missing) in [
        (0, "completion queue"),
        (1, "host receive ring"),
        (2, "event ring"),
        (3, "control transmit ring"),
        (4, "bulk transmit ring"),
    ] {
        let memory = Memory::new(allocations);
        let opened = Device::open(Tables::default(), memory, with_transmit_rings());
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
    device.bar.double().operations.clear();
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
    assert_eq!(device.bar.double().operations, order);
    let unknown = device.close_connection(connection);
    assert!(matches!(unknown, Err(DriverError::Unknown { .. })));
}

/// Register accesses of a call over a BAR that costs nothing: writes and reads.
fn cost<T>(
    device: &mut Device<Tables, NoMemory>,
    call: impl FnOnce(&mut Device<Tables, NoMemory>) -> Result<T, DriverError>,
) -> (T, (usize, usize)) {
    let count = |device: &mut Device<Tables, NoMemory>| {
        let double = device.bar.double();
        (double.accesses, double.reads)
    };
    let (accesses, reads) = count(device);
    let result = call(device).expect("the device takes it");
    let now = count(device);
    let reads = now.1 - reads;
    (result, (now.0 - accesses - reads, reads))
}

/// What a connection costs a driver, and each of its buffers, with all four queues open. A read
/// takes as long as the bus takes both ways; a write is posted.
#[test]
fn calls_cost_as_few_accesses_as_they_can() {
    let mut device = device();
    let (connection, opened) = cost(&mut device, |device| {
        device.open_connection(&connection_config())
    });
    for qn in 0..4 {
        let (_, queue) = cost(&mut device, |device| device.open_queue(connection, qn, 2));
        assert_eq!(queue, (3, 0), "queue {qn}");
    }
    let buffer = DmaBuffer {
        address: 0x1000,
        octets: 64,
    };
    let (_, posted) = cost(&mut device, |device| {
        device.post_receive(connection, 0, buffer)
    });
    let (_, read) = cost(&mut device, |device| device.post_read(connection, 0, 0, 0));
    let bound = region(0x0011_1111, None);
    let (_, registered) = cost(&mut device, |device| device.register_region(&bound));
    let (_, removed) = cost(&mut device, |device| device.deregister_region(bound.stag));
    let (_, closed) = cost(&mut device, |device| device.close_connection(connection));
    println!(
        "register writes and reads of a call, once with every table entry of ten words, and now"
    );
    for (name, before, now, most) in [
        ("open a connection", (88, 9), opened, (44, 4)),
        ("post a receive", (22, 2), posted, (4, 0)),
        ("post a read", (22, 2), read, (4, 0)),
        ("register a region", (22, 2), registered, (12, 0)),
        ("deregister it", (33, 3), removed, (12, 2)),
        ("close the connection", (101, 12), closed, (50, 6)),
    ] {
        println!(
            "{name:22} {:3} + {:2}  {:3} + {:2}",
            before.0, before.1, now.0, now.1
        );
        assert!(now.0 <= most.0 && now.1 <= most.1, "{name}: {now:?}");
    }
}

/// Its completions, too, are in the queue when the call returns: a write of table QUEUE is fenced.
#[test]
fn a_connection_without_queues_closes_after_the_release_and_a_fence() {
    let mut device = device();
    let opened = device.open_connection(&connection_config());
    device.bar.double().operations.clear();
    let closed = device.close_connection(opened.expect("opens"));
    closed.expect("closes");
    let order = [
        (tables::WRITE, tables::LOOKUP),
        (tables::RELEASE, tables::TCP),
        (tables::RELEASE, tables::MPA),
        (tables::WRITE, tables::QUEUE),
        (tables::WRITE, tables::QUEUE),
    ];
    assert_eq!(device.bar.double().operations, order);
}

#[test]
fn queues_and_windows_need_an_open_connection() {
    let mut device = device();
    let closed = ConnectionId(9);
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
fn a_read_has_no_sink_of_32_gib() {
    let mut device = device();
    let connection = device.open_connection(&connection_config()).expect("opens");
    let opened = device.open_queue(connection, READ_QUEUE as u32, 1);
    opened.expect("the pool has room");
    for (stag, octets, fits) in [(0x100, (1 << 35) - 1, true), (0x200, 1 << 35, false)] {
        let sink = RegionConfig {
            octets,
            ..region(stag, None)
        };
        device.register_region(&sink).expect("there is room");
        let posted = device.post_read(connection, stag, sink.tagged_offset, 1);
        assert_eq!(posted.is_ok(), fits, "{posted:?}");
    }
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
    let opened = Device::open(Tables::default(), Memory::new(3), Config::default());
    let mut device = opened.expect("opens");
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
    let queue = device
        .completions
        .buffers()
        .next()
        .expect("queue 0")
        .address;
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

/// DDP-058: a completion queue without room for what could arrive refuses it before the device
/// hears of it.
#[test]
fn what_could_overflow_a_completion_queue_is_not_opened() {
    let opened = Device::open(Tables::default(), Memory::new(4), Config::default());
    let mut device = opened.expect("opens");
    let queue = QueueId(9);
    let mut config = ConnectionConfig {
        completion_queue: queue,
        ..connection_config()
    };
    let unknown = device.open_connection(&config);
    assert!(matches!(unknown, Err(DriverError::Unknown { id: 9, .. })));
    let polled = device.poll_completion_queue(queue);
    assert!(matches!(polled, Err(DriverError::Unknown { id: 9, .. })));
    device.create_completion_queue(queue, 2).expect("it is new");
    let connection = device.open_connection(&config).expect("it has room");
    let context = device.bar.double().written[&(tables::DDP, u32::from(connection.0))];
    assert_eq!(context[0], 3 | 1 << 16 | 9 << 17);
    device.open_queue(connection, 0, 1).expect("it has room");
    device.bar.double().operations.clear();
    let too_many = |needed| DriverError::CompletionQueueSize {
        queue: 9,
        entries: 4,
        needed,
    };
    let refused = device.open_queue(connection, READ_QUEUE as u32, 1);
    assert_eq!(refused, Err(too_many(5)));
    device.open_queue(connection, 1, 0).expect("it has room");
    config.key.remote.set_port(9);
    assert_eq!(device.open_connection(&config), Err(too_many(5)));
    let beyond = device.open_queue(connection, 2, 40);
    assert!(matches!(beyond, Err(DriverError::Configuration { .. })));
    assert_eq!(
        device.bar.double().operations,
        [(tables::WRITE, tables::QUEUE)],
        "only queue 1 was opened"
    );
    device.close_connection(connection).expect("closes");
    let opened = device.open_connection(&config);
    opened.expect("the closed one has left nothing");
    assert_eq!(device.poll_completion_queue(queue), Ok(None));
    assert_eq!(device.overflowed_queues(), Ok(vec![]));
    device
        .bar
        .double()
        .registers
        .insert(registers::CQ_OVERFLOW, 1 << 9);
    assert_eq!(device.overflowed_queues(), Ok(vec![queue]));
}
