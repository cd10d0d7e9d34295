//! The lock around an endpoint, its thread, and its clock.
//!
//! ```text
//!  calls of users ----\
//!                      +--> engine, under a lock: turn --> deadline
//!  interrupts, time --/            (the thread sleeps until then)
//! ```

use super::engine::Engine;
use super::error::EndpointError;
use super::notice::Notice;
use crate::bus::PciFunction;
use crate::device::access::{Bar, Dma};
use crate::monitor::Monitor;
use crate::verbs::ledger::Core;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::fmt;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where the time comes from, in microseconds.
#[derive(Debug)]
pub(super) enum Clock {
    /// Since the endpoint began.
    Running(Instant),
    /// As the application said last.
    Given(AtomicU64),
}

impl Clock {
    /// The application says what time it is; it never runs backward.
    pub(super) fn given() -> Self {
        Self::Given(AtomicU64::new(0))
    }

    fn now(&self) -> u64 {
        match self {
            Self::Running(begun) => begun.elapsed().as_micros() as u64,
            Self::Given(now) => now.load(Ordering::Acquire),
        }
    }

    fn set(&self, now_us: u64) {
        if let Self::Given(now) = self {
            now.fetch_max(now_us, Ordering::AcqRel);
        }
    }
}

/// An endpoint, as its handles and its thread have it.
pub(super) struct Shared<B: Bar, D: Dma> {
    pub(super) core: Arc<Core<B, D>>,
    engine: Mutex<Engine<B, D>>,
    clock: Clock,
    /// Wakes the thread, or the loop of the application.
    wake: Notice,
    /// When whoever runs it wakes by itself, in microseconds; `u64::MAX`: never.
    planned: AtomicU64,
    is_ending: AtomicBool,
}

impl<B: Bar, D: Dma> Shared<B, D> {
    pub(super) fn new(
        core: Arc<Core<B, D>>,
        engine: Engine<B, D>,
        wake: Notice,
        clock: Clock,
    ) -> Self {
        Self {
            core,
            engine: Mutex::new(engine),
            clock,
            wake,
            planned: AtomicU64::new(u64::MAX),
            is_ending: AtomicBool::new(false),
        }
    }

    /// The time in microseconds.
    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    fn lock(&self) -> MutexGuard<'_, Engine<B, D>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Look at the engine.
    pub(super) fn view<T>(&self, look: impl FnOnce(&mut Engine<B, D>) -> T) -> T {
        look(&mut self.lock())
    }

    /// Change something, and do at once what follows from it.
    ///
    /// # Errors
    /// [`EndpointError::Ended`], and what `change` returns.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Engine<B, D>, u64) -> Result<T, EndpointError>,
    ) -> Result<T, EndpointError> {
        let mut engine = self.lock();
        if engine.has_ended {
            return Err(EndpointError::Ended);
        }
        let now = self.now();
        let changed = change(&mut engine, now);
        engine.follow(now);
        let deadline = engine.deadline(now).unwrap_or(u64::MAX);
        drop(engine);
        if deadline < self.planned.load(Ordering::Acquire) {
            self.wake.raise();
        }
        changed
    }

    /// Have the thread end.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.wake.raise();
    }

    /// When there is something to do, if nothing happens; whoever runs the endpoint waits until
    /// then.
    pub(super) fn plan(&self) -> Option<u64> {
        let engine = self.lock();
        let deadline = engine.deadline(self.now());
        // Under the lock: a call that follows sees what is waited for.
        self.planned
            .store(deadline.unwrap_or(u64::MAX), Ordering::Release);
        deadline
    }

    /// Do everything that can be done at `now_us`, which is the time from now on.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub(super) fn turn(&self, now_us: u64) -> Result<(), EndpointError> {
        self.clock.set(now_us);
        self.wake.take();
        let mut engine = self.lock();
        match engine.has_ended {
            true => Err(EndpointError::Ended),
            false => {
                engine.turn(self.now());
                Ok(())
            }
        }
    }

    /// What the thread does until then.
    pub(super) fn run(&self, function: &PciFunction, vector: u8, mut monitor: Option<Monitor>) {
        while !self.is_ending.load(Ordering::Acquire) {
            // Interrupts are taken before what they are raised for is polled.
            self.wake.take();
            let _ = function.take_interrupts(vector);
            let deadline = {
                let mut engine = self.lock();
                engine.turn(self.now());
                if let Some(monitor) = &mut monitor {
                    // Without files or memory for a client there is the next one.
                    let _ = engine.serve_monitor(monitor);
                }
                let deadline = engine.deadline(self.now());
                self.planned
                    .store(deadline.unwrap_or(u64::MAX), Ordering::Release);
                deadline
            };
            let left = deadline.map(|at| Duration::from_micros(at.saturating_sub(self.now())));
            let left = left.map(|left| Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            });
            let mut fds = vec![PollFd::new(&self.wake, PollFlags::IN)];
            let interrupts = function.interrupt_fd(vector);
            fds.extend(interrupts.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
            fds.extend(
                monitor
                    .as_ref()
                    .map(|monitor| PollFd::new(monitor, PollFlags::IN)),
            );
            // What interrupts it is a reason to look as well.
            let _ = poll(&mut fds, left.as_ref());
            self.planned.store(0, Ordering::Release);
        }
        self.end_now();
    }

    /// End everything, on this thread.
    pub(super) fn end_now(&self) {
        self.lock().end(self.now());
    }
}

impl<B: Bar, D: Dma> fmt::Debug for Shared<B, D> {
    /// Without the engine: what a handle is, not all connections and their octets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Endpoint")
    }
}

impl<B: Bar, D: Dma> AsFd for Shared<B, D> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
