//! Answers of hostile servers to a client's CONF_RDMA (RFC 5666, 6.2).
use crate::harness::{ask, LIST, LONG_LIST, PUT};
use crate::peer::{message, words, Lists, Scene};
use crate::server_actions::{reply_body, submit, NULL_CALL};
use rpcrdma::verbs::Rights;
use rpcrdma::wire::{write_error, ErrorBody, Form, Kind};
use rpcrdma::{Configure, Counters, Event, Failure, Settings};

const CONFIGURE: Configure = Configure {
    user: Some((0, 0)),
    padding_threshold: 512,
};
/// Octets of each buffer of the client's.
const BUFFER: u32 = 4_096;

/// A client that has just asked, of whose connection nothing else is known; its question's XID.
fn client() -> (Scene, u32) {
    let settings = Settings {
        inline_octets: BUFFER,
        read_lists: true,
        attempts_max: 3,
        ..Settings::default()
    };
    let mut scene = Scene::client(settings, false);
    scene.world.client.endpoint.set_configure(Some(CONFIGURE));
    let end = scene.hostile_end();
    rpcrdma::verbs::Verbs::close(&mut scene.world.fabric.end(end));
    scene.run();
    scene.reconnect_with(None);
    scene.run();
    let xid = scene.received[0].xid();
    (scene, xid)
}

fn answer(scene: &mut Scene, xid: u32, results: &[u32]) {
    let body = [reply_body(xid), words(results)].concat();
    scene.send(&message(xid, 8, Form::Msg, &Lists::default(), &body));
}

/// RPC-035, RPC-038: nothing else leaves before the answer, and the call asks for what this end
/// has.
#[test]
fn the_question_goes_first() {
    let (mut scene, xid) = client();
    scene.world.submit(NULL_CALL).expect("room");
    scene.run();
    assert_eq!(scene.received.len(), 1);
    let asked = words(&[BUFFER, BUFFER, 8]);
    assert!(scene.received[0].octets.ends_with(&asked));
    answer(&mut scene, xid, &[BUFFER, 4, 8]);
    assert_eq!(scene.received.len(), 2);
}

/// RPC-036: no Send is longer than the server accepts, nor than the client's own buffers; what
/// does not fit goes as a long call, and what fits in nothing fails.
#[test]
fn no_call_is_sent_above_what_the_server_accepts() {
    for (accepted, longest) in [(1_500, 1_500), (512, 512), (u32::MAX, BUFFER)] {
        // 28 octets of header, 40 of the call, offset, length and count.
        for (length, is_long) in [(longest - 80, false), (longest - 79, true)] {
            let (mut scene, xid) = client();
            answer(&mut scene, xid, &[accepted, 4, 8]);
            submit(&mut scene, ask(LONG_LIST, 0, length));
            let sent = &scene.received[1];
            assert_eq!(
                sent.header().kind() == Kind::Nomsg,
                is_long,
                "{accepted} {length}"
            );
            assert!(sent.octets.len() as u32 <= longest, "{accepted} {length}");
        }
    }
    let (mut scene, xid) = client();
    answer(&mut scene, xid, &[0, 4, 8]);
    let call = submit(&mut scene, NULL_CALL);
    assert_eq!(scene.received.len(), 1, "not an octet leaves");
    let failed = Event::Failed(call, Failure::TooLong);
    assert_eq!(scene.world.told, [failed]);
}

/// RPC-037: a server that takes no Reads is offered nothing to read, and may let nothing be read
/// itself: its read list fails the call, and no Read is posted that could never leave.
#[test]
fn a_server_that_takes_no_reads_gets_none() {
    let (mut scene, xid) = client();
    answer(&mut scene, xid, &[BUFFER, 4, 0]);
    let long = submit(&mut scene, ask(PUT, 0, BUFFER));
    assert_eq!(scene.world.told, [Event::Failed(long, Failure::TooLong)]);
    scene.world.told.clear();
    submit(&mut scene, ask(PUT, 0, 2_000));
    assert_eq!(
        scene.received[1].header().reads().count(),
        0,
        "it is inline"
    );

    let (mut scene, xid) = client();
    answer(&mut scene, xid, &[BUFFER, 4, 0]);
    let call = submit(&mut scene, NULL_CALL);
    let xid = scene.received[1].xid();
    let source = scene.expose(0, 64, Rights::Read);
    let lists = Lists {
        reads: vec![(24, source)],
        ..Lists::default()
    };
    scene.send(&message(xid, 8, Form::Msg, &lists, &reply_body(xid)));
    assert_eq!(scene.world.told, [Event::Failed(call, Failure::ReadList)]);
    assert_eq!(scene.endpoint().counters().forbidden_read_lists, 1);
}

struct Case {
    name: &'static str,
    act: fn(&mut Scene, u32),
    counter: fn(&Counters) -> u64,
}

/// A server that does not configure the connection, each in its way.
const CASES: [Case; 9] = [
    Case {
        name: "no such program",
        act: |s, xid| {
            let body = words(&[xid, 1, 0, 0, 0, 1]);
            s.send(&message(xid, 8, Form::Msg, &Lists::default(), &body));
        },
        counter: |c| c.refused_configurations,
    },
    Case {
        name: "too weak a flavour",
        act: |s, xid| {
            let body = words(&[xid, 1, 1, 1, 5]);
            s.send(&message(xid, 8, Form::Msg, &Lists::default(), &body));
        },
        counter: |c| c.refused_configurations,
    },
    Case {
        name: "no results",
        act: |s, xid| answer(s, xid, &[]),
        counter: |c| c.refused_configurations,
    },
    Case {
        name: "two words",
        act: |s, xid| answer(s, xid, &[BUFFER, 4]),
        counter: |c| c.refused_configurations,
    },
    Case {
        name: "four words",
        act: |s, xid| answer(s, xid, &[BUFFER, 4, 8, 8]),
        counter: |c| c.refused_configurations,
    },
    Case {
        name: "another call's header",
        act: |s, xid| answer(s, xid + 1, &[BUFFER, 4, 8]),
        counter: |c| c.stray_replies,
    },
    Case {
        name: "a body of another XID",
        act: |s, xid| {
            let body = [reply_body(xid + 1), words(&[BUFFER, 4, 8])].concat();
            s.send(&message(xid, 8, Form::Msg, &Lists::default(), &body));
        },
        counter: |c| c.bad_replies,
    },
    Case {
        name: "ERR_CHUNK",
        act: |s, xid| {
            let mut octets = Vec::new();
            write_error(&mut octets, xid, 8, ErrorBody::Chunk);
            s.send(&octets);
        },
        counter: |c| c.errors_received,
    },
    Case {
        name: "an answer in a chunk that was not offered",
        act: |s, xid| s.send(&message(xid, 8, Form::Nomsg, &Lists::default(), &[])),
        counter: |c| c.bad_replies,
    },
];

/// RPC-035, RPC-051: an answer that is none configures nothing, draws nothing, and calls go on
/// under what RFC 5666, 6.1 promises.
#[test]
fn an_answer_that_is_none_configures_nothing() {
    for case in &CASES {
        let name = case.name;
        let (mut scene, xid) = client();
        let before = (case.counter)(scene.endpoint().counters());
        (case.act)(&mut scene, xid);
        let after = (case.counter)(scene.endpoint().counters());
        assert_eq!(after, before + 1, "{name}");
        assert_eq!(
            (scene.received.len(), scene.is_closed),
            (1, false),
            "{name}"
        );
        if scene.endpoint().calls_waiting() > 0 {
            answer(&mut scene, xid, &[]);
        }
        submit(&mut scene, ask(LIST, 0, 1_000));
        let header = scene.received[1].header();
        assert!(
            header.reply().is_some(),
            "{name}: a reply above 1,024 octets"
        );
        assert!(
            scene.world.told.is_empty(),
            "{name}: nobody is told of the question"
        );
    }
}

/// RPC-023: an alignment that is none, or that no Send has room for, pads nothing.
#[test]
fn no_alignment_is_believed_that_cannot_be() {
    for align in [0, 1, 3, 4, 48, 1 << 31, u32::MAX] {
        let (mut scene, xid) = client();
        answer(&mut scene, xid, &[BUFFER, align, 8]);
        submit(&mut scene, ask(PUT, 0, 600));
        let sent = &scene.received[1];
        assert_eq!(sent.header().padding(), None, "{align}");
        assert_eq!(sent.octets.len(), 28 + 52 + 600, "{align}");
    }
}

/// RPC-055: a server that takes CONF_RDMA and says nothing holds nobody up for good: on as many
/// connections as a call has attempts it is asked, and then no more.
#[test]
fn a_question_without_an_answer_is_given_up() {
    let (mut scene, _) = client();
    let call = scene.world.submit(NULL_CALL).expect("room");
    for attempt in 1..=3 {
        scene.run();
        let asked = scene.received.last().expect("the question");
        assert!(
            asked.octets.ends_with(&words(&[BUFFER, BUFFER, 8])),
            "{attempt}"
        );
        scene.world.now = scene.endpoint().deadline().expect("a call in flight");
        scene.run();
        assert!(scene.is_closed);
        scene.reconnect_with(None);
    }
    scene.run();
    let sent = scene.received.last().expect("the call");
    let xid = sent.xid();
    assert_eq!(sent.octets.len(), 28 + 40);
    scene.send(&message(
        xid,
        8,
        Form::Msg,
        &Lists::default(),
        &reply_body(xid),
    ));
    assert_eq!(scene.world.told, [Event::Replied(call)]);
}
