//! The monitor: a socket, and the few clients that it has at a time.
//!
//! All of them are in one epoll set, level-triggered, so what a call of [`Monitor::serve`] leaves
//! undone makes the set readable again.

use super::protocol::{Answer, Body, Request, REQUEST_OCTETS_MAX, VERSION};
use super::report::{report_with, Endpoints};
use super::visitor::{Next, Visitor};
use crate::device::access::{Bar, Dma};
use crate::device::Device;
use rnic_vfio_user::{Listener, ServerError};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::Timespec;
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Clients at a time.
pub const CLIENTS_MAX: usize = 8;
/// The listener's key in the epoll set; those of clients follow.
const LISTENER: u64 = 0;

/// Answers for a device.
#[derive(Debug)]
pub struct Monitor {
    listener: Listener,
    epoll: OwnedFd,
    /// With their keys; who came first is first.
    visitors: Vec<(u64, Visitor)>,
    last_key: u64,
}

impl Monitor {
    /// Answers on a socket at `path`, mode 0600, which goes with the monitor. A socket that an
    /// ended process has left there is replaced. `rnicctl list` looks in
    /// [`default_directory`](super::default_directory); make it first.
    ///
    /// # Errors
    /// [`ServerError`]: what is at `path`, or why there can be no socket.
    pub fn bind(path: &Path) -> Result<Self, ServerError> {
        let listener = Listener::bind_private(path)?;
        let failed = |errno: Errno| ServerError::Bind {
            path: path.into(),
            source: errno.into(),
        };
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        let data = EventData::new_u64(LISTENER);
        epoll::add(&epoll, &listener, data, EventFlags::IN).map_err(failed)?;
        Ok(Self {
            listener,
            epoll,
            visitors: Vec::new(),
            last_key: LISTENER,
        })
    }

    /// Path of the socket.
    pub fn path(&self) -> &Path {
        self.listener.path()
    }

    /// Serve who asks, without blocking, with at most one answer: call it again while
    /// [`AsFd::as_fd`] is readable. A client that is wrong or slow is its own problem.
    ///
    /// # Errors
    /// The system's: no file descriptor is left, or no memory. The device is as it was; a later
    /// call may succeed.
    pub fn serve<B: Bar, D: Dma>(&mut self, device: &mut Device<B, D>) -> io::Result<()> {
        self.serve_with(device, &|_| None)
    }

    /// As [`Monitor::serve`], of an owner that says what it does for a connection.
    pub(crate) fn serve_with<B: Bar, D: Dma>(
        &mut self,
        device: &mut Device<B, D>,
        endpoint: &Endpoints<'_>,
    ) -> io::Result<()> {
        let mut events = Vec::<Event>::with_capacity(CLIENTS_MAX + 1);
        let at_once = Timespec::default();
        match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&at_once)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        for event in events {
            let key = event.data.u64();
            if key == LISTENER {
                self.accept()?;
            } else if self.turn(key, device, endpoint)? {
                break;
            }
        }
        Ok(())
    }

    /// Take one client that waits.
    fn accept(&mut self) -> io::Result<()> {
        let socket = match self.listener.accept() {
            Ok(Some(socket)) => socket,
            Ok(None) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        };
        if self.visitors.len() == CLIENTS_MAX {
            // Its file is closed, and leaves the set.
            self.visitors.remove(0);
        }
        self.last_key += 1;
        let (key, visitor) = (self.last_key, Visitor::new(socket));
        epoll::add(
            &self.epoll,
            &visitor,
            EventData::new_u64(key),
            EventFlags::IN,
        )?;
        self.visitors.push((key, visitor));
        Ok(())
    }

    /// Go on with a client; `true` if it was answered.
    fn turn<B: Bar, D: Dma>(
        &mut self,
        key: u64,
        device: &mut Device<B, D>,
        endpoint: &Endpoints<'_>,
    ) -> io::Result<bool> {
        let found = self.visitors.iter().position(|(own, _)| *own == key);
        // It has just lost its place.
        let Some(index) = found else {
            return Ok(false);
        };
        let visitor = &mut self.visitors[index].1;
        let was_answered = visitor.is_answered();
        let next = match visitor.turn() {
            Next::Answer(line) => {
                let body = Request::parse(&line);
                let body = body.map(|request| report_with(device, request, endpoint));
                visitor.answer(encode(body.unwrap_or_else(Body::Error))?)
            }
            Next::TooLong => visitor.answer(encode(Body::Error(format!(
                "the request has more than {REQUEST_OCTETS_MAX} octets"
            )))?),
            next => next,
        };
        let is_new = visitor.is_answered() && !was_answered;
        match next {
            Next::Wait if is_new => {
                let data = EventData::new_u64(key);
                epoll::modify(&self.epoll, &*visitor, data, EventFlags::OUT)?;
            }
            Next::Wait => {}
            _ => drop(self.visitors.remove(index)),
        }
        Ok(is_new)
    }
}

/// The line of an answer.
fn encode(body: Body) -> io::Result<Vec<u8>> {
    let version = VERSION;
    let mut line = serde_json::to_vec(&Answer { version, body })?;
    line.push(b'\n');
    Ok(line)
}

/// Readable when [`Monitor::serve`] has something to do, for any event loop.
impl AsFd for Monitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
