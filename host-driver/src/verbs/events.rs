//! Completion queues as a file, for any event loop.
//!
//! ```text
//!  poll until there is nothing --> arm --+-- true: poll again
//!        ^                               +-- false: wait until the file is readable --+
//!        +----------------------------------------------------------------------------+
//! ```

use super::completion_queue::CompletionQueue;
use super::ledger::{expect_same, Core, Object};
use crate::bus::{FunctionBar, FunctionMemory, PciFunction};
use crate::device::error::DriverError;
use crate::device::ids::QueueId;
use crate::device::interrupts::InterruptSource;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Completion queues that can be waited for together, and the vector that they raise, which is
/// theirs alone. As a file it is readable from a completion on until it is armed.
///
/// ```no_run
/// use rnic_driver::verbs::Context;
/// use rnic_driver::Config;
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Config::default())?;
/// let queue = context.completion_queue(8)?;
/// let events = context.completion_events(&[&queue])?;
/// loop {
///     while let Some(completed) = queue.poll() {
///         println!("{completed:?}");
///     }
///     if !events.arm()? {
///         // Or have an event loop wait for `events.as_fd()`.
///         events.wait(None)?;
///     }
/// }
/// # #[allow(unreachable_code)]
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CompletionEvents {
    core: Arc<Core<FunctionBar, FunctionMemory>>,
    id: u64,
    function: PciFunction,
    vector: u8,
    queues: Vec<QueueId>,
}

impl CompletionEvents {
    /// Events of `queues`, by a vector that is free.
    pub(crate) fn create(
        core: &Arc<Core<FunctionBar, FunctionMemory>>,
        queues: &[&CompletionQueue],
    ) -> Result<Self, DriverError> {
        for queue in queues {
            expect_same(core, queue.core(), "completion queue")?;
        }
        let mut ledger = core.lock();
        let mut numbers = Vec::new();
        for number in queues.iter().map(|queue| queue.number()) {
            if let Some(vector) = ledger.queues[&number].vector {
                return Err(DriverError::InUse {
                    what: Object::CompletionQueue(number.0).to_string(),
                    by: Object::CompletionEvents(vector).to_string(),
                });
            }
            if numbers.contains(&number) {
                return Err(DriverError::Duplicate {
                    what: "a completion queue of these events",
                });
            }
            numbers.push(number);
        }
        let function = ledger.view().function().clone();
        let vectors = function.vectors();
        let mut free = (0..vectors as u8).filter(|vector| !ledger.vectors.contains(vector));
        let vector = free.next().ok_or(DriverError::Exhausted {
            what: "interrupt vector",
            limit: vectors,
        })?;
        let id = ledger.add_handle(Object::CompletionEvents(vector));
        ledger.vectors.insert(vector);
        for &number in &numbers {
            ledger.hold_queue(number);
            let record = ledger.queues.get_mut(&number);
            record.expect("its handle is there").vector = Some(vector);
        }
        drop(ledger);
        let events = Self {
            core: Arc::clone(core),
            id,
            function,
            vector,
            queues: numbers,
        };
        // What fails is undone when `events` is dropped.
        events.route(Some(vector))?;
        Ok(events)
    }

    /// The vector that the queues raise, for
    /// [`Context::set_hold_off`](super::Context::set_hold_off).
    pub fn vector(&self) -> u8 {
        self.vector
    }

    /// Make the file unreadable until the next completion. `true`: there is one already, so poll
    /// instead of waiting. A completion that comes between the last poll and this call is seen
    /// here, and one that comes later makes the file readable.
    ///
    /// # Errors
    /// Those of `read(2)` on an eventfd.
    pub fn arm(&self) -> io::Result<bool> {
        self.arm_around(|| {})
    }

    /// As [`CompletionEvents::arm`]; `meanwhile` happens between its steps.
    pub(crate) fn arm_around(&self, meanwhile: impl FnOnce()) -> io::Result<bool> {
        // In this order: an interrupt that is taken here was raised after its completion, so that
        // is in memory now; the interrupt of a later one is not taken.
        self.function.take_interrupts(self.vector)?;
        meanwhile();
        let ledger = self.core.lock();
        Ok(self.queues.iter().any(|&queue| ledger.has_entry(queue)))
    }

    /// Wait until there is a completion; `false`: there was none within `timeout`. It arms.
    ///
    /// # Errors
    /// Those of `poll(2)` and `read(2)`.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<bool> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            if self.arm()? {
                return Ok(true);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if !self.function.wait(self.vector, left)? {
                return self.arm();
            }
        }
    }

    /// Have every queue raise `vector`, or none.
    fn route(&self, vector: Option<u8>) -> Result<(), DriverError> {
        let mut ledger = self.core.lock();
        let mut routed = self.queues.iter().map(|&queue| {
            let source = InterruptSource::Completion(queue);
            ledger.device().route_interrupt(source, vector)
        });
        routed.try_for_each(|routed| routed)
    }
}

impl AsFd for CompletionEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let file = self.function.interrupt_fd(self.vector);
        file.expect("a function keeps its vectors")
    }
}

impl Drop for CompletionEvents {
    fn drop(&mut self) {
        // A device that is gone raises nothing.
        let _ = self.route(None);
        let mut ledger = self.core.lock();
        ledger.handles.remove(&self.id);
        ledger.vectors.remove(&self.vector);
        for &number in &self.queues {
            if let Some(record) = ledger.queues.get_mut(&number) {
                record.vector = None;
            }
            ledger.release_queue(number);
        }
    }
}

impl fmt::Debug for CompletionEvents {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { vector, queues, .. } = self;
        write!(formatter, "CompletionEvents({vector}, {queues:?})")
    }
}
