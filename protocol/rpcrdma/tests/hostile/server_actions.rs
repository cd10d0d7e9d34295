//! A hostile server against a client, action by action: replies that are wrong, twice, or
//! somebody else's.
use crate::harness::{Ask, GET, NULL};
use crate::peer::{message, words, Lists, Scene};
use rpcrdma::verbs::{Rights, Verbs};
use rpcrdma::wire::{write_done, write_error, ErrorBody, Form, Refused, Segment};
use rpcrdma::{CallId, Counters, Event, Failure, Settings};

/// What becomes of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It waits on.
    Waits,
    Replied,
    Fails(Failure),
    /// The connection is closed, and the call goes again.
    Again,
    /// The connection is closed, and the call fails.
    Closed(Failure),
}

struct Case {
    name: &'static str,
    /// What the client asks for.
    ask: Ask,
    /// What the server does, given the call's XID and the segments that were offered.
    act: fn(&mut Scene, u32, &[Segment]),
    fate: Fate,
    counter: fn(&Counters) -> u64,
}

/// The body of a reply that succeeds.
pub fn reply_body(xid: u32) -> Vec<u8> {
    words(&[xid, 1, 0, 0, 0, 0])
}

pub fn reply(scene: &mut Scene, xid: u32, lists: &Lists) {
    scene.send(&message(xid, 8, Form::Msg, lists, &reply_body(xid)));
}

/// A reply that returns write chunks.
fn returns(scene: &mut Scene, xid: u32, chunks: &[&[Segment]]) {
    let writes = chunks.iter().map(|chunk| chunk.to_vec()).collect();
    reply(
        scene,
        xid,
        &Lists {
            writes,
            ..Lists::default()
        },
    );
}

fn error(scene: &mut Scene, xid: u32, body: ErrorBody) {
    let mut octets = Vec::new();
    write_error(&mut octets, xid, 8, body);
    scene.send(&octets);
}

pub const NULL_CALL: Ask = ask_const(NULL, 0);
pub const GET_CALL: Ask = ask_const(GET, 4_096);

const fn ask_const(procedure: u32, length: u32) -> Ask {
    Ask {
        procedure,
        offset: 8,
        length,
        area: 0,
    }
}

macro_rules! case {
    ($name:expr, $ask:expr, $act:expr, $fate:expr, $counter:ident) => {
        Case {
            name: $name,
            ask: $ask,
            act: $act,
            fate: $fate,
            counter: |c| c.$counter,
        }
    };
    ($name:expr, $ask:expr, $act:expr, $fate:expr, refused($refused:ident)) => {
        Case {
            name: $name,
            ask: $ask,
            act: $act,
            fate: $fate,
            counter: |c| c.refused[Refused::$refused.index()],
        }
    };
}

use Fate::{Again, Closed, Fails, Replied, Waits};

/// RPC-013, RPC-016, RPC-020, RPC-024, RPC-025, RPC-028, RPC-029, RPC-031, RPC-041.
const CASES: [Case; 33] = [
    case!(
        "a right reply",
        NULL_CALL,
        |s, xid, _| reply(s, xid, &Lists::default()),
        Replied,
        replies_received
    ),
    case!(
        "a reply of an XID that is unknown",
        NULL_CALL,
        |s, xid, _| reply(s, xid + 1, &Lists::default()),
        Waits,
        stray_replies
    ),
    case!(
        "a second reply",
        NULL_CALL,
        |s, xid, _| {
            reply(s, xid, &Lists::default());
            reply(s, xid, &Lists::default());
        },
        Replied,
        stray_replies
    ),
    case!(
        "fifteen octets",
        NULL_CALL,
        |s, _, _| s.send(&[0; 15]),
        Waits,
        refused(Short)
    ),
    case!(
        "an empty Send",
        NULL_CALL,
        |s, _, _| s.send(&[]),
        Waits,
        refused(Short)
    ),
    case!(
        "a reply that is cut off",
        NULL_CALL,
        |s, xid, _| s.send(&words(&[xid, 1, 8, 0, 0])),
        Fails(Failure::Reply(Refused::Truncated)),
        bad_replies
    ),
    case!(
        "a reply of version 2",
        NULL_CALL,
        |s, xid, _| s.send(&words(&[xid, 2, 8, 0, 0, 0, 0, xid, 1])),
        Fails(Failure::Reply(Refused::Version)),
        bad_replies
    ),
    case!(
        "a reply of type 5",
        NULL_CALL,
        |s, xid, _| s.send(&words(&[xid, 1, 8, 5, 0, 0, 0, xid, 1])),
        Fails(Failure::Reply(Refused::Type)),
        bad_replies
    ),
    case!(
        "a body of another XID",
        NULL_CALL,
        |s, xid, _| s.send(&message(
            xid,
            8,
            Form::Msg,
            &Lists::default(),
            &reply_body(xid + 1)
        )),
        Fails(Failure::Reply(Refused::OtherXid)),
        bad_replies
    ),
    case!(
        "a reply without a body",
        NULL_CALL,
        |s, xid, _| s.send(&message(xid, 8, Form::Msg, &Lists::default(), &words(&[]))),
        Fails(Failure::Reply(Refused::ShortBody)),
        bad_replies
    ),
    case!(
        "NOMSG with nothing",
        NULL_CALL,
        |s, xid, _| s.send(&message(xid, 8, Form::Nomsg, &Lists::default(), &[])),
        Fails(Failure::Reply(Refused::Nowhere)),
        bad_replies
    ),
    case!(
        "ERR_CHUNK",
        NULL_CALL,
        |s, xid, _| error(s, xid, ErrorBody::Chunk),
        Fails(Failure::Chunk),
        errors_received
    ),
    case!(
        "ERR_VERS",
        NULL_CALL,
        |s, xid, _| error(s, xid, ErrorBody::Versions { low: 2, high: 3 }),
        Closed(Failure::Version),
        errors_received
    ),
    case!(
        "an error without a name",
        NULL_CALL,
        |s, xid, _| error(
            s,
            xid,
            ErrorBody::Other {
                code: 9,
                words: [7; 8]
            }
        ),
        Fails(Failure::Error(9)),
        errors_received
    ),
    case!(
        "an error for nothing",
        NULL_CALL,
        |s, xid, _| error(s, xid + 5, ErrorBody::Chunk),
        Waits,
        stray_errors
    ),
    case!(
        "an error of another version",
        NULL_CALL,
        |s, xid, _| s.send(&words(&[xid, 9, 8, 4, 2])),
        Waits,
        refused(OtherVersionError)
    ),
    case!(
        "an error that is cut off",
        NULL_CALL,
        |s, xid, _| s.send(&words(&[xid, 1, 8, 4, 9, 1, 2])),
        Fails(Failure::Reply(Refused::ShortError)),
        refused(ShortError)
    ),
    case!(
        "a DONE",
        NULL_CALL,
        |s, xid, _| {
            let mut octets = Vec::new();
            write_done(&mut octets, xid, 8);
            s.send(&octets);
        },
        Waits,
        stray_dones
    ),
    case!(
        "a call",
        NULL_CALL,
        |s, _, _| {
            let body = words(&[99, 0, 2, 1, 1, 0, 0, 0, 0, 0]);
            s.send(&message(99, 8, Form::Msg, &Lists::default(), &body));
        },
        Waits,
        stray_calls
    ),
    case!(
        "a grant of 0",
        NULL_CALL,
        |s, xid, _| {
            s.send(&message(
                xid,
                0,
                Form::Msg,
                &Lists::default(),
                &reply_body(xid),
            ));
        },
        Replied,
        zero_grants
    ),
    case!(
        "a grant of 2^32 - 1",
        NULL_CALL,
        |s, xid, _| {
            s.send(&message(
                xid,
                u32::MAX,
                Form::Msg,
                &Lists::default(),
                &reply_body(xid),
            ));
        },
        Replied,
        cut_grants
    ),
    case!(
        "a length above the offer",
        GET_CALL,
        |s, xid, offer| {
            returns(
                s,
                xid,
                &[&[Segment {
                    length: offer[0].length + 1,
                    ..offer[0]
                }]],
            );
        },
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "another handle",
        GET_CALL,
        |s, xid, offer| returns(
            s,
            xid,
            &[&[Segment {
                handle: offer[0].handle + 1,
                ..offer[0]
            }]]
        ),
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "another offset",
        GET_CALL,
        |s, xid, offer| returns(
            s,
            xid,
            &[&[Segment {
                offset: offer[0].offset + 4,
                ..offer[0]
            }]]
        ),
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "a segment more",
        GET_CALL,
        |s, xid, offer| {
            let more = Segment {
                offset: 0,
                length: 0,
                ..offer[0]
            };
            returns(s, xid, &[&[offer[0], more]]);
        },
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "a chunk without segments",
        GET_CALL,
        |s, xid, _| returns(s, xid, &[&[]]),
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "a chunk more",
        GET_CALL,
        |s, xid, offer| returns(s, xid, &[&[offer[0]], &[]]),
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "a write chunk that was not offered",
        NULL_CALL,
        |s, xid, _| returns(
            s,
            xid,
            &[&[Segment {
                handle: 1,
                length: 0,
                offset: 0
            }]]
        ),
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "a reply chunk that was not offered",
        NULL_CALL,
        |s, xid, _| {
            let chunk = vec![Segment {
                handle: 1,
                length: 64,
                offset: 0,
            }];
            let lists = Lists {
                reply: Some(chunk),
                ..Lists::default()
            };
            s.send(&message(xid, 8, Form::Nomsg, &lists, &[]));
        },
        Closed(Failure::Segments),
        foreign_segments
    ),
    case!(
        "a read list",
        NULL_CALL,
        |s, xid, _| {
            let source = s.expose(0, 64, Rights::Read);
            let lists = Lists {
                reads: vec![(24, source)],
                ..Lists::default()
            };
            s.send(&message(xid, 8, Form::Msg, &lists, &reply_body(xid)));
        },
        Fails(Failure::ReadList),
        forbidden_read_lists
    ),
    case!(
        "a handle invalidated that is none",
        GET_CALL,
        |s, xid, offer| {
            let lists = Lists {
                writes: vec![vec![offer[0]]],
                ..Lists::default()
            };
            let octets = message(xid, 8, Form::Msg, &lists, &reply_body(xid));
            s.send_with(&octets, Some(offer[0].handle ^ 1));
        },
        Again,
        disconnects
    ),
    case!(
        "a Write beyond the result",
        GET_CALL,
        |s, _, offer| {
            let (source, end) = (s.data(0, 8), s.hostile_end());
            let sink = Segment {
                offset: offer[0].offset + u64::from(offer[0].length) - 7,
                ..offer[0]
            };
            s.world
                .fabric
                .end(end)
                .write(5, source, sink)
                .expect("room");
            s.run();
        },
        Again,
        disconnects
    ),
    case!(
        "a Read of a result",
        GET_CALL,
        |s, _, offer| {
            let (sink, end) = (s.data(0, 8), s.hostile_end());
            let source = Segment {
                length: 8,
                ..offer[0]
            };
            s.world.fabric.end(end).read(5, source, sink).expect("room");
            s.run();
        },
        Again,
        disconnects
    ),
];

pub fn submit(scene: &mut Scene, asked: Ask) -> CallId {
    let call = scene.world.submit(asked).expect("room");
    scene.run();
    call
}

/// RPC-051: What is wrong with a reply fails its call or ends the connection; no error answers it.
#[test]
fn each_action_of_a_server_has_its_fate_and_its_counter() {
    for case in &CASES {
        let mut scene = Scene::client(Settings::default(), true);
        let call = submit(&mut scene, case.ask);
        let header = scene.received[0].header();
        let (xid, offer): (u32, Vec<Segment>) = (header.xid(), header.results().collect());
        let before = (case.counter)(scene.endpoint().counters());
        (case.act)(&mut scene, xid, &offer);
        let told = scene.world.told.clone();
        let expected = match case.fate {
            Waits | Again => vec![],
            Replied => vec![Event::Replied(call)],
            Fails(failure) | Closed(failure) => vec![Event::Failed(call, failure)],
        };
        assert_eq!(told, expected, "{}", case.name);
        let is_closed = matches!(case.fate, Again | Closed(_));
        assert_eq!(scene.is_closed, is_closed, "{}", case.name);
        let after = (case.counter)(scene.endpoint().counters());
        assert_eq!(after, before + 1, "{}", case.name);
        // RPC-028: a wrong reply draws no answer.
        assert_eq!(scene.received.len(), 1, "{}", case.name);
        let Scene { mut world, .. } = scene;
        if !told.is_empty() {
            world.client.endpoint.release(call, &mut world.client.pool);
            assert_eq!(world.client.endpoint.calls_waiting(), 0, "{}", case.name);
        }
        if !told.is_empty() || is_closed {
            assert_eq!(
                world.fabric.valid_stags(world.client.host),
                0,
                "{}",
                case.name
            );
        }
    }
}
