//! The function behind BAR and memory of one device, shared by both.

use super::configuration;
use super::error::OpenError;
use super::function::Function;
use super::interrupts::{eventfds, take, wait};
use crate::device::config::Config;
use crate::device::error::DriverError;
use rnic_abi::interrupts::VECTORS;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A PCI function that this process owns: its interrupts and its reset. Clones are the same
/// function; the last one, and the last [`FunctionBar`](super::FunctionBar) and
/// [`FunctionMemory`](super::FunctionMemory), give it up.
#[derive(Clone, Debug)]
pub struct PciFunction {
    function: Arc<Mutex<Box<dyn Function>>>,
    /// By vector: as many as the function has, up to [`VECTORS`].
    eventfds: Arc<[OwnedFd]>,
}

impl PciFunction {
    /// A function, with eventfds that are not in use yet.
    pub(crate) fn new(mut function: Box<dyn Function>) -> Result<Self, OpenError> {
        let made = function
            .vectors()
            .and_then(|vectors| eventfds(VECTORS.min(vectors as usize)));
        let eventfds = made.map_err(|source| OpenError::Access {
            action: "make an eventfd for each vector",
            source,
        })?;
        Ok(Self {
            function: Arc::new(Mutex::new(function)),
            eventfds: eventfds.into(),
        })
    }

    /// The function itself. A panic elsewhere does not change what it is.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<dyn Function>> {
        let locked = self.function.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Have the function signal its vectors, from now on. A reset of the device masks all vectors
    /// in its table, which is written here: call this after each
    /// [`Device::open`](crate::Device::open), as [`open`](super::open()) does.
    ///
    /// # Errors
    /// [`OpenError::Access`].
    pub fn enable_interrupts(&self) -> Result<(), OpenError> {
        if self.eventfds.is_empty() {
            return Ok(());
        }
        let enabled = self.lock().enable_vectors(&self.eventfds);
        enabled.map_err(|source| OpenError::Access {
            action: "enable MSI-X of the function",
            source,
        })
    }

    /// `config`, with packets no larger than the bus allows: maximum payload and read request as
    /// configuration space has them. [`open`](super::open()) uses it.
    ///
    /// # Errors
    /// [`OpenError::Access`].
    pub fn fit(&self, config: Config) -> Result<Config, OpenError> {
        configuration::fit(self.lock().as_mut(), config)
    }

    /// Vectors that can be waited for: 8, or fewer if the function or its server has fewer.
    pub fn vectors(&self) -> usize {
        self.eventfds.len()
    }

    /// The eventfd of a vector, for any event loop: readable from the interrupt on until it is
    /// read. It does not block.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: there is no such vector.
    pub fn interrupt_fd(&self, vector: u8) -> Result<BorrowedFd<'_>, DriverError> {
        let eventfd = self.eventfds.get(usize::from(vector));
        let eventfd = eventfd.ok_or(DriverError::Configuration {
            what: "the number of a vector",
            value: u64::from(vector),
            allowed: "those that the function has, at most 0..=7",
        });
        eventfd.map(AsFd::as_fd)
    }

    /// Wait for an interrupt of a vector; `false`: there was none within `timeout`. Interrupts
    /// since the last wait count as one. Poll what raises it after each wait: it may have been
    /// raised for what was polled already, and before the wait.
    ///
    /// # Errors
    /// Those of `poll(2)` and `read(2)`; `InvalidInput`: there is no such vector.
    pub fn wait(&self, vector: u8, timeout: Option<Duration>) -> io::Result<bool> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        wait(self.interrupt_fd(vector).map_err(invalid)?, timeout)
    }

    /// Take the interrupts of a vector since they were last taken; `false`: there were none.
    pub(crate) fn take_interrupts(&self, vector: u8) -> io::Result<bool> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        take(self.interrupt_fd(vector).map_err(invalid)?)
    }

    /// Reset the function through the bus; `Ok(false)`: it has no such reset. After it the device
    /// accesses no memory, whatever state it was in ([`DriverError::ResetTimeout`]). Whoever has it
    /// open finds its tables empty: open it anew.
    ///
    /// # Errors
    /// Those of Linux or of the server; the device may still access memory.
    pub fn reset(&self) -> io::Result<bool> {
        self.lock().reset()
    }
}
