//! A device as a PCI device over vfio-user, with a link to play on.
//!
//! ```text
//!   clients --> Server --> Session --> ServedDevice --> DeviceCore <-- frames --> Link
//!                  \__________\_______________ poll: sleep while all is quiet ____/
//! ```
//!
//! One thread does everything in turn, so time in the device passes only here: a device that is
//! quiet needs no processor time until a message or a frame comes. Clients are served one after
//! another; each begins with a device after power-up.

use crate::link::{poll_fd, timespec, Link, LinkError, SEEK};
use rnic_output::stdout::complain;
use rnic_sim::{DeviceCore, ServedDevice, Simulation};
use rnic_vfio_user::protocol::Command;
use rnic_vfio_user::{Served, Server, ServerError, Session, SessionEnd};
use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;
use thiserror::Error;

/// Octets of a payload on a served device's bus: all that the device supports.
pub const PAYLOAD_OCTETS_MAX: usize = 512;
/// Cycles simulated between two looks at the sockets: some 0.5 ms.
const TURN_CYCLES: usize = 200;
/// Messages of a client between two turns of the device.
const TURN_MESSAGES: usize = 64;
/// Frames that wait on the wire; the link keeps the others.
const WIRE_FRAMES: usize = 16;
/// Faults of a client that are reported one by one.
const REPORTED_FAULTS: usize = 16;

/// Why a device is no longer served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The socket for clients.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The system cannot wait for sockets.
    #[error("cannot wait for sockets: {0}")]
    Wait(#[from] Errno),
}

/// A device, its clients, and its link.
#[derive(Debug)]
pub struct Service<C: DeviceCore = Simulation> {
    /// None for the service of one client.
    server: Option<Server>,
    session: Option<Session>,
    core: Rc<RefCell<C>>,
    device: ServedDevice<C>,
    link: Box<dyn Link>,
    /// Frames of the link that are not on the wire yet.
    arrived: VecDeque<Vec<u8>>,
    /// Commands that wanted no reply and were refused, of a client that has gone.
    refused: Vec<(Command, Errno)>,
    /// Of the client that is connected, or was last.
    faults: usize,
    clients_gone: usize,
    /// Readable: the service ends.
    end: Option<OwnedFd>,
}

impl<C: DeviceCore> Service<C> {
    /// Serve `core`, which nobody drives, to the clients of `server`.
    pub fn new(server: Server, core: C, link: Box<dyn Link>) -> Self {
        Self::start(Some(server), core, link)
    }

    /// Serve `core`, which nobody drives, to the client of `session` alone: run it for one client.
    pub fn of_session(session: Session, core: C, link: Box<dyn Link>) -> Self {
        let mut service = Self::start(None, core, link);
        service.begin(session);
        service
    }

    fn start(server: Option<Server>, core: C, link: Box<dyn Link>) -> Self {
        let core = Rc::new(RefCell::new(core));
        Self {
            server,
            session: None,
            device: ServedDevice::new(&core),
            core,
            link,
            arrived: VecDeque::new(),
            refused: Vec::new(),
            faults: 0,
            clients_gone: 0,
            end: None,
        }
    }

    /// End [`Service::run`] when `end` is readable, or its other side is closed: whoever handles
    /// signals does it, so that sockets are removed.
    pub fn end_with(mut self, end: OwnedFd) -> Self {
        self.end = Some(end);
        self
    }

    /// Serve until `clients` clients have come and gone, or for ever.
    ///
    /// # Errors
    /// The link or a socket is of no more use. What a client does is no error.
    pub fn run(&mut self, clients: Option<usize>) -> Result<(), ServeError> {
        while clients.is_none_or(|clients| self.clients_gone < clients) {
            if self.wait()? {
                break;
            }
            self.receive_frames()?;
            if self.serve()? {
                let mut core = self.core.borrow_mut();
                let frames = self.arrived.drain(..);
                frames.for_each(|frame| core.push_frame(frame, false));
            }
            // Whoever has connected to the link before the client's last doorbell sees what leaves.
            self.receive_frames()?;
            if !self.is_quiet() {
                self.device.run(TURN_CYCLES);
            }
            self.send_frames()?;
            self.report_faults();
        }
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        let waiting = self.arrived.len() + self.core.borrow().frames_waiting();
        waiting == 0 && self.device.is_quiet()
    }

    /// Sleep until there is something to do; return at once while the device is not quiet. Says
    /// whether the service ends.
    fn wait(&mut self) -> Result<bool, ServeError> {
        let [at_once, seek] = [Duration::ZERO, SEEK].map(timespec);
        let timeout = match self.is_quiet() && !self.link.has_frame() {
            true => self.link.is_seeking().then_some(&seek),
            false => Some(&at_once),
        };
        let mut fds = vec![match &self.session {
            Some(session) => {
                let wants = match session.wants_write() {
                    true => PollFlags::OUT,
                    false => PollFlags::IN,
                };
                PollFd::from_borrowed_fd(session.as_fd(), wants)
            }
            None => match &self.server {
                Some(server) => PollFd::from_borrowed_fd(server.as_fd(), PollFlags::IN),
                None => return Ok(false),
            },
        }];
        fds.extend(poll_fd(&*self.link));
        let end = self.end.as_ref();
        fds.extend(end.map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)));
        match poll(&mut fds, timeout) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let ended = fds.last().is_some_and(|fd| !fd.revents().is_empty());
        Ok(self.end.is_some() && ended)
    }

    fn begin(&mut self, session: Session) {
        self.device.begin(&session);
        self.session = Some(session);
        self.link.restart();
        self.faults = 0;
    }

    /// Accept a client, or carry out what it asks for. Says whether it has asked for nothing else:
    /// a client posts a buffer, then has its peer send, and the frame must find the buffer. So what
    /// has come from the link before this call may go on when everything that was asked for before
    /// it is done.
    fn serve(&mut self) -> Result<bool, ServeError> {
        let Some(session) = &mut self.session else {
            if let Some(session) = self.server.as_ref().map_or(Ok(None), Server::accept)? {
                self.begin(session);
            }
            return Ok(true);
        };
        let mut is_idle = false;
        for _ in 0..TURN_MESSAGES {
            match session.serve_one(&mut self.device) {
                Ok(Served::Message) => {}
                Ok(Served::Idle) => {
                    is_idle = true;
                    break;
                }
                Err(end) => {
                    self.refused.extend(session.take_refused());
                    self.session = None;
                    is_idle = true;
                    self.device.end();
                    self.clients_gone += 1;
                    let gone = self.clients_gone;
                    // A device of this process has one client, whose end is its own.
                    match end {
                        SessionEnd::Closed if self.server.is_none() => {}
                        SessionEnd::Closed => complain(&format!(
                            "rnic serve: client {gone} has closed its connection"
                        )),
                        end => complain(&format!("rnic serve: client {gone}: {end}")),
                    }
                    break;
                }
            }
        }
        Ok(is_idle)
    }

    /// Frames of the link.
    fn receive_frames(&mut self) -> Result<(), LinkError> {
        let on_wire = self.core.borrow().frames_waiting();
        while on_wire + self.arrived.len() < WIRE_FRAMES {
            match self.link.receive()? {
                Some(frame) if !frame.is_empty() => self.arrived.push_back(frame),
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }

    /// Frames of the device to the link, after each turn: a device may be quiet when it has sent
    /// its last one.
    fn send_frames(&mut self) -> Result<(), LinkError> {
        let mut core = self.core.borrow_mut();
        while let Some(sent) = core.next_sent() {
            // A frame with a bad FCS goes no further than the first switch.
            if !sent.error {
                self.link.send(&sent.octets)?;
            }
        }
        self.link.flush()
    }

    fn report_faults(&mut self) {
        let mut refused = std::mem::take(&mut self.refused);
        refused.extend(
            self.session
                .as_mut()
                .map_or(Vec::new(), Session::take_refused),
        );
        let refused = refused.into_iter().map(|(command, errno)| {
            format!("{command:?}, which wants no reply, was refused: {errno}")
        });
        for fault in refused.chain(self.device.take_faults()) {
            self.faults += 1;
            if self.faults <= REPORTED_FAULTS {
                complain(&format!("rnic serve: {fault}"));
            }
            if self.faults == REPORTED_FAULTS {
                complain("rnic serve: further faults of this client are not shown");
            }
        }
    }
}
