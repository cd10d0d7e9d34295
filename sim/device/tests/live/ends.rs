//! How connections end: by halves, while others compute, and when a peer is gone.

use crate::scene::{completion, event, octets, Scene};
use rnic_driver::monitor::{Client, Monitor};
use rnic_driver::verbs::endpoint::{
    EndpointError, PairEvent, PairOptions, SendOperation, Tap, Way, WorkKind,
};
use rnic_driver::verbs::{RegionOptions, Rights, WindowOptions};
use rnic_iwarp::queue_pair::{Failure, Status};
use rnic_iwarp::startup::Settings;
use rnic_wire::ddp::errors::DDP_ASSOCIATION;

/// An end closes while the other one has `count` octets to send: all of it arrives, then the end.
fn carries_the_rest(scene: &Scene, initiator_closes: bool, count: usize) {
    let settings = Settings::default();
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    let text = octets(count, 5);
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
    let operation = SendOperation::send(&payload);
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

/// MPA-060, DDP-030: an end closes while the other one has 1 MB to send.
#[test]
fn a_half_closed_connection_carries_the_rest_the_other_way() {
    for initiator_closes in [true, false] {
        carries_the_rest(&Scene::new(false), initiator_closes, 1_000_000);
    }
}

/// The same on the verilated core.
#[test]
fn a_half_closed_connection_carries_the_rest_at_the_verilated_core() {
    let count = rnic_effort::count("octets after a FIN", 50_000, 1_000_000);
    for initiator_closes in [true, false] {
        let scene = Scene::with_faults("rtl", Default::default());
        carries_the_rest(&scene, initiator_closes, count);
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
    while std::time::Instant::now() < end || reads <= 10 {
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
    assert_eq!(placed, text);
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

/// DDP-048: a window is open to its connection alone. Another one that uses its STag is refused and
/// ends with a Terminate at both ends; the first one goes on.
#[test]
fn a_window_is_open_to_its_connection_alone() {
    let scene = Scene::new(false);
    let settings = Settings::default();
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    let [stranger, other] = scene.pairs([&settings, &settings]);
    let memory = scene.responder.context.allocate(4096).expect("memory");
    let region = scene
        .responder
        .domain
        .register(memory, &RegionOptions::default());
    let region = region.expect("a region without rights");
    let options = WindowOptions {
        rights: Rights::REMOTE_WRITE,
        range: 1024..2048,
        tagged_offset: 0,
        stag: None,
    };
    let window = responder.bind(&region, &options).expect("a window");
    let text = octets(1024, 4);
    let source = scene.initiator.region(&text);
    let payload = [source.part(0..1024).expect("all of it")];
    let operation = SendOperation::Write {
        payload: &payload,
        stag: window.stag(),
        to: 0,
    };
    stranger.post_send(1, &operation).expect("posted");
    // Above MPA the FPDU is valid: the responder may send its Terminate (START-014).
    assert_eq!(event(&other), PairEvent::Established);
    let failed = event(&other);
    let PairEvent::Failed(Failure::Refused { cause, .. }) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(cause, DDP_ASSOCIATION);
    let failed = event(&stranger);
    let PairEvent::Failed(Failure::Terminated(received)) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(received.cause, Some(DDP_ASSOCIATION));
    // RDMAP-020: whoever lets go of a failed stream at once still ends it gracefully.
    drop(other);
    stranger.disconnect().expect("it is there");
    assert_eq!(event(&stranger), PairEvent::Closed);
    let reason = stranger.end_reason().expect("it is there");
    assert!(
        !matches!(reason, Some(EndpointError::Lost { .. })),
        "{reason:?}"
    );
    initiator.post_send(1, &operation).expect("posted");
    assert_eq!(completion(&initiator).status, Status::Success);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let mut placed = vec![0; 1024];
    // Acknowledged is not placed yet; a Send after it would say so.
    while placed != text && std::time::Instant::now() < deadline {
        region.read(1024, &mut placed).expect("inside");
    }
    assert!(placed == text);
}

/// A receive that is posted when nothing will arrive any more completes at once, with its memory;
/// so a loop that posts again what it has received needs no case of its own.
#[test]
fn a_receive_after_the_peers_end_is_flushed_with_its_memory() {
    let scene = Scene::new(false);
    let settings = Settings::default();
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    initiator.disconnect().expect("it is open");
    assert_eq!(event(&responder), PairEvent::HalfClosed);
    for _ in 0..16 {
        let flushed = completion(&responder);
        assert_eq!(
            (flushed.status, flushed.memory.is_none()),
            (Status::Flushed, true)
        );
    }
    let memory = scene.responder.context.allocate(77).expect("memory");
    responder.post_receive(5, memory).expect("it is taken");
    let flushed = completion(&responder);
    assert_eq!((flushed.id, flushed.status), (5, Status::Flushed));
    assert_eq!(flushed.memory.map(|memory| memory.octets()), Some(77));
    drop((initiator, responder));
    assert!(scene
        .initiator
        .endpoint
        .drain(std::time::Duration::from_secs(10)));
}

/// Whatever came before the peer's FIN is delivered before the receives that are left are flushed:
/// as many messages as the device has room for.
#[test]
fn messages_before_the_end_are_delivered_before_the_others_are_flushed() {
    const MESSAGES: u64 = 500;
    let scene = Scene::new(false);
    let settings = Settings::default();
    let options = PairOptions {
        sends: MESSAGES as usize,
        receives: 512,
        ..PairOptions::default()
    };
    let [initiator, responder] = scene.pairs_of([&settings, &settings], options);
    let region = scene.initiator.region(b"x");
    let payload = [region.part(0..1).expect("all of it")];
    let operation = SendOperation::send(&payload);
    for id in 0..MESSAGES {
        initiator.post_send(id, &operation).expect("posted");
    }
    initiator.disconnect().expect("it is open");
    let received = (0..512).map(|_| completion(&responder).status);
    let received: Vec<Status> = received.collect();
    let is_success = |status: &&Status| **status == Status::Success;
    let first = received.iter().take_while(is_success).count();
    assert_eq!(first as u64, MESSAGES);
    assert!(received[first..]
        .iter()
        .all(|status| *status == Status::Flushed));
}

/// What an endpoint itself sends and receives can be seen, as it is on the wire: with its
/// checksums, and the CRC of an FPDU whose payload stayed where it is.
#[test]
fn a_tap_sees_frames_as_they_are_on_the_wire() {
    let frames = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = std::sync::Arc::clone(&frames);
    let tap = Tap::new(move |way, frame: &[u8]| {
        kept.lock()
            .expect("nobody panics")
            .push((way, frame.to_vec()));
    });
    let scene = Scene::patient(false, Some(tap));
    let settings = Settings::default();
    let [initiator, responder] = scene.pairs([&settings, &settings]);
    let region = scene.initiator.region(&octets(1000, 2));
    let payload = [region.part(0..1000).expect("all of it")];
    let operation = SendOperation::send(&payload);
    initiator.post_send(1, &operation).expect("posted");
    assert_eq!(completion(&initiator).status, Status::Success);
    assert_eq!(completion(&responder).kind, WorkKind::Receive);
    let frames = frames.lock().expect("nobody panics");
    let (mut received, mut fpdus) = (0, 0);
    for (way, frame) in frames.iter().filter(|(_, frame)| frame[12..14] == [8, 0]) {
        let packet = etherparse::SlicedPacket::from_ethernet(frame).expect("it is whole");
        let (Some(etherparse::NetSlice::Ipv4(ip)), Some(etherparse::TransportSlice::Tcp(tcp))) =
            (packet.net, packet.transport)
        else {
            panic!("{frame:?}");
        };
        let sum = tcp
            .to_header()
            .calc_checksum_ipv4(&ip.header().to_header(), tcp.payload());
        assert_eq!(sum, Ok(tcp.checksum()), "{way:?}");
        received += usize::from(*way == Way::Received);
        let is_fpdu = *way == Way::Sent && tcp.payload().len() > 1000;
        fpdus += usize::from(is_fpdu && rnic_wire::mpa::crc32c::verify(tcp.payload()));
    }
    assert!(
        received >= 3 && fpdus == 1,
        "{received} received, {fpdus} FPDUs"
    );
}

/// Nobody accepts a connection, and its listener goes, or the whole endpoint: the peer is not left
/// alone with it. In FIN-WAIT-2 it would send nothing that could be answered, and wait for a
/// minute.
#[test]
fn a_connection_that_nobody_accepts_is_reset_when_the_listener_goes() {
    for ends in [false, true] {
        let Scene {
            initiator,
            responder,
            ..
        } = Scene::new(false);
        let own = std::net::SocketAddr::new(responder.address, crate::scene::PORT);
        let listener = responder.endpoint.listen(own).expect("it listens");
        let [talks, waits] =
            [(); 2].map(|()| initiator.endpoint.connect(own).expect("TCP has room"));
        drop(waits);
        // The FIN is acknowledged.
        std::thread::sleep(std::time::Duration::from_millis(20));
        match ends {
            false => drop(listener),
            true => drop(responder),
        }
        let reset = talks.read(&mut [0], crate::scene::PATIENCE);
        let reset = reset.expect_err("it has ended");
        let is_reset = matches!(&reset, EndpointError::Lost { lost, .. }
            if matches!(lost, rnic_tcp::Lost::Reset { .. }));
        assert!(is_reset, "{reset}");
        drop(talks);
        assert!(initiator.endpoint.drain(std::time::Duration::from_secs(10)));
    }
}
