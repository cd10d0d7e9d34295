//! This crate serves the calls that Linux' client has sent.
use super::by_xid;
use super::peer::{Peer, Posted};
use crate::nfs::{ends, End, Message as Rdma};
use crate::{fetch, header, place, sha256, written, ACL, DATA, DATA2};
use rpcrdma::binding::{mount3, nfs3, Program};
use rpcrdma::place::Place;
use rpcrdma::private_data::PrivateData;
use rpcrdma::stream::Message;
use rpcrdma::verbs::Memory;
use rpcrdma::wire::Kind;
use rpcrdma::{Endpoint, Event, Pool, Settings};
use std::collections::BTreeMap;

static PROGRAMS: [Program<'static>; 3] = [nfs3::PROGRAM, mount3::PROGRAM, ACL];

struct Server {
    peer: Peer,
    pool: Pool,
    endpoint: Endpoint,
    /// What Linux' server said: its replies, and what it wrote.
    replies: BTreeMap<u32, (Vec<u8>, Option<u32>)>,
    memory: BTreeMap<(u32, u64), Vec<u8>>,
    /// Data of results, which was written from here.
    results: Place,
    /// Data of the calls' chunks, in order.
    files: Vec<u8>,
    message: Message,
}

impl Server {
    fn new(client: &End, server: &End) -> Self {
        let settings = Settings {
            credits: 64,
            remote_invalidation: false,
            ..Settings::default()
        };
        let mut peer = Peer::default();
        let transport = peer.allocate(settings.transport_octets());
        let (pool, results) = (peer.allocate(1 << 20), peer.allocate(1 << 18));
        let mut endpoint = Endpoint::server(settings, transport, &PROGRAMS);
        let mut pool = Pool::new(pool, 1 << 20);
        endpoint.connected(
            0,
            &mut peer,
            &mut pool,
            PrivateData::parse(&client.private_data),
        );
        assert_eq!(settings.private_data().to_octets(), *server.private_data);
        let (replies, memory) = (by_xid(server), written(server));
        Self {
            peer,
            pool,
            endpoint,
            replies,
            memory,
            results,
            files: Vec::new(),
            message: Message::new(),
        }
    }

    /// The results of a call are those that Linux' server has found.
    fn answer(&mut self, call: rpcrdma::RequestId) {
        let request = self.endpoint.request(call).expect("an open call");
        for chunk in request.header().reads() {
            // The item is the last field, and its sink was read before.
            let mut reader = request.reader();
            reader.fixed(chunk.position - 4).expect("the fields before");
            let item = reader
                .opaque(1 << 20)
                .expect("an item")
                .place()
                .expect("a place");
            reader.finish().expect("nothing after it");
            assert_eq!(item.length, chunk.segment.length);
            self.files.extend_from_slice(self.peer.octets(item));
        }
        let (octets, _) = &self.replies[&request.header().xid()];
        let reply = header(octets);
        let memory = &self.memory;
        let chunk = |segments: rpcrdma::wire::Segments<'_>| {
            segments
                .flat_map(|segment| fetch(memory, place(segment)))
                .collect::<Vec<_>>()
        };
        match (reply.kind(), reply.writes().next()) {
            (Kind::Nomsg, _) => {
                let stream = chunk(reply.reply().expect("a reply chunk").segments());
                self.message.fixed(&stream);
            }
            (_, Some(result)) => {
                let data = chunk(result.segments());
                self.peer.store(self.results, &data).expect("room");
                let (fields, _) = reply.body().split_last_chunk::<4>().expect("a count");
                self.message.fixed(fields);
                self.message
                    .item(self.results.first(data.len() as u32))
                    .expect("one item");
            }
            _ => self.message.fixed(reply.body()),
        }
        let (peer, pool) = (&mut self.peer, &mut self.pool);
        self.endpoint
            .respond(0, peer, pool, call, &mut self.message)
            .expect("it is open");
    }

    /// Everything that there is to do.
    fn poll(&mut self) {
        while let Some(event) = self.endpoint.poll(0, &mut self.peer, &mut self.pool) {
            match event {
                Event::Call(call) => self.answer(call),
                Event::Released(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// RPC-004, RPC-006, RPC-014, RPC-016, RPC-017, RPC-033, RPC-034: each of the 679 calls is read and
/// answered; Reads, Writes, grants, invalidations and returned lengths are those of Linux' server.
#[test]
fn every_call_is_answered_as_linux_did() {
    let (client, server) = ends();
    let mut walk = Server::new(&client, &server);
    let mut responses = client.messages.iter().filter_map(|message| match message {
        Rdma::ReadResponse { octets } => Some(octets),
        _ => None,
    });
    let mut reads = server.messages.iter().filter_map(|message| match message {
        Rdma::ReadRequest {
            handle,
            offset,
            length,
        } => Some((*handle, *offset, *length)),
        _ => None,
    });
    let (mut wrote, mut short, mut invalidations) = (BTreeMap::new(), 0, 0);
    for (call, _) in client.sends() {
        walk.peer.receive(call, None);
        walk.poll();
        let mut reply = None;
        while let Some(posted) = walk.peer.posted.pop_front() {
            match posted {
                Posted::Read { tag, source, sink } => {
                    let request = (source.handle, source.offset, source.length);
                    assert_eq!(Some(request), reads.next());
                    let octets = responses.next().expect("a response");
                    walk.peer.read_completed(tag, sink, octets);
                    walk.poll();
                }
                Posted::Write { octets, sink } => {
                    assert!(reply.is_none(), "Writes come before their Send (RPC-002)");
                    wrote.insert((sink.handle, sink.offset), octets);
                }
                Posted::Send { octets, invalidate } => reply = Some((octets, invalidate)),
            }
        }
        // The Send has completed.
        walk.poll();
        let (octets, invalidated) = reply.expect("a reply");
        let (linux, linux_invalidated) = &walk.replies[&header(&octets).xid()];
        assert_eq!(invalidated, *linux_invalidated);
        invalidations += u32::from(invalidated.is_some());
        if octets != *linux {
            // A short reply to GETACL: Linux' server uses a reply chunk even so.
            let reply = header(&octets);
            assert_eq!(
                (reply.kind(), header(linux).kind()),
                (Kind::Msg, Kind::Nomsg)
            );
            assert_eq!(reply.credits(), 64);
            assert_eq!(reply.reply().map(|chunk| chunk.octets()), Some(0));
            short += 1;
        }
    }
    assert_eq!(
        (short, invalidations, reads.next(), responses.next()),
        (1, 11, None, None)
    );
    let files = (
        sha256(&walk.files[..204_800]),
        sha256(&walk.files[204_800..]),
    );
    assert_eq!(files, (DATA.into(), DATA2.into()));
    // All that Linux' server wrote, but for the reply that is inline here.
    let linux: usize = walk.memory.values().map(Vec::len).sum();
    assert_eq!(wrote.values().map(Vec::len).sum::<usize>(), linux - 136);
    for ((handle, offset), octets) in &walk.memory {
        let place = Place {
            memory: rpcrdma::place::MemoryId(*handle),
            offset: *offset,
            length: octets.len() as u32,
        };
        if octets.len() != 136 {
            assert_eq!(&fetch_any(&wrote, place), octets);
        }
    }
    let counters = walk.endpoint.counters();
    assert_eq!((counters.calls_received, counters.replies_sent), (679, 679));
    assert_eq!(
        (walk.pool.octets_in_use(), walk.endpoint.calls_waiting()),
        (0, 0)
    );
    assert!(walk.peer.exposed.is_empty() && !walk.peer.closed);
}

/// The octets of a place, which may be parts of longer Writes.
fn fetch_any(wrote: &BTreeMap<(u32, u64), Vec<u8>>, place: Place) -> Vec<u8> {
    let of_handle = wrote
        .iter()
        .filter(|((handle, _), _)| *handle == place.memory.0);
    let mut octets = vec![0; place.length as usize];
    for ((_, offset), written) in of_handle {
        for (at, octet) in written.iter().enumerate() {
            let to = (offset + at as u64).checked_sub(place.offset);
            let to = to.and_then(|to| octets.get_mut(to as usize));
            to.into_iter().for_each(|to| *to = *octet);
        }
    }
    octets
}
