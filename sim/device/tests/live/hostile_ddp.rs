//! DDP segments that are none, as a peer sends them over a live connection.

use crate::hostile::{play_all, Answer, Case};
use crate::hostile_ground::{Role, RECEIVE_OCTETS, REGION_OCTETS, REGION_TO, ROLES};
use crate::hostile_meeting::Meeting;
use crate::stranger::ddp;

/// Local catastrophic: the ULPDU is shorter than its header.
const CATASTROPHIC: (u8, u8, u8) = (1, 0, 0x00);
/// Tagged buffer.
const STAG: (u8, u8, u8) = (1, 1, 0x00);
const BOUNDS: (u8, u8, u8) = (1, 1, 0x01);
const ASSOCIATION: (u8, u8, u8) = (1, 1, 0x02);
const WRAP: (u8, u8, u8) = (1, 1, 0x03);
const TAGGED_VERSION: (u8, u8, u8) = (1, 1, 0x04);
/// Untagged buffer.
const QN: (u8, u8, u8) = (1, 2, 0x01);
const NO_BUFFER: (u8, u8, u8) = (1, 2, 0x02);
const MSN: (u8, u8, u8) = (1, 2, 0x03);
const MO: (u8, u8, u8) = (1, 2, 0x04);
const TOO_LONG: (u8, u8, u8) = (1, 2, 0x05);
const UNTAGGED_VERSION: (u8, u8, u8) = (1, 2, 0x06);

/// A Write of 100 octets.
fn write(stag: u32, to: u64) -> Vec<u8> {
    ddp::write(stag, to, &[0xdd; 100])
}

/// A Send with these numbers, of so many octets.
fn send(qn: u32, msn: u32, mo: u32, octets: usize) -> Vec<u8> {
    let header = ddp::untagged(ddp::SEND, qn, msn, mo);
    [&header[..], &vec![0xdd; octets]].concat()
}

/// With another DDP version.
fn of_version(mut ulpdu: Vec<u8>, version: u8) -> Vec<u8> {
    ulpdu[0] = ulpdu[0] & !0x03 | version;
    ulpdu
}

/// A segment that is one octet shorter than its header, or has one octet alone.
pub const SHORT_CASES: [Case; 3] = [
    Case::new("one octet", CATASTROPHIC, Answer::Bare, |meeting| {
        meeting.say_bad(vec![0xc1])
    }),
    Case::new("13 octets, tagged", CATASTROPHIC, Answer::Bare, |meeting| {
        let header = ddp::tagged(ddp::WRITE, meeting.region.stag(), REGION_TO);
        meeting.say_bad(header[..13].to_vec())
    }),
    Case::new(
        "17 octets, untagged",
        CATASTROPHIC,
        Answer::Bare,
        |meeting| {
            let header = ddp::untagged(ddp::SEND, 0, meeting.msn, 0);
            meeting.say_bad(header[..17].to_vec())
        },
    ),
];

pub const TAGGED_CASES: [Case; 15] = [
    Case::new("DDP version 0", TAGGED_VERSION, Answer::Ddp, |meeting| {
        let good = write(meeting.region.stag(), REGION_TO);
        meeting.say_bad(of_version(good, 0))
    }),
    Case::new("DDP version 3", TAGGED_VERSION, Answer::Ddp, |meeting| {
        let good = write(meeting.region.stag(), REGION_TO);
        meeting.say_bad(of_version(good, 3))
    }),
    Case::new("an STag of no region", STAG, Answer::Ddp, |meeting| {
        let stag = meeting.region.stag() ^ 0x8000_0000;
        meeting.say_bad(write(stag, REGION_TO))
    }),
    Case::new("STag 0", STAG, Answer::Ddp, |meeting| {
        meeting.say_bad(write(0, REGION_TO))
    }),
    Case::new("another key of the STag", STAG, Answer::Ddp, |meeting| {
        let stag = meeting.region.stag() ^ 0x01;
        meeting.say_bad(write(stag, REGION_TO))
    }),
    // A Send with Invalidate makes it so, in the same stream.
    Case::new(
        "an STag that was invalidated",
        STAG,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.region.stag();
            let mut header = ddp::untagged(ddp::SEND_INVALIDATE, 0, meeting.msn, 0);
            header[2..6].copy_from_slice(&stag.to_be_bytes());
            meeting.msn += 1;
            meeting.talk.say(&header);
            meeting.expect_message(b"");
            meeting.say_bad(write(stag, REGION_TO))
        },
    ),
    Case::new(
        "another Protection Domain",
        ASSOCIATION,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.foreign.stag();
            meeting.say_bad(write(stag, REGION_TO))
        },
    ),
    Case::new(
        "one octet before the region",
        BOUNDS,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.region.stag();
            meeting.say_bad(write(stag, REGION_TO - 1))
        },
    ),
    Case::new(
        "one octet beyond the region",
        BOUNDS,
        Answer::Ddp,
        |meeting| {
            let (stag, end) = (meeting.region.stag(), REGION_TO + REGION_OCTETS as u64);
            meeting.say_write(REGION_OCTETS - 100, &[0xab; 100]);
            meeting.say_bad(write(stag, end - 99))
        },
    ),
    Case::new("4 GiB off", BOUNDS, Answer::Ddp, |meeting| {
        let stag = meeting.region.stag();
        meeting.say_bad(write(stag, REGION_TO + (1 << 32)))
    }),
    Case::new("beyond 2^64", WRAP, Answer::Ddp, |meeting| {
        let stag = meeting.region.stag();
        meeting.say_bad(write(stag, u64::MAX - 49))
    }),
    // A message of three segments, of which the last one is bad: the others are placed.
    Case::new(
        "the last of three segments",
        BOUNDS,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.region.stag();
            for at in [REGION_OCTETS - 250, REGION_OCTETS - 150] {
                let mut segment = write(stag, REGION_TO + at as u64);
                segment[0] &= !ddp::LAST;
                meeting.talk.say(&segment);
                meeting.text[at..at + 100].fill(0xdd);
            }
            meeting.say_bad(write(stag, REGION_TO + REGION_OCTETS as u64 - 50))
        },
    ),
    // The FPDU is split over segments of one octet each.
    Case::new("octet by octet", BOUNDS, Answer::Ddp, |meeting| {
        let ulpdu = write(meeting.region.stag(), REGION_TO - 1);
        let place = rnic_iwarp::queue_pair::Place::Fpdu(meeting.talk.framing.position);
        let fpdu = meeting.talk.framing.fpdu(&ulpdu);
        meeting.talk.conn.send_singly(&fpdu.octets);
        crate::hostile::Bad { ulpdu, place }
    }),
    Case::new(
        "a region of another connection",
        ASSOCIATION,
        Answer::Ddp,
        |meeting| {
            let stag = meeting.bound_stag;
            meeting.say_bad(write(stag, REGION_TO))
        },
    ),
    Case::new("the longest ULPDU", BOUNDS, Answer::Ddp, |meeting| {
        let stag = meeting.region.stag();
        let payload = vec![0xdd; usize::from(u16::MAX) - ddp::TAGGED_OCTETS];
        meeting.say_bad(ddp::write(stag, REGION_TO, &payload))
    }),
];

/// Fill all receives.
fn exhaust(meeting: &mut Meeting) {
    while !meeting.receives.is_empty() {
        meeting.say_send(b"one more");
        meeting.expect_message(b"one more");
    }
}

pub const UNTAGGED_CASES: [Case; 15] = [
    Case::new("DDP version 0", UNTAGGED_VERSION, Answer::Ddp, |meeting| {
        let good = ddp::send(meeting.msn, b"zero");
        meeting.say_bad(of_version(good, 0))
    }),
    Case::new("DDP version 2", UNTAGGED_VERSION, Answer::Ddp, |meeting| {
        let good = ddp::send(meeting.msn, b"two");
        meeting.say_bad(of_version(good, 2))
    }),
    Case::new("queue 3", QN, Answer::Ddp, |meeting| {
        meeting.say_bad(send(3, 1, 0, 10))
    }),
    Case::new("queue 65536", QN, Answer::Ddp, |meeting| {
        let msn = meeting.msn;
        meeting.say_bad(send(0x1_0000, msn, 0, 10))
    }),
    Case::new("no receive is left", NO_BUFFER, Answer::Ddp, |meeting| {
        exhaust(meeting);
        let msn = meeting.msn;
        meeting.say_bad(send(0, msn, 0, 10))
    }),
    Case::new(
        "an MSN beyond all receives",
        NO_BUFFER,
        Answer::Ddp,
        |meeting| {
            let msn = meeting.msn + meeting.receives.len() as u32;
            meeting.say_bad(send(0, msn, 0, 10))
        },
    ),
    Case::new(
        "an MSN half of all numbers ahead",
        NO_BUFFER,
        Answer::Ddp,
        |meeting| {
            let msn = meeting.msn + 0x7fff_ffff;
            meeting.say_bad(send(0, msn, 0, 10))
        },
    ),
    Case::new("an MSN again", MSN, Answer::Ddp, |meeting| {
        let msn = meeting.msn - 1;
        meeting.say_bad(send(0, msn, 0, 10))
    }),
    Case::new("MSN 0", MSN, Answer::Ddp, |meeting| {
        meeting.say_bad(send(0, 0, 0, 10))
    }),
    Case::new("an MSN left out", MSN, Answer::Ddp, |meeting| {
        let msn = meeting.msn + 1;
        meeting.say_bad(send(0, msn, 0, 10))
    }),
    Case::new("an MO beyond the buffer", MO, Answer::Ddp, |meeting| {
        let msn = meeting.msn;
        meeting.say_bad(send(0, msn, RECEIVE_OCTETS as u32, 1))
    })
    .too_long(),
    Case::new("an MO that wraps", MO, Answer::Ddp, |meeting| {
        let msn = meeting.msn;
        meeting.say_bad(send(0, msn, u32::MAX - 4, 10))
    })
    .too_long(),
    Case::new("one octet too long", TOO_LONG, Answer::Ddp, |meeting| {
        let msn = meeting.msn;
        meeting.say_bad(send(0, msn, 0, RECEIVE_OCTETS + 1))
    })
    .too_long(),
    Case::new(
        "too long in its second segment",
        TOO_LONG,
        Answer::Ddp,
        |meeting| {
            let msn = meeting.msn;
            let mut segment = send(0, msn, 0, 300);
            segment[0] &= !ddp::LAST;
            meeting.talk.say(&segment);
            meeting.say_bad(send(0, msn, 300, RECEIVE_OCTETS - 299))
        },
    )
    .too_long(),
    // After it comes a Terminate of the stranger's, which is of no effect any more.
    Case::new("a Terminate after it", QN, Answer::Ddp, |meeting| {
        let bad = meeting.say_bad(send(7, 1, 0, 10));
        let header = ddp::untagged(ddp::TERMINATE, 2, 1, 0);
        meeting.talk.say(&[&header[..], &[0x11, 0, 0, 0]].concat());
        bad
    }),
];

/// MPA-005, DDP-003, DDP-032, RDMAP-016: a ULPDU shorter than its header; the Terminate repeats
/// none.
#[test]
fn a_segment_without_a_whole_header_ends_in_a_terminate() {
    play_all("model", &SHORT_CASES, &ROLES);
}

/// DDP-008, DDP-020, DDP-042, DDP-043, DDP-044, DDP-045, DDP-046, DDP-047, DDP-048, DDP-049,
/// DDP-051, RDMAP-010, RDMAP-016, RDMAP-020, RDMAP-022, MPA-046: each check of a tagged segment.
#[test]
fn a_bad_tagged_segment_ends_in_a_terminate() {
    play_all("model", &TAGGED_CASES, &ROLES);
}

/// DDP-008, DDP-014, DDP-036, DDP-037, DDP-038, DDP-039, DDP-040, DDP-041, DDP-045, DDP-046,
/// RDMAP-016, RDMAP-020, RDMAP-021: each check of an untagged segment.
#[test]
fn a_bad_untagged_segment_ends_in_a_terminate() {
    play_all("model", &UNTAGGED_CASES, &ROLES);
}

/// START-014, DDP-034: an FPDU that DDP refuses is one for MPA: the responder's first word is its
/// Terminate.
#[test]
fn a_responder_answers_a_first_segment_that_is_bad_with_a_terminate() {
    let cases = [
        Case::new("STag", STAG, Answer::Ddp, |meeting| {
            meeting.say_bad(write(0x1234_5678, REGION_TO))
        })
        .first(),
        Case::new("MSN", MSN, Answer::Ddp, |meeting| {
            meeting.say_bad(send(0, 2, 0, 10))
        })
        .first(),
        Case::new("short", CATASTROPHIC, Answer::Bare, |meeting| {
            meeting.say_bad(vec![0x41, 0x43])
        })
        .first(),
    ];
    play_all("model", &cases, &[Role::Responder]);
}
