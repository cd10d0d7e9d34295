//! What a peer, or somebody else on the path, does with TCP: RST, FIN, segments of no connection,
//! reports of smaller packets.

use crate::hostile::{expect_flushed, judge_end};
use crate::hostile_ground::{Ground, Role, REGION_TO, ROLES};
use crate::hostile_meeting::{Meeting, Terms};
use crate::scene::{completion, event};
use crate::stranger::wiretap::Segment;
use crate::stranger::{ddp, End};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent};
use rnic_iwarp::queue_pair::{Failure, Status};
use rnic_tcp::Lost;
use std::time::Duration;

/// Long enough for an answer that must not come.
const QUIET: Duration = Duration::from_millis(50);

/// A connection in full operation, with Reads outstanding.
fn meet(ground: &Ground, role: Role) -> Meeting {
    let mut meeting = Meeting::begin(ground, role, Terms::default());
    meeting.greet();
    meeting.post_reads();
    meeting.wait_reads();
    assert_eq!(event(&meeting.pair), PairEvent::Established);
    meeting
}

/// Why TCP is lost.
fn lost(meeting: &Meeting) -> Lost {
    let reason = meeting.pair.end_reason().expect("it is there");
    match reason.expect("it has ended") {
        EndpointError::Lost { lost, .. } => lost,
        other => panic!("{other}"),
    }
}

/// MPA-053, DDP-033, RDMAP-021: an RST in full operation flushes everything; no Terminate is sent.
#[test]
fn a_reset_flushes_everything() {
    let ground = Ground::new("model");
    ground.beside_a_bystander(|bystander| {
        for role in ROLES {
            let rounds = bystander.rounds();
            let mut meeting = meet(&ground, role);
            let mark = ground.stranger.mark();
            let port = meeting.talk.conn.own_port();
            meeting.talk.conn.abort();
            assert_eq!(event(&meeting.pair), PairEvent::Failed(Failure::Lost));
            assert!(matches!(lost(&meeting), Lost::Reset { .. }));
            expect_flushed(&mut meeting);
            meeting.judge_memory();
            meeting.pair.disconnect().expect("it is there");
            assert_eq!(event(&meeting.pair), PairEvent::Closed);
            bystander.wait_rounds(rounds + 2);
            let heard = ground.stranger.heard(mark, port);
            assert!(heard.iter().all(|segment| segment.payload.is_empty()));
            drop(meeting);
            ground.expect_clean(1);
        }
    });
    ground.expect_clean(0);
}

/// MPA-053, RFC 5961: an RST that is in the window and not at its edge, such as of somebody who
/// guesses, is answered with an ACK; the connection goes on.
#[test]
fn a_guessed_reset_ends_nothing() {
    let ground = Ground::new("model");
    let mut meeting = meet(&ground, Role::Responder);
    let conn = &meeting.talk.conn;
    conn.wait_acknowledged();
    let mark = ground.stranger.mark();
    let frame = ground.stranger.last_sent(conn.own_port());
    let seq = Segment::read(&frame).expect("a segment").seq;
    for off in [1, 1000, -1] {
        ground
            .stranger
            .inject(Segment::forge(&frame, &[], |segment| {
                segment.set_rst(true);
                segment.set_seq_number(smoltcp::wire::TcpSeqNumber(seq as i32 + off));
            }));
    }
    ground
        .stranger
        .wait_segment(mark, |segment| segment.ack == Some(seq));
    meeting.say_send(b"still here");
    meeting.expect_message(b"still here");
    drop(meeting);
    ground.expect_clean(0);
}

/// DDP-030, MPA-060, START-014: a FIN is an event; sending goes on until the application closes,
/// too.
#[test]
fn a_fin_is_half_of_an_end() {
    let ground = Ground::new("model");
    for role in ROLES {
        let meeting = meet(&ground, role);
        meeting.talk.conn.close();
        assert_eq!(event(&meeting.pair), PairEvent::HalfClosed);
        // Its Reads will not be answered any more, and the Send after them leaves.
        for id in [101, 102] {
            let done = completion(&meeting.pair);
            assert_eq!((done.id, done.status), (id, Status::Flushed));
        }
        let heard = meeting.talk.wait_heard(2);
        assert_eq!(ddp::opcode(&heard[1]), ddp::SEND);
        let mut done = Vec::new();
        while done.len() < 1 + meeting.receives.len() {
            let next = completion(&meeting.pair);
            done.push((next.id, next.status));
        }
        assert!(done.contains(&(103, Status::Success)), "{done:?}");
        meeting.pair.disconnect().expect("it is open");
        assert_eq!(event(&meeting.pair), PairEvent::Closed);
        assert_eq!(meeting.talk.conn.wait_end(), End::Fin);
        judge_end(&ground, meeting.mark, meeting.talk.conn.own_port());
        drop(meeting);
        ground.expect_clean(0);
    }
}

/// An FPDU so many octets after the peer's FIN; what it is.
fn say_after_the_fin(ground: &Ground, meeting: &mut Meeting, off: u32, ulpdu: &[u8]) {
    let port = meeting.talk.conn.own_port();
    let fpdu = meeting.talk.framing.fpdu(ulpdu);
    let frame = ground.stranger.last_sent(port);
    let last = Segment::read(&frame).expect("a segment");
    // Its FIN, or an ACK after it.
    let fin = last.seq.wrapping_sub(u32::from(!last.is_fin));
    ground
        .stranger
        .inject(Segment::forge(&frame, &fpdu.octets, |segment| {
            segment.set_fin(false);
            segment.set_seq_number(smoltcp::wire::TcpSeqNumber(fin.wrapping_add(off) as i32));
        }));
}

/// DDP-029, RDMAP-021: octets after the peer's FIN, or in its place, end in an RST and are not
/// delivered; after it nothing is placed.
#[test]
fn data_after_a_fin_ends_in_a_reset() {
    let ground = Ground::new("model");
    for (off, is_send) in [(1, false), (1, true), (0, true), (0, false)] {
        for role in ROLES {
            println!("{off} {is_send} {role:?}");
            let mut meeting = meet(&ground, role);
            meeting.talk.conn.close();
            assert_eq!(event(&meeting.pair), PairEvent::HalfClosed);
            let mark = ground.stranger.mark();
            let ulpdu = match is_send {
                true => ddp::send(meeting.msn, b"and another thing"),
                false => ddp::write(meeting.region.stag(), REGION_TO, &[0xdd; 100]),
            };
            say_after_the_fin(&ground, &mut meeting, off, &ulpdu);
            ground.stranger.wait_segment(mark, |segment| segment.is_rst);
            let failed = event(&meeting.pair);
            let is_named = matches!(
                failed,
                PairEvent::Failed(Failure::Lost | Failure::DataAfterFin)
            );
            assert!(is_named, "{failed:?}");
            for _ in 0..meeting.sends.len() + meeting.receives.len() {
                let done = completion(&meeting.pair);
                assert!(done.status == Status::Flushed || done.id == 103, "{done:?}");
            }
            // In the place of the FIN they are in order for the device, which does not know it.
            if off > 0 {
                meeting.judge_memory();
            }
            drop(meeting);
            ground.expect_clean(0);
        }
    }
}

/// RFC 9293 section 3.10.7.1, MPA-027: a segment of no connection is answered with an RST that its
/// sender accepts; an RST is not answered.
#[test]
fn a_segment_of_no_connection_is_answered_with_a_reset() {
    let ground = Ground::new("model");
    let meeting = meet(&ground, Role::Responder);
    let frame = ground.stranger.last_sent(meeting.talk.conn.own_port());
    let forge =
        |port: u16, payload: &[u8], set: &dyn Fn(&mut smoltcp::wire::TcpPacket<&mut [u8]>)| {
            Segment::forge(&frame, payload, |segment| {
                segment.set_dst_port(port);
                segment.set_seq_number(smoltcp::wire::TcpSeqNumber(5000));
                segment.set_ack_number(smoltcp::wire::TcpSeqNumber(7000));
                segment.set_psh(false);
                set(segment);
            })
        };
    // Port, payload; how it is changed; SEQ and ACK of the RST.
    type Row<'a> = (
        u16,
        &'a [u8],
        fn(&mut smoltcp::wire::TcpPacket<&mut [u8]>),
        u32,
        Option<u32>,
    );
    let rows: [Row<'_>; 4] = [
        (1000, b"", |_| {}, 7000, None),
        (1001, b"1234", |_| {}, 7000, None),
        (
            1002,
            b"",
            |segment| {
                segment.set_syn(true);
                segment.set_ack(false);
            },
            0,
            Some(5001),
        ),
        (
            1003,
            b"12",
            |segment| {
                segment.set_fin(true);
                segment.set_ack(false);
            },
            0,
            Some(5003),
        ),
    ];
    for (port, payload, set, seq, ack) in rows {
        let mark = ground.stranger.mark();
        ground.stranger.inject(forge(port, payload, &set));
        let is_of_port = |segment: &Segment| segment.from.port() == port;
        let (reset, _) = ground.stranger.wait_segment(mark, is_of_port);
        assert!(reset.is_rst && reset.payload.is_empty(), "{reset:?}");
        assert_eq!((reset.seq, reset.ack), (seq, ack), "{port}");
    }
    let mark = ground.stranger.mark();
    ground
        .stranger
        .inject(forge(1004, b"", &|segment| segment.set_rst(true)));
    std::thread::sleep(QUIET);
    let heard = ground.stranger.heard(mark, meeting.talk.conn.own_port());
    assert!(
        heard.iter().all(|segment| segment.from.port() != 1004),
        "{heard:?}"
    );
    assert_eq!(ground.end.endpoint.counts().resets, 4);
    drop(meeting);
    ground.expect_clean(0);
}
