//! As many connections at once as the device has room for.

use crate::scene::{completion, Scene, PATIENCE, PORT};
use rnic_driver::verbs::endpoint::{EndpointError, PairOptions, QueuePair, SendOperation};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::Settings;
use std::net::SocketAddr;

/// Four receive entries of the device for each connection: two receives, a Read Request, a
/// Terminate.
pub fn small() -> (Settings, PairOptions) {
    let settings = Settings {
        ird: 1,
        ord: 0,
        ..Settings::default()
    };
    let options = PairOptions {
        receives: 2,
        sends: 4,
        ..PairOptions::default()
    };
    (settings, options)
}

/// `count` connections, with the initiator's end first. A thread accepts.
pub fn open(scene: &Scene, count: usize) -> Vec<[QueuePair; 2]> {
    let (settings, options) = small();
    let own = SocketAddr::new(scene.responder.address, PORT);
    let listener = scene.responder.endpoint.listen(own).expect("it listens");
    std::thread::scope(|scope| {
        let accepting = scope.spawn(|| {
            let accept = |_| {
                let stream = listener.accept(PATIENCE).expect("one comes");
                let request = stream.request(&settings, b"").expect("a Request");
                let pair = request.queue_pair(&scene.responder.domain, &options);
                let pair = pair.expect("there is room");
                let memory = scene.responder.context.allocate(64).expect("memory");
                pair.post_receive(1, memory).expect("posted");
                pair.accept(b"").expect("accepted");
                pair
            };
            (0..count).map(accept).collect::<Vec<QueuePair>>()
        });
        let connect = |_| {
            let stream = scene.initiator.endpoint.connect(own).expect("it connects");
            let pair = stream.queue_pair(&scene.initiator.domain, &settings, &options);
            let pair = pair.expect("there is room");
            pair.start(b"").expect("a Reply");
            pair
        };
        let initiators: Vec<QueuePair> = (0..count).map(connect).collect();
        let responders = accepting.join().expect("it does not panic");
        initiators
            .into_iter()
            .zip(responders)
            .map(|(a, b)| [a, b])
            .collect()
    })
}

pub fn greet(scene: &Scene, [from, to]: &[QueuePair; 2]) {
    let region = scene.initiator.region(b"hello");
    let payload = [region.part(0..5).expect("inside")];
    let operation = SendOperation::send(&payload);
    from.post_send(7, &operation).expect("posted");
    assert_eq!(completion(from).status, Status::Success);
    assert_eq!(completion(to).message(), b"hello");
}

#[test]
fn five_hundred_connections_are_open_at_once_and_one_more_is_refused() {
    let scene = Scene::new(false);
    let begun = std::time::Instant::now();
    let pairs = open(&scene, 500);
    println!("500 opened in {:?}", begun.elapsed());
    for pair in pairs.iter().step_by(50) {
        greet(&scene, pair);
    }
    let more = open(&scene, 12);
    greet(&scene, &more[11]);
    one_more_is_refused(&scene);
}

/// 2,048 entries hold 512 connections of four.
pub fn one_more_is_refused(scene: &Scene) {
    let own = SocketAddr::new(scene.responder.address, PORT);
    let listener = scene.responder.endpoint.listen(own).expect("it listens");
    let (settings, options) = small();
    let stream = scene.initiator.endpoint.connect(own).expect("TCP has room");
    let _accepted = listener.accept(PATIENCE).expect("it is there");
    let refused = stream.queue_pair(&scene.initiator.domain, &settings, &options);
    let refused = refused.expect_err("the device is full");
    assert!(matches!(refused, EndpointError::Device(_)), "{refused}");
    assert!(refused.to_string().contains("receive pool"), "{refused}");
}
