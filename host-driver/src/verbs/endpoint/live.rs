//! A connection: TCP, then MPA's start-up, then a queue pair; and what its user sees of it.
//!
//! ```text
//!            records, acknowledgements            octets of the stream
//!  machine <---------------------------> TCP <-------------------------> start-up
//!     |                                   |                                 |
//!     +-------- inbox, notice <-----------+---------------------------------+
//! ```

use super::notice::Notice;
use super::order::Collected;
use super::pair::{Pair, PairHost, Resources};
use super::records::{Body, Record, Records};
use super::wire::Wire;
use crate::device::access::{Bar, Dma};
use crate::stack::Ends;
use crate::verbs::frame_memory::FrameMemory;
use crate::verbs::ledger::Ledger;
use rnic_iwarp::framer;
use rnic_iwarp::queue_pair::{Completion, Event as PairMachineEvent, Failure, Kind, Place};
use rnic_iwarp::startup::{Initiator, Rejection, Request, Responder, StartupError};
use rnic_tcp::{Connection, Event, Lost, Output, State};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Octets that wait in TCP or for an acknowledgement before more is taken of a queue pair.
const QUEUED_OCTETS_MAX: usize = 256 * 1024;

/// What has happened to a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairEvent {
    /// Both ends may send.
    Established,
    /// The peer has closed its half; sending goes on.
    HalfClosed,
    /// The connection has failed; the queue pair is to be closed.
    Failed(Failure),
    /// It has ended: nothing more happens.
    Closed,
}

/// A machine of MPA's start-up.
#[derive(Debug)]
pub(super) enum Startup {
    Initiator(Initiator),
    Responder(Responder),
}

/// What a start-up has led to.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A Request waits for its answer.
    Request(Request),
    /// The Reply accepts, with this Private Data.
    Agreed(Vec<u8>),
    Rejected(Rejection),
    Failed {
        error: StartupError,
        fallback: Option<u8>,
    },
    /// The device or TCP did not take the connection over.
    Refused(super::error::EndpointError),
}

impl fmt::Display for Outcome {
    /// Without Private Data, which is the application's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(_) => f.write_str("a Request waits for its answer"),
            Self::Agreed(_) => f.write_str("agreed"),
            Self::Rejected(_) => f.write_str("the peer has rejected it"),
            Self::Failed { error, .. } => write!(f, "failed: {error}"),
            Self::Refused(error) => write!(f, "failed here: {error}"),
        }
    }
}

/// A completion, with the memory of a receive.
pub(super) type Completed = (Completion, Option<u64>);

/// What waits for the user of a connection.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) outcome: Option<Outcome>,
    pub(super) completions: VecDeque<Completed>,
    pub(super) events: VecDeque<PairEvent>,
}

/// Memory and a region that a posted request needs until it completes.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) memory: FrameMemory,
    pub(super) region: Option<u64>,
}

impl Held {
    /// What can be held was held by the caller; give it back.
    pub(super) fn release<B: Bar, D: Dma>(self, ledger: &mut Ledger<B, D>) {
        for &memory in self.memory.numbers() {
            ledger.release_memory(memory);
        }
        if let Some(region) = self.region {
            // One that cannot be fenced stays in the ledger.
            let _ = ledger.release_region(region);
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) ends: Ends,
    pub(super) tcp: Connection,
    pub(super) records: Records,
    pub(super) startup: Option<Startup>,
    pub(super) resources: Option<Resources>,
    pub(super) pair: Option<Pair>,
    pub(super) limits: rnic_iwarp::queue_pair::Limits,
    /// Ids of receives that were posted before there was a machine.
    pub(super) early_receives: Vec<u64>,
    /// Of each work request that has not completed.
    pub(super) sends: VecDeque<Held>,
    /// Of each receive that the device has, oldest first, whether its memory stays its region's.
    pub(super) lent: VecDeque<bool>,
    /// Memory of messages that have arrived, if it goes back with the completion.
    pub(super) arrived: VecDeque<Option<u64>>,
    pub(super) inbox: Inbox,
    /// Where completions are polled, if not from here.
    pub(super) collected: Option<Collected>,
    pub(super) notice: Arc<Notice>,
    pub(super) is_connected: bool,
    pub(super) is_peer_closed: bool,
    pub(super) lost: Option<Lost>,
    /// Why the queue pair has failed.
    pub(super) failure: Option<Failure>,
    /// The machine has nothing more to say.
    pub(super) is_pair_over: bool,
    /// The user knows of the end.
    is_end_shown: bool,
    /// Its user has let it go.
    pub(super) is_let_go: bool,
    /// The peer's FIN is there; what came before it has to be seen first.
    pub(super) is_fin_due: bool,
    /// A segment found no room on a ring.
    pub(super) is_blocked: bool,
    pub(super) is_queued: bool,
    /// When the engine looks after it at the latest.
    pub(super) timer: Option<u64>,
    /// Duplicate ACKs due, as the device counted last.
    pub(super) answers: u8,
    copied: Vec<u8>,
}

impl Live {
    /// A connection without MPA.
    pub(super) fn new(ends: Ends, tcp: Connection, notice: Arc<Notice>) -> Self {
        Self {
            ends,
            is_connected: !matches!(tcp.state(), State::SynSent | State::SynReceived),
            tcp,
            records: Records::default(),
            startup: None,
            resources: None,
            pair: None,
            limits: Default::default(),
            early_receives: Vec::new(),
            sends: VecDeque::new(),
            lent: VecDeque::new(),
            arrived: VecDeque::new(),
            inbox: Inbox::default(),
            collected: None,
            notice,
            is_peer_closed: false,
            lost: None,
            failure: None,
            is_pair_over: false,
            is_end_shown: false,
            is_let_go: false,
            is_fin_due: false,
            is_blocked: false,
            is_queued: false,
            timer: None,
            answers: 0,
            copied: Vec::new(),
        }
    }

    /// It has something to do; whether that is new.
    pub(super) fn queue(&mut self) -> bool {
        !std::mem::replace(&mut self.is_queued, true)
    }

    /// Do whatever can be done now; when there is more to do, if nothing happens before.
    pub(super) fn pump<B: Bar, D: Dma>(&mut self, wire: &mut Wire<'_, B, D>) -> Option<u64> {
        // What ends a stream is known to the device before the peer hears of it.
        self.take_from_machine(wire);
        loop {
            self.start_up(wire);
            self.fill(wire);
            let has_news = self.drain(wire);
            let has_happened = self.take_from_machine(wire);
            if !has_news && !has_happened {
                break;
            }
        }
        if self.is_pair_over && !self.is_end_shown && self.has_ended() {
            self.is_end_shown = true;
            log::debug!("{}: {:?}", self.ends.peer, PairEvent::Closed);
            self.inbox.events.push_back(PairEvent::Closed);
            self.notice.raise();
        }
        let startup = match &self.startup {
            Some(Startup::Initiator(machine)) => machine.deadline(),
            Some(Startup::Responder(machine)) => machine.deadline(),
            None => None,
        };
        let deadlines = [self.tcp.deadline_us(), startup];
        deadlines.into_iter().flatten().min()
    }

    /// Octets of this process for TCP.
    pub(super) fn push_copied(&mut self, octets: Vec<u8>, end: Option<u64>) -> bool {
        self.push(Record {
            body: Body::Copied(octets),
            end,
        })
    }

    fn push(&mut self, record: Record) -> bool {
        let pushed = self.tcp.push(rnic_tcp::Record {
            id: self.records.next_id(),
            octets: record.body.octets() as u32,
        });
        if pushed.is_ok() {
            self.records.push(record);
        }
        pushed.is_ok()
    }

    /// Records of the machine for TCP.
    fn fill<B: Bar, D: Dma>(&mut self, wire: &mut Wire<'_, B, D>) {
        while self.tcp.room() > 0 && self.records.octets() < QUEUED_OCTETS_MAX {
            let (Some(pair), Some(resources)) = (&mut self.pair, &mut self.resources) else {
                return;
            };
            let mut host = PairHost {
                ledger: wire.ledger,
                resources,
            };
            let record = pair.machine.transmit(&mut host, &mut self.copied);
            if resources.failure.take().is_some() {
                wire.counts.device_errors += 1;
                pair.machine.abort();
                return;
            }
            let Some(record) = record else {
                return;
            };
            let end = Some(record.end());
            let body = match record {
                framer::Record::Scatter(fpdu) => Body::InPlace(fpdu),
                framer::Record::Copied { .. } => Body::Copied(std::mem::take(&mut self.copied)),
            };
            if !self.push(Record { body, end }) {
                return;
            }
        }
    }

    /// What TCP has, as long as there is room for it; says whether something was acknowledged or
    /// has happened. A segment that has left makes no room for others: it is kept.
    fn drain<B: Bar, D: Dma>(&mut self, wire: &mut Wire<'_, B, D>) -> bool {
        let mut has_news = false;
        let emss = usize::from(self.tcp.emss_octets());
        let mut room = Room {
            control: wire.has_control_room(),
            bulk: wire.has_bulk_room(emss),
        };
        self.note_room(room);
        // One ACK may acknowledge many records: the machine hears of them together.
        let mut acknowledged = None;
        while room.control {
            let Some(output) = self.tcp.poll(wire.now) else {
                break;
            };
            has_news |= !matches!(output, Output::Segment(_));
            match output {
                Output::Segment(outgoing) => {
                    let piece = outgoing.piece;
                    let record = piece.and_then(|piece| self.records.get_mut(piece.id));
                    if wire.send(&self.ends, &outgoing, record).is_err() {
                        wire.counts.no_hop += 1;
                    }
                    match outgoing.is_control() {
                        true => room.control = wire.has_control_room(),
                        false => room.bulk = wire.has_bulk_room(emss),
                    }
                    self.note_room(room);
                }
                Output::Acked(_) => match self.records.pop() {
                    Some(end) => acknowledged = Some(end),
                    // A stream that was full has room.
                    None => self.notice.raise(),
                },
                Output::Event(event) => {
                    self.acknowledge(acknowledged.take());
                    self.on_tcp_event(event);
                }
            }
        }
        self.acknowledge(acknowledged);
        has_news
    }

    /// Everything before `end` of the stream of FPDUs is acknowledged.
    fn acknowledge(&mut self, end: Option<u64>) {
        if let (Some(pair), Some(end)) = (&mut self.pair, end) {
            pair.machine.on_acknowledged(end);
        }
    }

    /// TCP learns whether a segment with payload would find room.
    fn note_room(&mut self, room: Room) {
        self.tcp.set_blocked(!room.bulk);
        self.is_blocked = !room.control || !room.bulk;
    }

    fn on_tcp_event(&mut self, event: Event) {
        self.notice.raise();
        log::debug!("{}: TCP: {event:?}", self.ends.peer);
        match event {
            Event::Connected => self.is_connected = true,
            Event::PeerClosed => {
                self.is_peer_closed = true;
                self.is_fin_due = self.pair.is_some();
            }
            Event::Closed => {}
            Event::Lost(lost) => {
                self.lost = Some(lost);
                if let Some(pair) = &mut self.pair {
                    pair.machine.on_lost();
                }
            }
        }
        let is_cut_short = matches!(event, Event::PeerClosed | Event::Lost(_));
        match &mut self.startup {
            // What it has of the frame is read before.
            Some(startup) if is_cut_short => {
                startup.read_from(&mut self.tcp);
                startup.on_close();
            }
            _ => {}
        }
    }

    /// Events and completions of the machine; says whether there were any.
    fn take_from_machine<B: Bar, D: Dma>(&mut self, wire: &mut Wire<'_, B, D>) -> bool {
        let Some(pair) = &mut self.pair else {
            return false;
        };
        wire.counts.response_waits += pair.machine.take_response_waits();
        let mut has_happened = false;
        while let Some(event) = pair.machine.poll_event() {
            has_happened = true;
            let shown = match event {
                PairMachineEvent::Established => PairEvent::Established,
                PairMachineEvent::HalfClosed => PairEvent::HalfClosed,
                PairMachineEvent::Failed(failure) => {
                    self.failure = Some(failure);
                    let resources = self.resources.as_ref();
                    if let Some(resources) = resources.filter(|_| is_found_here(&failure)) {
                        let taken = wire.ledger.device().take_regions(resources.number);
                        wire.counts.device_errors += u64::from(taken.is_err());
                    }
                    PairEvent::Failed(failure)
                }
                // Shown when TCP has ended, too: our FIN is acknowledged then.
                PairMachineEvent::Closed => {
                    self.is_pair_over = true;
                    continue;
                }
                PairMachineEvent::CloseSend => {
                    self.tcp.close();
                    continue;
                }
                PairMachineEvent::Abort => {
                    self.tcp.abort();
                    continue;
                }
            };
            log::debug!("{}: {shown:?}", self.ends.peer);
            self.inbox.events.push_back(shown);
        }
        if has_happened {
            self.notice.raise();
        }
        let before = self.inbox.completions.len();
        while let Some(completion) = pair.machine.poll_completion() {
            let memory = match completion.kind {
                Kind::Receive(Some(_)) => self.arrived.pop_front().flatten(),
                Kind::Receive(None) => None,
                Kind::Send | Kind::Write | Kind::Read => {
                    if let Some(held) = self.sends.pop_front() {
                        held.release(wire.ledger);
                    }
                    None
                }
            };
            self.inbox.completions.push_back((completion, memory));
        }
        let completed = self.inbox.completions.len() - before;
        if completed > 0 {
            self.tell_completed(completed);
        }
        has_happened || completed > 0
    }

    /// So many completions more are there.
    pub(super) fn tell_completed(&self, count: usize) {
        match &self.collected {
            Some(collected) => collected.note(count),
            None => self.notice.raise(),
        }
    }

    /// Whether there is a completion that is polled from the pair.
    pub(super) fn has_own_completions(&self) -> bool {
        self.collected.is_none() && !self.inbox.completions.is_empty()
    }

    /// End at once: the peer gets an RST, and everything posted is flushed.
    pub(super) fn abort(&mut self) {
        match &mut self.pair {
            Some(pair) => pair.machine.abort(),
            None => self.tcp.abort(),
        }
    }

    /// The user has no use for it any more. A stream that has failed still ends gracefully: its
    /// Terminate may have to be sent again (RDMAP-020).
    pub(super) fn let_go(&mut self) {
        self.is_let_go = true;
        match &mut self.pair {
            Some(pair) if self.failure.is_some() => pair.machine.close(),
            None if self.startup.is_none() && self.resources.is_none() => self.tcp.close(),
            _ => self.abort(),
        }
    }

    /// Whether the device's part can be given back: nothing of the connection will arrive, and its
    /// user, or the machine, is through with it.
    pub(super) fn is_releasable(&self) -> bool {
        let is_over = match self.pair {
            Some(_) => self.is_pair_over,
            None => self.is_let_go,
        };
        self.resources.is_some() && is_over && self.has_ended()
    }

    /// Nothing of the connection is on its way any more, but what TIME-WAIT waits for.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.tcp.state(), State::Closed | State::TimeWait)
    }

    /// Whether nothing is left of it.
    pub(super) fn is_over(&self) -> bool {
        self.is_let_go && self.resources.is_none() && self.tcp.state() == State::Closed
    }

    /// Give back all memory that it holds.
    pub(super) fn dissolve<B: Bar, D: Dma>(&mut self, ledger: &mut Ledger<B, D>) {
        for held in self.sends.drain(..) {
            held.release(ledger);
        }
        let completed = self.inbox.completions.drain(..);
        let completed = completed.filter_map(|(_, memory)| memory);
        for memory in completed.chain(self.arrived.drain(..).flatten()) {
            ledger.release_memory(memory);
        }
    }
}

/// Where a segment finds room: one without payload, and the longest with payload.
#[derive(Copy, Clone)]
struct Room {
    control: bool,
    bulk: bool,
}

/// Whether a failure is one that the device does not know of: it would go on to place what the peer
/// sends (DDP-034).
fn is_found_here(failure: &Failure) -> bool {
    match failure {
        Failure::Refused { place, .. } => !matches!(place, Place::Fpdu(_)),
        // After a Terminate the device takes nothing.
        Failure::Terminated(_) => false,
        // TCP is gone, or is reset now.
        Failure::Lost | Failure::DataAfterFin | Failure::Aborted => false,
    }
}
