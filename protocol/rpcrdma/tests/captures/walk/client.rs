//! This crate makes the calls that Linux' client has made, and Linux' server answers.
use super::by_xid;
use super::peer::{Peer, Posted};
use crate::nfs::{ends, End, Message as Rdma};
use crate::{header, sha256, DATA, DATA2};
use rpcrdma::binding::rpc::{ReplyHeader, ReplyStatus};
use rpcrdma::place::Place;
use rpcrdma::private_data::PrivateData;
use rpcrdma::stream::Message;
use rpcrdma::verbs::Memory;
use rpcrdma::wire::{Form, Header, HeaderWriter, Kind, Segment};
use rpcrdma::{Endpoint, Event, Offer, Pool, Settings};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

struct Client {
    peer: Peer,
    pool: Pool,
    endpoint: Endpoint,
    /// Memory for arguments and results.
    memory: Place,
    calls: VecDeque<Vec<u8>>,
    /// Data that the server reads, by call.
    arguments: BTreeMap<u32, Vec<u8>>,
    /// Segments of reply chunks as they were offered: one, where Linux offers three.
    reply_segments: BTreeMap<u32, Segment>,
    /// Handles of Linux' reply chunks, and where their octets are in this client's only segment.
    moved: BTreeMap<u32, (Segment, u64)>,
    files: Vec<u8>,
    replied: u32,
    message: Message,
}

/// The data of each call's read chunk.
fn arguments(client: &End) -> BTreeMap<u32, Vec<u8>> {
    let mut responses = client.messages.iter().filter_map(|message| match message {
        Rdma::ReadResponse { octets } => Some(octets.clone()),
        _ => None,
    });
    let sends = client.sends().into_iter().map(|(octets, _)| header(octets));
    let chunked = sends.filter(|call| call.reads().next().is_some());
    chunked
        .map(|call| (call.xid(), responses.next().expect("it was read")))
        .collect()
}

impl Client {
    fn new(client: &End, server: &End) -> Self {
        let settings = Settings {
            credits: 128,
            chunk_octets_min: 4096,
            ..Settings::default()
        };
        let mut peer = Peer::default();
        let transport = peer.allocate(settings.transport_octets());
        let (pool, memory) = (peer.allocate(1 << 20), peer.allocate(1 << 20));
        let mut endpoint = Endpoint::client(settings, transport);
        let mut pool = Pool::new(pool, 1 << 20);
        endpoint.connected(
            0,
            &mut peer,
            &mut pool,
            PrivateData::parse(&server.private_data),
        );
        assert_eq!(settings.private_data().to_octets(), *client.private_data);
        Self {
            peer,
            pool,
            endpoint,
            memory,
            calls: client
                .sends()
                .into_iter()
                .map(|(octets, _)| octets.to_vec())
                .collect(),
            arguments: arguments(client),
            reply_segments: BTreeMap::new(),
            moved: BTreeMap::new(),
            files: Vec::new(),
            replied: 0,
            message: Message::new(),
        }
    }

    /// Makes the next captured call, which leaves as it was captured.
    fn call(&mut self) {
        let octets = self.calls.pop_front().expect("every reply has a call");
        let call = header(&octets);
        self.endpoint.set_next_xid(call.xid());
        self.peer.draws.extend(
            call.reads()
                .map(|read| (read.segment.handle, read.segment.offset)),
        );
        // Calls in flight have memory of their own: the upper half for every other one.
        let half = self.memory.length / 2;
        let memory = self
            .memory
            .part(call.xid() % 2 * half, half)
            .expect("a half");
        match self.arguments.get(&call.xid()) {
            None => self.message.fixed(call.body()),
            Some(data) => {
                let (fields, _) = call.body().split_last_chunk::<4>().expect("a count");
                self.message.fixed(fields);
                self.peer.store(memory, data).expect("room");
                self.message
                    .item(memory.first(data.len() as u32))
                    .expect("one item");
            }
        }
        let results = call.writes().map(|chunk| {
            let segment = chunk.segments().next().expect("one segment");
            self.peer.draws.push_back((segment.handle, segment.offset));
            memory.first(segment.length)
        });
        let results: Vec<Place> = results.collect();
        let mut offer = Offer {
            results: &results,
            reply_octets_max: 512,
        };
        if let Some(reply) = call.reply() {
            let first = reply.segments().next().expect("three segments");
            self.peer.draws.push_back((first.handle, 0));
            offer.reply_octets_max = reply.octets() as u32;
            let (handle, length) = (first.handle, offer.reply_octets_max);
            let segment = Segment {
                handle,
                length,
                offset: 0,
            };
            self.reply_segments.insert(call.xid(), segment);
            let mut at = 0;
            for segment in reply.segments() {
                self.moved.insert(segment.handle, (segment, at));
                at += u64::from(segment.length);
            }
        }
        self.endpoint
            .submit(&mut self.message, offer)
            .expect("a call");
        self.poll();
        let expected = self.with_one_segment(&call, &octets);
        let posted = self.peer.posted.pop_front();
        assert_eq!(
            posted,
            Some(Posted::Send {
                octets: expected,
                invalidate: None
            })
        );
        assert!(self.peer.draws.is_empty());
    }

    /// A captured message whose reply chunk is this client's.
    fn with_one_segment(&self, header: &Header<'_>, octets: &[u8]) -> Vec<u8> {
        let Some((chunk, segment)) = header.reply().zip(self.reply_segments.get(&header.xid()))
        else {
            return octets.to_vec();
        };
        let form = if header.kind() == Kind::Nomsg {
            Form::Nomsg
        } else {
            Form::Msg
        };
        let mut again = Vec::new();
        let writer = HeaderWriter::new(&mut again, header.xid(), header.credits(), form);
        writer.writes().reply([Segment {
            length: chunk.octets() as u32,
            ..*segment
        }]);
        again.extend_from_slice(header.body());
        again
    }

    fn poll(&mut self) {
        while let Some(event) = self.endpoint.poll(0, &mut self.peer, &mut self.pool) {
            let Event::Replied(call) = event else {
                panic!("{event:?}");
            };
            let reply = self.endpoint.reply(call).expect("it has a reply");
            let mut reader = reply.reader();
            let replied = ReplyHeader::read(&mut reader).expect("a reply");
            assert_eq!(replied.status, ReplyStatus::Success);
            if !reply.results().is_empty() {
                reader
                    .fixed(reader.remaining() as u32 - 4)
                    .expect("the fields before");
                let item = reader
                    .opaque(1 << 20)
                    .expect("an item")
                    .place()
                    .expect("a chunk");
                reader.finish().expect("nothing after it");
                self.files.extend_from_slice(self.peer.octets(item));
            }
            self.endpoint.release(call, &mut self.pool);
            self.replied += 1;
        }
    }

    /// Linux' server writes.
    fn written(&mut self, handle: u32, offset: u64, octets: &[u8]) {
        let (handle, offset) = match self.moved.get(&handle) {
            None => (handle, offset),
            Some((segment, at)) => {
                let first = self.reply_segments.values().find(|first| {
                    self.moved[&first.handle].1 == 0
                        && self.peer.exposed.contains_key(&first.handle)
                });
                let first = first.expect("the call is in flight");
                (first.handle, at + (offset - segment.offset))
            }
        };
        self.peer.write_in(handle, offset, octets);
    }
}

/// RPC-003, RPC-005, RPC-006, RPC-008, RPC-013, RPC-017, RPC-035, RPC-039: each of the 679 calls is
/// sent as Linux' client sent it, and the replies of Linux' server are taken: grants, invalidated
/// handles, and the octets of both files.
#[test]
fn every_call_is_made_as_linux_did() {
    let (client, server) = ends();
    let mut walk = Client::new(&client, &server);
    let replies = by_xid(&server);
    let mut responses = client.messages.iter().filter_map(|message| match message {
        Rdma::ReadResponse { octets } => Some(octets),
        _ => None,
    });
    let mut sent = BTreeSet::new();
    let next = |walk: &mut Client, sent: &mut BTreeSet<u32>| {
        let call = walk.calls.front().expect("a call");
        sent.insert(header(call).xid());
        walk.call();
    };
    for message in &server.messages {
        match message {
            Rdma::Send {
                octets,
                invalidated,
            } => {
                let reply = header(octets);
                while !sent.contains(&reply.xid()) {
                    next(&mut walk, &mut sent);
                }
                let octets = walk.with_one_segment(&reply, octets);
                assert_eq!(replies[&reply.xid()].1, *invalidated);
                walk.peer.receive(&octets, *invalidated);
                walk.poll();
                assert_eq!(
                    walk.endpoint.credits().map(|credits| credits.granted()),
                    Some(64)
                );
            }
            Rdma::Write {
                handle,
                offset,
                octets,
            } => {
                let known = |walk: &Client| {
                    walk.peer.exposed.contains_key(handle) || walk.moved.contains_key(handle)
                };
                while !known(&walk) {
                    next(&mut walk, &mut sent);
                }
                walk.written(*handle, *offset, octets);
            }
            Rdma::ReadRequest {
                handle,
                offset,
                length,
            } => {
                while !walk.peer.exposed.contains_key(handle) {
                    next(&mut walk, &mut sent);
                }
                let octets = walk.peer.read_out(*handle, *offset, *length);
                assert_eq!(Some(octets), responses.next().map(Vec::as_slice));
            }
            Rdma::ReadResponse { .. } => panic!("the client reads nothing"),
        }
    }
    assert_eq!(
        (walk.replied, walk.calls.len(), responses.next()),
        (679, 0, None)
    );
    let counters = walk.endpoint.counters();
    assert_eq!((counters.calls_sent, counters.replies_received), (679, 679));
    assert_eq!(counters.invalidations, 11);
    assert_eq!(
        (
            counters.stray_replies,
            counters.bad_replies,
            counters.zero_grants
        ),
        (0, 0, 0)
    );
    let files = &walk.files;
    assert_eq!(
        (sha256(&files[..204_800]), sha256(&files[204_800..217_145])),
        (DATA.into(), DATA2.into())
    );
    assert_eq!(
        (walk.endpoint.calls_waiting(), walk.pool.octets_in_use()),
        (0, 0)
    );
    assert!(walk.peer.exposed.is_empty() && !walk.peer.closed);
}
