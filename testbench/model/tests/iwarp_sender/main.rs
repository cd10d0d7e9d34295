//! What `rnic-iwarp` sends, the model receives: two ends whose queue pairs make FPDUs and whose
//! models take them off the wire give each other the same messages.
//!
//! ```text
//!  start-up of both --> Agreed
//!  queue pair --records--> frames --shuffled--> model --completions, events--> queue pair
//!       ^                                                                          |
//!       +--------------------------- the same, the other way ----------------------+
//! ```
mod end;
mod frame;

use end::*;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_iwarp::framer::{Piece, Pieces};
use rnic_iwarp::queue_pair::{Event, Failure, Kind, Operation, Status, WorkRequest};
use rnic_iwarp::startup::{
    Agreed, Initiator, InitiatorOutput, Responder, ResponderOutput, Rtr, RtrKinds, Settings,
};
use std::net::SocketAddr;

/// Operations of each end in a run.
const OPERATIONS: u64 = 30;
/// Octets of the longest operation: so many of them fit a region.
const OPERATION_OCTETS_MAX: usize = REGION_OCTETS / OPERATIONS as usize;

/// Both ends' agreements after their start-up.
fn start(ours: Settings, theirs: Settings) -> [Agreed; 2] {
    let mut initiator = Initiator::new(ours, b"", 0).expect("settings");
    let mut responder = Responder::new(theirs, 0).expect("settings");
    let Some(InitiatorOutput::Request(request)) = initiator.poll(0) else {
        panic!("a Request");
    };
    assert_eq!(responder.feed(&request), request.len());
    assert!(matches!(
        responder.poll(0),
        Some(ResponderOutput::Request(_))
    ));
    let accepted = responder.accept(b"").expect("there is a Request");
    initiator.feed(&accepted.reply);
    match initiator.poll(0) {
        Some(InitiatorOutput::Agreed(agreed)) => [agreed, accepted.agreed],
        other => panic!("{other:?}"),
    }
}

/// Both ends, their memory full of random octets.
fn ends(agreed: &[Agreed; 2], emss_octets: usize, random: &mut ChaCha8Rng) -> [End; 2] {
    let addresses: [SocketAddr; 2] = [([10, 0, 0, 1], 40_000).into(), ([10, 0, 0, 2], 4420).into()];
    // The sequence numbers of one direction pass through zero.
    let starts = [0xffff_8000, random.random()];
    [0, 1].map(|side| {
        let other = 1 - side;
        let source = (0..REGION_OCTETS).map(|_| random.random()).collect();
        End::new(
            &agreed[side],
            emss_octets,
            [addresses[side], addresses[other]],
            [starts[side], starts[other]],
            source,
        )
    })
}

/// Move what either end sends to the other one until nothing moves: up to `batch` records at a
/// time, whose frames arrive in any order.
fn settle(ends: &mut [End; 2], batch: usize, random: &mut ChaCha8Rng) {
    loop {
        let mut moved = false;
        for side in 0..2 {
            let (mut frames, mut end) = (Vec::new(), None);
            for _ in 0..batch {
                let Some((more, after)) = ends[side].transmit() else {
                    break;
                };
                frames.extend(more);
                end = Some(after);
            }
            frames.shuffle(random);
            ends[1 - side].receive(&frames);
            if let Some(end) = end {
                ends[side].pair.on_acknowledged(end);
                moved = true;
            }
        }
        if !moved {
            return;
        }
    }
}

fn piece(offset: usize, octets: usize) -> Pieces {
    let piece = Piece {
        region: 0,
        offset: offset as u64,
        octets: octets as u32,
    };
    Pieces::new(&[piece]).expect("one piece")
}

/// What the operations of one end must leave at the other one, and at itself.
struct Expected {
    messages: Vec<Vec<u8>>,
    invalidated: Vec<u32>,
    written: Vec<u8>,
    read: Vec<u8>,
    kinds: Vec<Kind>,
}

/// Post random operations of one end, whose peer has memory `source` to be read.
fn post(end: &mut End, source: &[u8], random: &mut ChaCha8Rng) -> Expected {
    let mut expected = Expected {
        messages: Vec::new(),
        invalidated: Vec::new(),
        written: vec![0; REGION_OCTETS],
        read: vec![0; REGION_OCTETS],
        kinds: Vec::new(),
    };
    for id in 0..OPERATIONS {
        let most = [1, 5, 200, OPERATION_OCTETS_MAX][random.random_range(0..4)];
        let octets = random.random_range(0..most);
        let from = random.random_range(0..REGION_OCTETS - octets);
        let at = id as usize * OPERATION_OCTETS_MAX;
        let to = REGION_TO + at as u64;
        let payload = end.device.source[from..from + octets].to_vec();
        let (kind, operation) = match random.random_range(0..4) {
            0 => {
                expected.written[at..at + octets].copy_from_slice(&payload);
                let stag = WRITE_STAG;
                (Kind::Write, Operation::Write { stag, to })
            }
            1 => {
                expected.read[at..at + octets].copy_from_slice(&source[from..from + octets]);
                let operation = Operation::Read {
                    sink_stag: SINK_STAG,
                    sink_to: to,
                    source_stag: SOURCE_STAG,
                    source_to: from as u64,
                    octets: octets as u32,
                };
                (Kind::Read, operation)
            }
            _ => {
                expected.messages.push(payload);
                let invalidate_stag = random.random::<bool>().then(|| {
                    let n = expected.invalidated.len() as u32;
                    INVALIDATE_STAG + n * 256
                });
                expected.invalidated.extend(invalidate_stag);
                let operation = Operation::Send {
                    solicited: random.random(),
                    invalidate_stag,
                };
                (Kind::Send, operation)
            }
        };
        expected.kinds.push(kind);
        let payload = match kind {
            Kind::Read => Pieces::NONE,
            _ => piece(from, octets),
        };
        let work = WorkRequest {
            id,
            operation,
            payload,
        };
        end.pair.post_send(work).expect("room");
    }
    expected
}

fn verify(end: &mut End, ours: &Expected, peers: &Expected, run: &str) {
    assert_eq!(end.delivered, peers.messages, "{run}");
    assert_eq!(end.device.invalidated, peers.invalidated, "{run}");
    assert!(end.device.region(WRITE_STAG) == peers.written, "{run}");
    assert!(end.device.region(SINK_STAG) == ours.read, "{run}");
    assert_eq!(end.device.model.memory.violations, [], "{run}");
    let done: Vec<_> = std::iter::from_fn(|| end.pair.poll_completion()).collect();
    let sent = done.iter().filter(|done| done.id < OPERATIONS);
    let want = (0..).zip(&ours.kinds);
    assert!(sent.map(|done| (done.id, &done.kind)).eq(want), "{run}");
    assert!(done.iter().all(|done| done.status == Status::Success));
    assert_eq!(done.len(), ours.kinds.len() + peers.messages.len(), "{run}");
    assert_eq!(end.pair.poll_event(), Some(Event::Established), "{run}");
    assert_eq!(end.pair.poll_event(), None, "{run}");
}

/// Settings of run `n`: every revision, markers and CRC as they come, every kind of RTR.
fn settings(n: usize, random: &mut ChaCha8Rng) -> Settings {
    let revision = n % 3;
    let rtr = [None, Some(Rtr::Fpdu), Some(Rtr::Write), Some(Rtr::Read)][n / 3 % 4];
    let rtr = rtr.filter(|_| revision == 2);
    Settings {
        revision: revision as u8,
        revision_min: revision as u8,
        // Version 0 of revision 0, or 1 as Linux' siw has it.
        revision_0_version: (n / 3 % 2) as u8,
        markers: random.random(),
        crc: random.random(),
        ird: 4,
        ord: 4,
        peer_to_peer: rtr.is_some(),
        rtr: rtr.map_or(RtrKinds::ALL, RtrKinds::only),
        ..Settings::default()
    }
}

/// MPA-001, MPA-006, MPA-010, MPA-013, MPA-015, MPA-020, MPA-021, MPA-025, MPA-029, MPA-030,
/// DDP-009, DDP-021, RDMAP-001, RDMAP-002, RDMAP-003, RDMAP-006, RDMAP-007, RDMAP-008, RDMAP-013,
/// MPA2-005, MPA2-010, MPA2-011: random operations of both ends at every kind of EMSS, FPDUs packed
/// and cut, frames out of order: the model delivers the messages, places the octets, follows the
/// invalidations and never reports what was a ready-to-receive message.
#[test]
fn the_model_receives_what_was_sent() {
    let mut messages = 0;
    for n in 0..96 {
        let mut random = ChaCha8Rng::seed_from_u64(n as u64);
        let (ours, theirs) = (settings(n, &mut random), settings(n, &mut random));
        let agreed = start(ours, theirs);
        let emss_octets = [100, 136, 536, 1460, 8960][random.random_range(0..5)];
        let batch = random.random_range(1..6);
        let run = format!("seed {n}, EMSS {emss_octets}, {agreed:?}");
        let mut ends = ends(&agreed, emss_octets, &mut random);
        let sources = [0, 1].map(|side: usize| ends[1 - side].device.source.clone());
        let [one, other] = &mut ends;
        let ours = post(one, &sources[0], &mut random);
        let theirs = post(other, &sources[1], &mut random);
        settle(&mut ends, batch, &mut random);
        verify(&mut ends[0], &ours, &theirs, &run);
        verify(&mut ends[1], &theirs, &ours, &run);
        messages += ours.messages.len() + theirs.messages.len();
    }
    assert!(messages > 96 * 2 * 10, "{messages} messages are too few");
}

/// The Terminate that the initiator receives for one operation of its own.
fn refused(operation: Operation, octets: usize) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let agreed = start(Settings::default(), Settings::default());
    let mut ends = ends(&agreed, 1460, &mut random);
    let payload = piece(0, octets);
    let work = WorkRequest {
        id: 1,
        operation,
        payload,
    };
    ends[0].pair.post_send(work).expect("room");
    settle(&mut ends, 1, &mut random);
    let events = [0, 1].map(|side| {
        let pair = &mut ends[side].pair;
        std::iter::from_fn(|| pair.poll_event()).collect::<Vec<_>>()
    });
    let terminated = matches!(events[0][1], Event::Failed(Failure::Terminated(_)));
    let refused = matches!(events[1][1], Event::Failed(Failure::Refused { .. }));
    assert!(terminated && refused, "{events:?}");
    assert!(events.iter().all(|events| events[2] == Event::CloseSend));
    let done = ends[0].pair.poll_completion().map(|done| done.id);
    assert_eq!(done, Some(1), "it completes once");
    assert_eq!(ends[1].device.region(WRITE_STAG), [0; REGION_OCTETS]);
    ends[0].terminate.clone().expect("it was delivered")
}

/// RDMAP-016, RDMAP-020, RDMAP-022, DDP-034, DDP-046: what the model refuses comes back as one
/// Terminate with the headers that it must carry, and the model at the other end delivers it.
#[test]
fn what_the_model_refuses_comes_back_as_a_terminate() {
    let (stag, to) = (0x00de_ad00, 5);
    let found = refused(Operation::Write { stag, to }, 9);
    // DDP, tagged buffer, invalid STag; M and D; the segment's length; its 14 octets.
    let head = [0x11, 0x00, 0xc0, 0, 0, 23, 0xc1, 0x40, 0, 0xde, 0xad, 0];
    assert_eq!(found, [&head[..], &[0, 0, 0, 0, 0, 0, 0, 5]].concat());

    let to = REGION_TO + REGION_OCTETS as u64 - 8;
    let found = refused(
        Operation::Write {
            stag: WRITE_STAG,
            to,
        },
        9,
    );
    assert_eq!(found[..6], [0x11, 0x01, 0xc0, 0, 0, 23]);
    assert_eq!(found.len(), 6 + 14);

    let invalidate_stag = Some(0x00de_ad00);
    let solicited = false;
    let send = Operation::Send {
        solicited,
        invalidate_stag,
    };
    // RDMAP, remote protection, STag cannot be invalidated: an untagged header of 18 octets.
    let found = refused(send, 3);
    assert_eq!(found[..6], [0x01, 0x09, 0xc0, 0, 0, 21]);
    assert_eq!(found[6..12], [0x41, 0x44, 0, 0xde, 0xad, 0]);
    assert_eq!(found.len(), 6 + 18);

    let send = Operation::Send {
        solicited,
        invalidate_stag: None,
    };
    // DDP, untagged buffer, message too long: found in the segment that passes the buffer's end.
    let found = refused(send, BUFFER_OCTETS as usize + 1);
    assert_eq!(found[..3], [0x12, 0x05, 0xc0]);

    let read = Operation::Read {
        sink_stag: SINK_STAG,
        sink_to: REGION_TO,
        source_stag: 0x00de_ad00,
        source_to: 0,
        octets: 1,
    };
    // RDMAP, remote protection, invalid STag: both headers.
    let found = refused(read, 0);
    assert_eq!(found[..6], [0x01, 0x00, 0xe0, 0, 0, 46]);
    assert_eq!(found.len(), 6 + 18 + 28);
    assert_eq!(found[24 + 16..24 + 20], [0, 0xde, 0xad, 0]);
}
