//! What is posted, until it is handed to the queue pair together with what comes after it.

use rpcrdma::place::Place;
use rpcrdma::verbs::VerbsError;
use rpcrdma::wire::Segment;

/// Places that one Send gathers: as many parts as a queue pair takes.
pub(crate) const PIECES_MAX: usize = 4;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Send { invalidate: Option<u32> },
    Write { sink: Segment },
    Read { source: Segment, sink: Place },
}

/// A request whose places are within their memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) tag: u64,
    pub(crate) kind: Kind,
    pieces: [Option<Place>; PIECES_MAX],
}

impl Request {
    /// Of these places: the payload, or the sink of a Read.
    pub(crate) fn new(tag: u64, kind: Kind, places: &[Place]) -> Result<Self, VerbsError> {
        if places.len() > PIECES_MAX {
            return Err(VerbsError::Pieces);
        }
        let mut pieces = [None; PIECES_MAX];
        for (piece, place) in pieces.iter_mut().zip(places) {
            *piece = Some(*place);
        }
        Ok(Self { tag, kind, pieces })
    }

    /// Its places, in order.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.pieces.iter().copied().flatten()
    }
}
