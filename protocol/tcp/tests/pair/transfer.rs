//! Records through good and bad links.
use super::*;
use rnic_tcp::Settings;

fn records(count: u32, octets: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |_| octets)
}

#[test]
fn records_both_ways() {
    let mut pair = Pair::plain();
    pair.ends[CLIENT].send(records(1_000, 1_460));
    pair.ends[SERVER].send((0..500).map(|index| 1 + index * 7 % 1_460));
    pair.transfer();
    assert_eq!(
        pair.ends[CLIENT]
            .tcp()
            .statistics()
            .sent
            .retransmitted_segments,
        0
    );
}

/// TCP-034, MPA-031: All faults at once, with and without SACK.
#[test]
fn every_octet_arrives_once_through_a_bad_link() {
    for seed in 0..20 {
        let path = Path {
            delay_us: 500,
            octets_a_second: 12_500_000,
            queue_octets: 50_000,
            loss: 30_000,
            duplication: 20_000,
            reordering: 50_000,
            ..Path::default()
        };
        let sack = seed % 2 == 0;
        let settings = Settings {
            sack,
            ..Settings::default()
        };
        let mut pair = Pair::new([settings; 2], path, seed);
        pair.ends[CLIENT].send(records(700, 1_460));
        pair.ends[SERVER].send((0..500).map(|index| 1 + index * 7 % 1_460));
        pair.transfer();
        let sent = pair.ends[CLIENT].tcp().statistics().sent;
        println!("{seed} {} us {sent:?}", pair.now_us);
    }
}

/// The path carries less from now on: what is larger is split for good, in flight and pending.
#[test]
fn a_smaller_path_splits_records_for_good() {
    for (emss, lossy) in [(1_459, false), (536, true), (64, true)] {
        let path = Path {
            loss: if lossy { 50_000 } else { 0 },
            ..Path::default()
        };
        let mut pair = Pair::connected([Settings::default(); 2], path, 3);
        pair.ends[CLIENT].may_split = true;
        pair.ends[CLIENT].send(records(100, 1_460));
        pair.flush();
        pair.ends[CLIENT].tcp().set_emss(emss).expect("in range");
        let limit = usize::from(emss);
        pair.link.script = Box::new(move |_, wire| match wire.payload.len() > limit {
            true => Action::Drop,
            false => Action::Pass,
        });
        pair.transfer();
        let statistics = pair.ends[CLIENT].tcp().statistics();
        assert_eq!(statistics.emss_octets, emss);
        assert!(statistics.sent.splits >= 90, "{statistics:?}");
    }
}

/// A record of 65,535 octets, the largest, and of one octet.
#[test]
fn records_of_every_size_arrive() {
    let mut pair = Pair::plain();
    pair.ends[CLIENT].may_split = true;
    pair.ends[CLIENT].send([65_535, 1, 1_460, 1_461, 2_920, 1, 65_535]);
    pair.transfer();
}

/// TCP-024: A connection that lost nothing and has been idle for longer than a time-out begins
/// again with the initial window (RFC 5681 section 4.1).
#[test]
fn an_idle_connection_restarts_small() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.ends[CLIENT].send(records(200, 1_460));
    pair.transfer();
    assert!(pair.ends[CLIENT].tcp().statistics().congestion_octets > 20_000);
    pair.drive_for(1_000_000);
    pair.ends[CLIENT].send(records(200, 1_460));
    pair.flush();
    assert_eq!(pair.ends[CLIENT].tcp().statistics().flying_octets, 14_600);
    pair.transfer();
}

/// TCP-023, TCP-033: RFC 6675, RFC 6582: a single loss costs no time-out, with SACK and without.
#[test]
fn a_single_loss_is_repaired_without_the_timer() {
    for sack in [false, true] {
        for lost in 0..40 {
            let settings = Settings {
                sack,
                ..Settings::default()
            };
            let mut pair = Pair::connected([settings; 2], Path::default(), 1);
            let mut count = 0;
            pair.link.script = Box::new(move |side, _| {
                count += u32::from(side == CLIENT);
                match side == CLIENT && count == lost + 1 {
                    true => Action::Drop,
                    false => Action::Pass,
                }
            });
            pair.ends[CLIENT].send(records(60, 1_460));
            pair.transfer();
            let sent = pair.ends[CLIENT].tcp().statistics().sent;
            assert_eq!(
                (sent.time_outs, sent.retransmitted_segments),
                (0, 1),
                "{lost} {sent:?}"
            );
            assert_eq!(sent.fast_recoveries, 1);
        }
    }
}

/// TCP-023, TCP-033, TCP-034: Every second segment of a window is lost: SACK repairs all in a round
/// trip or two, NewReno one a round trip, neither by the timer.
#[test]
fn many_losses_in_a_window_are_repaired_without_the_timer() {
    for sack in [false, true] {
        let settings = Settings {
            sack,
            ..Settings::default()
        };
        let mut pair = Pair::connected([settings; 2], Path::default(), 1);
        pair.ends[CLIENT].send(records(100, 1_460));
        pair.transfer();
        let mut count = 0;
        pair.link.script = Box::new(move |side, _| {
            count += u32::from(side == CLIENT);
            match side == CLIENT && count < 14 && count % 2 == 1 {
                true => Action::Drop,
                false => Action::Pass,
            }
        });
        pair.ends[CLIENT].send(records(100, 1_460));
        pair.transfer();
        let sent = pair.ends[CLIENT].tcp().statistics().sent;
        assert_eq!(
            (sent.time_outs, sent.retransmitted_segments),
            (0, 7),
            "{sack} {sent:?}"
        );
    }
}

/// A retransmission that is lost again is found by what was sent after it.
#[test]
fn a_lost_retransmission_is_sent_again_without_the_timer() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    let (mut first, mut seen) = (None, 0);
    pair.link.script = Box::new(move |side, wire| {
        if side == CLIENT && !wire.payload.is_empty() {
            let lost = *first.get_or_insert(wire.head.seq);
            seen += u32::from(wire.head.seq == lost);
            if wire.head.seq == lost && seen < 3 {
                return Action::Drop;
            }
        }
        Action::Pass
    });
    pair.ends[CLIENT].send(records(200, 1_460));
    pair.transfer();
    let sent = pair.ends[CLIENT].tcp().statistics().sent;
    assert_eq!(
        (sent.time_outs, sent.lost_retransmissions),
        (0, 1),
        "{sent:?}"
    );
}
