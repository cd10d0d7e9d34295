//! A hostile client against a server, action by action: headers and chunks that are wrong.
use crate::harness::{ask, write_call, Ask, NULL, PUT};
use crate::peer::{message, words, Lists, Scene};
use rpcrdma::place::MemoryId;
use rpcrdma::stream::Message;
use rpcrdma::verbs::Rights;
use rpcrdma::wire::{write_done, write_error, ErrorBody, Form, Padding, Refused, Segment};
use rpcrdma::{Counters, Settings};

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Nothing,
    Versions,
    Chunk,
    /// A call reaches the program.
    Call,
    /// The connection ends.
    End,
}

struct Case {
    name: &'static str,
    act: fn(&mut Scene),
    answer: Answer,
    counter: fn(&Counters) -> u64,
}

pub const XID: u32 = 77;

/// The reduced stream of a call, and the position of its item.
pub fn body(asked: Ask) -> Vec<u8> {
    let mut message = Message::new();
    write_call(&mut message, XID, asked, MemoryId(0));
    message.inline().to_vec()
}

pub fn null() -> Vec<u8> {
    body(ask(NULL, 0, 0))
}

fn put(length: u32) -> (Vec<u8>, u32) {
    let body = body(ask(PUT, 0, length));
    let position = body.len() as u32;
    (body, position)
}

/// A segment that nobody has exposed.
pub const fn segment(handle: u32, length: u32, offset: u64) -> Segment {
    Segment {
        handle,
        length,
        offset,
    }
}

pub fn send(scene: &mut Scene, form: Form, lists: Lists, body: &[u8]) {
    scene.send(&message(XID, 8, form, &lists, body));
}

fn reads(scene: &mut Scene, form: Form, reads: &[(u32, Segment)], body: &[u8]) {
    send(
        scene,
        form,
        Lists {
            reads: reads.to_vec(),
            ..Lists::default()
        },
        body,
    );
}

fn writes(scene: &mut Scene, writes: &[&[Segment]]) {
    let writes = writes.iter().map(|chunk| chunk.to_vec()).collect();
    send(
        scene,
        Form::Msg,
        Lists {
            writes,
            ..Lists::default()
        },
        &null(),
    );
}

/// The words of a header that is not to be had from a writer.
fn raw(scene: &mut Scene, header: &[u32], body: &[u8]) {
    let mut octets = words(header);
    octets.extend_from_slice(body);
    scene.send(&octets);
}

macro_rules! case {
    ($name:expr, $act:expr, $answer:ident, $counter:ident) => {
        Case {
            name: $name,
            act: $act,
            answer: Answer::$answer,
            counter: |c| c.$counter,
        }
    };
    ($name:expr, $act:expr, $answer:ident, refused($refused:ident)) => {
        Case {
            name: $name,
            act: $act,
            answer: Answer::$answer,
            counter: |c| c.refused[Refused::$refused.index()],
        }
    };
}

/// RPC-006 to RPC-009, RPC-024 to RPC-030, RPC-041.
const CASES: [Case; 45] = [
    case!(
        "a right call",
        |s| send(s, Form::Msg, Lists::default(), &null()),
        Call,
        calls_received
    ),
    case!("an empty Send", |s| s.send(&[]), Nothing, refused(Short)),
    case!(
        "fifteen octets",
        |s| s.send(&words(&[XID, 1, 8, 0])[..15]),
        Nothing,
        refused(Short)
    ),
    case!(
        "version 0",
        |s| raw(s, &[XID, 0, 8, 0, 0, 0, 0], &null()),
        Versions,
        refused(Version)
    ),
    case!(
        "version 2",
        |s| raw(s, &[XID, 2, 8, 0, 0, 0, 0], &null()),
        Versions,
        refused(Version)
    ),
    case!(
        "version 2^32 - 1 in 16 octets",
        |s| raw(s, &[XID, u32::MAX, 8, 9], &[]),
        Versions,
        refused(Version)
    ),
    case!(
        "type 5",
        |s| raw(s, &[XID, 1, 8, 5, 0, 0, 0], &null()),
        Chunk,
        refused(Type)
    ),
    case!(
        "type 2^32 - 1",
        |s| raw(s, &[XID, 1, 8, u32::MAX], &[]),
        Chunk,
        refused(Type)
    ),
    case!(
        "no lists",
        |s| raw(s, &[XID, 1, 8, 0], &[]),
        Chunk,
        refused(Truncated)
    ),
    case!(
        "lists that end early",
        |s| raw(s, &[XID, 1, 8, 0, 0, 0], &[]),
        Chunk,
        refused(Truncated)
    ),
    case!(
        "half a read segment",
        |s| raw(s, &[XID, 1, 8, 0, 1, 4, 7], &[]),
        Chunk,
        refused(Truncated)
    ),
    case!(
        "an optional word of 2",
        |s| raw(s, &[XID, 1, 8, 0, 2, 0, 0], &null()),
        Chunk,
        refused(Option)
    ),
    case!(
        "a count above the octets",
        |s| raw(s, &[XID, 1, 8, 0, 0, 1, 11, 0], &null()),
        Chunk,
        refused(Count)
    ),
    case!(
        "a count of 2^32 - 1",
        |s| raw(s, &[XID, 1, 8, 0, 0, 1, u32::MAX, 0], &null()),
        Chunk,
        refused(Count)
    ),
    case!(
        "a reply chunk of 2^28 segments",
        |s| raw(s, &[XID, 1, 8, 0, 0, 0, 1, 1 << 28], &null()),
        Chunk,
        refused(Count)
    ),
    case!(
        "65 segments",
        |s| {
            let all: Vec<_> = (0..65).map(|i| segment(i, 4, 0)).collect();
            writes(s, &[&all]);
        },
        Chunk,
        refused(Segments)
    ),
    case!(
        "17 write chunks",
        |s| writes(s, &[[].as_slice(); 17]),
        Chunk,
        refused(WriteChunks)
    ),
    case!(
        "a segment beyond 2^64",
        |s| writes(s, &[&[segment(1, 2, u64::MAX)]]),
        Chunk,
        refused(Wraps)
    ),
    case!(
        "an alignment of 3",
        |s| send(
            s,
            Form::Msgp(Padding {
                align: 3,
                threshold: 9
            }),
            Lists::default(),
            &null()
        ),
        Chunk,
        refused(Align)
    ),
    case!(
        "position 2",
        |s| reads(s, Form::Msg, &[(2, segment(1, 4, 0))], &null()),
        Chunk,
        refused(Unaligned)
    ),
    case!(
        "a position within the chunk before",
        |s| reads(
            s,
            Form::Msg,
            &[(4, segment(1, 8, 0)), (8, segment(2, 4, 0))],
            &null()
        ),
        Chunk,
        refused(Inside)
    ),
    case!(
        "positions that descend",
        |s| reads(
            s,
            Form::Msg,
            &[(12, segment(1, 4, 0)), (4, segment(2, 4, 0))],
            &null()
        ),
        Chunk,
        refused(Inside)
    ),
    case!(
        "position 0 beside a body",
        |s| reads(s, Form::Msg, &[(0, segment(1, 40, 0))], &null()),
        Chunk,
        refused(PositionZero)
    ),
    case!(
        "NOMSG with nothing",
        |s| send(s, Form::Nomsg, Lists::default(), &[]),
        Chunk,
        refused(Nowhere)
    ),
    case!(
        "NOMSG with a reply chunk only",
        |s| {
            let reply = Some(vec![segment(1, 64, 0)]);
            send(
                s,
                Form::Nomsg,
                Lists {
                    reply,
                    ..Lists::default()
                },
                &[],
            );
        },
        Chunk,
        refused(Nowhere)
    ),
    case!(
        "octets after NOMSG",
        |s| reads(s, Form::Nomsg, &[(0, segment(1, 40, 0))], &null()),
        Chunk,
        refused(Behind)
    ),
    case!(
        "a body of 3 octets",
        |s| send(s, Form::Msg, Lists::default(), &[0; 3]),
        Chunk,
        refused(ShortBody)
    ),
    case!(
        "a body of another XID",
        |s| send(s, Form::Msg, Lists::default(), &words(&[XID + 1, 0, 2])),
        Chunk,
        refused(OtherXid)
    ),
    case!(
        "a position beyond the stream",
        |s| reads(s, Form::Msg, &[(1 << 20, segment(1, 4, 0))], &null()),
        Chunk,
        refused(Beyond)
    ),
    case!(
        "an octet above 1 MiB and 64 KiB",
        |s| {
            let (body, at) = put((1 << 20) + (64 << 10) + 1);
            reads(
                s,
                Form::Msg,
                &[(at, segment(1, (1 << 20) + (64 << 10) + 1, 0))],
                &body,
            );
        },
        Chunk,
        refused(ReadOctets)
    ),
    case!(
        "4 GiB in two segments",
        |s| {
            let (body, at) = put(0);
            let half = |handle| (at, segment(handle, 1 << 31, 0));
            reads(s, Form::Msg, &[half(1), half(2)], &body);
        },
        Chunk,
        refused(ReadOctets)
    ),
    case!(
        "results that overlap",
        |s| writes(s, &[&[segment(1, 8, 0)], &[segment(1, 8, 7)]]),
        Chunk,
        refused(Overlap)
    ),
    case!(
        "an item where the program has none",
        |s| {
            let body = null();
            let at = body.len() as u32;
            reads(s, Form::Msg, &[(at, segment(1, 64, 0))], &body);
        },
        Chunk,
        refused(NotEligible)
    ),
    case!(
        "an item within the arguments",
        |s| {
            let (body, at) = put(64);
            reads(s, Form::Msg, &[(at - 4, segment(1, 64, 0))], &body);
        },
        Chunk,
        refused(NotEligible)
    ),
    case!(
        "a second item",
        |s| {
            let (body, at) = put(64);
            reads(
                s,
                Form::Msg,
                &[(at, segment(1, 64, 0)), (at + 64, segment(2, 4, 0))],
                &body,
            );
        },
        Chunk,
        refused(NotEligible)
    ),
    case!(
        "a count unlike the chunk",
        |s| {
            let (body, at) = put(65);
            reads(s, Form::Msg, &[(at, segment(1, 64, 0))], &body);
        },
        Chunk,
        refused(ItemLength)
    ),
    case!(
        "an item beside a protected body",
        |s| {
            // The credential of RPCSEC_GSS: version, procedure, number, service 2, no context.
            let gss = [
                XID,
                0,
                2,
                0x2000_0001,
                1,
                PUT,
                6,
                20,
                1,
                0,
                0,
                2,
                0,
                0,
                0,
                64,
            ];
            let at = 4 * gss.len() as u32;
            reads(s, Form::Msg, &[(at, segment(1, 64, 0))], &words(&gss));
        },
        Chunk,
        refused(Protected)
    ),
    case!(
        "a long call of another XID",
        |s| {
            let source = s.expose(0, 40, Rights::Read);
            reads(s, Form::Nomsg, &[(0, source)], &[]);
        },
        Chunk,
        refused(OtherXid)
    ),
    case!(
        "a DONE for nothing",
        |s| {
            let mut octets = Vec::new();
            write_done(&mut octets, XID, 8);
            s.send(&octets);
        },
        Nothing,
        stray_dones
    ),
    case!(
        "an error",
        |s| {
            let mut octets = Vec::new();
            write_error(&mut octets, XID, 8, ErrorBody::Chunk);
            s.send(&octets);
        },
        Nothing,
        stray_errors
    ),
    case!(
        "an error that is cut off",
        |s| raw(s, &[XID, 1, 8, 4], &[]),
        Nothing,
        refused(ShortError)
    ),
    case!(
        "an error of version 3",
        |s| raw(s, &[XID, 3, 8, 4, 2], &[]),
        Nothing,
        refused(OtherVersionError)
    ),
    case!(
        "a reply",
        |s| send(
            s,
            Form::Msg,
            Lists::default(),
            &words(&[XID, 1, 0, 0, 0, 0])
        ),
        Nothing,
        stray_replies
    ),
    case!(
        "a read chunk under a handle that is none",
        |s| {
            let (body, at) = put(64);
            reads(s, Form::Msg, &[(at, segment(0xbad, 64, 0))], &body);
        },
        End,
        disconnects
    ),
    case!(
        "a Send with Invalidate of a handle that is none",
        |s| s.send_with(
            &message(XID, 8, Form::Msg, &Lists::default(), &null()),
            Some(0xbad)
        ),
        End,
        disconnects
    ),
];

pub fn assert_clean(scene: &Scene, name: &str) {
    let server = &scene.world.server;
    assert_eq!(scene.world.fabric.valid_stags(server.host), 0, "{name}");
    assert_eq!(server.pool.octets_in_use(), 0, "{name}");
    assert_eq!(server.endpoint.calls_waiting(), 0, "{name}");
}

#[test]
fn each_action_of_a_client_has_its_answer_and_its_counter() {
    for case in &CASES {
        let name = case.name;
        let mut scene = Scene::server(Settings::default(), true);
        let before = (case.counter)(scene.endpoint().counters());
        (case.act)(&mut scene);
        let after = (case.counter)(scene.endpoint().counters());
        assert_eq!(after, before + 1, "{name}");
        assert_eq!(scene.is_closed, case.answer == Answer::End, "{name}");
        let calls = usize::from(case.answer == Answer::Call);
        assert_eq!(scene.opened.len(), calls, "{name}");
        let received = std::mem::take(&mut scene.received);
        match case.answer {
            Answer::Nothing | Answer::Call | Answer::End => assert!(received.is_empty(), "{name}"),
            Answer::Versions => {
                assert!(
                    received[0].is_error(ErrorBody::Versions { low: 1, high: 1 }),
                    "{name}"
                );
            }
            Answer::Chunk => assert!(received[0].is_error(ErrorBody::Chunk), "{name}"),
        }
        for answer in received {
            assert_eq!(answer.xid(), XID, "{name}");
            assert!(answer.header().credits() > 0, "{name}");
        }
        scene.answer();
        assert_clean(&scene, name);
        if !scene.is_closed {
            // The connection serves the next call.
            scene.received.clear();
            send(&mut scene, Form::Msg, Lists::default(), &null());
            scene.answer();
            assert_eq!(scene.received[0].xid(), XID, "{name}");
        }
    }
}
