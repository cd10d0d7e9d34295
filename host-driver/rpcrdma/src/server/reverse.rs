//! Calls of a server to its clients (RFC 8167).

use super::{ClientId, Server};
use crate::error::RpcError;
use rpcrdma::stream::Message;
use rpcrdma::{CallId, Offer, Reply};

impl Server {
    /// The XID that the next reverse call to a client is to begin with.
    #[must_use]
    pub fn next_xid(&self, client: ClientId) -> u32 {
        let machine = self.machine(client);
        machine.map_or(0, rpcrdma::Endpoint::next_xid)
    }

    /// Call a client (RFC 8167): inline, without chunks. Its reply has at most so many octets. The
    /// call leaves at the next [`Server::poll`] that finds a credit; [`Served::Replied`] or
    /// [`Served::Failed`] is its end, with the client's connection at the latest.
    ///
    /// # Errors
    /// The client has gone; or the call is not taken, as there are no reverse credits or too many
    /// calls wait.
    ///
    /// [`Served::Replied`]: super::Served::Replied
    /// [`Served::Failed`]: super::Served::Failed
    pub fn call(
        &mut self,
        client: ClientId,
        message: &mut Message,
        reply_octets_max: u32,
    ) -> Result<CallId, RpcError> {
        let end = self.clients.get_mut(client.0 as usize);
        let end = end.filter(|end| end.link().is_some());
        let end = end.ok_or(RpcError::Gone(client.0))?;
        let offer = Offer {
            results: &[],
            reply_octets_max,
        };
        Ok(end.endpoint.submit(message, offer)?)
    }

    /// The reply of a reverse call whose outcome was reported.
    #[must_use]
    pub fn reply(&self, client: ClientId, call: CallId) -> Option<Reply<'_>> {
        self.clients.get(client.0 as usize)?.endpoint.reply(call)
    }

    /// Forget a reverse call whose outcome was reported.
    pub fn release(&mut self, client: ClientId, call: CallId) {
        if let Some(end) = self.clients.get_mut(client.0 as usize) {
            end.endpoint.release(call, &mut self.pool);
        }
    }
}
