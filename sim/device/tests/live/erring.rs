//! An application errs, and both ends are Ferrowarps: what completes how at either of them, and why
//! each says that the connection has ended.
//!
//! ```text
//!  erring end                                      its peer
//!    Send "hello"    ------------------------>     receives it
//!    the request that errs ------------------>     refuses it: Failed(Refused)
//!    a good Read     - - - - - - - - - - - - >     is not answered any more
//!    Failed(Terminated)  <----- Terminate ----     its receives are flushed
//!    the Read and its receives are flushed
//! ```
//!
//! RFC 5040 section 7.2 has what is an error, section 4.8 its number. A Write or a Send is over
//! when the peer's TCP has it (DDP-026), so that the one that errs succeeds; a Read does not.

use crate::scene::{completion, event, octets, post_receives, End, Scene};
use rnic_driver::verbs::endpoint::{
    EndpointError, PairEvent, PairOptions, QueuePair, SendOperation, WorkCompletion, WorkKind,
};
use rnic_driver::verbs::{MemoryRegion, RegionOptions};
use rnic_iwarp::queue_pair::{Failure, Place, Status};
use rnic_iwarp::startup::Settings;
use rnic_wire::ddp::errors::{
    Cause, DDP_BOUNDS, DDP_NO_BUFFER, DDP_STAG, DDP_TOO_LONG, DDP_WRAP, RDMAP_ACCESS, RDMAP_BOUNDS,
    RDMAP_INVALIDATE, RDMAP_STAG, RDMAP_WRAP,
};
use std::time::{Duration, Instant};

/// Octets of a region of the peer's.
const OCTETS: usize = 1000;
/// Octets of a request that does not err by its length.
const LENGTH: usize = 100;
/// Octets of a receive, by `post_receives`.
const RECEIVE: usize = 4096;
/// Receives that are posted at each end.
const RECEIVES: u32 = 4;
const HELLO: &[u8] = b"hello";
/// Octets of the FPDU of that message.
const HELLO_FPDU: u64 = 28 + 4;

/// Which STag of the peer's is meant.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// Of a region with every right.
    Region,
    /// Of none.
    Nothing,
    /// Of a region without rights.
    Private,
}

/// A request.
#[derive(Clone, Copy, Debug)]
enum Errs {
    Write(Of, u64),
    Read(Of, u64),
    Send(usize),
    Invalidate(Of),
    /// As many good Sends as there are receives, and one more.
    Sends,
}

/// A request that errs, what the peer calls it, and where it finds it.
struct Row(Errs, Cause, Place);

const TOO_FAR: u64 = (OCTETS - LENGTH + 1) as u64;
/// So that the octets would go on at 0.
const WRAPS: u64 = u64::MAX - 49;
/// The FPDU after that of the message.
const SECOND: Place = Place::Fpdu(HELLO_FPDU);

/// A message has FPDUs of the EMSS: the third one goes on beyond 4096 octets.
const THIRD_OF_MESSAGE: Place = Place::Fpdu(HELLO_FPDU + 2 * 1460);
/// After three messages with a header of 18 octets, a length and a CRC.
const FOURTH_MESSAGE: Place = Place::Fpdu(HELLO_FPDU + 3 * (2 + 18 + LENGTH as u64 + 4));

const ROWS: [Row; 13] = [
    Row(Errs::Write(Of::Nothing, 0), DDP_STAG, SECOND),
    Row(Errs::Write(Of::Region, TOO_FAR), DDP_BOUNDS, SECOND),
    Row(Errs::Write(Of::Region, WRAPS), DDP_WRAP, SECOND),
    Row(Errs::Write(Of::Private, 0), RDMAP_ACCESS, SECOND),
    Row(
        Errs::Read(Of::Nothing, 0),
        RDMAP_STAG,
        Place::ReadRequest(1),
    ),
    Row(
        Errs::Read(Of::Region, TOO_FAR),
        RDMAP_BOUNDS,
        Place::ReadRequest(1),
    ),
    Row(
        Errs::Read(Of::Region, WRAPS),
        RDMAP_WRAP,
        Place::ReadRequest(1),
    ),
    Row(
        Errs::Read(Of::Private, 0),
        RDMAP_ACCESS,
        Place::ReadRequest(1),
    ),
    Row(Errs::Send(RECEIVE + 1), DDP_TOO_LONG, THIRD_OF_MESSAGE),
    Row(Errs::Send(2 * RECEIVE), DDP_TOO_LONG, THIRD_OF_MESSAGE),
    Row(Errs::Sends, DDP_NO_BUFFER, FOURTH_MESSAGE),
    Row(Errs::Invalidate(Of::Nothing), RDMAP_INVALIDATE, SECOND),
    Row(Errs::Invalidate(Of::Private), RDMAP_INVALIDATE, SECOND),
];

/// An end with its queue pair.
#[derive(Clone, Copy)]
struct Side<'a> {
    end: &'a End,
    pair: &'a QueuePair,
}

/// The peer's memory, and the STag of none.
struct Target {
    region: MemoryRegion,
    private: MemoryRegion,
    text: Vec<u8>,
}

impl Target {
    fn new(end: &End) -> Self {
        let text = octets(OCTETS, 8);
        let mut memory = end.context.allocate(OCTETS).expect("memory");
        memory.write(0, &text).expect("it fits");
        let private = end.domain.register(memory, &RegionOptions::default());
        Self {
            region: end.region(&text),
            private: private.expect("a region without rights"),
            text,
        }
    }

    fn stag(&self, of: Of) -> u32 {
        match of {
            Of::Region => self.region.stag(),
            Of::Nothing => self.region.stag() ^ 0x40,
            Of::Private => self.private.stag(),
        }
    }

    /// Nothing was placed.
    fn is_untouched(&self) {
        for region in [&self.region, &self.private] {
            let mut now = vec![0; OCTETS];
            region.read(0, &mut now).expect("all of it");
            assert!(now == self.text, "octets were placed");
        }
    }
}

/// Post what errs and, at the same time, a good Read; the last request but one errs. How many.
fn err(side: Side, errs: Errs, target: &Target, [source, sink]: [&MemoryRegion; 2]) -> usize {
    let octets = match errs {
        Errs::Send(octets) => octets,
        _ => LENGTH,
    };
    let payload = [source.part(0..octets).expect("inside")];
    let read = |stag, to| SendOperation::Read {
        sink,
        sink_to: 0,
        source_stag: stag,
        source_to: to,
        octets: LENGTH as u32,
    };
    let erring = match errs {
        Errs::Write(of, to) => SendOperation::Write {
            payload: &payload,
            stag: target.stag(of),
            to,
        },
        Errs::Read(of, to) => read(target.stag(of), to),
        Errs::Send(_) | Errs::Sends => SendOperation::send(&payload),
        Errs::Invalidate(of) => SendOperation::Send {
            payload: &payload,
            solicited: false,
            invalidate_stag: Some(target.stag(of)),
        },
    };
    let count = match errs {
        // The first receive has the message before.
        Errs::Sends => RECEIVES as usize,
        _ => 1,
    };
    let mut requests = vec![(1, erring); count];
    requests.push((2, read(target.region.stag(), 0)));
    side.pair.post_sends(&requests).expect("posted");
    requests.len()
}

/// The message before all else: the responder may answer then (START-014).
fn greet([from, to]: [Side; 2]) {
    let region = from.end.region(HELLO);
    let payload = [region.part(0..HELLO.len()).expect("all of it")];
    let operation = SendOperation::send(&payload);
    from.pair.post_send(1, &operation).expect("posted");
    assert_eq!(completion(from.pair).status, Status::Success);
    assert_eq!(completion(to.pair).message(), HELLO);
}

/// Completions of an end that has failed: those of its requests, and the receives that had no
/// message; the oldest one ends so, the others are flushed.
fn completions(side: Side, requests: usize, receives: u32, oldest: Status) -> Vec<WorkCompletion> {
    let count = requests + receives as usize;
    let all: Vec<WorkCompletion> = (0..count).map(|_| completion(side.pair)).collect();
    assert!(side.pair.poll_completion().expect("it is there").is_none());
    let (received, sent) = all
        .into_iter()
        .partition::<Vec<_>, _>(|done| done.kind == WorkKind::Receive);
    assert_eq!((received.len(), sent.len()), (receives as usize, requests));
    let statuses: Vec<Status> = received.iter().map(|done| done.status).collect();
    let mut expected = vec![Status::Flushed; receives as usize];
    if let Some(first) = expected.first_mut() {
        *first = oldest;
    }
    assert_eq!(statuses, expected);
    sent
}

/// A row in a connection of its own.
fn play(scene: &Scene, Row(errs, cause, place): &Row, initiator_errs: bool) {
    println!("{errs:?}, the initiator: {initiator_errs}");
    let settings = Settings::default();
    let options = PairOptions::default();
    let pairs = scene.pairs_with([&settings, &settings], options, RECEIVES);
    let [initiator, responder] = [
        Side {
            end: &scene.initiator,
            pair: &pairs[0],
        },
        Side {
            end: &scene.responder,
            pair: &pairs[1],
        },
    ];
    let (mut erring, mut peer) = (initiator, responder);
    greet([initiator, responder]);
    assert_eq!(event(responder.pair), PairEvent::Established);
    let mut left = [RECEIVES, RECEIVES - 1];
    if !initiator_errs {
        (erring, peer) = (responder, initiator);
        greet([erring, peer]);
        left = [RECEIVES - 1, RECEIVES - 1];
    }
    let target = Target::new(peer.end);
    let sink = erring.end.region(&vec![0; OCTETS]);
    let text = octets(2 * RECEIVE, 1);
    let source = erring.end.region(&text);
    let requests = err(erring, *errs, &target, [&source, &sink]);

    let failed = event(peer.pair);
    let PairEvent::Failed(Failure::Refused {
        cause: found,
        place: at,
    }) = failed
    else {
        panic!("{failed:?}");
    };
    assert_eq!((found, at), (*cause, *place));
    let failed = event(erring.pair);
    let PairEvent::Failed(Failure::Terminated(received)) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(received.cause, Some(*cause));
    let is_read = matches!(errs, Errs::Read(..));
    assert_eq!(received.read_msn, is_read.then_some(1));

    let sent = completions(erring, requests, left[0], Status::Flushed);
    let statuses: Vec<Status> = sent.iter().map(|done| done.status).collect();
    let mut expected = vec![Status::Success; requests - 1];
    if is_read {
        expected = vec![Status::RemoteAccess];
    }
    expected.push(Status::Flushed);
    assert_eq!(statuses, expected);
    let messages = requests as u32 - 2;
    for _ in 0..messages {
        assert_eq!(completion(peer.pair).message(), text[..LENGTH]);
    }
    let oldest = match errs {
        Errs::Send(_) => Status::LocalLength,
        _ => Status::Flushed,
    };
    completions(peer, 0, left[1] - messages, oldest);
    target.is_untouched();
    for side in [erring, peer] {
        side.pair.disconnect().expect("it is there");
    }
    for side in [erring, peer] {
        assert_eq!(event(side.pair), PairEvent::Closed);
        // By FIN, once the application lets go (DDP-035, RDMAP-020), and after TIME-WAIT.
        let until = Instant::now() + Duration::from_secs(10);
        let reason = loop {
            if let Some(reason) = side.pair.end_reason().expect("it is there") {
                break reason;
            }
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(1));
        };
        let by = side.pair.peer_addr();
        let is_closed = matches!(&reason, EndpointError::Closed { peer } if *peer == by);
        assert!(is_closed, "{reason}");
    }
}

/// RDMAP-016 to RDMAP-021, DDP-032, DDP-046: each row from either end; another connection goes on.
#[test]
fn a_request_that_errs_ends_both_ends_as_it_should() {
    let scene = Scene::new(false);
    let settings = Settings::default();
    let others = scene.pairs([&settings, &settings]);
    for row in &ROWS {
        for initiator_errs in [true, false] {
            play(&scene, row, initiator_errs);
            let [from, to] = [0, 1].map(|side| Side {
                end: [&scene.initiator, &scene.responder][side],
                pair: &others[side],
            });
            greet([from, to]);
            post_receives(to.end, to.pair, 1);
        }
    }
}
