//! In which order the completions of several connections came.

use super::error::EndpointError;
use super::notice::Notice;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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

/// Where the completions of a connection are polled, instead of from itself, while that place is
/// there.
#[derive(Debug)]
pub(super) struct Collected {
    order: Weak<Order>,
    turn: Turn,
}

impl Collected {
    /// In `order`, as `turn`.
    pub(super) fn new(order: &Arc<Order>, turn: Turn) -> Self {
        let order = Arc::downgrade(order);
        Self { order, turn }
    }

    /// `count` completions more; whether somebody can poll them there.
    pub(super) fn note(&self, count: usize) -> bool {
        let Some(order) = self.order.upgrade() else {
            return false;
        };
        order.turns().extend(std::iter::repeat_n(self.turn, count));
        order.notice.raise();
        true
    }

    /// Whether the place is there.
    pub(super) fn is_there(&self) -> bool {
        self.order.strong_count() > 0
    }

    /// Whether it is this order.
    pub(super) fn is_of(&self, order: &Arc<Order>) -> bool {
        self.order.as_ptr() == Arc::as_ptr(order)
    }
}
