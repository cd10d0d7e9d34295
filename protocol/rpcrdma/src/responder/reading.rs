//! Read chunks of calls: memory for them, Reads in order, and the call when it is whole.
use super::call::State;
use super::Responder;
use crate::binding::conf_rdma;
use crate::binding::rpc::CallHeader;
use crate::connection::{Context, Event, Half};
use crate::place::Place;
use crate::registration::{lay_out, sink_octets, ReadJob};
use crate::stream::Reader;
use crate::verbs::Verbs;
use crate::wire::{Header, Refused};
use std::collections::VecDeque;

/// What of its lists decides how a call begins.
#[derive(Clone, Copy)]
pub(super) struct Lists {
    read_segments: u64,
    has_results: bool,
    /// Of all read chunks, and of position 0.
    octets: (u64, u64),
}

impl Lists {
    pub(super) fn of(header: &Header<'_>) -> Self {
        Self {
            read_segments: header.reads().count() as u64,
            has_results: header.results().next().is_some(),
            octets: header.read_octets(),
        }
    }
}

impl Responder {
    /// A call with a right header is in its slot: check it against its program, and read what is
    /// to be read.
    pub(super) fn begin<V: Verbs>(
        &mut self,
        index: u32,
        lists: Lists,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let has_reads = lists.read_segments > 0;
        let has_chunks = has_reads || lists.has_results;
        let (octets, long_octets) = lists.octets;
        let slot = &mut self.slots[index as usize];
        slot.has_body = long_octets > 0;
        slot.chunks.clear();
        let needed = sink_octets(lists.read_segments, octets);
        let refused = if self.is_reverse && has_chunks {
            // RFC 8167 section 5.1: reverse calls have no chunks.
            Err(Refused::NotEligible)
        } else if needed > ctx.pool.octets_max() || octets > 0 && ctx.channel.agreed.reads == 0 {
            // RPC-037: nor could a peer be read from that takes no Reads.
            Err(Refused::ReadOctets)
        } else if self.slots[index as usize].has_body || !has_chunks {
            Ok(())
        } else {
            self.check_program(index, ctx)
        };
        if let Err(refused) = refused {
            return self.reject(index, refused, ctx, events);
        }
        if !has_reads {
            return self.open(index, ctx, events);
        }
        let slot = &mut self.slots[index as usize];
        slot.sink_octets = needed as u32;
        slot.state = State::Waiting;
        self.waiting.push_back(index);
        self.take_sinks(ctx);
        // Octets of length 0 need no Read.
        if self.slots[index as usize].state == State::Reading {
            self.whole(index, ctx, events);
        }
    }

    fn reject<V: Verbs>(
        &mut self,
        index: u32,
        refused: Refused,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        ctx.counters.refuse(refused);
        self.refuse_slot(index, ctx);
        self.free_slot(index, ctx.pool, events);
    }

    /// RPC-007: chunks only where the program lets them be.
    fn check_program<V>(&self, index: u32, ctx: &Context<'_, V>) -> Result<(), Refused> {
        let slot = &self.slots[index as usize];
        let header = slot.header(&ctx.settings.caps);
        let stream = slot.stream();
        let mut reader = match slot.has_body {
            true => Reader::new(stream),
            false => Reader::of_send(&header, None),
        };
        // What is no call gets an RPC reply that says so.
        let Ok(call) = CallHeader::read(&mut reader) else {
            return Ok(());
        };
        let configuration = self.configuration.map(|_| &conf_rdma::PROGRAM);
        let mut programs = self.programs.iter().chain(configuration);
        let program = programs.find(|program| program.number == call.program);
        program.map_or(Ok(()), |program| {
            program.check_chunks(&header, &call, stream)
        })
    }

    /// Memory for the calls that wait for it, oldest first.
    pub(super) fn take_sinks<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        while let Some(&index) = self.waiting.front() {
            let octets = self.slots[index as usize].sink_octets;
            let Some(sink) = ctx.pool.take(ctx.settings.client, octets) else {
                ctx.counters.pool_waits += 1;
                break;
            };
            self.waiting.pop_front();
            self.slots[index as usize].sink = Some(sink);
            self.queue_reads(index, sink, ctx);
        }
        self.read_more(ctx);
    }

    /// Where each segment goes: those of one item one after another.
    fn queue_reads<V: Verbs>(&mut self, index: u32, sink: Place, ctx: &mut Context<'_, V>) {
        let caps = &ctx.settings.caps;
        let slot = &mut self.slots[index as usize];
        slot.state = State::Reading;
        slot.deadline = ctx.now + ctx.settings.read_time_out_us;
        let header = Header::parse(&slot.received, caps);
        let header = header.expect("it was accepted as it was received");
        let (reads, reads_left) = (&mut self.reads, &mut slot.reads_left);
        slot.body_place = lay_out(&header, sink, &mut slot.chunks, |source, sink| {
            *reads_left += 1;
            let slot = index;
            reads.push_back(ReadJob { slot, source, sink });
        });
    }

    /// Reads that wait, as many as may be outstanding (RPC-037).
    pub(super) fn read_more<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        let channel = &mut *ctx.channel;
        channel.read_queued(Half::Responder, &mut self.reads, ctx.verbs);
    }

    /// A Read of a call has completed, or was flushed.
    pub(crate) fn read_completed<V: Verbs>(
        &mut self,
        index: u32,
        is_right: bool,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        slot.reads_left = slot.reads_left.saturating_sub(1);
        if is_right && slot.state == State::Reading {
            self.whole(index, ctx, events);
        }
    }

    /// Open the call if all of it is here.
    fn whole<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        if slot.reads_left > 0 {
            return;
        }
        if let Some(place) = slot.body_place.take() {
            slot.body.resize(place.length as usize, 0);
            let loaded = ctx.verbs.load(place, &mut slot.body);
            loaded.expect("memory of the pool is within its region");
            let xid = slot.body.first_chunk().map(|xid| u32::from_be_bytes(*xid));
            let checked = match xid == Some(slot.xid) {
                true => self.check_program(index, ctx),
                false => Err(Refused::OtherXid),
            };
            if let Err(refused) = checked {
                return self.reject(index, refused, ctx, events);
            }
        }
        self.open(index, ctx, events);
    }

    /// The call is the program's, unless it is about the connection itself.
    fn open<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.slots[index as usize].state = State::Open;
        if !self.configure(index, ctx) {
            events.push_back(Event::Call(self.id(index)));
        }
    }

    /// The first time at which a Read or a DONE is late.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let slots = self.active.iter().map(|&index| &self.slots[index as usize]);
        let timed = slots.filter(|slot| matches!(slot.state, State::Reading | State::AwaitingDone));
        timed.map(|slot| slot.deadline).min()
    }

    /// Close the connection if a Read or a DONE is late (RPC-021, RPC-042).
    pub(crate) fn check_time<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        let now = ctx.now;
        if !ctx.channel.is_open() {
            return;
        }
        let slots = self.active.iter().map(|&index| &self.slots[index as usize]);
        let mut slots = slots.filter(|slot| slot.deadline <= now);
        let late = slots.find(|slot| matches!(slot.state, State::Reading | State::AwaitingDone));
        let Some(late) = late else {
            return;
        };
        match late.state {
            State::Reading => ctx.counters.read_time_outs += 1,
            _ => ctx.counters.done_time_outs += 1,
        }
        ctx.channel.close(ctx.verbs);
    }
}
