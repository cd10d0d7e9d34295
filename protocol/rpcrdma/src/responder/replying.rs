//! Replies: Writes into what the caller offered, then one Send.
use super::call::{Slot, State};
use super::Responder;
use crate::connection::{Context, Event, Half};
use crate::place::Place;
use crate::stream::{Body, Piece, Plan, ReplyLimits};
use crate::verbs::{Rights, Verbs, VerbsError};
use crate::wire::{shortened, Header, HeaderWriter, ReadSegment, Segment};
use std::collections::VecDeque;

/// Why a reply does not leave now.
enum Stop {
    /// It does later.
    Wait,
    /// It fits into nothing that the caller offered (RPC-011).
    NoWay,
}

/// Offered segments, filled in order and without gaps (RFC 5666 section 3.7).
struct Fill<I> {
    segments: I,
    rest: Option<Segment>,
}

impl<I: Iterator<Item = Segment>> Fill<I> {
    fn new(segments: I) -> Self {
        Self {
            segments,
            rest: None,
        }
    }

    /// Write `source` after what was written before. Errors end the connection, of which
    /// completions tell.
    fn write<V: Verbs>(&mut self, mut source: Place, slot: (u32, &mut u32), ctx: &mut Context<V>) {
        let (index, outstanding) = slot;
        while source.length > 0 {
            let next = self.rest.take().filter(|rest| rest.length > 0);
            let Some(segment) = next.or_else(|| self.segments.next()) else {
                return;
            };
            let length = source.length.min(segment.length);
            if length > 0 {
                let written = ctx
                    .channel
                    .write(index, source.first(length), segment, ctx.verbs);
                *outstanding += u32::from(written.is_ok());
            }
            self.rest = Some(Segment {
                length: segment.length - length,
                offset: segment.offset.wrapping_add(u64::from(length)),
                ..segment
            });
            source.offset += u64::from(length);
            source.length -= length;
        }
    }
}

impl Responder {
    /// Send the replies that can be, oldest first; one that waits does not hold up others.
    pub(super) fn send_replies<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        for _ in 0..self.replies.len() {
            let Some(index) = self.replies.pop_front() else {
                return;
            };
            // The header of the call is read while the slot changes.
            let received = std::mem::take(&mut self.slots[index as usize].received);
            let header = Header::parse(&received, &ctx.settings.caps);
            let header = header.expect("it was accepted as it was received");
            let sent = self.send_reply(index, &header, ctx);
            let slot = &mut self.slots[index as usize];
            slot.received = received;
            match sent {
                Ok(()) => {}
                Err(Stop::Wait) => {
                    slot.exposures.revoke(ctx.verbs);
                    slot.long
                        .take()
                        .into_iter()
                        .for_each(|place| ctx.pool.put(place));
                    self.replies.push_back(index);
                }
                Err(Stop::NoWay) => {
                    slot.exposures.revoke(ctx.verbs);
                    ctx.counters.unsendable_replies += 1;
                    self.refuse_slot(index, ctx);
                    self.free_slot(index, ctx.pool, events);
                    self.send_errors(ctx);
                }
            }
        }
    }

    fn send_reply<V: Verbs>(
        &mut self,
        index: u32,
        header: &Header<'_>,
        ctx: &mut Context<'_, V>,
    ) -> Result<(), Stop> {
        let agreed = ctx.channel.agreed;
        let limits = ReplyLimits {
            inline_octets: agreed.send_octets,
            read_list: agreed.read_lists && !self.is_reverse,
        };
        let slot = &self.slots[index as usize];
        let plan = Plan::reply(&slot.reply, &limits, header).map_err(|_| Stop::NoWay)?;
        let has_reads = plan.body() == Body::ReadChunk || plan.reads(&slot.reply).next().is_some();
        let Some(granted) = self.grant(header.credits(), has_reads) else {
            let slot = &mut self.slots[index as usize];
            ctx.counters.held_replies += u64::from(!std::mem::replace(&mut slot.is_held, true));
            return Err(Stop::Wait);
        };
        // A place that is not within its memory is found before anything of the reply leaves.
        let mut items = slot.reply.items().iter();
        if items.any(|item| ctx.verbs.load(item.place, &mut []).is_err()) {
            return Err(Stop::NoWay);
        }
        let requests = requests(slot, &plan, header);
        if !ctx.channel.could_have_room(requests + 1) {
            return Err(Stop::NoWay);
        }
        if !ctx.channel.can_send(requests) {
            return Err(Stop::Wait);
        }
        let slot = &mut self.slots[index as usize];
        if plan.body() != Body::Send {
            store_stream(slot, &plan, &mut self.scratch, ctx)?;
        }
        let mut outgoing = std::mem::take(&mut ctx.channel.outgoing);
        let written = write_header(slot, &plan, header, granted, &mut outgoing, ctx);
        ctx.channel.outgoing = outgoing;
        if let Err(error) = written {
            ctx.counters.entry_waits += u64::from(error == VerbsError::NoEntry);
            return Err(Stop::Wait);
        }
        let slot = &mut self.slots[index as usize];
        slot.state = State::Sending;
        slot.outstanding = 0;
        write_results(index, slot, &plan, header, ctx);
        let count = match plan.body() {
            Body::Send => usize::MAX,
            Body::ReadChunk | Body::ReplyChunk => 0,
        };
        let pieces = plan.pieces(&slot.reply).take(count);
        let handle = header.single_handle().filter(|_| agreed.invalidates);
        let to = (Half::Responder, index);
        let sent = ctx
            .channel
            .send(to, pieces, handle, ctx.verbs, ctx.counters);
        slot.outstanding += u32::from(sent.is_ok());
        if has_reads {
            slot.awaits_done = true;
            slot.deadline = ctx.now + ctx.settings.done_time_out_us;
            self.grants.done_awaited();
        }
        ctx.counters.replies_sent += 1;
        Ok(())
    }
}

/// Most Writes that a reply takes.
fn requests(slot: &Slot, plan: &Plan, header: &Header<'_>) -> usize {
    let mut chunks = header.writes();
    let items = plan.writes(&slot.reply).map(|(number, _)| number);
    // Items are in the order of their chunks.
    let mut at = 0;
    let items = items.map(|number| {
        let chunk = chunks.nth(number - at);
        at = number + 1;
        chunk.map_or(0, |chunk| chunk.count())
    });
    let items: usize = items.sum();
    let stream = match plan.body() {
        Body::ReplyChunk => {
            let segments = header.reply().map_or(0, |chunk| chunk.count());
            plan.pieces(&slot.reply).count() + segments
        }
        Body::Send | Body::ReadChunk => 0,
    };
    items + stream
}

/// Octets of the software's that are in a chunk go into memory of the pool. Items of a reply
/// chunk are written from where they are; a read chunk holds the whole stream.
fn store_stream<V: Verbs>(
    slot: &mut Slot,
    plan: &Plan,
    scratch: &mut Vec<u8>,
    ctx: &mut Context<'_, V>,
) -> Result<(), Stop> {
    scratch.clear();
    for piece in plan.pieces(&slot.reply) {
        match piece {
            Piece::Octets(octets) => scratch.extend_from_slice(octets),
            Piece::Place(_) if plan.body() == Body::ReplyChunk => {}
            Piece::Place(item) => {
                let from = scratch.len();
                scratch.resize(from + item.length as usize, 0);
                let loaded = ctx.verbs.load(item, &mut scratch[from..]);
                loaded.map_err(|_| Stop::NoWay)?;
                ctx.counters.copied_octets += u64::from(item.length);
            }
        }
    }
    if scratch.len() as u64 > ctx.pool.octets_max() {
        return Err(Stop::NoWay);
    }
    let Some(place) = ctx.pool.take(ctx.settings.client, scratch.len() as u32) else {
        ctx.counters.pool_waits += 1;
        return Err(Stop::Wait);
    };
    slot.long = Some(place);
    ctx.verbs.store(place, scratch).map_err(|_| Stop::NoWay)
}

fn write_header<V: Verbs>(
    slot: &mut Slot,
    plan: &Plan,
    call: &Header<'_>,
    granted: u32,
    outgoing: &mut Vec<u8>,
    ctx: &mut Context<'_, V>,
) -> Result<(), VerbsError> {
    let exposures = &mut slot.exposures;
    let mut header = HeaderWriter::new(outgoing, slot.xid, granted, plan.form());
    let long = slot.long.filter(|_| plan.body() == Body::ReadChunk);
    let long = long.map(|place| (0, place)).into_iter();
    let items = plan
        .reads(&slot.reply)
        .map(|item| (item.position, item.place));
    for (position, place) in long.chain(items) {
        let segment = exposures.expose(ctx.verbs, place, Rights::Read)?;
        ctx.counters.exposures += 1;
        header.read(ReadSegment { position, segment });
    }
    let mut writes = header.writes();
    let mut items = plan.writes(&slot.reply).peekable();
    for (number, chunk) in call.writes().enumerate() {
        let item = items.next_if(|(at, _)| *at == number);
        let octets = item.map_or(0, |(_, item)| u64::from(item.place.length));
        writes.chunk(shortened(chunk.segments(), octets));
    }
    match call.reply() {
        Some(chunk) => {
            let octets = match plan.body() {
                Body::ReplyChunk => plan.stream_octets(),
                Body::Send | Body::ReadChunk => 0,
            };
            writes.reply(shortened(chunk.segments(), octets));
        }
        None => {
            writes.end();
        }
    }
    Ok(())
}

/// RPC-016: results into their write chunks, and a long reply into the reply chunk.
fn write_results<V: Verbs>(
    index: u32,
    slot: &mut Slot,
    plan: &Plan,
    header: &Header<'_>,
    ctx: &mut Context<'_, V>,
) {
    let outstanding = &mut slot.outstanding;
    let mut chunks = header.writes().enumerate();
    for (number, item) in plan.writes(&slot.reply) {
        let Some((_, chunk)) = chunks.find(|(at, _)| *at == number) else {
            return;
        };
        Fill::new(chunk.segments()).write(item.place, (index, outstanding), ctx);
    }
    let (Body::ReplyChunk, Some(chunk), Some(long)) = (plan.body(), header.reply(), slot.long)
    else {
        return;
    };
    let mut fill = Fill::new(chunk.segments());
    let mut at = 0;
    // Pieces of the software's that follow one another are one Write.
    let mut own = 0;
    for piece in plan.pieces(&slot.reply) {
        match piece {
            Piece::Octets(octets) => own += octets.len() as u32,
            Piece::Place(place) => {
                let part = long.part(at, own).unwrap_or(long);
                fill.write(part, (index, &mut *outstanding), ctx);
                fill.write(place, (index, &mut *outstanding), ctx);
                (at, own) = (at + own, 0);
            }
        }
    }
    let part = long.part(at, own).unwrap_or(long);
    fill.write(part, (index, outstanding), ctx);
}
