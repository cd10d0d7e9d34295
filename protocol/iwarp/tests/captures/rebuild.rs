//! A stream taken apart into messages, and made again of them by a queue pair.

use rnic_iwarp::framer::{Crc, Piece, Pieces, Record, Unreadable};
use rnic_iwarp::queue_pair::{
    Host, Limits, Operation, QueuePair, ReadRefusal, Received, WorkRequest,
};
use rnic_iwarp::startup::Agreed;
use rnic_wire::ddp::control::FLAG_TAGGED;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::{ReadRequest, ReadRequestRepr};
use rnic_wire::ddp::tagged::{TaggedHeader, TaggedRepr};
use rnic_wire::ddp::untagged::{UntaggedHeader, UntaggedRepr};
use rnic_wire::mpa::crc32c;
use rnic_wire::mpa::fpdu::Framing;

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
pub enum Message {
    Tagged(TaggedRepr, Vec<u8>),
    Untagged(UntaggedRepr, Vec<u8>),
}

/// The messages of a stream of FPDUs, and the octets of it that they are.
pub fn messages(stream: &[u8], framing: Framing) -> (Vec<Message>, usize) {
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
pub fn rebuilt(agreed: &Agreed, messages: Vec<Message>, emss_octets: usize) -> Vec<u8> {
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
