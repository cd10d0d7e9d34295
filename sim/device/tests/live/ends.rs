//! How connections end: by halves, while others compute, and when a peer is gone.

use crate::scene::{completion, event, octets, Scene};
use rnic_driver::monitor::{Client, Monitor};
use rnic_driver::verbs::endpoint::{PairEvent, SendOperation, WorkKind};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::Settings;

/// MPA-060, DDP-030: an end closes while the other one has 1 MB to send: all of it arrives, then
/// the end.
#[test]
fn a_half_closed_connection_carries_the_rest_the_other_way() {
    for initiator_closes in [true, false] {
        let scene = Scene::new(false);
        let settings = Settings::default();
        let [initiator, responder] = scene.pairs([&settings, &settings]);
        let text = octets(1_000_000, 5);
        let ends = [
            (&scene.initiator, &initiator),
            (&scene.responder, &responder),
        ];
        let [closing, sending] = match initiator_closes {
            true => ends,
            false => [ends[1], ends[0]],
        };
        // A responder may send once it has heard something.
        let ready = scene.initiator.region(b"ready");
        let payload = [ready.part(0..5).expect("inside")];
        let operation = SendOperation::Send {
            payload: &payload,
            solicited: false,
            invalidate_stag: None,
        };
        initiator.post_send(1, &operation).expect("posted");
        assert_eq!(completion(&initiator).status, Status::Success);
        assert_eq!(completion(&responder).kind, WorkKind::Receive);
        assert_eq!(event(&responder), PairEvent::Established);
        let (source, sink) = (
            sending.0.region(&text),
            closing.0.region(&vec![0; text.len()]),
        );
        closing.1.disconnect().expect("it is open");
        assert_eq!(event(sending.1), PairEvent::HalfClosed);
        let payload = [source.part(0..text.len()).expect("inside")];
        let operation = SendOperation::Write {
            payload: &payload,
            stag: sink.stag(),
            to: 0,
        };
        sending.1.post_send(2, &operation).expect("posted");
        sending.1.disconnect().expect("it is open");
        let done = loop {
            let done = completion(sending.1);
            if done.kind == WorkKind::Write {
                break done;
            }
            assert_eq!(
                (done.kind, done.status),
                (WorkKind::Receive, Status::Flushed)
            );
        };
        assert_eq!(done.status, Status::Success);
        assert_eq!(event(closing.1), PairEvent::HalfClosed);
        assert_eq!(event(closing.1), PairEvent::Closed);
        assert_eq!(event(sending.1), PairEvent::Closed);
        let mut placed = vec![0; text.len()];
        sink.read(0, &mut placed).expect("all of it");
        assert!(placed == text, "initiator closes: {initiator_closes}");
    }
}

/// An application that does not call the driver: its connection lives, and a peer's Reads of its
/// memory are answered.
#[test]
fn reads_are_answered_while_the_application_computes() {
    let scene = Scene::new(false);
    let settings = Settings::default();
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    let text = octets(100_000, 9);
    let (source, sink) = (
        scene.responder.region(&text),
        scene.initiator.region(&vec![0; text.len()]),
    );
    let seconds = rnic_effort::count("seconds of computing", 1, 10);
    // The responder's handles are not touched until the end.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut reads = 0;
    while std::time::Instant::now() < end {
        let operation = SendOperation::Read {
            sink: &sink,
            sink_to: 0,
            source_stag: source.stag(),
            source_to: 0,
            octets: text.len() as u32,
        };
        initiator.post_send(reads, &operation).expect("posted");
        assert_eq!(completion(&initiator).status, Status::Success);
        reads += 1;
    }
    let mut placed = vec![0; text.len()];
    sink.read(0, &mut placed).expect("all of it");
    assert!(placed == text && reads > 10, "{reads} reads");
    assert_eq!(event(&responder), PairEvent::Established);
}

/// What `rnicctl connections` shows of an endpoint, and when it has failed.
#[test]
fn a_monitor_shows_connections_and_their_last_error() {
    let scene = Scene::new(false);
    let settings = Settings::default();
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    let socket = scene.folder().join("monitor");
    let mut monitor = Monitor::bind(&socket).expect("a socket");
    let ask = |monitor: &mut Monitor| {
        let page = std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                let client = Client::new(&socket, std::time::Duration::from_secs(20));
                client.connections().expect("it answers")
            });
            while !asked.is_finished() {
                scene
                    .initiator
                    .endpoint
                    .serve_monitor(monitor)
                    .expect("there is memory");
                std::thread::yield_now();
            }
            asked.join().expect("it does not panic")
        });
        let [connection] = &page[..] else {
            panic!("{page:?}");
        };
        assert_eq!(connection.remote, initiator.peer_addr());
        connection.endpoint.clone().expect("an endpoint has it")
    };
    let report = ask(&mut monitor);
    assert_eq!(
        (report.state.as_str(), report.last_error),
        ("Established", None)
    );
    assert!(report.srtt_us.is_some() && report.rto_us >= 200_000);
    responder.abort().expect("it is open");
    assert!(matches!(event(&initiator), PairEvent::Failed(_)));
    let report = ask(&mut monitor);
    assert_eq!(report.state, "Closed");
    let error = report.last_error.expect("it has failed");
    assert!(error.contains("the peer reset the connection"), "{error}");
}
