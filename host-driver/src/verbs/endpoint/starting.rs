//! MPA's start-up of a connection, and the switch to full operation (START-042).
//!
//! ```text
//!  TCP --read no more than the frame--> machine --> Request, Reply
//!                                                     |
//!      limit: nothing after it is acknowledged <------+
//!      hand-over: contexts, lookup last --> machine of the queue pair --> Reply
//! ```

use super::error::EndpointError;
use super::live::{Live, Outcome, Startup};
use super::pair::Pair;
use super::wire::Wire;
use crate::device::access::{Bar, Dma};
use crate::device::tables::ConnectionConfig;
use rnic_iwarp::queue_pair::QueuePair;
use rnic_iwarp::startup::{Agreed, InitiatorOutput, ResponderOutput, StartupError};
use rnic_tcp::handover::early;
use rnic_tcp::{Connection, SeqNumber, RECORD_OCTETS_MAX};

/// Octets of the device's receive window. It grows no larger before queues are in host memory.
const WINDOW_OCTETS: u32 = 65_535;
/// Octets of a start-up frame that are read at a time.
const READ_OCTETS: usize = 512;

impl Startup {
    fn wanted_octets(&self) -> usize {
        match self {
            Self::Initiator(machine) => machine.wanted_octets(),
            Self::Responder(machine) => machine.wanted_octets(),
        }
    }

    fn feed(&mut self, octets: &[u8]) {
        match self {
            Self::Initiator(machine) => machine.feed(octets),
            Self::Responder(machine) => machine.feed(octets),
        };
    }

    pub(super) fn on_close(&mut self) {
        match self {
            Self::Initiator(machine) => machine.on_close(),
            Self::Responder(machine) => machine.on_close(),
        }
    }

    /// Read the frame, and not an octet more.
    pub(super) fn read_from(&mut self, tcp: &mut Connection) {
        let mut octets = [0; READ_OCTETS];
        loop {
            let wanted = self.wanted_octets().min(READ_OCTETS);
            let count = tcp.read(&mut octets[..wanted]);
            if count == 0 {
                return;
            }
            self.feed(&octets[..count]);
        }
    }
}

impl Live {
    /// Begin MPA. A peer that has closed already will not say more than it has (START-043).
    pub(super) fn begin_startup(&mut self, mut startup: Startup, now: u64) {
        self.tcp.begin_startup(now);
        if self.is_peer_closed {
            startup.read_from(&mut self.tcp);
            startup.on_close();
        }
        self.startup = Some(startup);
    }

    /// Go on with a start-up, if there is one.
    pub(super) fn start_up<B: Bar, D: Dma>(&mut self, wire: &mut Wire<'_, B, D>) {
        if let Some(startup) = &mut self.startup {
            startup.read_from(&mut self.tcp);
        }
        match &mut self.startup {
            Some(Startup::Initiator(machine)) => {
                if let Some(output) = machine.poll(wire.now) {
                    self.on_initiator(output, wire);
                }
            }
            Some(Startup::Responder(_)) => {
                self.refuse_readable_octets();
                if let Some(Startup::Responder(machine)) = &mut self.startup {
                    if let Some(output) = machine.poll(wire.now) {
                        self.on_responder(output);
                    }
                }
            }
            None => {}
        }
    }

    /// Octets after a whole frame, of a peer that is to wait for an answer (START-041): the
    /// machine fails. Says whether there are some.
    fn refuse_readable_octets(&mut self) -> bool {
        let Some(startup) = &mut self.startup else {
            return false;
        };
        let is_early = startup.wanted_octets() == 0 && self.tcp.readable_octets() > 0;
        if is_early {
            let mut octet = [0];
            let count = self.tcp.read(&mut octet);
            startup.feed(&octet[..count]);
        }
        is_early
    }

    fn on_initiator<B: Bar, D: Dma>(&mut self, output: InitiatorOutput, wire: &mut Wire<'_, B, D>) {
        let outcome = match output {
            InitiatorOutput::Request(octets) => match self.push_frame(&octets) {
                Ok(()) => return,
                Err(error) => {
                    self.tcp.abort();
                    Outcome::Refused(error)
                }
            },
            // The machine says next why it has failed.
            InitiatorOutput::Agreed(_) if self.refuse_readable_octets() => return,
            InitiatorOutput::Agreed(agreed) => self.agree(&agreed, wire),
            InitiatorOutput::Terminate { agreed, cause } => {
                let outcome = self.agree(&agreed, wire);
                if let Some(pair) = &mut self.pair {
                    pair.machine.terminate(cause);
                }
                outcome
            }
            InitiatorOutput::Rejected(rejection) => {
                self.tcp.end_startup();
                Outcome::Rejected(rejection)
            }
            InitiatorOutput::Failed { error, fallback } => {
                self.close_after(&error);
                Outcome::Failed { error, fallback }
            }
        };
        self.conclude(outcome);
    }

    fn on_responder(&mut self, output: ResponderOutput) {
        match output {
            ResponderOutput::Request(request) => {
                // Rule 1 of the switch: what follows is neither kept nor acknowledged.
                match self.tcp.limit_stream(0) {
                    Ok(()) => self.show(Outcome::Request(request)),
                    Err(error) => {
                        let peer = self.ends.peer;
                        self.tcp.abort();
                        self.conclude(Outcome::Refused(EndpointError::Switch { peer, error }));
                    }
                }
            }
            ResponderOutput::Failed(error) => {
                self.close_after(&error);
                let fallback = None;
                self.conclude(Outcome::Failed { error, fallback });
            }
        }
    }

    /// MPA is left and TCP is closed (START-007). Octets that came too early are lost with it, so
    /// the peer is to learn that by an RST (START-041).
    fn close_after(&mut self, error: &StartupError) {
        match error {
            StartupError::Early { .. } => self.tcp.abort(),
            _ => self.tcp.close(),
        }
    }

    /// The initiator's side of the switch.
    fn agree<B: Bar, D: Dma>(&mut self, agreed: &Agreed, wire: &mut Wire<'_, B, D>) -> Outcome {
        let limited = self.tcp.limit_stream(0);
        let limited = limited.map_err(|error| EndpointError::Switch {
            peer: self.ends.peer,
            error,
        });
        match limited.and_then(|()| self.switch(agreed, wire)) {
            Ok(()) => Outcome::Agreed(agreed.private_data.clone()),
            Err(error) => {
                self.tcp.abort();
                Outcome::Refused(error)
            }
        }
    }

    fn conclude(&mut self, outcome: Outcome) {
        self.startup = None;
        self.show(outcome);
    }

    /// Give the user what a start-up has led to.
    fn show(&mut self, outcome: Outcome) {
        log::debug!("{}: start-up: {outcome}", self.ends.peer);
        self.inbox.outcome = Some(outcome);
        self.notice.raise();
    }

    /// Accept the Request: the device is ready before the Reply leaves.
    pub(super) fn accept<B: Bar, D: Dma>(
        &mut self,
        private_data: &[u8],
        wire: &mut Wire<'_, B, D>,
    ) -> Result<(), EndpointError> {
        let peer = self.ends.peer;
        let Some(Startup::Responder(machine)) = &mut self.startup else {
            let state = "has no Request to be accepted";
            return Err(EndpointError::State { peer, state });
        };
        let accepted = machine.accept(private_data);
        let accepted = accepted.map_err(|error| EndpointError::Answer { peer, error })?;
        self.startup = None;
        let switched = self.switch(&accepted.agreed, wire);
        let switched = switched.and_then(|()| self.refuse_early_octets(wire));
        let replied = switched.and_then(|()| self.push_frame(&accepted.reply));
        if let Err(error) = replied {
            log::debug!("{peer}: start-up: not accepted: {error}");
            self.tcp.abort();
            return Err(error);
        }
        log::debug!("{peer}: start-up: accepted");
        Ok(())
    }

    /// Rule 5 of the switch: nobody is told of what came before the Reply.
    fn refuse_early_octets<B: Bar, D: Dma>(
        &self,
        wire: &mut Wire<'_, B, D>,
    ) -> Result<(), EndpointError> {
        let (Some(pair), Some(resources)) = (&self.pair, &self.resources) else {
            return Ok(());
        };
        let state = wire.ledger.device().tcp_state(resources.number)?;
        let switch = SeqNumber(pair.sequence_start);
        match early(switch, SeqNumber(state.rcv_nxt), false) {
            false => Ok(()),
            true => Err(EndpointError::State {
                peer: self.ends.peer,
                state: "has octets of full operation before the Reply",
            }),
        }
    }

    /// Reject the Request: the connection is a stream again.
    pub(super) fn reject(&mut self, private_data: &[u8]) -> Result<(), EndpointError> {
        let peer = self.ends.peer;
        let Some(Startup::Responder(machine)) = &mut self.startup else {
            let state = "has no Request to be rejected";
            return Err(EndpointError::State { peer, state });
        };
        let reply = machine.reject(private_data);
        let reply = reply.map_err(|error| EndpointError::Answer { peer, error })?;
        self.startup = None;
        self.push_frame(&reply)?;
        log::debug!("{peer}: start-up: rejected");
        self.tcp.end_startup();
        Ok(())
    }

    /// Hand a start-up frame to TCP: the longest one of revision 0 is longer than a record.
    fn push_frame(&mut self, frame: &[u8]) -> Result<(), EndpointError> {
        let mut records = frame.chunks(RECORD_OCTETS_MAX as usize);
        let is_pushed = self.tcp.room() >= records.len()
            && records.all(|record| self.push_copied(record.to_vec(), None));
        match is_pushed {
            true => Ok(()),
            false => Err(EndpointError::State {
                peer: self.ends.peer,
                state: "takes no start-up frame: it is closed, or too much is not acknowledged",
            }),
        }
    }

    /// The receiver moves to the device, and the machine of the queue pair begins.
    fn switch<B: Bar, D: Dma>(
        &mut self,
        agreed: &Agreed,
        wire: &mut Wire<'_, B, D>,
    ) -> Result<(), EndpointError> {
        let peer = self.ends.peer;
        let Some(resources) = &self.resources else {
            let state = "has no queue pair yet";
            return Err(EndpointError::State { peer, state });
        };
        let handover = self.tcp.hand_over(WINDOW_OCTETS);
        let handover = handover.map_err(|error| EndpointError::Switch { peer, error })?;
        let reserved = resources.reservation;
        let config = ConnectionConfig {
            key: reserved.key,
            sequence_start: handover.rcv_nxt.0,
            window: handover.window_octets,
            seg_ack: handover.snd_una.0,
            seg_wnd: handover.seg_wnd,
            markers: agreed.markers_in,
            crc: agreed.crc,
            version: agreed.version,
            protection_domain: reserved.protection_domain,
            completion_queue: reserved.completion_queue,
        };
        let device = wire.ledger.device();
        device.activate_connection(resources.number, &config)?;
        let emss = usize::from(self.tcp.emss_octets());
        let mut machine = QueuePair::new(agreed, emss, self.limits);
        for id in self.early_receives.drain(..) {
            // As many fit as were taken before.
            let _ = machine.post_receive(id);
        }
        self.pair = Some(Pair {
            machine,
            sequence_start: handover.rcv_nxt.0,
            named_octets: 0,
        });
        Ok(())
    }
}
