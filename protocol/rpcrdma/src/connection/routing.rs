//! Completions and messages to the half that they belong to.
use super::{Context, Endpoint, Half, Role, Tag, NO_SLOT};
use crate::registration::Pool;
use crate::verbs::{Completion, Status, Verbs, Work};

impl Endpoint {
    pub(super) fn complete(
        &mut self,
        completion: Completion,
        now: u64,
        verbs: &mut impl Verbs,
        pool: &mut Pool,
    ) {
        self.channel.note_completion(completion.work);
        let is_right = completion.status == Status::Success;
        if !is_right {
            self.channel.ended();
        }
        if completion.work == Work::Receive {
            if is_right {
                self.receive(completion, now, verbs, pool);
            }
            return;
        }
        let mut ctx = context!(self, now, verbs, pool);
        let (requester, responder) = (&mut self.requester, &mut self.responder);
        match (Tag::unpack(completion.tag), requester, responder) {
            (Tag::Send(half, slot, buffer), requester, responder) => {
                ctx.channel.put_buffer(buffer);
                match (half, slot, requester, responder) {
                    (Half::Requester, NO_SLOT, Some(requester), _) => requester.done_completed(),
                    (Half::Responder, NO_SLOT, ..) => {}
                    (Half::Requester, slot, Some(requester), _) => {
                        requester.send_completed(slot, &mut ctx, &mut self.events);
                    }
                    (Half::Responder, slot, _, Some(responder)) => {
                        responder.work_completed(slot, &mut ctx, &mut self.events);
                    }
                    _ => {}
                }
            }
            (Tag::Write(slot), _, Some(responder)) => {
                responder.work_completed(slot, &mut ctx, &mut self.events);
            }
            (Tag::Read(Half::Responder, slot), _, Some(responder)) => {
                responder.read_completed(slot, is_right, &mut ctx, &mut self.events);
            }
            (Tag::Read(Half::Requester, slot), Some(requester), _) => {
                requester.read_completed(slot, is_right, &mut ctx, &mut self.events);
            }
            _ => {}
        }
    }

    /// Which half a message is for: the kind of a DONE or an error says it; else the direction of
    /// the RPC message (RFC 8167 section 4), which is inline in reverse calls and their replies.
    fn half_of(&self, message: &[u8]) -> Half {
        const CALL: u32 = 0;
        let word = |at: usize| {
            let word = message.get(at..).and_then(|rest| rest.first_chunk());
            word.map(|word| u32::from_be_bytes(*word))
        };
        let own = match self.role {
            Role::Client => Half::Requester,
            Role::Server => Half::Responder,
        };
        // MSG without chunks: the body follows 28 octets, its second word is the direction.
        let is_plain = word(12) == Some(0) && [16, 20, 24].iter().all(|&at| word(at) == Some(0));
        match (word(12), word(32)) {
            (Some(3), _) => Half::Responder,
            (Some(4), _) if self.requester.is_some() => Half::Requester,
            (_, Some(direction)) if is_plain => match direction {
                CALL => Half::Responder,
                _ => Half::Requester,
            },
            _ => own,
        }
    }

    fn receive(
        &mut self,
        completion: Completion,
        now: u64,
        verbs: &mut impl Verbs,
        pool: &mut Pool,
    ) {
        let Tag::Receive(buffer) = Tag::unpack(completion.tag) else {
            return;
        };
        self.channel.take_message(buffer, completion.octets, verbs);
        self.counters.note_received(&self.channel.message);
        let half = self.half_of(&self.channel.message);
        let mut ctx = context!(self, now, verbs, pool);
        if let (Some(handle), Some(requester)) = (completion.invalidated, &mut self.requester) {
            let xid = crate::wire::xid(&ctx.channel.message);
            requester.invalidated(handle, xid, &mut ctx);
        }
        match (half, &mut self.requester, &mut self.responder) {
            (Half::Requester, Some(requester), _) => requester.receive(&mut ctx, &mut self.events),
            (Half::Responder, _, Some(responder)) => responder.receive(&mut ctx, &mut self.events),
            (Half::Requester, None, _) => ctx.counters.stray_replies += 1,
            (Half::Responder, _, None) => match ctx.channel.message.get(12..16) {
                Some([0, 0, 0, 3]) => ctx.counters.stray_dones += 1,
                _ => ctx.counters.stray_calls += 1,
            },
        }
    }

    pub(super) fn advance(&mut self, now: u64, verbs: &mut impl Verbs, pool: &mut Pool) {
        if !self.channel.is_open() {
            return;
        }
        let mut ctx = context!(self, now, verbs, pool);
        if let Some(requester) = &mut self.requester {
            requester.check_time(&mut ctx);
            requester.advance(&mut ctx, &mut self.events);
        }
        if let Some(responder) = &mut self.responder {
            responder.check_time(&mut ctx);
            responder.advance(&mut ctx, &mut self.events);
        }
        ctx.channel.post_receives(ctx.verbs);
    }

    /// Everything of the old connection has completed.
    pub(super) fn after_drained(&mut self, now: u64, verbs: &mut impl Verbs, pool: &mut Pool) {
        self.counters.disconnects += 1;
        let mut ctx = context!(self, now, verbs, pool);
        if let Some(requester) = &mut self.requester {
            requester.disconnected(&mut ctx, &mut self.events);
        }
        if let Some(responder) = &mut self.responder {
            responder.disconnected(&mut ctx, &mut self.events);
        }
    }
}
