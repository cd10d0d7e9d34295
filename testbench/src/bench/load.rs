//! Frames of one size and pattern, interleaved over connections.
//!
//! Sizes count the FCS. A frame whose payload cannot be a multiple of four octets ends in Ethernet
//! padding, so that it has exactly the size asked for.

use crate::bench::rig::{Stream, REGION_OCTETS, STAG};
use crate::traffic::cutter::Cutter;
use crate::traffic::frame::FLAG_ACK;
use crate::traffic::sender::Sender;
use rand::SeedableRng;
use serde::Serialize;

const FCS_OCTETS: usize = 4;
const HEADER_OCTETS: usize = 14 + 20 + 20;
const TAGGED_HEADER_OCTETS: usize = 14;
/// Length field, CRC, and the marker or two that may fall into a small FPDU.
const FPDU_OVERHEAD_OCTETS: usize = 6;
/// FPDU of the packed pattern on the wire.
const PACKED_FPDU_OCTETS: usize = 100;
/// How much longer than a segment's payload an FPDU of the unaligned pattern is.
const UNALIGNED_EXCESS_OCTETS: usize = 52;
/// Longest FPDU of the unaligned pattern: 64 connections that each keep part of a jumbo FPDU would
/// need more packet memory than there is, whatever the design.
const UNALIGNED_FPDU_OCTETS_MAX: usize = 1512;

/// What the frames carry.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// No payload: pure acknowledgements.
    Acknowledgement,
    /// A Send of zero octets, the smallest FPDU with a DDP header.
    Send,
    /// One FPDU a segment, as long as fits.
    Aligned,
    /// As many whole FPDUs of 100 octets as fit a segment.
    Packed,
    /// Full segments of a stream whose FPDUs are a little longer, but at most 1512 octets: segments
    /// begin and end inside FPDUs.
    Unaligned,
    /// As `Aligned`, with markers.
    Markers,
}

impl Pattern {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acknowledgement => "ack",
            Self::Send => "send",
            Self::Aligned => "aligned",
            Self::Packed => "packed",
            Self::Unaligned => "unaligned",
            Self::Markers => "markers",
        }
    }

    /// Are FPDUs sent with markers?
    pub const fn markers(self) -> bool {
        matches!(self, Self::Markers)
    }
}

/// The next frames of a stream: about `count` of `size` octets.
pub fn frames(stream: &mut Stream, pattern: Pattern, size: usize, count: usize) -> Vec<Vec<u8>> {
    let payload = size - FCS_OCTETS - HEADER_OCTETS;
    let start = stream.sender.stream().len();
    if pattern == Pattern::Acknowledgement {
        let sequence = stream.sender.sequence(start);
        let frame = padded(stream.builder.segment(sequence, 1, FLAG_ACK, &[]), size);
        return vec![frame; count];
    }
    let known = stream.sender.fpdus().len();
    fill(&mut stream.sender, pattern, payload, count);
    let cutter = match pattern {
        Pattern::Packed => Cutter::Packed,
        Pattern::Unaligned => Cutter::Full,
        _ => Cutter::Aligned,
    };
    // None of these cutters draws from the generator.
    let mut generator = rand_chacha::ChaCha8Rng::seed_from_u64(0);
    let fpdus = &stream.sender.fpdus()[known..];
    let cuts = cutter.cut(fpdus, payload - payload % 4, &mut generator);
    let frame = |cut: &std::ops::Range<usize>| {
        let octets = &stream.sender.stream()[cut.clone()];
        let sequence = stream.sender.sequence(cut.start);
        padded(stream.builder.segment(sequence, 1, FLAG_ACK, octets), size)
    };
    cuts.iter().map(frame).collect()
}

fn fill(sender: &mut Sender, pattern: Pattern, payload: usize, count: usize) {
    let room = payload - payload % 4;
    let (octets, fpdus) = match pattern {
        Pattern::Acknowledgement | Pattern::Send => (0, count),
        Pattern::Aligned => (room - FPDU_OVERHEAD_OCTETS - TAGGED_HEADER_OCTETS, count),
        Pattern::Markers => {
            let markers = 4 * room.div_ceil(512);
            (
                room - markers - FPDU_OVERHEAD_OCTETS - TAGGED_HEADER_OCTETS,
                count,
            )
        }
        Pattern::Packed => (
            PACKED_FPDU_OCTETS - FPDU_OVERHEAD_OCTETS - TAGGED_HEADER_OCTETS,
            count * (room / PACKED_FPDU_OCTETS),
        ),
        Pattern::Unaligned => {
            let fpdu = (room + UNALIGNED_EXCESS_OCTETS).min(UNALIGNED_FPDU_OCTETS_MAX);
            (
                fpdu - FPDU_OVERHEAD_OCTETS - TAGGED_HEADER_OCTETS,
                count * room / fpdu,
            )
        }
    };
    let data: Vec<u8> = (0..octets)
        .map(|octet| (octet as u8).wrapping_mul(7))
        .collect();
    for number in 0..fpdus {
        if octets == 0 {
            sender.send(&[]);
            continue;
        }
        // Odd steps: placements meet every alignment of the bus.
        let offset = number * (octets + 13) % (REGION_OCTETS - octets);
        sender.rdma_write(STAG, offset as u64, &data);
    }
}

fn padded(mut frame: Vec<u8>, size: usize) -> Vec<u8> {
    frame.resize((size - FCS_OCTETS).max(frame.len()), 0);
    frame
}
