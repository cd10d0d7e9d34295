//! What is odd and good: a stream of it is taken as if it were plain.

use crate::hostile_ground::{Ground, REGION_TO, ROLES};
use crate::hostile_meeting::{Meeting, Terms};
use crate::stranger::ddp::{self, ReadRequest};
use crate::stranger::mpa::Fpdu;

/// Say something in one FPDU, changed under a right CRC.
fn say(meeting: &mut Meeting, ulpdu: &[u8], change: impl FnOnce(Fpdu) -> Fpdu) {
    meeting.talk.spoil(ulpdu, |fpdu| change(fpdu).seal());
}

/// The stream has come so far: a Send arrives.
fn expect_alive(meeting: &mut Meeting) {
    meeting.say_send(b"here");
    meeting.expect_message(b"here");
    meeting.post_receive(9).expect("posted");
    meeting.receives.push(9);
}

/// Reserved bits of both headers, PAD, and segments without an octet.
fn odd_segments(meeting: &mut Meeting) {
    let stag = meeting.region.stag();
    // DDP-007, RDMAP-001: reserved bits are not checked.
    let write = ddp::write(stag, REGION_TO, &[0xc3; 9]);
    say(meeting, &write, |fpdu| fpdu.flip(2, 0x3c).flip(3, 0x30));
    meeting.text[..9].fill(0xc3);
    expect_alive(meeting);
    // MPA-004: PAD means nothing.
    let write = ddp::write(stag, REGION_TO + 20, &[0xc4; 9]);
    say(meeting, &write, |fpdu| {
        fpdu.flip(2 + 23 + 1, 0xff).flip(2 + 23, 0x7f)
    });
    meeting.text[20..29].fill(0xc4);
    expect_alive(meeting);
    // DDP-019: STag and TO of a message without an octet.
    meeting.talk.say(&ddp::write(0xdead_beef, u64::MAX, &[]));
    expect_alive(meeting);
    // DDP-018: a Send without an octet.
    meeting.say_send(b"");
    meeting.expect_message(b"");
    meeting.post_receive(10).expect("posted");
    meeting.receives.push(10);
}

/// A Read of no octets, of an STag that is none.
fn read_nothing(meeting: &mut Meeting) {
    let request = ReadRequest {
        sink_stag: 0x33,
        sink_to: 0x44,
        octets: 0,
        source_stag: 0xdead_beef,
        source_to: u64::MAX,
    };
    let before = meeting.talk.heard().len();
    meeting.talk.say(&request.ulpdu(1));
    let heard = meeting.talk.wait_heard(before + 1);
    assert_eq!(heard[before], ddp::tagged(ddp::READ_RESPONSE, 0x33, 0x44));
}

/// One FPDU octet by octet, and several in one segment.
fn odd_segmentation(meeting: &mut Meeting) {
    let stag = meeting.region.stag();
    let fpdu = meeting
        .talk
        .framing
        .fpdu(&ddp::write(stag, REGION_TO + 600, &[0xc5; 90]));
    meeting.talk.conn.send_singly(&fpdu.octets);
    meeting.text[600..690].fill(0xc5);
    expect_alive(meeting);
    let mut octets = Vec::new();
    for at in [700, 710, 720] {
        let write = ddp::write(stag, REGION_TO + at, &[at as u8; 10]);
        octets.extend(meeting.talk.framing.fpdu(&write).octets);
        meeting.text[at as usize..][..10].fill(at as u8);
    }
    // The last one is cut in the middle.
    let (now, later) = octets.split_at(octets.len() - 20);
    meeting.talk.conn.send(now);
    meeting.talk.conn.send(later);
    expect_alive(meeting);
}

/// MPA-008: reserved bits of the marker that comes next.
fn odd_markers(meeting: &mut Meeting) {
    let position = meeting.talk.framing.position;
    let at = (position.next_multiple_of(512) - position) as usize;
    let write = ddp::write(meeting.region.stag(), REGION_TO + 1000, &[0xc6; 700]);
    say(meeting, &write, |fpdu| {
        fpdu.flip(at, 0xff).flip(at + 1, 0xff)
    });
    meeting.text[1000..1700].fill(0xc6);
    expect_alive(meeting);
    // MPA-012: the two low bits of FPDUPTR.
    let position = meeting.talk.framing.position;
    let at = (position.next_multiple_of(512) - position) as usize;
    let write = ddp::write(meeting.region.stag(), REGION_TO + 2000, &[0xc7; 700]);
    say(meeting, &write, |fpdu| fpdu.flip(at + 3, 0x03));
    meeting.text[2000..2700].fill(0xc7);
    expect_alive(meeting);
}

/// MPA-004, MPA-008, MPA-012, MPA-017, MPA-043, MPA-046, MPA-048, MPA-049, MPA-050, MPA-065,
/// DDP-007, DDP-018, DDP-019, RDMAP-001, RDMAP-008: what the documents leave to a sender is taken.
#[test]
fn an_odd_stream_is_taken() {
    let ground = Ground::new("model");
    for markers in [false, true] {
        for role in ROLES {
            println!("{role:?}, markers: {markers}");
            let terms = Terms {
                markers,
                ..Terms::default()
            };
            let mut meeting = Meeting::begin(&ground, role, terms);
            meeting.greet();
            odd_segments(&mut meeting);
            read_nothing(&mut meeting);
            odd_segmentation(&mut meeting);
            if markers {
                odd_markers(&mut meeting);
            }
            meeting.judge_memory();
            drop(meeting);
            ground.expect_clean(0);
        }
    }
}

/// MPA-006, MPA-007, MPA-019, START-028: without CRC32C, which neither end has asked for, the field
/// may have anything.
#[test]
fn a_crc_that_nobody_wants_is_not_checked() {
    let ground = Ground::new("model");
    for markers in [false, true] {
        for role in ROLES {
            println!("{role:?}, markers: {markers}");
            let terms = Terms {
                markers,
                crc: false,
                ..Terms::default()
            };
            let mut meeting = Meeting::begin(&ground, role, terms);
            meeting.greet();
            let write = ddp::write(meeting.region.stag(), REGION_TO, &[0xc8; 700]);
            let end = meeting.talk.framing.clone().fpdu(&write).octets.len();
            meeting
                .talk
                .spoil(&write, |fpdu| fpdu.flip(end - 1, 0x5a).flip(end - 4, 0xa5));
            meeting.text[..700].fill(0xc8);
            expect_alive(&mut meeting);
            meeting.judge_memory();
            drop(meeting);
            ground.expect_clean(0);
        }
    }
}
