//! The framer against `rnic_wire`'s own framing, golden FPDUs and worked examples.

mod golden;
mod messages;
mod records;

use super::*;
use crate::startup::Agreed;
use rnic_wire::mpa::crc32c;
use std::collections::VecDeque;

/// Octet `n` of every region.
pub(crate) fn octet(region: u32, offset: u64) -> u8 {
    (offset as u8)
        .wrapping_mul(7)
        .wrapping_add((offset >> 8) as u8)
        .wrapping_add(region as u8)
}

pub(crate) fn contents(pieces: &Pieces) -> Vec<u8> {
    let pieces = pieces.as_slice().iter();
    let octets = pieces.flat_map(|piece| {
        (0..u64::from(piece.octets)).map(move |n| octet(piece.region, piece.offset + n))
    });
    octets.collect()
}

/// A payload of so many octets in one piece.
fn payload(octets: usize) -> Pieces {
    let piece = Piece {
        region: 1,
        offset: 100,
        octets: octets as u32,
    };
    Pieces::new(&[piece]).expect("one piece")
}

fn agreed(markers: bool, crc: bool) -> Agreed {
    Agreed {
        initiator: true,
        revision: 1,
        version: 1,
        crc,
        markers_in: false,
        markers_out: markers,
        ird: 1,
        ord: 1,
        rtr: None,
        private_data: Vec::new(),
    }
}

/// More ULPDUs than the messages of any test here have: what would be cut for ever ends with it.
const ULPDUS_MAX: usize = 10_000;
/// Octets of a region: more than any payload here, so that what is read beyond one ends a test.
const REGION_OCTETS: u64 = 1_000_000;

/// Messages that wait to be sent.
#[derive(Default)]
struct Waiting {
    messages: VecDeque<Message>,
    /// Region whose pieces cannot be read.
    unreadable: Option<u32>,
    reads: usize,
    /// ULPDUs and the ends of their FPDUs, as they were taken.
    taken: Vec<(Ulpdu, u64)>,
}

impl Waiting {
    fn of(messages: &[Message]) -> Self {
        Self {
            messages: messages.iter().copied().collect(),
            ..Self::default()
        }
    }
}

impl Source for Waiting {
    fn peek(&self, mulpdu: usize) -> Option<usize> {
        self.messages.front()?.next_octets(mulpdu)
    }

    fn take(&mut self, mulpdu: usize, end: u64) -> Option<Ulpdu> {
        let message = self.messages.front_mut()?;
        let ulpdu = message.next(mulpdu)?;
        if message.is_done() {
            self.messages.pop_front();
        }
        self.taken.push((ulpdu, end));
        assert!(self.taken.len() <= ULPDUS_MAX, "a message without end");
        Some(ulpdu)
    }

    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        assert_eq!(piece.octets as usize, into.len());
        assert_ne!(piece.octets, 0, "a piece of no octet is not read");
        assert!(piece.offset + u64::from(piece.octets) <= REGION_OCTETS);
        if self.unreadable == Some(piece.region) {
            return Err(Unreadable);
        }
        self.reads += 1;
        for (n, target) in into.iter_mut().enumerate() {
            *target = octet(piece.region, piece.offset + n as u64);
        }
        Ok(())
    }
}

/// What a record is on the wire, with what the device does.
pub(crate) fn on_the_wire(record: &Record, copied: &[u8]) -> Vec<u8> {
    let fpdu = match record {
        Record::Copied { octets, .. } => {
            assert_eq!(copied.len(), *octets);
            return copied.to_vec();
        }
        Record::Scatter(fpdu) => fpdu,
    };
    assert!(copied.is_empty());
    let mut octets = fpdu.head.as_slice().to_vec();
    octets.extend(contents(&fpdu.payload));
    octets.extend(fpdu.trailer.as_slice());
    assert_eq!(octets.len(), fpdu.octets());
    if fpdu.crc == Crc::Device {
        let covered = octets.len() - 4;
        let crc = crc32c::field(&octets[..covered]);
        octets[covered..].copy_from_slice(&crc);
    }
    octets
}

/// All records, and the stream that they make.
fn send_all(framer: &mut Framer, source: &mut Waiting) -> (Vec<Record>, Vec<u8>) {
    let (mut records, mut stream, mut out) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(record) = framer.next_record(source, &mut out) {
        stream.extend(on_the_wire(&record, &out));
        assert_eq!(record.end(), stream.len() as u64);
        records.push(record);
    }
    assert_eq!(framer.stream_offset(), stream.len() as u64);
    (records, stream)
}
