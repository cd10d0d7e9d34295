//! A hub: what comes in at one port goes out at all others, with the faults that are asked for.
//!
//! ```text
//!  links --> frames --> Medium: lost, late, twice, in another order --> links of the other ports
//!                          |                |
//!                       Record           Record
//!                      (dropped)       (delivered)
//! ```
//!
//! - [`medium`]: what becomes of a frame, and when; no I/O and no clock.
//! - [`record`]: frames into a capture.
//! - [`Hub`]: links, time, captures; [`Running`]: the same on a thread of its own.
//!
//! One thread does everything. A frame of any destination goes to every port: whoever is there
//! knows its own addresses, as on a hub of repeaters.

pub mod medium;
pub mod record;
mod running;
mod settings;

pub use running::Running;
pub use settings::{Rate, Settings};

use crate::link::{poll_fd, timespec, Link, LinkError, SEEK};
use medium::{Counts, Medium};
use record::Record;
use rnic_output::OutputError;
use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Ports of a hub.
pub const PORTS_MAX: usize = 64;
/// Frames of a port in a turn: no port keeps the others waiting.
const TURN_FRAMES: usize = 64;

/// Why a hub is of no more use.
#[derive(Debug, Error)]
pub enum HubError {
    /// Fewer than two ports, or more than a hub has.
    #[error("a hub has 2 to {PORTS_MAX} ports, not {0}")]
    Ports(usize),
    /// A port.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A capture.
    #[error(transparent)]
    Record(#[from] OutputError),
    /// The system cannot wait for the ports.
    #[error("cannot wait for the ports: {0}")]
    Wait(#[from] Errno),
}

/// What was asked to be written.
#[derive(Debug, Default)]
pub struct Records {
    /// Frames as they are delivered, copies and all; once each, however many ports they leave by.
    pub delivered: Option<Record>,
    /// Frames that are lost on purpose, or find the queue of their port full.
    pub dropped: Option<Record>,
}

/// Ports, and what is between them.
#[derive(Debug)]
pub struct Hub {
    ports: Vec<Box<dyn Link>>,
    medium: Medium,
    records: Records,
    begun: Instant,
    end: OwnedFd,
}

impl Hub {
    /// A hub with these ports, which runs until `end` is readable or its other side is closed.
    ///
    /// # Errors
    /// [`HubError::Ports`].
    pub fn new(
        ports: Vec<Box<dyn Link>>,
        settings: Settings,
        records: Records,
        end: OwnedFd,
    ) -> Result<Self, HubError> {
        if !(2..=PORTS_MAX).contains(&ports.len()) {
            return Err(HubError::Ports(ports.len()));
        }
        Ok(Self {
            medium: Medium::new(settings, ports.len()),
            ports,
            records,
            begun: Instant::now(),
            end,
        })
    }

    /// Counts of each port so far.
    pub fn counts(&self) -> Vec<Counts> {
        (0..self.ports.len())
            .map(|port| self.medium.counts(port))
            .collect()
    }

    /// Join the ports until the end; the captures then take their names.
    ///
    /// # Errors
    /// A port or a capture is of no more use.
    pub fn run(&mut self) -> Result<(), HubError> {
        while !self.wait()? {
            self.take()?;
            self.deliver()?;
        }
        let Records { delivered, dropped } = std::mem::take(&mut self.records);
        for record in [delivered, dropped].into_iter().flatten() {
            record.finish()?;
        }
        Ok(())
    }

    /// Microseconds since the hub began.
    fn now(&self) -> u64 {
        self.begun.elapsed().as_micros() as u64
    }

    /// Sleep until there is something to do; says whether the hub ends.
    fn wait(&self) -> Result<bool, HubError> {
        let due = self.medium.due();
        let due = due.map(|due| Duration::from_micros(due.saturating_sub(self.now())));
        let seeks = self.ports.iter().any(|port| port.is_seeking());
        let has_frame = self.ports.iter().any(|port| port.has_frame());
        let waits = [
            due,
            seeks.then_some(SEEK),
            has_frame.then_some(Duration::ZERO),
        ];
        let timeout = waits.into_iter().flatten().min().map(timespec);
        let mut fds = vec![PollFd::from_borrowed_fd(self.end.as_fd(), PollFlags::IN)];
        fds.extend(self.ports.iter().filter_map(|port| poll_fd(&**port)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What has come in at the ports.
    fn take(&mut self) -> Result<(), HubError> {
        for number in 0..self.ports.len() {
            for _ in 0..TURN_FRAMES {
                let Some(frame) = self.ports[number].receive()? else {
                    break;
                };
                let now = self.now();
                if let Some(dropped) = self.medium.enter(number, now, frame) {
                    if let Some(record) = &mut self.records.dropped {
                        record.frame(number, now, &dropped)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What is due, to every port but its own.
    fn deliver(&mut self) -> Result<(), HubError> {
        let now = self.now();
        while let Some((from, frame)) = self.medium.leave(now) {
            if let Some(record) = &mut self.records.delivered {
                record.frame(from, now, &frame)?;
            }
            for (number, port) in self.ports.iter_mut().enumerate() {
                if number != from {
                    let is_taken = port.send(&frame)?;
                    self.medium.note_sent(number, is_taken);
                }
            }
        }
        for port in &mut self.ports {
            port.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
