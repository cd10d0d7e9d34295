//! A client that offers its memory in pieces: our own has one segment a chunk, other clients have
//! more.
use crate::client_actions::{assert_clean, body, send};
use crate::harness::{ask, pattern, LIST, PAIR};
use crate::peer::{Lists, Scene};
use rpcrdma::verbs::{Memory, Rights};
use rpcrdma::wire::{Form, Segment};
use rpcrdma::Settings;

/// Octets between two segments.
const GAP: u32 = 64;
/// What no Write has touched.
const UNTOUCHED: u8 = 0xee;

/// A chunk of three segments of these lengths, from `offset` on, each with a gap after it.
fn chunk(scene: &mut Scene, offset: u32, lengths: [u32; 3]) -> Vec<Segment> {
    let mut at = offset;
    let segments = lengths.map(|length| {
        let place = scene.data(at, length + GAP);
        let octets = vec![UNTOUCHED; place.length as usize];
        let end = scene.hostile_end();
        let mut memory = scene.world.fabric.end(end);
        memory.store(place, &octets).expect("inside");
        let segment = scene.expose(at, length, Rights::Write);
        at += length + GAP;
        segment
    });
    segments.to_vec()
}

/// The chunk's octets one after another, as far as `lengths` say; all others are untouched.
fn written(scene: &mut Scene, offset: u32, offered: [u32; 3], lengths: [u32; 3]) -> Vec<u8> {
    let (mut at, mut all) = (offset, Vec::new());
    for (offered, length) in offered.into_iter().zip(lengths) {
        let place = scene.data(at, offered + GAP);
        let mut octets = vec![0; place.length as usize];
        let end = scene.hostile_end();
        let memory = scene.world.fabric.end(end);
        memory.load(place, &mut octets).expect("inside");
        let (filled, rest) = octets.split_at(length as usize);
        assert!(
            rest.iter().all(|&octet| octet == UNTOUCHED),
            "{offered} {length}"
        );
        all.extend_from_slice(filled);
        at += offered + GAP;
    }
    all
}

fn lengths(chunk: impl Iterator<Item = Segment>, offered: &[Segment]) -> Vec<u32> {
    let returned: Vec<Segment> = chunk.collect();
    assert_eq!(returned.len(), offered.len());
    for (returned, offered) in returned.iter().zip(offered) {
        let length = offered.length;
        assert_eq!(
            Segment {
                length,
                ..*returned
            },
            *offered,
            "as it was offered"
        );
    }
    returned.into_iter().map(|segment| segment.length).collect()
}

/// RPC-048: the three segments of a write chunk are filled in order, without gaps: full, half, 0
/// for a result of one and a half; and each of two results begins at its own chunk.
#[test]
fn segments_of_a_write_chunk_are_filled_in_order() {
    const FIRST: u32 = 0;
    const SECOND: u32 = 1 << 17;
    for (length, offered, filled, half) in [
        (6_000, [4_000; 3], [4_000, 2_000, 0], [3_000, 0, 0]),
        (4_000, [4_000; 3], [4_000, 0, 0], [2_000, 0, 0]),
        (4_001, [4_000; 3], [4_000, 1, 0], [2_000, 0, 0]),
        (12_000, [4_000; 3], [4_000, 4_000, 4_000], [4_000, 2_000, 0]),
        (70, [1, 2, 100], [1, 2, 67], [1, 2, 32]),
        (70, [0, 30, 40], [0, 30, 40], [0, 30, 5]),
        (1, [64, 0, 64], [1, 0, 0], [0, 0, 0]),
    ] {
        let mut scene = Scene::server(Settings::default(), true);
        let chunks = [FIRST, SECOND].map(|at| chunk(&mut scene, at, offered));
        let lists = Lists {
            writes: chunks.to_vec(),
            ..Lists::default()
        };
        send(&mut scene, Form::Msg, lists, &body(ask(PAIR, 5, length)));
        scene.answer();
        let reply = scene.received.remove(0);
        let header = reply.header();
        let results = [(FIRST, length, filled), (SECOND, length / 2, half)];
        for ((chunk, offer), (at, length, filled)) in header.writes().zip(&chunks).zip(results) {
            assert_eq!(
                lengths(chunk.segments(), offer),
                filled,
                "{length} in {offered:?}"
            );
            let octets = written(&mut scene, at, offered, filled);
            assert!(octets == pattern(5, length), "{length} in {offered:?}");
        }
        assert_eq!((header.writes().count(), scene.is_closed), (2, false));
        assert_clean(&scene, "two results");
    }
}

/// RPC-048, RPC-033: and so are those of a reply chunk.
#[test]
fn segments_of_a_reply_chunk_are_filled_in_order() {
    // The reply's 24 octets of header, a count, and the list.
    let length = 8_000;
    let all = 28 + length;
    for (offered, filled) in [
        ([5_000; 3], [5_000, all - 5_000, 0]),
        ([124, 65_536, 4], [124, all - 124, 0]),
        ([all - 4, 1, 3], [all - 4, 1, 3]),
    ] {
        let mut scene = Scene::server(Settings::default(), true);
        let offer = chunk(&mut scene, 0, offered);
        let lists = Lists {
            reply: Some(offer.clone()),
            ..Lists::default()
        };
        send(&mut scene, Form::Msg, lists, &body(ask(LIST, 9, length)));
        scene.answer();
        let reply = scene.received.remove(0);
        let returned = reply.header().reply().expect("a reply chunk");
        assert_eq!(lengths(returned.segments(), &offer), filled);
        let octets = written(&mut scene, 0, offered, filled);
        assert!(octets[28..] == pattern(9, length));
        assert_clean(&scene, "a long reply");
    }
}
