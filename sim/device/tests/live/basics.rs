//! Every operation both ways, over what start-up can agree on, and the graceful end.

use crate::scene::{completion, event, octets, Scene};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointError, EndpointSettings, PairEvent, QueuePair, SendOperation, WorkKind,
};
use rnic_driver::verbs::{Frame, MemoryRegion, Piece};
use rnic_driver::{DriverError, TransmitRing};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::{Rtr, RtrKinds, Settings};
use rnic_tcp::State;

/// Post a Send of a whole region.
fn post_send(from: &QueuePair, region: &MemoryRegion, invalidate_stag: Option<u32>) {
    let payload = [region.part(0..region.octets()).expect("all of it")];
    let operation = SendOperation::Send {
        payload: &payload,
        solicited: invalidate_stag.is_none(),
        invalidate_stag,
    };
    from.post_send(7, &operation).expect("posted");
}

/// The next completion is of request `id` and of this kind, and a success.
fn expect_done(pair: &QueuePair, id: u64, kind: WorkKind) {
    let done = completion(pair);
    assert_eq!(
        (done.id, done.kind, done.status),
        (id, kind, Status::Success)
    );
}

/// Send, Write and Read of `count` octets from one end to the other.
fn exchange(scene: &Scene, from: &QueuePair, to: &QueuePair, is_initiator: bool, count: usize) {
    let (end, other) = match is_initiator {
        true => (&scene.initiator, &scene.responder),
        false => (&scene.responder, &scene.initiator),
    };
    let text = octets(count, 1);
    let (source, sink) = (end.region(&text), other.region(&vec![0; count]));
    // A Send, of the region's first octets.
    let message = end.region(&text[..count.min(4096)]);
    post_send(from, &message, None);
    expect_done(from, 7, WorkKind::Send);
    let received = completion(to);
    assert_eq!(
        (received.kind, received.status),
        (WorkKind::Receive, Status::Success)
    );
    assert!(received.solicited);
    assert_eq!(received.message(), text[..count.min(4096)]);
    // A Write of two parts, whose end the peer learns of by a Send.
    let half = count / 2;
    let payload = [0..half, half..count].map(|range| source.part(range).expect("inside"));
    let operation = SendOperation::Write {
        payload: &payload,
        stag: sink.stag(),
        to: sink.tagged_offset(),
    };
    from.post_send(8, &operation).expect("posted");
    post_send(from, &message, Some(sink.stag()));
    expect_done(from, 8, WorkKind::Write);
    expect_done(from, 7, WorkKind::Send);
    let received = completion(to);
    assert_eq!(received.invalidated_stag, Some(sink.stag()));
    let mut placed = vec![0; count];
    sink.read(0, &mut placed).expect("all of it");
    assert_eq!(placed, text, "a Write of {count} octets");
    // A Read by the other end.
    let back = other.region(&vec![0; count]);
    let operation = SendOperation::Read {
        sink: &back,
        sink_to: 0,
        source_stag: source.stag(),
        source_to: 0,
        octets: count as u32,
    };
    to.post_send(9, &operation).expect("posted");
    expect_done(to, 9, WorkKind::Read);
    let mut placed = vec![0; count];
    back.read(0, &mut placed).expect("all of it");
    assert_eq!(placed, text, "a Read of {count} octets");
}

/// The next event but that both may send.
fn end_event(pair: &QueuePair) -> PairEvent {
    match event(pair) {
        PairEvent::Established => event(pair),
        other => other,
    }
}

/// Both ends close, and learn it.
fn close(initiator: &QueuePair, responder: &QueuePair) {
    initiator.disconnect().expect("it is open");
    assert_eq!(end_event(responder), PairEvent::HalfClosed);
    responder.disconnect().expect("it is open");
    assert_eq!(end_event(initiator), PairEvent::HalfClosed);
    assert_eq!(event(initiator), PairEvent::Closed);
    assert_eq!(event(responder), PairEvent::Closed);
    for end in [initiator, responder] {
        // Each end's FIN is acknowledged: a process may end now.
        let state = end.statistics().expect("it is there").state;
        assert!(
            matches!(state, State::Closed | State::TimeWait),
            "{state:?}"
        );
    }
}

fn run(startup: [&Settings; 2], v6: bool, count: usize) {
    let scene = Scene::patient(v6, None);
    let [initiator, responder] = scene.pairs(startup);
    exchange(&scene, &initiator, &responder, true, count);
    assert_eq!(event(&responder), PairEvent::Established);
    exchange(&scene, &responder, &initiator, false, count);
    close(&initiator, &responder);
    for end in [&initiator, &responder] {
        let statistics = end.statistics().expect("it is there");
        assert_eq!(statistics.sent.retransmitted_segments, 0, "{statistics:?}");
    }
}

/// START-025, START-026, START-028, DDP-009: revisions 0, 1 and 2, markers in one direction or
/// both, CRC or none, IPv4 and IPv6.
#[test]
fn every_operation_arrives_over_whatever_start_up_agrees_on() {
    for (revision, markers, crc, v6) in [
        (2, [false, false], true, false),
        (2, [true, true], true, true),
        (1, [false, true], true, false),
        (1, [true, false], false, true),
        (1, [false, false], false, false),
        (0, [true, true], true, false),
    ] {
        let settings = markers.map(|markers| Settings {
            revision,
            revision_min: revision,
            markers,
            crc,
            ..Settings::default()
        });
        run([&settings[0], &settings[1]], v6, 20_000);
    }
}

/// MPA2-002, MPA2-005: the peer-to-peer model with each kind of ready-to-receive message; the
/// responder may send although the initiator's application has sent nothing.
#[test]
fn a_responder_sends_first_after_each_kind_of_ready_to_receive_message() {
    for kind in [Rtr::Fpdu, Rtr::Write, Rtr::Read] {
        let settings = Settings {
            peer_to_peer: true,
            rtr: RtrKinds::only(kind),
            ..Settings::default()
        };
        let scene = Scene::new(false);
        let [initiator, responder] = scene.pairs([&settings, &settings]);
        assert_eq!(event(&responder), PairEvent::Established, "{kind:?}");
        exchange(&scene, &responder, &initiator, false, 3);
        close(&initiator, &responder);
    }
}

/// Limits of what a message may be: none, one, around a segment, and far beyond.
#[test]
fn messages_of_any_length_arrive() {
    let settings = Settings::default();
    let scene = Scene::new(false);
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    for count in [2, 3, 1_424, 1_425, 1_426, 1_427, 1_428, 70_000, 1 << 20] {
        exchange(&scene, &initiator, &responder, true, count);
        crate::scene::post_receives(&scene.responder, &responder, 2);
    }
    close(&initiator, &responder);
}

/// START-002, START-008, START-011, START-037: applications talk first, the last word goes with the
/// call that expects the Request, one of them rejects, and they go on talking.
#[test]
fn a_rejected_connection_is_a_stream_again() {
    let scene = Scene::new(false);
    let [opened, accepted] = scene.streams();
    // A handle is shown as what it is, without the endpoint's other connections.
    let shown = format!("{opened:?}");
    assert!(
        shown.contains("192.0.2.1:7174") && shown.len() < 500,
        "{shown}"
    );
    opened.write_all(b"before").expect("sent");
    let mut text = [0; 6];
    assert_eq!(
        accepted
            .read(&mut text, crate::scene::PATIENCE)
            .expect("read"),
        6
    );
    let settings = Settings::default();
    let [opened, accepted] = std::thread::scope(|scope| {
        let responder = scope.spawn(|| {
            let request = accepted.request(&settings, b"go").expect("a Request");
            request.reject(b"not now").expect("it can be")
        });
        let mut text = [0; 2];
        opened
            .read(&mut text, crate::scene::PATIENCE)
            .expect("read");
        assert_eq!(&text, b"go");
        let pair = opened.queue_pair(&scene.initiator.domain, &settings, &Default::default());
        let pair = pair.expect("there is room");
        let refused = pair.start(b"please").expect_err("it is rejected");
        let EndpointError::Rejected { reason, .. } = refused else {
            panic!("{refused}");
        };
        assert_eq!(reason, b"not now");
        [
            pair.into_stream().expect("it is one"),
            responder.join().expect("ends"),
        ]
    });
    accepted.write_all(b"after").expect("sent");
    let mut text = [0; 5];
    assert_eq!(
        opened
            .read(&mut text, crate::scene::PATIENCE)
            .expect("read"),
        5
    );
    assert_eq!(&text, b"after");
    opened.finish().expect("open");
    assert_eq!(
        accepted
            .read(&mut text, crate::scene::PATIENCE)
            .expect("the end"),
        0
    );
}

/// START-005, START-006: the end that opened TCP need not be MPA's initiator.
#[test]
fn a_tcp_server_may_be_the_initiator() {
    let scene = Scene::new(false);
    let [opened, accepted] = scene.streams();
    let settings = Settings::default();
    let (pair, request) = std::thread::scope(|scope| {
        let initiator = scope.spawn(|| {
            let pair = accepted.queue_pair(&scene.responder.domain, &settings, &Default::default());
            let pair = pair.expect("there is room");
            crate::scene::post_receives(&scene.responder, &pair, 4);
            pair.start(b"from the server").expect("a Reply");
            pair
        });
        let request = opened.request(&settings, b"").expect("a Request");
        assert_eq!(request.private_data(), b"from the server");
        let pair = request.queue_pair(&scene.initiator.domain, &Default::default());
        let pair = pair.expect("there is room");
        crate::scene::post_receives(&scene.initiator, &pair, 4);
        pair.accept(b"").expect("accepted");
        (initiator.join().expect("ends"), pair)
    });
    exchange(&scene, &pair, &request, false, 100);
    close(&pair, &request);
}

/// A context has one endpoint, which has the host path for itself; after it there may be another.
#[test]
fn an_endpoint_has_the_host_path_for_itself() {
    let mut scene = Scene::new(false);
    let end = &mut scene.initiator;
    let interface = rnic_driver::stack::Settings::new(
        [2, 0, 0, 0, 0, 9],
        vec![rnic_driver::stack::AddressPrefix {
            address: end.address,
            bits: 24,
        }],
    );
    let settings = EndpointSettings::new(interface);
    let refused = Endpoint::start(&end.context, &settings).expect_err("there is one");
    assert!(
        refused.to_string().contains("in use by an endpoint"),
        "{refused}"
    );
    let frame = Frame {
        pieces: &[Piece::Octets(&[0xff; 60])],
        checksum: None,
        crc: None,
        cookie: 0,
    };
    let refused = end.context.transmit(TransmitRing::Control, &frame);
    assert!(
        matches!(refused, Err(DriverError::InUse { .. })),
        "{refused:?}"
    );
    assert_eq!(end.context.poll_event(), None);
    assert_eq!(end.context.poll_host_frame(), None);
    assert_eq!(end.context.poll_transmitted(), Ok(None));
    drop(scene.initiator.endpoint);
    // Hold-offs of ten bits; one that is refused leaves nothing.
    let mut held = settings.clone();
    for (hold_off_us, is_right) in [(1_024, false), (1_023, true), (0, true)] {
        held.hold_off_us = hold_off_us;
        let started = Endpoint::start(&scene.initiator.context, &held);
        assert_eq!(started.is_ok(), is_right, "{hold_off_us}: {started:?}");
        if let Err(refused) = started {
            assert!(refused.to_string().contains("hold-off"), "{refused}");
        }
    }
    let again = Endpoint::start(&scene.initiator.context, &settings).expect("the other is gone");
    let own = std::net::SocketAddr::new(scene.responder.address, crate::scene::PORT);
    let listener = scene.responder.endpoint.listen(own).expect("it listens");
    again.connect(own).expect("it works");
    drop(listener);
}
