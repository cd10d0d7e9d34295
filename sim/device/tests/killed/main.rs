//! The process of one end is killed (SIGKILL) in the middle of something. The other end notices
//! within its time-outs, the device is clean, and its next owner resets what is left and works.
//!
//! ```text
//!  this process: end B, and the served device A <--vfio-user-- child: end A, killed
//! ```
//!
//! The child is this test program again, at the test `child::child`. Each row is done four times:
//! the child is the TCP client and MPA initiator, or the server and responder; the next owner comes
//! after B has noticed by itself, or at once, and answers B's segments with RST (RFC 9293 section
//! 3.5.2).
//!
//! | A is killed while            | B notices by itself, by |
//! |------------------------------|-------------------------|
//! | B waits for start-up         | the time of start-up    |
//! | B writes to A, or A reads B  | retransmissions         |
//! | B reads from A               | keepalive               |
//! | A writes to B, or has closed | keepalive               |
//! | B has closed                 | the time for A's FIN    |
//! | and then B closes            | retransmissions         |

mod child;
mod end;
mod scene;

use end::{startup, Act, End, Joined, PATIENCE, RECEIVES};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent, PairOptions, WorkKind};
use rnic_iwarp::queue_pair::{Failure, Status};
use scene::Scene;
use std::time::Duration;

/// How long B may take to notice.
const NOTICED: Duration = Duration::from_secs(6);

/// When the next owner comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    AtOnce,
    Late,
}

/// A row, four times at the same time: most of it is waiting.
fn row(one: impl Fn(bool, Next) + Sync) {
    std::thread::scope(|scope| {
        for is_initiator in [true, false] {
            for next in [Next::AtOnce, Next::Late] {
                let one = &one;
                scope.spawn(move || {
                    println!("the child is the initiator: {is_initiator}, next owner {next:?}");
                    one(is_initiator, next);
                });
            }
        }
    });
}

/// Why the connection is lost, by its name.
fn cause(reason: &EndpointError) -> String {
    let EndpointError::Lost { lost, .. } = reason else {
        return format!("{reason:?}");
    };
    let text = format!("{lost:?}");
    let name = text.split([' ', '{']).next();
    name.expect("the first").to_owned()
}

/// B does `own` when the child, which does `theirs`, is killed, and finds out by `late`, if its
/// segments are not reset before.
fn killed(theirs: Act, own: Act, late: &str, (is_initiator, next): (bool, Next)) {
    let mut scene = Scene::new(theirs, is_initiator);
    let mut joined = scene.joined();
    scene.wait_ready();
    if theirs == Act::Closes {
        let event = joined.pair.wait_event(PATIENCE).expect("the child's FIN");
        assert_eq!(event, PairEvent::HalfClosed);
    }
    let (killed, is_heard) = match own {
        Act::ClosesAfter => {
            let killed = scene.kill();
            joined.act(own);
            (killed, true)
        }
        own => {
            joined.act(own);
            // In FIN-WAIT-2 there is nothing to send, and no keepalive: RST answers nothing.
            (scene.kill(), own != Act::Closes)
        }
    };
    let early = (next == Next::AtOnce).then(|| scene.next_owner());
    let event = joined.pair.wait_event(Some(NOTICED));
    let event = event.expect("it is noticed in time");
    assert!(killed.elapsed() <= NOTICED, "{:?}", killed.elapsed());
    assert_eq!(event, PairEvent::Failed(Failure::Lost));
    let reason = joined.pair.end_reason().expect("it is there");
    let reason = cause(&reason.expect("it has ended"));
    match next {
        Next::AtOnce if is_heard => assert_eq!(reason, "Reset"),
        _ => assert_eq!(reason, late),
    }
    if let (Some(next), true) = (&early, is_heard) {
        assert!(next.endpoint.counts().resets > 0);
    }
    flushed(&joined);
    if !matches!(own, Act::Closes | Act::ClosesAfter) {
        joined.pair.disconnect().expect("it is there");
    }
    let event = joined.pair.wait_event(PATIENCE).expect("the end");
    assert_eq!(event, PairEvent::Closed);
    drop(joined);
    finish(&scene, early);
}

/// Each request completes: those before the end as they should, the one that was under way and all
/// others flushed (RDMAP-021).
fn flushed(joined: &Joined) {
    let (mut sent, mut received) = (Vec::new(), 0);
    while sent.len() < joined.posted || received < RECEIVES - 1 {
        let done = joined.pair.wait_completion(PATIENCE);
        let done = done.expect("each completes");
        if done.kind == WorkKind::Receive {
            assert_eq!(done.status, Status::Flushed);
            received += 1;
        } else {
            sent.push(done.status);
        }
    }
    let good = sent
        .iter()
        .take_while(|status| **status == Status::Success)
        .count();
    let is_flushed = |status: &Status| *status == Status::Flushed;
    assert!(sent[good..].iter().all(is_flushed), "{sent:?}");
    assert!(joined.posted == 0 || good < sent.len(), "nothing was left");
    assert!(joined
        .pair
        .poll_completion()
        .expect("it is there")
        .is_none());
}

/// The next owner works, and nothing is left at B.
fn finish(scene: &Scene, early: Option<End>) {
    let next = early.unwrap_or_else(|| scene.next_owner());
    scene.works(&next);
    scene.is_left_clean();
}

/// START-019, START-021: B waits for a Request, or for a Reply.
#[test]
fn killed_in_start_up() {
    row(|is_initiator, next| {
        let mut scene = Scene::new(Act::StartUp, is_initiator);
        let stream = scene.stream();
        let (killed, early, refused);
        if is_initiator {
            scene.wait_ready();
            killed = scene.kill();
            early = (next == Next::AtOnce).then(|| scene.next_owner());
            refused = stream.request(&startup(), b"").expect_err("nobody asks");
        } else {
            let pair = stream.queue_pair(&scene.end.domain, &startup(), &PairOptions::default());
            let pair = pair.expect("there is room");
            (killed, early, refused) = std::thread::scope(|scope| {
                let started = scope.spawn(|| pair.start(b""));
                scene.wait_ready();
                let killed = scene.kill();
                let early = (next == Next::AtOnce).then(|| scene.next_owner());
                let started = started.join().expect("it does not panic");
                (killed, early, started.expect_err("nobody answers"))
            });
        }
        assert!(killed.elapsed() <= NOTICED, "{:?}", killed.elapsed());
        if let Some(next) = &early {
            assert_eq!(cause(&refused), "Reset");
            assert!(next.endpoint.counts().resets > 0);
        } else {
            assert_eq!(cause(&refused), "StartupTimeOut");
        }
        finish(&scene, early);
    });
}

#[test]
fn killed_while_it_is_written_to() {
    row(|is_initiator, next| {
        let late = "RetransmissionTimeOut";
        killed(Act::Idle, Act::Writes, late, (is_initiator, next));
    });
}

/// B waits for the rest of a Response.
#[test]
fn killed_while_it_is_read_from() {
    row(|is_initiator, next| {
        let late = "KeepaliveTimeOut";
        killed(Act::Idle, Act::Reads, late, (is_initiator, next));
    });
}

/// B has closed and waits for the other half.
#[test]
fn killed_when_the_other_end_has_closed() {
    row(|is_initiator, next| {
        let late = "FinWait2TimeOut";
        killed(Act::Idle, Act::Closes, late, (is_initiator, next));
    });
}

/// B's FIN is not acknowledged any more.
#[test]
fn killed_before_the_other_end_closes() {
    row(|is_initiator, next| {
        let late = "RetransmissionTimeOut";
        killed(Act::Idle, Act::ClosesAfter, late, (is_initiator, next));
    });
}

#[test]
fn killed_while_it_writes() {
    row(|is_initiator, next| {
        let late = "KeepaliveTimeOut";
        killed(Act::Writes, Act::Idle, late, (is_initiator, next));
    });
}

/// B sends the Response.
#[test]
fn killed_while_it_reads() {
    row(|is_initiator, next| {
        let late = "RetransmissionTimeOut";
        killed(Act::Reads, Act::Idle, late, (is_initiator, next));
    });
}

#[test]
fn killed_when_it_has_closed() {
    row(|is_initiator, next| {
        let late = "KeepaliveTimeOut";
        killed(Act::Closes, Act::Idle, late, (is_initiator, next));
    });
}
