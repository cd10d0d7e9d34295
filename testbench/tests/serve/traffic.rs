//! What happens in mid-traffic: a region is revoked, the device is reset, a process is killed.

use crate::client::{self, Client};
use crate::host::{
    allocate, assert_clean, await_change, await_interrupts, config, converse, next_completion,
    open, read, register, route, take_interrupts, writes, Stream, VECTOR,
};
use crate::server::{in_time, with_each, Peer, Server};
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{Completion, Device, DmaBuffer, DriverError};
use std::time::Duration;

const STAG: u32 = 0x0001_0042;
const PORT: u16 = 3_000;
const OCTETS: usize = 1_000;
/// Writes of a flood: more than the device takes while anything here happens.
const WRITES: usize = 20_000;

/// A device with a region that a peer at [`PORT`] may write.
fn prepare(device: &mut AnyDevice) -> DmaBuffer {
    let region = allocate(device, OCTETS);
    register(device, STAG, region);
    Stream::open(device, PORT, 0);
    region
}

#[test]
fn a_region_that_is_revoked_under_traffic_is_not_written_any_more() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut device = open(&server);
        let region = prepare(&mut device);
        let traffic = server.peer().flood(writes(STAG, OCTETS, PORT, WRITES));
        await_change(&mut device, region, &[0; OCTETS]);
        device.deregister_region(STAG).expect("it is registered");
        let revoked = read(&mut device, region);
        // A later Write meets the revoked STag, so there was traffic all the time.
        let refused = next_completion(&mut device);
        assert!(matches!(refused, Completion::Error { .. }), "{refused:?}");
        let (_, left) = traffic.stop();
        assert!(left > 0, "the traffic was over");
        assert!(read(&mut device, region) == revoked);
        device.close().expect("it answers");
    });
}

/// Interrupts for 128 Sends that arrive at once, of which every completion is polled.
fn interrupts_of_a_storm(device: &mut AnyDevice, peer: &mut Peer, port: u16) -> u64 {
    const SENDS: usize = 128;
    let mut stream = Stream::open(device, port, SENDS);
    for _ in 0..SENDS {
        stream.sender.send(&[7; 64]);
    }
    peer.send(stream.frames());
    let (mut completions, mut interrupts) = (0, 0);
    // Whoever polls at interrupts only has all completions: an interrupt follows the last one.
    while completions < SENDS {
        interrupts += await_interrupts(device);
        while let Some(completion) = device.poll_completion() {
            assert!(matches!(completion, Completion::Receive { length: 64, .. }));
            completions += 1;
        }
    }
    // A slow poller finds completions before it has read their interrupts. What was sent before
    // the answer to a read has been signalled.
    device.check_present().expect("it answers");
    interrupts + take_interrupts(device)
}

#[test]
fn an_interrupt_that_is_held_off_comes_once_for_many_completions() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let each = interrupts_of_a_storm(&mut device, &mut peer, PORT);
        device.set_hold_off(VECTOR, 300).expect("it is valid");
        let held = interrupts_of_a_storm(&mut device, &mut peer, PORT + 1);
        println!("{each} interrupts, {held} when they are held off");
        assert!(held <= each / 8, "{held} of {each}");
        device.close().expect("it answers");
    });
}

#[test]
fn a_device_that_is_reset_under_traffic_works_and_writes_nothing_from_before() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut device = open(&server);
        let region = prepare(&mut device);
        let traffic = server.peer().flood(writes(STAG, OCTETS, PORT, WRITES));
        await_change(&mut device, region, &[0; OCTETS]);
        let function = device.function().clone();
        let (bar, mut memory) = device.close().expect("it answers");
        let mut before = vec![0; OCTETS];
        rnic_driver::Dma::read(&memory, region.address, &mut before);
        // Nothing of it is written from here on, though all of it is still mapped.
        let config = function.fit(config()).expect("it answers");
        let again = rnic_driver::Dma::allocate(&mut memory, "another", OCTETS, 64);
        let again = again.expect("memory");
        let mut device = Device::open(bar, memory, config).expect("it answers");
        function.enable_interrupts().expect("it answers");
        route(&mut device);
        let (mut peer, left) = traffic.stop();
        assert!(left > 0, "the traffic was over");
        assert_clean(&mut device);
        // Another region has the index of the previous one, and a peer still writes to that.
        register(&mut device, STAG ^ 0x11, again);
        let mut stream = Stream::open(&mut device, PORT + 1, 0);
        stream.sender.rdma_write(STAG, 0, &[0xee; OCTETS]);
        peer.send(stream.frames());
        let refused = next_completion(&mut device);
        assert!(matches!(refused, Completion::Error { .. }), "{refused:?}");
        converse(&mut device, &mut peer, PORT + 2);
        assert!(read(&mut device, region) == before);
        assert!(read(&mut device, again) == [0; OCTETS]);
        device.close().expect("it answers");
    });
}

/// Not a test by itself: the client of the test below, in a process that is killed.
#[test]
fn a_client_that_is_killed() {
    let Some(address) = client::address() else {
        return;
    };
    in_time(move || {
        let mut device = bus::open(&address, config()).expect("the server answers");
        let region = prepare(&mut device);
        println!("\nready");
        await_change(&mut device, region, &[0; OCTETS]);
        println!("\nwritten");
        loop {
            device.check_present().expect("the server lives longer");
        }
    });
}

#[test]
fn after_a_client_was_killed_in_mid_traffic_the_next_one_finds_a_clean_device() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut client = Client::start("traffic::a_client_that_is_killed", &server);
        let traffic = server.peer().flood(writes(STAG, OCTETS, PORT, WRITES));
        client.await_line("written");
        client.kill();
        let mut device = open(&server);
        let (mut peer, left) = traffic.stop();
        assert!(left > 0, "the traffic was over");
        assert_clean(&mut device);
        assert_eq!(device.poll_completion(), None);
        converse(&mut device, &mut peer, PORT + 1);
        device.close().expect("it answers");
    });
}

#[test]
fn a_driver_whose_server_was_killed_in_mid_traffic_finds_its_device_gone() {
    with_each(|dut| {
        let mut server = Server::start(dut);
        let mut device = open(&server);
        let region = prepare(&mut device);
        let traffic = server.peer().flood(writes(STAG, OCTETS, PORT, WRITES));
        await_change(&mut device, region, &[0; OCTETS]);
        server.kill();
        let (_, left) = traffic.stop();
        assert!(left > 0, "the traffic was over");
        assert_eq!(device.check_present(), Err(DriverError::Gone));
        assert_eq!(device.deregister_region(STAG), Err(DriverError::Gone));
        assert_eq!(device.poll_completion(), None);
        let waited = device.wait(VECTOR, Some(Duration::from_millis(1)));
        assert!(!waited.expect("it can be waited for"));
        read(&mut device, region);
        assert_eq!(device.close().err(), Some(DriverError::Gone));
        bus::open(&server.address(), config()).expect_err("nobody listens");
        // Another one takes the place of the sockets that were left.
        let server = server.start_again();
        let mut device = open(&server);
        converse(&mut device, &mut server.peer(), PORT + 1);
        device.close().expect("it answers");
    });
}
