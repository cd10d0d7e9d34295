//! In which order the completions of several connections came.

use super::error::EndpointError;
use super::notice::Notice;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A turn: the connection's number at the endpoint, and what its user calls it.
pub(super) type Turn = (u64, u64);

/// In which order completions came, and who waits for them. It is only touched by who has the
/// endpoint's lock.
#[derive(Debug)]
pub(super) struct Order {
    turns: Mutex<VecDeque<Turn>>,
    pub(super) notice: Notice,
}

impl Order {
    /// Of nothing.
    ///
    /// # Errors
    /// [`EndpointError::System`].
    pub(super) fn new() -> Result<Self, EndpointError> {
        Ok(Self {
            turns: Mutex::default(),
            notice: Notice::new("a file")?,
        })
    }

    /// Those that were not taken, oldest first.
    pub(super) fn turns(&self) -> MutexGuard<'_, VecDeque<Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the completions of a connection are polled, instead of from itself.
#[derive(Debug)]
pub(super) struct Collected {
    order: Arc<Order>,
    turn: Turn,
}

impl Collected {
    /// In `order`, as `turn`.
    pub(super) fn new(order: &Arc<Order>, turn: Turn) -> Self {
        let order = Arc::clone(order);
        Self { order, turn }
    }

    /// `count` completions more.
    pub(super) fn note(&self, count: usize) {
        let mut turns = self.order.turns();
        turns.extend(std::iter::repeat_n(self.turn, count));
        drop(turns);
        self.order.notice.raise();
    }

    /// Whether it is this order.
    pub(super) fn is_of(&self, order: &Arc<Order>) -> bool {
        Arc::ptr_eq(&self.order, order)
    }
}
