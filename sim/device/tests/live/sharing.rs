//! Completions of several queue pairs in one place.

use crate::scene::{completion, event, Scene, PATIENCE};
use rnic_driver::verbs::endpoint::{
    EndpointError, PairEvent, PairOptions, QueuePair, SendOperation, SharedCompletions, Status,
    TaggedCompletion, WorkKind,
};
use rnic_driver::verbs::MemoryRegion;
use rnic_iwarp::startup::Settings;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::os::fd::AsFd;
use std::time::Duration;

/// Pairs of the scene, with eight receives each, whose ids begin with 0.
fn pairs<const N: usize>(scene: &Scene) -> [[QueuePair; 2]; N] {
    let options = PairOptions {
        sends: 8,
        receives: 8,
        ..PairOptions::default()
    };
    let startup = Settings::default();
    std::array::from_fn(|_| scene.pairs_of([&startup, &startup], options))
}

fn shared(scene: &Scene) -> SharedCompletions {
    scene.responder.endpoint.shared_completions().expect("made")
}

/// Send this much, and wait until the peer has it.
fn send(pair: &QueuePair, region: &MemoryRegion, octets: usize) {
    let payload = [region.part(0..octets).expect("inside")];
    let sent = pair.post_send(9, &SendOperation::send(&payload));
    sent.expect("posted");
    assert_eq!(completion(pair).status, Status::Success);
}

/// The next completion: whose it is, its id and octets. It is a received message.
fn next(completions: &SharedCompletions) -> (u64, u64, usize) {
    let TaggedCompletion { tag, work: done } = completions.wait(PATIENCE).expect("one comes");
    assert_eq!(
        (done.kind, done.status),
        (WorkKind::Receive, Status::Success)
    );
    assert_eq!(done.message().len(), done.octets);
    (tag, done.id, done.octets)
}

fn is_readable(file: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut fds, Some(&now)).expect("it can be polled") > 0
}

/// In the order in which they came, and those first that were there before a pair was added.
#[test]
fn completions_of_three_pairs_are_polled_in_order() {
    let scene = Scene::new(false);
    let region = scene.initiator.region(&[7; 64]);
    let [a, b, c] = pairs(&scene);
    send(&a[0], &region, 1);
    let completions = shared(&scene);
    assert!(!is_readable(&completions));
    for (tag, pair) in [(10, &a[1]), (11, &b[1]), (12, &c[1])] {
        pair.share_completions(&completions, tag).expect("added");
    }
    assert!(is_readable(&completions));
    for (pair, octets) in [(&c, 2), (&a, 3), (&b, 4), (&c, 5)] {
        send(&pair[0], &region, octets);
    }
    let expected = [(10, 0, 1), (12, 0, 2), (10, 1, 3), (11, 0, 4), (12, 1, 5)];
    assert_eq!(expected.map(|_| next(&completions)), expected);
    assert!(completions.poll().expect("it lives").is_none());
    assert!(!is_readable(&completions));
    send(&b[0], &region, 6);
    assert!(is_readable(&completions));
    assert_eq!(next(&completions), (11, 1, 6));
}

/// What the pair itself still says: its events, and that its completions are elsewhere.
#[test]
fn a_pair_that_shares_its_completions_has_events_alone() {
    let scene = Scene::new(false);
    let region = scene.initiator.region(&[7; 64]);
    let [[initiator, responder]] = pairs(&scene);
    let completions = shared(&scene);
    responder.share_completions(&completions, 1).expect("added");
    send(&initiator, &region, 8);
    assert_eq!(event(&responder), PairEvent::Established);
    assert!(responder.poll_event().expect("it lives").is_none());
    assert!(!is_readable(&responder), "a completion is not the pair's");
    let polled = responder.poll_completion();
    assert!(
        matches!(polled, Err(EndpointError::State { state, .. }) if state.contains("shares")),
        "{polled:?}"
    );
    assert_eq!(next(&completions), (1, 0, 8));
    // An end flushes what is posted, there as well.
    initiator.abort().expect("it lives");
    for id in 1..8 {
        let TaggedCompletion { tag, work: done } = completions.wait(PATIENCE).expect("one comes");
        assert_eq!((tag, done.id, done.status), (1, id, Status::Flushed));
    }
    assert!(matches!(event(&responder), PairEvent::Failed(_)));
    let posted = scene.responder.context.allocate(64).expect("memory");
    responder.post_receive(20, posted).expect("it completes");
    let TaggedCompletion { tag, work: done } = completions.wait(PATIENCE).expect("one comes");
    assert_eq!((tag, done.id, done.status), (1, 20, Status::Flushed));
    assert!(done.memory.is_some(), "it comes back");
}

/// Neither the turns of a pair that is gone, nor those that it left behind, hold up others.
#[test]
fn turns_of_pairs_that_left_are_passed_over() {
    let scene = Scene::new(false);
    let region = scene.initiator.region(&[7; 64]);
    let [a, b, c] = pairs(&scene);
    let (first, second) = (shared(&scene), shared(&scene));
    for (tag, pair) in [(1, &a), (2, &b), (3, &c)] {
        pair[1].share_completions(&first, tag).expect("added");
        send(&pair[0], &region, 10 + tag as usize);
    }
    b[1].share_completions(&second, 22).expect("moved");
    let [initiator, responder] = a;
    drop(responder);
    drop(initiator);
    assert_eq!(next(&first), (3, 0, 13));
    assert!(first.poll().expect("it lives").is_none());
    assert_eq!(next(&second), (22, 0, 12));
    assert!(second.poll().expect("it lives").is_none());
    send(&c[0], &region, 14);
    assert_eq!(next(&first), (3, 1, 14));
    // A place that is gone has taken nothing along.
    send(&c[0], &region, 15);
    drop(first);
    assert!(is_readable(&c[1]));
    send(&c[0], &region, 16);
    assert_eq!([15, 16].map(|_| completion(&c[1]).octets), [15, 16]);
}

#[test]
fn pairs_of_another_endpoint_and_waiters_at_its_end_get_an_answer() {
    let scene = Scene::new(false);
    let [[initiator, _responder]] = pairs(&scene);
    let completions = shared(&scene);
    let added = initiator.share_completions(&completions, 1);
    assert!(matches!(added, Err(EndpointError::Device(_))), "{added:?}");
    let short = completions.wait(Some(Duration::from_millis(1)));
    assert!(matches!(short, Err(EndpointError::TimedOut)), "{short:?}");
    let Scene { responder, .. } = scene;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| completions.wait(PATIENCE).map(|done| done.tag));
        drop(responder);
        let ended = waiting.join().expect("it does not panic");
        assert!(matches!(ended, Err(EndpointError::Ended)), "{ended:?}");
    });
}
