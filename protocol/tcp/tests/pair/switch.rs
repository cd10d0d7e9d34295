//! The receiver moves to a device: each octet reaches the application once.
use super::*;
use rnic_tcp::{Event, HandoverError, Settings, State};

const REQUEST_OCTETS: u32 = 120;
const REPLY_OCTETS: u32 = 40;

/// Both receivers go to devices: the server's after the Request, the client's after the Reply.
fn startup(path: Path, seed: u64, settings: Settings) -> Pair {
    let mut pair = Pair::new([settings; 2], path, seed);
    pair.ends[SERVER].startup_octets = Some(REQUEST_OCTETS);
    pair.ends[CLIENT].startup_octets = Some(REPLY_OCTETS);
    pair.ends[CLIENT].send([REQUEST_OCTETS]);
    pair.flush();
    pair
}

/// START-042: start-up, the switch at both ends, FPDUs both ways, and both close; through links of
/// every kind.
#[test]
fn each_octet_around_the_switch_is_delivered_once() {
    let bad = Path {
        delay_us: 500,
        octets_a_second: 12_500_000,
        queue_octets: 50_000,
        loss: 40_000,
        duplication: 30_000,
        reordering: 80_000,
        ..Path::default()
    };
    for (path, seeds) in [(Path::default(), 1), (bad, 40)] {
        for seed in 0..seeds {
            let settings = Settings {
                sack: seed % 4 != 3,
                ..Settings::default()
            };
            let mut pair = startup(path, seed, settings);
            pair.drive_until(|pair| pair.ends[SERVER].device.is_some());
            pair.ends[SERVER].send([REPLY_OCTETS]);
            pair.flush();
            pair.drive_until(|pair| pair.ends[CLIENT].device.is_some());
            pair.ends[CLIENT].send((0..300).map(|_| 1_460));
            pair.ends[SERVER].send((0..300u32).map(|index| 1 + index * 31 % 1_460));
            pair.transfer();
            for side in [CLIENT, SERVER] {
                pair.ends[side].tcp().close();
            }
            pair.flush();
            pair.drive_until(|pair| pair.both_are(State::Closed));
            for side in [CLIENT, SERVER] {
                let events = [Event::Connected, Event::PeerClosed, Event::Closed];
                assert_eq!(pair.ends[side].events, events, "seed {seed}");
            }
        }
    }
}

/// A peer that does not wait for the Reply: software forgets what came after the Request, and the
/// device gets it, once it is sent again.
#[test]
fn octets_after_the_request_come_again_for_the_device() {
    for octets in [1, 500, 1_340] {
        let mut pair = startup(Path::default(), 1, Settings::default());
        pair.ends[CLIENT].send([octets; 3]);
        pair.ends[CLIENT].startup_octets = None;
        pair.transfer();
        assert!(pair.ends[SERVER].device.is_some());
        let sent = pair.ends[CLIENT].tcp().statistics().sent;
        assert!(sent.retransmitted_segments > 0, "{sent:?}");
    }
}

#[test]
fn a_switch_is_refused_where_octets_would_be_lost() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    let [client, server] = &mut pair.ends;
    client.send([100]);
    server.reads = false;
    assert_eq!(server.tcp().hand_over(1_000), Err(HandoverError::NoLimit));
    pair.flush();
    pair.drive_for(10_000);
    let server = &mut pair.ends[SERVER];
    let refused = server.tcp().limit_stream(99);
    assert!(
        matches!(refused, Err(HandoverError::Acknowledged { .. })),
        "{refused:?}"
    );
    assert_eq!(server.tcp().limit_stream(100), Ok(()));
    let refused = server.tcp().hand_over(1_000);
    assert!(
        matches!(refused, Err(HandoverError::NotThere { .. })),
        "{refused:?}"
    );
    let mut octets = [0; 100];
    assert_eq!(server.tcp().read(&mut octets), 100);
    server.deliver(&octets);
    let handover = server.tcp().hand_over(1_000).expect("all is read");
    assert_eq!(handover.window_octets, 65_435, "no less than was announced");
    assert_eq!(server.tcp().hand_over(1_000), Err(HandoverError::Twice));
    pair.ends[CLIENT].tcp().close();
    pair.flush();
    pair.drive_for(10_000);
    assert_eq!(
        pair.ends[SERVER].tcp().limit_stream(0),
        Err(HandoverError::State)
    );
}

/// After a reject the stream goes on (START-011).
#[test]
fn the_stream_goes_on_after_a_reject() {
    let mut pair = Pair::connected([Settings::default(); 2], Path::default(), 1);
    pair.ends[CLIENT].send([100, 50]);
    pair.ends[SERVER].reads = false;
    pair.flush();
    let now_us = pair.now_us + 50;
    pair.drive_until(|pair| pair.now_us == now_us);
    let mut pair = startup(Path::default(), 1, Settings::default());
    pair.ends[SERVER].reads = false;
    pair.drive_for(1_000);
    let server = pair.ends[SERVER].tcp();
    server
        .limit_stream(REQUEST_OCTETS)
        .expect("nothing after it");
    pair.ends[CLIENT].startup_octets = None;
    pair.ends[CLIENT].send([50]);
    pair.flush();
    pair.drive_for(1_000);
    assert_eq!(
        pair.ends[SERVER].tcp().readable_octets(),
        REQUEST_OCTETS as usize
    );
    pair.ends[SERVER].tcp().end_startup();
    pair.ends[SERVER].startup_octets = None;
    pair.ends[SERVER].reads = true;
    pair.transfer();
}

/// Equal inputs give equal outputs.
#[test]
fn two_runs_are_equal() {
    let path = Path {
        loss: 30_000,
        duplication: 30_000,
        reordering: 30_000,
        ..Path::default()
    };
    let run = |seed| {
        let mut pair = startup(path, seed, Settings::default());
        pair.trace = Some(Vec::new());
        pair.drive_until(|pair| pair.ends[SERVER].device.is_some());
        pair.ends[CLIENT].send((0..200).map(|_| 1_000));
        pair.transfer();
        pair.trace
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
