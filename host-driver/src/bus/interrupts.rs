//! Interrupts as files: one eventfd a vector.

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::{read, Errno};

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// As many eventfds, which do not block.
pub(crate) fn eventfds(count: usize) -> io::Result<Vec<OwnedFd>> {
    let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    let new = || eventfd(0, flags).map_err(io::Error::from);
    (0..count).map(|_| new()).collect()
}

/// Wait until `event` was signalled and take the signals; `false`: it was not in `timeout`. Without
/// a timeout it waits as long as it takes.
pub(crate) fn wait(event: BorrowedFd, timeout: Option<Duration>) -> io::Result<bool> {
    // An end beyond all times is none.
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        if take(event)? {
            return Ok(true);
        }
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(false);
        }
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(
            &mut [PollFd::new(&event.as_fd(), PollFlags::IN)],
            left.as_ref(),
        ) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether `event` was signalled since it was last taken.
pub(crate) fn take(event: BorrowedFd) -> io::Result<bool> {
    loop {
        match read(event, &mut [0; 8]) {
            Ok(_) => return Ok(true),
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::write;

    #[test]
    fn a_wait_takes_all_signals_and_ends_in_time() {
        let events = eventfds(2).expect("two");
        let short = Some(Duration::from_millis(5));
        assert!(!wait(events[0].as_fd(), short).expect("waits"));
        for _ in 0..3 {
            write(&events[0], &1_u64.to_ne_bytes()).expect("signals");
        }
        assert!(wait(events[0].as_fd(), None).expect("waits"));
        assert!(!wait(events[0].as_fd(), Some(Duration::ZERO)).expect("waits"));
        assert!(!wait(events[1].as_fd(), short).expect("another vector"));
    }

    #[test]
    fn a_wait_ends_when_another_thread_signals() {
        let events = eventfds(1).expect("one");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| wait(events[0].as_fd(), Some(Duration::MAX)));
            write(&events[0], &1_u64.to_ne_bytes()).expect("signals");
            assert!(waits.join().expect("ends").expect("waits"));
        });
    }
}
