//! Read lists of replies (RFC 5666 section 3.8): memory, Reads, and a DONE.
use super::call::{Failure, State};
use super::Requester;
use crate::connection::{Context, Event, Half};
use crate::registration::{lay_out, sink_octets, ReadJob};
use crate::verbs::Verbs;
use crate::wire::Header;
use std::collections::VecDeque;

impl Requester {
    /// Memory for replies that wait for it, oldest first. One that needs more than there can ever
    /// be fails its call; the peer gets its DONE all the same.
    pub(super) fn take_sinks<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        while let Some(&index) = self.waiting.front() {
            let slot = &mut self.slots[index as usize];
            let header = Header::parse(&slot.received, &ctx.settings.caps);
            let header = header.expect("it was accepted as it was received");
            let needed = sink_octets(header.reads().count() as u64, header.read_octets().0);
            if needed > ctx.pool.octets_max() {
                self.waiting.pop_front();
                self.dones.push_back(self.slots[index as usize].xid);
                self.end(index, Err(Failure::TooLong), ctx, events);
                continue;
            }
            let Some(sink) = ctx.pool.take(ctx.settings.client, needed as u32) else {
                ctx.counters.pool_waits += 1;
                return;
            };
            self.waiting.pop_front();
            slot.sink = Some(sink);
            slot.deadline = ctx.now + ctx.settings.read_time_out_us;
            self.reading.push(index);
            let (reads, reads_left) = (&mut self.reads, &mut slot.reads_left);
            let body = lay_out(&header, sink, &mut slot.chunks, |source, sink| {
                *reads_left += 1;
                let slot = index;
                reads.push_back(ReadJob { slot, source, sink });
            });
            slot.body_place = body.or(slot.body_place);
            if slot.reads_left == 0 {
                self.reads_done(index, ctx, events);
            }
        }
    }

    /// Reads that wait, as many as may be outstanding (RPC-037).
    pub(super) fn read_more<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        let channel = &mut *ctx.channel;
        channel.read_queued(Half::Requester, &mut self.reads, ctx.verbs);
    }

    /// RPC-015: exactly one DONE, when all of the reply has been read.
    fn reads_done<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.reading.retain(|&reading| reading != index);
        self.dones.push_back(self.slots[index as usize].xid);
        self.end(index, Ok(()), ctx, events);
    }

    /// A Read has completed, or was flushed.
    pub(crate) fn read_completed<V: Verbs>(
        &mut self,
        index: u32,
        is_right: bool,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        slot.reads_left = slot.reads_left.saturating_sub(1);
        if slot.reads_left == 0 && slot.state == State::Reading && is_right {
            self.reads_done(index, ctx, events);
        }
    }
}
