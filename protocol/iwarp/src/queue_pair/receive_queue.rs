//! Posted receives, in the order in which messages take them.

use super::work::{Completion, Delivered, Kind, Status};
use std::collections::VecDeque;

/// How a receive stands.
#[derive(Copy, Clone, Debug)]
enum Entry {
    Waiting,
    Delivered(Delivered),
    /// A message does not fit it.
    TooShort,
}

/// The receive queue. Memory: `capacity` entries.
#[derive(Clone, Debug)]
pub(super) struct ReceiveQueue {
    capacity: usize,
    entries: VecDeque<(u64, Entry)>,
    /// The Message Sequence Number that the oldest entry is for.
    oldest_msn: u32,
    /// Entries with a message: the first ones.
    delivered: usize,
    flushed: bool,
}

impl ReceiveQueue {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            entries: VecDeque::new(),
            // The first message of a queue has number 1 (DDP-014).
            oldest_msn: 1,
            delivered: 0,
            flushed: false,
        }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    pub fn push(&mut self, id: u64) {
        self.entries.push_back((id, Entry::Waiting));
    }

    /// A message for the oldest receive without one; whether there is one.
    pub fn deliver(&mut self, message: Delivered) -> bool {
        let Some((_, entry)) = self.entries.get_mut(self.delivered) else {
            return false;
        };
        *entry = Entry::Delivered(message);
        self.delivered += 1;
        true
    }

    /// The message of this number does not fit its receive; it is the last one that arrives.
    pub fn refuse(&mut self, msn: u32) {
        let place = msn.wrapping_sub(self.oldest_msn) as usize;
        if let Some((_, entry @ Entry::Waiting)) = self.entries.get_mut(place) {
            *entry = Entry::TooShort;
        }
    }

    /// Nothing is delivered any more.
    pub fn flush(&mut self) {
        self.flushed = true;
    }

    /// The oldest receive, if it is done.
    pub fn pop(&mut self) -> Option<Completion> {
        let &(id, entry) = self.entries.front()?;
        let (message, status) = match entry {
            Entry::Delivered(message) => (Some(message), Status::Success),
            Entry::TooShort if self.flushed => (None, Status::LocalLength),
            Entry::Waiting if self.flushed => (None, Status::Flushed),
            Entry::TooShort | Entry::Waiting => return None,
        };
        self.entries.pop_front();
        self.oldest_msn = self.oldest_msn.wrapping_add(1);
        self.delivered = self.delivered.saturating_sub(1);
        let kind = Kind::Receive(message);
        Some(Completion { id, kind, status })
    }
}
