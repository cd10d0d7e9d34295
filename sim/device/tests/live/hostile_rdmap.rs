//! RDMAP messages that are none, as a peer sends them over a live connection.

use crate::hostile::{play_all, Answer, Bad, Case};
use crate::hostile_ground::{BIG_OCTETS, IRD, REGION_OCTETS, REGION_TO, ROLES};
use crate::hostile_meeting::{Meeting, READ_OCTETS};
use crate::stranger::ddp::{self, ReadRequest};
use rnic_iwarp::queue_pair::Place;

/// Remote protection.
const STAG: (u8, u8, u8) = (0, 1, 0x00);
const BOUNDS: (u8, u8, u8) = (0, 1, 0x01);
const ACCESS: (u8, u8, u8) = (0, 1, 0x02);
const ASSOCIATION: (u8, u8, u8) = (0, 1, 0x03);
const WRAP: (u8, u8, u8) = (0, 1, 0x04);
const INVALIDATE: (u8, u8, u8) = (0, 1, 0x09);
/// Remote operation.
const VERSION: (u8, u8, u8) = (0, 2, 0x05);
const OPCODE: (u8, u8, u8) = (0, 2, 0x06);
const STREAM: (u8, u8, u8) = (0, 2, 0x07);
/// DDP, untagged buffer.
const NO_BUFFER: (u8, u8, u8) = (1, 2, 0x02);
const TOO_LONG: (u8, u8, u8) = (1, 2, 0x05);

/// With another octet of RDMAP: version and opcode.
fn with_control(mut ulpdu: Vec<u8>, control: u8) -> Vec<u8> {
    ulpdu[1] = control;
    ulpdu
}

/// A Send with Invalidate of an STag.
fn invalidate(meeting: &mut Meeting, stag: u32) -> Bad {
    let mut header = ddp::untagged(ddp::SEND_INVALIDATE, 0, meeting.msn, 0);
    header[2..6].copy_from_slice(&stag.to_be_bytes());
    meeting.say_bad(header.to_vec())
}

pub const OPCODE_CASES: [Case; 8] = [
    Case::new("RDMAP version 0", VERSION, Answer::Ddp, |meeting| {
        let good = ddp::send(meeting.msn, b"zero");
        meeting.say_bad(with_control(good, 0x03))
    }),
    Case::new(
        "RDMAP version 2 of a Write",
        VERSION,
        Answer::Ddp,
        |meeting| {
            let good = ddp::write(meeting.region.stag(), REGION_TO, &[0xdd; 10]);
            meeting.say_bad(with_control(good, 0x80))
        },
    ),
    Case::new("opcode 9", OPCODE, Answer::Ddp, |meeting| {
        let good = ddp::send(meeting.msn, b"nine");
        meeting.say_bad(with_control(good, 0x49))
    }),
    Case::new("a tagged Send", OPCODE, Answer::Ddp, |meeting| {
        let good = ddp::write(meeting.region.stag(), REGION_TO, &[0xdd; 10]);
        meeting.say_bad(with_control(good, 0x43))
    }),
    Case::new("an untagged Write", OPCODE, Answer::Ddp, |meeting| {
        let good = ddp::send(meeting.msn, b"write");
        meeting.say_bad(with_control(good, 0x40))
    }),
    Case::new("a Send on queue 1", OPCODE, Answer::Ddp, |meeting| {
        let header = ddp::untagged(ddp::SEND, 1, 1, 0);
        meeting.say_bad(header.to_vec())
    }),
    Case::new("a Send on queue 2", OPCODE, Answer::Ddp, |meeting| {
        let header = ddp::untagged(ddp::SEND, 2, 1, 0);
        meeting.say_bad(header.to_vec())
    }),
    Case::new("a Terminate on queue 0", OPCODE, Answer::Ddp, |meeting| {
        let header = ddp::untagged(ddp::TERMINATE, 0, meeting.msn, 0);
        meeting.say_bad([&header[..], &[0, 0, 0, 0]].concat())
    }),
];

pub const PROTECTION_CASES: [Case; 6] = [
    Case::new(
        "a Write without the right",
        ACCESS,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.sink.stag();
            meeting.say_bad(ddp::write(stag, REGION_TO, &[0xdd; 10]))
        },
    ),
    Case::new("invalidates no STag", INVALIDATE, Answer::Ddp, |meeting| {
        let stag = meeting.region.stag() ^ 0x8000_0000;
        invalidate(meeting, stag)
    }),
    Case::new(
        "invalidates another key",
        INVALIDATE,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.region.stag() ^ 0x40;
            invalidate(meeting, stag)
        },
    ),
    Case::new(
        "invalidates without the right",
        INVALIDATE,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.sink.stag();
            invalidate(meeting, stag)
        },
    ),
    Case::new(
        "invalidates another domain's",
        INVALIDATE,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.foreign.stag();
            invalidate(meeting, stag)
        },
    ),
    Case::new(
        "invalidates another connection's",
        INVALIDATE,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.bound_stag;
            invalidate(meeting, stag)
        },
    ),
];

/// What the end that is judged has asked for.
fn asked(meeting: &Meeting) -> ReadRequest {
    let heard = meeting.talk.heard();
    let request = heard.first().expect("its Read has come");
    assert_eq!(request[..18], ddp::untagged(ddp::READ_REQUEST, 1, 1, 0));
    let request = ReadRequest::read(request);
    assert_eq!(request.octets, READ_OCTETS);
    assert_eq!(request.sink_stag, meeting.sink.stag());
    request
}

/// A segment of a Read Response, so many octets from its first.
fn response(stag: u32, to: u64, octets: usize) -> Vec<u8> {
    let header = ddp::tagged(ddp::READ_RESPONSE, stag, to);
    [&header[..], &vec![0xdd; octets]].concat()
}

pub const RESPONSE_CASES: [Case; 6] = [
    Case::new("without a Read", OPCODE, Answer::Ddp, |meeting| {
        let stag = meeting.sink.stag();
        meeting.say_bad(response(stag, REGION_TO, 10))
    })
    .without_reads(),
    Case::new("to another STag", OPCODE, Answer::Ddp, |meeting| {
        let to = asked(meeting).sink_to;
        let stag = meeting.region.stag();
        meeting.say_bad(response(stag, to, READ_OCTETS as usize))
    }),
    Case::new("one octet further", OPCODE, Answer::Ddp, |meeting| {
        let request = asked(meeting);
        let (stag, to) = (request.sink_stag, request.sink_to);
        meeting.say_bad(response(stag, to + 1, READ_OCTETS as usize - 1))
    }),
    Case::new("one octet too long", OPCODE, Answer::Ddp, |meeting| {
        let request = asked(meeting);
        let (stag, to) = (request.sink_stag, request.sink_to);
        meeting.say_bad(response(stag, to, READ_OCTETS as usize + 1))
    }),
    Case::new("one octet too short", OPCODE, Answer::Ddp, |meeting| {
        let request = asked(meeting);
        let (stag, to) = (request.sink_stag, request.sink_to);
        meeting.say_bad(response(stag, to, READ_OCTETS as usize - 1))
    }),
    Case::new("whole, without its L", OPCODE, Answer::Ddp, |meeting| {
        let request = asked(meeting);
        let mut segment = response(request.sink_stag, request.sink_to, READ_OCTETS as usize);
        segment[0] &= !ddp::LAST;
        meeting.say_bad(segment)
    }),
];

/// A Read Request of the stranger's that is good.
fn good(meeting: &Meeting) -> ReadRequest {
    ReadRequest {
        sink_stag: 0x7777,
        sink_to: 0x11,
        octets: 100,
        source_stag: meeting.region.stag(),
        source_to: REGION_TO,
    }
}

/// Send a Read Request, which is the first one and bad.
fn ask(meeting: &mut Meeting, change: impl FnOnce(&mut ReadRequest)) -> Bad {
    let mut request = good(meeting);
    change(&mut request);
    let ulpdu = request.ulpdu(1);
    meeting.talk.say(&ulpdu);
    let place = Place::ReadRequest(1);
    Bad { ulpdu, place }
}

pub const READ_CASES: [Case; 9] = [
    Case::new(
        "an STag of no region",
        STAG,
        Answer::ReadRequest,
        |meeting| ask(meeting, |request| request.source_stag ^= 0x8000_0000),
    ),
    Case::new("another key", STAG, Answer::ReadRequest, |meeting| {
        ask(meeting, |request| request.source_stag ^= 1)
    }),
    Case::new(
        "another Protection Domain",
        ASSOCIATION,
        Answer::ReadRequest,
        |meeting| {
            let stag = meeting.foreign.stag();
            ask(meeting, |request| request.source_stag = stag)
        },
    ),
    Case::new(
        "without the right",
        ACCESS,
        Answer::ReadRequest,
        |meeting| {
            let stag = meeting.sink.stag();
            ask(meeting, |request| request.source_stag = stag)
        },
    ),
    Case::new("one octet before", BOUNDS, Answer::ReadRequest, |meeting| {
        ask(meeting, |request| request.source_to -= 1)
    }),
    Case::new("one octet beyond", BOUNDS, Answer::ReadRequest, |meeting| {
        ask(meeting, |request| request.octets = REGION_OCTETS as u32 + 1)
    }),
    Case::new("4 GiB", BOUNDS, Answer::ReadRequest, |meeting| {
        ask(meeting, |request| request.octets = u32::MAX)
    }),
    Case::new("beyond 2^64", WRAP, Answer::ReadRequest, |meeting| {
        ask(meeting, |request| request.source_to = u64::MAX - 49)
    }),
    Case::new(
        "of another connection",
        ASSOCIATION,
        Answer::ReadRequest,
        |meeting| {
            let stag = meeting.bound_stag;
            ask(meeting, |request| request.source_stag = stag)
        },
    ),
];

/// Read Requests of which the last one is too much: the stranger takes nothing, so that the
/// response to the first is never all on its way.
fn ask_too_often(meeting: &mut Meeting, count: u32) -> (Vec<u8>, u64) {
    meeting.talk.conn.set_reading(false);
    let request = ReadRequest {
        octets: BIG_OCTETS as u32,
        source_stag: meeting.big_stag,
        ..good(meeting)
    };
    let mut last = (Vec::new(), 0);
    for msn in 1..=count {
        let ulpdu = request.ulpdu(msn);
        let begin = meeting.talk.say(&ulpdu);
        last = (ulpdu, begin);
    }
    last
}

pub const SHAPE_CASES: [Case; 4] = [
    // As much is posted for them as the end that is judged has said: the device has no buffer.
    Case::new("one more than its IRD", NO_BUFFER, Answer::Ddp, |meeting| {
        let (ulpdu, begin) = ask_too_often(meeting, u32::from(IRD) + 1);
        let place = Place::Fpdu(begin);
        Bad { ulpdu, place }
    })
    .responding(),
    // The stranger has said that it has fewer: they were agreed on.
    Case::new(
        "one more than was agreed on",
        NO_BUFFER,
        Answer::Ddp,
        |meeting| {
            let (ulpdu, _) = ask_too_often(meeting, 2);
            let place = Place::ReadRequest(2);
            Bad { ulpdu, place }
        },
    )
    .with_ord(1)
    .responding(),
    Case::new("27 octets", STREAM, Answer::Bare, |meeting| {
        let mut ulpdu = good(meeting).ulpdu(1);
        ulpdu.pop();
        meeting.talk.say(&ulpdu);
        let place = Place::ReadRequest(1);
        Bad { ulpdu, place }
    }),
    Case::new("29 octets", TOO_LONG, Answer::Ddp, |meeting| {
        let mut ulpdu = good(meeting).ulpdu(1);
        ulpdu.push(0);
        meeting.say_bad(ulpdu)
    }),
];

/// RDMAP-001, RDMAP-002, RDMAP-003, RDMAP-004, RDMAP-005, RDMAP-016, RDMAP-017, RDMAP-019,
/// RDMAP-020, RDMAP-021: versions and opcodes.
#[test]
fn a_bad_version_or_opcode_ends_in_a_terminate() {
    play_all("model", &OPCODE_CASES, &ROLES);
}

/// RDMAP-006, RDMAP-010, RDMAP-013, RDMAP-014, RDMAP-018, RDMAP-022, DDP-042, DDP-052: Writes
/// without the right, and STags that cannot be invalidated.
#[test]
fn a_breach_of_rights_ends_in_a_terminate() {
    play_all("model", &PROTECTION_CASES, &ROLES);
}

/// RDMAP-008, RDMAP-010, RDMAP-011: Read Responses that were not asked for.
#[test]
fn a_bad_read_response_ends_in_a_terminate() {
    play_all("model", &RESPONSE_CASES, &ROLES);
}

/// RDMAP-007, RDMAP-009, RDMAP-016, RDMAP-018, RDMAP-022: each check of a Read Request; the
/// Terminate repeats it.
#[test]
fn a_bad_read_request_ends_in_a_terminate() {
    play_all("model", &READ_CASES, &ROLES);
}

/// RDMAP-007, RDMAP-012, RDMAP-016, RDMAP-022, DDP-037, DDP-040, MPA2-004: more Read Requests than
/// IRD, and such of another length.
#[test]
fn a_read_request_too_many_or_of_another_length_ends_in_a_terminate() {
    play_all("model", &SHAPE_CASES, &ROLES);
}
