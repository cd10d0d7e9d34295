//! A hub on a thread of its own, for whoever plays on its ports meanwhile.

use super::medium::Counts;
use super::{Hub, HubError, Records, Settings};
use crate::link::{Link, LinkError, LinkKind};
use rustix::io::Errno;
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

/// A hub that runs until it is ended, or dropped; its captures have their names then.
#[derive(Debug)]
pub struct Running {
    /// Its other side is the hub's end.
    end: Option<UnixStream>,
    thread: Option<JoinHandle<Result<Vec<Counts>, HubError>>>,
}

impl Running {
    /// Open the ports, so that others can connect to sockets from here on, and join them.
    ///
    /// # Errors
    /// As [`LinkKind::open_privately`] and [`Hub::new`].
    pub fn open(
        ports: &[LinkKind],
        settings: Settings,
        records: Records,
    ) -> Result<Self, HubError> {
        let ports = ports.iter().map(LinkKind::open_privately);
        let ports: Result<_, LinkError> = ports.collect();
        Self::start(ports?, settings, records)
    }

    /// Join ports that are open.
    ///
    /// # Errors
    /// As [`Hub::new`].
    pub fn start(
        ports: Vec<Box<dyn Link>>,
        settings: Settings,
        records: Records,
    ) -> Result<Self, HubError> {
        let sockets = UnixStream::pair();
        let (end, is_ending) =
            sockets.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let mut hub = Hub::new(ports, settings, records, is_ending.into())?;
        let thread = thread::spawn(move || hub.run().map(|()| hub.counts()));
        Ok(Self {
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// End it: what has become of the frames of each port.
    ///
    /// # Errors
    /// As [`Hub::run`].
    ///
    /// # Panics
    /// As its thread did.
    pub fn end(mut self) -> Result<Vec<Counts>, HubError> {
        self.end = None;
        let joined = self.thread.take().map(JoinHandle::join);
        let ended = joined.unwrap_or_else(|| Ok(Ok(Vec::new())));
        ended.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // What went wrong there, `end` would have said.
            let _ = thread.join();
        }
    }
}
