//! One file for the loop of an application that runs an endpoint itself.
//!
//! ```text
//!  interrupts of the device --------------\
//!                                          +--> readable, until both are taken
//!  calls of other threads: a `Notice` ----/
//! ```

use super::error::EndpointError;
use crate::bus::PciFunction;
use rustix::event::epoll::{add, create, CreateFlags, EventData, EventFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What the file is, if the system has none.
const FILE: &str = "a file for a loop";

/// A file that is readable when one of several others is.
#[derive(Debug)]
pub(super) struct LoopFile {
    epoll: OwnedFd,
    interrupts: Option<(PciFunction, u8)>,
}

impl LoopFile {
    /// One of nothing, which is never readable.
    ///
    /// # Errors
    /// [`EndpointError::System`].
    pub(super) fn new() -> Result<Self, EndpointError> {
        let epoll = create(CreateFlags::CLOEXEC).map_err(|error| EndpointError::System {
            what: FILE,
            source: error.into(),
        })?;
        Ok(Self {
            epoll,
            interrupts: None,
        })
    }

    /// Have it be readable when `file` is.
    ///
    /// # Errors
    /// [`EndpointError::System`].
    pub(super) fn watch(&self, file: BorrowedFd<'_>) -> Result<(), EndpointError> {
        let added = add(&self.epoll, file, EventData::new_u64(0), EventFlags::IN);
        added.map_err(|error| EndpointError::System {
            what: FILE,
            source: error.into(),
        })
    }

    /// Have it be readable from an interrupt of `vector` on until it is taken.
    ///
    /// # Errors
    /// [`EndpointError::System`]; [`EndpointError::Device`]: there is no such vector.
    pub(super) fn watch_interrupts(
        &mut self,
        function: PciFunction,
        vector: u8,
    ) -> Result<(), EndpointError> {
        self.watch(function.interrupt_fd(vector)?)?;
        self.interrupts = Some((function, vector));
        Ok(())
    }

    /// Interrupts until now are seen.
    pub(super) fn take_interrupts(&self) {
        if let Some((function, vector)) = &self.interrupts {
            // What cannot be read leaves the file readable.
            let _ = function.take_interrupts(*vector);
        }
    }
}

impl AsFd for LoopFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
