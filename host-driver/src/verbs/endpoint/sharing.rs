//! One place for the completions of several queue pairs.
//!
//! ```text
//!  pair A --\
//!            +--> order: whose completion came when --> poll: that pair's oldest
//!  pair B --/
//! ```
//!
//! The completions themselves stay with their pairs, so that what they hold is given back with the
//! pair. A turn whose pair is gone is passed over.

use super::error::EndpointError;
use super::live::{Completed, Live};
use super::notice::end_of;
use super::order::{Collected, Order};
use super::queue_pair::QueuePair;
use super::shared::Shared;
use super::work::WorkCompletion;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

/// Completions of several queue pairs of an endpoint, in the order in which they came: one file and
/// one call to wait for all of them. Made by
/// [`Endpoint::shared_completions`](super::Endpoint::shared_completions); a pair is added with
/// [`QueuePair::share_completions`].
///
/// It holds a turn for each request that has completed, and never overflows. Completions of a pair
/// that is dropped go with it. Events stay with their pairs. When it is dropped itself, its pairs
/// have their completions as if they had never been added.
///
/// ```no_run
/// use rnic_driver::verbs::endpoint::{Endpoint, EndpointError, QueuePair, Status};
///
/// /// Waits until each pair has completed what is posted, one request each.
/// fn finish(endpoint: &Endpoint, pairs: &[QueuePair]) -> Result<bool, EndpointError> {
///     let completions = endpoint.shared_completions()?;
///     for (number, pair) in pairs.iter().enumerate() {
///         pair.share_completions(&completions, number as u64)?;
///     }
///     let mut is_good = true;
///     for _ in pairs {
///         let done = completions.wait(None)?;
///         println!("pair {}: {:?}", done.tag, done.work.status);
///         is_good &= done.work.status == Status::Success;
///     }
///     Ok(is_good)
/// }
/// ```
#[derive(Debug)]
pub struct SharedCompletions<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    shared: Arc<Shared<B, D>>,
    order: Arc<Order>,
}

/// A completion of one of several pairs.
#[derive(Debug)]
pub struct TaggedCompletion<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    /// What the pair was added as.
    pub tag: u64,
    /// As the pair would have it.
    pub work: WorkCompletion<B, D>,
}

impl<B: Bar, D: Dma> SharedCompletions<B, D> {
    pub(super) fn new(shared: &Arc<Shared<B, D>>) -> Result<Self, EndpointError> {
        let order = Arc::new(Order::new()?);
        shared.change(|engine, _| {
            engine.orders.push(Arc::clone(&order));
            Ok(())
        })?;
        let shared = Arc::clone(shared);
        Ok(Self { shared, order })
    }

    /// The next completion, if there is one.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn poll(&self) -> Result<Option<TaggedCompletion<B, D>>, EndpointError> {
        let polled = self.shared.view(|engine| {
            if engine.has_ended {
                return Err(EndpointError::Ended);
            }
            let mut turns = self.order.turns();
            while let Some((key, tag)) = turns.pop_front() {
                let live = engine.lives.get_mut(&key);
                if let Some(found) = live.and_then(|live| live.take_shared(&self.order)) {
                    return Ok(Some((tag, found)));
                }
            }
            // Under the lock under which it is raised.
            self.order.notice.take();
            Ok(None)
        })?;
        Ok(polled.map(|(tag, completed)| TaggedCompletion {
            tag,
            work: WorkCompletion::of(&self.shared.core, completed),
        }))
    }

    /// The next completion, as soon as there is one.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], [`EndpointError::Ended`].
    pub fn wait(&self, timeout: Option<Duration>) -> Result<TaggedCompletion<B, D>, EndpointError> {
        let notice = &self.order.notice;
        notice.wait_for(end_of(timeout), || self.poll())
    }
}

impl<B: Bar, D: Dma> Drop for SharedCompletions<B, D> {
    /// Its pairs have their completions themselves.
    fn drop(&mut self) {
        self.shared.view(|engine| {
            engine
                .orders
                .retain(|order| !Arc::ptr_eq(order, &self.order));
            for live in engine.lives.values_mut() {
                live.leave(&self.order);
            }
        });
    }
}

impl<B: Bar, D: Dma> AsFd for SharedCompletions<B, D> {
    /// Readable from a completion on until all were polled.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.order.notice.as_fd()
    }
}

impl<B: Bar, D: Dma> QueuePair<B, D> {
    /// Have the completions of this pair polled from `completions`, under the name `tag`: those
    /// that wait, and all that follow. Events stay with the pair. A pair that is added to another
    /// place leaves the first one.
    ///
    /// # Errors
    /// [`EndpointError::Device`]: it is another endpoint's. [`EndpointError::Ended`].
    pub fn share_completions(
        &self,
        completions: &SharedCompletions<B, D>,
        tag: u64,
    ) -> Result<(), EndpointError> {
        if !Arc::ptr_eq(&self.handle.shared, &completions.shared) {
            let what = "a place for completions";
            return Err(DriverError::OtherContext { what }.into());
        }
        let key = self.handle.key;
        self.handle.view(|live| {
            let collected = Collected::new(&completions.order, (key, tag));
            collected.note(live.inbox.completions.len());
            live.collected = Some(collected);
            if live.inbox.events.is_empty() {
                self.handle.notice.take();
            }
        })
    }
}

impl Live {
    fn is_in(&self, order: &Arc<Order>) -> bool {
        self.collected.as_ref().is_some_and(|to| to.is_of(order))
    }

    /// Completions are polled from the connection again, if they were from `order`.
    fn leave(&mut self, order: &Arc<Order>) {
        if !self.is_in(order) {
            return;
        }
        self.collected = None;
        if self.has_own_completions() {
            self.notice.raise();
        }
    }

    /// The oldest completion, if it is to be polled from `order`.
    fn take_shared(&mut self, order: &Arc<Order>) -> Option<Completed> {
        let is_wanted = self.is_in(order) && !self.is_let_go;
        is_wanted.then(|| self.inbox.completions.pop_front())?
    }
}
