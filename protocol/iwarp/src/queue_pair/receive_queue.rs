//! Posted receives, in the order in which messages take them.

use super::work::{Completion, Delivered, Kind, Status};
use std::collections::VecDeque;

/// The receive queue. Memory: `capacity` entries.
#[derive(Clone, Debug)]
pub(super) struct ReceiveQueue {
    capacity: usize,
    entries: VecDeque<(u64, Option<Delivered>)>,
    /// Entries with a message: the first ones.
    delivered: usize,
    flushed: bool,
}

impl ReceiveQueue {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            entries: VecDeque::new(),
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
        self.entries.push_back((id, None));
    }

    /// A message for the oldest receive without one; whether there is one.
    pub fn deliver(&mut self, message: Delivered) -> bool {
        let Some((_, place)) = self.entries.get_mut(self.delivered) else {
            return false;
        };
        *place = Some(message);
        self.delivered += 1;
        true
    }

    /// Nothing is delivered any more.
    pub fn flush(&mut self) {
        self.flushed = true;
    }

    /// The oldest receive, if it is done.
    pub fn pop(&mut self) -> Option<Completion> {
        let &(id, message) = self.entries.front()?;
        let status = match message {
            Some(_) => Status::Success,
            None if self.flushed => Status::Flushed,
            None => return None,
        };
        self.entries.pop_front();
        self.delivered = self.delivered.saturating_sub(1);
        let kind = Kind::Receive(message);
        Some(Completion { id, kind, status })
    }
}
