//! SYN in both roles.
use super::*;
use rnic_tcp::{Event, Lost, Settings, State};

/// TCP-002: RFC 9293 section 3.5, figure 6.
#[test]
fn three_segments_connect() {
    let mut pair = Pair::plain();
    pair.drive();
    assert!(pair.both_are(State::Established));
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.ends[side].events, [Event::Connected]);
    }
    assert_eq!(pair.segments, 3);
    assert_eq!(pair.ends[CLIENT].tcp().statistics().srtt_us, Some(100));
}

/// TCP-003: RFC 9293 section 3.5, figure 8: simultaneous open is supported.
#[test]
fn two_syns_that_cross_connect() {
    let mut pair = Pair::plain();
    pair.open_both();
    pair.drive();
    assert!(pair.both_are(State::Established));
    pair.ends[CLIENT].send([100]);
    pair.ends[SERVER].send([100]);
    pair.transfer();
}

/// TCP-002: Each of the first segments lost in turn, alone and with its first retransmission.
#[test]
fn lost_handshakes_are_repaired_by_the_timer() {
    for both in [false, true] {
        for lost in 0..4 {
            for again in [false, true] {
                let mut count = 0;
                let mut pair = Pair::new([Default::default(); 2], Path::default(), 1);
                pair.link.script = Box::new(move |_, _| {
                    count += 1;
                    let is_lost = count == lost + 1 || (again && count == lost + 2);
                    if is_lost {
                        Action::Drop
                    } else {
                        Action::Pass
                    }
                });
                if both {
                    pair.open_both();
                }
                pair.ends[CLIENT].send([10]);
                pair.ends[SERVER].send([20]);
                pair.transfer();
                assert!(pair.both_are(State::Established));
            }
        }
    }
}

/// TCP-005: RFC 9293, MUST-23 and RFC 6298 section 2: 1 s, doubled, and an end of its own.
#[test]
fn a_syn_without_answer_ends_after_three_minutes() {
    let mut pair = Pair::silent();
    let mut sent = vec![pair.now_us / 1_000_000];
    let mut segments = 1;
    pair.drive_until(|pair| {
        if pair.segments > segments {
            segments = pair.segments;
            sent.push(pair.now_us / 1_000_000);
        }
        false
    });
    assert!(pair.happened(CLIENT, Event::Lost(Lost::SynTimeOut)));
    assert_eq!(pair.now_us, 180_001_000);
    assert_eq!(sent, [0, 1, 3, 7, 15, 31, 63, 123]);
}

/// TCP-034, TCP-041: an option is in the SYN-ACK only if it was in the SYN, and counts only if both
/// had it.
#[test]
fn options_count_only_if_both_ends_have_them() {
    for [client, server] in [[true, true], [true, false], [false, true], [false, false]] {
        let settings = [client, server].map(|sack| Settings {
            sack,
            window_shift: 2,
            ..Settings::default()
        });
        let mut pair = Pair::new(settings, Path::default(), 1);
        let mut blocks = 0;
        let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let log = seen.clone();
        let mut count = 0;
        pair.link.script = Box::new(move |side, wire| {
            let options = wire.head.options;
            let flags = wire.head.flags;
            log.borrow_mut()
                .push((flags.syn, options, wire.head.window));
            count += u32::from(side == CLIENT);
            match side == CLIENT && count == 3 {
                true => Action::Drop,
                false => Action::Pass,
            }
        });
        pair.ends[CLIENT].send([1_000; 8]);
        pair.transfer();
        let seen = seen.borrow();
        let (is_syn, syn_ack, window) = seen[0];
        assert!(is_syn && syn_ack.window_shift == Some(2) && syn_ack.mss == Some(1_460));
        assert_eq!(syn_ack.sack_permitted, client && server);
        assert_eq!(window, 65_535, "not scaled");
        for (_, options, window) in seen.iter().filter(|seen| !seen.0) {
            assert!(!options.sack_permitted && options.mss.is_none());
            assert!(options.window_shift.is_none() && *window <= 16_384);
            blocks += options.sack.as_slice().len();
        }
        assert_eq!(blocks > 0, client && server);
    }
}
