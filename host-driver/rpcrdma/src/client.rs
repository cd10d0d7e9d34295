//! One call after another, over as many connections as it takes.

use crate::end::{default_startup, pair_options, sleep, Clock, End};
use crate::error::RpcError;
use crate::link::Link;
use crate::memories::Memories;
use rnic_driver::verbs::endpoint::{startup, Endpoint, EndpointError};
use rpcrdma::private_data::PrivateData;
use rpcrdma::stream::Message;
use rpcrdma::wire::Refused;
use rpcrdma::{
    CallId, Configure, Event, Failure, Offer, Pool, Reply, Request, RequestId, Settings,
};
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// Settings of a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientSettings {
    /// Sizes and time-outs of RPC over RDMA.
    pub rpc: Settings,
    /// How connections start. Linux' server closes at an IRD of 0, and revision 1 has none.
    pub startup: startup::Settings,
    /// Whether the peer gets the private data of RFC 8797; without it this end is one of RFC 5666.
    pub private_data: bool,
    /// CONF_RDMA as the first call of each connection, whose answer goes before private data (RFC
    /// 5666, 6.2); `None`: it is not asked for.
    pub configure: Option<Configure>,
    /// Registered memory for long calls and replies, in octets.
    pub pool_octets: u32,
    /// How long the server may say nothing, connections included. One that has gone without a word
    /// is asked on another connection sooner if TCP probes it (`TimeOut::KeepaliveIdle`).
    pub patience: Duration,
}

impl Default for ClientSettings {
    /// 8 Reads each way, 1 MiB, 60 s.
    fn default() -> Self {
        Self {
            rpc: Settings::default(),
            startup: default_startup(),
            private_data: true,
            configure: None,
            pool_octets: 1 << 20,
            patience: Duration::from_secs(60),
        }
    }
}

/// A client of one server. Calls that a connection has left without a reply go again on the next
/// one, with the same XIDs.
#[derive(Debug)]
pub struct Client<'a> {
    endpoint: &'a Endpoint,
    memories: Arc<Memories>,
    peer: SocketAddr,
    settings: ClientSettings,
    end: End,
    pool: Pool,
    clock: Clock,
    /// Calls that have ended and were not waited for.
    ended: HashMap<CallId, Result<(), Failure>>,
    /// Reverse calls that were not taken.
    asked: VecDeque<RequestId>,
    connections: u64,
}

impl<'a> Client<'a> {
    /// Connect to `peer`.
    ///
    /// # Errors
    /// It cannot be reached, or there is no room for memory.
    pub fn connect(
        endpoint: &'a Endpoint,
        memories: &Arc<Memories>,
        peer: SocketAddr,
        settings: ClientSettings,
    ) -> Result<Self, RpcError> {
        let pool = memories.allocate(settings.pool_octets)?;
        let mut end = End::client(settings.rpc, memories)?;
        // A server knows calls that come again by address and XID (RFC 5531, 9): another client of
        // this address does not begin with the same ones.
        end.endpoint
            .set_next_xid(RandomState::new().hash_one(peer) as u32);
        end.endpoint.set_configure(settings.configure);
        let mut client = Self {
            endpoint,
            memories: Arc::clone(memories),
            peer,
            settings,
            end,
            pool: Pool::new(pool, settings.pool_octets),
            clock: Clock::new(),
            ended: HashMap::new(),
            asked: VecDeque::new(),
            connections: 0,
        };
        client.open()?;
        Ok(client)
    }

    fn open(&mut self) -> Result<(), RpcError> {
        let options = pair_options(&self.settings.rpc);
        let stream = self.endpoint.connect(self.peer)?;
        let startup = self.settings.startup;
        let pair = stream.queue_pair(self.memories.domain(), &startup, &options)?;
        let own = self.settings.rpc.private_data().to_octets();
        let announced: &[u8] = match self.settings.private_data {
            true => &own,
            false => &[],
        };
        let answer = pair.start(announced)?;
        let link = Link::new(pair, &self.memories, &options, startup.ord);
        let peer = PrivateData::parse(&answer);
        let peer = peer.filter(|_| self.settings.private_data);
        self.end.begin(self.clock.now(), link, &mut self.pool, peer);
        self.connections += 1;
        Ok(())
    }

    /// The machine: settings, counters, credits.
    #[must_use]
    pub fn machine(&self) -> &rpcrdma::Endpoint {
        &self.end.endpoint
    }

    /// The machine, for what is set between calls.
    pub fn machine_mut(&mut self) -> &mut rpcrdma::Endpoint {
        &mut self.end.endpoint
    }

    /// The connection, if there is one.
    pub fn link_mut(&mut self) -> Option<&mut Link> {
        self.end.link_mut()
    }

    /// Memory of calls.
    #[must_use]
    pub fn memories(&self) -> &Arc<Memories> {
        &self.memories
    }

    /// Connections that there were, this one included.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// The XID that the next call is to begin with.
    #[must_use]
    pub fn next_xid(&self) -> u32 {
        self.end.endpoint.next_xid()
    }

    /// Make a call; it leaves as soon as there is a credit.
    ///
    /// # Errors
    /// It is not taken.
    pub fn submit(&mut self, message: &mut Message, offer: Offer<'_>) -> Result<CallId, RpcError> {
        let call = self.end.endpoint.submit(message, offer)?;
        self.work();
        Ok(call)
    }

    /// Wait until a call has its reply, and everything that it lent is back.
    ///
    /// # Errors
    /// [`RpcError::Call`]; [`RpcError::Silent`], after which the call is still made.
    pub fn wait(&mut self, call: CallId) -> Result<(), RpcError> {
        let patience = self.settings.patience;
        let last = self.clock.now() + patience.as_micros() as u64;
        loop {
            self.work();
            let peer = self.peer;
            match self.ended.remove(&call) {
                Some(Ok(())) => return Ok(()),
                Some(Err(failure)) => {
                    self.release(call);
                    return Err(RpcError::Call { peer, failure });
                }
                None => {}
            }
            let now = self.clock.now();
            if now >= last {
                let seconds = patience.as_secs();
                return Err(RpcError::Silent { peer, seconds });
            }
            let due = self.end.endpoint.deadline().unwrap_or(u64::MAX);
            match self.end.link() {
                Some(link) => {
                    let left = due.min(last).saturating_sub(now);
                    sleep(&[link.as_fd()], Duration::from_micros(left))?;
                }
                None => self.connect_again(last)?,
            }
        }
    }

    /// Another connection, after the pause that is due.
    fn connect_again(&mut self, last: u64) -> Result<(), RpcError> {
        let at = self.end.endpoint.reconnect_at().min(last);
        let left = at.saturating_sub(self.clock.now());
        sleep(&[], Duration::from_micros(left))?;
        match self.open() {
            Ok(()) => Ok(()),
            Err(RpcError::Endpoint(EndpointError::Ended)) => Err(EndpointError::Ended.into()),
            // A server that starts again is tried until the patience is over.
            Err(error) if self.clock.now() >= last => Err(error),
            Err(_) => sleep(&[], Duration::from_secs(1)),
        }
    }

    /// Do what can be done now.
    fn work(&mut self) {
        while let Some(event) = self.end.poll(self.clock.now(), &mut self.pool) {
            match event {
                Event::Replied(call) => {
                    self.ended.insert(call, Ok(()));
                }
                Event::Failed(call, failure) => {
                    self.ended.insert(call, Err(failure));
                }
                Event::Call(call) => self.asked.push_back(call),
                Event::Released(_) | Event::Disconnected => {}
            }
        }
    }

    /// The reply of a call that was waited for.
    #[must_use]
    pub fn reply(&self, call: CallId) -> Option<Reply<'_>> {
        self.end.endpoint.reply(call)
    }

    /// Forget a call that was waited for.
    pub fn release(&mut self, call: CallId) {
        self.end.endpoint.release(call, &mut self.pool);
    }

    /// The next reverse call (RFC 8167), if one comes in this time; none does unless
    /// [`Settings::reverse_credits`] of both ends are above 0. Calls of this end go on meanwhile.
    ///
    /// # Errors
    /// The system cannot wait.
    pub fn next_request(&mut self, most: Duration) -> Result<Option<RequestId>, RpcError> {
        let last = self.clock.now() + most.as_micros() as u64;
        loop {
            self.work();
            let now = self.clock.now();
            if !self.asked.is_empty() || now >= last {
                return Ok(self.asked.pop_front());
            }
            let due = self.end.endpoint.deadline().unwrap_or(u64::MAX);
            let left = Duration::from_micros(due.min(last).saturating_sub(now));
            match self.end.link() {
                Some(link) => sleep(&[link.as_fd()], left)?,
                None => self.connect_again(last)?,
            }
        }
    }

    /// A reverse call that awaits its reply.
    #[must_use]
    pub fn request(&self, call: RequestId) -> Option<Request<'_>> {
        self.end.endpoint.request(call)
    }

    /// Reply to a reverse call, which is over then. One whose connection has ended is to be
    /// replied to as well: the reply goes nowhere.
    pub fn respond(&mut self, call: RequestId, message: &mut Message) {
        let now = self.clock.now();
        if let (endpoint, Some(link)) = self.end.parts() {
            // It was asked for by a call that is open.
            let _ = endpoint.respond(now, link, &mut self.pool, call, message);
        }
        message.clear();
        self.work();
    }

    /// Refuse a reverse call whose message is none: ERR_CHUNK.
    pub fn refuse(&mut self, call: RequestId, refused: Refused) {
        let now = self.clock.now();
        if let (endpoint, Some(link)) = self.end.parts() {
            // As above.
            let _ = endpoint.refuse(now, link, &mut self.pool, call, refused);
        }
        self.work();
    }

    /// End the connection as one does who has nothing left to ask.
    pub fn close(mut self) {
        if let (_, Some(link)) = self.end.parts() {
            link.disconnect();
        }
        let last = self.clock.now() + CLOSE_US;
        while let Some(link) = self.end.link() {
            let left = last.saturating_sub(self.clock.now());
            if left == 0 || sleep(&[link.as_fd()], Duration::from_micros(left)).is_err() {
                return;
            }
            self.work();
        }
    }
}

/// How long the peer may take to close, too.
const CLOSE_US: u64 = 2_000_000;
