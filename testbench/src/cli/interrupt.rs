//! Ctrl-C and SIGTERM: a command ends with what it has.
//!
//! ```text
//!  signal --> thread --> somebody polls --> flag, and a socket that closes --> the command ends
//!                 `----> nobody polls, or a second signal --> temporary files removed, the end
//! ```
//!
//! In the end the process ends by the signal ([`end`]), so that a loop of a shell ends with it.

use rnic_output::temporary;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A signal has come and been left to the command.
static RAISED: AtomicBool = AtomicBool::new(false);
/// Which one; 0 is none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Parts of the command that end soon once the flag is raised.
static POLLING: AtomicUsize = AtomicUsize::new(0);
/// Closed with the first signal; [`Polling::socket`] has its other side.
static SOCKET: Mutex<Option<UnixStream>> = Mutex::new(None);

/// While this lives, a signal raises the flag in place of ending the process at once.
#[derive(Debug)]
pub(crate) struct Polling(());

impl Drop for Polling {
    fn drop(&mut self) {
        POLLING.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Polling {
    /// Who holds this asks [`is_raised`] again and again, or waits for [`Polling::socket`].
    pub(crate) fn begin() -> Self {
        POLLING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Readable once a signal has come.
    pub(crate) fn socket(&self) -> io::Result<OwnedFd> {
        let (ours, theirs) = UnixStream::pair()?;
        *SOCKET.lock().unwrap_or_else(PoisonError::into_inner) = Some(ours);
        Ok(theirs.into())
    }
}

/// Has a signal come?
pub(crate) fn is_raised() -> bool {
    RAISED.load(Ordering::SeqCst)
}

/// The flag, for what does not know this module.
pub(crate) fn raised() -> &'static AtomicBool {
    &RAISED
}

/// From here on signals do what this module says; to be called once.
///
/// # Errors
/// The system handles no signals for us.
pub(crate) fn install() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || signals.forever().for_each(handle));
    limits_are_errors()
}

/// A file beyond the limit of its size (`ulimit -f`) is an error where it is written, as a full
/// disk is, and does not end the process with its temporary files left.
fn limits_are_errors() -> io::Result<()> {
    // Whatever is done with the signal, the write fails.
    flag::register(SIGXFSZ, Arc::default())?;
    Ok(())
}

fn handle(signal: i32) {
    let is_first = SIGNAL.swap(signal, Ordering::SeqCst) == 0;
    if is_first && POLLING.load(Ordering::SeqCst) > 0 {
        RAISED.store(true, Ordering::SeqCst);
        drop(SOCKET.lock().unwrap_or_else(PoisonError::into_inner).take());
        return;
    }
    temporary::remove_all();
    end();
}

/// End the process by the signal that has come.
pub(crate) fn end() -> ExitCode {
    let signal = SIGNAL.load(Ordering::SeqCst);
    // It returns only for signals that end no process.
    let _ = emulate_default_handler(signal);
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(2))
}
