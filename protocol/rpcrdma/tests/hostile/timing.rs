//! Peers that say nothing: time-outs of calls, of Reads and of DONEs.
use crate::harness::{ask, write_call, LIST, NULL, PUT};
use crate::peer::{message, Lists, Scene};
use rpcrdma::place::MemoryId;
use rpcrdma::stream::Message;
use rpcrdma::wire::{write_done, Form, Segment};
use rpcrdma::{Event, Failure, Settings};

/// RPC-021: a client whose server is silent closes after 60 s, and not a microsecond before.
#[test]
fn a_silent_server_is_left_after_a_minute() {
    let mut scene = Scene::client(Settings::default(), true);
    scene.world.submit(ask(NULL, 0, 0)).expect("room");
    scene.run();
    assert_eq!(scene.endpoint().deadline(), Some(60_000_000));
    scene.world.now = 59_999_999;
    scene.run();
    assert!(!scene.is_closed);
    scene.world.now = 60_000_000;
    scene.run();
    assert!(scene.is_closed);
    assert_eq!(scene.endpoint().counters().call_time_outs, 1);
    assert_eq!(scene.endpoint().reconnect_at(), 61_000_000);
    assert!(scene.world.told.is_empty(), "it goes again");
}

/// A call that no connection answers fails when its attempts are used up.
#[test]
fn attempts_are_counted() {
    let mut scene = Scene::client(
        Settings {
            attempts_max: 3,
            ..Settings::default()
        },
        true,
    );
    let call = scene.world.submit(ask(NULL, 0, 0)).expect("room");
    for attempt in 1..=3 {
        scene.run();
        assert!(scene.world.told.is_empty(), "{attempt}");
        scene.world.now = scene.endpoint().deadline().expect("a call in flight");
        scene.run();
        let pause = scene.endpoint().reconnect_at() - scene.world.now;
        assert_eq!(pause, 1_000_000 << (attempt - 1), "back-off doubles");
        scene.reconnect();
    }
    assert_eq!(scene.world.told, [Event::Failed(call, Failure::Attempts)]);
}

fn read_list_server() -> Scene {
    let settings = Settings {
        read_lists: true,
        credits: 2,
        ..Settings::default()
    };
    let mut scene = Scene::server(settings, false);
    let mut octets = Message::new();
    write_call(&mut octets, 7, ask(LIST, 0, 2_000), MemoryId(0));
    scene.send(&message(
        7,
        8,
        Form::Msg,
        &Lists::default(),
        octets.inline(),
    ));
    scene.answer();
    let reads: Vec<Segment> = scene.received[0]
        .header()
        .reads()
        .map(|read| read.segment)
        .collect();
    assert_eq!((reads.len(), scene.endpoint().dones_pending()), (1, 1));
    scene
}

/// RPC-021, RPC-042: a DONE that does not come in 30 s closes the connection, and the memory is
/// the server's again.
#[test]
fn a_done_withheld_closes_the_connection() {
    let mut scene = read_list_server();
    assert_eq!(scene.endpoint().deadline(), Some(30_000_000));
    scene.world.now = 29_999_999;
    scene.run();
    assert!(!scene.is_closed);
    scene.world.now = 30_000_000;
    scene.run();
    assert!(scene.is_closed);
    assert_eq!(scene.endpoint().counters().done_time_outs, 1);
    assert_eq!(scene.world.fabric.valid_stags(scene.world.server.host), 0);
    assert_eq!(scene.world.server.pool.octets_in_use(), 0);
}

/// RPC-042: replies that would take the last receive for a DONE are held back until one comes.
#[test]
fn the_last_reply_is_held_back() {
    let mut scene = read_list_server();
    let call = |scene: &mut Scene, xid: u32| {
        let mut octets = Message::new();
        write_call(&mut octets, xid, ask(LIST, 0, 2_000), MemoryId(0));
        scene.send(&message(
            xid,
            8,
            Form::Msg,
            &Lists::default(),
            octets.inline(),
        ));
        scene.answer();
    };
    call(&mut scene, 8);
    assert_eq!(
        (scene.received.len(), scene.endpoint().dones_pending()),
        (2, 2)
    );
    assert_eq!(scene.received[1].header().credits(), 1);
    call(&mut scene, 9);
    assert_eq!(
        (
            scene.received.len(),
            scene.endpoint().counters().held_replies
        ),
        (2, 1)
    );
    let mut done = Vec::new();
    write_done(&mut done, 7, 8);
    scene.send(&done);
    assert_eq!(scene.received.len(), 3);
    assert_eq!(
        (
            scene.received[2].xid(),
            scene.received[2].header().credits()
        ),
        (9, 1)
    );
    assert_eq!(scene.endpoint().counters().held_replies, 1, "counted once");
}

/// A second DONE of the same reply is nobody's.
#[test]
fn a_done_counts_once() {
    let mut scene = read_list_server();
    let mut done = Vec::new();
    write_done(&mut done, 7, 8);
    scene.send(&done);
    assert_eq!(scene.endpoint().dones_pending(), 0);
    assert_eq!(scene.world.fabric.valid_stags(scene.world.server.host), 0);
    scene.send(&done);
    let counters = scene.endpoint().counters();
    assert_eq!((counters.dones_received, counters.stray_dones), (1, 1));
}

/// A Read that is not answered in 30 s closes the connection; its memory is lent until then.
#[test]
fn a_read_withheld_closes_the_connection() {
    let mut scene = Scene::server(Settings::default(), true);
    let mut octets = Message::new();
    write_call(&mut octets, 7, ask(PUT, 0, 4_096), MemoryId(0));
    let position = octets.inline().len() as u32;
    let source = scene.expose(0, 4_096, rpcrdma::verbs::Rights::Read);
    let lists = Lists {
        reads: vec![(position, source)],
        ..Lists::default()
    };
    // Delivered, and the Read Request not: the hostile hardware does not answer.
    scene.deliver_only(&message(7, 8, Form::Msg, &lists, octets.inline()));
    assert!(scene.world.server.pool.octets_in_use() > 0);
    assert_eq!(scene.endpoint().deadline(), Some(30_000_000));
    scene.world.now = 30_000_000;
    scene.poll_tested();
    assert!(scene.is_closed);
    assert_eq!(scene.endpoint().counters().read_time_outs, 1);
    assert_eq!(scene.world.server.pool.octets_in_use(), 0);
}

/// RPC-052: a server that names a long reply and does not answer the Read of it is left after 30 s,
/// and the call goes again.
#[test]
fn a_read_of_a_reply_withheld_closes_the_connection() {
    let settings = Settings {
        read_lists: true,
        ..Settings::default()
    };
    let mut scene = Scene::client(settings, false);
    scene.world.submit(ask(LIST, 0, 2_000)).expect("room");
    scene.run();
    scene.world.now = 1_000_000;
    let xid = scene.received[0].xid();
    let source = scene.expose(0, 2_028, rpcrdma::verbs::Rights::Read);
    let lists = Lists {
        reads: vec![(0, source)],
        ..Lists::default()
    };
    scene.deliver_only(&message(xid, 8, Form::Nomsg, &lists, &[]));
    assert!(scene.world.client.pool.octets_in_use() > 0);
    assert_eq!(scene.endpoint().deadline(), Some(31_000_000));
    scene.world.now = 30_999_999;
    scene.poll_tested();
    assert!(!scene.is_closed);
    scene.world.now = 31_000_000;
    scene.poll_tested();
    assert!(scene.is_closed && scene.world.told.is_empty());
    let counters = scene.endpoint().counters();
    assert_eq!((counters.read_time_outs, counters.call_time_outs), (1, 0));
    assert_eq!(scene.world.client.pool.octets_in_use(), 0);
    assert_eq!(
        (
            scene.endpoint().calls_waiting(),
            scene.endpoint().deadline()
        ),
        (1, None)
    );
}
