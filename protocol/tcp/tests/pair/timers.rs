//! Time-outs of a connection that is open.
use super::*;
use rnic_tcp::{Event, Lost, Settings, State, TimeOut};

fn with(changes: &[(TimeOut, u64)]) -> Settings {
    let mut settings = Settings::default();
    for &(which, value) in changes {
        settings.time_outs.set(which, value).expect("in range");
    }
    settings
}

/// TCP-019, TCP-029: RFC 6298 (5.5): 200 ms, doubled each time, and the limit of RFC 9293 section
/// 3.8.3 by time.
#[test]
fn retransmissions_back_off_until_the_time_is_over() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.link.script = Box::new(|_, _| Action::Drop);
    pair.ends[CLIENT].send([1_000]);
    let begin_us = pair.now_us;
    let (mut sent, mut segments) = (Vec::new(), pair.segments);
    pair.flush();
    pair.drive_until(|pair| {
        if pair.segments > segments + 1 {
            segments = pair.segments - 1;
            sent.push((pair.now_us - begin_us) / 1_000);
        }
        pair.ends[CLIENT].tcp().state() == State::Closed
    });
    let last = pair.ends[CLIENT].events.last();
    assert!(
        matches!(last, Some(Event::Lost(Lost::RetransmissionTimeOut { .. }))),
        "{last:?}"
    );
    assert_eq!(pair.now_us - begin_us, 100_000_000);
    let expected = [200, 600, 1_400, 3_000, 6_200, 12_600, 25_400, 51_000];
    assert_eq!(sent[..8], expected, "and the RST: {sent:?}");
}

/// TCP-019: The limit by count, at its value.
#[test]
fn retransmissions_end_after_their_number() {
    for count in [1, 4] {
        let settings = with(&[(TimeOut::RetransmissionCount, count)]);
        let mut pair = Pair::connected([settings; 2], Path::default(), 1);
        pair.link.script = Box::new(|_, _| Action::Drop);
        pair.ends[CLIENT].send([1_000]);
        pair.flush();
        pair.drive_until(|pair| pair.ends[CLIENT].tcp().state() == State::Closed);
        let sent = pair.ends[CLIENT].tcp().statistics().sent;
        assert_eq!(sent.retransmitted_segments, count);
        let last = pair.ends[CLIENT].events.last();
        let is_it = |lost: &Lost| {
            matches!(lost, Lost::RetransmissionCount { count: found, .. }
            if u64::from(*found) == count)
        };
        assert!(
            matches!(last, Some(Event::Lost(lost)) if is_it(lost)),
            "{last:?}"
        );
    }
}

/// TCP-018: RFC 9293, MUST-58 and SHLD-18: every second segment at once, a single one after 500 us.
#[test]
fn acknowledgements_are_delayed_up_to_the_second_segment_or_500_us() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    let begin_us = pair.now_us;
    pair.ends[CLIENT].send([100]);
    pair.transfer();
    assert_eq!(pair.now_us - begin_us, 600, "there, 500 us, and back");
    let begin_us = pair.now_us;
    pair.ends[CLIENT].send([100, 100]);
    pair.transfer();
    assert_eq!(pair.now_us - begin_us, 100);
    let acks = pair.ends[SERVER].pure_acks;
    pair.ends[CLIENT].send([100; 10]);
    pair.transfer();
    assert_eq!(
        pair.ends[SERVER].pure_acks - acks,
        1,
        "ten arrived at one time"
    );
    let acks = pair.ends[SERVER].pure_acks;
    pair.ends[CLIENT].send([100]);
    pair.ends[SERVER].send([100]);
    pair.transfer();
    assert_eq!(
        pair.ends[SERVER].pure_acks - acks,
        1,
        "its record carried none: they crossed"
    );
}

/// TCP-017: RFC 9293 section 3.8.4: off by default; probes are answered for an hour, and nothing
/// grows.
#[test]
fn keepalive_keeps_an_idle_connection_for_an_hour() {
    let settings = with(&[(TimeOut::KeepaliveIdle, 10_000_000)]);
    let mut pair = Pair::connected([settings, Settings::default()], Path::default(), 1);
    let segments = pair.segments;
    pair.drive_for(3_600_000_000);
    assert!(pair.both_are(State::Established));
    let probes = (pair.segments - segments) / 2;
    assert!((358..=360).contains(&probes), "{probes}");
    pair.ends[SERVER].send([100]);
    pair.transfer();
    let mut idle = Pair::connected([Settings::default(); 2], Path::default(), 1);
    assert!(!idle.step(), "no deadline: {:?}", idle.next_us());
}

/// TCP-017.
#[test]
fn keepalive_probes_without_answers_end_the_connection() {
    let settings = with(&[
        (TimeOut::KeepaliveIdle, 10_000_000),
        (TimeOut::KeepaliveInterval, 2_000_000),
        (TimeOut::KeepaliveCount, 3),
    ]);
    let mut pair = Pair::connected([settings, Settings::default()], Path::default(), 1);
    let heard_us = pair.now_us;
    pair.link.script = Box::new(|_, _| Action::Drop);
    pair.drive();
    assert!(pair.happened(CLIENT, Event::Lost(Lost::KeepaliveTimeOut { count: 3 })));
    let waited_us = pair.now_us - heard_us;
    assert!(
        (15_900_000..=16_000_000).contains(&waited_us),
        "{waited_us}"
    );
}

#[test]
fn start_up_has_a_time_of_its_own() {
    let settings = with(&[(TimeOut::Startup, 3_000_000)]);
    let mut pair = Pair::connected([settings; 2], Path::default(), 1);
    let now_us = pair.now_us;
    pair.ends[SERVER].tcp().begin_startup(now_us);
    pair.drive();
    assert!(pair.happened(SERVER, Event::Lost(Lost::StartupTimeOut)));
    assert_eq!(pair.now_us - now_us, 3_000_050, "and the RST arrives");
    let mut pair = Pair::connected([settings; 2], Path::default(), 1);
    let now_us = pair.now_us;
    pair.ends[SERVER].tcp().begin_startup(now_us);
    pair.ends[SERVER].tcp().end_startup();
    assert!(!pair.step());
}

/// While the transmit ring is full, octets wait and ACKs leave; the timer does not count.
#[test]
fn a_full_transmit_ring_holds_payload_and_not_acks() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.ends[CLIENT].send([1_000; 5]);
    pair.flush();
    pair.drive_for(1_000);
    pair.ends[CLIENT].tcp().set_blocked(true);
    pair.ends[CLIENT].send([1_000; 5]);
    pair.ends[SERVER].send([1_000; 5]);
    pair.flush();
    pair.drive_for(10_000_000);
    assert_eq!(pair.ends[CLIENT].acked, 5);
    assert_eq!(pair.ends[SERVER].acked, 5);
    let sent = pair.ends[CLIENT].tcp().statistics().sent;
    assert_eq!((sent.segments, sent.time_outs), (5, 0));
    pair.ends[CLIENT].tcp().set_blocked(false);
    pair.transfer();
    // Segments in flight when the ring fills: no time-out is counted until it drains.
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.link.script = Box::new(|_, wire| match wire.payload.len() {
        0 => Action::Pass,
        _ => Action::Drop,
    });
    pair.ends[CLIENT].send([1_000; 5]);
    pair.flush();
    pair.ends[CLIENT].tcp().set_blocked(true);
    pair.drive_for(5_000_000);
    assert_eq!(pair.ends[CLIENT].tcp().statistics().sent.time_outs, 0);
    pair.link.script = Box::new(|_, _| Action::Pass);
    pair.ends[CLIENT].tcp().set_blocked(false);
    pair.transfer();
}
