//! FPDUs that are none, as a peer sends them over a live connection.

use crate::hostile::{play_all, Answer, Bad, Case};
use crate::hostile_ground::{Role, REGION_TO, ROLES};
use crate::hostile_meeting::Meeting;
use crate::stranger::ddp;
use rnic_iwarp::queue_pair::Place;

/// MPA's error 2: CRC32C.
const CRC: (u8, u8, u8) = (2, 0, 0x02);
/// MPA's error 3: markers.
const MARKER: (u8, u8, u8) = (2, 0, 0x03);
/// Local catastrophic, which RFC 6581 adds.
const CATASTROPHIC: (u8, u8, u8) = (2, 0, 0x05);

/// A Write of 101 octets, which leaves 3 octets of PAD: FPDU of 124 octets.
fn write(meeting: &Meeting) -> Vec<u8> {
    ddp::write(meeting.region.stag(), REGION_TO, &[0xdd; 101])
}

/// A Write with one octet changed under its CRC.
fn flipped(meeting: &mut Meeting, at: usize, bits: u8) -> Bad {
    let ulpdu = write(meeting);
    let place = Place::Fpdu(meeting.talk.spoil(&ulpdu, |fpdu| fpdu.flip(at, bits)));
    Bad { ulpdu, place }
}

/// A Write of 1,400 octets with markers, one of which is changed under a right CRC. `pointer` is
/// where its FPDUPTR has its low octet, from the marker that comes first in it.
fn pointed(meeting: &mut Meeting, marker: usize, bits: u16) -> Bad {
    let ulpdu = ddp::write(meeting.region.stag(), REGION_TO, &[0xdd; 1400]);
    let first = meeting.talk.framing.position.next_multiple_of(512) - meeting.talk.framing.position;
    let at = first as usize + marker * 512;
    let [high, low] = bits.to_be_bytes();
    let spoil = |fpdu: crate::stranger::mpa::Fpdu| fpdu.flip(at + 2, high).flip(at + 3, low).seal();
    let place = Place::Fpdu(meeting.talk.spoil(&ulpdu, spoil));
    Bad { ulpdu, place }
}

/// An FPDU without an octet.
fn nothing(meeting: &mut Meeting) -> Bad {
    meeting.say_bad(Vec::new())
}

/// MPA-054: where a bit is wrong.
pub const CRC_CASES: [Case; 9] = [
    // It asks for 128 octets more, which come: zeros of a Write that would be good.
    Case::new("a bit of ULPDU_Length", CRC, Answer::Bare, |meeting| {
        let bad = flipped(meeting, 1, 0x80);
        meeting.talk.conn.send(&[0; 128]);
        bad
    }),
    Case::new(
        "a bit of the DDP control octet",
        CRC,
        Answer::Bare,
        |meeting| flipped(meeting, 2, 0x40),
    ),
    Case::new("a bit of the opcode", CRC, Answer::Bare, |meeting| {
        flipped(meeting, 3, 0x02)
    }),
    Case::new("a bit of the STag", CRC, Answer::Bare, |meeting| {
        flipped(meeting, 7, 0x01)
    }),
    Case::new("a bit of the payload", CRC, Answer::Bare, |meeting| {
        flipped(meeting, 60, 0x01)
    }),
    // MPA-004: PAD is covered.
    Case::new("a bit of PAD", CRC, Answer::Bare, |meeting| {
        flipped(meeting, 119, 0x80)
    }),
    Case::new("a bit of the CRC", CRC, Answer::Bare, |meeting| {
        flipped(meeting, 123, 0x01)
    }),
    // Two good ones in the segments of the bad one.
    Case::new("a bit after packed FPDUs", CRC, Answer::Bare, |meeting| {
        let stag = meeting.region.stag();
        let mut octets = Vec::new();
        for at in [0, 8] {
            let good = ddp::write(stag, REGION_TO + at, &[0xab; 8]);
            octets.extend(meeting.talk.framing.fpdu(&good).octets);
        }
        meeting.text[..16].fill(0xab);
        let ulpdu = write(meeting);
        let place = Place::Fpdu(meeting.talk.framing.position);
        let bad = meeting.talk.framing.fpdu(&ulpdu).flip(30, 0x10);
        octets.extend(bad.octets);
        meeting.talk.conn.send(&octets);
        Bad { ulpdu, place }
    }),
    // MPA-005: as long as the length field can say.
    Case::new("a bit of the longest ULPDU", CRC, Answer::Bare, |meeting| {
        let payload = vec![0xdd; usize::from(u16::MAX) - ddp::TAGGED_OCTETS];
        let ulpdu = ddp::write(meeting.region.stag(), REGION_TO, &payload);
        let place = Place::Fpdu(meeting.talk.spoil(&ulpdu, |fpdu| fpdu.flip(60_000, 1)));
        Bad { ulpdu, place }
    }),
];

/// MPA-055, MPA-010, MPA-015, MPA-021, MPA-022.
pub const MARKER_CASES: [Case; 5] = [
    Case::new("a marker one word off", MARKER, Answer::Bare, |meeting| {
        pointed(meeting, 0, 0x0004)
    })
    .marked(),
    Case::new("a later marker off", MARKER, Answer::Bare, |meeting| {
        pointed(meeting, 1, 0x0008)
    })
    .marked(),
    Case::new(
        "a marker into the payload",
        MARKER,
        Answer::Bare,
        |meeting| pointed(meeting, 1, 0x0100),
    )
    .marked(),
    Case::new(
        "a leading marker that is not zero",
        MARKER,
        Answer::Bare,
        |meeting| {
            // Fill the stream up to where a marker is due: FPDUs of 24 octets at least.
            let position = meeting.talk.framing.position as usize;
            let filler = 512 - position - 2 - ddp::TAGGED_OCTETS - 4;
            meeting.say_write(0, &vec![0xab; filler]);
            assert_eq!(meeting.talk.framing.position, 512);
            pointed(meeting, 0, 0x0004)
        },
    )
    .marked(),
    Case::new("a reserved bit of a marker", CRC, Answer::Bare, |meeting| {
        let ulpdu = ddp::write(meeting.region.stag(), REGION_TO, &[0xdd; 1000]);
        let at = 512 - meeting.talk.framing.position as usize;
        let place = Place::Fpdu(meeting.talk.spoil(&ulpdu, |fpdu| fpdu.flip(at, 0x80)));
        Bad { ulpdu, place }
    })
    .marked(),
];

/// MPA-004, MPA-005, MPA-020, MPA-054, MPA-058, MPA-059, RDMAP-016, RDMAP-017, RDMAP-020,
/// RDMAP-021, RDMAP-022, DDP-032, DDP-033, DDP-034: an FPDU with a wrong CRC, a bit of it anywhere.
#[test]
fn a_wrong_crc_ends_in_a_terminate() {
    play_all("model", &CRC_CASES, &ROLES);
}

/// MPA-055, MPA-010, MPA-015, MPA-021, MPA-058: a marker that disagrees with the length chain, and
/// one whose reserved bits are wrong under the CRC.
#[test]
fn a_wrong_marker_ends_in_a_terminate() {
    play_all("model", &MARKER_CASES, &ROLES);
}

/// MPA2-006, MPA-005: a zero-length FPDU that is no ready-to-receive message.
#[test]
fn a_zero_length_fpdu_ends_in_a_terminate() {
    let cases = [
        Case::new("in the middle", CATASTROPHIC, Answer::Bare, nothing),
        Case::new("the second of two", CATASTROPHIC, Answer::Bare, |meeting| {
            meeting.talk.say(&[]);
            meeting.wait_reads();
            nothing(meeting)
        })
        .first(),
    ];
    play_all("model", &cases, &[Role::Responder]);
}

/// START-014: a first FPDU with a wrong CRC or marker is none: a responder sends no Terminate, but
/// a FIN, and what was posted is flushed.
#[test]
fn a_responder_answers_a_bad_first_fpdu_with_a_fin_alone() {
    let cases = [
        Case::new("CRC", CRC, Answer::Fin, |meeting| flipped(meeting, 60, 1)).first(),
        Case::new("marker", MARKER, Answer::Fin, |meeting| {
            pointed(meeting, 1, 4)
        })
        .first()
        .marked(),
        Case::new("leading marker", MARKER, Answer::Fin, |meeting| {
            pointed(meeting, 0, 4)
        })
        .first()
        .marked(),
    ];
    play_all("model", &cases, &[Role::Responder]);
}

/// START-014: an initiator sends at once: it answers the first FPDU with a Terminate.
#[test]
fn an_initiator_answers_a_bad_first_fpdu_with_a_terminate() {
    let cases = [
        Case::new("CRC", CRC, Answer::Bare, |meeting| flipped(meeting, 60, 1)).first(),
        Case::new("marker", MARKER, Answer::Bare, |meeting| {
            pointed(meeting, 1, 4)
        })
        .first()
        .marked(),
    ];
    play_all("model", &cases, &[Role::Initiator]);
}
