//! What Linux' client and server said over RDMA, read, and written again by this crate.
//!
//! Numbers are those of the captures' README: 679 calls and as many replies, 128 credits asked for
//! and 64 granted, 5 read lists, 6 write lists, 2 reply chunks, 11 Sends with Invalidate.
#[path = "../../../iwarp/tests/captures/streams.rs"]
mod streams;
mod nfs;
mod walk;

use nfs::{ends, End, Message as Rdma};
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use rpcrdma::binding::{mount3, nfs3, Items, Procedure, Program};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::private_data::PrivateData;
use rpcrdma::stream::{Body, CallLimits, Item, Message, Plan, Reader, ReplyLimits};
use rpcrdma::wire::{shortened, Caps, Header, HeaderWriter, Kind, ReadSegment, Segment};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The longest Send of either end.
const INLINE_OCTETS: u32 = 4096;
/// Access control lists, which Linux asks for beside NFS: a program that is not this crate's.
const ACL: Program<'static> = Program {
    name: "nfsacl",
    number: 100_227,
    version: 3,
    procedures: &[
        Procedure::simple(0, "NULL", 0),
        Procedure::listing(1, "GETACL", 4 + 88 + 20),
    ],
};
/// SHA-256 of the two files that were written and read.
const DATA: &str = "21758a324d7badeed3ee1cb15f2bfa2dc0403265ed9f838daedba094c4a1f60f";
const DATA2: &str = "d53ea716a72e3431a179c8cccf3d1d8bc25d3ec2d84628cc8a4dde4710d8641d";
/// And of all that the server wrote.
const WRITTEN: &str = "7fcec97946c0047fdaf104cfa88365e094acdedb5d16b6332f9cf252748f86e1";

fn sha256(octets: &[u8]) -> String {
    Sha256::digest(octets)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

fn header(octets: &[u8]) -> Header<'_> {
    Header::parse(octets, &Caps::default()).expect("a header")
}

/// A place of the test's, whose octets are a segment's.
fn place(segment: Segment) -> Place {
    Place {
        memory: MemoryId(segment.handle),
        offset: segment.offset,
        length: segment.length,
    }
}

/// Calls and replies of the same transaction, in the order of the calls.
fn pairs<'c>(client: &'c End, server: &'c End) -> Vec<(&'c [u8], &'c [u8], Option<u32>)> {
    let replies: BTreeMap<u32, _> = server
        .sends()
        .into_iter()
        .map(|(reply, invalidated)| (header(reply).xid(), (reply, invalidated)))
        .collect();
    let pair = |call| {
        let (reply, invalidated) = replies[&header(call).xid()];
        (call, reply, invalidated)
    };
    client
        .sends()
        .into_iter()
        .map(|(call, _)| pair(call))
        .collect()
}

fn program(call: &CallHeader<'_>) -> Program<'static> {
    let programs = [nfs3::PROGRAM, mount3::PROGRAM, ACL];
    let called =
        |program: &&Program<'_>| (program.number, program.version) == (call.program, call.version);
    *programs.iter().find(called).expect("a program")
}

fn procedure(call: &CallHeader<'_>) -> &'static Procedure<'static> {
    program(call)
        .procedure(call.procedure)
        .expect("a procedure")
}

#[test]
fn both_ends_say_4096_octets() {
    let (client, server) = ends();
    let said = |end: &End| PrivateData::parse(&end.private_data).expect("private data");
    let (client, server) = (said(&client), said(&server));
    assert!(client.remote_invalidation && !server.remote_invalidation);
    assert_eq!(client.inline_octets_to(server), INLINE_OCTETS);
    assert_eq!(server.inline_octets_to(client), INLINE_OCTETS);
}

/// RPC-024, RPC-025, RPC-027, RPC-030: each of the 1,358 headers is written again as it was.
#[test]
fn headers_are_written_as_they_were_read() {
    let (client, server) = ends();
    let (mut count, mut kinds) = (0, BTreeMap::new());
    for (octets, _) in client.sends().into_iter().chain(server.sends()) {
        let header = header(octets);
        let form = match header.kind() {
            Kind::Msg => rpcrdma::wire::Form::Msg,
            Kind::Nomsg => rpcrdma::wire::Form::Nomsg,
            other => panic!("{other:?}"),
        };
        let mut buffer = Vec::new();
        let mut writer = HeaderWriter::new(&mut buffer, header.xid(), header.credits(), form);
        header.reads().for_each(|read| writer.read(read));
        let mut writer = writer.writes();
        header
            .writes()
            .for_each(|chunk| writer.chunk(chunk.segments()));
        match header.reply() {
            Some(chunk) => writer.reply(chunk.segments()),
            None => writer.end(),
        };
        buffer.extend_from_slice(header.body());
        assert_eq!(buffer, octets);
        count += 1;
        *kinds.entry(format!("{:?}", header.kind())).or_insert(0) += 1;
    }
    assert_eq!((count, kinds["Msg"], kinds["Nomsg"]), (1358, 1356, 2));
}

/// RPC-005, RPC-006, RPC-013, RPC-016, RPC-039: grants, invalidated handles and returned lengths.
#[test]
fn grants_handles_and_lengths_are_those_of_the_facts() {
    let (client, server) = ends();
    let (mut reads, mut writes, mut replies, mut invalidations) = (vec![], vec![], vec![], 0);
    let lengths = |segments: rpcrdma::wire::Segments<'_>| {
        segments.map(|segment| segment.length).collect::<Vec<_>>()
    };
    for (call, reply, invalidated) in pairs(&client, &server) {
        let (call, reply) = (header(call), header(reply));
        assert_eq!((call.credits(), reply.credits()), (128, 64));
        assert_eq!(call.check_call(), Ok(()));
        assert_eq!(invalidated, call.single_handle());
        invalidations += u32::from(invalidated.is_some());
        reads.extend(
            call.reads()
                .map(|read| (read.position, read.segment.length)),
        );
        assert_eq!(reply.reads().count(), 0);
        let offered = call.writes().map(|chunk| lengths(chunk.segments()));
        let returned = reply.writes().map(|chunk| lengths(chunk.segments()));
        assert_eq!(call.writes().count(), reply.writes().count());
        writes.extend(offered.zip(returned));
        let reply_chunks = call.reply().into_iter().zip(reply.reply());
        replies.extend(reply_chunks.map(|(offered, returned)| {
            (lengths(offered.segments()), lengths(returned.segments()))
        }));
    }
    assert_eq!(invalidations, 11);
    let file = [65_536, 65_536, 65_536, 8192, 12_345];
    assert_eq!(reads, file.map(|length| (108, length)));
    assert_eq!(writes.len(), 6);
    assert!(writes.contains(&(vec![16_384], vec![12_345])), "{writes:?}");
    assert!(writes.contains(&(vec![4096], vec![8])), "{writes:?}");
    // Access control lists, and the directory of 100 files.
    let lists = (vec![256, 28_672, 4], vec![136, 0, 0]);
    let files = (vec![124, 65_536, 4], vec![124, 15_488, 0]);
    assert_eq!(replies, [lists, files]);
}

/// What the client's memory holds in the end, by handle and offset of what was written.
fn written(server: &End) -> BTreeMap<(u32, u64), Vec<u8>> {
    let writes = server.messages.iter().filter_map(|message| match message {
        Rdma::Write {
            handle,
            offset,
            octets,
        } => Some(((*handle, *offset), octets.clone())),
        _ => None,
    });
    writes.collect()
}

/// The octets of a place, of which the server may have written several pieces.
fn fetch(written: &BTreeMap<(u32, u64), Vec<u8>>, place: Place) -> Vec<u8> {
    let mut octets = Vec::new();
    while octets.len() < place.length as usize {
        let at = (place.memory.0, place.offset + octets.len() as u64);
        octets.extend_from_slice(&written[&at]);
    }
    octets.truncate(place.length as usize);
    octets
}

/// The read chunks of a call as a reader wants them.
fn chunks(header: &Header<'_>) -> Vec<Item> {
    let reads = header.reads();
    reads
        .map(|read| Item {
            position: read.position,
            place: place(read.segment),
        })
        .collect()
}

/// RPC-007, RPC-009, RPC-014, RPC-019: calls are decoded down to the last octet; planned and
/// written again by this crate, they are what Linux' client sent.
#[test]
fn calls_are_planned_as_they_were_sent() {
    let (client, _) = ends();
    let (mut send, mut chunked) = (Vec::new(), 0);
    for (octets, _) in client.sends() {
        let header = header(octets);
        let mut reader = Reader::of_send(&header, None);
        let call = CallHeader::read(&mut reader).expect("a call");
        let procedure = procedure(&call);
        assert_eq!(
            program(&call).check_chunks(&header, &call, header.body()),
            Ok(())
        );

        let mut message = Message::new();
        let chunks = chunks(&header);
        match chunks.as_slice() {
            [] => message.fixed(header.body()),
            [item] => {
                assert_eq!(procedure.arguments, Items::Last);
                let (body, _) = header.body().split_last_chunk::<4>().expect("a count");
                message.fixed(body);
                message.item(item.place).expect("one item");
                assert_eq!(message.items(), [*item]);
                chunked += 1;
            }
            more => panic!("{more:?}"),
        }
        let limits = CallLimits {
            inline_octets: INLINE_OCTETS,
            chunk_octets_min: INLINE_OCTETS,
            reads: true,
            padding: None,
        };
        let counts = header
            .writes()
            .map(|chunk| chunk.count())
            .collect::<Vec<_>>();
        let reply = header.reply().map(|chunk| chunk.count());
        let plan = Plan::call(&message, &limits, counts, reply).expect("a way");
        assert_eq!(plan.body(), Body::Send);
        let mut writer = HeaderWriter::new(&mut send, call.xid, header.credits(), plan.form());
        for Item { position, place } in plan.reads(&message) {
            let Place {
                memory,
                offset,
                length,
            } = place;
            let segment = Segment {
                handle: memory.0,
                length,
                offset,
            };
            writer.read(ReadSegment { position, segment });
        }
        let mut writer = writer.writes();
        header
            .writes()
            .for_each(|chunk| writer.chunk(chunk.segments()));
        let written = match header.reply() {
            Some(chunk) => writer.reply(chunk.segments()),
            None => writer.end(),
        };
        assert_eq!(written, plan.header_octets());
        send.extend_from_slice(message.inline());
        assert_eq!(send, octets);
    }
    assert_eq!(chunked, 5);
}

/// RPC-008, RPC-014: what the server read from the client, by the positions of read chunks, is the
/// files that were written.
#[test]
fn files_that_were_written_are_in_the_read_chunks() {
    let (client, server) = ends();
    let mut responses = client.messages.iter().filter_map(|message| match message {
        Rdma::ReadResponse { octets } => Some(octets),
        _ => None,
    });
    let mut requests = server.messages.iter().filter_map(|message| match message {
        Rdma::ReadRequest {
            handle,
            offset,
            length,
        } => Some((*handle, *offset, *length)),
        _ => None,
    });
    let mut files = Vec::new();
    for (octets, _) in client.sends() {
        let header = header(octets);
        for ReadSegment { segment, .. } in header.reads() {
            let Segment {
                handle,
                length,
                offset,
            } = segment;
            assert_eq!(requests.next(), Some((handle, offset, length)));
            files.extend_from_slice(responses.next().expect("a response"));
        }
    }
    assert_eq!((requests.next(), responses.next()), (None, None));
    assert_eq!(
        (sha256(&files[..204_800]), sha256(&files[204_800..])),
        (DATA.into(), DATA2.into())
    );
}

/// The stream of a long reply, which is in the chunk, whose segments were filled in order.
fn long_reply(reply: &Header<'_>, memory: &BTreeMap<(u32, u64), Vec<u8>>) -> Option<Vec<u8>> {
    let is_long = reply.kind() == Kind::Nomsg;
    let chunk = reply.reply().filter(|_| is_long)?;
    let pieces = chunk
        .segments()
        .map(|segment| fetch(memory, place(segment)));
    Some(pieces.flatten().collect())
}

/// Writes a reply into `send` as planned.
fn write_reply(
    message: &Message,
    plan: &Plan,
    call: &Header<'_>,
    credits: u32,
    send: &mut Vec<u8>,
) {
    let mut writer = HeaderWriter::new(send, call.xid(), credits, plan.form()).writes();
    for chunk in call.writes() {
        let octets = message.items().first().map_or(0, |item| item.place.length);
        writer.chunk(shortened(chunk.segments(), octets.into()));
    }
    let in_chunk = plan.body() == Body::ReplyChunk;
    match call.reply() {
        Some(chunk) => {
            let octets = if in_chunk { plan.stream_octets() } else { 0 };
            writer.reply(shortened(chunk.segments(), octets))
        }
        None => writer.end(),
    };
    if !in_chunk {
        send.extend_from_slice(message.inline());
    }
}

/// RPC-016, RPC-017, RPC-033: replies are decoded with the results that were written, no longer
/// than the tables say; planned and written again, they are what Linux' server sent.
#[test]
fn replies_are_planned_as_they_were_sent() {
    let (client, server) = ends();
    let (memory, mut files, mut send) = (written(&server), Vec::new(), Vec::new());
    let (mut listings, mut short) = (0, 0);
    for (call, octets, _) in pairs(&client, &server) {
        let (call, reply) = (header(call), header(octets));
        let mut arguments = Reader::of_send(&call, None);
        let called = CallHeader::read(&mut arguments).expect("a call");
        let procedure = procedure(&called);

        let long = long_reply(&reply, &memory);
        listings += u32::from(long.is_some());
        let stream = long.as_deref().unwrap_or(reply.body());
        let mut reader = Reader::new(stream);
        let replied = ReplyHeader::read(&mut reader).expect("a reply");
        assert_eq!(
            (replied.xid, replied.status),
            (called.xid, ReplyStatus::Success)
        );
        let results = reader.remaining() as u64;
        let asked = if procedure.reply.asked {
            INLINE_OCTETS * 8
        } else {
            0
        };
        let bound = procedure.reply.octets_max(asked);
        assert!(
            results <= bound,
            "{}: {results} above {bound}",
            procedure.name
        );

        let written: Vec<Place> = reply
            .writes()
            .flat_map(|chunk| chunk.segments())
            .map(place)
            .collect();
        let mut message = Message::new();
        match written.as_slice() {
            [] => message.fixed(stream),
            [item] => {
                assert_eq!(procedure.results, Items::Last);
                let (fields, count) = stream.split_last_chunk::<4>().expect("a count");
                assert_eq!(u32::from_be_bytes(*count), item.length);
                reader.fixed(results as u32 - 4).expect("the fields before");
                let mut reader = reader.with_results(&written);
                assert_eq!(
                    reader.opaque(1 << 20).map(|item| item.place()),
                    Ok(Some(*item))
                );
                assert_eq!(reader.finish(), Ok(()));
                files.extend(fetch(&memory, *item));
                message.fixed(fields);
                message.item(*item).expect("one item");
            }
            more => panic!("{more:?}"),
        }
        let limits = ReplyLimits {
            inline_octets: INLINE_OCTETS,
            read_list: false,
        };
        let plan = Plan::reply(&message, &limits, &call).expect("a way");
        write_reply(&message, &plan, &call, reply.credits(), &mut send);
        if long.is_some() && plan.body() == Body::Send {
            // Linux' server uses a reply chunk that is there; this crate only one that is needed.
            assert_eq!((procedure.name, plan.body()), ("GETACL", Body::Send));
            short += 1;
            continue;
        }
        assert_eq!(send, octets, "{}", procedure.name);
    }
    assert_eq!((listings, short), (2, 1));
    // data.bin, data2.bin and the eight octets of one file of the directory.
    assert_eq!(sha256(&files[..204_800]), DATA);
    assert_eq!(sha256(&files[204_800..217_145]), DATA2);
    assert_eq!(&files[217_145..], b"file 42\n");
}

/// Every RDMA Write of the server is in a chunk of a call, and all of it is what the facts say.
#[test]
fn everything_that_was_written_is_known() {
    let (_, server) = ends();
    let mut all = Vec::new();
    for message in &server.messages {
        if let Rdma::Write { octets, .. } = message {
            all.extend_from_slice(octets);
        }
    }
    assert_eq!((all.len(), sha256(&all)), (232_901, WRITTEN.into()));
}
