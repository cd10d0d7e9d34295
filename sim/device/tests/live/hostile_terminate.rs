//! Terminates of the peer's.

use crate::hostile::{expect_flushed, part};
use crate::hostile_ground::{Ground, Role, ROLES};
use crate::hostile_meeting::{Meeting, Terms};
use crate::scene::{completion, event};
use crate::stranger::{ddp, End};
use rnic_driver::verbs::endpoint::PairEvent;
use rnic_iwarp::queue_pair::{Failure, Status};

/// A Terminate of the stranger's, and what the Read that it names ends with.
fn be_terminated(ground: &Ground, role: Role, payload: &[u8], first: Status) {
    let mut meeting = Meeting::begin(ground, role, Terms::default());
    meeting.greet();
    meeting.post_reads();
    meeting.wait_reads();
    let header = ddp::untagged(ddp::TERMINATE, 2, 1, 0);
    meeting.talk.say(&[&header[..], payload].concat());
    assert_eq!(meeting.talk.conn.wait_end(), End::Fin);
    let (words, terminate) = meeting.talk.last_words();
    assert_eq!((words.len(), terminate), (1, None));
    let failed = match event(&meeting.pair) {
        PairEvent::Established => event(&meeting.pair),
        other => other,
    };
    let PairEvent::Failed(Failure::Terminated(received)) = failed else {
        panic!("{failed:?}");
    };
    let reported = received
        .cause
        .map(|cause| (cause.layer, cause.error_type, cause.code));
    let named = (payload.len() >= 4).then(|| (payload[0] >> 4, payload[0] & 0xf, payload[1]));
    assert_eq!(reported, named);
    assert_eq!(received.octets.as_slice(), payload);
    let done = completion(&meeting.pair);
    assert_eq!((done.id, done.status), (meeting.sends.remove(0), first));
    expect_flushed(&mut meeting);
    meeting.go_on();
    part(ground, &meeting);
}

/// RDMAP-020, RDMAP-021: a Terminate of the peer's is reported with its fields and answered with a
/// FIN alone; nothing is placed any more. One that refuses our Read is reported by that Read.
#[test]
fn a_terminate_of_the_peer_is_answered_with_a_fin_alone() {
    let ground = Ground::new("model");
    let write = ddp::tagged(ddp::WRITE, 7, 8);
    let of_write = [&[0x11, 0x00, 0xc0, 0, 0, 114][..], &write].concat();
    // It names the Read Request that came first.
    let request = ddp::untagged(ddp::READ_REQUEST, 1, 1, 0);
    let of_read = [&[0x01, 0x02, 0xe0, 0, 0, 46][..], &request, &[0; 28]].concat();
    let of_mpa = [0x20, 0x02, 0, 0];
    for (payload, first) in [
        (&of_write[..], Status::Flushed),
        (&of_read, Status::RemoteAccess),
        (&of_mpa, Status::Flushed),
        (&[0x11], Status::Flushed),
        (&[], Status::Flushed),
    ] {
        for role in ROLES {
            println!("{payload:02x?} ({role:?})");
            be_terminated(&ground, role, payload, first);
            ground.expect_clean(0);
        }
    }
}
