//! What the other end of a wire can do, and what can be wrong with it.

use rnic_capture::CaptureError;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::fmt::Debug;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why a link cannot be used.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The socket cannot be used.
    #[error("link socket {path}: {source}")]
    Socket {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The interface cannot be used.
    #[error("interface {name}: {source}; {}", tap_advice(source))]
    Tap {
        /// Its name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
}

/// What to do about an interface.
fn tap_advice(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NODEV) => {
            "load the driver with `modprobe tun`; in a container, pass /dev/net/tun to it"
        }
        Some(Errno::PERM | Errno::ACCESS) => {
            "make it as root, for you: `ip tuntap add dev NAME mode tap user USER`"
        }
        Some(Errno::BUSY) => "another process uses it; choose another one",
        _ => "it must be a TAP interface, with a name of 1 to 15 characters",
    }
}

/// How often a link that [seeks](Link::is_seeking) is asked while all is quiet.
pub(crate) const SEEK: Duration = Duration::from_millis(50);

/// A time to wait, as `poll` takes it.
pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

/// What `link` waits for, if it has something to wait on.
pub(crate) fn poll_fd(link: &dyn Link) -> Option<PollFd<'_>> {
    let wants = match link.wants_write() {
        true => PollFlags::IN | PollFlags::OUT,
        false => PollFlags::IN,
    };
    Some(PollFd::from_borrowed_fd(link.fd()?, wants))
}

/// The other end of the wire.
pub trait Link: Debug + Send {
    /// A client of the device begins.
    fn restart(&mut self) {}
    /// Readable when [`Link::receive`] may have a frame.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    /// Frames wait until [`Link::fd`] can be written.
    fn wants_write(&self) -> bool {
        false
    }
    /// Whether [`Link::receive`] has a frame, whatever becomes of [`Link::fd`].
    fn has_frame(&self) -> bool {
        false
    }
    /// The next frame for the device, if one is there; without FCS.
    ///
    /// # Errors
    /// The link is of no more use.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        Ok(None)
    }
    /// Nobody is at the other end, and [`Link::receive`] looks for one: it is to be called from
    /// time to time, whatever becomes of [`Link::fd`].
    fn is_seeking(&self) -> bool {
        false
    }
    /// A frame of the device, without FCS; it leaves by [`Link::flush`] at the latest. False if it
    /// is dropped: nobody is at the other end, or whoever is there does not read.
    ///
    /// # Errors
    /// The link is of no more use.
    fn send(&mut self, _frame: &[u8]) -> Result<bool, LinkError> {
        Ok(false)
    }
    /// Frames that wait for others leave now.
    ///
    /// # Errors
    /// The link is of no more use.
    fn flush(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}
