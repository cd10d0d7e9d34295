use super::*;
use crate::testing::memory::Memory;
use crate::testing::Tables;
use rnic_abi::cqe::PHASE;

const FIRST: QueueId = QueueId(0);
const OTHER: QueueId = QueueId(15);
const CONNECTION: ConnectionId = ConnectionId(5);

/// Queue 0 of four entries and queue 15 of two.
fn queues() -> (CompletionQueues, Tables, Memory) {
    let (mut bar, mut memory) = (Tables::default(), Memory::new(2));
    let queues = CompletionQueues::allocate(&mut memory, 2);
    let mut queues = queues.expect("two allocations");
    let created = queues.create(&mut bar, &mut memory, OTHER, 1);
    created.expect("its number is free");
    (queues, bar, memory)
}

fn size(queue: u8, entries: u32, needed: u32) -> Result<(), DriverError> {
    Err(DriverError::CompletionQueueSize {
        queue,
        entries,
        needed,
    })
}

/// The device has numbered so many entries of queue 0.
fn number(bar: &mut Tables, entries: u32) {
    bar.registers.insert(registers::CQ_PRODUCER, entries);
}

fn close(queues: &mut CompletionQueues, bar: &mut Tables, connection: ConnectionId) {
    let unpolled = queues.unpolled(bar, FIRST).expect("queue 0");
    queues.close(FIRST, connection, unpolled);
}

/// The device writes entry `number` of queue 0, and the driver polls it.
fn poll(queues: &mut CompletionQueues, bar: &mut Tables, memory: &mut Memory, number: u32) {
    let first = queues.buffers().next().expect("queue 0");
    let phase = if number & 4 == 0 { PHASE } else { 0 };
    let address = first.address + u64::from(number & 3) * 32;
    memory.write(address + 28, &(phase | number).to_le_bytes());
    let entry = queues.next(bar, memory, FIRST).expect("queue 0");
    assert_eq!(entry.map(|polled| polled.words[7]), Some(phase | number));
}

#[test]
fn each_queue_is_programmed_where_its_registers_are() {
    let (queues, mut bar, _) = queues();
    let address = queues.buffers().nth(1).expect("queue 15").address as u32;
    let register = |register| registers::cq_register(15, register);
    assert_eq!(bar.registers[&register(registers::CQ_BASE_LOW)], address);
    assert_eq!(bar.registers[&register(registers::CQ_ENTRIES_LOG2)], 1);
    assert_eq!(bar.registers[&register(registers::CQ_CONSUMER)], 0);
    assert_eq!(
        bar.registers.get(&registers::CQ_ENTRIES_LOG2),
        None,
        "queue 0 follows"
    );
    queues.program(&mut bar).expect("the device is there");
    assert_eq!(bar.registers[&registers::CQ_ENTRIES_LOG2], 2);
}

#[test]
fn a_queue_that_cannot_be_is_not_created() {
    let (mut queues, mut bar, mut memory) = queues();
    bar.registers.clear();
    let mut create =
        |queue, entries_log2| queues.create(&mut bar, &mut memory, QueueId(queue), entries_log2);
    for entries_log2 in [0, 17] {
        let created = create(1, entries_log2);
        assert!(matches!(created, Err(DriverError::Configuration { .. })));
    }
    assert!(matches!(create(16, 1), Err(DriverError::Unknown { .. })));
    assert!(matches!(create(15, 1), Err(DriverError::Duplicate { .. })));
    let no_memory = create(1, 1);
    assert!(matches!(no_memory, Err(DriverError::OutOfMemory { .. })));
    assert!(bar.registers.is_empty(), "the device was given one");
    let polled = queues.next(&mut bar, &memory, QueueId(1));
    assert!(matches!(polled, Err(DriverError::Unknown { id: 1, .. })));
}

/// Buffers, reads and one error of each connection: never more than the queue has entries.
#[test]
fn no_more_is_promised_than_a_queue_has_entries() {
    let (mut queues, mut bar, _) = queues();
    assert_eq!(queues.expect_room(&mut bar, FIRST, 5), size(0, 4, 5));
    for (connection, entries) in [(CONNECTION, 1), (CONNECTION, 2), (ConnectionId(6), 1)] {
        assert_eq!(queues.expect_room(&mut bar, FIRST, entries), Ok(()));
        queues.promise(FIRST, connection, entries);
    }
    assert_eq!(queues.expect_room(&mut bar, FIRST, 1), size(0, 4, 5));
    assert_eq!(
        queues.expect_room(&mut bar, OTHER, 2),
        Ok(()),
        "it is another queue"
    );
    let unknown = queues.expect_room(&mut bar, QueueId(3), 0);
    assert!(matches!(unknown, Err(DriverError::Unknown { id: 3, .. })));
}

/// Slots that nothing can need are given back together; one that may be needed, before that.
#[test]
fn slots_are_given_back_before_the_device_could_need_them() {
    let (mut bar, mut memory) = (Tables::default(), Memory::new(2));
    let queues = CompletionQueues::allocate(&mut memory, 4);
    let mut queues = queues.expect("one allocation");
    let consumer = |bar: &Tables| bar.registers.get(&registers::CQ_CONSUMER).copied();
    let mut polled = 0;
    let mut poll = |queues: &mut CompletionQueues, bar: &mut Tables| {
        let slot = queues.buffers().next().expect("queue 0").address + (polled & 15) * 32;
        let phase = if polled & 16 == 0 { PHASE } else { 0 };
        memory.write(slot + 28, &phase.to_le_bytes());
        assert!(queues.next(bar, &memory, FIRST).expect("queue 0").is_some());
        polled += 1;
        consumer(bar)
    };
    // Of 16 slots 3 are spare, and then, of one connection more, 2.
    queues.promise(FIRST, CONNECTION, 13);
    let seen = [(); 8].map(|()| poll(&mut queues, &mut bar));
    let [four, eight] = [Some(4), Some(8)];
    assert_eq!(seen, [None, None, None, four, four, four, four, eight]);
    for _ in 0..3 {
        assert_eq!(poll(&mut queues, &mut bar), eight);
    }
    assert_eq!(queues.expect_room(&mut bar, FIRST, 4), size(0, 16, 17));
    assert_eq!(consumer(&bar), eight, "nothing was opened");
    assert_eq!(queues.expect_room(&mut bar, FIRST, 0), Ok(()));
    assert_eq!(consumer(&bar), eight, "3 are still spare");
    assert_eq!(queues.expect_room(&mut bar, FIRST, 1), Ok(()));
    assert_eq!(consumer(&bar), Some(11));
    // Without a promise a quarter of all is given back at a time.
    close(&mut queues, &mut bar, CONNECTION);
    queues.queues.get_mut(&FIRST).expect("queue 0").left.clear();
    let seen = [(); 5].map(|()| poll(&mut queues, &mut bar));
    assert_eq!(seen[3..], [Some(11), Some(16)]);
}

/// What a closed connection has left counts until it is polled, and no longer.
#[test]
fn entries_of_a_closed_connection_count_until_they_are_polled() {
    let (mut queues, mut bar, mut memory) = queues();
    queues.promise(FIRST, CONNECTION, 3);
    queues.promise(FIRST, ConnectionId(6), 1);
    // Two of three entries have their numbers; the driver has seen none.
    number(&mut bar, 2);
    close(&mut queues, &mut bar, CONNECTION);
    assert_eq!(queues.expect_room(&mut bar, FIRST, 2), size(0, 4, 5));
    assert_eq!(queues.expect_room(&mut bar, FIRST, 1), Ok(()));
    poll(&mut queues, &mut bar, &mut memory, 0);
    assert_eq!(queues.expect_room(&mut bar, FIRST, 2), size(0, 4, 5));
    poll(&mut queues, &mut bar, &mut memory, 1);
    assert_eq!(queues.expect_room(&mut bar, FIRST, 3), Ok(()));
    // Of one that has left nothing there is nothing to wait for.
    close(&mut queues, &mut bar, ConnectionId(6));
    assert_eq!(queues.expect_room(&mut bar, FIRST, 4), Ok(()));
}

/// The producer counts modulo 2^31, the consumer modulo 2^32.
#[test]
fn the_numbers_of_entries_wrap() {
    let (mut queues, mut bar, mut memory) = queues();
    let consumed = (1u32 << 31) - 2;
    let first = queues.queues.get_mut(&FIRST).expect("queue 0");
    first.ring.skip_to(consumed);
    queues.promise(FIRST, CONNECTION, 4);
    number(&mut bar, 1);
    close(&mut queues, &mut bar, CONNECTION);
    assert_eq!(queues.expect_room(&mut bar, FIRST, 2), size(0, 4, 5));
    let address = queues.buffers().next().expect("queue 0").address;
    for number in [consumed, consumed + 1, consumed + 2] {
        assert_eq!(queues.expect_room(&mut bar, FIRST, 2), size(0, 4, 5));
        let phase = if number & 4 == 0 { PHASE } else { 0 };
        let slot = address + u64::from(number & 3) * 32;
        memory.write(slot + 28, &phase.to_le_bytes());
        let entry = queues.next(&mut bar, &memory, FIRST).expect("queue 0");
        assert!(entry.is_some());
    }
    assert_eq!(queues.expect_room(&mut bar, FIRST, 4), Ok(()));
}

/// What the previous connection has left frees nothing of the one that has its id now.
#[test]
fn an_entry_of_a_closed_connection_is_known_as_such() {
    let (mut queues, mut bar, mut memory) = queues();
    queues.promise(FIRST, CONNECTION, 1);
    number(&mut bar, 2);
    close(&mut queues, &mut bar, CONNECTION);
    queues.promise(FIRST, CONNECTION, 1);
    let address = queues.buffers().next().expect("queue 0").address;
    let entries = [
        (CONNECTION, true),
        (ConnectionId(6), false),
        (CONNECTION, false),
    ];
    for ((connection, is_left), number) in entries.into_iter().zip(0..) {
        let slot = address + u64::from(number) * 32;
        let word_0 = u32::from(connection.0) << 16;
        memory.write(slot, &word_0.to_le_bytes());
        memory.write(slot + 28, &(PHASE | number).to_le_bytes());
        let polled = queues.next(&mut bar, &memory, FIRST).expect("queue 0");
        assert_eq!(
            polled.map(|polled| polled.is_left),
            Some(is_left),
            "{number}"
        );
    }
}

#[test]
fn overflows_are_read_by_queue() {
    let (queues, mut bar, _) = queues();
    assert_eq!(queues.overflowed(&mut bar), Ok(vec![]));
    bar.registers.insert(registers::CQ_OVERFLOW, 0x8001);
    assert_eq!(queues.overflowed(&mut bar), Ok(vec![FIRST, OTHER]));
}
