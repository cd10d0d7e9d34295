//! What Linux' siw sent, and what other writers of captures did, made again: start-up frames and
//! FPDUs of both directions, rebuilt from their settings and messages, are the captured octets.
mod streams;

use rnic_iwarp::framer::{Crc, Piece, Pieces, Record, Unreadable};
use rnic_iwarp::queue_pair::{
    Host, Limits, Operation, QueuePair, ReadRefusal, Received, WorkRequest,
};
use rnic_iwarp::startup::{
    Agreed, Initiator, InitiatorOutput, Responder, ResponderOutput, RtrKinds, Settings, DEPTH_MAX,
};
use rnic_wire::ddp::control::FLAG_TAGGED;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::{ReadRequest, ReadRequestRepr};
use rnic_wire::ddp::tagged::{TaggedHeader, TaggedRepr};
use rnic_wire::ddp::untagged::{UntaggedHeader, UntaggedRepr};
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
/// Captures that were written octet by octet.
const WRITTEN: [&str; 6] = [
    "mk-aligned",
    "mk-chopped",
    "mk-loss",
    "mk-rev0",
    "mk-v6-vlan",
    "gen-large-fpdus",
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
    // One writer leaves IRD and ORD to the ULPs (0x3FFF); this crate offers numbers.
    let offered = &sent[20..24.min(sent.len())];
    if !(name == "gen-large-fpdus" && sent[17] == 2) {
        assert_eq!(octets, sent[..request], "{name}: the Request");
    } else {
        assert_eq!(offered, [0xff, 0xff, 0x3f, 0xff]);
    }

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

/// Payloads by number.
#[derive(Default)]
struct Payloads(Vec<Vec<u8>>);

impl Payloads {
    fn add(&mut self, octets: Vec<u8>) -> Pieces {
        let piece = Piece {
            region: self.0.len() as u32,
            offset: 0,
            octets: octets.len() as u32,
        };
        self.0.push(octets);
        Pieces::new(&[piece]).expect("one piece")
    }
}

impl Host for Payloads {
    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        let from = piece.offset as usize;
        into.copy_from_slice(&self.0[piece.region as usize][from..from + into.len()]);
        Ok(())
    }

    /// The source of every Read is the response that was captured last.
    fn read_source(&mut self, _: u32, _: u64, octets: u32) -> Result<Pieces, ReadRefusal> {
        let piece = Piece {
            region: self.0.len() as u32 - 1,
            offset: 0,
            octets,
        };
        Ok(Pieces::new(&[piece]).expect("one piece"))
    }

    fn invalidated(&mut self, _: u32) {}

    fn expect_read(&mut self, _: u32, _: u64, _: u32) {}

    fn repost_read_buffer(&mut self) {}
}

/// A message as it was captured.
#[derive(Clone, Debug)]
enum Message {
    Tagged(TaggedRepr, Vec<u8>),
    Untagged(UntaggedRepr, Vec<u8>),
}

/// The messages of a stream of FPDUs, and the octets of it that they are.
fn messages(stream: &[u8], framing: Framing) -> (Vec<Message>, usize) {
    let (mut all, mut at, mut whole) = (Vec::new(), 0, 0);
    let mut open: Option<Message> = None;
    while let Ok((fpdu, octets)) = framing.extract(stream, at) {
        at += octets;
        let ulpdu = fpdu.ulpdu();
        let last = match ulpdu.first() {
            // A ready-to-receive message; the queue pair sends it by itself.
            None => {
                whole = at;
                continue;
            }
            Some(first) if first & FLAG_TAGGED != 0 => {
                let view = TaggedHeader::new_checked(ulpdu).expect("a header");
                let header = TaggedRepr::parse(&view).expect("a header");
                let message = open.get_or_insert(Message::Tagged(header, Vec::new()));
                let Message::Tagged(_, payload) = message else {
                    panic!("a message inside of another one");
                };
                payload.extend_from_slice(view.payload());
                header.control.last
            }
            Some(_) => {
                let view = UntaggedHeader::new_checked(ulpdu).expect("a header");
                let header = UntaggedRepr::parse(&view).expect("a header");
                let message = open.get_or_insert(Message::Untagged(header, Vec::new()));
                let Message::Untagged(_, payload) = message else {
                    panic!("a message inside of another one");
                };
                payload.extend_from_slice(view.payload());
                header.control.last
            }
        };
        if last {
            all.extend(open.take());
            whole = at;
        }
    }
    (all, whole)
}

/// Have a queue pair send a captured message.
fn post(pair: &mut QueuePair, host: &mut Payloads, message: Message) {
    let (operation, payload) = match message {
        Message::Tagged(header, octets) if header.control.opcode == Opcode::ReadResponse => {
            let request = ReadRequestRepr {
                sink_stag: header.stag,
                sink_to: header.to,
                size: octets.len() as u32,
                source_stag: 1,
                source_to: 0,
            };
            host.add(octets);
            let payload = &request.octets();
            pair.on_received(Received::ReadRequest { msn: 1, payload }, host);
            return;
        }
        Message::Tagged(header, octets) => {
            let TaggedRepr { stag, to, .. } = header;
            (Operation::Write { stag, to }, host.add(octets))
        }
        Message::Untagged(header, octets) if header.control.opcode == Opcode::ReadRequest => {
            let view = ReadRequest::new_checked(&octets[..]).expect("28 octets");
            let request = ReadRequestRepr::parse(&view).expect("28 octets");
            let operation = Operation::Read {
                sink_stag: request.sink_stag,
                sink_to: request.sink_to,
                source_stag: request.source_stag,
                source_to: request.source_to,
                octets: request.size,
            };
            (operation, Pieces::NONE)
        }
        Message::Untagged(header, octets) => {
            let opcode = header.control.opcode;
            let invalidate_stag = opcode.invalidates().then_some(header.invalidate_stag);
            let solicited = matches!(
                opcode,
                Opcode::SendSolicited | Opcode::SendSolicitedInvalidate
            );
            let operation = Operation::Send {
                solicited,
                invalidate_stag,
            };
            (operation, host.add(octets))
        }
    };
    let id = 0;
    let work = WorkRequest {
        id,
        operation,
        payload,
    };
    pair.post_send(work).expect("room");
}

/// The stream that a queue pair makes of messages that are posted one by one.
fn rebuilt(agreed: &Agreed, messages: Vec<Message>, emss_octets: usize) -> Vec<u8> {
    // IRD and ORD belong to the ULPs where a capture has them as 0 and reads all the same.
    let agreed = Agreed {
        ird: agreed.ird.max(1),
        ord: agreed.ord.max(1),
        ..agreed.clone()
    };
    let mut pair = QueuePair::new(&agreed, emss_octets, Limits::default());
    let (mut host, mut out, mut stream) = (Payloads::default(), Vec::new(), Vec::new());
    pair.on_received(Received::FirstFpdu, &mut host);
    for message in messages {
        let is_read = matches!(&message, Message::Untagged(header, _) if header.qn == 1);
        post(&mut pair, &mut host, message);
        while let Some(record) = pair.transmit(&mut host, &mut out) {
            stream.extend(on_the_wire(&record, &out, &mut host));
            pair.on_acknowledged(record.end());
        }
        if is_read {
            pair.on_received(Received::ReadResponse, &mut host);
        }
        while pair.poll_completion().is_some() {}
    }
    stream
}

/// A record with what the device does.
fn on_the_wire(record: &Record, copied: &[u8], host: &mut Payloads) -> Vec<u8> {
    let Record::Scatter(fpdu) = record else {
        return copied.to_vec();
    };
    let mut octets = fpdu.head.as_slice().to_vec();
    for piece in fpdu.payload.as_slice() {
        let start = octets.len();
        octets.resize(start + piece.octets as usize, 0);
        host.read(piece, &mut octets[start..]).expect("it is there");
    }
    octets.extend_from_slice(fpdu.trailer.as_slice());
    if fpdu.crc == Crc::Device {
        let covered = octets.len() - 4;
        let crc = crc32c::field(&octets[..covered]);
        octets[covered..].copy_from_slice(&crc);
    }
    octets
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

/// MPA-001, MPA-003, MPA-006, MPA-020, DDP-012, RDMAP-001, RDMAP-002, RDMAP-006, RDMAP-007,
/// RDMAP-008: both directions of every connection of siw's captures: the start-up frames and all
/// FPDUs that are rebuilt from settings and messages are what siw sent, octet for octet, but for
/// its PAD.
#[test]
fn what_siw_sent_is_sent_again() {
    let (mut connections, mut count, mut octets, mut padded) = (0, 0, 0, 0);
    for name in SIW {
        for (sent, answered) in capture(name) {
            connections += 1;
            let (one, other, request, reply) = start(name, &sent, &answered);
            for (agreed, stream) in [(one, &sent[request..]), (other, &answered[reply..])] {
                let framing = Framing {
                    markers: agreed.markers_out,
                    crc: agreed.crc,
                };
                let (messages, whole) = messages(stream, framing);
                assert_eq!(whole, stream.len(), "{name}: all of it is messages");
                count += messages.len();
                octets += whole;
                let found = rebuilt(&agreed, messages, SIW_EMSS_OCTETS);
                let (stream, pads) = with_zero_pad(stream, framing);
                padded += pads;
                let mut pairs = found.iter().zip(&stream);
                let differs = pairs.position(|(one, other)| one != other);
                assert_eq!((found.len(), differs), (whole, None), "{name}");
            }
        }
    }
    // As the captures' README counts the connections.
    assert_eq!(
        (connections, count, octets, padded),
        (57, 3583, 5_975_584, 51)
    );
}

/// START-023, START-026, START-033, START-034, MPA2-001, MPA2-002: the start-up frames of the other
/// captures, revisions 0 to 2.
#[test]
fn frames_of_other_writers_are_sent_again() {
    for name in WRITTEN {
        for (sent, answered) in capture(name) {
            let (one, other, ..) = start(name, &sent, &answered);
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
        }
    }
}
