//! That something has happened, as a file and for threads that wait.
//!
//! ```text
//!  raise --> the file is readable, waiting threads wake --> take: not any more
//! ```

use crate::bus::eventfds;
use rustix::io::{read, write, Errno};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A count of what has happened, and a file that is readable since the last of it.
#[derive(Debug)]
pub(super) struct Notice {
    raised: Mutex<u64>,
    changed: Condvar,
    file: OwnedFd,
}

impl Notice {
    /// One of nothing.
    pub(super) fn new() -> io::Result<Self> {
        let file = eventfds(1)?.pop();
        Ok(Self {
            raised: Mutex::new(0),
            changed: Condvar::new(),
            file: file.ok_or(Errno::MFILE)?,
        })
    }

    /// Something has happened.
    pub(super) fn raise(&self) {
        *self.lock() += 1;
        self.changed.notify_all();
        // A counter at its end is readable all the same.
        let _ = write(&self.file, &1_u64.to_ne_bytes());
    }

    /// The file is not readable any more until something happens.
    pub(super) fn take(&self) {
        // Nothing to be read is as well.
        let _ = read(&self.file, &mut [0; 8]);
    }

    /// How often something has happened.
    pub(super) fn count(&self) -> u64 {
        *self.lock()
    }

    /// Wait until it has happened more often than `seen`; false: not before `end`.
    pub(super) fn wait(&self, seen: u64, end: Option<Instant>) -> bool {
        let mut raised = self.lock();
        while *raised == seen {
            raised = match end {
                None => self
                    .changed
                    .wait(raised)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    let waited = self.changed.wait_timeout(raised, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Notice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
