//! A queue pair against a peer that reads its stream, and against every order of events.

mod ends;
mod every_order;
mod exchange;
mod reads;
mod sends;

use super::*;
use crate::framer::{Piece, Pieces, Record, Unreadable};
use crate::startup::{Agreed, Rtr};
use rnic_wire::ddp::control::FLAG_TAGGED;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::{TaggedHeader, TaggedRepr};
use rnic_wire::ddp::untagged::{UntaggedHeader, UntaggedRepr};
use rnic_wire::mpa::fpdu::Framing;
use std::collections::{BTreeMap, BTreeSet};

/// What a host was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    Invalidated(u32),
    ExpectRead(u32, u64, u32),
    Repost,
}

/// Memory by region, and what was asked for.
#[derive(Clone, Debug, Default)]
struct TestHost {
    regions: BTreeMap<u32, Vec<u8>>,
    unreadable: BTreeSet<u32>,
    refusal: Option<ReadRefusal>,
    calls: Vec<Call>,
}

impl TestHost {
    fn with(region: u32, octets: Vec<u8>) -> Self {
        let regions = BTreeMap::from([(region, octets)]);
        Self {
            regions,
            ..Self::default()
        }
    }
}

impl Host for TestHost {
    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        assert_ne!(piece.octets, 0, "a piece of no octet is not read");
        if self.unreadable.contains(&piece.region) {
            return Err(Unreadable);
        }
        let region = self.regions.get(&piece.region).ok_or(Unreadable)?;
        let from = piece.offset as usize;
        let octets = region.get(from..from + into.len()).ok_or(Unreadable)?;
        into.copy_from_slice(octets);
        Ok(())
    }

    fn read_source(&mut self, stag: u32, to: u64, octets: u32) -> Result<Pieces, ReadRefusal> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let piece = Piece {
            region: stag,
            offset: to,
            octets,
        };
        Ok(Pieces::new(&[piece]).expect("one piece"))
    }

    fn invalidated(&mut self, stag: u32) {
        self.calls.push(Call::Invalidated(stag));
    }

    fn expect_read(&mut self, sink_stag: u32, sink_to: u64, octets: u32) {
        self.calls
            .push(Call::ExpectRead(sink_stag, sink_to, octets));
    }

    fn repost_read_buffer(&mut self) {
        self.calls.push(Call::Repost);
    }
}

fn agreed(initiator: bool) -> Agreed {
    Agreed {
        initiator,
        revision: 2,
        version: 1,
        crc: true,
        markers_in: false,
        markers_out: false,
        ird: 2,
        ord: 2,
        rtr: None,
        private_data: Vec::new(),
    }
}

fn pair(initiator: bool) -> QueuePair {
    QueuePair::new(&agreed(initiator), 1460, Limits::default())
}

fn with_rtr(rtr: Rtr, initiator: bool) -> Agreed {
    Agreed {
        rtr: Some(rtr),
        ..agreed(initiator)
    }
}

fn piece(region: u32, octets: u32) -> Pieces {
    let piece = Piece {
        region,
        offset: 0,
        octets,
    };
    Pieces::new(&[piece]).expect("one piece")
}

fn send(id: u64, payload: Pieces) -> WorkRequest {
    let operation = Operation::Send {
        solicited: false,
        invalidate_stag: None,
    };
    WorkRequest {
        id,
        operation,
        payload,
    }
}

fn write(id: u64, payload: Pieces) -> WorkRequest {
    let operation = Operation::Write { stag: 5, to: 0 };
    WorkRequest {
        id,
        operation,
        payload,
    }
}

fn read(id: u64, octets: u32) -> WorkRequest {
    let operation = Operation::Read {
        sink_stag: 6,
        sink_to: 7,
        source_stag: 8,
        source_to: 0,
        octets,
    };
    WorkRequest {
        id,
        operation,
        payload: Pieces::NONE,
    }
}

/// A ULPDU as it came out of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Empty,
    Tagged(TaggedRepr, Vec<u8>),
    Untagged(UntaggedRepr, Vec<u8>),
}

impl Segment {
    fn opcode(&self) -> Option<Opcode> {
        match self {
            Self::Empty => None,
            Self::Tagged(header, _) => Some(header.control.opcode),
            Self::Untagged(header, _) => Some(header.control.opcode),
        }
    }
}

/// More octets than any stream here has: what would be sent for ever ends with it.
const STREAM_OCTETS_MAX: usize = 4_000_000;

/// The other end of a stream: reads FPDUs, and nothing else.
#[derive(Clone, Debug)]
struct Reader {
    framing: Framing,
    stream: Vec<u8>,
    at: usize,
}

impl Reader {
    fn new(agreed: &Agreed) -> Self {
        let framing = Framing {
            markers: agreed.markers_out,
            crc: agreed.crc,
        };
        let (stream, at) = (Vec::new(), 0);
        Self {
            framing,
            stream,
            at,
        }
    }

    /// Add a record, as the device sends it.
    fn push(&mut self, record: &Record, copied: &[u8], host: &mut TestHost) {
        match record {
            Record::Copied { .. } => self.stream.extend_from_slice(copied),
            Record::Scatter(fpdu) => {
                let start = self.stream.len();
                self.stream.extend_from_slice(fpdu.head.as_slice());
                for piece in fpdu.payload.as_slice() {
                    let mut octets = vec![0; piece.octets as usize];
                    host.read(piece, &mut octets).expect("in place");
                    self.stream.extend(octets);
                }
                self.stream.extend_from_slice(fpdu.trailer.as_slice());
                if fpdu.crc == crate::framer::Crc::Device {
                    let covered = self.stream.len() - 4;
                    let crc = rnic_wire::mpa::crc32c::field(&self.stream[start..covered]);
                    self.stream[covered..].copy_from_slice(&crc);
                }
            }
        }
        assert_eq!(self.stream.len() as u64, record.end());
        assert!(
            self.stream.len() <= STREAM_OCTETS_MAX,
            "a stream without end"
        );
    }

    /// The next segment.
    fn next(&mut self) -> Option<Segment> {
        let (fpdu, octets) = self.framing.extract(&self.stream, self.at).ok()?;
        let crc = rnic_wire::mpa::crc32c::field(&self.stream[self.at..self.at + octets - 4]);
        assert!(!self.framing.crc || fpdu.crc() == crc);
        self.at += octets;
        let ulpdu = fpdu.ulpdu();
        Some(match ulpdu.first() {
            None => Segment::Empty,
            Some(first) if first & FLAG_TAGGED != 0 => {
                let view = TaggedHeader::new_checked(ulpdu).expect("a header");
                let header = TaggedRepr::parse(&view).expect("a header");
                Segment::Tagged(header, view.payload().to_vec())
            }
            Some(_) => {
                let view = UntaggedHeader::new_checked(ulpdu).expect("a header");
                let header = UntaggedRepr::parse(&view).expect("a header");
                Segment::Untagged(header, view.payload().to_vec())
            }
        })
    }
}

/// Everything that a queue pair sends now, segment by segment.
fn sent(pair: &mut QueuePair, host: &mut TestHost, reader: &mut Reader) -> Vec<Segment> {
    let mut out = Vec::new();
    while let Some(record) = pair.transmit(host, &mut out) {
        reader.push(&record, &out, host);
    }
    std::iter::from_fn(|| reader.next()).collect()
}

fn opcodes(segments: &[Segment]) -> Vec<Option<Opcode>> {
    segments.iter().map(Segment::opcode).collect()
}

fn completions(pair: &mut QueuePair) -> Vec<(u64, Status)> {
    let all = std::iter::from_fn(|| pair.poll_completion());
    all.map(|done| (done.id, done.status)).collect()
}

fn events(pair: &mut QueuePair) -> Vec<Event> {
    std::iter::from_fn(|| pair.poll_event()).collect()
}

fn message(msn: u32) -> Received<'static> {
    let delivered = Delivered::new(Opcode::Send, msn, 3, 0);
    Received::Send(delivered.expect("a Send"))
}
