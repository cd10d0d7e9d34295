//! What a hostile peer can do with SACK blocks, windows and options.
use crate::peer::{head, Scripted, ACK, FIN, ISS, PEER_WINDOW, SYN_ACK, WINDOW};
use rnic_tcp::{Lost, SackBlocks, SeqNumber, Snapshot, State};

fn blocks(edges: &[(i64, i64)]) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    for &(left, right) in edges {
        blocks.push(head(ACK, 0, left).ack, head(ACK, 0, right).ack);
    }
    blocks
}

/// SACK blocks of what was never sent, reversed, and of parts of segments change nothing.
#[test]
fn false_sack_blocks_change_nothing() {
    for edges in [
        [(9_000, 9_001)],
        [(5_000, 4_000)],
        [(-100, 1_000)],
        [(0x7fff_0000, 0x7fff_1000)],
        [(100, 900)],
        [(1_500, 1_500)],
        [(4_000, 5_001)],
    ] {
        let mut peer = Scripted::established();
        peer.push(5, 1_000);
        let mut ack = head(ACK, 0, 0);
        ack.options.sack = blocks(&edges);
        for _ in 0..10 {
            assert!(peer.give(&ack, &[]).is_empty(), "{edges:?}");
        }
        let statistics = peer.tcp.statistics();
        assert_eq!(
            (statistics.flying_octets, statistics.sent.fast_recoveries),
            (5_000, 0)
        );
    }
}

/// TCP-036: RFC 2018 section 8: a receiver that gives up what it had sacked gets it again by the
/// timer.
#[test]
fn a_peer_that_reneges_gets_everything_again() {
    let mut peer = Scripted::established();
    peer.push(5, 1_000);
    let mut ack = head(ACK, 0, 0);
    ack.options.sack = blocks(&[(0, 5_000)]);
    assert!(
        peer.give(&ack, &[]).is_empty(),
        "all is sacked, nothing acknowledged"
    );
    assert_eq!(peer.tcp.statistics().flying_octets, 0);
    peer.now_us = peer.tcp.deadline_us().expect("the timer runs");
    let sent = peer.segments();
    assert_eq!(sent.first().map(|sent| sent.seq), Some(SeqNumber(ISS + 1)));
    assert!(peer.give(&head(ACK, 0, 5_000), &[]).is_empty());
    assert_eq!(peer.tcp.statistics().flying_octets, 0);
    assert_eq!(peer.tcp.deadline_us(), None);
}

/// TCP-016: A window that is taken back: what is in flight is not sent again into it, the peer is
/// probed.
#[test]
fn a_window_that_shrinks_to_nothing_is_probed() {
    let mut peer = Scripted::established();
    peer.push(5, 1_000);
    let mut closed = head(ACK, 0, 1_000);
    closed.window = 0;
    assert!(peer.give(&closed, &[]).is_empty());
    for _ in 0..20 {
        peer.now_us = peer.tcp.deadline_us().expect("a timer runs");
        for sent in peer.segments() {
            assert_eq!(sent.seq, head(ACK, 0, 999).ack, "a probe below SND.UNA");
            closed.seq = head(ACK, 0, 0).seq;
            peer.give(&closed, &[]);
        }
    }
    assert_eq!(peer.tcp.state(), State::Established);
    let sent = peer.give(&head(ACK, 0, 1_000), &[]);
    assert_eq!(
        sent.first().map(|sent| sent.seq),
        Some(head(ACK, 0, 1_000).ack)
    );
}

/// TCP-012: A maximum segment size of 0 or 1 octets is taken as 64, the smallest.
#[test]
fn a_tiny_maximum_segment_size_has_a_floor() {
    for (mss, octets) in [
        (Some(0), 64),
        (Some(1), 64),
        (Some(64), 64),
        (Some(65), 65),
        (None, 536),
    ] {
        let mut peer = Scripted::new();
        let mut syn_ack = head(SYN_ACK, -1, 0);
        syn_ack.options.mss = mss;
        peer.give(&syn_ack, &[]);
        assert_eq!(peer.tcp.statistics().emss_octets, octets, "{mss:?}");
    }
}

/// A window of one octet for ever: one octet a time-out, and no more memory.
#[test]
fn a_window_of_one_octet_is_served_slowly() {
    let mut peer = Scripted::established();
    let mut tiny = head(ACK, 0, 0);
    tiny.window = 1;
    peer.give(&tiny, &[]);
    peer.push(3, 1_000);
    for octets in 1..200i64 {
        peer.now_us = peer.tcp.deadline_us().expect("a timer runs");
        let sent = peer.segments();
        assert_eq!(sent.len(), 1, "{octets}: {sent:?}");
        assert_eq!(sent[0].seq, head(ACK, 0, octets - 1).ack);
        tiny.ack = head(ACK, 0, octets).ack;
        assert!(peer.give(&tiny, &[]).is_empty());
    }
}

/// DDP-029: hardware has octets after a FIN that came without payload, which is known to software
/// alone: beyond the gap that the FIN is for it, or in the FIN's place.
#[test]
fn octets_of_the_device_after_a_fin_end_in_a_reset() {
    let fin = head(FIN, 10, 0).seq;
    for (rcv_nxt, range) in [(fin, Some((fin + 1, fin + 101))), (fin + 100, None)] {
        let mut peer = Scripted::established();
        peer.tcp.limit_stream(0).expect("nothing has come");
        peer.tcp.hand_over(WINDOW).expect("it is there");
        let snapshot = |rcv_nxt, range| Snapshot {
            rcv_nxt,
            seg_ack: head(ACK, 0, 0).ack,
            seg_wnd: PEER_WINDOW,
            duplicate_acks: 0,
            answers: 0,
            range,
            fin: None,
            answer_now: true,
        };
        peer.tcp.on_device(&snapshot(fin, None), peer.now_us);
        peer.give(&head(FIN, 10, 0), &[]);
        assert_eq!(peer.tcp.state(), State::CloseWait);
        peer.tcp.on_device(&snapshot(fin, None), peer.now_us);
        assert_eq!(peer.tcp.state(), State::CloseWait);
        peer.tcp.on_device(&snapshot(rcv_nxt, range), peer.now_us);
        let segments = peer.segments();
        assert!(segments.iter().any(|head| head.flags.rst), "{segments:?}");
        assert_eq!(peer.tcp.statistics().received.beyond_fin, 1);
        let end = fin + if range.is_some() { 101 } else { 100 };
        assert_eq!(
            peer.tcp.statistics().lost,
            Some(Lost::DataBeyondFin { fin, end })
        );
    }
}
