//! From the queue onto the wire.
use super::call::{Failure, State};
use super::Requester;
use crate::connection::{Context, Event, Half, NO_SLOT};
use crate::place::Place;
use crate::registration::Exposures;
use crate::stream::{Body, CallLimits, Message, NoWay, Piece, Plan};
use crate::verbs::{Rights, Verbs, VerbsError};
use crate::wire::{header_octets, write_done, Form, HeaderWriter, ReadSegment, Segment};
use std::collections::VecDeque;

/// Why a call does not leave now.
enum Stop {
    /// It does later.
    Wait,
    Fail(Failure),
}

impl From<VerbsError> for Stop {
    fn from(error: VerbsError) -> Self {
        match error {
            VerbsError::Place => Self::Fail(Failure::Place),
            // No entry is free, or the connection ends, of which a completion will tell.
            _ => Self::Wait,
        }
    }
}

impl Requester {
    /// Send DONEs, then calls, as far as credits, buffers, entries and memory reach.
    pub(crate) fn advance<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.take_sinks(ctx, events);
        self.read_more(ctx);
        while !self.dones.is_empty() && ctx.channel.can_send(0) {
            let Some(xid) = self.dones.pop_front() else {
                break;
            };
            write_done(&mut ctx.channel.outgoing, xid, self.credits_asked);
            let to = (Half::Requester, NO_SLOT);
            let sent = ctx
                .channel
                .send(to, std::iter::empty(), None, ctx.verbs, ctx.counters);
            ctx.counters.dones_sent += u64::from(sent.is_ok());
        }
        while let Some(&index) = self.queue.front() {
            if !self.dones.is_empty() || !self.credits.may_call() || !ctx.channel.can_send(0) {
                break;
            }
            match self.try_send(index, ctx) {
                Ok(()) => drop(self.queue.pop_front()),
                Err(Stop::Wait) => {
                    self.withdraw(index, ctx);
                    break;
                }
                Err(Stop::Fail(failure)) => {
                    self.withdraw(index, ctx);
                    self.queue.pop_front();
                    self.end(index, Err(failure), ctx, events);
                }
            }
        }
    }

    /// Take back what a call that did not leave has borrowed, so that it waits with nothing.
    pub(super) fn withdraw<V: Verbs>(&mut self, index: u32, ctx: &mut Context<'_, V>) {
        let slot = &mut self.slots[index as usize];
        slot.exposures.revoke(ctx.verbs);
        let places = slot.long.take().into_iter().chain(slot.reply_place.take());
        places.for_each(|place| ctx.pool.put(place));
    }

    /// Octets of the longest reply, header included, if all of it comes in a Send.
    fn reply_send_octets(results: usize, reply_octets_max: u32) -> u64 {
        let writes = std::iter::repeat_n(1, results);
        header_octets(Form::Msg, 0, writes, None) as u64 + u64::from(reply_octets_max)
    }

    fn plan<V>(&self, index: u32, ctx: &Context<'_, V>) -> Result<(Plan, bool), NoWay> {
        let slot = &self.slots[index as usize];
        let results = slot.results.len();
        let longest = Self::reply_send_octets(results, slot.reply_octets_max);
        let agreed = &ctx.channel.agreed;
        let has_reply = !self.is_reverse && longest > u64::from(agreed.receive_octets);
        let limits = CallLimits {
            inline_octets: agreed.send_octets,
            chunk_octets_min: ctx.settings.chunk_octets_min,
            reads: agreed.peer_reads && !self.is_reverse,
            padding: agreed.padding,
        };
        let writes = std::iter::repeat_n(1, results);
        let plan = Plan::call(&slot.message, &limits, writes, has_reply.then_some(1))?;
        Ok((plan, has_reply))
    }

    fn try_send<V: Verbs>(&mut self, index: u32, ctx: &mut Context<'_, V>) -> Result<(), Stop> {
        let planned = self.plan(index, ctx);
        let (plan, has_reply) = planned.map_err(|NoWay| Stop::Fail(Failure::TooLong))?;
        let slot = &mut self.slots[index as usize];
        let mut take = |octets: u64| {
            let octets = u32::try_from(octets).map_err(|_| Stop::Fail(Failure::TooLong))?;
            let taken = ctx.pool.take(ctx.settings.client, octets);
            ctx.counters.pool_waits += u64::from(taken.is_none());
            taken.ok_or(match u64::from(octets) > ctx.pool.octets_max() {
                true => Stop::Fail(Failure::TooLong),
                false => Stop::Wait,
            })
        };
        if has_reply {
            slot.reply_place = Some(take(u64::from(slot.reply_octets_max))?);
        }
        if plan.body() == Body::ReadChunk {
            let place = take(plan.stream_octets())?;
            slot.long = Some(place);
            store_stream(&slot.message, &plan, place, &mut self.scratch, ctx)?;
        }
        // Handles are written into the header as they are drawn, in the order of the lists.
        let form = plan.form();
        let mut outgoing = std::mem::take(&mut ctx.channel.outgoing);
        let written = write_header(slot, &plan, form, self.credits_asked, &mut outgoing, ctx);
        ctx.channel.outgoing = outgoing;
        if let Err(error) = written {
            ctx.counters.entry_waits += u64::from(error == VerbsError::NoEntry);
            return Err(error.into());
        }
        let slot = &mut self.slots[index as usize];
        let count = match plan.body() {
            Body::Send => usize::MAX,
            Body::ReadChunk | Body::ReplyChunk => 0,
        };
        let pieces = plan.pieces(&slot.message).take(count);
        ctx.channel.send(
            (Half::Requester, index),
            pieces,
            None,
            ctx.verbs,
            ctx.counters,
        )?;
        slot.state = State::Sent;
        slot.is_sending = true;
        slot.deadline = ctx.now + ctx.settings.call_time_out_us;
        slot.attempts += 1;
        ctx.counters.calls_sent += 1;
        ctx.counters.calls_repeated += u64::from(slot.attempts > 1);
        self.flight.push(index);
        self.credits.call_sent();
        Ok(())
    }
}

/// Put the stream of a long call into `place`; `scratch` is used again.
fn store_stream<V: Verbs>(
    message: &Message,
    plan: &Plan,
    place: Place,
    scratch: &mut Vec<u8>,
    ctx: &mut Context<'_, V>,
) -> Result<(), VerbsError> {
    scratch.clear();
    for piece in plan.pieces(message) {
        match piece {
            Piece::Octets(octets) => scratch.extend_from_slice(octets),
            Piece::Place(item) => {
                let from = scratch.len();
                scratch.resize(from + item.length as usize, 0);
                ctx.verbs.load(item, &mut scratch[from..])?;
                ctx.counters.copied_octets += u64::from(item.length);
            }
        }
    }
    ctx.verbs.store(place, scratch)
}

fn expose<V: Verbs>(
    exposures: &mut Exposures,
    place: Place,
    rights: Rights,
    ctx: &mut Context<'_, V>,
) -> Result<Segment, VerbsError> {
    let segment = exposures.expose(ctx.verbs, place, rights)?;
    ctx.counters.exposures += 1;
    Ok(segment)
}

fn write_header<V: Verbs>(
    slot: &mut super::call::Slot,
    plan: &Plan,
    form: Form,
    credits: u32,
    outgoing: &mut Vec<u8>,
    ctx: &mut Context<'_, V>,
) -> Result<(), VerbsError> {
    let exposures = &mut slot.exposures;
    let mut header = HeaderWriter::new(outgoing, slot.xid, credits, form);
    if let Some(place) = slot.long {
        let segment = expose(exposures, place, Rights::Read, ctx)?;
        header.read(ReadSegment {
            position: 0,
            segment,
        });
    }
    for item in plan.reads(&slot.message) {
        let segment = expose(exposures, item.place, Rights::Read, ctx)?;
        header.read(ReadSegment {
            position: item.position,
            segment,
        });
    }
    let mut writes = header.writes();
    slot.writes.clear();
    for &result in &slot.results {
        let segment = expose(exposures, result, Rights::Write, ctx)?;
        slot.writes.push(segment);
        writes.chunk([segment]);
    }
    slot.reply_segment = None;
    if let Some(place) = slot.reply_place {
        let segment = expose(exposures, place, Rights::Write, ctx)?;
        slot.reply_segment = Some(segment);
        writes.reply([segment]);
    } else {
        writes.end();
    }
    Ok(())
}
