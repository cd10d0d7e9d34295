//! A received message: what it is, and whether it is right.
use super::call::State;
use super::reading::Lists;
use super::Responder;
use crate::connection::{Context, Event, Half, Settings, NO_SLOT};
use crate::verbs::Verbs;
use crate::wire::{write_error, Answer, ErrorBody, Header, Kind, Refused, VERSION};
use std::collections::VecDeque;

/// Slots for each receive, where programs leave calls of broken connections open.
const SLOTS_PER_RECEIVE_MAX: usize = 4;

impl Responder {
    /// A call or a DONE; the message is that of the channel.
    pub(crate) fn receive<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let received = std::mem::take(&mut ctx.channel.message);
        let parsed = Header::parse(&received, &ctx.settings.caps);
        let parsed = parsed.and_then(|header| header.check_call().map(|()| header));
        let taken = match &parsed {
            Err(refused) => {
                self.answer(*refused, &received, ctx);
                None
            }
            Ok(header) if header.kind() == Kind::Done => {
                self.done(header.xid(), ctx, events);
                None
            }
            Ok(header) if matches!(header.kind(), Kind::Error(_)) => {
                ctx.counters.stray_errors += 1;
                None
            }
            Ok(header) => self.take_call(header, ctx),
        };
        let (Some(index), Ok(header)) = (taken, parsed) else {
            ctx.channel.message = received;
            return;
        };
        let lists = Lists::of(&header);
        let slot = &mut self.slots[index as usize];
        ctx.channel.message = std::mem::replace(&mut slot.received, received);
        self.begin(index, lists, ctx, events);
    }

    /// RPC-028, RPC-029: what a wrong header is answered with.
    fn answer<V: Verbs>(&mut self, refused: Refused, received: &[u8], ctx: &mut Context<'_, V>) {
        ctx.counters.refuse(refused);
        let word = |at: usize| {
            let word = received.get(at..).and_then(|rest| rest.first_chunk());
            word.map_or(0, |word| u32::from_be_bytes(*word))
        };
        let body = match refused.answer() {
            Answer::Drop => return,
            Answer::Versions => ErrorBody::Versions {
                low: VERSION,
                high: VERSION,
            },
            Answer::Chunk => ErrorBody::Chunk,
        };
        self.push_error(word(0), word(8), body, ctx);
    }

    /// A slot for a call whose header is right.
    fn take_call<V: Verbs>(
        &mut self,
        header: &Header<'_>,
        ctx: &mut Context<'_, V>,
    ) -> Option<u32> {
        ctx.counters.calls_received += 1;
        let is_known = |slot: &super::Slot| {
            !matches!(slot.state, State::Free | State::Orphan) && slot.xid == header.xid()
        };
        if self
            .active
            .iter()
            .any(|&index| is_known(&self.slots[index as usize]))
        {
            ctx.counters.repeated_xids += 1;
            return None;
        }
        // RPC-006: a peer that sends beyond every grant runs out of slots.
        let Some(index) = self
            .free
            .pop()
            .or_else(|| self.slot_beside_orphans(ctx.settings))
        else {
            ctx.counters.excess_calls += 1;
            ctx.channel.close(ctx.verbs);
            return None;
        };
        self.active.push(index);
        let slot = &mut self.slots[index as usize];
        slot.xid = header.xid();
        slot.asked = header.credits();
        slot.may_configure = std::mem::take(&mut self.is_first) && self.configuration.is_some();
        slot.body_at = header.octets();
        Some(index)
    }

    /// Another slot, if it is calls of earlier connections that have the others: the peer is not
    /// to blame for a program that is slow. Of how slow it may be there is a bound.
    fn slot_beside_orphans(&mut self, settings: &Settings) -> Option<u32> {
        let slots = self.active.iter().map(|&index| &self.slots[index as usize]);
        let orphans = slots.filter(|slot| slot.state == State::Orphan).count();
        let receives = settings.receives() as usize;
        let may_grow = self.active.len() - orphans < receives
            && self.slots.len() < SLOTS_PER_RECEIVE_MAX * receives;
        may_grow.then(|| {
            self.slots.push(super::Slot::new());
            self.slots.len() as u32 - 1
        })
    }

    /// Send errors, as far as buffers reach.
    pub(super) fn send_errors<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        while ctx.channel.can_send(0) {
            let Some((xid, asked, body)) = self.errors.pop_front() else {
                return;
            };
            let granted = self.grant(asked, false).unwrap_or(1);
            write_error(&mut ctx.channel.outgoing, xid, granted, body);
            let to = (Half::Responder, NO_SLOT);
            let sent = ctx
                .channel
                .send(to, std::iter::empty(), None, ctx.verbs, ctx.counters);
            ctx.counters.errors_sent += u64::from(sent.is_ok());
        }
    }

    /// The grant of a reply; `None` holds it back (RPC-042).
    pub(super) fn grant(&self, asked: u32, has_reads: bool) -> Option<u32> {
        let granted = self.grants.grant(asked.min(self.credits), has_reads)?;
        Some(granted.min(self.grant_max).max(1))
    }
}
