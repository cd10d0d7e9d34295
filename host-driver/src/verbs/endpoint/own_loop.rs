//! An endpoint that the application runs, in a loop of its own.
//!
//! ```text
//!  poll(now) --> what the application does --> wait for the file, at most until deadline_us --+
//!      ^                                                                                      |
//!      +--------------------------------------------------------------------------------------+
//! ```

use super::attended::Endpoint;
use super::error::EndpointError;
use super::settings::EndpointSettings;
use super::shared::Clock;
use crate::device::access::{Bar, Dma};
use crate::verbs::context::Context;
use std::os::fd::{AsFd, BorrowedFd};

impl Endpoint {
    /// An endpoint that the application runs: with [`Endpoint::poll`] when its file is readable,
    /// and at [`Endpoint::deadline_us`] at the latest. Nobody else does, so a call that waits is
    /// one for another thread. It takes a vector of the device. Nobody serves
    /// `settings.monitor`: [`Endpoint::serve_monitor`].
    ///
    /// ```no_run
    /// use rnic_driver::verbs::endpoint::{Endpoint, EndpointError};
    /// use rustix::event::{poll, PollFd, PollFlags, Timespec};
    /// use std::time::Instant;
    ///
    /// /// Runs `endpoint` until `is_done`, which looks after connections.
    /// fn run(
    ///     endpoint: &Endpoint,
    ///     mut is_done: impl FnMut() -> Result<bool, EndpointError>,
    /// ) -> Result<(), EndpointError> {
    ///     let begun = Instant::now();
    ///     let now_us = || begun.elapsed().as_micros() as u64;
    ///     loop {
    ///         endpoint.poll(now_us())?;
    ///         if is_done()? {
    ///             return Ok(());
    ///         }
    ///         let left = endpoint.deadline_us().map(|at| at.saturating_sub(now_us()));
    ///         let left = left.map(|us| Timespec {
    ///             tv_sec: (us / 1_000_000) as i64,
    ///             tv_nsec: (us % 1_000_000 * 1_000) as i64,
    ///         });
    ///         // Files of the application's stand beside it.
    ///         let mut files = [PollFd::new(endpoint, PollFlags::IN)];
    ///         let _ = poll(&mut files, left.as_ref());
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Endpoint::start`].
    pub fn without_thread(
        context: &Context,
        settings: &EndpointSettings,
    ) -> Result<Self, EndpointError> {
        let mut endpoint = Self::without_interrupts(context, settings)?;
        let function = endpoint.take_vector(settings.hold_off_us)?;
        let vector = endpoint.vector.unwrap_or_default();
        endpoint.file.watch_interrupts(function, vector)?;
        Ok(endpoint)
    }
}

impl<B: Bar, D: Dma> Endpoint<B, D> {
    /// As [`Endpoint::without_thread`], over a device whose interrupts are its owner's affair,
    /// such as one that the same thread simulates: its file is readable for calls of other threads
    /// alone.
    ///
    /// # Errors
    /// As [`Endpoint::start`].
    pub fn without_interrupts(
        context: &Context<B, D>,
        settings: &EndpointSettings,
    ) -> Result<Self, EndpointError> {
        let endpoint = Self::make(context, settings, Clock::given())?;
        endpoint.file.watch(endpoint.shared.as_fd())?;
        Ok(endpoint)
    }

    /// Do everything that can be done at `now_us`, in microseconds of a clock of the application's
    /// that never runs backward. What is called until the next poll is done at this time, too. The
    /// clock of an endpoint with a thread is its own.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn poll(&self, now_us: u64) -> Result<(), EndpointError> {
        // Interrupts are taken before what they are raised for is polled.
        self.file.take_interrupts();
        self.shared.turn(now_us)
    }

    /// When [`Endpoint::poll`] has something to do, in microseconds of that clock, if nothing
    /// arrives and nothing is called; `None`: never. A call of another thread that brings the time
    /// forward after this one makes the file readable, so ask after each poll.
    pub fn deadline_us(&self) -> Option<u64> {
        self.shared.plan()
    }
}

impl<B: Bar, D: Dma> AsFd for Endpoint<B, D> {
    /// Readable when [`Endpoint::poll`] has something to do before [`Endpoint::deadline_us`], until
    /// it is called; that of an endpoint with a thread never is.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
