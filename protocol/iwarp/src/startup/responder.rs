//! The end that waits for the Request.
//!
//! ```text
//!  new -> [Waiting] -- Request --> [Deciding] -- accept --> [Over], full operation
//!            |                      |      |
//!            |                      |      +--- reject --> [Over], the stream is the ULP's again
//!            |                      +- more octets, TCP closed --> [Over], Failed
//!            +- invalid, TCP closed, time-out --> [Over], Failed
//! ```

use super::agreed::{answer, Agreed, Depths, NoCommonRtr};
use super::error::StartupError;
use super::frame::{octets, FrameReader};
use super::settings::{
    check_private_data, RtrKinds, Settings, SettingsError, REQUEST_TIMEOUT_US, REVISION_MAX,
};
use rnic_wire::mpa::startup::{EnhancedData, Role, StartupRepr};

/// A whole and valid Request, for the ULP to decide on (START-016).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its revision; the Reply has this one or a lower one.
    pub revision: u8,
    /// The peer wants markers in what it receives.
    pub markers: bool,
    /// The peer calls for CRC32C.
    pub crc: bool,
    /// What S announced, as the peer sent it.
    pub enhanced: Option<EnhancedData>,
    /// Private Data of the peer's ULP, without the enhanced data.
    pub private_data: Vec<u8>,
}

/// What a responder has for its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponderOutput {
    /// The Request is whole and valid: [`Responder::accept`] or [`Responder::reject`] it.
    Request(Request),
    /// Close TCP; there is no Reply.
    Failed(StartupError),
}

/// An accepted connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What both ends know once the Reply has arrived.
    pub agreed: Agreed,
    /// The Reply. The next octet that the peer sends may be an FPDU's: whoever sends the Reply must
    /// be ready to receive before (START-009, START-040).
    pub reply: Vec<u8>,
}

/// Why a Request cannot be answered now.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// There is no Request to answer, or no more.
    #[error("there is no Request to answer")]
    NoRequest,
    /// The peer asks for the peer-to-peer model and knows no kind of RTR that this end does: the
    /// Request can be rejected.
    #[error("octet 20 of the peer's Request has A, and no RTR in common with this end")]
    NoCommonRtr,
    /// The Private Data is too long for the Reply.
    #[error(transparent)]
    PrivateData(#[from] SettingsError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Deciding,
    Over,
}

/// A responder. Memory: the Request, and its Private Data once more until it is polled.
#[derive(Clone, Debug)]
pub struct Responder {
    settings: Settings,
    state: State,
    started_us: u64,
    request: FrameReader,
    output: Option<ResponderOutput>,
}

impl Responder {
    /// Start to wait for a Request.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn new(settings: Settings, now_us: u64) -> Result<Self, SettingsError> {
        settings.check()?;
        let highest = match settings.answer_newer {
            true => REVISION_MAX,
            false => settings.revision,
        };
        let revisions = (settings.revision_min, highest);
        let most = settings.private_data_octets_max;
        Ok(Self {
            settings,
            state: State::Waiting,
            started_us: now_us,
            request: FrameReader::new(Role::Request, revisions, most),
            output: None,
        })
    }

    /// When [`Self::poll`] is to be called at the latest, in microseconds. How long the ULP takes
    /// to decide is bounded by the peer's time-out.
    pub fn deadline(&self) -> Option<u64> {
        let timeout_us = self.settings.timeout_us.unwrap_or(REQUEST_TIMEOUT_US);
        (self.state == State::Waiting).then(|| self.started_us.saturating_add(timeout_us))
    }

    /// Octets that are missing of the Request as far as that is known: whoever reads no more than
    /// these from the stream leaves the first octet after it there. 0 once it is whole, and after
    /// a failure.
    pub fn wanted_octets(&self) -> usize {
        match self.state {
            State::Waiting => self.request.missing_octets(),
            _ => 0,
        }
    }

    /// Take octets of the stream from the peer, in order; how many of them were start-up's. The
    /// next one is where full operation begins, or, after a rejection, the ULP's stream goes on.
    pub fn feed(&mut self, octets: &[u8]) -> usize {
        match self.state {
            State::Waiting => match self.request.feed(octets) {
                Ok(taken) => {
                    self.conclude();
                    if taken < octets.len() {
                        self.fail(StartupError::Early {
                            octet: self.request.found_octets(),
                        });
                    }
                    taken
                }
                Err(error) => {
                    self.fail(error);
                    0
                }
            },
            // An initiator sends nothing before the Reply (START-041).
            State::Deciding if !octets.is_empty() => {
                let octet = self.request.found_octets();
                self.fail(StartupError::Early { octet });
                0
            }
            State::Deciding | State::Over => 0,
        }
    }

    /// TCP was closed by the peer, or lost.
    pub fn on_close(&mut self) {
        if self.state == State::Over {
            return;
        }
        let found_octets = self.request.found_octets();
        let needed_octets = self.request.needed_octets();
        self.fail(match found_octets {
            0 => StartupError::Closed,
            _ if self.state == State::Deciding => StartupError::Closed,
            _ => StartupError::CutShort {
                found_octets,
                needed_octets,
            },
        });
    }

    /// The next output at this time, in microseconds.
    pub fn poll(&mut self, now_us: u64) -> Option<ResponderOutput> {
        if self.deadline().is_some_and(|deadline| now_us >= deadline) {
            self.fail(StartupError::TimedOut {
                found_octets: self.request.found_octets(),
                waited_us: now_us.saturating_sub(self.started_us),
            });
        }
        self.output.take()
    }

    fn fail(&mut self, error: StartupError) {
        self.state = State::Over;
        self.output = Some(ResponderOutput::Failed(error));
    }

    /// The Request, if it is whole.
    fn conclude(&mut self) {
        let request = self.request.read(|frame| Request {
            revision: frame.revision,
            markers: frame.markers,
            crc: frame.crc,
            enhanced: frame.enhanced,
            private_data: frame.private_data.to_vec(),
        });
        if let Some(request) = request {
            self.state = State::Deciding;
            self.output = Some(ResponderOutput::Request(request));
        }
    }

    /// Accept: the Reply, with this Private Data, and what it agrees on.
    ///
    /// # Errors
    /// [`AnswerError`]; the Request can still be answered if there is one.
    pub fn accept(&mut self, private_data: &[u8]) -> Result<Accepted, AnswerError> {
        self.answer(private_data, false)
    }

    /// Reject: the Reply, with this Private Data. MPA is left and TCP stays open (START-008): the
    /// Reply is to arrive before a FIN does.
    ///
    /// # Errors
    /// [`AnswerError`]; the Request can still be answered if there is one.
    pub fn reject(&mut self, private_data: &[u8]) -> Result<Vec<u8>, AnswerError> {
        self.answer(private_data, true)
            .map(|answered| answered.reply)
    }

    fn answer(&mut self, private_data: &[u8], rejected: bool) -> Result<Accepted, AnswerError> {
        if self.state != State::Deciding {
            return Err(AnswerError::NoRequest);
        }
        let settings = &self.settings;
        let answered = self
            .request
            .read(|request| answer_request(settings, &request, private_data, rejected))
            .ok_or(AnswerError::NoRequest)??;
        self.state = State::Over;
        Ok(answered)
    }
}

fn answer_request(
    settings: &Settings,
    request: &StartupRepr<'_>,
    private_data: &[u8],
    rejected: bool,
) -> Result<Accepted, AnswerError> {
    let revision = request.revision.min(settings.revision);
    let asked = request.enhanced.as_ref().filter(|_| revision >= 2);
    let (enhanced, depths) = match asked.map(|asked| answer(settings, asked)) {
        None => (None, Depths::own(settings)),
        Some(Ok((reply, depths))) => (Some(reply), depths),
        // A rejection names what this end knows.
        Some(Err(NoCommonRtr)) if rejected => (Some(known(settings)), Depths::own(settings)),
        Some(Err(NoCommonRtr)) => return Err(AnswerError::NoCommonRtr),
    };
    check_private_data(private_data, revision, enhanced.is_some())?;
    let agreed = Agreed::new(settings, false, revision, request, depths);
    let reply = octets(&StartupRepr {
        role: Role::Reply,
        markers: settings.markers,
        // Some initiators take CRC from the Reply alone.
        crc: agreed.crc,
        rejected,
        revision,
        enhanced,
        private_data,
    });
    Ok(Accepted { agreed, reply })
}

fn known(settings: &Settings) -> EnhancedData {
    let RtrKinds { fpdu, write, read } = settings.rtr;
    EnhancedData {
        peer_to_peer: true,
        rtr_fpdu: fpdu,
        rtr_write: write,
        rtr_read: read,
        ird: settings.ird,
        ord: settings.ord,
    }
}
