//! Replies with read lists, from their Send to the DONE (RFC 5666 section 3.8).
use super::call::State;
use super::Responder;
use crate::connection::{Context, Event};
use crate::verbs::Verbs;
use std::collections::VecDeque;

impl Responder {
    /// A DONE. One that nobody awaits is dropped.
    pub(super) fn done<V: Verbs>(
        &mut self,
        xid: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let awaits = |&index: &u32| {
            let slot = &self.slots[index as usize];
            slot.awaits_done && slot.xid == xid
        };
        let Some(index) = self.active.iter().copied().find(awaits) else {
            ctx.counters.stray_dones += 1;
            return;
        };
        ctx.counters.dones_received += 1;
        self.grants.done_received();
        let slot = &mut self.slots[index as usize];
        slot.awaits_done = false;
        slot.exposures.revoke(ctx.verbs);
        self.settle(index, ctx, events);
    }

    /// A Write or the Send of a reply has completed, or was flushed.
    pub(crate) fn work_completed<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        slot.outstanding = slot.outstanding.saturating_sub(1);
        self.settle(index, ctx, events);
    }

    /// Free a slot whose reply is over.
    fn settle<V: Verbs>(
        &mut self,
        index: u32,
        ctx: &mut Context<'_, V>,
        events: &mut VecDeque<Event>,
    ) {
        let slot = &mut self.slots[index as usize];
        if !matches!(slot.state, State::Sending | State::AwaitingDone) || slot.outstanding > 0 {
            return;
        }
        match slot.awaits_done {
            true => slot.state = State::AwaitingDone,
            false => self.free_slot(index, ctx.pool, events),
        }
    }
}
