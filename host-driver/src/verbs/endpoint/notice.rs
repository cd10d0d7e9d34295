//! That something has happened, as a file and for threads that wait.
//!
//! ```text
//!  raise --> the file is readable, waiting threads wake --> take: not any more
//! ```

use super::error::EndpointError;
use crate::bus::eventfds;
use rustix::io::{read, write, Errno};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How it stands.
#[derive(Debug, Default)]
struct Raised {
    /// How often something has happened.
    count: u64,
    /// The file is readable.
    is_shown: bool,
    /// Threads that wait.
    waiting: usize,
}

/// A count of what has happened, and a file that is readable since the last of it. A system call is
/// made only where the file changes or a thread waits.
#[derive(Debug)]
pub(super) struct Notice {
    raised: Mutex<Raised>,
    changed: Condvar,
    file: OwnedFd,
}

impl Notice {
    /// One of nothing; `what` its file is, if the system has none.
    ///
    /// # Errors
    /// [`EndpointError::System`].
    pub(super) fn new(what: &'static str) -> Result<Self, EndpointError> {
        let files = eventfds(1).map(|mut files| files.pop());
        let file = files.and_then(|file| file.ok_or(Errno::MFILE.into()));
        Ok(Self {
            raised: Mutex::default(),
            changed: Condvar::new(),
            file: file.map_err(|source| EndpointError::System { what, source })?,
        })
    }

    /// Something has happened.
    pub(super) fn raise(&self) {
        let mut raised = self.lock();
        raised.count += 1;
        if !raised.is_shown {
            raised.is_shown = true;
            // A counter at its end is readable all the same.
            let _ = write(&self.file, &1_u64.to_ne_bytes());
        }
        if raised.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// The file is not readable any more until something happens.
    pub(super) fn take(&self) {
        let mut raised = self.lock();
        if raised.is_shown {
            raised.is_shown = false;
            // Nothing to be read is as well.
            let _ = read(&self.file, &mut [0; 8]);
        }
    }

    /// How often something has happened.
    fn count(&self) -> u64 {
        self.lock().count
    }

    /// What `poll` finds, as soon as it does: it is asked again after each time that something has
    /// happened, until `end`.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], and those of `poll`.
    pub(super) fn wait_for<T>(
        &self,
        end: Option<Instant>,
        mut poll: impl FnMut() -> Result<Option<T>, EndpointError>,
    ) -> Result<T, EndpointError> {
        loop {
            let seen = self.count();
            if let Some(found) = poll()? {
                return Ok(found);
            }
            if !self.wait(seen, end) {
                return Err(EndpointError::TimedOut);
            }
        }
    }

    /// Wait until it has happened more often than `seen`; false: not before `end`.
    fn wait(&self, seen: u64, end: Option<Instant>) -> bool {
        let mut raised = self.lock();
        raised.waiting += 1;
        while raised.count == seen {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            raised = match left {
                None => self
                    .changed
                    .wait(raised)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => break,
                Some(left) => {
                    let waited = self.changed.wait_timeout(raised, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        raised.waiting -= 1;
        raised.count != seen
    }

    fn lock(&self) -> MutexGuard<'_, Raised> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When a wait of at most `timeout` ends; `None`: never.
pub(super) fn end_of(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

impl AsFd for Notice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::take_signals as is_readable;

    #[test]
    fn the_file_is_readable_from_the_first_event_until_it_is_taken() {
        let notice = Notice::new("a file").expect("there is one");
        for _ in 0..2 {
            notice.take();
            assert!(!is_readable(notice.as_fd()).expect("it does not block"));
            notice.raise();
            notice.raise();
            assert!(is_readable(notice.as_fd()).expect("it does not block"));
        }
        assert_eq!(notice.count(), 4);
    }

    #[test]
    fn a_thread_waits_for_what_it_has_not_seen() {
        let notice = Notice::new("a file").expect("there is one");
        let short = Some(Instant::now() + Duration::from_millis(5));
        assert!(!notice.wait(0, short));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| notice.wait(0, None));
            notice.raise();
            assert!(waits.join().expect("it does not panic"));
        });
        assert!(notice.wait(0, None), "it has happened already");
        assert_eq!(notice.lock().waiting, 0);
    }
}
