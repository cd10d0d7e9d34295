//! Reports of packets that are too big for a link on their way: true ones, and those of somebody
//! who lies.

use crate::hostile_ground::{Ground, Role};
use crate::hostile_meeting::{Meeting, Terms};
use crate::scene::{completion, event};
use crate::stranger::{ddp, icmp};
use rnic_driver::verbs::endpoint::{PairEvent, SendOperation};
use rnic_iwarp::queue_pair::Status;

/// A Write of 60,000 octets by the end that is judged: what arrived, and its longest segment since
/// `mark`.
fn write_out(ground: &Ground, meeting: &mut Meeting, mark: usize) -> usize {
    let text = crate::scene::octets(60_000, 3);
    let source = ground.end.region(&text);
    let payload = [source.part(0..text.len()).expect("inside")];
    let write = SendOperation::Write {
        payload: &payload,
        stag: 0x4242,
        to: 0,
    };
    meeting.talk.forget();
    meeting.pair.post_send(5, &write).expect("posted");
    let done = completion(&meeting.pair);
    assert_eq!((done.id, done.status), (5, Status::Success));
    let mut written = Vec::new();
    for ulpdu in meeting.talk.heard() {
        assert_eq!(ddp::opcode(&ulpdu), ddp::WRITE);
        written.extend_from_slice(&ulpdu[ddp::TAGGED_OCTETS..]);
    }
    assert!(written == text);
    let heard = ground.stranger.heard(mark, meeting.talk.conn.own_port());
    let longest = heard.iter().map(|segment| segment.payload.len()).max();
    longest.expect("segments came")
}

/// A connection on which nothing is outstanding.
fn quiet(ground: &Ground) -> Meeting {
    let mut meeting = Meeting::begin(ground, Role::Responder, Terms::default());
    meeting.greet();
    assert_eq!(event(&meeting.pair), PairEvent::Established);
    meeting
}

/// MPA-030, MPA-061, RFC 1191: a link on the way takes 600 octets and says so: every octet arrives,
/// in segments that fit.
#[test]
fn a_smaller_path_is_followed() {
    let ground = Ground::new("model");
    let mut meeting = quiet(&ground);
    let mark = ground.stranger.mark();
    ground.stranger.set_path(600, 600);
    write_out(&ground, &mut meeting, mark);
    // Those that were too long are seen as well: from here on there are none.
    let mark = ground.stranger.mark();
    let longest = write_out(&ground, &mut meeting, mark);
    assert!((400..=560).contains(&longest), "{longest}");
    assert_eq!(ground.end.endpoint.counts().forged_reports, 0);
    ground.stranger.set_path(1500, 0);
    drop(meeting);
    ground.expect_clean(0);
}

/// MPA-061, MPA-036, RFC 5927: a report that names no segment in flight, or another connection's
/// ports, changes nothing; one that names a size no link has does not make FPDUs less than 128
/// octets.
#[test]
fn a_forged_report_changes_nothing() {
    let ground = Ground::new("model");
    let mut meeting = quiet(&ground);
    let mark = ground.stranger.mark();
    let longest = write_out(&ground, &mut meeting, mark);
    assert!(longest > 1400, "{longest}");
    let port = meeting.talk.conn.own_port();
    let (_, frame) = ground
        .stranger
        .wait_segment(mark, |segment| segment.to.port() == port);
    let before = ground.end.endpoint.counts().forged_reports;
    let genuine = frame[14..14 + 28].to_vec();
    let mut other = genuine.clone();
    other[22] ^= 1;
    // Acknowledged long since; beyond everything; another port; no size of a link.
    let mut ahead = genuine.clone();
    ahead[24] ^= 0x40;
    for repeated in [&genuine, &ahead, &other] {
        ground.stranger.inject(icmp::about(&frame, repeated, 576));
    }
    ground.stranger.inject(icmp::about(&frame, &genuine, 10));
    let mark = ground.stranger.mark();
    let longest = write_out(&ground, &mut meeting, mark);
    assert!(longest > 1400, "{longest}");
    let forged = ground.end.endpoint.counts().forged_reports - before;
    let bad = ground.end.endpoint.interface_counts().bad_reports;
    assert_eq!(forged + bad, 4, "{forged} {bad}");
    drop(meeting);
    ground.expect_clean(0);
}

/// MPA-036, MPA-061: reports of 68 octets, less than IPv4 hosts have to take, are not believed; one
/// of 576 is. No FPDU has less than 128 octets.
#[test]
fn a_report_of_less_than_any_link_is_not_believed() {
    let ground = Ground::new("model");
    let mut meeting = quiet(&ground);
    let mark = ground.stranger.mark();
    ground.stranger.set_path(1000, 576);
    write_out(&ground, &mut meeting, mark);
    // What is longer than 500 octets is lost once, and reported as if 68 were the limit.
    let mark = ground.stranger.mark();
    ground.stranger.set_path(500, 68);
    let before = ground.end.endpoint.interface_counts().bad_reports;
    let port = meeting.talk.conn.own_port();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ground.stranger.wait_segment(mark, |segment| {
                segment.to.port() == port && segment.payload.len() > 500
            });
            ground.stranger.set_path(1500, 0);
        });
        let longest = write_out(&ground, &mut meeting, mark);
        assert!((500..=536).contains(&longest), "{longest}");
    });
    assert!(ground.end.endpoint.interface_counts().bad_reports > before);
    let ulpdus = meeting.talk.heard();
    let shortest = ulpdus.iter().rev().skip(1).map(Vec::len).min();
    assert!(shortest.is_some_and(|octets| octets >= 128), "{shortest:?}");
    drop(meeting);
    ground.expect_clean(0);
}
