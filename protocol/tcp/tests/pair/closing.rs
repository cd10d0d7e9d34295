//! FIN in every order, and the other ends.
use super::*;
use rnic_tcp::{Event, Lost, Settings, State, TimeOut};

fn is_over(pair: &mut Pair) -> bool {
    pair.both_are(State::Closed)
}

/// TCP-009: RFC 9293 section 3.6, figure 12.
#[test]
fn the_end_that_closes_first_waits() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.ends[CLIENT].tcp().close();
    pair.flush();
    pair.drive_for(1_000);
    assert_eq!(pair.states(), [State::FinWait2, State::CloseWait]);
    assert!(pair.happened(SERVER, Event::PeerClosed));
    pair.ends[SERVER].tcp().close();
    pair.flush();
    pair.drive_for(1_000);
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    pair.drive_for(59_000_000);
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    pair.drive();
    assert!(is_over(&mut pair));
    let events = [Event::Connected, Event::PeerClosed, Event::Closed];
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.ends[side].events, events);
    }
}

/// RFC 9293 section 3.6, figure 13.
#[test]
fn fins_that_cross_lead_both_ends_through_closing() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    for side in [CLIENT, SERVER] {
        pair.ends[side].tcp().close();
    }
    pair.flush();
    pair.drive_for(60);
    assert_eq!(pair.states(), [State::Closing; 2]);
    pair.drive_for(1_000);
    assert_eq!(pair.states(), [State::TimeWait; 2]);
    pair.drive();
    assert!(is_over(&mut pair));
}

/// TCP-008: A half-closed connection goes on sending (RFC 9293 section 3.6, case 2).
#[test]
fn the_other_direction_goes_on_after_a_fin() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.ends[CLIENT].send([300]);
    pair.flush();
    pair.ends[CLIENT].tcp().close();
    pair.ends[SERVER].send((0..200).map(|_| 1_460));
    pair.transfer();
    assert_eq!(pair.states(), [State::FinWait2, State::CloseWait]);
    pair.ends[SERVER].tcp().close();
    pair.flush();
    pair.drive();
    assert!(is_over(&mut pair));
}

/// When each end closes: as soon as its records are pushed.
fn run_with_losses(path: Path, lost: &[u64], order: usize) -> u64 {
    let mut pair = Pair::new([Settings::default(); 2], path, 1);
    let (mut count, lost) = (0, lost.to_vec());
    pair.link.script = Box::new(move |_, _| {
        count += 1;
        if lost.contains(&count) {
            Action::Drop
        } else {
            Action::Pass
        }
    });
    for side in [CLIENT, SERVER] {
        pair.ends[side].send([400, 1_460]);
    }
    let mut closed = [false; 2];
    pair.drive_until(|pair| {
        for side in [CLIENT, SERVER] {
            let end = &pair.ends[side];
            let has_peer_closed = end.events.contains(&Event::PeerClosed);
            let may = match order {
                0 => side == CLIENT || has_peer_closed,
                1 => side == SERVER || has_peer_closed,
                _ => true,
            };
            let is_pushed = end.waiting.is_empty() && end.connection.is_some();
            if is_pushed && may && !closed[side] {
                closed[side] = true;
                pair.ends[side].tcp().close();
                pair.flush();
            }
        }
        is_over(pair)
    });
    assert!(pair.is_done(), "delivered and acknowledged");
    for side in [CLIENT, SERVER] {
        let events = &pair.ends[side].events;
        assert_eq!(events.last(), Some(&Event::Closed), "{events:?}");
    }
    pair.segments
}

/// TCP-007: RFC 9293 section 3.6: both ends close in each order while any one or two segments are
/// lost, the handshake's and the last ones too.
#[test]
fn every_order_of_fins_ends_whatever_two_segments_are_lost() {
    for order in 0..3 {
        let count = run_with_losses(Path::default(), &[], order);
        assert!((8..25).contains(&count), "{count}");
        for first in 1..=count {
            run_with_losses(Path::default(), &[first], order);
            for second in first + 1..=count {
                run_with_losses(Path::default(), &[first, second], order);
            }
        }
    }
}

/// TCP-020.
#[test]
fn an_abort_resets_the_peer() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.ends[SERVER].send([1_000; 20]);
    pair.flush();
    pair.ends[CLIENT].tcp().abort();
    pair.flush();
    pair.drive();
    assert!(pair.happened(CLIENT, Event::Lost(Lost::Aborted)));
    let last = pair.ends[SERVER].events.last();
    assert!(
        matches!(last, Some(Event::Lost(Lost::Reset { .. }))),
        "{last:?}"
    );
    assert_eq!(
        pair.ends[CLIENT].tcp().statistics().lost,
        Some(Lost::Aborted)
    );
}

#[test]
fn a_peer_that_never_closes_is_left_after_its_time() {
    let mut settings = Settings::default();
    settings
        .time_outs
        .set(TimeOut::FinWait2, 5_000_000)
        .expect("in range");
    let mut pair = Pair::connected([settings; 2], Path::default(), 1);
    let begin_us = pair.now_us;
    pair.ends[CLIENT].tcp().close();
    pair.flush();
    pair.drive();
    assert!(pair.happened(CLIENT, Event::Lost(Lost::FinWait2TimeOut)));
    assert!((5_000_000..5_001_000).contains(&(pair.now_us - begin_us)));
    let last = pair.ends[SERVER].events.last();
    assert!(
        matches!(last, Some(Event::Lost(Lost::Reset { .. }))),
        "{last:?}"
    );
}

#[test]
fn a_close_before_the_handshake_ends_at_once() {
    let mut pair = Pair::plain();
    pair.ends[CLIENT].tcp().close();
    pair.flush();
    pair.drive_until(|pair| pair.ends[SERVER].connection.is_some());
    assert_eq!(pair.ends[CLIENT].events, [Event::Closed]);
    pair.ends[SERVER].tcp().close();
    pair.flush();
    assert!(pair.happened(SERVER, Event::Lost(Lost::Aborted)));
}
