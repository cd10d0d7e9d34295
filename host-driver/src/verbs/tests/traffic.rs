//! What arrives, and what ends while it does.

use super::{connection, options, prepare, region, window, OTHER_STAG, STAG};
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::verbs::testing::{Step, TestDevice, TestMemory};
use crate::verbs::{Completed, Frame, Piece, Received, Rights};
use crate::Completion;

type TestCompleted = Option<Completed<TestDevice, TestMemory>>;

/// The message of a completion.
fn received(completed: TestCompleted) -> Received<TestDevice, TestMemory> {
    match completed {
        Some(Completed::Received(received)) => received,
        other => panic!("{other:?}"),
    }
}

#[test]
fn posted_memory_comes_back_with_its_message() {
    let (test, context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    let number = connection.number().0;
    let mut addresses = Vec::new();
    for msn in 1..=2 {
        let memory = context.allocate(16).expect("memory");
        addresses.push(memory.place().address);
        let posted = connection.post_receive(0, memory).expect("there is room");
        assert_eq!(posted.msn, msn);
    }
    let memory = context.allocate(16).expect("memory");
    let full = connection.post_receive(0, memory).expect_err("two entries");
    assert!(matches!(full.error, DriverError::QueueFull { .. }));
    let memory = full.object.expect("the device does not have it");
    assert!(queue.poll().is_none());
    test.write(addresses[1], b"two");
    test.receive(0, number, 0, 2, 0);
    let second = received(queue.poll());
    assert_eq!((second.msn, second.message()), (2, b"two".to_vec()));
    assert_eq!(second.memory.octets(), 16);
    assert_eq!(second.invalidated_stag, None);
    // It is the caller's now: the end of the connection does not free it.
    connection.close().expect("the device answers");
    assert!(test.allocated().contains(&addresses[1]));
    assert!(!test.allocated().contains(&addresses[0]));
    drop((second, memory));
    assert!(!test.allocated().contains(&addresses[1]));
}

/// What came before the end is polled after it, also when another connection has the number.
#[test]
fn closing_a_connection_loses_no_message() {
    let (test, context, domain, queue) = prepare();
    let first = connection(&domain, &queue, 1);
    let number = first.number();
    let memory = context.allocate(16).expect("memory");
    let address = memory.place().address;
    first.post_receive(0, memory).expect("there is room");
    test.write(address, b"one");
    test.receive(0, number.0, 0, 1, 0);
    drop(first);
    let second = connection(&domain, &queue, 2);
    assert_eq!(second.number(), number);
    let memory = context.allocate(16).expect("memory");
    let other = memory.place().address;
    second.post_receive(0, memory).expect("there is room");
    test.write(other, b"new");
    test.receive(0, number.0, 0, 1, 0);
    assert_eq!(received(queue.poll()).message(), b"one");
    assert_eq!(received(queue.poll()).message(), b"new");
    assert!(queue.poll().is_none());
}

#[test]
fn what_is_not_polled_is_freed_with_its_queue() {
    let (test, context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    let memory = context.allocate(16).expect("memory");
    let address = memory.place().address;
    connection.post_receive(0, memory).expect("there is room");
    test.receive(0, connection.number().0, 0, 1, 0);
    drop(connection);
    assert!(test.allocated().contains(&address));
    drop(queue);
    assert!(!test.allocated().contains(&address));
}

#[test]
fn a_message_that_was_never_posted_is_unknown() {
    let (test, _context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    for (number, msn) in [(connection.number().0, 9), (77, 1)] {
        test.receive(0, number, 0, msn, 0);
        let completed = queue.poll();
        let expected = matches!(
            completed,
            Some(Completed::Unknown(Completion::Receive { .. }))
        );
        assert!(expected, "{completed:?}");
    }
}

#[test]
fn a_read_holds_its_sink_until_it_is_complete() {
    let (test, context, domain, queue) = prepare();
    let (sink, address) = region(&context, &domain, STAG);
    let connection = connection(&domain, &queue, 1);
    let first = connection.post_read(&sink, 0x1000, 4096).expect("inside");
    let empty = connection.post_empty_read().expect("there is room");
    let refused = sink.close().expect_err("a read is outstanding");
    assert_eq!(
        refused.to_string(),
        "the region 0x00111142 is in use by a read of connection 0; close these first"
    );
    drop(refused);
    assert!(test.allocated().contains(&address));
    let number = connection.number().0;
    test.respond(0, number, empty.pool_entry);
    let early = queue.poll();
    assert!(matches!(early, Some(Completed::Unknown(_))), "{early:?}");
    assert!(test.allocated().contains(&address));
    test.respond(0, number, first.pool_entry);
    let done = queue.poll();
    assert!(matches!(done, Some(Completed::Read { posted, .. }) if posted == first));
    assert!(!test.allocated().contains(&address));
    test.respond(0, number, empty.pool_entry);
    let done = queue.poll();
    assert!(matches!(done, Some(Completed::Read { posted, .. }) if posted == empty));
}

#[test]
fn the_end_of_a_connection_ends_its_reads() {
    let (test, context, domain, queue) = prepare();
    let (sink, address) = region(&context, &domain, STAG);
    let connection = connection(&domain, &queue, 1);
    connection.post_read(&sink, 0x1000, 8).expect("inside");
    drop(sink);
    drop(connection);
    assert!(!test.allocated().contains(&address));
}

#[test]
fn a_region_that_a_peer_has_invalidated_is_renewed_or_closed() {
    let (test, context, domain, queue) = prepare();
    let (mut first, address) = region(&context, &domain, STAG);
    let (second, _) = region(&context, &domain, OTHER_STAG);
    let connection = connection(&domain, &queue, 1);
    let memory = context.allocate(16).expect("memory");
    connection.post_receive(0, memory).expect("there is room");
    test.receive(0, connection.number().0, 0, 1, STAG);
    assert_eq!(received(queue.poll()).invalidated_stag, Some(STAG));
    // The double's tables read zeros: the entries are not valid.
    assert_eq!(
        (first.is_valid(), second.is_valid()),
        (Ok(false), Ok(false))
    );
    let lent = connection
        .bind(&first, &window(0x0044_4400))
        .expect("binds");
    assert!(matches!(first.renew(), Err(DriverError::InUse { .. })));
    drop(lent);
    let stag = first.renew().expect("it can be renewed");
    assert!(stag != STAG && stag >> 8 == STAG >> 8 && first.stag() == stag);
    second.close().expect("an invalid one is closed alike");
    drop(first);
    assert!(!test.allocated().contains(&address));
}

#[test]
fn accesses_stay_inside() {
    let (_test, context, domain, _queue) = prepare();
    let mut memory = context.allocate(100).expect("memory");
    memory.write(96, &[1, 2, 3, 4]).expect("inside");
    for (offset, octets) in [(97, 4), (101, 0), (usize::MAX, 2)] {
        let read = memory.read(offset, &mut vec![0; octets]);
        assert!(matches!(read, Err(DriverError::Configuration { .. })));
        let written = memory.write(offset, &vec![0; octets]);
        assert!(matches!(written, Err(DriverError::Configuration { .. })));
    }
    assert!(memory.part(96..101).is_err());
    let mut region = domain.register(memory, &options(STAG)).expect("new");
    region.write(99, &[5]).expect("inside");
    let mut last = [0; 4];
    region.read(96, &mut last).expect("inside");
    assert_eq!(last, [1, 2, 3, 5]);
    assert!(region.write(100, &[5]).is_err() && region.read(99, &mut last).is_err());
}

#[test]
fn a_frame_holds_its_memory_until_its_result() {
    let (test, context, domain, queue) = prepare();
    let (source, address) = region(&context, &domain, STAG);
    let payload = source.part(0..100).expect("inside");
    let frame = Frame {
        pieces: &[Piece::Octets(&[0x22; 54]), Piece::Memory(payload)],
        checksum: None,
        crc: None,
        cookie: 5,
    };
    let ring = TransmitRing::Control;
    let off = context.transmit(TransmitRing::Bulk, &frame);
    assert!(matches!(off, Err(DriverError::TransmitOff { .. })));
    context.transmit(ring, &frame).expect("there is room");
    drop((source, domain, queue));
    assert!(test.allocated().contains(&address), "the device reads it");
    assert_eq!(context.poll_transmitted(), Ok(None));
    test.steps();
    let sent = test.transmit(ring);
    assert_eq!(sent.map(|octets| octets.len()), Some(154));
    let result = context.poll_transmitted().expect("the device answers");
    assert_eq!(result.map(|result| result.cookie), Some(5));
    assert_eq!(test.steps(), [Step::Freed(address)]);
}

#[test]
fn memory_of_a_frame_of_another_device_is_refused() {
    let (_test, context, _domain, _queue) = prepare();
    let (_other_test, other) = TestDevice::open();
    let memory = other.allocate(100).expect("memory");
    let payload = memory.part(0..100).expect("inside");
    let frame = Frame {
        pieces: &[Piece::Memory(payload)],
        checksum: None,
        crc: None,
        cookie: 0,
    };
    let refused = context.transmit(TransmitRing::Control, &frame);
    assert_eq!(refused, Err(DriverError::OtherContext { what: "memory" }));
}

#[test]
fn objects_are_used_by_several_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let (test, context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    assert_send(&(&context, &domain, &queue, &connection));
    std::thread::scope(|scope| {
        for thread in 1..5u32 {
            let (context, domain, connection) = (&context, &domain, &connection);
            scope.spawn(move || {
                for number in 0..20 {
                    let stag = thread << 16 | number << 8;
                    let (region, _) = region(context, domain, stag);
                    let mut options = window(0x0100_0000 | stag);
                    options.rights = Rights::NONE;
                    let window = connection.bind(&region, &options).expect("new");
                    drop(region);
                    window.close().expect("the device answers");
                }
            });
        }
    });
    drop((connection, domain, queue));
    context.close().expect("nothing is left");
    assert_eq!(test.allocated(), Vec::<u64>::new());
}
