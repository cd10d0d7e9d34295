use super::*;
use crate::error::Lost;
use crate::output::{Event, Output};

const ISS: SeqNumber = SeqNumber(900);

fn peer(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], port))
}

fn segment(syn: bool, ack: bool) -> Head {
    Head {
        seq: SeqNumber(if syn { 99 } else { 100 }),
        ack: ISS + 1,
        flags: Flags {
            syn,
            ack,
            ..Flags::default()
        },
        window: 1_000,
        ..Head::default()
    }
}

fn give(listener: &mut Listener, from: SocketAddr, head: Head) -> Option<Outgoing> {
    let segment = Segment { head, payload: &[] };
    listener.on_segment(from, &segment, || ISS, 0);
    let sent = listener.poll(0);
    assert!(sent.is_none_or(|(to, _)| to == from));
    assert!(listener.poll(0).is_none(), "one answer");
    sent.map(|(_, outgoing)| outgoing)
}

fn listener() -> Listener {
    let settings = ListenerSettings {
        backlog_max: 2,
        half_open_max: 4,
        half_open_of_peer_max: 2,
        ..ListenerSettings::default()
    };
    Listener::new(settings).expect("in range")
}

#[test]
fn connections_are_accepted_in_the_order_in_which_they_were_established() {
    let mut listener = listener();
    for port in [1, 2] {
        let answer = give(&mut listener, peer(1, port), segment(true, false));
        let flags = answer.expect("a SYN-ACK").head.flags;
        assert!(flags.syn && flags.ack);
        assert!(listener.accept().is_none());
    }
    assert!(give(&mut listener, peer(1, 2), segment(false, true)).is_none());
    let (from, connection) = listener.accept().expect("established");
    assert_eq!((from, connection.state()), (peer(1, 2), State::Established));
    let mut connection = connection;
    let event = connection.poll(0);
    assert_eq!(
        event,
        Some(Output::Event(Event::Connected)),
        "it has waited"
    );
    assert!(listener.accept().is_none(), "the other is half-open");
    let mut bad = segment(true, false);
    bad.window = 0;
    assert!(
        give(&mut listener, peer(1, 1), bad).is_some(),
        "its SYN-ACK again"
    );
    assert_eq!(listener.counts().opened, 2);
}

/// DDP-058: each limit at its value, that of one address too: the next SYN is dropped and counted,
/// and others are not affected.
#[test]
fn each_limit_drops_the_next_syn() {
    let mut listener = listener();
    let syn = segment(true, false);
    for port in [1, 2] {
        assert!(give(&mut listener, peer(1, port), syn).is_some());
    }
    assert!(give(&mut listener, peer(1, 3), syn).is_none());
    assert_eq!(listener.counts().peer_full, 1);
    for host in [2, 3] {
        assert!(give(&mut listener, peer(host, 1), syn).is_some());
    }
    assert!(give(&mut listener, peer(4, 1), syn).is_none());
    assert_eq!(listener.counts().half_open_full, 1);
    for host in [1, 2] {
        give(&mut listener, peer(host, 1), segment(false, true));
    }
    assert!(give(&mut listener, peer(4, 1), syn).is_none());
    assert_eq!(listener.counts().backlog_full, 1);
    assert!(listener.accept().is_some());
    assert!(give(&mut listener, peer(4, 1), syn).is_some());
    assert_eq!(listener.counts().opened, 5);
}

/// TCP-011: RFC 9293 sections 3.5.2 and 3.10.7.2.
#[test]
fn segments_of_no_connection_are_reset() {
    let mut listener = listener();
    let reset = give(&mut listener, peer(1, 1), segment(false, true))
        .expect("an RST")
        .head;
    assert!(reset.flags.rst && !reset.flags.ack);
    assert_eq!(reset.seq, ISS + 1);
    let mut bare = segment(false, false);
    bare.flags.fin = true;
    let reset = give(&mut listener, peer(1, 1), bare).expect("an RST").head;
    assert!(reset.flags.rst && reset.flags.ack);
    assert_eq!((reset.seq, reset.ack), (SeqNumber(0), SeqNumber(101)));
    let mut rst = segment(false, true);
    rst.flags.rst = true;
    assert!(give(&mut listener, peer(1, 1), rst).is_none());
    assert_eq!(listener.counts().refused, 2);
}

/// A flood: half-open connections end by their time-out, and room is there again.
#[test]
fn half_open_connections_end_by_their_time_out() {
    let mut listener = listener();
    let syn = segment(true, false);
    for host in 1..=4 {
        assert!(give(&mut listener, peer(host, 1), syn).is_some());
    }
    let mut now_us = 0;
    while let Some(deadline_us) = listener.deadline_us() {
        now_us = deadline_us;
        while listener.poll(now_us).is_some() {}
    }
    assert_eq!((now_us, listener.counts().ended), (180_000_000, 4));
    assert!(give(&mut listener, peer(5, 1), syn).is_some());
}

/// A connection that the peer resets while it waits is not accepted.
#[test]
fn a_connection_that_has_ended_is_not_accepted() {
    let mut listener = listener();
    give(&mut listener, peer(1, 1), segment(true, false));
    give(&mut listener, peer(1, 1), segment(false, true));
    let mut rst = segment(false, true);
    rst.flags.rst = true;
    give(&mut listener, peer(1, 1), rst);
    assert!(listener.accept().is_none());
    assert_eq!(listener.counts().ended, 1);
    let (mut other, lost) = (listener, Lost::Aborted);
    give(&mut other, peer(1, 2), segment(true, false));
    give(&mut other, peer(1, 2), segment(false, true));
    let (_, mut connection) = other.accept().expect("established");
    assert_eq!(connection.poll(0), Some(Output::Event(Event::Connected)));
    connection.abort();
    assert!(connection
        .poll(0)
        .is_some_and(|output| matches!(output, Output::Segment(_))));
    assert_eq!(connection.poll(0), Some(Output::Event(Event::Lost(lost))));
}

/// Nobody will accept what waits: both ends of it are reset, a half-open one too.
#[test]
fn what_waits_is_reset_when_nobody_listens_any_more() {
    let mut listener = listener();
    for port in [1, 2] {
        give(&mut listener, peer(1, port), segment(true, false));
    }
    give(&mut listener, peer(1, 2), segment(false, true));
    listener.abort();
    for port in [1, 2] {
        let (to, outgoing) = listener.poll(0).expect("an RST");
        assert_eq!((to, outgoing.head.seq), (peer(1, port), ISS + 1));
        assert!(outgoing.head.flags.rst);
    }
    assert!(listener.poll(0).is_none() && listener.accept().is_none());
    assert_eq!(listener.counts().ended, 2);
}
