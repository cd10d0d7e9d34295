//! The end that sends the Request, whichever end opened TCP (START-005).
//!
//! ```text
//!  new -> [Waiting] -- Reply, R = 0 --> [Agreed] -- more octets --> [Over], Early
//!            |  |
//!            |  +---- Reply, R = 1 --> [Over], Rejected: the stream is the ULP's again
//!            +------- invalid, TCP closed, time-out --> [Over], Failed
//! ```

use super::agreed::{conclude, offer, Agreed, Depths};
use super::error::{fallback, StartupError};
use super::frame::{octets, FrameReader};
use super::settings::{check_private_data, Settings, SettingsError, REPLY_TIMEOUT_US};
use rnic_wire::ddp::errors::Cause;
use rnic_wire::mpa::startup::{Role, StartupRepr};
use std::collections::VecDeque;

/// A Reply with R = 1: MPA is left, and TCP stays open for the ULP (START-011).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Revision of the Reply.
    pub revision: u8,
    /// The peer's reason, without the enhanced data.
    pub private_data: Vec<u8>,
}

/// What an initiator has for its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitiatorOutput {
    /// The Request: to be sent as octets of the TCP stream.
    Request(Vec<u8>),
    /// The Reply is whole and accepts. The ULP looks at the Private Data, and either makes a queue
    /// pair of it or leaves MPA (START-013, START-016).
    Agreed(Agreed),
    /// The Reply is whole and accepts what was not offered. Full operation has one message: a
    /// Terminate of this cause.
    Terminate {
        /// For the queue pair that sends it.
        agreed: Agreed,
        /// 0x06 or 0x07 of MPA.
        cause: Cause,
    },
    /// The peer rejected.
    Rejected(Rejection),
    /// Close TCP.
    Failed {
        /// Why.
        error: StartupError,
        /// The revision that another attempt on a new TCP connection may use (MPA2-003), with
        /// [`Settings::in_revision`].
        fallback: Option<u8>,
    },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Agreed,
    Over,
}

/// An initiator. Memory: the Request until it is polled, and the Reply.
#[derive(Clone, Debug)]
pub struct Initiator {
    settings: Settings,
    state: State,
    started_us: u64,
    reply: FrameReader,
    outputs: VecDeque<InitiatorOutput>,
}

impl Initiator {
    /// Start: the first output is the Request with this Private Data (START-006).
    ///
    /// # Errors
    /// [`SettingsError`], the Private Data's length included.
    pub fn new(
        settings: Settings,
        private_data: &[u8],
        now_us: u64,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        let revision = settings.revision;
        let enhanced = (revision >= 2).then(|| offer(&settings));
        check_private_data(private_data, revision, enhanced.is_some())?;
        let request = octets(&StartupRepr {
            role: Role::Request,
            markers: settings.markers,
            crc: settings.crc,
            rejected: false,
            revision,
            enhanced,
            private_data,
        });
        // A Reply has never a higher revision than the Request.
        let revisions = (settings.revision_min, revision);
        let most = settings.private_data_octets_max;
        Ok(Self {
            settings,
            state: State::Waiting,
            started_us: now_us,
            reply: FrameReader::new(Role::Reply, revisions, most),
            outputs: VecDeque::from([InitiatorOutput::Request(request)]),
        })
    }

    /// When [`Self::poll`] is to be called at the latest, in microseconds.
    pub fn deadline(&self) -> Option<u64> {
        let timeout_us = self.settings.timeout_us.unwrap_or(REPLY_TIMEOUT_US);
        (self.state == State::Waiting).then(|| self.started_us.saturating_add(timeout_us))
    }

    /// Octets that are missing of the Reply as far as that is known: whoever reads no more than
    /// these from the stream leaves the first octet after it there. 0 once it is whole, and after
    /// a failure.
    pub fn wanted_octets(&self) -> usize {
        match self.state {
            State::Waiting => self.reply.missing_octets(),
            _ => 0,
        }
    }

    /// Take octets of the stream from the peer, in order; how many of them were start-up's. The
    /// next one is where full operation begins, or, after a rejection, the ULP's stream goes on.
    pub fn feed(&mut self, octets: &[u8]) -> usize {
        match self.state {
            State::Over => 0,
            State::Agreed => {
                self.refuse_rest(octets);
                0
            }
            State::Waiting => match self.reply.feed(octets) {
                Ok(taken) => {
                    self.conclude();
                    self.refuse_rest(&octets[taken..]);
                    taken
                }
                Err(error) => {
                    self.fail(error);
                    0
                }
            },
        }
    }

    /// A responder sends nothing before our first FPDU (START-042).
    fn refuse_rest(&mut self, octets: &[u8]) {
        if self.state == State::Agreed && !octets.is_empty() {
            let octet = self.reply.found_octets();
            self.fail(StartupError::Early { octet });
        }
    }

    /// TCP was closed by the peer, or lost.
    pub fn on_close(&mut self) {
        if self.state != State::Waiting {
            return;
        }
        let error = match self.reply.found_octets() {
            0 => StartupError::Closed,
            found_octets => StartupError::CutShort {
                found_octets,
                needed_octets: self.reply.needed_octets(),
            },
        };
        self.fail(error);
    }

    /// The next output at this time, in microseconds.
    pub fn poll(&mut self, now_us: u64) -> Option<InitiatorOutput> {
        if self.deadline().is_some_and(|deadline| now_us >= deadline) {
            self.fail(StartupError::TimedOut {
                found_octets: self.reply.found_octets(),
                waited_us: now_us.saturating_sub(self.started_us),
            });
        }
        self.outputs.pop_front()
    }

    fn fail(&mut self, error: StartupError) {
        self.state = State::Over;
        // Whoever has not seen an agreement yet is not to see it now.
        self.outputs.clear();
        let fallback = fallback(&self.settings, &error);
        self.outputs
            .push_back(InitiatorOutput::Failed { error, fallback });
    }

    /// The Reply, if it is whole.
    fn conclude(&mut self) {
        let settings = self.settings;
        let Some(concluded) = self.reply.read(|reply| conclude_reply(&settings, &reply)) else {
            return;
        };
        match concluded {
            Ok(output) => {
                self.state = match output {
                    InitiatorOutput::Rejected(_) => State::Over,
                    _ => State::Agreed,
                };
                self.outputs.push_back(output);
            }
            Err(error) => self.fail(error),
        }
    }
}

fn conclude_reply(
    settings: &Settings,
    reply: &StartupRepr<'_>,
) -> Result<InitiatorOutput, StartupError> {
    if reply.rejected {
        return Ok(InitiatorOutput::Rejected(Rejection {
            revision: reply.revision,
            private_data: reply.private_data.to_vec(),
        }));
    }
    // A Reply of revision 2 answers a Request of revision 2, which had S. One without S leaves IRD
    // and ORD to the ULPs, and the client-server model.
    let (depths, cause) = match &reply.enhanced {
        Some(data) if data.peer_to_peer && !settings.peer_to_peer => {
            return Err(StartupError::PeerToPeerUnasked);
        }
        Some(data) => conclude(settings, data),
        None => (Depths::own(settings), None),
    };
    let agreed = Agreed::new(settings, true, reply.revision, reply, depths);
    Ok(match cause {
        Some(cause) => InitiatorOutput::Terminate { agreed, cause },
        None => InitiatorOutput::Agreed(agreed),
    })
}
