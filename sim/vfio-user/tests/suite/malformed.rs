//! Messages at random: octets, valid messages with changes, descriptors where none belong.
//!
//! ```text
//!   seed --> message --> session, in this thread --> replies: as many as there must be, no more
//!                            |
//!                            +--> memory: octets that no map allows to write never change
//!                            +--> a valid message, answered as ever
//! ```
//!
//! `FERROWARP_MESSAGES` sets the count of messages, `FERROWARP_SEED` the first seed; a failure
//! prints the seed of the session and the number of the message in it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rand::seq::IndexedRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_vfio_user::protocol::{
    self, header_flags, unmap_flags, Command, DeviceInfo, DmaUnmap, Header, IrqInfo, RegionAccess,
    RegionInfo, SetIrqs, DROPPED_OCTETS_MAX, MESSAGE_OCTETS_MAX,
};
use rnic_vfio_user::SessionEnd;

use crate::common::*;

/// Messages of a session, unless it ends before.
const SESSION_MESSAGES: u64 = 500;
/// Pages of the memory. Even ones are guards: no map that can be written has an octet of them.
const PAGES: u64 = 5;
const GUARD: u8 = 0xa5;

fn setting(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn no_message_confuses_the_server() {
    let (count, first) = (
        setting("FERROWARP_MESSAGES", 100_000),
        setting("FERROWARP_SEED", 0),
    );
    let mut done = Counts::default();
    let mut seed = first;
    while done.messages < count {
        Run::new(seed).play(&mut done);
        seed += 1;
    }
    // What was drawn reaches both sides of every check.
    if count >= 100_000 {
        assert!(
            done.errors > count / 4 && done.successes > count / 20,
            "{done:?}"
        );
        assert!(
            done.quiet > count / 50 && done.ends > count / 10_000,
            "{done:?}"
        );
        assert!(
            done.written > count / 1000 && done.maps > count / 200,
            "{done:?}"
        );
    }
    println!("{done:?}, seeds {first}..{seed}");
}

/// What came of the messages.
#[derive(Default, Debug)]
struct Counts {
    messages: u64,
    errors: u64,
    successes: u64,
    quiet: u64,
    ends: u64,
    maps: u64,
    /// Pages that the device has filled in part.
    written: u64,
}

struct Run {
    seed: u64,
    random: ChaCha8Rng,
    raw: Raw,
    memory: OwnedFd,
    other: OwnedFd,
    event: OwnedFd,
    socket: OwnedFd,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let memory = memory(PAGES * PAGE);
        rustix::io::pwrite(&memory, &vec![GUARD; (PAGES * PAGE) as usize], 0).expect("room");
        let raw = match random.random_bool(0.05) {
            true => Raw::before_version(),
            false => Raw::new(),
        };
        Self {
            seed,
            random,
            raw,
            memory,
            other: crate::common::memory(PAGE),
            event: event(),
            socket: sockets().0,
        }
    }

    fn play(&mut self, done: &mut Counts) {
        for number in 0..SESSION_MESSAGES {
            let place = format!("FERROWARP_SEED={}, message {number}", self.seed);
            let (message, fds) = self.message();
            done.messages += 1;
            let header = Header::decode(&message).expect("a whole header");
            let kinds = [&self.memory, &self.other, &self.event, &self.socket];
            let fds: Vec<BorrowedFd> = fds.iter().map(|kind| kinds[*kind].as_fd()).collect();
            let result = self.raw.exchange(&message, &fds);
            if header.size < 16 || header.size > DROPPED_OCTETS_MAX {
                let size = header.size;
                assert_eq!(result, Err(SessionEnd::BadSize { size }), "{place}");
                done.ends += 1;
                break;
            }
            let replies = result.unwrap_or_else(|end| panic!("{place}: {end}"));
            self.check(&header, &replies, &place, done);
            self.probe(&place);
        }
        self.guards();
        let dma = self.raw.session.dma();
        done.maps += dma.map_count() as u64;
        let octets = contents(&self.memory, PAGES * PAGE);
        let pages = octets.chunks(PAGE as usize);
        done.written += pages.filter(|page| page.contains(&FILL)).count() as u64;
    }

    /// One reply, or none if none is wanted.
    fn check(
        &self,
        header: &Header,
        replies: &[(Header, Vec<u8>)],
        place: &str,
        done: &mut Counts,
    ) {
        if header.is_final() {
            assert_eq!(replies, [], "{place}: {header:?}");
            done.quiet += 1;
            return;
        }
        assert_eq!(replies.len(), 1, "{place}: {header:?}");
        let (reply, payload) = &replies[0];
        let same = (reply.message_id, reply.command) == (header.message_id, header.command);
        assert!(same && reply.is_reply(), "{place}: {header:?} {reply:?}");
        if reply.is_error() {
            assert!(payload.is_empty() && reply.error != 0, "{place}: {reply:?}");
            done.errors += 1;
        } else {
            assert_eq!(reply.flags, header_flags::REPLY, "{place}: {reply:?}");
            done.successes += 1;
        }
    }

    /// A valid message is answered as ever.
    fn probe(&mut self, place: &str) {
        let access = RegionAccess {
            offset: 0,
            region: CONFIGURATION,
            count: 4,
        };
        let read = message(0x7777, Command::RegionRead, &access.encode());
        let replies = self
            .raw
            .exchange(&read, &[])
            .unwrap_or_else(|end| panic!("{place}: {end}"));
        assert_eq!(replies.len(), 1, "{place}");
        let (reply, payload) = &replies[0];
        if reply.is_error() {
            // The version is not settled yet.
            let settled = self.raw.errno(&version_message(), &[]);
            assert_eq!(settled, 0, "{place}: {reply:?}");
            return;
        }
        let expected = [&access.encode()[..], &[0xf4, 0x1a, 0x0d, 0xf0]].concat();
        assert_eq!((reply.message_id, payload), (0x7777, &expected), "{place}");
    }

    fn guards(&self) {
        let octets = contents(&self.memory, PAGES * PAGE);
        for (index, page) in octets.chunks(PAGE as usize).enumerate().step_by(2) {
            let whole = page.iter().all(|octet| *octet == GUARD);
            assert!(
                whole,
                "FERROWARP_SEED={}: guard page {index} was written",
                self.seed
            );
        }
    }

    /// The next message, and what descriptors go with it.
    fn message(&mut self) -> (Vec<u8>, Vec<usize>) {
        let random = &mut self.random;
        let (command, mut payload, mut fds) = valid(random);
        let mut header = Header::command(random.random(), command, payload.len());
        if random.random_bool(0.1) {
            header.flags |= header_flags::NO_REPLY;
        }
        match random.random_range(0..12) {
            // As it is.
            0..=2 | 10 | 11 => {}
            3 => {
                payload = vec![0; random.random_range(0..80)];
                random.fill_bytes(&mut payload);
            }
            4 => payload.resize(random.random_range(0..64), 0),
            5 => mutate(random, &mut payload),
            6 => header.command = random.random_range(0..18),
            7 => {
                let mut octets = header.encode().to_vec();
                mutate(random, &mut octets);
                header = Header::decode(&octets).expect("as many as before");
            }
            8 => {
                fds = (0..random.random_range(0..20))
                    .map(|_| random.random_range(0..4))
                    .collect()
            }
            _ => {
                mutate(random, &mut payload);
                fds.truncate(random.random_range(0..2));
            }
        }
        // A size of its own in one message of a hundred; else that of the payload.
        let sizes = [
            0,
            15,
            17,
            1000,
            MESSAGE_OCTETS_MAX,
            MESSAGE_OCTETS_MAX + 1,
            u32::MAX,
        ];
        match random.random_range(0..1000) {
            0 => header.size = *sizes.choose(random).expect("some"),
            1 => header.size = random.random(),
            2..=9 => header.size = random.random_range(0..200),
            _ => header.size = (Header::OCTETS + payload.len()) as u32,
        }
        let octets = header.size as usize;
        // Sizes that are read and dropped, only up to some MiB: they take their time.
        if octets > 3 << 20 && header.size <= DROPPED_OCTETS_MAX {
            header.size = 3 << 20;
        }
        if header.size <= DROPPED_OCTETS_MAX {
            let payload_octets = (header.size as usize).saturating_sub(Header::OCTETS);
            payload.resize(payload_octets, 0x11);
        }
        guard(&header, &mut payload, &fds);
        ([&header.encode()[..], &payload].concat(), fds)
    }
}

/// Takes the right to write from a map that would allow a guard to be written.
fn guard(header: &Header, payload: &mut [u8], fds: &[usize]) {
    let Some(map) = protocol::DmaMap::decode(payload) else {
        return;
    };
    if Command::from_code(header.command) != Command::DmaMap || fds.last() != Some(&0) {
        return;
    }
    let within = map.offset % (2 * PAGE);
    let allowed = within >= PAGE && map.size <= 2 * PAGE - within;
    if !allowed {
        let flags = map.flags & !2;
        payload[4..8].copy_from_slice(&flags.to_ne_bytes());
    }
}

/// Changes a few octets: bits, values at limits, pieces swapped.
fn mutate(random: &mut ChaCha8Rng, octets: &mut [u8]) {
    if octets.is_empty() {
        return;
    }
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..octets.len());
        let limit = (at + *[1, 2, 4, 8].choose(random).expect("some")).min(octets.len());
        match random.random_range(0..4) {
            0 => octets[at] ^= 1 << random.random_range(0..8),
            1 => octets[at] = random.random(),
            2 => octets[at..limit].fill(0xff),
            _ => octets[at..limit].fill(0),
        }
    }
}

/// Addresses close together, so that maps meet, and at both ends.
fn address(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..20) {
        0 => random.random(),
        1 => u64::MAX - random.random_range(0..2 * PAGE),
        2..=5 => random.random_range(0..16) * PAGE / 2 + random.random_range(0..64),
        _ => random.random_range(0..8) * PAGE,
    }
}

/// A message that the server would carry out, more or less.
fn valid(random: &mut ChaCha8Rng) -> (Command, Vec<u8>, Vec<usize>) {
    match random.random_range(0..20) {
        0 => (
            Command::Version,
            version_message()[Header::OCTETS..].to_vec(),
            vec![],
        ),
        1..=5 => {
            let map = protocol::DmaMap {
                argsz: 32,
                flags: *[1, 2, 3, 3, 3].choose(random).expect("some"),
                offset: *[0, 1, 1, 2, 3, 3, 4, 5].choose(random).expect("some") * PAGE,
                address: address(random),
                size: *[1, 2, 2, 2, 3].choose(random).expect("some") * PAGE / 2,
            };
            let fd = *[0, 0, 0, 1, 9].choose(random).expect("some");
            let fds = [fd].into_iter().filter(|fd| *fd < 9).collect();
            (Command::DmaMap, map.encode().into(), fds)
        }
        6 => {
            let all = random.random_bool(0.05);
            let unmap = DmaUnmap {
                argsz: 24,
                flags: if all { unmap_flags::ALL } else { 0 },
                address: address(random),
                size: random.random_range(1..4) * PAGE,
            };
            (Command::DmaUnmap, unmap.encode().into(), vec![])
        }
        7 => {
            let info = DeviceInfo {
                argsz: 16,
                ..DeviceInfo::default()
            };
            (Command::DeviceGetInfo, info.encode().into(), vec![])
        }
        8 => {
            let info = RegionInfo {
                argsz: 32,
                index: random.random_range(0..10),
                ..RegionInfo::default()
            };
            (Command::DeviceGetRegionInfo, info.encode().into(), vec![])
        }
        9 => {
            let info = IrqInfo {
                argsz: 16,
                index: random.random_range(0..6),
                ..IrqInfo::default()
            };
            (Command::DeviceGetIrqInfo, info.encode().into(), vec![])
        }
        10..=12 => set_irqs(random),
        13 => (Command::DeviceReset, vec![], vec![]),
        14 => {
            let access = RegionAccess {
                offset: random.random_range(0..300),
                region: *[0, 2, 6, 7].choose(random).expect("some"),
                count: random.random_range(0..64),
            };
            (Command::RegionRead, access.encode().into(), vec![])
        }
        _ => region_write(random),
    }
}

fn set_irqs(random: &mut ChaCha8Rng) -> (Command, Vec<u8>, Vec<usize>) {
    let count = random.random_range(0..5);
    let data = *[1, 2, 4, 4, 4].choose(random).expect("some");
    let action = *[8, 16, 32, 32, 32].choose(random).expect("some");
    let irqs = SetIrqs {
        argsz: 20,
        flags: data | action,
        index: *[0, 2, 2, 2, 4].choose(random).expect("some"),
        start: random.random_range(0..5),
        count,
    };
    let mut payload = irqs.encode().to_vec();
    let mut fds = Vec::new();
    match data {
        2 => payload.extend((0..count).map(|_| random.random::<u8>())),
        4 if random.random_bool(0.7) => fds = vec![2; count as usize],
        _ => {}
    }
    (Command::DeviceSetIrqs, payload, fds)
}

/// Mostly one that has the device fill or sum up memory.
fn region_write(random: &mut ChaCha8Rng) -> (Command, Vec<u8>, Vec<usize>) {
    let most = *[64, 64, 600, 6000].choose(random).expect("some");
    let octets: u32 = random.random_range(0..most);
    let command = random.random_range(1..3u32);
    let mut access = RegionAccess {
        offset: IOVA,
        region: 0,
        count: 16,
    };
    let iova = address(random).to_ne_bytes();
    let mut data = [&iova[..], &octets.to_ne_bytes(), &command.to_ne_bytes()].concat();
    if random.random_bool(0.3) {
        access.region = *[0, 2, 7].choose(random).expect("some");
        access.offset = random.random_range(0..250);
        access.count = random.random_range(0..8);
        data.truncate(access.count as usize);
    }
    (
        Command::RegionWrite,
        [&access.encode()[..], &data].concat(),
        vec![],
    )
}
