//! A peer that falls silent, in each phase of a connection.

use crate::hostile::expect_flushed;
use crate::hostile_ground::{options, refused, settings, Ground, Role};
use crate::hostile_meeting::{Meeting, Terms};
use crate::scene::event;
use crate::stranger::mpa::{KEY_REPLY, KEY_REQUEST, START_OCTETS};
use crate::stranger::{ddp, End};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent};
use rnic_iwarp::queue_pair::Failure;
use rnic_iwarp::startup::{Settings, StartupError};
use rnic_tcp::{Lost, TimeOut};
use std::net::SocketAddr;

/// A second, the least that most time-outs can be.
const SECOND_US: u64 = 1_000_000;
/// What start-up waits here: more than a part of a start-up takes from one end to the other.
const STARTUP_US: u64 = 2_000_000;

/// With these time-outs of TCP.
fn ground(time_outs: &[(TimeOut, u64)]) -> Ground {
    Ground::with("model", |tcp| {
        for &(which, value) in time_outs {
            tcp.time_outs.set(which, value).expect("in range");
        }
    })
}

/// Settings of a start-up that times out soon.
fn short_timeout() -> Settings {
    Settings {
        timeout_us: Some(STARTUP_US),
        ..settings(false)
    }
}

/// It is this time-out, after so many octets.
fn expect_timed_out(error: EndpointError, octets: usize) {
    let EndpointError::StartupFailed { error, .. } = error else {
        panic!("{error}");
    };
    let StartupError::TimedOut {
        found_octets,
        waited_us,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(found_octets, octets);
    assert!(
        (STARTUP_US..10 * STARTUP_US).contains(&waited_us),
        "{waited_us}"
    );
}

/// MPA-053: nobody answers the SYN; or a SYN-RST does.
#[test]
fn a_syn_without_an_answer_times_out() {
    let ground = ground(&[(TimeOut::Syn, SECOND_US)]);
    let peer = SocketAddr::new(ground.stranger.address, 9);
    let failed = refused(ground.end.endpoint.connect(peer));
    let EndpointError::Lost { lost, .. } = failed else {
        panic!("{failed}");
    };
    assert_eq!(lost, Lost::Refused);
    ground.stranger.set_silent(true);
    let failed = refused(ground.end.endpoint.connect(peer));
    let EndpointError::Lost { lost, .. } = failed else {
        panic!("{failed}");
    };
    assert_eq!(lost, Lost::SynTimeOut);
    ground.expect_clean(0);
}

/// START-019, START-021: a Request does not come, or not all of it: a FIN, and the time waited.
#[test]
fn a_request_that_does_not_come_times_out() {
    let ground = ground(&[]);
    for octets in [0, 16, 19] {
        let (conn, stream) = ground.accept();
        conn.send(&[&KEY_REQUEST[..], &[0x40, 1, 0]].concat()[..octets]);
        let failed = refused(stream.request(&short_timeout(), b""));
        expect_timed_out(failed, octets);
        assert_eq!(conn.wait_end(), End::Fin);
        assert_eq!(conn.received(), b"");
        conn.close();
        ground.expect_clean(0);
    }
}

/// START-021, START-043: the same of a Reply.
#[test]
fn a_reply_that_does_not_come_times_out() {
    let ground = ground(&[]);
    for octets in [0, 16, 19] {
        let (conn, stream) = ground.connect();
        let pair = stream.queue_pair(&ground.end.domain, &short_timeout(), &options());
        let pair = pair.expect("there is room");
        let started = std::thread::scope(|scope| {
            let starting = scope.spawn(|| pair.start(b""));
            // Before the Request nothing is a Reply (START-036).
            conn.wait_octets(START_OCTETS);
            conn.send(&[&KEY_REPLY[..], &[0x40, 1, 0]].concat()[..octets]);
            starting.join().expect("it does not panic")
        });
        expect_timed_out(refused(started), octets);
        assert_eq!(conn.wait_end(), End::Fin);
        conn.close();
        drop(pair);
        ground.expect_clean(0);
    }
}

/// START-019, START-021: TCP's own limit of start-up, where that of MPA is longer.
#[test]
fn tcp_limits_a_start_up_as_well() {
    let ground = ground(&[(TimeOut::Startup, SECOND_US)]);
    let (conn, stream) = ground.accept();
    let failed = stream.request(&settings(false), b"");
    let EndpointError::Lost { lost, .. } = refused(failed) else {
        panic!("another error");
    };
    assert_eq!(lost, Lost::StartupTimeOut);
    assert_eq!(conn.wait_end(), End::Reset);
    ground.expect_clean(0);
}

/// START-021, MPA-053: a peer that does not even acknowledge the end of a start-up.
#[test]
fn a_start_up_with_nobody_leaves_nothing() {
    let ground = ground(&[(TimeOut::RetransmissionTime, SECOND_US)]);
    let (_conn, stream) = ground.accept();
    ground.stranger.set_silent(true);
    let failed = refused(stream.request(&short_timeout(), b""));
    expect_timed_out(failed, 0);
    ground.expect_clean(0);
}

/// How a connection with Reads outstanding ends when the stranger says nothing any more.
fn fall_silent(time_outs: &[(TimeOut, u64)], role: Role) -> Lost {
    let ground = ground(time_outs);
    let mut meeting = Meeting::begin(&ground, role, Terms::default());
    meeting.greet();
    assert_eq!(event(&meeting.pair), PairEvent::Established);
    let is_probed = time_outs
        .iter()
        .any(|(which, _)| *which == TimeOut::KeepaliveIdle);
    if is_probed {
        meeting.talk.conn.wait_acknowledged();
    }
    ground.stranger.set_silent(true);
    if !is_probed {
        meeting.post_reads();
    }
    assert_eq!(event(&meeting.pair), PairEvent::Failed(Failure::Lost));
    let reason = meeting.pair.end_reason().expect("it is there");
    let Some(EndpointError::Lost { lost, .. }) = reason else {
        panic!("{reason:?}");
    };
    expect_flushed(&mut meeting);
    meeting.pair.disconnect().expect("it is there");
    assert_eq!(event(&meeting.pair), PairEvent::Closed);
    meeting.judge_memory();
    drop(meeting);
    ground.expect_clean(0);
    ground.stranger.set_silent(false);
    // The device is as before: another connection works.
    let mut meeting = Meeting::begin(&ground, role, Terms::default());
    meeting.greet();
    lost
}

/// MPA-053, DDP-002, DDP-033, RDMAP-021: nothing is acknowledged any more: lost in the time that
/// was set, everything flushed.
#[test]
fn silence_in_full_operation_is_a_loss() {
    let time = [(TimeOut::RetransmissionTime, SECOND_US)];
    for role in [Role::Responder, Role::Initiator] {
        let lost = fall_silent(&time, role);
        assert!(matches!(lost, Lost::RetransmissionTimeOut { .. }), "{lost}");
    }
}

/// MPA-053: the same by the number of retransmissions.
#[test]
fn retransmissions_without_an_answer_are_a_loss() {
    // The last of them is 1.3 s after the first: whoever answers may wait for a processor.
    let count = [(TimeOut::RetransmissionCount, 5), (TimeOut::RtoMin, 20_000)];
    let lost = fall_silent(&count, Role::Responder);
    assert!(
        matches!(lost, Lost::RetransmissionCount { count: 5, .. }),
        "{lost}"
    );
}

/// MPA-053: an idle connection is probed, if that was asked for.
#[test]
fn probes_without_an_answer_are_a_loss() {
    let probes = [
        (TimeOut::KeepaliveIdle, 500_000),
        (TimeOut::KeepaliveInterval, SECOND_US),
        (TimeOut::KeepaliveCount, 1),
    ];
    let lost = fall_silent(&probes, Role::Responder);
    assert_eq!(lost, Lost::KeepaliveTimeOut { count: 1 });
}

/// DDP-031, MPA-053: a peer that acknowledges our FIN and never sends its own.
#[test]
fn a_peer_that_never_closes_is_given_up() {
    let ground = ground(&[(TimeOut::FinWait2, SECOND_US)]);
    let mut meeting = Meeting::begin(&ground, Role::Responder, Terms::default());
    meeting.greet();
    assert_eq!(event(&meeting.pair), PairEvent::Established);
    meeting.pair.disconnect().expect("it is open");
    assert_eq!(meeting.talk.conn.wait_end(), End::Fin);
    assert_eq!(event(&meeting.pair), PairEvent::Failed(Failure::Lost));
    assert_eq!(event(&meeting.pair), PairEvent::Closed);
    let reason = meeting.pair.end_reason().expect("it is there");
    let Some(EndpointError::Lost { lost, .. }) = reason else {
        panic!("{reason:?}");
    };
    assert_eq!(lost, Lost::FinWait2TimeOut);
    expect_flushed(&mut meeting);
    drop(meeting);
    ground.expect_clean(0);
}

/// RDMAP-020, MPA-053: nobody hears our Terminate: the end comes in time all the same.
#[test]
fn a_terminate_that_nobody_hears_ends_in_time() {
    let ground = ground(&[
        (TimeOut::RetransmissionTime, SECOND_US),
        (TimeOut::FinWait2, SECOND_US),
    ]);
    let mut meeting = Meeting::begin(&ground, Role::Responder, Terms::default());
    meeting.greet();
    assert_eq!(event(&meeting.pair), PairEvent::Established);
    meeting.talk.say(&ddp::write(0, 0, &[0xdd; 10]));
    ground.stranger.set_silent(true);
    let failed = event(&meeting.pair);
    let is_named = matches!(failed, PairEvent::Failed(Failure::Refused { .. }));
    assert!(is_named, "{failed:?}");
    expect_flushed(&mut meeting);
    meeting.pair.disconnect().expect("it is there");
    assert_eq!(event(&meeting.pair), PairEvent::Closed);
    drop(meeting);
    ground.expect_clean(0);
}
