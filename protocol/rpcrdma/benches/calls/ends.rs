//! A client and a server that look at as little as they must.
use crate::harness::{self, pattern, PROGRAMS, TEST};
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use rpcrdma::fabric::{EndId, Fabric, HostId};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::stream::{Message, Opaque};
use rpcrdma::verbs::Memory;
use rpcrdma::{Endpoint, Event, Offer, Pool, RequestId, Settings};

/// The longest payload.
const PAYLOAD_OCTETS: u32 = 1 << 20;
const POOL_OCTETS: u32 = 8 << 20;

/// What a call is of: octets of its arguments and results beside the payload.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// As NFSv3's NULL.
    Null,
    /// As GETATTR: a handle of 32 octets, attributes of 84.
    Getattr,
    /// As READ: the payload is a result.
    Read(u32),
    /// As WRITE: the payload is an argument.
    Write(u32),
}

struct Side {
    host: HostId,
    end: EndId,
    data: MemoryId,
    pool: Pool,
    endpoint: Endpoint,
}

impl Side {
    fn new(fabric: &mut Fabric, host: HostId, end: EndId, is_client: bool) -> Self {
        let settings = Settings::default();
        let octets = settings.transport_octets();
        let all = |memory: MemoryId, length: u32| Place {
            memory,
            offset: 0,
            length,
        };
        let transport = all(fabric.allocate(host, octets), octets as u32);
        let endpoint = match is_client {
            true => Endpoint::client(settings, transport),
            false => Endpoint::server(settings, transport, &PROGRAMS),
        };
        let data = fabric.allocate(host, PAYLOAD_OCTETS as usize);
        let octets = pattern(0, PAYLOAD_OCTETS);
        fabric
            .memory(host)
            .store(all(data, PAYLOAD_OCTETS), &octets)
            .expect("inside");
        let pool = all(fabric.allocate(host, POOL_OCTETS as usize), POOL_OCTETS);
        Self {
            host,
            end,
            data,
            pool: Pool::new(pool, POOL_OCTETS),
            endpoint,
        }
    }

    fn poll(&mut self, fabric: &mut Fabric) -> Option<Event> {
        self.endpoint
            .poll(0, &mut fabric.end(self.end), &mut self.pool)
    }
}

/// Both ends of one connection.
pub struct Bench {
    fabric: Fabric,
    client: Side,
    server: Side,
    message: Message,
}

impl Bench {
    pub fn new(moves_payload: bool) -> Self {
        let settings = rpcrdma::fabric::Settings {
            moves_payload,
            ..Default::default()
        };
        let mut fabric = Fabric::new(settings);
        let hosts = [fabric.host(), fabric.host()];
        let ends = fabric.connect(hosts[0], hosts[1]);
        let mut client = Side::new(&mut fabric, hosts[0], ends.0, true);
        let mut server = Side::new(&mut fabric, hosts[1], ends.1, false);
        let data = Some(Settings::default().private_data());
        for side in [&mut server, &mut client] {
            side.endpoint
                .connected(0, &mut fabric.end(side.end), &mut side.pool, data);
        }
        Self {
            fabric,
            client,
            server,
            message: Message::new(),
        }
    }

    fn submit(&mut self, kind: Kind) {
        let Self {
            client, message, ..
        } = self;
        let header = CallHeader {
            xid: client.endpoint.next_xid(),
            program: TEST.number,
            version: TEST.version,
            procedure: match kind {
                Kind::Null | Kind::Getattr => harness::NULL,
                Kind::Read(_) => harness::GET,
                Kind::Write(_) => harness::PUT,
            },
            credential: Credential::None,
        };
        header.write(message).expect("a short credential");
        let place = |length: u32| Place {
            memory: client.data,
            offset: 0,
            length,
        };
        let mut result = [place(0)];
        let mut results: &[Place] = &[];
        if !matches!(kind, Kind::Null) {
            message.opaque(&[7; 32]).expect("a handle");
        }
        let octets = match kind {
            Kind::Null => 0,
            Kind::Getattr => 84,
            Kind::Read(octets) => {
                result[0].length = octets;
                results = &result;
                104
            }
            Kind::Write(octets) => {
                message.item(place(octets)).expect("one item");
                160
            }
        };
        let reply_octets_max = REPLY_HEADER_OCTETS + octets;
        let submitted = client.endpoint.submit(
            message,
            Offer {
                results,
                reply_octets_max,
            },
        );
        submitted.expect("the last call is over");
    }

    fn answer(&mut self, id: RequestId, kind: Kind) {
        let Self {
            fabric,
            server,
            message,
            ..
        } = self;
        let request = server.endpoint.request(id).expect("it is open");
        let mut reader = request.reader();
        let call = CallHeader::read(&mut reader).expect("a right call");
        let status = ReplyStatus::Success;
        ReplyHeader {
            xid: call.xid,
            status,
        }
        .write(message);
        match kind {
            Kind::Null => {}
            Kind::Getattr => message.fixed(&[1; 84]),
            Kind::Read(octets) => {
                message.fixed(&[1; 100]);
                let place = Place {
                    memory: server.data,
                    offset: 0,
                    length: octets,
                };
                message.item(place).expect("one item");
            }
            Kind::Write(octets) => {
                reader.inline_opaque(64).expect("a handle");
                let item = reader.opaque(PAYLOAD_OCTETS).expect("the payload");
                assert!(matches!(item, Opaque::Chunk(at) if at.length == octets));
                message.fixed(&[1; 160]);
            }
        }
        let mut end = fabric.end(server.end);
        let replied = server
            .endpoint
            .respond(0, &mut end, &mut server.pool, id, message);
        replied.expect("it is open");
    }

    /// One call, from its submission to its release.
    pub fn call(&mut self, kind: Kind) {
        self.submit(kind);
        loop {
            match self.client.poll(&mut self.fabric) {
                Some(Event::Replied(call)) => {
                    let reply = self.client.endpoint.reply(call).expect("a reply");
                    let header = ReplyHeader::read(&mut reply.reader()).expect("a right reply");
                    assert_eq!(header.status, ReplyStatus::Success);
                    self.client.endpoint.release(call, &mut self.client.pool);
                    return;
                }
                Some(event) => panic!("{event:?}"),
                None => {}
            }
            self.fabric.run();
            while let Some(event) = self.server.poll(&mut self.fabric) {
                if let Event::Call(id) = event {
                    self.answer(id, kind);
                }
            }
            self.fabric.run();
        }
    }

    /// Payload octets that software has copied, and chunks exposed and revoked, at both ends: each
    /// is an operation on a table of STags. What the peer invalidates is none.
    pub fn counts(&self) -> (u64, u64) {
        let sides = [&self.client, &self.server];
        let copied = sides.map(|side| side.endpoint.counters().copied_octets);
        let tables = sides.map(|side| {
            let counters = self.fabric.counters(side.host);
            counters.exposures + counters.revocations
        });
        (copied.iter().sum(), tables.iter().sum())
    }
}
