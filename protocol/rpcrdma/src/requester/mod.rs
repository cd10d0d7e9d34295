//! The end that calls.
//!
//! ```text
//!   Queued --credit, entries--> exposed, Sent --reply--> (Reading --DONE-->) revoked --> reported
//!     ^                                   |                                  Send completed
//!     `---- connection ended -------------'
//! ```
//!
//! A result is handed out only when every handle of the call is invalid and its Send has
//! completed: until then the peer, or the software that answers its Reads, may still touch the
//! memory. Replies are matched by XID in any order. An XID is used once on a connection; calls
//! without a reply when it ends go again on the next one, with the same XIDs in the same order and
//! with chunks exposed anew (RFC 5666 section 8).
mod call;
mod configure;
mod configuring;
mod reading;
mod receiving;
mod recovery;
mod sending;

pub use call::{CallId, Failure, Reply, SubmitError};
pub use configure::Configure;

use crate::connection::{Context, Event, Settings};
use crate::credits::Credits;
use crate::place::Place;
use crate::registration::{Pool, ReadJob};
use crate::stream::{Message, Reader};
use crate::verbs::Verbs;
use crate::wire::{Caps, Header, Refused};
use call::{Slot, State};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// Calls of one end.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    slots: Vec<Slot>,
    free: Vec<u32>,
    queue: VecDeque<u32>,
    /// Calls without an outcome that are on the wire.
    flight: Vec<u32>,
    credits: Credits,
    credits_asked: u32,
    /// XIDs of replies whose read lists were read.
    dones: VecDeque<u32>,
    /// Replies whose read lists wait for memory of the pool.
    waiting: VecDeque<u32>,
    /// Replies whose read lists are being read.
    reading: Vec<u32>,
    reads: VecDeque<ReadJob>,
    order: u64,
    /// The XID of the last call, and of the next.
    last_xid: Option<u32>,
    next_xid: u32,
    back_off_us: u64,
    pub(crate) reconnect_at: u64,
    /// Chunks are never used: these are reverse calls (RFC 8167).
    is_reverse: bool,
    configure: Option<Configure>,
    /// Connections in a row that have ended without an answer to CONF_RDMA.
    unanswered: u32,
    scratch: Vec<u8>,
}

impl Requester {
    pub(crate) fn new(settings: &Settings, is_reverse: bool) -> Self {
        let count = settings.calls_max;
        let credits = match is_reverse {
            true => settings.reverse_credits,
            false => settings.credits,
        };
        Self {
            slots: (0..count).map(|_| Slot::new()).collect(),
            free: (0..count).rev().collect(),
            queue: VecDeque::with_capacity(count as usize),
            flight: Vec::with_capacity(count as usize),
            credits: Credits::new(credits),
            credits_asked: credits,
            dones: VecDeque::with_capacity(count as usize),
            waiting: VecDeque::new(),
            reading: Vec::new(),
            reads: VecDeque::new(),
            order: 0,
            last_xid: None,
            next_xid: 1,
            back_off_us: settings.back_off_us.0,
            reconnect_at: 0,
            is_reverse,
            configure: None,
            unanswered: 0,
            scratch: Vec::new(),
        }
    }

    /// Calls that are not reported: what still waits for something.
    pub(crate) fn waiting(&self) -> usize {
        let is_over = |slot: &&Slot| matches!(slot.state, State::Free | State::Reported);
        self.slots.len() - self.slots.iter().filter(is_over).count()
    }

    pub(crate) fn credits(&self) -> &Credits {
        &self.credits
    }

    pub(crate) fn next_xid(&self) -> u32 {
        self.next_xid
    }

    pub(crate) fn set_next_xid(&mut self, xid: u32) {
        self.next_xid = xid;
    }

    /// Queue a call; see `Endpoint::submit`.
    pub(crate) fn submit(
        &mut self,
        message: &mut Message,
        results: &[Place],
        reply_octets_max: u32,
        settings: &Settings,
    ) -> Result<CallId, SubmitError> {
        let is_long_list = results.len() > settings.caps.write_chunks_max as usize;
        let is_forbidden = self.is_reverse && !results.is_empty();
        if is_long_list || is_forbidden || results.iter().any(|result| result.length == 0) {
            return Err(SubmitError::Results);
        }
        let xid = message
            .inline()
            .first_chunk()
            .map(|xid| u32::from_be_bytes(*xid));
        let xid = xid.ok_or(SubmitError::Xid)?;
        // Serial numbers (RFC 1982): later is less than half of the circle ahead.
        let is_later = |last: u32| (1..1 << 31).contains(&xid.wrapping_sub(last));
        if self.last_xid.is_some_and(|last| !is_later(last)) {
            return Err(SubmitError::Xid);
        }
        let index = self.free.pop().ok_or(SubmitError::Full)?;
        self.last_xid = Some(xid);
        self.next_xid = xid.wrapping_add(1);
        let slot = &mut self.slots[index as usize];
        slot.state = State::Queued;
        slot.xid = xid;
        slot.order = self.order;
        slot.attempts = 0;
        self.order += 1;
        std::mem::swap(&mut slot.message, message);
        message.clear();
        slot.results.clear();
        slot.results.extend_from_slice(results);
        slot.reply_octets_max = reply_octets_max;
        slot.clear_reply();
        self.queue.push_back(index);
        Ok(CallId {
            slot: index,
            generation: slot.generation,
        })
    }

    fn slot(&self, call: CallId) -> Option<&Slot> {
        let slot = self.slots.get(call.slot as usize);
        slot.filter(|slot| slot.generation == call.generation)
    }

    /// The reply of a call whose outcome was reported.
    pub(crate) fn reply(&self, call: CallId, caps: &Caps) -> Option<Reply<'_>> {
        let slot = self.slot(call)?;
        if slot.state != State::Reported || slot.outcome != Some(Ok(())) {
            return None;
        }
        let octets = match slot.is_long_reply {
            true => &slot.octets,
            false => &slot.received[slot.body_at..],
        };
        let reader = match slot.is_padded {
            true => {
                let header = Header::parse(&slot.received, caps);
                Reader::of_send(&header.expect("it was accepted as it was received"), None)
            }
            false => Reader::new(octets),
        };
        let reader = reader
            .with_chunks(&slot.chunks)
            .with_results(&slot.returned);
        Some(Reply {
            reader,
            octets,
            results: &slot.returned,
        })
    }

    /// Forget a call whose outcome was reported; memory of its reply is the pool's again.
    pub(crate) fn release(&mut self, call: CallId, pool: &mut Pool) {
        let is_reported = self
            .slot(call)
            .is_some_and(|slot| slot.state == State::Reported);
        if !is_reported {
            return;
        }
        self.free_slot(call.slot, pool);
    }

    fn free_slot(&mut self, index: u32, pool: &mut Pool) {
        let slot = &mut self.slots[index as usize];
        slot.state = State::Free;
        slot.is_configuration = false;
        slot.generation = slot.generation.wrapping_add(1);
        slot.sink
            .take()
            .into_iter()
            .for_each(|place| pool.put(place));
        self.free.push(index);
    }

    /// A call has its outcome. It is reported when nothing of it is outstanding.
    fn end<V: Verbs>(
        &mut self,
        index: u32,
        outcome: Result<(), Failure>,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        slot.state = State::Ended;
        slot.outcome = Some(outcome);
        self.settle(index, ctx, events);
    }

    /// Report the outcome of a call if its Send has completed and every handle is invalid.
    fn settle<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        if slot.state != State::Ended || slot.is_sending || slot.reads_left > 0 {
            return;
        }
        slot.exposures.revoke(ctx.verbs);
        if let (Some(Ok(())), Some(place)) = (slot.outcome, slot.body_place.take()) {
            slot.is_long_reply = true;
            slot.octets.resize(place.length as usize, 0);
            let loaded = ctx.verbs.load(place, &mut slot.octets);
            loaded.expect("memory of the pool is within its region");
            if slot
                .octets
                .first_chunk()
                .map(|xid| u32::from_be_bytes(*xid))
                != Some(slot.xid)
            {
                ctx.counters.bad_replies += 1;
                slot.outcome = Some(Err(Failure::Reply(Refused::OtherXid)));
            }
        }
        let long = slot.long.take().into_iter().chain(slot.reply_place.take());
        long.for_each(|place| ctx.pool.put(place));
        slot.state = State::Reported;
        if slot.is_configuration {
            return self.free_slot(index, ctx.pool);
        }
        let call = CallId {
            slot: index,
            generation: slot.generation,
        };
        events.push_back(match slot.outcome {
            Some(Err(failure)) => Event::Failed(call, failure),
            _ => Event::Replied(call),
        });
    }

    /// The time at which something is to be done without any event.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let timed = self.flight.iter().chain(&self.reading);
        timed
            .map(|&index| self.slots[index as usize].deadline)
            .min()
    }
}

/// What another step depends on.
impl Hash for Requester {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.slots, &self.queue, &self.flight, &self.credits).hash(state);
        (
            &self.dones,
            &self.waiting,
            &self.reads,
            self.next_xid,
            self.back_off_us,
        )
            .hash(state);
    }
}
