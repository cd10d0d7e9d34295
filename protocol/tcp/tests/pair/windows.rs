//! The peer's window: closed, small, and open again.
use super::*;
use rnic_tcp::{Event, Lost, Settings, State};

fn settings(receive_octets: u32) -> Settings {
    Settings {
        receive_octets,
        ..Settings::default()
    }
}

/// TCP-014: RFC 9293 section 3.8.6.1: probes while the window is closed, without payload; octets go
/// on when it opens, and records are not split.
#[test]
fn a_closed_window_is_probed_without_payload_and_opens() {
    let mut pair = Pair::connected([settings(65_535), settings(4_000)], Path::default(), 1);
    pair.ends[SERVER].reads = false;
    pair.ends[CLIENT].send([1_000; 40]);
    pair.flush();
    pair.drive_for(20_000_000);
    let statistics = pair.ends[CLIENT].tcp().statistics();
    assert!(
        (4..10).contains(&statistics.sent.window_probes),
        "{statistics:?}"
    );
    assert_eq!(statistics.sent.octets, 4_000);
    assert_eq!((statistics.sent.time_outs, statistics.sent.splits), (0, 0));
    pair.ends[SERVER].reads = true;
    pair.transfer();
}

/// TCP-014: RFC 9293, MUST-37: a peer that answers may keep its window closed as long as it likes.
#[test]
fn a_peer_that_answers_probes_for_hours_is_not_lost() {
    let mut pair = Pair::connected([settings(65_535), settings(4_000)], Path::default(), 1);
    pair.ends[SERVER].reads = false;
    pair.ends[CLIENT].send([1_000; 40]);
    pair.flush();
    pair.drive_for(4 * 3_600_000_000);
    assert!(pair.both_are(State::Established));
    let probes = pair.ends[CLIENT].tcp().statistics().sent.window_probes;
    assert!((240..300).contains(&probes), "one a minute: {probes}");
    pair.ends[SERVER].reads = true;
    pair.transfer();
}

/// TCP-014.
#[test]
fn a_peer_that_answers_no_probe_is_lost() {
    let mut pair = Pair::connected([settings(65_535), settings(4_000)], Path::default(), 1);
    pair.ends[SERVER].reads = false;
    pair.ends[CLIENT].send([1_000; 40]);
    pair.flush();
    pair.drive_for(10_000_000);
    pair.link.script = Box::new(|_, _| Action::Drop);
    let begin_us = pair.now_us;
    pair.drive_until(|pair| pair.ends[CLIENT].events.len() > 1);
    let last = pair.ends[CLIENT].events.last();
    assert!(
        matches!(last, Some(Event::Lost(Lost::RetransmissionTimeOut { .. }))),
        "{last:?}"
    );
    assert!(pair.now_us - begin_us <= 100_000_000);
}

/// TCP-015: A record waits whole for a window that it fits, and is cut for good if none comes for a
/// time-out (RFC 9293 section 3.8.6.2.1; MPA-030 has the rule for FPDUs).
#[test]
fn a_record_is_cut_only_for_a_window_that_stays_too_small() {
    let mut pair = Pair::connected([settings(65_535), settings(1_000)], Path::default(), 1);
    pair.ends[CLIENT].may_split = true;
    pair.ends[CLIENT].send([1_460, 200, 1_460]);
    pair.flush();
    pair.drive_for(100_000);
    assert_eq!(
        pair.ends[CLIENT].tcp().statistics().sent.octets,
        0,
        "it waits"
    );
    pair.transfer();
    let sent = pair.ends[CLIENT].tcp().statistics().sent;
    assert_eq!((sent.splits, sent.octets), (2, 3_120));
}

/// TCP-015: RFC 9293 section 3.8.6.2.2: a window opens by a segment or half of the buffer, not by
/// octets.
#[test]
fn the_window_does_not_open_by_octets() {
    let mut pair = Pair::connected([settings(65_535), settings(3_000)], Path::default(), 1);
    pair.ends[SERVER].reads = false;
    pair.ends[CLIENT].send([1_000; 6]);
    pair.flush();
    pair.drive_for(10_000);
    let acks = pair.ends[SERVER].pure_acks;
    let mut octet = [0; 1];
    for index in 0..1_460u32 {
        assert_eq!(pair.ends[SERVER].tcp().read(&mut octet), 1);
        pair.ends[SERVER].deliver(&octet);
        pair.flush();
        let expected = acks + u64::from(index == 1_459);
        assert_eq!(pair.ends[SERVER].pure_acks, expected, "{index}");
    }
    pair.ends[SERVER].reads = true;
    pair.transfer();
}

/// TCP-041: RFC 7323 section 2: windows above 65,535 octets, if both ends scale; none if one does
/// not.
#[test]
fn scaled_windows_carry_more_than_sixteen_bits() {
    let path = Path {
        delay_us: 10_000,
        octets_a_second: 125_000_000,
        queue_octets: 10_000_000,
        ..Path::default()
    };
    let large = |shift| Settings {
        receive_octets: 1_000_000,
        window_shift: shift,
        records_max: 4_096,
        ..Settings::default()
    };
    for (shift, most) in [(5, 1_000_000), (0, 65_535)] {
        let mut pair = Pair::connected([large(shift); 2], path, 1);
        pair.ends[CLIENT].send((0..8_000).map(|_| 1_460));
        let mut flying = 0;
        pair.flush();
        pair.drive_until(|pair| {
            flying = flying.max(pair.ends[CLIENT].tcp().statistics().flying_octets);
            pair.is_done()
        });
        assert!(
            pair.is_done() && flying <= most && flying > most * 4 / 5,
            "{flying}"
        );
    }
}

/// TCP-042: Slow readers of every kind: the right edge never moves left (but by less than the
/// shift's unit).
#[test]
fn slow_readers_never_take_their_window_back() {
    for (shift, receive_octets) in [
        (0, 65_535),
        (0, 3_000),
        (3, 70_000),
        (7, 100_001),
        (14, 200_000),
    ] {
        let settings = Settings {
            receive_octets,
            window_shift: shift,
            ..Settings::default()
        };
        let mut pair = Pair::connected([settings; 2], Path::default(), 1);
        pair.ends[CLIENT].may_split = true;
        pair.ends[CLIENT].send((0..600u32).map(|index| 1 + index * 37 % 1_460));
        pair.ends[SERVER].reads = false;
        let mut buffer = [0; 700];
        let mut round = 0;
        while !pair.is_done() {
            pair.drive_for(700);
            round += 1;
            let count = pair.ends[SERVER]
                .tcp()
                .read(&mut buffer[..1 + round * 61 % 699]);
            pair.ends[SERVER].deliver(&buffer[..count]);
            pair.flush();
            assert!(round < 1_000_000, "{shift} {receive_octets}");
        }
    }
}
