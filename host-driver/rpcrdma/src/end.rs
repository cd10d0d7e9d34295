//! A link and the machine over it.

use crate::error::RpcError;
use crate::link::Link;
use crate::memories::Memories;
use rnic_driver::verbs::endpoint::{startup, PairOptions};
use rnic_driver::DriverError;
use rpcrdma::binding::Program;
use rpcrdma::private_data::PrivateData;
use rpcrdma::{Endpoint, Event, Pool, Settings};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// One end of RPC over RDMA, on one connection after another.
#[derive(Debug)]
pub struct End {
    /// The machine: calls, replies, counters.
    pub endpoint: Endpoint,
    /// Of the connection, or of the last one: calls that it has left are still replied to.
    link: Option<Link>,
    is_connected: bool,
}

impl End {
    /// A client, with transport memory of its own.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn client(settings: Settings, memories: &Memories) -> Result<Self, DriverError> {
        let transport = memories.allocate(settings.transport_octets() as u32)?;
        Ok(Self {
            endpoint: Endpoint::client(settings, transport),
            link: None,
            is_connected: false,
        })
    }

    /// A server of `programs`, with transport memory of its own.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn server(
        settings: Settings,
        memories: &Memories,
        programs: &'static [Program<'static>],
    ) -> Result<Self, DriverError> {
        let transport = memories.allocate(settings.transport_octets() as u32)?;
        Ok(Self {
            endpoint: Endpoint::server(settings, transport, programs),
            link: None,
            is_connected: false,
        })
    }

    /// Begin on a connection. Its receives are posted here: a server calls this before it accepts.
    pub fn begin(&mut self, now: u64, mut link: Link, pool: &mut Pool, peer: Option<PrivateData>) {
        self.endpoint.connected(now, &mut link, pool, peer);
        (self.link, self.is_connected) = (Some(link), true);
    }

    /// The connection, if there is one.
    #[must_use]
    pub fn link(&self) -> Option<&Link> {
        self.link.as_ref().filter(|_| self.is_connected)
    }

    /// The connection, if there is one.
    pub fn link_mut(&mut self) -> Option<&mut Link> {
        self.link.as_mut().filter(|_| self.is_connected)
    }

    /// The machine, and the connection or the last one.
    pub fn parts(&mut self) -> (&mut Endpoint, Option<&mut Link>) {
        (&mut self.endpoint, self.link.as_mut())
    }

    /// What has happened; what follows from it has been handed to the device when there is
    /// nothing.
    pub fn poll(&mut self, now: u64, pool: &mut Pool) -> Option<Event> {
        let link = self.link.as_mut().filter(|_| self.is_connected)?;
        let event = self.endpoint.poll(now, link, pool);
        match event {
            None => link.flush(),
            Some(Event::Disconnected) => self.is_connected = false,
            Some(_) => {}
        }
        event
    }
}

/// How much a queue pair takes for an end with these settings.
#[must_use]
pub(crate) fn pair_options(settings: &Settings) -> PairOptions {
    let receives = settings.receives();
    PairOptions {
        // Each call or reply is a Send, and may have its Writes or Reads.
        sends: 4 * receives as usize,
        receives: receives.next_power_of_two(),
        ..PairOptions::default()
    }
}

/// RDMA Reads outstanding each way.
const READS: u16 = 8;

/// How connections start, unless the user says otherwise.
pub(crate) fn default_startup() -> startup::Settings {
    startup::Settings {
        ird: READS,
        ord: READS,
        ..startup::Settings::default()
    }
}

/// Microseconds since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(self) -> u64 {
        self.0.elapsed().as_micros() as u64
    }
}

/// Sleep until one of `files` is readable, at most so long.
pub(crate) fn sleep(files: &[BorrowedFd<'_>], most: Duration) -> Result<(), RpcError> {
    let mut fds: Vec<_> = files
        .iter()
        .map(|file| PollFd::from_borrowed_fd(*file, PollFlags::IN))
        .collect();
    let timeout = Timespec {
        tv_sec: most.as_secs() as i64,
        tv_nsec: most.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(RpcError::Wait(io::Error::from(error))),
    }
}
