//! Messages of every form, by every way that limits and offers leave: what a reader makes of them
//! is what was sent, and the stream that is put together by a copy is the unreduced one.
use super::{place, Memory};
use crate::place::Place;
use crate::stream::{rounded, Body, CallLimits, Carriage, Item, Message, Opaque, Plan, Reader};
use crate::stream::{Reassembly, ReplyLimits, Splice};
use crate::wire::{shortened, Caps, Form, Header, HeaderWriter, Padding, ReadSegment, Segment};
use rand::Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::io::Read;

#[derive(Clone, Debug)]
enum Field {
    Word(u32),
    Opaque(Vec<u8>),
    Item(Place),
}

const XID: u32 = 0x77;

fn fields(random: &mut ChaCha8Rng) -> Vec<Field> {
    let mut fields = vec![Field::Word(XID)];
    for _ in 0..random.random_range(0..6) {
        let length = random.random_range(0..12);
        fields.push(match random.random_range(0..4) {
            0 => Field::Word(random.random()),
            1 => Field::Opaque((0..length).map(|_| random.random()).collect()),
            _ => {
                let length = if random.random_ratio(1, 4) {
                    length * 40
                } else {
                    length
                };
                Field::Item(place(random.random_range(0..4096), length))
            }
        });
    }
    fields
}

fn message(fields: &[Field]) -> Message {
    let mut message = Message::new();
    for field in fields {
        match field {
            Field::Word(word) => message.u32(*word),
            Field::Opaque(octets) => message.opaque(octets).expect("short"),
            Field::Item(place) => message.item(*place).expect("few"),
        }
    }
    message
}

/// The unreduced stream, written down plainly.
fn unreduced(fields: &[Field], memory: &Memory) -> Vec<u8> {
    let mut stream = Vec::new();
    for field in fields {
        let octets = match field {
            Field::Word(word) => {
                stream.extend_from_slice(&word.to_be_bytes());
                continue;
            }
            Field::Opaque(octets) => octets,
            Field::Item(place) => memory.at(*place),
        };
        stream.extend_from_slice(&(octets.len() as u32).to_be_bytes());
        stream.extend_from_slice(octets);
        while stream.len() % 4 != 0 {
            stream.push(0);
        }
    }
    stream
}

/// What is read of a message has to be its fields.
fn decode(mut reader: Reader<'_>, fields: &[Field], memory: &Memory) {
    for field in fields {
        match field {
            Field::Word(word) => assert_eq!(reader.u32(), Ok(*word)),
            Field::Opaque(octets) => assert_eq!(reader.inline_opaque(99), Ok(&octets[..])),
            Field::Item(place) => match reader.opaque(9999) {
                Ok(Opaque::Inline { octets, .. }) => assert_eq!(octets, memory.at(*place)),
                Ok(Opaque::Chunk(chunk)) => assert_eq!(chunk, *place),
                Err(error) => panic!("{error}"),
            },
        }
    }
    assert_eq!(reader.finish(), Ok(()));
}

/// Where a slow reader finds what is not inline, and pad: the writer says so.
fn splices(plan: &Plan, message: &Message, header_octets: usize) -> Vec<Splice> {
    let (mut splices, mut apart, mut pads) = (Vec::new(), 0, 0);
    for (index, item) in message.items().iter().enumerate() {
        let inline = u64::from(item.position) - apart + pads;
        match (plan.carriage(index), plan.form()) {
            (Carriage::Stream, Form::Msgp(padding)) => {
                let at = header_octets as u64 + inline;
                let length = item.place.length;
                let padded = length > 0 && length >= padding.threshold;
                let pad_octets = (0..padding.align)
                    .find(|pad| !padded || (at + u64::from(*pad)) % u64::from(padding.align) == 0);
                let pad_octets = pad_octets.expect("a multiple is near");
                pads += u64::from(pad_octets);
                splices.push(Splice {
                    position: item.position,
                    pad_octets,
                    place: None,
                });
            }
            (Carriage::Stream, _) => {}
            _ => {
                apart += rounded(item.place.length);
                let place = Some(item.place);
                splices.push(Splice {
                    position: item.position,
                    pad_octets: 0,
                    place,
                });
            }
        }
    }
    splices
}

/// Sends `message` as planned, and receives it.
fn deliver(plan: &Plan, message: &Message, offered: Option<&Header<'_>>, fields: &[Field]) {
    let memory = Memory::new();
    let stream = memory.gather(plan, message);
    assert_eq!(stream.len() as u64, plan.stream_octets());
    let mut send = Vec::new();
    let mut writer = HeaderWriter::new(&mut send, XID, 1, plan.form());
    if plan.body() == Body::ReadChunk {
        let length = stream.len() as u32;
        writer.read(ReadSegment {
            position: 0,
            segment: Segment {
                handle: 1,
                length,
                offset: 0,
            },
        });
    }
    let chunks: Vec<Item> = plan.reads(message).collect();
    for Item { position, place } in &chunks {
        // RPC-019: no octet of roundup is exposed.
        let segment = Segment {
            handle: 2,
            length: place.length,
            offset: place.offset,
        };
        writer.read(ReadSegment {
            position: *position,
            segment,
        });
    }
    let mut writer = writer.writes();
    let written: Vec<(usize, Item)> = plan.writes(message).collect();
    let mut results = Vec::new();
    for (index, chunk) in offered
        .iter()
        .flat_map(|header| header.writes())
        .enumerate()
    {
        let item = written
            .iter()
            .find(|(chunk, _)| *chunk == index)
            .map(|(_, item)| item.place);
        let octets = item.map_or(0, |place| place.length);
        assert!(u64::from(octets) <= chunk.octets());
        writer.chunk(shortened(chunk.segments(), octets.into()));
        results.push(item.unwrap_or(place(0, 0)));
    }
    let octets = match offered.and_then(|header| header.reply()) {
        Some(reply) => {
            let used = if plan.body() == Body::ReplyChunk {
                stream.len() as u64
            } else {
                0
            };
            assert!(used <= reply.octets());
            writer.reply(shortened(reply.segments(), used))
        }
        None => writer.end(),
    };
    assert_eq!(octets, plan.header_octets());
    if plan.body() == Body::Send {
        send.extend_from_slice(&stream);
    }
    assert_eq!(send.len() as u64, plan.send_octets());

    let header = Header::parse(&send, &Caps::default()).expect("what was sent is right");
    let reader = match plan.body() {
        Body::Send => Reader::of_send(&header, None),
        Body::ReadChunk | Body::ReplyChunk => Reader::new(&stream),
    };
    decode(
        reader.with_chunks(&chunks).with_results(&results),
        fields,
        &memory,
    );

    let splices = splices(plan, message, header.octets());
    let mut slow = Vec::new();
    let copied = Reassembly::new(&stream, &splices, |place, octets: &mut [u8]| {
        octets.copy_from_slice(memory.at(place));
    })
    .read_to_end(&mut slow);
    assert_eq!(copied.ok(), Some(slow.len()));
    assert_eq!(slow, unreduced(fields, &memory));
    assert_eq!(slow.len() as u64, message.octets());
}

/// RPC-007, RPC-008, RPC-014, RPC-018, RPC-019, RPC-023, RPC-032: calls.
#[test]
fn calls_by_every_way_are_read_as_they_were_sent() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..20_000 {
        let fields = fields(&mut random);
        let message = message(&fields);
        let padding = random.random_ratio(1, 2).then(|| Padding {
            align: 4 << random.random_range(0..6),
            threshold: random.random_range(0..12),
        });
        let limits = CallLimits {
            inline_octets: random.random_range(80..400),
            chunk_octets_min: random.random_range(0..20),
            reads: random.random_ratio(3, 4),
            padding,
        };
        let Ok(plan) = Plan::call(&message, &limits, [], None) else {
            *seen.entry("no way").or_insert(0) += 1;
            continue;
        };
        assert!(plan.send_octets() <= limits.inline_octets.into());
        deliver(&plan, &message, None, &fields);
        let way = match (plan.form(), plan.reads(&message).next()) {
            (Form::Msgp(_), _) => "padded",
            (Form::Nomsg, _) => "long",
            (Form::Msg, None) => "inline",
            (Form::Msg, Some(_)) => "chunks",
        };
        *seen.entry(way).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.values().all(|count| *count > 50), "{seen:?}");
}

/// RPC-010, RPC-013, RPC-016, RPC-017, RPC-033, RPC-050: replies.
#[test]
fn replies_by_every_way_are_read_as_they_were_sent() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..20_000 {
        let (fields, mut call) = (fields(&mut random), Vec::new());
        let message = message(&fields);
        let mut offset = 0;
        let mut segments = |random: &mut ChaCha8Rng, most: u32| {
            let count = random.random_range(0..4);
            let segments = (0..count).map(|_| {
                offset += 1000;
                Segment {
                    handle: 3,
                    length: random.random_range(0..most),
                    offset,
                }
            });
            segments.collect::<Vec<_>>()
        };
        let mut writer = HeaderWriter::new(&mut call, XID, 1, Form::Msg).writes();
        for _ in 0..random.random_range(0..3) {
            writer.chunk(segments(&mut random, 300));
        }
        match random.random_ratio(1, 2) {
            true => writer.reply(segments(&mut random, 600)),
            false => writer.end(),
        };
        call.extend_from_slice(&XID.to_be_bytes());
        let header = Header::parse(&call, &Caps::default()).expect("a header");
        let limits = ReplyLimits {
            inline_octets: random.random_range(100..400),
            read_list: random.random_ratio(1, 2),
        };
        let Ok(plan) = Plan::reply(&message, &limits, &header) else {
            *seen.entry("no way").or_insert(0) += 1;
            continue;
        };
        assert!(plan.send_octets() <= limits.inline_octets.into());
        deliver(&plan, &message, Some(&header), &fields);
        let reads = plan.reads(&message).next().is_some();
        let way = match (plan.body(), plan.writes(&message).next().is_some(), reads) {
            (Body::Send, false, false) => "inline",
            (Body::Send, true, _) => "written",
            (Body::Send, false, true) => "read list",
            (Body::ReplyChunk, ..) => "reply chunk",
            (Body::ReadChunk, ..) => "long",
        };
        *seen.entry(way).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert!(seen.values().all(|count| *count > 20), "{seen:?}");
}
