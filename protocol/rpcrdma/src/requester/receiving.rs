//! What comes back: replies, errors, completions.
use super::call::{Failure, Slot, State};
use super::Requester;
use crate::connection::{Context, Event};
use crate::stream::rounded;
use crate::verbs::Verbs;
use crate::wire::{ErrorBody, Header, Kind, Refused, Segment, WriteChunk};
use std::collections::VecDeque;

/// A returned segment that is not the offered one.
struct Foreign;

/// Octets that were written into a segment that was offered: at most its length, with roundup
/// where the peer counts it (RFC 5666 section 3.7, RPC-020).
fn returned(offered: Segment, chunk: WriteChunk<'_>) -> Result<u32, Foreign> {
    let mut segments = chunk.segments();
    let (Some(segment), None) = (segments.next(), segments.next()) else {
        return Err(Foreign);
    };
    let is_same = segment.handle == offered.handle && segment.offset == offered.offset;
    let is_within =
        segment.length <= offered.length || u64::from(segment.length) == rounded(offered.length);
    match is_same && is_within {
        true => Ok(segment.length.min(offered.length)),
        false => Err(Foreign),
    }
}

/// Check the lists of a reply against the offer; lengths into the slot. A list that is left out
/// altogether says that nothing was written.
fn take_lengths(slot: &mut Slot, header: &Header<'_>) -> Result<(), Foreign> {
    slot.returned.clear();
    let mut chunks = header.writes();
    let has_writes = header.writes().next().is_some();
    for (&offered, &result) in slot.writes.iter().zip(&slot.results) {
        let length = match has_writes {
            true => returned(offered, chunks.next().ok_or(Foreign)?)?,
            false => 0,
        };
        slot.returned.push(result.first(length));
    }
    if chunks.next().is_some() {
        return Err(Foreign);
    }
    slot.body_place = match (header.reply(), slot.reply_segment) {
        (Some(chunk), Some(offered)) => {
            let length = returned(offered, chunk)?;
            slot.reply_place
                .map(|place| place.first(length))
                .filter(|place| place.length > 0)
        }
        (Some(_), None) => return Err(Foreign),
        (None, _) => None,
    };
    Ok(())
}

impl Requester {
    /// The call in flight with this XID.
    fn in_flight(&self, xid: u32) -> Option<usize> {
        self.flight
            .iter()
            .position(|&index| self.slots[index as usize].xid == xid)
    }

    /// A handle that the message with `xid` has invalidated is its own call's, or the connection
    /// closes: another call's memory is out of the peer's reach now, and its reply never comes.
    pub(crate) fn invalidated<V: Verbs>(
        &mut self,
        handle: u32,
        xid: Option<u32>,
        ctx: &mut Context<'_, V>,
    ) {
        let owner = |slot: &mut Slot| slot.exposures.invalidated(handle).then_some(slot.xid);
        let slots = &mut self.slots;
        let mut flight = self.flight.iter();
        let owner = flight
            .find_map(|&index| owner(&mut slots[index as usize]))
            .or_else(|| slots.iter_mut().find_map(owner));
        let Some(owner) = owner else {
            return;
        };
        ctx.counters.invalidations += 1;
        if Some(owner) != xid {
            ctx.counters.foreign_invalidations += 1;
            ctx.channel.close(ctx.verbs);
        }
    }

    /// A reply, or an RDMA_ERROR. The message is that of the channel.
    pub(crate) fn receive<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let received = std::mem::take(&mut ctx.channel.message);
        let parsed = Header::parse(&received, &ctx.settings.caps);
        let xid = crate::wire::xid(&received);
        let flight = xid.and_then(|xid| self.in_flight(xid));
        let index = flight.map(|at| self.flight[at] as usize);
        let is_error = matches!(&parsed, Ok(header) if matches!(header.kind(), Kind::Error(_)));
        if let Err(refused) = &parsed {
            ctx.counters.refuse(*refused);
        }
        match (flight, parsed) {
            (None, _) if is_error => ctx.counters.stray_errors += 1,
            (None, Err(Refused::Short)) => {}
            (None, _) => ctx.counters.stray_replies += 1,
            // Fewer than 16 octets are no reply, and an error of another version is not ours.
            (Some(_), Err(Refused::Short | Refused::OtherVersionError)) => {}
            (Some(at), Err(refused)) => {
                let index = self.flight.swap_remove(at);
                self.credits.replied(self.credits.granted(), false);
                ctx.counters.bad_replies += 1;
                self.end(index, Err(Failure::Reply(refused)), ctx, events);
            }
            (Some(at), Ok(header)) => {
                let index = self.flight.swap_remove(at);
                self.accept(index, &header, ctx, events);
            }
        }
        // Both buffers are used again: the slot has the reply, the channel what the slot had.
        let slot = index.map(|index| &mut self.slots[index]);
        ctx.channel.message = match slot.filter(|slot| slot.state >= State::Reading) {
            Some(slot) => std::mem::replace(&mut slot.received, received),
            None => received,
        };
    }

    /// The grant of a reply, as it is counted.
    fn count_grant<V>(&self, granted: u32, ctx: &mut Context<'_, V>) {
        ctx.counters.zero_grants += u64::from(granted == 0);
        ctx.counters.cut_grants += u64::from(granted > self.credits_asked);
    }

    fn accept<V: Verbs>(
        &mut self,
        index: u32,
        header: &Header<'_>,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.count_grant(header.credits(), ctx);
        if self.slots[index as usize].is_configuration {
            self.unanswered = 0;
        }
        if let Kind::Error(body) = header.kind() {
            self.credits.replied(header.credits(), false);
            ctx.counters.errors_received += 1;
            return self.refused(index, body, ctx, events);
        }
        if self.slots[index as usize].is_configuration {
            self.apply_configuration(header, ctx);
        }
        let has_reads = header.reads().next().is_some();
        let agreed = &ctx.channel.agreed;
        let may_read = has_reads && agreed.read_lists && agreed.reads > 0 && !self.is_reverse;
        self.credits.replied(header.credits(), may_read);
        ctx.counters.replies_received += 1;
        let slot = &mut self.slots[index as usize];
        slot.body_at = header.octets();
        slot.is_padded = header.padding().is_some();
        if take_lengths(slot, header).is_err() {
            ctx.counters.foreign_segments += 1;
            ctx.channel.close(ctx.verbs);
            return self.end(index, Err(Failure::Segments), ctx, events);
        }
        if has_reads && !may_read {
            ctx.counters.forbidden_read_lists += 1;
            return self.end(index, Err(Failure::ReadList), ctx, events);
        }
        let is_long = header.kind() == Kind::Nomsg;
        let in_reads = header.reads().next().is_some_and(|read| read.position == 0);
        if is_long && !in_reads && slot.body_place.is_none() {
            ctx.counters.bad_replies += 1;
            return self.end(index, Err(Failure::Reply(Refused::Nowhere)), ctx, events);
        }
        if !is_long {
            slot.body_place = None;
        }
        // Another connection is begun at once if the next one fails, too: this one works.
        self.back_off_us = ctx.settings.back_off_us.0;
        match may_read {
            // The reads begin when the reply is in its slot.
            true => {
                let slot = &mut self.slots[index as usize];
                slot.state = State::Reading;
                // The peer has read what it wanted: this reply may need the memory.
                slot.exposures.revoke(ctx.verbs);
                slot.long
                    .take()
                    .into_iter()
                    .for_each(|place| ctx.pool.put(place));
                self.waiting.push_back(index);
            }
            false => self.end(index, Ok(()), ctx, events),
        }
    }

    /// RPC-028, RPC-029: an error ends its call for good; another version every one.
    fn refused<V: Verbs>(
        &mut self,
        index: u32,
        body: ErrorBody,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        match body {
            ErrorBody::Chunk => self.end(index, Err(Failure::Chunk), ctx, events),
            ErrorBody::Other { code, .. } => {
                self.end(index, Err(Failure::Error(code)), ctx, events);
            }
            ErrorBody::Versions { .. } => {
                self.end(index, Err(Failure::Version), ctx, events);
                while let Some(other) = self.flight.pop().or_else(|| self.queue.pop_front()) {
                    self.end(other, Err(Failure::Version), ctx, events);
                }
                // Replies to what was in flight would be strays.
                ctx.channel.close(ctx.verbs);
            }
        }
    }

    /// A Send of a call has completed, or was flushed.
    pub(crate) fn send_completed<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.slots[index as usize].is_sending = false;
        self.settle(index, ctx, events);
    }

    /// The Send of a DONE has completed: its credit is free.
    pub(crate) fn done_completed(&mut self) {
        self.credits.done_completed();
    }
}
