//! What Linux' siw sent, and what other writers of captures did, made again: start-up frames and
//! FPDUs of both directions, rebuilt from their settings and messages, are the captured octets.
//!
//! | may differ | because |
//! |---|---|
//! | IRD and ORD of one Request | its writer leaves them to the ULPs (0x3FFF), this crate never |
//! | PAD of siw, and the CRC over it | a sender owes zeros (MPA-003); siw sends what it has there |
//! | EMSS, which cuts messages | TCP's: given for each capture |
//! | borders of segments | TCP's: streams are compared, not packets |
mod rebuild;
mod streams;

use rebuild::{messages, rebuilt};
use rnic_iwarp::startup::{
    Agreed, Initiator, InitiatorOutput, Responder, ResponderOutput, Rtr, RtrKinds, Settings,
    DEPTH_MAX,
};
use rnic_wire::mpa::crc32c;
use rnic_wire::mpa::fpdu::Framing;
use rnic_wire::mpa::startup::{StartupFrame, StartupRepr};
use streams::streams;

/// Captures of Linux' siw: an MSS of 1460, less 12 octets of timestamps.
const SIW: [&str; 10] = [
    "rping-v4-crc",
    "rping-v4-nocrc",
    "send-bw-1500",
    "write-bw-1500",
    "netem-write-bw",
    "netem-send-bw",
    "q8-write-bw",
    "nfs-v3",
    "ops-v4-crc",
    "nagle-send-bw",
];
const SIW_EMSS_OCTETS: usize = 1448;
/// Captures of `make live`, each with what client and server cut messages for: 1460 octets is what
/// this project's end has, and siw leaves four of them free.
const LIVE: [(&str, [usize; 2]); 3] = [
    ("live-client", [1460, 1456]),
    ("live-server-read", [1456, 1460]),
    ("live-server-loss", [1456, 1460]),
];
/// Octets of an FPDU with a Read Request: length, header, request, CRC.
const RTR_READ_OCTETS: usize = 2 + 18 + 28 + 4;
/// Captures that were written octet by octet, and the EMSS that their writers cut messages for:
/// 1500 octets less the headers and timestamps of IPv4 or, in a VLAN, of IPv6 with 40 octets left
/// free; or any that allows the longest ULPDU.
const WRITTEN: [(&str, usize); 6] = [
    ("mk-aligned", 1448),
    ("mk-chopped", 1448),
    ("mk-loss", 1448),
    ("mk-rev0", 1448),
    ("mk-v6-vlan", 1408),
    ("gen-large-fpdus", 70_000),
];

fn capture(name: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testbench/captures");
    let file = std::fs::read(format!("{folder}/{name}.pcap")).expect("the capture is there");
    let streams = streams(&file);
    assert!(!streams.is_empty(), "{name}");
    streams
}

/// A frame at the head of a stream: what it wants as settings, its Private Data, and its length.
fn settings(stream: &[u8]) -> (Settings, Vec<u8>, usize) {
    let frame = StartupFrame::new_checked(stream).expect("a frame");
    let repr = StartupRepr::parse(&frame).expect("a frame");
    let enhanced = repr.enhanced;
    let depth = |depth: u16| depth.min(DEPTH_MAX);
    let settings = Settings {
        revision: repr.revision,
        revision_min: 0,
        markers: repr.markers,
        crc: repr.crc,
        ird: enhanced.map_or(16, |data| depth(data.ird)),
        ord: enhanced.map_or(16, |data| depth(data.ord)),
        peer_to_peer: enhanced.is_some_and(|data| data.peer_to_peer),
        rtr: enhanced.map_or(RtrKinds::ALL, |data| RtrKinds {
            fpdu: data.rtr_fpdu,
            write: data.rtr_write,
            read: data.rtr_read,
        }),
        private_data_octets_max: 0xffff,
        ..Settings::default()
    };
    let octets = repr.buffer_len();
    (settings, repr.private_data.to_vec(), octets)
}

/// Both ends' agreements, after their start-up has sent the captured frames.
fn start(name: &str, sent: &[u8], answered: &[u8]) -> (Agreed, Agreed, usize, usize) {
    let (ours, private_data, request) = settings(sent);
    let mut initiator = Initiator::new(ours, &private_data, 0).expect("settings");
    let Some(InitiatorOutput::Request(octets)) = initiator.poll(0) else {
        panic!("a Request");
    };
    let mut want = sent[..request].to_vec();
    if name == "gen-large-fpdus" && ours.revision == 2 {
        // A, B, and twice 0x3FFF, of which DEPTH_MAX has one bit less.
        assert_eq!(want[20..24], [0xff, 0xff, 0x3f, 0xff]);
        want[20..24].copy_from_slice(&[0xff, 0xfe, 0x3f, 0xfe]);
    }
    assert_eq!(octets, want, "{name}: the Request");

    let (theirs, private_data, reply) = settings(answered);
    let mut responder = Responder::new(theirs, 0).expect("settings");
    assert_eq!(responder.feed(&sent[..request]), request);
    assert!(matches!(
        responder.poll(0),
        Some(ResponderOutput::Request(_))
    ));
    let accepted = responder.accept(&private_data).expect("it was accepted");
    assert_eq!(accepted.reply, answered[..reply], "{name}: the Reply");

    assert_eq!(initiator.feed(&answered[..reply]), reply);
    let agreed = match initiator.poll(0) {
        Some(InitiatorOutput::Agreed(agreed)) => agreed,
        other => panic!("{name}: {other:?}"),
    };
    (agreed, accepted.agreed, request, reply)
}

/// A stream of FPDUs without markers whose PAD is zero, with the CRC of that, and how many FPDUs
/// this has changed: siw leaves in PAD what was in its buffer, where MPA-003 has zeros.
fn with_zero_pad(stream: &[u8], framing: Framing) -> (Vec<u8>, usize) {
    let (mut zeroed, mut at, mut changed) = (stream.to_vec(), 0, 0);
    while let Ok((fpdu, octets)) = framing.extract(stream, at) {
        let covered = at + octets - 4;
        let pad = covered - fpdu.pad().len();
        if zeroed[pad..covered].iter().any(|&octet| octet != 0) {
            changed += 1;
            zeroed[pad..covered].fill(0);
            if framing.crc {
                let crc = crc32c::field(&zeroed[at..covered]);
                zeroed[covered..covered + 4].copy_from_slice(&crc);
            }
        }
        at += octets;
    }
    (zeroed, changed)
}

/// What one end sends by.
fn framing(agreed: &Agreed) -> Framing {
    Framing {
        markers: agreed.markers_out,
        crc: agreed.crc,
    }
}

/// Both directions of every connection of a capture, whose FPDUs are rebuilt for these EMSS and are
/// what was sent, but for PAD: connections, messages, octets, FPDUs whose PAD is not zero.
fn sent_again(name: &str, emss_octets: [usize; 2]) -> [usize; 4] {
    let [mut connections, mut count, mut octets, mut padded] = [0; 4];
    for (sent, answered) in capture(name) {
        connections += 1;
        let (one, other, request, reply) = start(name, &sent, &answered);
        // The queue pair sends its own ready-to-receive message; in siw's a source STag is set.
        let rtr = usize::from(one.rtr == Some(Rtr::Read));
        let ends = [(one, &sent[request..], rtr), (other, &answered[reply..], 0)];
        for ((agreed, stream, rtr), emss_octets) in ends.into_iter().zip(emss_octets) {
            let framing = framing(&agreed);
            let (messages, whole) = messages(stream, framing);
            assert_eq!(whole, stream.len(), "{name}: all of it is messages");
            count += messages.len();
            octets += whole;
            let messages = messages.into_iter().skip(rtr).collect();
            let found = rebuilt(&agreed, messages, emss_octets);
            let (stream, pads) = with_zero_pad(stream, framing);
            padded += pads;
            let from = rtr * RTR_READ_OCTETS;
            let mut pairs = found[from..].iter().zip(&stream[from..]);
            let differs = pairs.position(|(one, other)| one != other);
            assert_eq!((found.len(), differs), (whole, None), "{name}");
        }
    }
    [connections, count, octets, padded]
}

/// The sums of what [`sent_again`] finds.
fn all_sent_again(captures: &[(&str, [usize; 2])]) -> [usize; 4] {
    captures.iter().fold([0; 4], |sums, (name, emss_octets)| {
        let found = sent_again(name, *emss_octets);
        std::array::from_fn(|which| sums[which] + found[which])
    })
}

/// MPA-001, MPA-003, MPA-006, MPA-020, DDP-012, RDMAP-001, RDMAP-002, RDMAP-006, RDMAP-007,
/// RDMAP-008: both directions of every connection of siw's captures: the start-up frames and all
/// FPDUs that are rebuilt from settings and messages are what siw sent, octet for octet, but for
/// its PAD.
#[test]
fn what_siw_sent_is_sent_again() {
    // As the captures' README counts the connections.
    let captures = SIW.map(|name| (name, [SIW_EMSS_OCTETS; 2]));
    assert_eq!(all_sent_again(&captures), [57, 3583, 5_975_584, 51]);
}

/// MPA-001, MPA-020, DDP-012, MPA2-002, MPA2-005, RDMAP-007, RDMAP-008: the same of connections
/// between this project's end and siw, one of them with a Read of no octets as ready-to-receive
/// message.
#[test]
fn what_both_ends_of_a_live_connection_sent_is_sent_again() {
    // 70 messages each, the ready-to-receive message and its answer; octets as facts.py has them.
    assert_eq!(all_sent_again(&LIVE), [3, 212, 255_792, 0]);
}

/// START-017, START-023, START-026, START-033, START-034, MPA-008, MPA-009, MPA-010, MPA-011,
/// MPA-013, MPA-015, MPA-021, MPA-022, MPA-032, DDP-009, MPA2-001, MPA2-002, MPA2-005, MPA2-010:
/// both directions of the other captures, with markers, revisions 0 to 2, both versions, the
/// longest ULPDUs and a ready-to-receive message: start-up frames and FPDUs are the captured
/// octets.
#[test]
fn what_other_writers_sent_is_sent_again() {
    let (mut connections, mut count, mut octets) = (0, 0, 0);
    for (name, emss_octets) in WRITTEN {
        for (sent, answered) in capture(name) {
            connections += 1;
            let (one, other, request, reply) = start(name, &sent, &answered);
            assert_eq!((one.revision, one.crc), (other.revision, other.crc));
            assert_eq!(
                (one.version, other.version),
                (u8::from(one.revision > 0), one.version)
            );
            assert_eq!(
                (one.markers_in, one.markers_out),
                (other.markers_out, other.markers_in)
            );
            assert_eq!(one.rtr, other.rtr);
            for (agreed, stream) in [(one, &sent[request..]), (other, &answered[reply..])] {
                let framing = framing(&agreed);
                let (messages, whole) = messages(stream, framing);
                assert_eq!(whole, stream.len(), "{name}: all of it is messages");
                count += messages.len();
                octets += whole;
                let found = rebuilt(&agreed, messages, emss_octets);
                let mut pairs = found.iter().zip(stream);
                let differs = pairs.position(|(one, other)| one != other);
                assert_eq!((found.len(), differs), (whole, None), "{name}");
            }
        }
    }
    // As a reader that shares no code with this one counts them.
    assert_eq!((connections, count, octets), (9, 718, 1_657_608));
}
