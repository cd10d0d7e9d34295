//! The end that serves.
//!
//! ```text
//!   received --checks--> (Waiting -> Reading) -> Open --reply--> Replying -> Sending -> free
//!                                                                    (-> AwaitingDone ->)
//! ```
//!
//! Headers are checked before anything is allocated or read; a receive is posted again before its
//! message is worked on. Reads go out in order, as many as ORD and the peer allow, into memory of
//! the [`Pool`]; a call that finds no room waits, and others go on. The reply's Writes are posted
//! before its Send without a wait between: the Send is received after they are in memory (RFC
//! 5666 section 2). What the reply lends, the program's places included, stays lent until every
//! one of its requests has completed.
mod cache;
mod call;
mod policy;
mod configuring;
mod done;
mod reading;
mod receiving;
mod replying;

pub use cache::{CacheKey, Cached, ReplyCache};
pub use call::{NotOpen, Request, RequestId};
pub use policy::Policy;

use crate::binding::Program;
use crate::connection::{Context, Event, Settings};
use crate::credits::Grants;
use crate::place::Place;
use crate::registration::{Pool, ReadJob};
use crate::stream::Message;
use crate::verbs::Verbs;
use crate::wire::{Caps, ErrorBody, Refused};
use call::{Slot, State};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// Calls that one end serves.
#[derive(Clone, Debug)]
pub(crate) struct Responder {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots that are not free, in any order.
    active: Vec<u32>,
    /// Calls whose Reads wait for memory, oldest first.
    waiting: VecDeque<u32>,
    reads: VecDeque<ReadJob>,
    /// Replies that wait, oldest first.
    replies: VecDeque<u32>,
    /// Errors that wait for a buffer: XID, what was asked for, what is wrong.
    errors: VecDeque<(u32, u32, ErrorBody)>,
    grants: Grants,
    /// Credits of the settings, and the most that is granted now.
    credits: u32,
    grant_max: u32,
    programs: &'static [Program<'static>],
    is_reverse: bool,
    /// No call has come on this connection yet.
    is_first: bool,
    configuration: Option<Policy>,
    scratch: Vec<u8>,
}

impl Responder {
    pub(crate) fn new(
        settings: &Settings,
        programs: &'static [Program<'static>],
        is_reverse: bool,
    ) -> Self {
        let credits = match is_reverse {
            true => settings.reverse_credits,
            false => settings.credits.max(1),
        };
        // Every receive may hold a call, and there is no other way for one to come.
        let count = settings.receives();
        let mut responder = Self {
            slots: (0..count).map(|_| Slot::new()).collect(),
            free: (0..count).rev().collect(),
            active: Vec::with_capacity(count as usize),
            waiting: VecDeque::with_capacity(count as usize),
            reads: VecDeque::new(),
            replies: VecDeque::with_capacity(count as usize),
            errors: VecDeque::with_capacity(count as usize),
            grants: Grants::new(0, 0),
            credits,
            grant_max: credits,
            programs,
            is_reverse,
            is_first: true,
            configuration: None,
            scratch: Vec::new(),
        };
        responder.reset_grants(settings);
        responder
    }

    fn reset_grants(&mut self, settings: &Settings) {
        // One more than is granted where DONEs come.
        let spare = u32::from(settings.read_lists && !self.is_reverse);
        let reverse = if self.is_reverse {
            0
        } else {
            settings.reverse_credits
        };
        self.grants = Grants::new(self.credits + spare + reverse, reverse);
        self.is_first = true;
    }

    pub(crate) fn set_grant_max(&mut self, grant_max: u32) {
        self.grant_max = grant_max;
    }

    /// Calls that are not free.
    pub(crate) fn calls(&self) -> usize {
        self.active.len()
    }

    /// DONEs that are awaited.
    pub(crate) fn dones_pending(&self) -> u32 {
        self.grants.pending()
    }

    fn open_slot(&self, id: RequestId) -> Option<&Slot> {
        let slot = self.slots.get(id.slot as usize)?;
        let is_open = matches!(slot.state, State::Open | State::Orphan);
        (slot.generation == id.generation && is_open).then_some(slot)
    }

    pub(crate) fn request(&self, id: RequestId, caps: &Caps) -> Option<Request<'_>> {
        let slot = self.open_slot(id)?;
        let header = slot.header(caps);
        let body = slot.has_body.then_some(slot.body.as_slice());
        Some(Request {
            header,
            body,
            chunks: &slot.chunks,
        })
    }

    /// Take the memory of the call's read chunks away from it; the program puts it back.
    pub(crate) fn keep(&mut self, id: RequestId) -> Option<Place> {
        self.open_slot(id)?;
        self.slots[id.slot as usize].sink.take()
    }

    /// The program's reply; `message` is empty afterwards.
    pub(crate) fn reply<V: Verbs>(
        &mut self,
        id: RequestId,
        message: &mut Message,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) -> Result<(), NotOpen> {
        let slot = self.open_slot(id).ok_or(NotOpen)?;
        if slot.state == State::Orphan {
            message.clear();
            self.free_slot(id.slot, ctx.pool, events);
            return Ok(());
        }
        let slot = &mut self.slots[id.slot as usize];
        std::mem::swap(&mut slot.reply, message);
        message.clear();
        // Replies that wait for memory must not all hold some: what this one does not lend is free.
        let lends = |sink: &mut Place| {
            let within = |place: Place| {
                place.memory == sink.memory
                    && place.offset < sink.end()
                    && sink.offset < place.end()
            };
            slot.reply.items().iter().any(|item| within(item.place))
        };
        let sink = slot.sink.take_if(|sink| !lends(sink));
        sink.into_iter().for_each(|place| ctx.pool.put(place));
        slot.state = State::Replying;
        self.replies.push_back(id.slot);
        Ok(())
    }

    /// The program finds the call wrong.
    pub(crate) fn refuse<V: Verbs>(
        &mut self,
        id: RequestId,
        refused: Refused,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) -> Result<(), NotOpen> {
        let slot = self.open_slot(id).ok_or(NotOpen)?;
        if slot.state == State::Open {
            ctx.counters.refuse(refused);
            self.refuse_slot(id.slot, ctx);
        }
        self.free_slot(id.slot, ctx.pool, events);
        Ok(())
    }

    /// Queue ERR_CHUNK for the call in a slot.
    fn refuse_slot<V: Verbs>(&mut self, index: u32, ctx: &mut Context<'_, V>) {
        let slot = &self.slots[index as usize];
        self.push_error(slot.xid, slot.asked, ErrorBody::Chunk, ctx);
    }

    fn push_error<V>(&mut self, xid: u32, asked: u32, body: ErrorBody, ctx: &mut Context<'_, V>) {
        match self.errors.len() < self.errors.capacity().min(self.slots.len()) {
            true => self.errors.push_back((xid, asked, body)),
            false => ctx.counters.dropped_errors += 1,
        }
    }

    fn id(&self, index: u32) -> RequestId {
        RequestId {
            slot: index,
            generation: self.slots[index as usize].generation,
        }
    }

    /// The slot is over: its memory is the pool's again, and what the reply lent the program's.
    fn free_slot(&mut self, index: u32, pool: &mut Pool, events: &mut VecDeque<Event>) {
        let id = self.id(index);
        let slot = &mut self.slots[index as usize];
        let places = slot.sink.take().into_iter().chain(slot.long.take());
        places.for_each(|place| pool.put(place));
        debug_assert!(slot.exposures.is_empty(), "a free slot exposes nothing");
        let was_replied = matches!(
            slot.state,
            State::Replying | State::Sending | State::AwaitingDone
        );
        slot.state = State::Free;
        slot.generation = slot.generation.wrapping_add(1);
        slot.reply.clear();
        slot.awaits_done = false;
        slot.is_held = false;
        slot.has_body = false;
        self.active.retain(|&active| active != index);
        self.free.push(index);
        if was_replied {
            events.push_back(Event::Released(id));
        }
    }

    /// The connection is over, and nothing of it outstanding.
    pub(crate) fn disconnected<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.waiting.clear();
        self.reads.clear();
        self.replies.clear();
        self.errors.clear();
        self.reset_grants(ctx.settings);
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            slot.exposures.revoke(ctx.verbs);
            (slot.outstanding, slot.reads_left) = (0, 0);
            match slot.state {
                State::Free | State::Orphan => {}
                // The program may be using its memory.
                State::Open => slot.state = State::Orphan,
                _ => self.free_slot(index, ctx.pool, events),
            }
        }
    }

    /// Go on with what waits.
    pub(crate) fn advance<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.send_errors(ctx);
        self.take_sinks(ctx);
        self.read_more(ctx);
        self.send_replies(ctx, events);
    }
}

/// What another step depends on.
impl Hash for Responder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            &self.slots,
            &self.waiting,
            &self.reads,
            &self.replies,
            &self.errors,
        )
            .hash(state);
        (&self.grants, self.grant_max, self.is_first).hash(state);
    }
}
