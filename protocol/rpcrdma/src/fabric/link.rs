//! One connection: what is in flight each way, and what has completed.
use crate::place::Place;
use crate::verbs::{Completion, Status, Work};
use crate::wire::Segment;
use std::collections::VecDeque;

/// Places that one Send gathers.
pub(super) const PIECES: usize = 4;

/// What was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Send {
        pieces: [Place; PIECES],
        count: usize,
        invalidate: Option<u32>,
    },
    Write {
        source: Place,
        sink: Segment,
        /// It is in the peer's memory, ahead of what was posted before it.
        is_placed: bool,
    },
    Read {
        source: Segment,
        sink: Place,
    },
}

/// An operation under its tag, with a digest of its source as it was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) tag: u64,
    pub(super) operation: Operation,
    pub(super) digest: u64,
}

impl Request {
    fn work(&self) -> Work {
        match self.operation {
            Operation::Send { .. } => Work::Send,
            Operation::Write { .. } => Work::Write,
            Operation::Read { .. } => Work::Read,
        }
    }

    /// Completion of a Send, a Write or a Read.
    pub(super) fn completion(&self, status: Status) -> Completion {
        Completion {
            tag: self.tag,
            work: self.work(),
            status,
            octets: 0,
            invalidated: None,
        }
    }
}

/// One end of a connection, and the way from it to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Side {
    pub(super) host: usize,
    /// Posted and not delivered, in order.
    pub(super) posted: VecDeque<Request>,
    /// Sends and Writes that are delivered, and not yet reported complete.
    pub(super) unacked: VecDeque<Request>,
    /// Reads of this end that the peer has received and not yet answered.
    pub(super) reads: VecDeque<Request>,
    /// Reads of this end that are posted, or at the peer.
    pub(super) reads_outstanding: u32,
    /// Most of them at once.
    pub(super) reads_max: u32,
    pub(super) receives: VecDeque<(u64, Place)>,
    pub(super) completions: VecDeque<Completion>,
}

impl Side {
    pub(super) fn new(host: usize, sends: usize, receives: usize, reads_max: u32) -> Self {
        Self {
            host,
            posted: VecDeque::with_capacity(sends),
            unacked: VecDeque::with_capacity(sends),
            reads: VecDeque::with_capacity(sends),
            reads_outstanding: 0,
            reads_max,
            receives: VecDeque::with_capacity(receives),
            completions: VecDeque::with_capacity(sends + receives),
        }
    }

    /// Sends, Writes and Reads that have not completed.
    pub(super) fn outstanding(&self) -> usize {
        self.posted.len() + self.unacked.len() + self.reads.len()
    }

    /// Complete all that is outstanding as flushed.
    pub(super) fn flush(&mut self) {
        for request in self.unacked.drain(..).chain(self.reads.drain(..)) {
            self.completions
                .push_back(request.completion(Status::Flushed));
        }
        for request in self.posted.drain(..) {
            self.completions
                .push_back(request.completion(Status::Flushed));
        }
        self.reads_outstanding = 0;
        for (tag, _) in self.receives.drain(..) {
            self.completions.push_back(Completion {
                tag,
                work: Work::Receive,
                status: Status::Flushed,
                octets: 0,
                invalidated: None,
            });
        }
    }

    /// Forget everything, for another connection.
    pub(super) fn clear(&mut self) {
        self.flush();
        self.completions.clear();
    }
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link {
    pub(super) is_open: bool,
    pub(super) sides: [Side; 2],
}

impl Link {
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.sides.iter_mut().for_each(Side::flush);
    }
}
