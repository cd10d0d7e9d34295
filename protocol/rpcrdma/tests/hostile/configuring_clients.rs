//! CONF_RDMA of hostile clients against a server: who may ask, when, and what it gets (RFC 5666,
//! 6.2 and 11).
use crate::client_actions::{assert_clean, body, null, segment, send, XID};
use crate::harness::{ask, LIST};
use crate::peer::{message, words, Lists, Scene};
use rpcrdma::binding::auth::{flavor, AuthSys, Credential, Groups};
use rpcrdma::binding::rpc::CallHeader;
use rpcrdma::stream::Message;
use rpcrdma::wire::{ErrorBody, Form, Refused};
use rpcrdma::{Counters, Policy, Settings};

/// The number of the program, of its version and of its procedure (RFC 5666, 6.2).
pub const CONF_RDMA: [u32; 3] = [100_417, 1, 1];
pub const POLICY: Policy = Policy {
    flavor: flavor::SYS,
    align: 64,
};
/// Octets of each receive of the server, and its ORD.
pub const BUFFER: u32 = 4_096;
const ORD: u32 = 8;
/// What RFC 5666, 6.1 promises without a word.
const LEAST: u32 = 1_024;

pub fn server(policy: Option<Policy>) -> Scene {
    let mut scene = Scene::server(Settings::default(), false);
    scene.world.server.endpoint.set_configuration_policy(policy);
    scene
}

pub fn root() -> Credential<'static> {
    let (machine, groups) = (b"".as_slice(), Groups::new(&[]));
    let (stamp, uid, gid) = (0, 0, 0);
    Credential::Sys(AuthSys {
        stamp,
        machine,
        uid,
        gid,
        groups,
    })
}

/// A call of the configuration program.
pub fn call(xid: u32, number: [u32; 3], credential: Credential<'_>, arguments: &[u32]) -> Vec<u8> {
    let [program, version, procedure] = number;
    let mut message = Message::new();
    let header = CallHeader {
        xid,
        program,
        version,
        procedure,
        credential,
    };
    header.write(&mut message).expect("a short credential");
    arguments.iter().for_each(|&word| message.u32(word));
    message.inline().to_vec()
}

/// A call as it should be, but for its arguments.
pub fn configure(scene: &mut Scene, xid: u32, arguments: &[u32]) {
    let body = call(xid, CONF_RDMA, root(), arguments);
    scene.send(&message(xid, 8, Form::Msg, &Lists::default(), &body));
}

/// What comes back.
enum Answer {
    /// An RPC reply with these words after its XID.
    Reply(&'static [u32]),
    Chunk,
    /// It reaches the program.
    Call,
}

struct Case {
    name: &'static str,
    policy: Option<Policy>,
    act: fn(&mut Scene),
    answer: Answer,
    counter: fn(&Counters) -> u64,
}

/// Words of a reply before its results, and what is in their place.
const SUCCESS: [u32; 5] = [1, 0, 0, 0, 0];
const GARBAGE: &[u32] = &[1, 0, 0, 0, 4];
pub const SYSTEM_ERROR: &[u32] = &[1, 0, 0, 0, 5];

const fn limits(call_octets: u32, reads: u32) -> [u32; 8] {
    let [a, b, c, d, e] = SUCCESS;
    [a, b, c, d, e, call_octets, POLICY.align, reads]
}

const fn case(name: &'static str, act: fn(&mut Scene), reply: &'static [u32]) -> Case {
    let is_refused = reply.len() <= 7;
    let (policy, answer) = (Some(POLICY), Answer::Reply(reply));
    let counter: fn(&Counters) -> u64 = match is_refused {
        true => |counters| counters.refused_configurations,
        false => |counters| counters.calls_received,
    };
    Case {
        name,
        policy,
        act,
        answer,
        counter,
    }
}

const CASES: [Case; 14] = [
    case(
        "sizes of 0, and no Reads",
        |s| configure(s, XID, &[0, 0, 0]),
        &limits(LEAST, ORD),
    ),
    case(
        "sizes and Reads of 2^32 - 1",
        |s| configure(s, XID, &[u32::MAX; 3]),
        &limits(BUFFER, ORD),
    ),
    case(
        "an octet above the buffers",
        |s| configure(s, XID, &[BUFFER + 1, BUFFER + 1, 1]),
        &limits(BUFFER, ORD),
    ),
    case(
        "2,000 octets",
        |s| configure(s, XID, &[2_000, 2_000, 1]),
        &limits(2_000, ORD),
    ),
    case("no arguments", |s| configure(s, XID, &[]), GARBAGE),
    case(
        "two words",
        |s| configure(s, XID, &[BUFFER, BUFFER]),
        GARBAGE,
    ),
    case(
        "four words",
        |s| configure(s, XID, &[BUFFER, BUFFER, 8, 8]),
        GARBAGE,
    ),
    case(
        "AUTH_NONE",
        |s| {
            let body = call(XID, CONF_RDMA, Credential::None, &[BUFFER, BUFFER, 8]);
            send(s, Form::Msg, Lists::default(), &body);
        },
        &[1, 1, 1, 5],
    ),
    case(
        "version 2 of the program",
        |s| {
            let body = call(XID, [100_417, 2, 1], root(), &[BUFFER, BUFFER, 8]);
            send(s, Form::Msg, Lists::default(), &body);
        },
        &[1, 0, 0, 0, 2, 1, 1],
    ),
    case(
        "procedure 2",
        |s| {
            let body = call(XID, [100_417, 1, 2], root(), &[BUFFER, BUFFER, 8]);
            send(s, Form::Msg, Lists::default(), &body);
        },
        &[1, 0, 0, 0, 3],
    ),
    case(
        "a second CONF_RDMA",
        |s| {
            configure(s, XID - 1, &[BUFFER, BUFFER, 8]);
            s.received.clear();
            configure(s, XID, &[BUFFER, BUFFER, 8]);
        },
        SYSTEM_ERROR,
    ),
    case(
        "after a call",
        |s| {
            let other = call(XID - 1, [0x2000_0001, 1, 0], root(), &[]);
            s.send(&message(XID - 1, 8, Form::Msg, &Lists::default(), &other));
            s.answer();
            s.received.clear();
            configure(s, XID, &[BUFFER, BUFFER, 8]);
        },
        SYSTEM_ERROR,
    ),
    Case {
        name: "beside a read chunk",
        policy: Some(POLICY),
        act: |s| {
            let body = call(XID, CONF_RDMA, root(), &[BUFFER, BUFFER, 8]);
            let reads = vec![(body.len() as u32, segment(1, 64, 0))];
            let lists = Lists {
                reads,
                ..Lists::default()
            };
            send(s, Form::Msg, lists, &body);
        },
        answer: Answer::Chunk,
        counter: |counters| counters.refused[Refused::NotEligible.index()],
    },
    Case {
        name: "at a server without a policy",
        policy: None,
        act: |s| configure(s, XID, &[BUFFER, BUFFER, 8]),
        answer: Answer::Call,
        counter: |counters| counters.calls_received,
    },
];

/// RPC-036, RPC-037, RPC-038, RPC-043: CONF_RDMA is answered once, as the first call, under the
/// policy's flavour, with no size above the buffers that are posted.
#[test]
fn each_configuration_has_its_answer_and_its_counter() {
    for case in &CASES {
        let name = case.name;
        let mut scene = server(case.policy);
        let before = (case.counter)(scene.endpoint().counters());
        (case.act)(&mut scene);
        let after = (case.counter)(scene.endpoint().counters());
        assert_eq!(after, before + 1, "{name}");
        match case.answer {
            Answer::Call => assert_eq!((scene.opened.len(), scene.received.len()), (1, 0)),
            Answer::Chunk => assert!(scene.received[0].is_error(ErrorBody::Chunk), "{name}"),
            Answer::Reply(expected) => {
                let expected = [&[XID], expected].concat();
                let received = scene.received[0].header();
                assert_eq!(received.body(), words(&expected), "{name}");
            }
        }
        // The connection serves the next call, of a program that there is or is not.
        scene.answer();
        scene.received.clear();
        send(&mut scene, Form::Msg, Lists::default(), &null());
        scene.answer();
        assert_eq!(scene.received[0].xid(), XID, "{name}");
        assert!(!scene.is_closed, "{name}");
        assert_clean(&scene, name);
    }
}

/// RPC-036: no Send of the server's is longer than its own buffers, nor than the peer accepts; it
/// may be as long as 6.1 promises, whatever the peer says.
#[test]
fn no_reply_is_sent_above_what_was_configured() {
    for (accepted, longest) in [
        (0, LEAST),
        (LEAST, LEAST),
        (2_000, 2_000),
        (u32::MAX, BUFFER),
    ] {
        for length in [longest - 56, longest - 55] {
            let mut scene = server(Some(POLICY));
            configure(&mut scene, 1, &[BUFFER, accepted, 8]);
            send(
                &mut scene,
                Form::Msg,
                Lists::default(),
                &body(ask(LIST, 0, length)),
            );
            scene.answer();
            let reply = &scene.received[1];
            let fits = length == longest - 56;
            assert_eq!(
                reply.is_error(ErrorBody::Chunk),
                !fits,
                "{accepted} {length}"
            );
            assert!(reply.octets.len() as u32 <= longest, "{accepted} {length}");
        }
    }
}
