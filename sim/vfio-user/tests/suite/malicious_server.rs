//! Replies at random: the client returns a value or an error, and neither panics nor waits.
//!
//! All that the server says is in the socket before it is read, and then the socket is closed, so
//! that no call waits for its timeout. `FERROWARP_SEED` sets the first seed.

use std::os::fd::{AsFd, BorrowedFd};

use rand::seq::IndexedRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_vfio_user::protocol::{
    region_flags, CapabilityHeader, Command, Header, RegionInfo, SparseArea, SparseHeader,
};
use rnic_vfio_user::{Client, ClientError};
use rustix::net::{shutdown, Shutdown};

use crate::common::*;

const ROUNDS: u64 = 20_000;

/// A reply to `command` as it should be, its capabilities included.
fn reply(command: Command) -> Vec<u8> {
    let payload = match command {
        Command::DeviceGetRegionInfo => {
            let info = RegionInfo {
                argsz: 72,
                flags: region_flags::READ | region_flags::MMAP | region_flags::CAPABILITIES,
                index: 0,
                cap_offset: 32,
                size: PAGE,
                offset: 0,
            };
            let header = CapabilityHeader {
                id: 1,
                version: 1,
                next: 0,
            };
            let sparse = SparseHeader {
                nr_areas: 1,
                reserved: 0,
            };
            let area = SparseArea {
                offset: 0,
                size: PAGE,
            };
            let list = [&header.encode()[..], &sparse.encode(), &area.encode()].concat();
            [&info.encode()[..], &list].concat()
        }
        Command::RegionRead => vec![4; 16 + 8],
        _ => vec![1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0],
    };
    let header = Header::command(1, command, 0).reply(payload.len());
    [&header.encode()[..], &payload].concat()
}

fn mutate(random: &mut ChaCha8Rng, octets: &mut Vec<u8>) {
    for _ in 0..random.random_range(0..4) {
        let at = random.random_range(0..octets.len());
        match random.random_range(0..5) {
            0 => octets[at] ^= 1 << random.random_range(0..8),
            1 => octets[at] = 0xff,
            2 => octets[at] = 0,
            3 => random.fill_bytes(&mut octets[at..]),
            _ => octets.truncate(at.max(1)),
        }
    }
}

fn call(client: &mut Client, command: Command) -> Result<(), ClientError> {
    match command {
        Command::DeviceGetInfo => client.device_info().map(|_| ()),
        Command::DeviceGetRegionInfo => client.region_info(0).map(|info| {
            let within = |end: u64| end <= info.octets;
            assert!(info
                .areas
                .iter()
                .all(|area| within(area.offset + area.octets)));
            assert!(info.areas.is_empty() || info.file.is_some());
        }),
        Command::DeviceGetIrqInfo => client.irq_info(0).map(|_| ()),
        Command::RegionRead => client.read(0, 0, &mut [0; 8]),
        Command::RegionWrite => client.write(0, 0, &[0; 8]),
        _ => client.reset(),
    }
}

#[test]
fn no_reply_confuses_the_client() {
    let first = std::env::var("FERROWARP_SEED").ok();
    let first: u64 = first.map_or(0, |text| text.parse().expect("a number"));
    let commands = [
        Command::DeviceGetInfo,
        Command::DeviceGetRegionInfo,
        Command::DeviceGetRegionInfo,
        Command::DeviceGetIrqInfo,
        Command::RegionRead,
        Command::RegionWrite,
        Command::DeviceReset,
    ];
    let file = memory(PAGE);
    let (mut fine, mut refused, mut broken) = (0, 0, 0);
    for seed in first..first + ROUNDS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (ours, theirs) = sockets();
        let mut version = version_message();
        version[8] = 1;
        send(&theirs, &version, &[]);
        let command = *commands.choose(&mut random).expect("some");
        let mut octets = reply(command);
        if random.random_bool(0.1) {
            let errno = *[0, 22, 4095, 4096, u32::MAX]
                .choose(&mut random)
                .expect("some");
            octets = Header::command(1, command, 0)
                .error_reply(errno)
                .encode()
                .into();
        }
        mutate(&mut random, &mut octets);
        let fds: Vec<BorrowedFd> = vec![file.as_fd(); random.random_range(0..3)];
        send(&theirs, &octets, &fds);
        shutdown(&theirs, Shutdown::Write).expect("connected");
        let mut client = Client::over(ours).expect("versions agree");
        let result = call(&mut client, command);
        match &result {
            Ok(()) => fine += 1,
            Err(ClientError::Refused { .. }) => refused += 1,
            Err(ClientError::Malformed { .. } | ClientError::Ended(_)) => broken += 1,
            Err(error) => panic!("FERROWARP_SEED={seed}: {error}"),
        }
        let again = call(&mut client, command);
        let given_up = matches!(again, Err(ClientError::Broken));
        let ended = matches!(
            result,
            Err(ClientError::Malformed { .. } | ClientError::Ended(_))
        );
        assert_eq!(
            given_up, ended,
            "FERROWARP_SEED={seed}: {result:?}, {again:?}"
        );
    }
    let few = ROUNDS / 200;
    assert!(
        fine > few && refused > few && broken > few,
        "{fine}, {refused}, {broken}"
    );
}
