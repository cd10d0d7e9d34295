//! A client and a server, each on a device of its own, and a program that moves a pattern.

use rnic_driver::stack::{AddressPrefix, Settings as InterfaceSettings};
use rnic_driver::verbs::endpoint::{Endpoint, EndpointSettings};
use rnic_driver::verbs::Context;
use rnic_rpcrdma::{
    Client, ClientId, ClientSettings, Link, Memories, Served, Server, ServerSettings,
};
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use rpcrdma::binding::{Items, Procedure, Program, ReplyBound};
use rpcrdma::place::Place;
use rpcrdma::stream::{Message, Opaque};
use rpcrdma::{CallId, Offer, RequestId, Settings};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;

const PATTERN_OCTETS: u32 = (1 << 20) + 4_096;
/// Octets of memory for a result, and one more before and behind it.
const RESULT_OCTETS: u32 = (1 << 20) + 2;
const PORT: u16 = 20_049;

pub const NULL: u32 = 0;
/// The pattern's octets at an offset, as an item: answered by their count.
pub const PUT: u32 = 1;
/// Answered by the pattern's octets at an offset, as an item.
pub const GET: u32 = 2;
/// Answered by them inline.
pub const LIST: u32 = 3;

const NUMBER: u32 = 0x2000_0001;
static PROGRAMS: [Program<'static>; 1] = [Program {
    name: "pattern",
    number: NUMBER,
    version: 1,
    procedures: &[
        Procedure::simple(NULL, "NULL", 0),
        Procedure {
            arguments: Items::Last,
            ..Procedure::simple(PUT, "PUT", 4)
        },
        Procedure {
            results: Items::Last,
            reply: ReplyBound {
                octets: 4,
                asked: false,
            },
            ..Procedure::simple(GET, "GET", 4)
        },
        Procedure::listing(LIST, "LIST", 4),
    ],
}];

/// Octets of the pattern.
pub fn pattern(offset: u32, length: u32) -> Vec<u8> {
    let octet = |at: u32| (at.wrapping_mul(0x9e37_79b9) >> 23) as u8 ^ at as u8;
    (offset..offset + length).map(octet).collect()
}

/// A device with an interface, and memory with the pattern.
struct Host {
    endpoint: Endpoint,
    memories: Arc<Memories>,
    pattern: Place,
    context: Context,
}

impl Host {
    fn new(number: u8, link: &str) -> Self {
        rnic_device::provide_simulator();
        let config = Endpoint::device_config();
        let context = Context::open(&format!("sim:model,{link}"), config).expect("it opens");
        let settings = EndpointSettings::new(InterfaceSettings {
            mac: [2, 0, 0, 0, 0, number],
            addresses: vec![AddressPrefix {
                address: [192, 0, 2, number].into(),
                bits: 24,
            }],
            gateways: Vec::new(),
            vlan: None,
            mtu_octets: 1500,
        });
        let endpoint = Endpoint::start(&context, &settings).expect("it starts");
        let domain = context.protection_domain().expect("the first");
        let memories = Arc::new(Memories::new(&context, domain));
        let place = memories.allocate(PATTERN_OCTETS).expect("there is room");
        let octets = pattern(0, PATTERN_OCTETS);
        memories.store(place, &octets).expect("inside");
        Self {
            endpoint,
            memories,
            pattern: place,
            context,
        }
    }
}

/// What a call asks for, and where its result goes.
struct Asked {
    procedure: u32,
    offset: u32,
    length: u32,
    result: Place,
}

/// Both ends; the server on a thread.
pub struct World {
    pub client: Client<'static>,
    pub pattern: Place,
    /// Calls of GET offer memory for the result.
    pub offers_results: bool,
    /// Memory of results is filled before a call, and replies are looked at.
    pub checks: bool,
    settings: ClientSettings,
    _context: Context,
    endpoint: &'static Endpoint,
    asked: HashMap<CallId, Asked>,
    results: Vec<Place>,
    ends: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl World {
    pub fn new(client: Settings, server: Settings) -> Self {
        Self::with(client, server, true)
    }

    /// With RFC 8797's private data or without.
    pub fn with(client: Settings, server: Settings, private_data: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let wire = folder.path().join("wire");
        let wire = wire.to_str().expect("a path of letters");
        let at_server = Host::new(2, &format!("unix:{wire}"));
        let host = Host::new(1, &format!("unix-connect:{wire}"));
        let ends = Arc::new(AtomicBool::new(false));
        let is_ending = Arc::clone(&ends);
        let (listening, is_listening) = std::sync::mpsc::channel();
        let serving = thread::spawn(move || {
            let settings = ServerSettings {
                rpc: server,
                clients_max: 2,
                ..ServerSettings::default()
            };
            let own = SocketAddr::from(([192, 0, 2, 2], PORT));
            let Host {
                endpoint,
                memories,
                pattern,
                ..
            } = &at_server;
            let served = Server::listen(endpoint, memories, own, &PROGRAMS, settings);
            listening.send(()).expect("it waits");
            serve(served.expect("it listens"), memories, *pattern, &is_ending);
        });
        is_listening.recv().expect("the server runs");
        let settings = ClientSettings {
            rpc: client,
            private_data,
            patience: Duration::from_secs(30),
            ..ClientSettings::default()
        };
        // The client borrows it, and ends with the test's process.
        let endpoint: &'static Endpoint = Box::leak(Box::new(host.endpoint));
        let client = connect(endpoint, &host.memories, settings);
        Self {
            client,
            pattern: host.pattern,
            offers_results: true,
            checks: true,
            settings,
            _context: host.context,
            endpoint,
            asked: HashMap::new(),
            results: Vec::new(),
            ends,
            server: Some(serving),
            _folder: folder,
        }
    }

    /// Make a call.
    pub fn submit(&mut self, procedure: u32, offset: u32, length: u32) -> CallId {
        let memories = Arc::clone(self.client.memories());
        let mut message = Message::new();
        let header = CallHeader {
            xid: self.client.next_xid(),
            program: NUMBER,
            version: 1,
            procedure,
            credential: Credential::None,
        };
        header.write(&mut message).expect("short");
        if procedure != NULL {
            message.u32(offset);
            message.u32(length);
        }
        if procedure == PUT {
            let place = Place {
                offset: offset.into(),
                length,
                ..self.pattern
            };
            message.item(place).expect("one item");
        }
        let free = self.results.pop();
        let new = || memories.allocate(RESULT_OCTETS).expect("there is room");
        let result = free.unwrap_or_else(new);
        if self.checks {
            let octets = vec![0xee; length as usize + 2];
            memories.store(result, &octets).expect("inside");
        }
        let offered = result.part(1, length).expect("inside");
        let is_offered = procedure == GET && length > 0 && self.offers_results;
        let results: &[Place] = match is_offered {
            true => &[offered],
            false => &[],
        };
        let octets = match (procedure, is_offered) {
            (LIST, _) => 4 + length.next_multiple_of(4),
            _ => 4,
        };
        let offer = Offer {
            results,
            reply_octets_max: REPLY_HEADER_OCTETS + octets,
        };
        let call = self.client.submit(&mut message, offer).expect("room");
        let asked = Asked {
            procedure,
            offset,
            length,
            result,
        };
        self.asked.insert(call, asked);
        call
    }

    /// Wait for a call, and look at its reply.
    pub fn finish(&mut self, call: CallId) {
        self.client.wait(call).expect("a reply");
        let asked = self.asked.remove(&call).expect("it was made");
        if self.checks {
            self.check(call, &asked);
        }
        self.client.release(call);
        self.results.push(asked.result);
    }

    fn check(&self, call: CallId, asked: &Asked) {
        let memories = self.client.memories();
        let reply = self.client.reply(call).expect("it was waited for");
        let mut reader = reply.reader();
        let header = ReplyHeader::read(&mut reader).expect("a reply");
        assert_eq!(header.status, ReplyStatus::Success);
        let expected = pattern(asked.offset, asked.length);
        match asked.procedure {
            NULL => {}
            PUT => assert_eq!(reader.u32().expect("a count"), asked.length),
            LIST => assert!(reader.inline_opaque(u32::MAX).expect("octets") == expected),
            _ => match reader.opaque(u32::MAX).expect("the item") {
                Opaque::Inline { octets, .. } => assert!(octets == expected),
                Opaque::Chunk(at) => {
                    let mut octets = vec![0; at.length as usize];
                    memories.load(at, &mut octets).expect("inside");
                    assert!(octets == expected, "{} {}", asked.offset, asked.length);
                    // Not an octet beside it.
                    let behind = asked.result.part(1 + asked.length, 1).expect("inside");
                    let mut octet = [0];
                    memories.load(behind, &mut octet).expect("inside");
                    assert_eq!(octet, [0xee]);
                }
            },
        }
        reader.finish().expect("nothing else");
    }

    pub fn call(&mut self, procedure: u32, offset: u32, length: u32) {
        let call = self.submit(procedure, offset, length);
        self.finish(call);
    }

    /// The connection breaks.
    pub fn cut(&mut self) {
        let aborted = self.link().pair().abort();
        aborted.expect("it is open");
    }

    pub fn link(&mut self) -> &mut Link {
        self.client.link_mut().expect("it is connected")
    }

    /// The client closes, and another one connects.
    pub fn next_client(&mut self) {
        let memories = Arc::clone(self.client.memories());
        let next = connect(self.endpoint, &memories, self.settings);
        std::mem::replace(&mut self.client, next).close();
    }

    /// Both ends end.
    pub fn end(mut self) {
        assert_eq!(self.client.machine().calls_waiting(), 0);
        self.ends.store(true, Ordering::Release);
        let server = self.server.take().expect("once");
        self.client.close();
        server.join().expect("the server has not failed");
    }
}

fn connect(
    endpoint: &'static Endpoint,
    memories: &Arc<Memories>,
    settings: ClientSettings,
) -> Client<'static> {
    let peer = SocketAddr::from(([192, 0, 2, 2], PORT));
    Client::connect(endpoint, memories, peer, settings).expect("it connects")
}

/// Answer calls until the end, when no client may be left with anything.
fn serve(mut server: Server, memories: &Memories, place: Place, ends: &AtomicBool) {
    let expected = pattern(0, PATTERN_OCTETS);
    loop {
        match server.poll().expect("the device is there") {
            Some(Served::Call(client, call)) => {
                answer(&mut server, memories, (place, &expected), client, call);
            }
            Some(_) => {}
            None if ends.load(Ordering::Acquire) && server.connected() == 0 => break,
            None => server.wait(Duration::from_millis(20)).expect("it waits"),
        }
    }
    assert_eq!(server.pool().octets_in_use(), 0);
}

fn answer(
    server: &mut Server,
    memories: &Memories,
    (place, expected): (Place, &[u8]),
    client: ClientId,
    call: RequestId,
) {
    let mut message = Message::new();
    {
        let request = server.request(client, call).expect("it is open");
        let mut reader = request.reader();
        let header = CallHeader::read(&mut reader).expect("a call");
        let status = ReplyStatus::Success;
        let xid = header.xid;
        ReplyHeader { xid, status }.write(&mut message);
        if header.procedure != NULL {
            let (offset, length) = (reader.u32().expect("one"), reader.u32().expect("one"));
            let at = Place {
                offset: offset.into(),
                length,
                ..place
            };
            match header.procedure {
                GET => message.item(at).expect("one item"),
                LIST => {
                    let octets = &expected[offset as usize..][..length as usize];
                    message.opaque(octets).expect("short");
                }
                _ => {
                    let octets = match reader.opaque(PATTERN_OCTETS).expect("the item") {
                        Opaque::Inline { octets, .. } => octets.to_vec(),
                        Opaque::Chunk(at) => {
                            let mut octets = vec![0; at.length as usize];
                            memories.load(at, &mut octets).expect("inside");
                            octets
                        }
                    };
                    let same = octets == expected[offset as usize..][..length as usize];
                    assert!(same, "PUT {offset} {length}");
                    message.u32(octets.len() as u32);
                }
            }
        }
        reader.finish().expect("nothing else");
    }
    server.respond(client, call, &mut message);
}
