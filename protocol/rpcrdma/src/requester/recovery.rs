//! Time-outs, and calls that go again on the next connection (RFC 5666 section 8).
use super::call::{Failure, State};
use super::Requester;
use crate::connection::{Context, Event};
use crate::credits::Credits;
use crate::verbs::Verbs;
use std::collections::VecDeque;

impl Requester {
    /// Close the connection if a call on it is not answered in time, or a Read of its reply. It is
    /// never sent again on the same one: the peer may only be slow, and would have two of the same
    /// XID.
    pub(crate) fn check_time<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        let is_late = self.deadline().is_some_and(|deadline| deadline <= ctx.now);
        if !is_late || !ctx.channel.is_open() {
            return;
        }
        let mut reading = self.reading.iter();
        match reading.any(|&index| self.slots[index as usize].deadline <= ctx.now) {
            true => ctx.counters.read_time_outs += 1,
            false => ctx.counters.call_time_outs += 1,
        }
        ctx.channel.close(ctx.verbs);
    }

    /// The connection is over, and nothing of it outstanding: calls without an outcome are queued
    /// again, oldest first, unless they have used up their attempts. Reverse calls end: the next
    /// connection is another client's.
    pub(crate) fn disconnected<V: Verbs>(
        &mut self,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        self.dones.clear();
        self.waiting.clear();
        self.reading.clear();
        self.reads.clear();
        self.flight.clear();
        self.credits = Credits::new(self.credits_asked);
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            slot.is_sending = false;
            slot.reads_left = 0;
            if slot.is_configuration {
                self.unanswered += u32::from(slot.state == State::Sent);
                slot.clear_reply();
                self.withdraw(index, ctx);
                self.free_slot(index, ctx.pool);
                self.queue.retain(|&queued| queued != index);
                continue;
            }
            match slot.state {
                State::Sent | State::Reading => {
                    slot.clear_reply();
                    let sink = slot.sink.take();
                    sink.into_iter().for_each(|place| ctx.pool.put(place));
                    self.withdraw(index, ctx);
                    let slot = &mut self.slots[index as usize];
                    if self.is_reverse || slot.attempts >= ctx.settings.attempts_max {
                        self.end(index, Err(Failure::Attempts), ctx, events);
                    } else {
                        slot.state = State::Queued;
                        self.queue.push_back(index);
                    }
                }
                State::Queued if self.is_reverse => {
                    self.queue.retain(|&queued| queued != index);
                    self.end(index, Err(Failure::Attempts), ctx, events);
                }
                State::Ended => self.settle(index, ctx, events),
                State::Free | State::Queued | State::Reported => {}
            }
        }
        let slots = &self.slots;
        self.queue
            .make_contiguous()
            .sort_unstable_by_key(|&index| slots[index as usize].order);
        self.reconnect_at = ctx.now + self.back_off_us;
        self.back_off_us = (2 * self.back_off_us).min(ctx.settings.back_off_us.1);
    }
}
