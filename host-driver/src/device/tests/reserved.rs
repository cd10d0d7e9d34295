//! Connections that are reserved, and not activated yet.

use super::*;

/// What a stream needs is there before its first segment can be: queues, buffers, windows.
#[test]
fn a_reserved_connection_takes_queues_posts_and_windows() {
    let mut device = device();
    let config = connection_config();
    let reserved = device.reserve_connection(&config.reservation());
    let connection = reserved.expect("there is room");
    device.open_queue(connection, 0, 1).expect("it is reserved");
    let buffer = DmaBuffer {
        address: 0x1000,
        octets: 64,
    };
    let posted = device.post_receive(connection, 0, buffer);
    assert_eq!(posted.map(|posted| posted.msn), Ok(1));
    device
        .register_region(&region(0x0044_4400, None))
        .expect("there is room");
    let window = WindowConfig {
        stag: 0x0055_5500,
        region: 0x0044_4400,
        connection,
        rights: tables::RIGHT_REMOTE_WRITE,
        tagged_offset: 0,
        offset: 0,
        octets: 1,
    };
    device.bind_window(&window).expect("it is reserved");
    device.bar.double().operations.clear();
    device
        .activate_connection(connection, &config)
        .expect("it is as it was reserved");
    let order = [tables::TCP, tables::MPA, tables::DDP, tables::LOOKUP];
    let order = order.map(|table| (tables::WRITE, table));
    assert_eq!(device.bar.double().operations, order, "no queue is emptied");
    device.close_connection(connection).expect("it closes");
    assert!(device.region_valid(window.stag).is_err());
}

/// A completion queue promises a reserved connection room for its error, and keeps it.
#[test]
fn a_reserved_connection_has_its_room_in_the_completion_queue_until_it_is_closed() {
    let mut device = device();
    let queue = QueueId(9);
    device.create_completion_queue(queue, 1).expect("it is new");
    let on_queue = |port| {
        let mut config = connection_config();
        config.completion_queue = queue;
        config.key.remote.set_port(port);
        config
    };
    let first = device.reserve_connection(&on_queue(1).reservation());
    let first = first.expect("there is room");
    device
        .open_connection(&on_queue(2))
        .expect("there is room for a second one");
    let refused = device.reserve_connection(&on_queue(3).reservation());
    assert!(matches!(
        refused,
        Err(DriverError::CompletionQueueSize { .. })
    ));
    device.close_connection(first).expect("it closes");
    let third = device.reserve_connection(&on_queue(3).reservation());
    third.expect("the first has gone");
}
