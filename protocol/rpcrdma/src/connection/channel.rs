//! Buffers for Sends and receives of one end, and what is outstanding on its connection.
use super::log::Log;
use super::settings::Settings;
use super::tag::{Half, Tag};
use crate::counters::Counters;
use crate::place::Place;
use crate::private_data::PrivateData;
use crate::registration::{Pool, ReadJob};
use crate::stream::Piece;
use crate::verbs::{Limits, Verbs, VerbsError, Work};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// Places that a Send of this crate gathers at most.
const PIECES_MAX: usize = 8;

/// What both halves need to act.
pub(crate) struct Context<'a, V> {
    /// Microseconds.
    pub(crate) now: u64,
    pub(crate) verbs: &'a mut V,
    pub(crate) pool: &'a mut Pool,
    pub(crate) channel: &'a mut Channel,
    pub(crate) counters: &'a mut Counters,
    pub(crate) settings: &'a Settings,
}

/// What was agreed with the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Agreed {
    /// The longest Send to the peer.
    pub(crate) send_octets: u32,
    /// The longest Send of the peer's.
    pub(crate) receive_octets: u32,
    /// The peer lets its handles be invalidated.
    pub(crate) invalidates: bool,
    /// Replies may have read lists, and DONEs follow: both ends know RFC 5666 alone.
    pub(crate) read_lists: bool,
    /// Reads that may be outstanding at the peer.
    pub(crate) reads: u32,
    /// The peer may be asked to read.
    pub(crate) peer_reads: bool,
    /// Alignment of the peer's receives, if it is more than XDR's.
    pub(crate) padding: Option<crate::wire::Padding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// Never connected, or the last connection is over and nothing is outstanding.
    Idle,
    Open,
    /// Closed by this end or by the peer; completions are still to come.
    Closing,
}

/// Buffers of one end, and its connection.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    region: Place,
    buffer_octets: u32,
    receives: u32,
    free: Vec<u32>,
    repost: Vec<(u64, Place)>,
    /// Requests that have not completed: receives, Reads, and all of them.
    receives_posted: u32,
    reads: u32,
    others: u32,
    limits: Limits,
    state: State,
    pub(crate) agreed: Agreed,
    /// The message that was received last.
    pub(crate) message: Vec<u8>,
    /// The header that is being written, and the octets after it.
    pub(crate) outgoing: Vec<u8>,
    pub(crate) log: Log,
}

impl Channel {
    pub(crate) fn new(settings: &Settings, region: Place) -> Self {
        let octets = settings.transport_octets();
        assert!(
            region.length as usize >= octets,
            "{octets} octets are needed"
        );
        Self {
            region,
            buffer_octets: settings.buffer_octets(),
            receives: settings.receives(),
            free: Vec::with_capacity(settings.sends() as usize),
            repost: Vec::with_capacity(settings.receives() as usize),
            receives_posted: 0,
            reads: 0,
            others: 0,
            limits: Limits {
                reads: 0,
                sends: 0,
                receives: 0,
                pieces: 0,
            },
            state: State::Idle,
            agreed: Agreed {
                send_octets: 0,
                receive_octets: 0,
                invalidates: false,
                read_lists: false,
                reads: 0,
                peer_reads: true,
                padding: None,
            },
            message: Vec::with_capacity(settings.buffer_octets() as usize),
            outgoing: Vec::with_capacity(settings.buffer_octets() as usize),
            log: Log::new(settings.log_headers),
        }
    }

    /// Begin a connection: all receives are posted.
    pub(crate) fn open(
        &mut self,
        settings: &Settings,
        peer: Option<PrivateData>,
        verbs: &mut impl Verbs,
    ) {
        let own = settings.private_data();
        let other = peer.unwrap_or_default();
        self.limits = verbs.limits();
        self.agreed = Agreed {
            send_octets: own.inline_octets_to(other),
            receive_octets: other.inline_octets_to(own),
            invalidates: other.remote_invalidation,
            read_lists: settings.read_lists && peer.is_none(),
            reads: self.limits.reads,
            peer_reads: true,
            padding: None,
        };
        self.free.clear();
        self.free.extend((0..settings.sends()).rev());
        (self.receives_posted, self.reads, self.others) = (0, 0, 0);
        self.state = State::Open;
        self.repost.clear();
        for buffer in 0..self.receives {
            let place = self.buffer(buffer);
            self.repost.push((Tag::Receive(buffer).pack(), place));
        }
        self.post_receives(verbs);
    }

    fn buffer(&self, index: u32) -> Place {
        Place {
            memory: self.region.memory,
            offset: self.region.offset + u64::from(index) * u64::from(self.buffer_octets),
            length: self.buffer_octets,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Post receives again whose messages were taken out.
    pub(crate) fn post_receives(&mut self, verbs: &mut impl Verbs) {
        if self.repost.is_empty() || self.state != State::Open {
            return;
        }
        match verbs.post_receives(&self.repost) {
            Ok(()) => self.receives_posted += self.repost.len() as u32,
            // Without receives the connection is of no use, and the peer would run into it.
            Err(_) => self.close(verbs),
        }
        self.repost.clear();
    }

    /// Close the connection, if it is open.
    pub(crate) fn close(&mut self, verbs: &mut impl Verbs) {
        if self.state == State::Open {
            verbs.close();
            self.state = State::Closing;
        }
    }

    /// The connection has ended, as a completion says.
    pub(crate) fn ended(&mut self) {
        if self.state == State::Open {
            self.state = State::Closing;
        }
    }

    /// True once, when nothing of an ended connection is outstanding any more.
    pub(crate) fn take_drained(&mut self) -> bool {
        let is_drained = self.state == State::Closing
            && self.receives_posted == 0
            && self.reads == 0
            && self.others == 0;
        if is_drained {
            self.state = State::Idle;
        }
        is_drained
    }

    /// Give up what is outstanding: the provider has none of it any more.
    pub(crate) fn abandon(&mut self) {
        (self.receives_posted, self.reads, self.others) = (0, 0, 0);
        self.ended();
    }

    /// Another connection can be begun.
    pub(crate) fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    pub(crate) fn note_completion(&mut self, work: Work) {
        let count = match work {
            Work::Receive => &mut self.receives_posted,
            Work::Read => &mut self.reads,
            Work::Send | Work::Write => &mut self.others,
        };
        *count = count.saturating_sub(1);
    }

    /// Copy a received message out, for [`Channel::message`], and queue its receive.
    pub(crate) fn take_message(&mut self, buffer: u32, octets: u32, verbs: &impl Verbs) {
        let place = self.buffer(buffer);
        self.message.resize(octets.min(place.length) as usize, 0);
        let loaded = verbs.load(place, &mut self.message);
        loaded.expect("a receive is within its memory");
        self.log.note("received", &self.message);
        self.repost.push((Tag::Receive(buffer).pack(), place));
    }

    /// So many requests can be posted beside what is outstanding.
    pub(crate) fn has_room(&self, requests: usize) -> bool {
        let outstanding = (self.reads + self.others) as usize;
        outstanding + requests <= self.limits.sends as usize
    }

    /// So many requests could be posted if nothing were outstanding.
    pub(crate) fn could_have_room(&self, requests: usize) -> bool {
        requests <= self.limits.sends as usize
    }

    /// A Send can be posted beside `requests` others.
    pub(crate) fn can_send(&self, requests: usize) -> bool {
        self.is_open() && !self.free.is_empty() && self.has_room(requests + 1)
    }

    fn can_read(&self) -> bool {
        self.is_open() && self.reads < self.agreed.reads && self.has_room(1)
    }

    pub(crate) fn put_buffer(&mut self, buffer: u32) {
        self.free.push(buffer);
    }

    /// Send [`Channel::outgoing`] and `pieces` after it. The caller knows that it can be.
    pub(crate) fn send<'m, V: Verbs>(
        &mut self,
        (half, slot): (Half, u32),
        pieces: impl Iterator<Item = Piece<'m>>,
        invalidate: Option<u32>,
        verbs: &mut V,
        counters: &mut Counters,
    ) -> Result<(), VerbsError> {
        // The peer may answer as soon as this leaves, and its credits count these receives.
        self.post_receives(verbs);
        let Some(index) = self.free.pop() else {
            return Err(VerbsError::QueueFull);
        };
        let at = self.buffer(self.receives + index);
        let mut gathered = [at; PIECES_MAX];
        let (mut count, mut begin) = (0, 0);
        let pieces_max = self.limits.pieces.min(PIECES_MAX);
        for piece in pieces {
            match piece {
                Piece::Octets(octets) => self.outgoing.extend_from_slice(octets),
                // Before it the octets so far, after it those that are still to come.
                Piece::Place(place) if count + 3 <= pieces_max => {
                    gathered[count] = own(at, begin, self.outgoing.len());
                    gathered[count + 1] = place;
                    (count, begin) = (count + 2, self.outgoing.len());
                }
                Piece::Place(place) => {
                    let from = self.outgoing.len();
                    self.outgoing.resize(from + place.length as usize, 0);
                    if let Err(error) = verbs.load(place, &mut self.outgoing[from..]) {
                        self.free.push(index);
                        return Err(error);
                    }
                    counters.copied_octets += u64::from(place.length);
                }
            }
        }
        if self.outgoing.len() > begin || count == 0 {
            gathered[count] = own(at, begin, self.outgoing.len());
            count += 1;
        }
        let tag = Tag::Send(half, slot, index).pack();
        let stored = verbs.store(at, &self.outgoing);
        let sent = stored.and_then(|()| verbs.send(tag, &gathered[..count], invalidate));
        match sent {
            Ok(()) => {
                self.others += 1;
                self.log.note("sent", &self.outgoing);
                counters.note_sent(&self.outgoing);
            }
            Err(_) => self.free.push(index),
        }
        sent
    }

    pub(crate) fn write(
        &mut self,
        slot: u32,
        source: Place,
        sink: crate::wire::Segment,
        verbs: &mut impl Verbs,
    ) -> Result<(), VerbsError> {
        verbs.write(Tag::Write(slot).pack(), source, sink)?;
        self.others += 1;
        Ok(())
    }

    /// Issue `jobs` in order, as many as may be outstanding; the others stay where they are.
    pub(crate) fn read_queued(
        &mut self,
        half: Half,
        jobs: &mut VecDeque<ReadJob>,
        verbs: &mut impl Verbs,
    ) {
        while self.can_read() {
            let Some(&ReadJob { slot, source, sink }) = jobs.front() else {
                return;
            };
            let tag = Tag::Read(half, slot).pack();
            if verbs.read(tag, source, sink).is_err() {
                return;
            }
            self.reads += 1;
            jobs.pop_front();
        }
    }
}

/// Octets `begin..end` of what is stored at the head of `buffer`.
fn own(buffer: Place, begin: usize, end: usize) -> Place {
    Place {
        memory: buffer.memory,
        offset: buffer.offset + begin as u64,
        length: (end - begin) as u32,
    }
}

/// What another step depends on: not the scratch buffers, nor the order of free ones.
impl Hash for Channel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let counts = (
            self.receives_posted,
            self.reads,
            self.others,
            self.free.len(),
        );
        (&self.repost, counts, self.state, self.agreed).hash(state);
    }
}
