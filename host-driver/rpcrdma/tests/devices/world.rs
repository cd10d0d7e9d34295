//! A client and a server, each on a device of its own.

use crate::program::{
    pattern, CALL_BACK, GET, LIST, NULL, PATTERN_OCTETS, PROGRAMS, PUT, REFUSED, TELL, TEST,
};
use crate::serving::{serve, Served};
use rnic_driver::stack::{AddressPrefix, Settings as InterfaceSettings};
use rnic_driver::verbs::endpoint::{Endpoint, EndpointSettings};
use rnic_driver::verbs::Context;
use rnic_driver::Accesses;
use rnic_rpcrdma::{Client, ClientSettings, Link, Memories, RpcError, Server, ServerSettings};
use rnic_tcp::settings::TimeOut;
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use rpcrdma::place::Place;
use rpcrdma::stream::{Message, Opaque};
use rpcrdma::verbs::Verbs;
use rpcrdma::wire::Refused;
use rpcrdma::{CallId, Failure, Offer, Settings};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;

/// Octets of memory for a result, and one more before and after it.
const RESULT_OCTETS: u32 = (1 << 20) + 2;
const PORT: u16 = 20_049;
const KEEPALIVE_US: u64 = 1_000_000;

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
        let mut settings = EndpointSettings::new(InterfaceSettings::new(
            [2, 0, 0, 0, 0, number],
            vec![AddressPrefix {
                address: [192, 0, 2, number].into(),
                bits: 24,
            }],
        ));
        // An RST may be lost, and a server that has nothing to send would never miss its client.
        let time_outs = &mut settings.tcp.time_outs;
        let set = time_outs.set(TimeOut::KeepaliveIdle, KEEPALIVE_US);
        set.expect("a second");
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
    /// Calls of LIST tell how long their replies get, so that a reply chunk is offered.
    pub offers_replies: bool,
    /// Memory of results is filled before a call, and replies are checked.
    pub checks: bool,
    settings: ClientSettings,
    /// Of the client and of the server.
    devices: [Context; 2],
    endpoint: &'static Endpoint,
    asked: HashMap<CallId, Asked>,
    results: Vec<Place>,
    ends: Arc<AtomicBool>,
    server: Option<JoinHandle<Served>>,
    _folder: Option<TempDir>,
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
        let links = [format!("unix-connect:{wire}"), format!("unix:{wire}")];
        let client = ClientSettings {
            rpc: client,
            private_data,
            ..ClientSettings::default()
        };
        let server = ServerSettings {
            rpc: server,
            ..ServerSettings::default()
        };
        let world = Self::over(&links, client, server);
        Self {
            _folder: Some(folder),
            ..world
        }
    }

    /// Over the links of the client's device and of the server's.
    pub fn over(links: &[String; 2], client: ClientSettings, server: ServerSettings) -> Self {
        let at_server = Host::new(2, &links[1]);
        let host = Host::new(1, &links[0]);
        let devices = [&host, &at_server].map(|host| host.context.clone());
        let ends = Arc::new(AtomicBool::new(false));
        let is_ending = Arc::clone(&ends);
        let (listening, is_listening) = std::sync::mpsc::channel();
        let serving = thread::spawn(move || {
            let settings = ServerSettings {
                clients_max: 2,
                ..server
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
            serve(served.expect("it listens"), memories, *pattern, &is_ending)
        });
        is_listening.recv().expect("the server runs");
        let settings = ClientSettings {
            patience: Duration::from_secs(30),
            ..client
        };
        // The client borrows it, and ends with the test's process.
        let endpoint: &'static Endpoint = Box::leak(Box::new(host.endpoint));
        let client = connect(endpoint, &host.memories, settings);
        Self {
            client,
            pattern: host.pattern,
            offers_results: true,
            offers_replies: true,
            checks: true,
            settings,
            devices,
            endpoint,
            asked: HashMap::new(),
            results: Vec::new(),
            ends,
            server: Some(serving),
            _folder: None,
        }
    }

    /// Make a call.
    pub fn submit(&mut self, procedure: u32, offset: u32, length: u32) -> CallId {
        let memories = Arc::clone(self.client.memories());
        let mut message = Message::new();
        let header = CallHeader {
            xid: self.client.next_xid(),
            program: TEST.number,
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
        if procedure == TELL {
            let octets = message.opaque(&pattern(offset, length));
            octets.expect("one megabyte");
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
            (LIST, _) if self.offers_replies => 4 + length.next_multiple_of(4),
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

    /// Send words as they are: a message of nobody's.
    pub fn send_words(&mut self, words: &[u32]) {
        let octets: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let memories = Arc::clone(self.client.memories());
        let place = memories.allocate(octets.len() as u32);
        let place = place.expect("there is room");
        memories.store(place, &octets).expect("inside");
        // Of a receive, which no Send of the machine's has.
        self.link().send(0, &[place], None).expect("it is open");
    }

    /// Wait for a call that fails.
    pub fn fail(&mut self, call: CallId) -> Failure {
        let asked = self.asked.remove(&call).expect("it was made");
        self.results.push(asked.result);
        match self.client.wait(call) {
            Err(RpcError::Call { failure, .. }) => failure,
            other => panic!("not a failure: {other:?}"),
        }
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
            CALL_BACK if asked.length == 0 => assert_eq!(reader.u32(), Ok(REFUSED)),
            PUT | TELL | CALL_BACK => assert_eq!(reader.u32().expect("a count"), asked.length),
            LIST => assert!(reader.inline_opaque(u32::MAX).expect("octets") == expected),
            _ => match reader.opaque(u32::MAX).expect("the item") {
                Opaque::Inline { octets, .. } => assert!(octets == expected),
                Opaque::Chunk(at) => {
                    let mut octets = vec![0; at.length as usize];
                    memories.load(at, &mut octets).expect("inside");
                    assert!(octets == expected, "{} {}", asked.offset, asked.length);
                    // Not an octet beside it.
                    let after = asked.result.part(1 + asked.length, 1).expect("inside");
                    let mut octet = [0];
                    memories.load(after, &mut octet).expect("inside");
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

    /// Answer the next reverse call by what it has, which is to be these octets of the pattern;
    /// refuse it if there are none.
    pub fn answer_back(&mut self, offset: u32, length: u32) {
        let patience = Duration::from_secs(30);
        let call = self.client.next_request(patience).expect("it waits");
        let call = call.expect("a reverse call");
        if length == 0 {
            return self.client.refuse(call, Refused::ShortBody);
        }
        let mut message = Message::new();
        let request = self.client.request(call).expect("it is open");
        let mut reader = request.reader();
        let xid = CallHeader::read(&mut reader).expect("a call").xid;
        let octets = reader.inline_opaque(u32::MAX).expect("octets");
        assert!(octets == pattern(offset, length));
        reader.finish().expect("nothing else");
        let status = ReplyStatus::Success;
        ReplyHeader { xid, status }.write(&mut message);
        message.opaque(octets).expect("short");
        self.client.respond(call, &mut message);
    }

    /// The reverse calls of a connection that has ended are over without their answers.
    pub fn leave_back(&mut self) {
        let next = |client: &mut Client<'_>| client.next_request(Duration::ZERO);
        while let Some(call) = next(&mut self.client).expect("it does not wait") {
            self.client.refuse(call, Refused::ShortBody);
        }
    }

    /// The connection breaks.
    pub fn cut(&mut self) {
        let aborted = self.link().pair().abort();
        aborted.expect("it is open");
    }

    /// Register accesses of the client and of the server.
    pub fn accesses(&self) -> [Accesses; 2] {
        self.devices.each_ref().map(Context::accesses)
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

    /// Both ends end: what the server has counted and logged.
    pub fn end(mut self) -> Served {
        assert_eq!(self.client.machine().calls_waiting(), 0);
        self.ends.store(true, Ordering::Release);
        let server = self.server.take().expect("once");
        self.client.close();
        server.join().expect("the server has not failed")
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
