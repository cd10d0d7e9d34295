//! 256 clients that begin a call with chunks and then say nothing, and one more.
use crate::harness::{ask, pattern, write_call, PROGRAMS, PUT};
use crate::peer::{message, Lists};
use rpcrdma::fabric::{Choice, EndId, Fabric, HostId};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::stream::Message;
use rpcrdma::verbs::{Memory, Rights, Verbs};
use rpcrdma::wire::Form;
use rpcrdma::{Endpoint, Event, Pool, RequestId, Settings};

const SILENT: u32 = 256;
const POOL_OCTETS: u32 = 64 << 20;
const SHARE_OCTETS: u32 = 2 << 20;
const ITEM_OCTETS: u32 = 12_345;

struct Server {
    fabric: Fabric,
    host: HostId,
    pool: Pool,
    /// Connections, each with its client's host.
    ends: Vec<(Endpoint, EndId, EndId, HostId)>,
    transport_octets: usize,
}

fn settings(client: u32) -> Settings {
    Settings {
        client,
        ..Settings::default()
    }
}

impl Server {
    fn new() -> Self {
        let mut fabric = Fabric::new(Default::default());
        let host = fabric.host();
        let memory = fabric.allocate(host, POOL_OCTETS as usize);
        let pool = Pool::new(
            Place {
                memory,
                offset: 0,
                length: POOL_OCTETS,
            },
            SHARE_OCTETS,
        );
        Self {
            fabric,
            host,
            pool,
            ends: Vec::new(),
            transport_octets: 0,
        }
    }

    /// Another client; its number.
    fn accept(&mut self) -> usize {
        let peer = self.fabric.host();
        let settings = settings(self.ends.len() as u32);
        let octets = settings.transport_octets();
        let memory = self.fabric.allocate(self.host, octets);
        self.transport_octets += octets;
        let transport = Place {
            memory,
            offset: 0,
            length: octets as u32,
        };
        let (theirs, own) = self.fabric.connect(peer, self.host);
        let mut endpoint = Endpoint::server(settings, transport, &PROGRAMS);
        let data = Some(settings.private_data());
        endpoint.connected(0, &mut self.fabric.end(own), &mut self.pool, data);
        self.ends.push((endpoint, own, theirs, peer));
        self.ends.len() - 1
    }

    /// Client `index` calls PUT with a read chunk; only the Send is delivered.
    fn call(&mut self, index: usize, xid: u32, length: u32) {
        let (_, _, theirs, peer) = self.ends[index];
        let memory = self.fabric.allocate(peer, 4_096 + length as usize);
        let at = |offset: u32, length: u32| Place {
            memory,
            offset: offset.into(),
            length,
        };
        let source = at(4_096, length);
        self.fabric
            .memory(peer)
            .store(source, &pattern(0, length))
            .expect("inside");
        let mut octets = Message::new();
        write_call(&mut octets, xid, ask(PUT, 0, length), MemoryId(0));
        let position = octets.inline().len() as u32;
        let mut end = self.fabric.end(theirs);
        let source = end.expose(source, Rights::Read).expect("an entry");
        let lists = Lists {
            reads: vec![(position, source)],
            ..Lists::default()
        };
        let octets = message(xid, 8, Form::Msg, &lists, octets.inline());
        let send = at(0, octets.len() as u32);
        end.store(send, &octets).expect("inside");
        end.post_receives(&[(1, at(2_048, 2_048))]).expect("room");
        end.send(2, &[send], None).expect("room");
        self.fabric.take(Choice::Deliver(theirs));
        self.fabric.take(Choice::Acknowledge(theirs));
    }

    fn poll(&mut self, index: usize, now: u64) -> Option<Event> {
        let (endpoint, own, ..) = &mut self.ends[index];
        endpoint.poll(now, &mut self.fabric.end(*own), &mut self.pool)
    }

    /// The last client's call from end to end: what it asked for is right.
    fn serve(&mut self, index: usize, now: u64, length: u32) -> bool {
        let (_, own, theirs, _) = self.ends[index];
        for _ in 0..8 {
            if let Some(Event::Call(id)) = self.poll(index, now) {
                self.verify(index, id, length);
                return true;
            }
            for choice in [
                Choice::Deliver(own),
                Choice::Respond(own),
                Choice::Acknowledge(own),
            ] {
                self.fabric.take(choice);
            }
            self.fabric.take(Choice::Acknowledge(theirs));
        }
        false
    }

    fn verify(&mut self, index: usize, id: RequestId, length: u32) {
        let request = self.ends[index].0.request(id).expect("it is open");
        let mut reader = request.reader();
        reader.fixed(48).expect("header, offset and length");
        let item = reader.opaque(length).expect("the item");
        let mut octets = vec![0; length as usize];
        let place = item.place().expect("it was a chunk");
        self.fabric
            .memory(self.host)
            .load(place, &mut octets)
            .expect("inside");
        assert!(octets == pattern(0, length));
    }
}

/// RPC-006, RPC-042: what silent clients hold is bounded, and another client is served at once.
#[test]
fn silent_clients_hold_no_more_than_the_cap_and_one_more_is_served() {
    let mut server = Server::new();
    let settings = settings(0);
    for _ in 0..SILENT {
        let index = server.accept();
        // As many calls as the first grants would let it, each of the longest item.
        for xid in 0..4 {
            server.call(index, xid, 1 << 20);
        }
        while server.poll(index, 0).is_some() {}
    }
    let held = server.pool.octets_in_use() + server.transport_octets as u64;
    let transport_cap = u64::from(SILENT) * settings.transport_octets() as u64;
    let cap = transport_cap + u64::from(POOL_OCTETS);
    println!(
        "{SILENT} silent clients hold {} KiB, {} KiB of the pool; the cap is {} KiB",
        held >> 10,
        server.pool.octets_in_use() >> 10,
        cap >> 10
    );
    assert!(held <= cap);
    for client in 0..SILENT {
        assert!(
            server.pool.octets_of(client) <= u64::from(SHARE_OCTETS),
            "client {client}"
        );
    }
    let last = server.accept();
    server.call(last, 1, ITEM_OCTETS);
    assert!(
        server.serve(last, 0, ITEM_OCTETS),
        "the 257th is served at once"
    );

    // The longest call, too, when the silent ones' Reads are late.
    let last = server.accept();
    server.call(last, 1, 1 << 20);
    assert!(
        !server.serve(last, 0, 1 << 20),
        "there is no room for it yet"
    );
    let mut now = 0;
    let mut is_served = false;
    while !is_served && now < 20 * settings.read_time_out_us {
        now += settings.read_time_out_us;
        // Those whose Reads are late are left, and make room for those that wait.
        for index in 0..SILENT as usize {
            while server.poll(index, now).is_some() {}
        }
        is_served = server.serve(last, now, 1 << 20);
    }
    println!(
        "1 MiB of another client is served after {} s",
        now / 1_000_000
    );
    assert!(is_served);
    assert_eq!(server.ends[0].0.counters().read_time_outs, 1);
}
