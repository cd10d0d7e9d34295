//! The connection configuration protocol as a service (RFC 5666 section 6.2).
use super::call::State;
use super::policy::Policy;
use super::Responder;
use crate::binding::conf_rdma::{ConfigReply, ConfigRequest, CONF_RDMA, PROGRAM};
use crate::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use crate::connection::Context;
use crate::private_data::INLINE_OCTETS_DEFAULT;
use crate::stream::Reader;
use crate::verbs::Verbs;

/// `AUTH_TOOWEAK` of RFC 5531: the flavour is not the one that the policy asks for.
const AUTH_TOO_WEAK: u32 = 5;

impl Responder {
    /// Answer calls of the configuration program, off unless a policy is set.
    pub(crate) fn set_configuration(&mut self, policy: Option<Policy>) {
        self.configuration = policy;
    }

    /// Reply to the call in a slot if it is one of the configuration. False: it is the program's.
    pub(super) fn configure<V: Verbs>(&mut self, index: u32, ctx: &mut Context<'_, V>) -> bool {
        let Some(policy) = self.configuration else {
            return false;
        };
        let slot = &mut self.slots[index as usize];
        let stream = slot.stream().to_vec();
        let mut reader = Reader::new(&stream);
        let Ok(call) = CallHeader::read(&mut reader) else {
            return false;
        };
        if call.program != PROGRAM.number {
            return false;
        }
        let may_configure = slot.may_configure;
        let request = ConfigRequest::read(&mut reader);
        let request = request.and_then(|request| reader.finish().map(|()| request));
        let status = match (call.version == PROGRAM.version, call.procedure, request) {
            (false, ..) => ReplyStatus::ProgramMismatch {
                low: PROGRAM.version,
                high: PROGRAM.version,
            },
            (true, 0, _) => ReplyStatus::Success,
            (true, CONF_RDMA, _) if call.credential.flavor() != policy.flavor => {
                ReplyStatus::AuthError(AUTH_TOO_WEAK)
            }
            // Later calls could be in flight under the old limits.
            (true, CONF_RDMA, _) if !may_configure => ReplyStatus::SystemError,
            (true, CONF_RDMA, Err(_)) => ReplyStatus::GarbageArguments,
            (true, CONF_RDMA, Ok(_)) => ReplyStatus::Success,
            (true, ..) => ReplyStatus::ProcedureUnavailable,
        };
        slot.reply.clear();
        ReplyHeader {
            xid: call.xid,
            status,
        }
        .write(&mut slot.reply);
        match (status, call.procedure, request) {
            (ReplyStatus::Success, CONF_RDMA, Ok(request)) => {
                apply(request, policy, ctx).write(&mut slot.reply);
            }
            (ReplyStatus::Success, ..) => {}
            _ => ctx.counters.refused_configurations += 1,
        }
        slot.state = State::Replying;
        self.replies.push_back(index);
        true
    }
}

/// The connection's limits from here on: never above the buffers that are posted (RPC-036).
fn apply<V: Verbs>(
    request: ConfigRequest,
    policy: Policy,
    ctx: &mut Context<'_, V>,
) -> ConfigReply {
    let buffer = ctx.settings.buffer_octets();
    let reads = ctx.verbs.limits().reads;
    let agreed = &mut ctx.channel.agreed;
    agreed.receive_octets = request
        .maxcall_sendsize
        .clamp(INLINE_OCTETS_DEFAULT, buffer);
    agreed.send_octets = request
        .maxreply_sendsize
        .clamp(INLINE_OCTETS_DEFAULT, buffer);
    agreed.reads = reads.min(request.maxrdmaread);
    ConfigReply {
        maxcall_sendsize: agreed.receive_octets,
        align: policy.align,
        maxrdmaread: reads,
    }
}
