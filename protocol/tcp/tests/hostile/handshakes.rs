//! Segments that meet a handshake, in both roles: each has its answer and its counter.
use crate::cases::CASES;
use crate::memory::Gauge;
use crate::peer::{head, Scripted, ACK, FIN, IRS, ISS, NONE, RST, SYN, SYN_ACK};
use rnic_tcp::{
    Connection, Event, Flags, Head, Lost, Output, ReceivedCounts, Segment, SeqNumber, Settings,
    State,
};

type Counter = fn(&ReceivedCounts) -> u64;
/// Name, flags, SEG.SEQ, SEG.ACK, octets, the state after it, the flags of the answer, and what
/// counts it.
type Case = (
    &'static str,
    Flags,
    i64,
    i64,
    usize,
    State,
    Option<Flags>,
    Counter,
);

const ALONE: Flags = Flags { ack: false, ..RST };

/// A SYN has been sent.
const SYN_SENT: [Case; 12] = [
    (
        "ACK of the SYN alone",
        ACK,
        -1,
        0,
        0,
        State::SynSent,
        None,
        |c| c.strays,
    ),
    (
        "ACK beyond the SYN",
        ACK,
        -1,
        1,
        0,
        State::SynSent,
        Some(ALONE),
        |c| c.bad_acks,
    ),
    (
        "ACK below the SYN",
        ACK,
        -1,
        -1,
        0,
        State::SynSent,
        Some(ALONE),
        |c| c.bad_acks,
    ),
    (
        "SYN-ACK of another SYN",
        SYN_ACK,
        -1,
        1,
        0,
        State::SynSent,
        Some(ALONE),
        |c| c.bad_acks,
    ),
    (
        "SYN-ACK",
        SYN_ACK,
        -1,
        0,
        0,
        State::Established,
        Some(ACK),
        |c| c.segments,
    ),
    (
        "SYN-ACK with payload",
        SYN_ACK,
        -1,
        0,
        9,
        State::Established,
        Some(ACK),
        |c| c.segments,
    ),
    (
        "RST of another SYN",
        RST,
        -1,
        1,
        0,
        State::SynSent,
        None,
        |c| c.bad_acks,
    ),
    ("RST of the SYN", RST, -1, 0, 0, State::Closed, None, |c| {
        c.resets
    }),
    (
        "RST without ACK",
        ALONE,
        -1,
        0,
        0,
        State::SynSent,
        None,
        |c| c.inexact_resets,
    ),
    ("nothing", NONE, -1, 0, 0, State::SynSent, None, |c| {
        c.strays
    }),
    ("FIN", FIN, -1, 0, 0, State::SynSent, None, |c| c.strays),
    (
        "SYN",
        SYN,
        -1,
        0,
        0,
        State::SynReceived,
        Some(SYN_ACK),
        |c| c.segments,
    ),
];

/// A SYN has arrived and was answered.
const SYN_RECEIVED: [Case; 12] = [
    (
        "the SYN again",
        SYN,
        -1,
        0,
        0,
        State::SynReceived,
        Some(SYN_ACK),
        |c| c.segments,
    ),
    (
        "another SYN",
        SYN,
        5,
        0,
        0,
        State::SynReceived,
        Some(ACK),
        |c| c.challenges,
    ),
    (
        "a SYN far away",
        SYN,
        1 << 31,
        0,
        0,
        State::SynReceived,
        Some(ACK),
        |c| c.syns,
    ),
    ("ACK", ACK, 0, 0, 0, State::Established, None, |c| c.acks),
    (
        "ACK with payload",
        ACK,
        0,
        0,
        9,
        State::Established,
        None,
        |c| c.in_order,
    ),
    (
        "ACK with FIN",
        FIN,
        0,
        0,
        0,
        State::CloseWait,
        Some(ACK),
        |c| c.fins,
    ),
    (
        "ACK beyond the SYN",
        ACK,
        0,
        1,
        0,
        State::SynReceived,
        Some(ALONE),
        |c| c.bad_acks,
    ),
    (
        "ACK below the SYN",
        ACK,
        0,
        -1,
        0,
        State::SynReceived,
        Some(ALONE),
        |c| c.bad_acks,
    ),
    (
        "payload without ACK",
        NONE,
        0,
        0,
        9,
        State::SynReceived,
        None,
        |c| c.without_ack,
    ),
    (
        "payload beyond the window",
        ACK,
        1 << 20,
        0,
        9,
        State::SynReceived,
        Some(ACK),
        |c| c.unacceptable,
    ),
    ("RST at RCV.NXT", RST, 0, 0, 0, State::Closed, None, |c| {
        c.resets
    }),
    (
        "RST in the window",
        RST,
        7,
        0,
        0,
        State::SynReceived,
        Some(ACK),
        |c| c.inexact_resets,
    ),
];

fn verify(peer: &mut Scripted, gauge: &Gauge, case: &Case) {
    let &(name, flags, seq, ack, octets, state, answer, counter) = case;
    let before = counter(&peer.tcp.statistics().received);
    let sent = peer.give(&head(flags, seq, ack), &[0x5a; 16][..octets]);
    assert_eq!(peer.tcp.state(), state, "{name}");
    assert_eq!(sent.first().map(|sent| sent.flags), answer, "{name}");
    let counted = counter(&peer.tcp.statistics().received) - before;
    assert_eq!(counted, 1, "{name}");
    if let Some(rst) = sent.first().filter(|sent| sent.flags.rst) {
        assert_eq!(rst.seq, head(flags, -1, ack).ack, "RFC 9293 section 3.5.2");
    }
    gauge.verify(&Settings::default(), name);
}

/// TCP-004: RFC 9293 section 3.10.7.3.
#[test]
fn segments_in_syn_sent_have_their_answers() {
    for case in &SYN_SENT {
        let gauge = Gauge::new();
        verify(&mut Scripted::new(), &gauge, case);
    }
    let mut peer = Scripted::new();
    let (head, payload) = (head(RST, 0, 0), &[][..]);
    peer.tcp.on_segment(&Segment { head, payload }, peer.now_us);
    assert_eq!(peer.outputs(), [Output::Event(Event::Lost(Lost::Refused))]);
}

/// TCP-002, TCP-037, TCP-038: RFC 9293 section 3.10.7.4 for SYN-RECEIVED.
#[test]
fn segments_in_syn_received_have_their_answers() {
    for case in &SYN_RECEIVED {
        let gauge = Gauge::new();
        let syn = Head {
            seq: SeqNumber(IRS),
            ..head(SYN, -1, 0)
        };
        let (settings, payload) = (Settings::default(), &[][..]);
        let segment = Segment { head: syn, payload };
        let tcp = Connection::accept(settings, &segment, SeqNumber(ISS), 1_000_000);
        let tcp = tcp.expect("settings are in range").expect("it is a SYN");
        let mut peer = Scripted {
            tcp,
            now_us: 1_000_000,
        };
        assert_eq!(peer.segments().len(), 1, "its SYN-ACK");
        verify(&mut peer, &gauge, case);
    }
}

/// Each case has a name of its own, and there are enough.
#[test]
fn at_least_sixty_cases_have_names() {
    let mut names: Vec<(u8, &str)> = CASES.iter().map(|case| (0, case.name)).collect();
    names.extend(SYN_SENT.iter().map(|case| (1, case.0)));
    names.extend(SYN_RECEIVED.iter().map(|case| (2, case.0)));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    println!("{count} cases");
    assert_eq!(names.len(), count, "two cases have the same name");
    assert!(count >= 60, "{count}");
}
