//! Work requests in the order in which they leave and complete.
//!
//! ```text
//!  Waiting -> Leaving { end } -> Sent { end } -- acknowledged --> Done -> completion, in order
//!        \-> Reading { msn } ------------------- response placed --^
//!
//!  stop: Waiting, Reading -> Done, flushed; Leaving -> Cut { end } -- acknowledged --> flushed
//!  unreadable: Leaving, Sent -> Cut { end } -- acknowledged --> LocalProtection
//!  lose: everything -> Done, flushed
//! ```
//!
//! What has left by reference may be sent again until it is acknowledged, with the payload as it is
//! then. So its completion waits for that even when the stream has failed, unless TCP is gone.

use super::work::{Completion, Kind, Operation, Status, WorkRequest};
use std::collections::VecDeque;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    Waiting,
    /// Part of it has left, up to `end` of the stream.
    Leaving {
        end: u64,
    },
    Sent {
        end: u64,
    },
    /// A Read whose Request has left.
    Reading {
        msn: u32,
    },
    /// Part of it has left, and no more will.
    Cut {
        end: u64,
        status: Status,
    },
    Done(Status),
}

#[derive(Copy, Clone, Debug)]
struct Entry {
    work: WorkRequest,
    state: State,
}

/// The send queue. Memory: `capacity` entries, and as many numbers as Reads may be outstanding.
#[derive(Clone, Debug)]
pub(super) struct SendQueue {
    capacity: usize,
    entries: VecDeque<Entry>,
    /// Entries before the first that waits or of which parts have left.
    begun: usize,
    /// The entry of which a part has left last.
    touched: usize,
    /// Outstanding Reads, oldest first: places in `entries`, or the ready-to-receive message.
    reads: VecDeque<Option<usize>>,
    ord: usize,
}

impl SendQueue {
    pub fn new(capacity: usize, ord: u16) -> Self {
        Self {
            capacity,
            entries: VecDeque::new(),
            begun: 0,
            touched: 0,
            reads: VecDeque::new(),
            ord: usize::from(ord),
        }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    pub fn push(&mut self, work: WorkRequest) {
        let state = State::Waiting;
        self.entries.push_back(Entry { work, state });
    }

    /// The request that leaves next; a Read only within ORD (RDMAP-012).
    pub fn next(&self) -> Option<&WorkRequest> {
        let entry = self.entries.get(self.begun)?;
        let is_read = matches!(entry.work.operation, Operation::Read { .. });
        let waits = entry.state != State::Waiting || is_read && !self.can_read();
        (!waits).then_some(&entry.work)
    }

    /// The request that leaves next, or is leaving.
    pub fn next_begun(&self) -> Option<&WorkRequest> {
        self.entries.get(self.begun).map(|entry| &entry.work)
    }

    /// Reads whose responses are not here.
    pub fn reads_out(&self) -> usize {
        self.reads.len()
    }

    fn can_read(&self) -> bool {
        self.reads.len() < self.ord
    }

    /// Whether anything has still to leave.
    pub fn is_drained(&self) -> bool {
        self.begun == self.entries.len()
    }

    /// A part of the next request has left, up to `end` of the stream; the last one if so.
    pub fn left(&mut self, end: u64, last: bool) {
        if let Some(entry) = self.entries.get_mut(self.begun) {
            entry.state = match last {
                true => State::Sent { end },
                false => State::Leaving { end },
            };
            self.touched = self.begun;
            self.begun += usize::from(last);
            self.skip_done();
        }
    }

    /// The next request is a Read, and its Request has left with this MSN.
    pub fn left_read(&mut self, msn: u32) {
        if let Some(entry) = self.entries.get_mut(self.begun) {
            entry.state = State::Reading { msn };
            self.reads.push_back(Some(self.begun));
            self.touched = self.begun;
            self.begun += 1;
            self.skip_done();
        }
    }

    /// A ready-to-receive message that is a Read has left.
    pub fn left_rtr_read(&mut self) {
        self.reads.push_back(None);
    }

    /// A response is complete: the oldest Read's. Whether there was one.
    pub fn read_done(&mut self) -> bool {
        let Some(read) = self.reads.pop_front() else {
            return false;
        };
        if let Some(entry) = read.and_then(|place| self.entries.get_mut(place)) {
            entry.state = State::Done(Status::Success);
        }
        true
    }

    /// Everything before `end` of the stream is acknowledged.
    pub fn acknowledged(&mut self, acknowledged: u64) {
        for entry in self.entries.iter_mut() {
            let (end, status) = match entry.state {
                State::Sent { end } => (end, Status::Success),
                State::Cut { end, status } => (end, status),
                State::Reading { .. } | State::Done(_) => continue,
                State::Leaving { .. } | State::Waiting => return,
            };
            if end > acknowledged {
                return;
            }
            entry.state = State::Done(status);
        }
    }

    /// The payload of the request that left last could not be read; nothing after `end` of the
    /// stream has left of it. What has, by reference, may be sent again.
    pub fn unreadable(&mut self, end: u64) {
        if let Some(entry) = self.entries.get_mut(self.touched) {
            let status = Status::LocalProtection;
            entry.state = State::Cut { end, status };
        }
    }

    /// The peer refused the Read of this MSN.
    pub fn read_refused(&mut self, msn: u32, status: Status) {
        let refused = |entry: &&mut Entry| entry.state == State::Reading { msn };
        if let Some(entry) = self.entries.iter_mut().find(refused) {
            entry.state = State::Done(status);
        }
    }

    /// Reads end: nothing arrives any more.
    pub fn stop_reads(&mut self) {
        self.reads.clear();
        for entry in &mut self.entries {
            let is_read = matches!(entry.work.operation, Operation::Read { .. });
            if is_read && !matches!(entry.state, State::Done(_)) {
                entry.state = State::Done(Status::Flushed);
            }
        }
        self.skip_done();
    }

    /// Nothing leaves any more.
    pub fn stop(&mut self) {
        self.stop_reads();
        for entry in &mut self.entries {
            entry.state = match entry.state {
                State::Waiting => State::Done(Status::Flushed),
                State::Leaving { end } => State::Cut {
                    end,
                    status: Status::Flushed,
                },
                state => state,
            };
        }
        self.begun = self.entries.len();
    }

    /// Nothing is acknowledged any more.
    pub fn lose(&mut self) {
        self.stop();
        for entry in &mut self.entries {
            entry.state = match entry.state {
                State::Done(status) | State::Cut { status, .. } => State::Done(status),
                _ => State::Done(Status::Flushed),
            };
        }
    }

    /// Whether anything that has left is not acknowledged, or not answered.
    pub fn awaits_acknowledgement(&self) -> bool {
        let done = |entry: &Entry| matches!(entry.state, State::Done(_));
        !self.entries.iter().all(done)
    }

    fn skip_done(&mut self) {
        let done = |entry: &Entry| matches!(entry.state, State::Done(_));
        while self.entries.get(self.begun).is_some_and(done) {
            self.begun += 1;
        }
    }

    /// The oldest request, if it is done.
    pub fn pop(&mut self) -> Option<Completion> {
        let State::Done(status) = self.entries.front()?.state else {
            return None;
        };
        let work = self.entries.pop_front()?.work;
        self.begun = self.begun.saturating_sub(1);
        self.touched = self.touched.saturating_sub(1);
        for place in self.reads.iter_mut().flatten() {
            *place = place.saturating_sub(1);
        }
        let kind = match work.operation {
            Operation::Send { .. } => Kind::Send,
            Operation::Write { .. } => Kind::Write,
            Operation::Read { .. } => Kind::Read,
        };
        let id = work.id;
        Some(Completion { id, kind, status })
    }
}
