//! A peer that sends what a test says: the checks of RFC 9293 section 3.10.7 and RFC 5961, and what
//! a hostile peer can do. Each case has its answer and its counter.
use rnic_tcp::{
    Connection, Event, Flags, Head, Lost, Options, Output, ReceivedCounts, Record, Segment,
    SeqNumber, Settings, State,
};

/// ISS of the connection under test, and of the peer.
pub const ISS: u32 = u32::MAX - 99;
pub const IRS: u32 = 7_000;
/// Window that the peer announces.
pub const PEER_WINDOW: u16 = 10_000;
/// Window of the connection under test.
const WINDOW: u32 = 65_535;

pub const ACK: Flags = Flags {
    ack: true,
    syn: false,
    fin: false,
    rst: false,
    psh: false,
};
const RST: Flags = Flags { rst: true, ..ACK };
const FIN: Flags = Flags { fin: true, ..ACK };
const SYN: Flags = Flags {
    syn: true,
    ack: false,
    ..ACK
};
pub const SYN_ACK: Flags = Flags { syn: true, ..ACK };
const NONE: Flags = Flags { ack: false, ..ACK };

/// The peer's first octet, and that of the connection under test, have offset 0.
pub fn head(flags: Flags, seq: i64, ack: i64) -> Head {
    Head {
        seq: SeqNumber((i64::from(IRS) + 1 + seq) as u32),
        ack: SeqNumber((i64::from(ISS) + 1 + ack) as u32),
        flags,
        window: PEER_WINDOW,
        options: Options::default(),
    }
}

pub struct Scripted {
    pub tcp: Connection,
    pub now_us: u64,
}

impl Scripted {
    pub fn new() -> Self {
        let now_us = 1_000_000;
        let tcp = Connection::connect(Settings::default(), SeqNumber(ISS), now_us);
        let tcp = tcp.expect("settings are in range");
        let mut scripted = Self { tcp, now_us };
        assert_eq!(scripted.segments().len(), 1, "its SYN");
        scripted
    }

    pub fn established() -> Self {
        let mut scripted = Self::new();
        let mut syn_ack = head(SYN_ACK, -1, 0);
        syn_ack.options = Options {
            mss: Some(1_000),
            sack_permitted: true,
            ..Options::default()
        };
        assert_eq!(
            scripted.give(&syn_ack, &[]).len(),
            1,
            "the last of the handshake"
        );
        assert_eq!(scripted.tcp.state(), State::Established);
        scripted
    }

    pub fn outputs(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(output) = self.tcp.poll(self.now_us) {
            outputs.push(output);
            assert!(outputs.len() < 1_000);
        }
        outputs
    }

    pub fn segments(&mut self) -> Vec<Head> {
        let segment = |output| match output {
            Output::Segment(outgoing) => Some(outgoing.head),
            _ => None,
        };
        self.outputs().into_iter().filter_map(segment).collect()
    }

    /// Give it a segment; what it sends then, 500 us later if nothing at once.
    pub fn give(&mut self, head: &Head, payload: &[u8]) -> Vec<Head> {
        let head = *head;
        self.tcp.on_segment(&Segment { head, payload }, self.now_us);
        self.segments()
    }

    pub fn push(&mut self, count: u64, octets: u32) {
        for id in 0..count {
            self.tcp.push(Record { id, octets }).expect("room");
        }
        self.segments();
    }
}

/// What a segment is answered with.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Answer {
    Nothing,
    /// ACKs without payload, all of RCV.NXT at this offset.
    Acks(usize, i64),
    Rst,
    /// The connection ends without an RST.
    End,
}

struct Case {
    name: &'static str,
    /// Segments given before, whose answers do not count.
    before: &'static [(Flags, i64, i64, usize)],
    /// Flags, SEG.SEQ, SEG.ACK, octets.
    segment: (Flags, i64, i64, usize),
    answer: Answer,
    counter: fn(&ReceivedCounts) -> u64,
}

fn no_counter(_: &ReceivedCounts) -> u64 {
    1
}

macro_rules! case {
    ($name:expr, [$($before:expr),*], $segment:expr, $answer:expr, $counter:expr) => {
        Case {
            name: $name,
            before: &[$($before),*],
            segment: $segment,
            answer: $answer,
            counter: $counter,
        }
    };
}

const W: i64 = WINDOW as i64;
const P: i64 = PEER_WINDOW as i64;
use Answer::{Acks, End, Nothing, Rst};

/// The window is 65,535 octets from 0 on; nothing has been sent.
const CASES: [Case; 46] = [
    // RFC 5961 section 3.2.
    case!("RST at RCV.NXT", [], (RST, 0, 0, 0), End, no_counter),
    case!(
        "RST without ACK at RCV.NXT",
        [],
        (Flags { ack: false, ..RST }, 0, 0, 0),
        End,
        no_counter
    ),
    case!(
        "RST with any ACK",
        [],
        (RST, 0, 5_000_000, 0),
        End,
        no_counter
    ),
    case!("RST one beyond", [], (RST, 1, 0, 0), Acks(1, 0), |c| c
        .inexact_resets),
    case!(
        "RST at the window's end",
        [],
        (RST, W - 1, 0, 0),
        Acks(1, 0),
        |c| c.challenges
    ),
    case!("RST beyond the window", [], (RST, W, 0, 0), Nothing, |c| c
        .inexact_resets),
    case!("RST one below", [], (RST, -1, 0, 0), Nothing, |c| c
        .inexact_resets),
    case!(
        "RST behind a gap",
        [(ACK, 10, 0, 5)],
        (RST, 15, 0, 0),
        Acks(1, 0),
        |c| c.inexact_resets
    ),
    // RFC 5961 section 4.2.
    case!("SYN in the window", [], (SYN, 5, 0, 0), Acks(1, 0), |c| c
        .syns),
    case!("SYN at RCV.NXT", [], (SYN, 0, 0, 0), Acks(1, 0), |c| c.syns),
    case!("SYN far away", [], (SYN, 1 << 31, 0, 0), Acks(1, 0), |c| c
        .challenges),
    case!("SYN-ACK again", [], (SYN_ACK, -1, 0, 0), Acks(1, 0), |c| c
        .syns),
    case!(
        "SYN-ACK of what was never sent",
        [],
        (SYN_ACK, 0, 9, 0),
        Acks(1, 0),
        |c| c.syns
    ),
    case!(
        "SYN with FIN",
        [],
        (Flags { fin: true, ..SYN }, 0, 0, 0),
        Acks(1, 0),
        |c| c.syns
    ),
    case!("SYN with payload", [], (SYN, 0, 0, 100), Acks(1, 0), |c| c
        .syns),
    // RFC 5961 section 5.2.
    case!(
        "ACK of what was never sent",
        [],
        (ACK, 0, 1, 0),
        Acks(1, 0),
        |c| c.bad_acks
    ),
    case!(
        "ACK half the space ahead",
        [],
        (ACK, 0, 1 << 31, 0),
        Acks(1, 0),
        |c| c.bad_acks
    ),
    case!(
        "ACK below the largest window",
        [],
        (ACK, 0, -P - 1, 0),
        Acks(1, 0),
        |c| c.bad_acks
    ),
    case!(
        "ACK at the largest window below",
        [],
        (ACK, 0, -P, 0),
        Nothing,
        no_counter
    ),
    case!(
        "payload with an unacceptable ACK",
        [],
        (ACK, 0, 1, 9),
        Acks(1, 0),
        |c| c.bad_acks
    ),
    case!(
        "two payloads with an old ACK",
        [(ACK, 0, -1, 9)],
        (ACK, 9, -1, 9),
        Acks(1, 18),
        no_counter
    ),
    case!("payload without ACK", [], (NONE, 0, 0, 9), Nothing, |c| c
        .without_ack),
    case!(
        "FIN without ACK",
        [],
        (Flags { fin: true, ..NONE }, 0, 0, 0),
        Nothing,
        |c| c.without_ack
    ),
    // RFC 9293 section 3.4, table 6.
    case!(
        "nothing at RCV.NXT",
        [],
        (ACK, 0, 0, 0),
        Nothing,
        no_counter
    ),
    case!(
        "nothing one below, a keepalive probe",
        [],
        (ACK, -1, 0, 0),
        Acks(1, 0),
        |c| c.unacceptable
    ),
    case!(
        "an octet below, another keepalive probe",
        [],
        (ACK, -1, 0, 1),
        Acks(1, 0),
        |c| c.unacceptable
    ),
    case!(
        "nothing at the window's end",
        [],
        (ACK, W - 1, 0, 0),
        Nothing,
        no_counter
    ),
    case!(
        "nothing beyond the window",
        [],
        (ACK, W, 0, 0),
        Acks(1, 0),
        |c| c.unacceptable
    ),
    case!(
        "payload below",
        [(ACK, 0, 0, 9)],
        (ACK, 0, 0, 9),
        Acks(1, 9),
        |c| c.not_kept
    ),
    case!(
        "payload beyond the window",
        [],
        (ACK, W, 0, 9),
        Acks(1, 0),
        |c| c.not_kept
    ),
    case!(
        "payload half the space away",
        [],
        (ACK, 1 << 31, 0, 9),
        Acks(1, 0),
        |c| c.unacceptable
    ),
    case!(
        "the window's last octet",
        [],
        (ACK, W - 1, 0, 1),
        Acks(1, 0),
        no_counter
    ),
    case!(
        "payload over the window's end",
        [],
        (ACK, W - 1, 0, 9),
        Acks(1, 0),
        no_counter
    ),
    case!(
        "payload from below",
        [(ACK, 0, 0, 9), (ACK, 9, 0, 9)],
        (ACK, 9, 0, 20),
        Nothing,
        no_counter
    ),
    case!(
        "the gap closes",
        [(ACK, 9, 0, 9)],
        (ACK, 0, 0, 9),
        Acks(1, 18),
        no_counter
    ),
    case!("beyond a gap", [], (ACK, 9, 0, 9), Acks(1, 0), no_counter),
    case!(
        "the same beyond a gap",
        [(ACK, 9, 0, 9)],
        (ACK, 9, 0, 9),
        Acks(1, 0),
        |c| c.not_kept
    ),
    // RFC 9293 section 3.10.7.4, eighth.
    case!("FIN", [], (FIN, 0, 0, 0), Acks(1, 1), no_counter),
    case!(
        "FIN with payload",
        [],
        (FIN, 0, 0, 9),
        Acks(1, 10),
        no_counter
    ),
    case!(
        "FIN beyond a gap",
        [],
        (FIN, 9, 0, 0),
        Acks(1, 0),
        no_counter
    ),
    case!(
        "FIN again",
        [(FIN, 0, 0, 0)],
        (FIN, 0, 0, 0),
        Acks(1, 1),
        |c| c.unacceptable
    ),
    case!(
        "FIN beyond a gap that closes",
        [(FIN, 9, 0, 0)],
        (ACK, 0, 0, 9),
        Acks(1, 10),
        no_counter
    ),
    case!(
        "octets behind a FIN beyond a gap",
        [(FIN, 9, 0, 0)],
        (ACK, 9, 0, 1),
        Rst,
        no_counter
    ),
    case!(
        "FIN elsewhere",
        [(FIN, 9, 0, 0)],
        (FIN, 8, 0, 0),
        Rst,
        no_counter
    ),
    case!(
        "FIN in front of what arrived",
        [(ACK, 9, 0, 9)],
        (FIN, 9, 0, 0),
        Rst,
        no_counter
    ),
    case!(
        "octets behind a FIN",
        [(FIN, 0, 0, 0)],
        (ACK, 1, 0, 9),
        Rst,
        no_counter
    ),
];

/// TCP-006, TCP-026, TCP-037, TCP-038, TCP-039: RFC 9293 section 3.10.7, RFC 5961: every case has
/// its answer and its counter.
#[test]
fn each_segment_has_its_answer_and_its_counter() {
    let octets = [0x5a; 4_096];
    for case in &CASES {
        let mut peer = Scripted::established();
        for &(flags, seq, ack, count) in case.before {
            peer.give(&head(flags, seq, ack), &octets[..count]);
        }
        let before = peer.tcp.statistics().received;
        let (flags, seq, ack, count) = case.segment;
        let sent = peer.give(&head(flags, seq, ack), &octets[..count]);
        let found = match (&sent[..], peer.tcp.state()) {
            ([], State::Closed) => End,
            ([], _) => Nothing,
            ([rst], State::Closed) if rst.flags.rst => Rst,
            (acks, _) => {
                let offset = acks[0].ack.distance_from(SeqNumber(IRS + 1));
                assert!(
                    acks.iter().all(|sent| sent.flags == ACK),
                    "{}: {acks:?}",
                    case.name
                );
                Acks(acks.len(), offset.into())
            }
        };
        assert_eq!(found, case.answer, "{}", case.name);
        let after = peer.tcp.statistics().received;
        assert_eq!(after.segments, before.segments + 1);
        let counted = (case.counter)(&after);
        assert!(
            counted == 1 || counted == (case.counter)(&before) + 1,
            "{}",
            case.name
        );
        if matches!(found, Nothing | Acks(..)) {
            assert_ne!(peer.tcp.state(), State::Closed, "{}", case.name);
        }
    }
}

/// TCP-004: RFC 9293 section 3.10.7.3: segments that meet a SYN.
#[test]
fn segments_in_syn_sent_have_their_answers() {
    for (flags, ack, state, answer) in [
        (ACK, 0, State::SynSent, None),
        (ACK, 1, State::SynSent, Some(RST)),
        (ACK, -1, State::SynSent, Some(RST)),
        (SYN_ACK, 1, State::SynSent, Some(RST)),
        (SYN_ACK, 0, State::Established, Some(ACK)),
        (RST, 1, State::SynSent, None),
        (RST, 0, State::Closed, None),
        (Flags { ack: false, ..RST }, 0, State::SynSent, None),
        (NONE, 0, State::SynSent, None),
        (FIN, 0, State::SynSent, None),
        (SYN, 0, State::SynReceived, Some(SYN_ACK)),
    ] {
        let mut peer = Scripted::new();
        let sent = peer.give(&head(flags, -1, ack), &[]);
        assert_eq!(peer.tcp.state(), state, "{flags:?} {ack}");
        let found = sent.first().map(|sent| sent.flags);
        let answer = answer.map(|flags| Flags {
            ack: flags.ack && !flags.rst,
            ..flags
        });
        assert_eq!(found, answer, "{flags:?} {ack}");
        if let Some(rst) = sent.first().filter(|sent| sent.flags.rst) {
            assert_eq!(rst.seq, head(flags, -1, ack).ack, "RFC 9293 section 3.5.2");
        }
    }
    let mut peer = Scripted::new();
    peer.tcp.on_segment(
        &Segment {
            head: head(RST, 0, 0),
            payload: &[],
        },
        peer.now_us,
    );
    assert_eq!(peer.outputs(), [Output::Event(Event::Lost(Lost::Refused))]);
}

/// TCP-040: RFC 5961 section 7: ten in five seconds, and again in the next five.
#[test]
fn challenge_acks_have_a_limit() {
    let mut peer = Scripted::established();
    for round in 1..=3u64 {
        let answered: usize = (0..100)
            .map(|_| peer.give(&head(RST, 7, 0), &[]).len())
            .sum();
        assert_eq!(answered, 10);
        let counts = peer.tcp.statistics().received;
        assert_eq!(
            (counts.challenges, counts.challenges_left_out),
            (10 * round, 90 * round)
        );
        peer.now_us += 5_000_000;
    }
}
