//! A client with two calls, a server that answers them when and with what grant it likes, and
//! every step that can be taken next.
use crate::tamper::{Break, Ledger, Seam};
use rpcrdma::fabric::{self, Choice, EndId, Fabric, HostId};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::stream::Message;
use rpcrdma::verbs::Verbs;
use rpcrdma::{CallId, Endpoint, Event, Offer, Pool, RequestId, Settings};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Octets of an item: too many for 1,024 inline.
const ITEM_OCTETS: u32 = 1_100;
const POOL_OCTETS: u32 = 8 * (16 << 10);

/// What is explored.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Both ends know RFC 5666 alone: results come by read lists, and DONEs go. Else in write
    /// chunks, with invalidation.
    pub dones: bool,
    pub calls: u32,
    /// A call before these was answered with a grant of 3: they can leave together.
    pub is_warm: bool,
    /// Grants that a reply may have.
    pub grants: &'static [u32],
    pub disconnects: u8,
}

/// Whose doing the end of a connection is: that of neither end, or of one, which knows it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Wire,
    Client,
    Server,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Fabric(Choice),
    /// An end looks at all its completions.
    Client,
    Server,
    /// One of the server's calls is answered, with a grant.
    Answer(usize, u32),
    Disconnect(By),
    Connect,
}

#[derive(Clone)]
struct Side {
    host: HostId,
    end: EndId,
    data: MemoryId,
    pool: Pool,
    endpoint: Endpoint,
    ledger: RefCell<Ledger>,
    /// It knows of the end of the connection, and has nothing to look at.
    is_down: bool,
    is_quiet: bool,
}

/// A state.
#[derive(Clone)]
pub struct Model {
    bounds: Bounds,
    broken: Option<Break>,
    fabric: Fabric,
    client: Side,
    server: Side,
    calls: Vec<(CallId, u32)>,
    open: Vec<RequestId>,
    replied: u32,
    disconnects: u8,
    zero_grants: bool,
    found: Option<&'static str>,
}

fn side(fabric: &mut Fabric, host: HostId, end: EndId, dones: bool, is_client: bool) -> Side {
    let settings = Settings {
        credits: 3,
        inline_octets: 1_024,
        calls_max: 2,
        chunk_octets_min: 64,
        read_lists: dones,
        attempts_max: 9,
        ..Settings::default()
    };
    let octets = settings.transport_octets();
    let all = |memory: MemoryId, length: u32| Place {
        memory,
        offset: 0,
        length,
    };
    let transport = all(fabric.allocate(host, octets), octets as u32);
    let endpoint = match is_client {
        true => Endpoint::client(settings, transport),
        false => Endpoint::server(settings, transport, &[]),
    };
    let data = fabric.allocate(host, 4 * ITEM_OCTETS as usize);
    let pool = all(fabric.allocate(host, POOL_OCTETS as usize), POOL_OCTETS);
    Side {
        host,
        end,
        data,
        pool: Pool::new(pool, POOL_OCTETS),
        endpoint,
        ledger: RefCell::default(),
        is_down: true,
        is_quiet: false,
    }
}

impl Model {
    pub fn new(bounds: Bounds, broken: Option<Break>) -> Self {
        let settings = fabric::Settings {
            reads: 2,
            sends: 16,
            receives: 8,
            entries: 8,
            moves_payload: false,
            ..fabric::Settings::default()
        };
        let mut fabric = Fabric::new(settings);
        let hosts = [fabric.host(), fabric.host()];
        let ends = fabric.connect(hosts[0], hosts[1]);
        let mut model = Self {
            bounds,
            broken,
            client: side(&mut fabric, hosts[0], ends.0, bounds.dones, true),
            server: side(&mut fabric, hosts[1], ends.1, bounds.dones, false),
            fabric,
            calls: Vec::new(),
            open: Vec::new(),
            replied: 0,
            disconnects: 0,
            zero_grants: false,
            found: None,
        };
        model.connect();
        if bounds.is_warm {
            model.warm_up();
        }
        for call in 0..bounds.calls {
            model.submit(call);
        }
        model
    }

    fn seam<'a>(
        side: &'a mut Side,
        fabric: &'a mut Fabric,
        broken: Option<Break>,
        zero_grants: bool,
        is_client: bool,
    ) -> (&'a mut Endpoint, Seam<'a>, &'a mut Pool) {
        let Side {
            endpoint,
            end,
            pool,
            ledger,
            ..
        } = side;
        let end = fabric.end(*end);
        (
            endpoint,
            Seam {
                end,
                ledger,
                is_client,
                broken,
                zero_grants,
            },
            pool,
        )
    }

    fn connect(&mut self) {
        for is_client in [false, true] {
            let side = if is_client {
                &mut self.client
            } else {
                &mut self.server
            };
            side.is_down = false;
            side.is_quiet = false;
            side.ledger.get_mut().reset();
            let data = (!self.bounds.dones).then(|| side.endpoint.settings().private_data());
            let (endpoint, mut seam, pool) =
                Self::seam(side, &mut self.fabric, self.broken, false, is_client);
            endpoint.connected(0, &mut seam, pool, data);
        }
    }

    /// A call without items, from end to end in order.
    fn warm_up(&mut self) {
        let mut message = Message::new();
        [self.client.endpoint.next_xid(), 0]
            .into_iter()
            .for_each(|word| message.u32(word));
        let offer = Offer {
            results: &[],
            reply_octets_max: 64,
        };
        let id = self
            .client
            .endpoint
            .submit(&mut message, offer)
            .expect("room");
        self.calls.push((id, 0));
        for _ in 0..3 {
            self.poll_client();
            self.poll_server();
            self.fabric.run();
            if let Some(id) = self.open.pop() {
                let (endpoint, mut seam, pool) = Self::seam(
                    &mut self.server,
                    &mut self.fabric,
                    self.broken,
                    false,
                    false,
                );
                let xid = endpoint.request(id).expect("it is open").header().xid();
                [xid, 1].into_iter().for_each(|word| message.u32(word));
                endpoint
                    .respond(0, &mut seam, pool, id, &mut message)
                    .expect("it is open");
                self.poll_server();
                self.fabric.run();
            }
        }
        self.poll_client();
        self.poll_server();
        self.replied = 0;
        self.client.is_quiet = false;
    }

    /// A call with an item as argument, and one as result.
    fn submit(&mut self, call: u32) {
        let data = self.client.data;
        let place = |index: u32| Place {
            memory: data,
            offset: u64::from(index * ITEM_OCTETS),
            length: ITEM_OCTETS,
        };
        let xid = self.client.endpoint.next_xid();
        let mut message = Message::new();
        [xid, 0].into_iter().for_each(|word| message.u32(word));
        message.item(place(call)).expect("one item");
        let result = [place(2 + call)];
        let results: &[Place] = if self.bounds.dones { &[] } else { &result };
        let offer = Offer {
            results,
            reply_octets_max: 64,
        };
        let id = self
            .client
            .endpoint
            .submit(&mut message, offer)
            .expect("room for two");
        self.calls.push((id, xid));
    }

    fn answer(&mut self, at: usize, grant: u32) {
        let id = self.open.remove(at);
        self.zero_grants = grant == 0;
        self.server.is_quiet = false;
        let data = self.server.data;
        let (endpoint, mut seam, pool) = Self::seam(
            &mut self.server,
            &mut self.fabric,
            self.broken,
            grant == 0,
            false,
        );
        endpoint.set_grant_max(grant);
        let Some(request) = endpoint.request(id) else {
            return;
        };
        let xid = request.header().xid();
        let mut message = Message::new();
        [xid, 1].into_iter().for_each(|word| message.u32(word));
        let place = Place {
            memory: data,
            offset: 0,
            length: ITEM_OCTETS,
        };
        message.item(place).expect("one item");
        endpoint
            .respond(0, &mut seam, pool, id, &mut message)
            .expect("it is open");
    }

    fn poll_client(&mut self) {
        let mut is_down = false;
        let (endpoint, mut seam, pool) =
            Self::seam(&mut self.client, &mut self.fabric, self.broken, false, true);
        while let Some(event) = endpoint.poll(0, &mut seam, pool) {
            match event {
                Event::Replied(id) => {
                    let call = self.calls.iter().position(|call| call.0 == id);
                    let (id, xid) = self.calls.remove(call.expect("a call that waits"));
                    seam.ledger.borrow_mut().note_result(xid);
                    endpoint.release(id, pool);
                    self.replied += 1;
                }
                Event::Failed(..) => self.found = Some("a call failed"),
                Event::Disconnected => is_down = true,
                Event::Call(_) | Event::Released(_) => self.found = Some("a stray event"),
            }
        }
        self.client.is_down |= is_down;
        self.client.is_quiet = true;
    }

    fn poll_server(&mut self) {
        let mut is_down = false;
        let zero_grants = self.zero_grants;
        let (endpoint, mut seam, pool) = Self::seam(
            &mut self.server,
            &mut self.fabric,
            self.broken,
            zero_grants,
            false,
        );
        while let Some(event) = endpoint.poll(0, &mut seam, pool) {
            match event {
                Event::Call(id) => self.open.push(id),
                Event::Disconnected => is_down = true,
                Event::Released(_) => {}
                Event::Replied(_) | Event::Failed(..) => self.found = Some("a stray event"),
            }
        }
        self.server.is_down |= is_down;
        self.server.is_quiet = true;
    }

    /// Every step that changes something.
    pub fn steps(&self, steps: &mut Vec<Step>) {
        steps.clear();
        let mut choices = Vec::new();
        self.fabric.choices(&mut choices);
        steps.extend(choices.into_iter().map(Step::Fabric));
        if !self.client.is_quiet {
            steps.push(Step::Client);
        }
        if !self.server.is_quiet {
            steps.push(Step::Server);
        }
        for at in 0..self.open.len() {
            steps.extend(
                self.bounds
                    .grants
                    .iter()
                    .map(|&grant| Step::Answer(at, grant)),
            );
        }
        let is_open = self.fabric.is_open(self.client.end);
        let is_over = self.replied == self.bounds.calls;
        if is_open && !is_over && self.disconnects < self.bounds.disconnects {
            steps.extend([By::Wire, By::Client, By::Server].map(Step::Disconnect));
        }
        if !is_open && self.client.is_down && self.server.is_down && self.disconnects > 0 {
            steps.push(Step::Connect);
        }
    }

    pub fn take(&mut self, step: Step) {
        match step {
            Step::Fabric(choice) => {
                self.fabric.take(choice);
                // Either end may have something to look at now.
                (self.client.is_quiet, self.server.is_quiet) = (false, false);
            }
            Step::Client => self.poll_client(),
            Step::Server => self.poll_server(),
            Step::Answer(at, grant) => self.answer(at, grant),
            Step::Disconnect(by) => self.disconnect(by),
            Step::Connect => {
                self.fabric.reconnect(self.client.end);
                self.connect();
            }
        }
    }

    fn disconnect(&mut self, by: By) {
        self.disconnects += 1;
        let (side, is_client) = match by {
            By::Wire => (None, false),
            By::Client => (Some(&mut self.client), true),
            By::Server => (Some(&mut self.server), false),
        };
        match side {
            None => Verbs::close(&mut self.fabric.end(self.client.end)),
            Some(side) => {
                let (endpoint, mut seam, _) =
                    Self::seam(side, &mut self.fabric, self.broken, false, is_client);
                endpoint.close(&mut seam);
            }
        }
        (self.client.is_quiet, self.server.is_quiet) = (false, false);
    }

    /// What is wrong with this state.
    pub fn wrong(&self) -> Option<&'static str> {
        let ledgers = [&self.client, &self.server].map(|side| side.ledger.borrow().found);
        let [client, server] = ledgers;
        let counters = [&self.client, &self.server].map(|side| self.fabric.counters(side.host));
        let is_broken = counters.iter().any(|counters| {
            counters.missing_receives + counters.refused_accesses + counters.excess_reads > 0
        });
        let hardware = is_broken.then_some("an end broke the connection");
        self.found.or(client).or(server).or(hardware)
    }

    /// What is wrong with a state in which no step is left.
    pub fn wrong_end(&self) -> Option<&'static str> {
        if self.replied < self.bounds.calls {
            return Some("a deadlock");
        }
        if self.server.endpoint.dones_pending() > 0 {
            return Some("a DONE that never comes");
        }
        for side in [&self.client, &self.server] {
            if self.fabric.valid_stags(side.host) > 0 {
                return Some("a valid STag at the end");
            }
            if side.pool.octets_in_use() > 0 || side.endpoint.calls_waiting() > 0 {
                return Some("a lent buffer or waiting call at the end");
            }
        }
        None
    }

    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.fabric.hash(&mut hasher);
        for side in [&self.client, &self.server] {
            (&side.endpoint, &side.pool, &*side.ledger.borrow()).hash(&mut hasher);
            (side.is_down, side.is_quiet).hash(&mut hasher);
        }
        (&self.open, self.replied, self.disconnects, self.zero_grants).hash(&mut hasher);
        hasher.finish()
    }
}
