//! The first call of a connection: what the peer's limits are (RFC 5666 section 6.2).
use super::call::State;
use super::configure::Configure;
use super::Requester;
use crate::binding::auth::{AuthSys, Credential, Groups};
use crate::binding::conf_rdma::{ConfigReply, ConfigRequest, CONF_RDMA, PROGRAM};
use crate::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use crate::connection::Context;
use crate::stream::{Message, Reader};
use crate::verbs::Verbs;
use crate::wire::Header;

/// Octets of the results.
const RESULT_OCTETS: u32 = 12;

impl Requester {
    pub(crate) fn set_configure(&mut self, configure: Option<Configure>) {
        self.configure = configure;
        self.unanswered = 0;
    }

    /// Queue the call before all others. Without a free slot the connection stays as it is.
    pub(crate) fn begin_configuration<V: Verbs>(&mut self, ctx: &mut Context<'_, V>) {
        // A peer that takes the question and never answers would hold up all calls for good.
        let may_ask = self.unanswered < ctx.settings.attempts_max;
        let Some(configure) = self.configure.filter(|_| may_ask) else {
            return;
        };
        let Some(index) = self.free.pop() else {
            return;
        };
        let xid = self.next_xid;
        self.last_xid = Some(xid);
        self.next_xid = xid.wrapping_add(1);
        let credential = configure.user.map_or(Credential::None, |(uid, gid)| {
            let groups = Groups::new(&[]);
            Credential::Sys(AuthSys {
                stamp: 0,
                machine: b"",
                uid,
                gid,
                groups,
            })
        });
        let mut message = Message::new();
        let header = CallHeader {
            xid,
            program: PROGRAM.number,
            version: PROGRAM.version,
            procedure: CONF_RDMA,
            credential,
        };
        header.write(&mut message).expect("a short credential");
        let octets = ctx.settings.buffer_octets();
        let request = ConfigRequest {
            maxcall_sendsize: octets,
            maxreply_sendsize: octets,
            maxrdmaread: ctx.verbs.limits().reads,
        };
        request.write(&mut message);
        let slot = &mut self.slots[index as usize];
        slot.state = State::Queued;
        slot.is_configuration = true;
        slot.xid = xid;
        // Never queued again: the next connection asks anew.
        slot.order = 0;
        slot.attempts = 0;
        slot.message = message;
        slot.results.clear();
        slot.reply_octets_max = REPLY_HEADER_OCTETS + RESULT_OCTETS;
        slot.clear_reply();
        self.queue.push_front(index);
    }

    /// The limits of the reply to the configuration call; others stay as they are.
    pub(super) fn apply_configuration<V: Verbs>(
        &mut self,
        header: &Header<'_>,
        ctx: &mut Context<'_, V>,
    ) {
        let Some(configure) = self.configure else {
            return;
        };
        let mut reader = Reader::of_send(header, None);
        let status = ReplyHeader::read(&mut reader).map(|header| header.status);
        let reply = ConfigReply::read(&mut reader);
        let reply = reply.and_then(|reply| reader.finish().map(|()| reply));
        let (Ok(ReplyStatus::Success), Ok(reply)) = (status, reply) else {
            ctx.counters.refused_configurations += 1;
            return;
        };
        let octets = ctx.settings.buffer_octets();
        let agreed = &mut ctx.channel.agreed;
        // A Send of ours is never longer than our own buffer, whatever the peer would take.
        agreed.send_octets = reply.maxcall_sendsize.min(octets);
        // The server does not say how long a Send of its own can be: what it receives is the best
        // guess. Where that is too low, a reply chunk is offered that was not needed.
        let of_server = reply.maxcall_sendsize.max(agreed.receive_octets);
        agreed.receive_octets = octets.min(of_server);
        agreed.peer_reads = reply.maxrdmaread > 0;
        agreed.reads = agreed.reads.min(reply.maxrdmaread);
        agreed.padding = reply.padding(configure.padding_threshold);
    }
}
