//! Unit tests of streams.
mod messages;
mod plans;
mod reader;
mod reassembly;
mod every_way;
mod figures;

use super::{Message, Piece, Plan};
use crate::place::{MemoryId, Place};

/// Memory whose octets tell their offsets.
struct Memory(Vec<u8>);

impl Memory {
    fn new() -> Self {
        Self(
            (0..1 << 14)
                .map(|offset: u32| (offset % 251) as u8 + 1)
                .collect(),
        )
    }

    fn at(&self, place: Place) -> &[u8] {
        &self.0[place.offset as usize..place.end() as usize]
    }

    /// The octets of a stream.
    fn gather(&self, plan: &Plan, message: &Message) -> Vec<u8> {
        let mut stream = Vec::new();
        for piece in plan.pieces(message) {
            assert!(piece.octets() > 0, "an empty piece");
            match piece {
                Piece::Octets(octets) => stream.extend_from_slice(octets),
                Piece::Place(place) => stream.extend_from_slice(self.at(place)),
            }
        }
        stream
    }
}

fn place(offset: u64, length: u32) -> Place {
    Place {
        memory: MemoryId(5),
        offset,
        length,
    }
}
