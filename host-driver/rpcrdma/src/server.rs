//! Clients that connect, and their calls.

mod reverse;

use crate::end::{default_startup, pair_options, sleep, Clock, End};
use crate::error::RpcError;
use crate::link::Link;
use crate::memories::Memories;
use rnic_driver::verbs::endpoint::{
    startup, ConnectionRequest, Endpoint, ExpectedRequest, Listener,
};
use rpcrdma::binding::Program;
use rpcrdma::place::Place;
use rpcrdma::private_data::PrivateData;
use rpcrdma::stream::Message;
use rpcrdma::verbs::Verbs;
use rpcrdma::wire::Refused;
use rpcrdma::{CallId, Event, Failure, Policy, Pool, Request, RequestId, Settings};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// Settings of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerSettings {
    /// Sizes and time-outs of RPC over RDMA, of each client.
    pub rpc: Settings,
    /// How connections start.
    pub startup: startup::Settings,
    /// What CONF_RDMA is answered (RFC 5666, 6.2); `None`: it is left to the programs.
    pub policy: Option<Policy>,
    /// Clients at a time; others are rejected. The receives of a device are 2,048 in all.
    pub clients_max: u32,
    /// Registered memory for what is read from clients, in octets, and the share of each.
    pub pool_octets: (u32, u32),
}

impl Default for ServerSettings {
    /// 8 Reads each way, 16 clients, 8 MiB of which a client gets 4.
    fn default() -> Self {
        Self {
            rpc: Settings::default(),
            startup: default_startup(),
            policy: None,
            clients_max: 16,
            pool_octets: (8 << 20, 4 << 20),
        }
    }
}

/// A client of a server, as long as it is connected; the number is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

/// What has happened at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// A client has connected.
    Connected(ClientId, SocketAddr),
    /// A call awaits its reply, also if its client has gone.
    Call(ClientId, RequestId),
    /// A reply is over: places that were lent to it may change again.
    Released(ClientId, RequestId),
    /// A reverse call of [`Server::call`] has its reply.
    Replied(ClientId, CallId),
    /// A reverse call has failed, or its client has gone.
    Failed(ClientId, CallId, Failure),
    /// A client has gone. What was lent to its replies is the server's again.
    Gone(ClientId, SocketAddr),
}

/// A server at one address.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    memories: Arc<Memories>,
    settings: ServerSettings,
    programs: &'static [Program<'static>],
    /// Connections whose Request has not come.
    expected: Vec<ExpectedRequest>,
    clients: Vec<End>,
    peers: Vec<Option<SocketAddr>>,
    pool: Pool,
    clock: Clock,
    news: VecDeque<Served>,
    rejected: u64,
}

impl Server {
    /// Listen at `own`.
    ///
    /// # Errors
    /// Somebody listens there already, or there is no room for memory.
    pub fn listen(
        endpoint: &Endpoint,
        memories: &Arc<Memories>,
        own: SocketAddr,
        programs: &'static [Program<'static>],
        settings: ServerSettings,
    ) -> Result<Self, RpcError> {
        let (octets, share) = settings.pool_octets;
        let pool = memories.allocate(octets)?;
        Ok(Self {
            listener: endpoint.listen(own)?,
            memories: Arc::clone(memories),
            settings,
            programs,
            expected: Vec::new(),
            clients: Vec::new(),
            peers: Vec::new(),
            pool: Pool::new(pool, share),
            clock: Clock::new(),
            news: VecDeque::new(),
            rejected: 0,
        })
    }

    /// Clients that are connected.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.peers.iter().flatten().count()
    }

    /// Clients that were rejected, as there were too many, and connections that have not started.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The machine of a client: settings and counters.
    #[must_use]
    pub fn machine(&self, client: ClientId) -> Option<&rpcrdma::Endpoint> {
        self.clients.get(client.0 as usize).map(|end| &end.endpoint)
    }

    /// The machine of a client, for what is set or taken between calls.
    pub fn machine_mut(&mut self, client: ClientId) -> Option<&mut rpcrdma::Endpoint> {
        let end = self.clients.get_mut(client.0 as usize);
        end.map(|end| &mut end.endpoint)
    }

    /// Memory of what clients send.
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }

    /// What has happened, if something has.
    ///
    /// # Errors
    /// The device or the endpoint, but no client.
    pub fn poll(&mut self) -> Result<Option<Served>, RpcError> {
        if let Some(news) = self.news.pop_front() {
            return Ok(Some(news));
        }
        while let Some(stream) = self.listener.poll()? {
            match stream.expect_request(&self.settings.startup) {
                Ok(expected) => self.expected.push(expected),
                Err(_) => self.rejected += 1,
            }
        }
        for expected in std::mem::take(&mut self.expected) {
            match expected.poll() {
                Ok(Err(waits)) => self.expected.push(waits),
                Ok(Ok(request)) => self.accept(request)?,
                Err(_) => self.rejected += 1,
            }
        }
        for (number, end) in (0..).zip(&mut self.clients) {
            let id = ClientId(number);
            while let Some(event) = end.poll(self.clock.now(), &mut self.pool) {
                self.news.extend(match event {
                    Event::Call(call) => Some(Served::Call(id, call)),
                    Event::Released(call) => Some(Served::Released(id, call)),
                    Event::Disconnected => {
                        let peer = self.peers[number as usize].take();
                        peer.map(|peer| Served::Gone(id, peer))
                    }
                    Event::Replied(call) => Some(Served::Replied(id, call)),
                    Event::Failed(call, failure) => Some(Served::Failed(id, call, failure)),
                });
            }
        }
        Ok(self.news.pop_front())
    }

    /// Make a client of a Request, with receives posted before it is accepted.
    fn accept(&mut self, request: ConnectionRequest) -> Result<(), RpcError> {
        let peer = request.peer_addr();
        let free = self.peers.iter().position(Option::is_none);
        let index = match free {
            Some(index) => index,
            None if self.clients.len() < self.settings.clients_max as usize => self.add()?,
            None => {
                self.rejected += 1;
                // Whoever does not hear of it finds the connection closed.
                let _ = request.reject(b"too many clients");
                return Ok(());
            }
        };
        let options = pair_options(&self.settings.rpc);
        let announced = PrivateData::parse(request.private_data());
        let Ok(pair) = request.queue_pair(self.memories.domain(), &options) else {
            self.rejected += 1;
            return Ok(());
        };
        let reads = self.settings.startup.ord;
        let link = Link::new(pair, &self.memories, &options, reads);
        let end = &mut self.clients[index];
        end.begin(self.clock.now(), link, &mut self.pool, announced);
        let own = self.settings.rpc.private_data().to_octets();
        let answer: &[u8] = match announced {
            Some(_) => &own,
            None => &[],
        };
        if let Some(link) = end.link_mut() {
            // One that cannot be accepted ends as any connection does.
            if link.pair().accept(answer).is_err() {
                self.rejected += 1;
                link.close();
            }
        }
        self.peers[index] = Some(peer);
        let id = ClientId(index as u32);
        self.news.push_back(Served::Connected(id, peer));
        Ok(())
    }

    fn add(&mut self) -> Result<usize, RpcError> {
        let index = self.clients.len();
        let settings = Settings {
            client: index as u32,
            ..self.settings.rpc
        };
        let mut end = End::server(settings, &self.memories, self.programs)?;
        end.endpoint.set_configuration_policy(self.settings.policy);
        self.clients.push(end);
        self.peers.push(None);
        Ok(index)
    }

    /// Sleep until something may have happened, at most so long.
    ///
    /// # Errors
    /// The system cannot wait.
    pub fn wait(&self, most: Duration) -> Result<(), RpcError> {
        if !self.news.is_empty() {
            return Ok(());
        }
        let mut files = vec![self.listener.as_fd()];
        files.extend(self.expected.iter().map(AsFd::as_fd));
        let links = self.clients.iter().filter_map(End::link);
        files.extend(links.map(AsFd::as_fd));
        let due = self
            .clients
            .iter()
            .filter_map(|end| end.endpoint.deadline());
        let left = due.min().map_or(most, |due| {
            Duration::from_micros(due.saturating_sub(self.clock.now()))
        });
        sleep(&files, left.min(most))
    }

    /// A call that awaits its reply.
    #[must_use]
    pub fn request(&self, client: ClientId, call: RequestId) -> Option<Request<'_>> {
        let end = self.clients.get(client.0 as usize)?;
        end.endpoint.request(call)
    }

    /// Take the memory of a call's read chunks, to be given back to [`Server::pool`].
    pub fn keep(&mut self, client: ClientId, call: RequestId) -> Option<Place> {
        let end = self.clients.get_mut(client.0 as usize)?;
        end.endpoint.keep(call)
    }

    /// Reply to a call; places of the reply are lent until [`Served::Released`]. One that a client
    /// has left is to be replied to as well: the reply goes nowhere, and the call is over.
    pub fn respond(&mut self, client: ClientId, call: RequestId, message: &mut Message) {
        let now = self.clock.now();
        let Some(end) = self.clients.get_mut(client.0 as usize) else {
            return;
        };
        if let (endpoint, Some(link)) = end.parts() {
            // It was asked for by a call that is open.
            let _ = endpoint.respond(now, link, &mut self.pool, call, message);
        }
        message.clear();
    }

    /// Refuse a call whose chunks are not where its program has items: ERR_CHUNK.
    pub fn refuse(&mut self, client: ClientId, call: RequestId, refused: Refused) {
        let now = self.clock.now();
        let Some(end) = self.clients.get_mut(client.0 as usize) else {
            return;
        };
        if let (endpoint, Some(link)) = end.parts() {
            let _ = endpoint.refuse(now, link, &mut self.pool, call, refused);
        }
    }
}
