//! A client that does not keep to the protocol, and a server that nobody asks anything.

use crate::host::{converse, open};
use crate::server::{with_each, Server};
use rand::seq::IndexedRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_vfio_user::protocol::{
    Capabilities, Command, DmaMap, DmaUnmap, Header, RegionAccess, SetIrqs, Version, VERSION_MAJOR,
    VERSION_MINOR,
};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

const MESSAGES: usize = 4_000;
const SESSION_MESSAGES: usize = 200;
/// Ticks that an idle process may use while it is observed, for what the system charges it.
const IDLE_TICKS: u64 = 3;

fn message(command: Command, payload: &[u8]) -> Vec<u8> {
    let header = Header::command(1, command, payload.len());
    [&header.encode()[..], payload].concat()
}

fn version() -> Vec<u8> {
    let ours = Version {
        major: VERSION_MAJOR,
        minor: VERSION_MINOR,
    };
    let payload = [&ours.encode()[..], &Capabilities::OURS.encode()].concat();
    message(Command::Version, &payload)
}

/// A number of one of the kinds that go wrong.
fn number(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..4) {
        0 => random.random_range(0..16),
        1 => 1 << random.random_range(0..64),
        2 => u64::MAX - random.random_range(0..4_097),
        _ => random.random_range(0..8_192),
    }
}

/// A message that is wrong in most cases: random fields, changed octets, a length that is not its
/// own.
fn malformed(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut next = || number(random);
    let access = RegionAccess {
        offset: next(),
        region: next() as u32 % 12,
        count: next() as u32 % 5_000,
    };
    let map = DmaMap {
        argsz: DmaMap::OCTETS as u32,
        flags: next() as u32,
        offset: next(),
        address: next(),
        size: next(),
    };
    let unmap = DmaUnmap {
        argsz: DmaUnmap::OCTETS as u32,
        flags: next() as u32,
        address: next(),
        size: next(),
    };
    let irqs = SetIrqs {
        argsz: SetIrqs::OCTETS as u32,
        flags: next() as u32,
        index: next() as u32,
        start: next() as u32,
        count: next() as u32,
    };
    let data = vec![0xa5; access.count as usize];
    let written = [&access.encode()[..], &data].concat();
    let mut octets = match random.random_range(0..8) {
        0 => message(Command::RegionRead, &access.encode()),
        1 => message(Command::RegionWrite, &written),
        2 => message(Command::DmaMap, &map.encode()),
        3 => message(Command::DmaUnmap, &unmap.encode()),
        4 => message(Command::DeviceSetIrqs, &irqs.encode()),
        5 => message(Command::DeviceReset, &[]),
        6 => version(),
        _ => {
            let mut payload = vec![0; random.random_range(0..100)];
            random.fill_bytes(&mut payload);
            message(Command::Other(random.random()), &payload)
        }
    };
    // An octet of the header or of what follows; seldom one of the length, which ends the session.
    if random.random_bool(0.3) {
        let at = random.random_range(0..octets.len());
        if !(4..8).contains(&at) || random.random_bool(0.1) {
            octets[at] ^= 1 << random.random_range(0..8);
        }
    }
    octets
}

#[test]
fn malformed_messages_harm_no_later_client() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (mut sent, mut sessions, mut replied) = (0, 0, 0);
        while sent < MESSAGES {
            let mut socket = UnixStream::connect(server.socket()).expect("it listens");
            let mut replies = socket.try_clone().expect("a socket");
            // Replies are read beside: a server whose replies nobody reads stops reading.
            let reader = thread::spawn(move || {
                let mut octets = Vec::new();
                let _ = replies.read_to_end(&mut octets);
                octets.len()
            });
            if random.random_bool(0.9) {
                socket.write_all(&version()).expect("it reads");
            }
            for _ in 0..SESSION_MESSAGES {
                sent += 1;
                // It may have hung up.
                if socket.write_all(&malformed(&mut random)).is_err() {
                    break;
                }
            }
            let ends = [Shutdown::Write, Shutdown::Both];
            let _ = socket.shutdown(*ends.choose(&mut random).expect("two"));
            replied += reader.join().expect("it does not panic");
            sessions += 1;
        }
        println!("{sent} messages, {sessions} sessions, {replied} octets of replies");
        assert!(replied > 16 * MESSAGES / 4, "{replied} octets of replies");
        let mut device = open(&server);
        converse(&mut device, &mut server.peer(), 4_001);
        device.close().expect("it answers");
    });
}

/// The server does nothing for two seconds, once it has come to the end of what it was doing.
fn assert_becomes_idle(server: &Server) {
    let mut ticks = Vec::new();
    for _ in 0..20 {
        let before = server.ticks();
        thread::sleep(Duration::from_secs(2));
        let used = server.ticks() - before;
        if used <= IDLE_TICKS {
            return;
        }
        ticks.push(used);
    }
    panic!("ticks in two seconds each: {ticks:?}");
}

/// Work, not speed: what is measured is the processor time of a process that has nothing to do.
#[test]
fn an_idle_server_uses_no_processor_time() {
    with_each(|dut| {
        let server = Server::start(dut);
        assert_becomes_idle(&server);
        // Neither with a client and a peer that do nothing.
        let mut device = open(&server);
        let mut peer = server.peer();
        converse(&mut device, &mut peer, 4_002);
        assert_becomes_idle(&server);
        converse(&mut device, &mut peer, 4_003);
        device.close().expect("it answers");
        // Nor with a peer whose frame is not whole.
        peer.send_octets(&[0, 0]);
        assert_becomes_idle(&server);
    });
}
