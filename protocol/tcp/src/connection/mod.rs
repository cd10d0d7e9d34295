//! A connection from SYN to TIME-WAIT.
//!
//! | file          | what                                                              |
//! |---------------|-------------------------------------------------------------------|
//! | `handshake`   | SYN in both roles and at the same time                            |
//! | `arriving`    | checks of a segment in a connection, and what it changes          |
//! | `closing`     | FIN in every order, abort                                         |
//! | `polling`     | what leaves, in which order, and timers                           |
//! | `switching`   | the receiver moves to hardware; events of the device              |
//! | `schedule`    | when acknowledgements are due                                     |
//!
//! Timestamps are neither offered nor echoed: the device has no PAWS (RFC 7323 section 5).
mod handshake;
mod arriving;
mod closing;
mod polling;
mod schedule;
mod switching;

pub use switching::Snapshot;

use crate::error::{Lost, PushError};
use crate::output::{Event, ReceivedCounts, State, Statistics};
use crate::receiver::Receiver;
use crate::rto::RtoEstimator;
use crate::segment::Head;
use crate::sender::{Record, Sender, SenderCounts};
use crate::seq::SeqNumber;
use crate::settings::{OutOfRange, Settings, TimeOut};
use crate::time_wait::TimeWait;
use schedule::Schedule;
use std::collections::VecDeque;

/// What is kept of the SYNs.
#[derive(Clone, Debug, Hash)]
struct Handshake {
    /// ISS.
    iss: SeqNumber,
    rto: RtoEstimator,
    /// When this end's SYN is sent again; `None` while it is to be sent now.
    timer_us: Option<u64>,
    begun_us: u64,
    sent_us: u64,
    transmissions: u32,
    /// What the peer's SYN said.
    peer: Option<PeerSyn>,
}

#[derive(Copy, Clone, Debug, Hash)]
struct PeerSyn {
    /// IRS.
    irs: SeqNumber,
    mss: Option<u16>,
    shift: Option<u8>,
    sack: bool,
}

/// Challenge ACKs of the current interval (RFC 5961 section 7).
#[derive(Copy, Clone, Debug, Default, Hash)]
struct Challenges {
    since_us: u64,
    count: u32,
}

/// What the device counts, at the last event.
#[derive(Copy, Clone, Debug, Default, Hash)]
struct DeviceCounts {
    duplicate_acks: u8,
    answers: u8,
}

/// A connection. Every call takes the time in microseconds from the same clock, which never runs
/// backward; after each call of another method [`Self::poll`] is called until it gives `None`, and
/// then again at [`Self::deadline_us`].
///
/// Memory: at most [`Settings::memory_octets_max`]; less than 1 KiB, the receive buffer until the
/// hand-over ([`Settings::receive_octets`]), and the records of [`Settings::records_max`].
#[derive(Clone, Debug, Hash)]
pub struct Connection {
    settings: Settings,
    state: State,
    handshake: Handshake,
    sender: Option<Sender>,
    receiver: Option<Receiver>,
    schedule: Schedule,
    challenges: Challenges,
    device: DeviceCounts,
    time_wait: Option<TimeWait>,
    fin_wait_2_us: Option<u64>,
    startup_us: Option<u64>,
    heard_us: u64,
    keepalive_probes: u32,
    /// An RST to be sent.
    reset: Option<Head>,
    /// At most one of each kind.
    events: VecDeque<Event>,
    counts: ReceivedCounts,
    lost: Option<Lost>,
}

impl Settings {
    /// Octets that a connection with these settings takes at most, on the heap and itself, whatever
    /// its peer does.
    pub const fn memory_octets_max(&self) -> usize {
        let events = 16 * size_of::<Event>();
        let sender = Sender::heap_octets_max(self.records_max as usize);
        let receiver = Receiver::heap_octets_max(self.receive_octets);
        size_of::<Connection>() + events + sender + receiver
    }
}

impl Connection {
    fn new(settings: Settings, state: State, iss: SeqNumber, now_us: u64) -> Self {
        Self {
            settings,
            state,
            handshake: Handshake {
                iss,
                rto: RtoEstimator::new(&settings.time_outs),
                timer_us: None,
                begun_us: now_us,
                sent_us: now_us,
                transmissions: 0,
                peer: None,
            },
            sender: None,
            receiver: None,
            schedule: Schedule::default(),
            challenges: Challenges::default(),
            device: DeviceCounts::default(),
            time_wait: None,
            fin_wait_2_us: None,
            startup_us: None,
            heard_us: now_us,
            keepalive_probes: 0,
            reset: None,
            events: VecDeque::new(),
            counts: ReceivedCounts::default(),
            lost: None,
        }
    }

    /// Open a connection: its SYN leaves with the next [`Self::poll`]. `iss` is to be unpredictable
    /// for others (RFC 6528).
    ///
    /// # Errors
    /// A setting that is out of its range.
    pub fn connect(settings: Settings, iss: SeqNumber, now_us: u64) -> Result<Self, OutOfRange> {
        settings.check()?;
        Ok(Self::new(settings, State::SynSent, iss, now_us))
    }

    /// State.
    pub fn state(&self) -> State {
        self.state
    }

    /// Queue a record.
    ///
    /// # Errors
    /// If there is no room, the record has no octets or too many, or the connection does not send.
    pub fn push(&mut self, record: Record) -> Result<(), PushError> {
        match (self.state, &mut self.sender) {
            (State::SynSent | State::SynReceived, _) => Err(PushError::NotConnected),
            (State::Established | State::CloseWait, Some(sender)) => sender.push(record),
            _ => Err(PushError::Closed),
        }
    }

    /// Records for which there is room.
    pub fn room(&self) -> usize {
        self.sender.as_ref().map_or(0, Sender::room)
    }

    /// Octets that can be read.
    pub fn readable_octets(&self) -> usize {
        self.receiver.as_ref().map_or(0, Receiver::readable_octets)
    }

    /// Read octets of the stream into `into`, and return how many. 0 if there are none, or if the
    /// receiver is in hardware.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let Some(receiver) = &mut self.receiver else {
            return 0;
        };
        let count = receiver.read(into);
        let emss_octets = self.settings.emss_octets;
        if self.state.receives() && count > 0 && receiver.has_opened(emss_octets) {
            self.schedule.at_once();
        }
        count
    }

    /// While the transmit ring is full, segments with payload and FIN are not given out, and the
    /// retransmission timer does not count. ACKs and RST leave, by the other ring.
    pub fn set_blocked(&mut self, blocked: bool) {
        if let Some(sender) = &mut self.sender {
            sender.set_blocked(blocked);
        }
    }

    /// The path now carries segments of `emss_octets`, up to what the peer takes. Records that are
    /// larger are split for good when they are sent next.
    ///
    /// # Errors
    /// A size that is out of its range.
    pub fn set_emss(&mut self, emss_octets: u16) -> Result<(), OutOfRange> {
        let settings = Settings {
            emss_octets,
            ..self.settings
        };
        settings.check()?;
        self.settings = settings;
        let emss_octets = self.agreed_emss();
        if let Some(sender) = &mut self.sender {
            sender.set_emss(emss_octets);
        }
        Ok(())
    }

    /// Largest segment that both ends take, in octets.
    fn agreed_emss(&self) -> u16 {
        let peer = self.handshake.peer.and_then(|peer| peer.mss);
        let peer = peer.unwrap_or(crate::settings::EMSS_OCTETS_UNKNOWN);
        self.settings.emss_octets.min(peer)
    }

    fn time_out_us(&self, which: TimeOut) -> u64 {
        self.settings.time_outs.get(which)
    }

    /// Whether an octet of this number has been sent and is not acknowledged: a report about a
    /// segment that says otherwise is a forgery, or late (RFC 5927 section 4.1).
    pub fn is_in_flight(&self, seq: SeqNumber) -> bool {
        let sender = self.sender.as_ref();
        sender
            .is_some_and(|sender| seq != sender.nxt() && seq.is_within(sender.una(), sender.nxt()))
    }

    /// Octets of payload that a segment carries at most (EMSS), at this moment.
    pub fn emss_octets(&self) -> u16 {
        let sender = self.sender.as_ref();
        sender.map_or(self.settings.emss_octets, Sender::emss_octets)
    }

    /// The connection at this moment.
    pub fn statistics(&self) -> Statistics {
        let sender = self.sender.as_ref();
        Statistics {
            state: self.state,
            srtt_us: sender.and_then(Sender::srtt_us),
            rto_us: sender.map_or(self.handshake.rto.rto_us(), Sender::time_out_us),
            congestion_octets: sender.map_or(0, Sender::congestion_octets),
            threshold_octets: sender.map_or(0, Sender::threshold_octets),
            peer_window_octets: sender.map_or(0, Sender::window_octets),
            flying_octets: sender.map_or(0, Sender::flying_octets),
            emss_octets: self.emss_octets(),
            sent: sender.map_or(SenderCounts::default(), Sender::counts),
            received: self.counts,
            lost: self.lost,
        }
    }
}
