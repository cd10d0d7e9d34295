//! A client and a server over the fabric, and a program that moves octets both ways.
//!
//! Both hosts hold the same pattern in memory: what a call names by offset and length can be
//! checked wherever it arrives.
mod program;

pub use program::{
    pattern, GET, LIST, LONG_LIST, LONG_PUT, NULL, PAIR, PARTS, PATTERN_OCTETS, PROGRAMS, PUT, TEST,
};

use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use rpcrdma::binding::Program;
use rpcrdma::fabric::{EndId, Fabric, HostId};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::private_data::PrivateData;
use rpcrdma::stream::{Message, Opaque};
use rpcrdma::verbs::{Memory, Verbs};
use rpcrdma::{CallId, Endpoint, Event, Offer, Pool, RequestId, Settings};

/// Octets of a pool.
const POOL_OCTETS: u32 = 16 << 20;
/// Places for results, so many.
pub const AREAS: u32 = 16;
const AREA_OCTETS: u32 = PATTERN_OCTETS + 4_096;

/// What a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub procedure: u32,
    pub offset: u32,
    pub length: u32,
    /// Where its result goes, one of [`AREAS`].
    pub area: u32,
}

pub fn ask(procedure: u32, offset: u32, length: u32) -> Ask {
    Ask {
        procedure,
        offset,
        length,
        area: 0,
    }
}

/// Append the header of a call, and what it asks for.
pub fn write_call(message: &mut Message, xid: u32, ask: Ask, source: MemoryId) {
    let credential = Credential::None;
    let Program {
        number: program,
        version,
        ..
    } = TEST;
    let header = CallHeader {
        xid,
        program,
        version,
        procedure: ask.procedure,
        credential,
    };
    header.write(message).expect("a short credential");
    if ask.procedure == NULL {
        return;
    }
    message.u32(ask.offset);
    message.u32(ask.length);
    let place = Place {
        memory: source,
        offset: u64::from(ask.offset),
        length: ask.length,
    };
    if matches!(ask.procedure, LONG_PUT | LONG_LIST) {
        message
            .opaque(&pattern(ask.offset, ask.length))
            .expect("short");
    }
    for further in items(ask.procedure) {
        let offset = place.offset + u64::from(further);
        message.item(Place { offset, ..place }).expect("few items");
    }
}

/// How far from the offset of a call each of its items begins.
fn items(procedure: u32) -> std::ops::Range<u32> {
    match procedure {
        PUT | LONG_PUT => 0..1,
        PARTS => 0..3,
        _ => 0..0,
    }
}

/// One end with its host, its pattern and its pool.
pub struct Side {
    pub host: HostId,
    pub end: EndId,
    pub pattern: MemoryId,
    pub results: MemoryId,
    pub pool: Pool,
    pub endpoint: Endpoint,
}

pub struct World {
    pub fabric: Fabric,
    pub now: u64,
    pub client: Side,
    pub server: Side,
    pub message: Message,
    pub scratch: Vec<u8>,
    pub pattern: Vec<u8>,
    /// Steps of the fabric by its seed, or all in order.
    pub is_stepped: bool,
    /// Events other than calls, in order.
    pub told: Vec<Event>,
    pub peer_data: [Option<PrivateData>; 2],
    /// Calls that the server has and does not answer yet.
    pub open: Vec<RequestId>,
    pub answers: bool,
    /// Long replies are offered a reply chunk.
    pub offers_reply: bool,
}

fn side(
    fabric: &mut Fabric,
    host: HostId,
    end: EndId,
    settings: Settings,
    is_client: bool,
) -> Side {
    let transport = fabric.allocate(host, settings.transport_octets());
    let memory = fabric.allocate(host, PATTERN_OCTETS as usize);
    let results = fabric.allocate(host, (AREAS * AREA_OCTETS) as usize);
    let at = Place {
        memory,
        offset: 0,
        length: PATTERN_OCTETS,
    };
    fabric
        .memory(host)
        .store(at, &pattern(0, PATTERN_OCTETS))
        .expect("inside");
    let pool = fabric.allocate(host, POOL_OCTETS as usize);
    let pool = Place {
        memory: pool,
        offset: 0,
        length: POOL_OCTETS,
    };
    let length = settings.transport_octets() as u32;
    let transport = Place {
        memory: transport,
        offset: 0,
        length,
    };
    let endpoint = match is_client {
        true => Endpoint::client(settings, transport),
        false => Endpoint::server(settings, transport, &PROGRAMS),
    };
    Side {
        host,
        end,
        pattern: memory,
        results,
        pool: Pool::new(pool, POOL_OCTETS),
        endpoint,
    }
}

impl World {
    pub fn new(fabric: rpcrdma::fabric::Settings, client: Settings, server: Settings) -> Self {
        let mut fabric = Fabric::new(fabric);
        let hosts = [fabric.host(), fabric.host()];
        let ends = fabric.connect(hosts[0], hosts[1]);
        let peer_data = [Some(client.private_data()), Some(server.private_data())];
        Self {
            now: 0,
            client: side(&mut fabric, hosts[0], ends.0, client, true),
            server: side(&mut fabric, hosts[1], ends.1, server, false),
            fabric,
            message: Message::new(),
            scratch: Vec::new(),
            pattern: pattern(0, PATTERN_OCTETS),
            is_stepped: false,
            told: Vec::new(),
            peer_data,
            open: Vec::new(),
            answers: true,
            offers_reply: true,
        }
    }

    pub fn default() -> Self {
        let mut world = Self::new(Default::default(), Settings::default(), Settings::default());
        world.connect();
        world
    }

    /// Both ends begin on the connection as it is.
    pub fn connect(&mut self) {
        let [client, server] = self.peer_data;
        let (now, fabric) = (self.now, &mut self.fabric);
        let Side {
            endpoint,
            end,
            pool,
            ..
        } = &mut self.server;
        endpoint.connected(now, &mut fabric.end(*end), pool, client);
        let Side {
            endpoint,
            end,
            pool,
            ..
        } = &mut self.client;
        endpoint.connected(now, &mut fabric.end(*end), pool, server);
    }

    /// Where the result of an ask goes.
    pub fn result(&self, ask: Ask) -> Place {
        let offset = u64::from(ask.area * AREA_OCTETS + ask.offset % 4_096);
        Place {
            memory: self.client.results,
            offset,
            length: ask.length,
        }
    }

    pub fn submit(&mut self, ask: Ask) -> Result<CallId, rpcrdma::SubmitError> {
        self.submit_with(ask, true)
    }

    pub fn submit_with(
        &mut self,
        ask: Ask,
        has_result: bool,
    ) -> Result<CallId, rpcrdma::SubmitError> {
        let xid = self.client.endpoint.next_xid();
        self.message.clear();
        write_call(&mut self.message, xid, ask, self.client.pattern);
        let result = [self.result(ask)];
        let has_result = has_result && ask.procedure == GET && ask.length > 0;
        let results: &[Place] = match has_result {
            true => &result,
            false => &[],
        };
        if has_result {
            self.scratch.clear();
            self.scratch.resize(ask.length as usize, 0xee);
            self.fabric
                .memory(self.client.host)
                .store(result[0], &self.scratch)
                .expect("inside");
        }
        let octets = match ask.procedure {
            NULL => 0,
            GET if has_result => 4,
            GET | LIST | LONG_LIST => 4 + ask.length.next_multiple_of(4),
            _ => 4,
        };
        let octets = if self.offers_reply { octets } else { 4 };
        let reply_octets_max = REPLY_HEADER_OCTETS + octets;
        self.client.endpoint.submit(
            &mut self.message,
            Offer {
                results,
                reply_octets_max,
            },
        )
    }

    /// A GET that offers both a result and a reply chunk.
    pub fn submit_list_and_result(&mut self) -> CallId {
        let asked = ask(GET, 0, 9_000);
        let xid = self.client.endpoint.next_xid();
        self.message.clear();
        write_call(&mut self.message, xid, asked, self.client.pattern);
        let results = [self.result(asked)];
        let offer = Offer {
            results: &results,
            reply_octets_max: 20_000,
        };
        self.client
            .endpoint
            .submit(&mut self.message, offer)
            .expect("room")
    }

    /// The program's answer to a call.
    pub fn answer(&mut self, id: RequestId) {
        let Self {
            fabric,
            server,
            message,
            scratch,
            now,
            pattern,
            ..
        } = self;
        let expected = |offset: u32, length: u32| &pattern[offset as usize..][..length as usize];
        let Some(request) = server.endpoint.request(id) else {
            return;
        };
        let mut reader = request.reader();
        let call = CallHeader::read(&mut reader).expect("a right call");
        message.clear();
        let is_here = call.program == TEST.number;
        let status = match is_here {
            true => ReplyStatus::Success,
            false => ReplyStatus::ProgramUnavailable,
        };
        let xid = call.xid;
        ReplyHeader { xid, status }.write(message);
        if is_here && call.procedure != NULL {
            let (offset, length) = (reader.u32().expect("offset"), reader.u32().expect("length"));
            let place = Place {
                memory: server.pattern,
                offset: u64::from(offset),
                length,
            };
            match call.procedure {
                GET => message.item(place).expect("one item"),
                PAIR => {
                    message.item(place).expect("two items");
                    message.item(place.first(length / 2)).expect("two items");
                }
                LIST => message.opaque(expected(offset, length)).expect("short"),
                LONG_LIST => {
                    let inline = reader.inline_opaque(u32::MAX).expect("the inline octets");
                    assert!(inline == expected(offset, length));
                    message.opaque(expected(offset, length)).expect("short");
                }
                _ => {
                    if call.procedure == LONG_PUT {
                        let inline = reader.inline_opaque(u32::MAX).expect("the inline octets");
                        assert!(inline == expected(offset, length));
                    }
                    for further in items(call.procedure) {
                        let item = reader.opaque(PATTERN_OCTETS).expect("the item");
                        scratch.resize(length as usize, 0);
                        match item {
                            Opaque::Inline { octets, .. } => scratch.copy_from_slice(octets),
                            Opaque::Chunk(at) => {
                                let memory = fabric.memory(server.host);
                                memory.load(at, scratch).expect("inside");
                            }
                        }
                        let expected = expected(offset + further, length);
                        assert!(*scratch == expected, "PUT {offset} {length} {further}");
                    }
                    message.u32(length);
                }
            }
        }
        let finished = reader.finish();
        assert!(!is_here || finished.is_ok(), "{finished:?}");
        let mut end = fabric.end(server.end);
        let replied = server
            .endpoint
            .respond(*now, &mut end, &mut server.pool, id, message);
        replied.expect("it is open");
    }

    /// Check the reply of a call that was reported, and release it.
    pub fn check(&mut self, call: CallId, ask: Ask) {
        let Self {
            fabric,
            client,
            scratch,
            pattern,
            ..
        } = self;
        let reply = client.endpoint.reply(call).expect("a reply");
        let mut reader = reply.reader();
        let header = ReplyHeader::read(&mut reader).expect("a right reply");
        assert_eq!(header.status, ReplyStatus::Success);
        let expected = || &pattern[ask.offset as usize..][..ask.length as usize];
        match ask.procedure {
            NULL => {}
            LIST | LONG_LIST => {
                assert!(reader.inline_opaque(u32::MAX).expect("octets") == expected());
            }
            GET => {
                scratch.resize(ask.length as usize, 0);
                match reader.opaque(u32::MAX).expect("the item") {
                    Opaque::Inline { octets, .. } => scratch.copy_from_slice(octets),
                    Opaque::Chunk(at) => {
                        assert_eq!(at.length, ask.length);
                        fabric
                            .memory(client.host)
                            .load(at, scratch)
                            .expect("inside");
                    }
                }
                assert!(*scratch == expected(), "{ask:?}");
            }
            _ => assert_eq!(reader.u32().expect("a count"), ask.length),
        }
        reader.finish().expect("nothing else");
        client.endpoint.release(call, &mut client.pool);
    }

    /// All events of both ends, until neither has one.
    pub fn poll(&mut self) -> bool {
        let mut any = false;
        loop {
            let Side {
                endpoint,
                end,
                pool,
                ..
            } = &mut self.client;
            if let Some(event) = endpoint.poll(self.now, &mut self.fabric.end(*end), pool) {
                self.told.push(event);
                any = true;
                continue;
            }
            let Side {
                endpoint,
                end,
                pool,
                ..
            } = &mut self.server;
            match endpoint.poll(self.now, &mut self.fabric.end(*end), pool) {
                Some(Event::Call(id)) if self.answers => self.answer(id),
                Some(Event::Call(id)) => self.open.push(id),
                Some(event) => self.told.push(event),
                None => return any,
            }
            any = true;
        }
    }

    /// Until nothing happens any more.
    pub fn run(&mut self) {
        loop {
            let mut any = self.poll();
            if self.is_stepped {
                any |= self.fabric.step();
            } else {
                let mut choices = Vec::new();
                self.fabric.choices(&mut choices);
                any |= !choices.is_empty();
                self.fabric.run();
            }
            if !any {
                return;
            }
        }
    }

    /// One call from end to end.
    pub fn call(&mut self, ask: Ask) {
        let call = self.submit(ask).expect("room");
        self.told.clear();
        self.run();
        assert!(
            self.told.contains(&Event::Replied(call)),
            "{ask:?} {:?}",
            self.told
        );
        self.check(call, ask);
    }

    /// A broken connection is made again, and both ends learn all that happened.
    pub fn reconnect(&mut self) {
        let mut end = self.fabric.end(self.client.end);
        end.close();
        self.poll();
        self.now = self.now.max(self.client.endpoint.reconnect_at());
        self.fabric.reconnect(self.client.end);
        self.connect();
    }

    /// Nothing is exposed, lent or waited for.
    pub fn assert_clean(&self) {
        for side in [&self.client, &self.server] {
            assert_eq!(self.fabric.valid_stags(side.host), 0, "valid STags");
            assert_eq!(side.pool.octets_in_use(), 0, "lent buffers");
            assert_eq!(side.endpoint.calls_waiting(), 0, "waiting calls");
        }
    }
}
