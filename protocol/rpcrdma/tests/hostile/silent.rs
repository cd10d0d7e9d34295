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
/// A share of which there are as many as clients, the last one and one more included.
const SHARE_OCTETS: u32 = 240 << 10;
/// A share of which there are 32: clients that have theirs leave others less.
const LARGE_SHARE_OCTETS: u32 = 2 << 20;
const ITEM_OCTETS: u32 = 12_345;
/// What a read chunk takes beyond its octets.
const ALIGN_OCTETS: u32 = 8;

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
    fn new(share_octets: u32) -> Self {
        let mut fabric = Fabric::new(Default::default());
        let host = fabric.host();
        let memory = fabric.allocate(host, POOL_OCTETS as usize);
        let pool = Pool::new(
            Place {
                memory,
                offset: 0,
                length: POOL_OCTETS,
            },
            share_octets,
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

/// A server with as many silent clients: each has sent as many calls as the first grants would let
/// it, with an item of so many octets.
fn with_silent(share_octets: u32, item_octets: u32) -> Server {
    let mut server = Server::new(share_octets);
    for _ in 0..SILENT {
        let index = server.accept();
        for xid in 0..4 {
            server.call(index, xid, item_octets);
        }
        while server.poll(index, 0).is_some() {}
    }
    server
}

/// What is held of the pool, and the most that the clients could hold of it.
fn print_held(server: &Server) -> (u64, u64) {
    let transport = server.transport_octets as u64;
    let (held, most) = (
        server.pool.octets_in_use(),
        server.pool.octets_held_max(SILENT),
    );
    println!(
        "{SILENT} silent clients hold {} KiB, {} KiB of the pool; the cap is {} KiB",
        (transport + held) >> 10,
        held >> 10,
        (transport + most) >> 10
    );
    (held, most)
}

/// RPC-006, RPC-042: silent clients hold their shares and not an octet more; one client more is
/// served at once, also with the longest call that its share allows.
#[test]
fn silent_clients_hold_their_shares_and_one_more_is_served_at_once() {
    let longest = SHARE_OCTETS - ALIGN_OCTETS;
    let mut server = with_silent(SHARE_OCTETS, longest);
    let shares = u64::from(SILENT) * u64::from(SHARE_OCTETS);
    assert_eq!(print_held(&server), (shares, shares));
    for client in 0..SILENT {
        let held = server.pool.octets_of(client);
        assert_eq!(held, u64::from(SHARE_OCTETS), "client {client}");
    }
    let transport = SILENT as usize * settings(0).transport_octets();
    assert_eq!(server.transport_octets, transport);
    for length in [ITEM_OCTETS, longest] {
        let last = server.accept();
        server.call(last, 1, length);
        assert!(server.serve(last, 0, length), "{length}");
    }
}

/// RPC-006, RPC-042: where there are fewer shares than clients, what they hold has a bound all the
/// same, and one client more is served at once but for a long item: that waits for memory, and gets
/// it when the Reads of the others are late.
#[test]
fn of_too_few_shares_silent_clients_leave_something() {
    // 65 blocks of 16 KiB an item: each has one, as long as two of them are free.
    let item = u64::from((1_u32 << 20) + (16 << 10));
    let mut server = with_silent(LARGE_SHARE_OCTETS, 1 << 20);
    let (held, most) = print_held(&server);
    assert_eq!(held, 62 * item);
    assert!(held < most && most < u64::from(POOL_OCTETS), "{most}");
    let last = server.accept();
    server.call(last, 1, ITEM_OCTETS);
    assert!(
        server.serve(last, 0, ITEM_OCTETS),
        "the 257th is served at once"
    );

    let last = server.accept();
    server.call(last, 1, 1 << 20);
    assert!(
        !server.serve(last, 0, 1 << 20),
        "there is no room for it yet"
    );
    let time_out = settings(0).read_time_out_us;
    let mut now = 0;
    let mut is_served = false;
    while !is_served && now < 20 * time_out {
        now += time_out;
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
