//! Requests that are posted together: in order, up to the one that cannot be, and into parts of
//! regions.

use crate::scene::{completion, octets, Scene};
use rnic_driver::verbs::endpoint::{
    EndpointError, PairOptions, QueuePair, SendOperation, Status, Unposted, WorkKind,
};
use rnic_driver::verbs::MemoryRegion;
use rnic_iwarp::startup::Settings;

/// Octets of a message, and from one to the next in the region that receives them.
const MESSAGE: usize = 100;
const STRIDE: usize = 128;

/// Post parts of `region` for `count` messages, with ids from 0 on.
fn post_parts(pair: &QueuePair, region: &MemoryRegion, count: usize) -> Result<(), Unposted> {
    let parts = (0..count).map(|number| {
        let begin = number * STRIDE;
        let part = region.part(begin..begin + MESSAGE).expect("inside");
        (number as u64, part)
    });
    pair.post_receives(&parts.collect::<Vec<_>>())
}

/// A pair whose responder takes eight receives, all of which are parts of a region already.
fn scene() -> (Scene, [QueuePair; 2], MemoryRegion) {
    let scene = Scene::new(false);
    let options = PairOptions {
        sends: 8,
        receives: 8,
        ..PairOptions::default()
    };
    let startup = Settings::default();
    let [initiator, responder] = scene.pairs_with([&startup, &startup], options, 0);
    let region = scene.responder.region(&[0xee; 8 * STRIDE]);
    post_parts(&responder, &region, 8).expect("room for eight");
    (scene, [initiator, responder], region)
}

#[test]
fn messages_come_into_parts_of_a_region() {
    let (scene, [initiator, responder], region) = scene();
    let text = octets(8 * MESSAGE, 5);
    let source = scene.initiator.region(&text);
    let parts: Vec<_> = (0..8)
        .map(|number| {
            let part = source.part(number * MESSAGE..(number + 1) * MESSAGE);
            [part.expect("inside")]
        })
        .collect();
    let requests = (100..).zip(&parts);
    let requests: Vec<_> = requests
        .map(|(id, part)| (id, SendOperation::send(part)))
        .collect();
    initiator.post_sends(&requests).expect("room for eight");
    for number in 0..8 {
        let sent = completion(&initiator);
        assert_eq!((sent.id, sent.kind), (100 + number, WorkKind::Send));
        let done = completion(&responder);
        assert_eq!((done.id, done.status), (number, Status::Success));
        assert_eq!(done.octets, MESSAGE);
        assert!(done.memory.is_none(), "it stays the region's");
    }
    let mut received = vec![0; 8 * STRIDE];
    region.read(0, &mut received).expect("all of it");
    for (number, slot) in received.chunks(STRIDE).enumerate() {
        assert_eq!(slot[..MESSAGE], text[number * MESSAGE..][..MESSAGE]);
        assert!(slot[MESSAGE..].iter().all(|octet| *octet == 0xee));
    }
    // The parts can be posted again, and the region is free when nobody needs it any more.
    post_parts(&responder, &region, 8).expect("room for eight again");
    responder.abort().expect("it is open");
    for number in 0..8 {
        let done = completion(&responder);
        assert_eq!((done.id, done.status), (number, Status::Flushed));
        assert!(done.memory.is_none());
    }
    drop(responder);
    region.close().expect("nothing is posted of it");
}

/// Those before the first that cannot be posted are posted, and the count says how many.
#[test]
fn what_finds_no_room_is_counted() {
    let (scene, [initiator, responder], region) = scene();
    let refused = post_parts(&responder, &region, 1).expect_err("eight are posted");
    assert_eq!(refused.posted, 0);
    assert!(matches!(refused.error, EndpointError::Post { .. }));
    let source = scene.initiator.region(&[1; MESSAGE]);
    let part = [source.part(0..MESSAGE).expect("inside")];
    let requests: Vec<_> = (0..9).map(|id| (id, SendOperation::send(&part))).collect();
    let refused = initiator.post_sends(&requests).expect_err("room for eight");
    assert_eq!(refused.posted, 8, "{refused}");
    for number in 0..8 {
        assert_eq!(completion(&initiator).id, number);
        assert_eq!(completion(&responder).id, number);
    }
    let none: &[(u64, SendOperation<'_>)] = &[];
    initiator.post_sends(none).expect("nothing is too much");
}

/// Memory of another device, or of a region that has gone, is nobody's receive.
#[test]
fn parts_of_another_device_are_refused() {
    let (scene, [_, responder], _) = scene();
    let other = scene.initiator.region(&[0; STRIDE]);
    let part = other.part(0..MESSAGE).expect("inside");
    let refused = responder.post_receives(&[(0, part)]);
    let refused = refused.expect_err("it is the other device's");
    assert!(
        matches!(refused.error, EndpointError::Device(_)),
        "{refused}"
    );
}
