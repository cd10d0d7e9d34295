//! What a hostile peer can send, case by case: the checks of RFC 9293 section 3.10.7 and RFC 5961.
//! Each case has its answer and its counter, and a connection takes no more memory than it says.
use crate::memory::Gauge;
use crate::peer::{head, Scripted, ACK, FIN, IRS, NONE, PEER_WINDOW, RST, SYN, SYN_ACK, WINDOW};
use rnic_tcp::{Flags, ReceivedCounts, SeqNumber, Settings, State};

/// What a segment is answered with.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Answer {
    Nothing,
    /// ACKs without payload, all of RCV.NXT at this offset.
    Acks(usize, i64),
    Rst,
    /// The connection ends without an RST.
    End,
}

pub struct Case {
    pub name: &'static str,
    /// Segments given before, whose answers do not count.
    before: &'static [(Flags, i64, i64, usize)],
    /// Flags, SEG.SEQ, SEG.ACK, octets.
    segment: (Flags, i64, i64, usize),
    answer: Answer,
    counter: fn(&ReceivedCounts) -> u64,
}

macro_rules! case {
    ($name:expr, [$($before:expr),*], $segment:expr, $answer:expr, $counter:ident) => {
        Case {
            name: $name,
            before: &[$($before),*],
            segment: $segment,
            answer: $answer,
            counter: |counts| counts.$counter,
        }
    };
}

const W: i64 = WINDOW as i64;
const P: i64 = PEER_WINDOW as i64;
use Answer::{Acks, End, Nothing, Rst};

/// The window is 65,535 octets from 0 on; nothing has been sent.
pub const CASES: [Case; 69] = [
    // RFC 5961 section 3.2.
    case!("RST at RCV.NXT", [], (RST, 0, 0, 0), End, resets),
    case!(
        "RST without ACK at RCV.NXT",
        [],
        (Flags { ack: false, ..RST }, 0, 0, 0),
        End,
        resets
    ),
    case!("RST with any ACK", [], (RST, 0, 5_000_000, 0), End, resets),
    case!(
        "RST one beyond",
        [],
        (RST, 1, 0, 0),
        Acks(1, 0),
        inexact_resets
    ),
    case!(
        "RST at the window's end",
        [],
        (RST, W - 1, 0, 0),
        Acks(1, 0),
        challenges
    ),
    case!(
        "RST beyond the window",
        [],
        (RST, W, 0, 0),
        Nothing,
        inexact_resets
    ),
    case!(
        "RST one below",
        [],
        (RST, -1, 0, 0),
        Nothing,
        inexact_resets
    ),
    case!(
        "RST beyond a gap",
        [(ACK, 10, 0, 5)],
        (RST, 15, 0, 0),
        Acks(1, 0),
        inexact_resets
    ),
    // RFC 5961 section 4.2.
    case!("SYN in the window", [], (SYN, 5, 0, 0), Acks(1, 0), syns),
    case!("SYN at RCV.NXT", [], (SYN, 0, 0, 0), Acks(1, 0), syns),
    case!(
        "SYN far away",
        [],
        (SYN, 1 << 31, 0, 0),
        Acks(1, 0),
        challenges
    ),
    case!("SYN-ACK again", [], (SYN_ACK, -1, 0, 0), Acks(1, 0), syns),
    case!(
        "SYN-ACK of what was never sent",
        [],
        (SYN_ACK, 0, 9, 0),
        Acks(1, 0),
        syns
    ),
    case!(
        "SYN with FIN",
        [],
        (Flags { fin: true, ..SYN }, 0, 0, 0),
        Acks(1, 0),
        syns
    ),
    case!("SYN with payload", [], (SYN, 0, 0, 100), Acks(1, 0), syns),
    // RFC 5961 section 5.2.
    case!(
        "ACK of what was never sent",
        [],
        (ACK, 0, 1, 0),
        Acks(1, 0),
        bad_acks
    ),
    case!(
        "ACK half the space ahead",
        [],
        (ACK, 0, 1 << 31, 0),
        Acks(1, 0),
        bad_acks
    ),
    case!(
        "ACK below the largest window",
        [],
        (ACK, 0, -P - 1, 0),
        Acks(1, 0),
        bad_acks
    ),
    case!(
        "ACK at the largest window below",
        [],
        (ACK, 0, -P, 0),
        Nothing,
        old_acks
    ),
    case!(
        "payload with an unacceptable ACK",
        [],
        (ACK, 0, 1, 9),
        Acks(1, 0),
        bad_acks
    ),
    case!(
        "two payloads with an old ACK",
        [(ACK, 0, -1, 9)],
        (ACK, 9, -1, 9),
        Acks(1, 18),
        old_acks
    ),
    case!(
        "payload without ACK",
        [],
        (NONE, 0, 0, 9),
        Nothing,
        without_ack
    ),
    case!(
        "FIN without ACK",
        [],
        (Flags { fin: true, ..NONE }, 0, 0, 0),
        Nothing,
        without_ack
    ),
    // RFC 9293 section 3.4, table 6.
    case!("nothing at RCV.NXT", [], (ACK, 0, 0, 0), Nothing, acks),
    case!(
        "nothing one below, a keepalive probe",
        [],
        (ACK, -1, 0, 0),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "an octet below, another keepalive probe",
        [],
        (ACK, -1, 0, 1),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "nothing at the window's end",
        [],
        (ACK, W - 1, 0, 0),
        Nothing,
        acks
    ),
    case!(
        "nothing beyond the window",
        [],
        (ACK, W, 0, 0),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "payload below",
        [(ACK, 0, 0, 9)],
        (ACK, 0, 0, 9),
        Acks(1, 9),
        not_kept
    ),
    case!(
        "payload beyond the window",
        [],
        (ACK, W, 0, 9),
        Acks(1, 0),
        not_kept
    ),
    case!(
        "payload half the space away",
        [],
        (ACK, 1 << 31, 0, 9),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "the window's last octet",
        [],
        (ACK, W - 1, 0, 1),
        Acks(1, 0),
        out_of_order
    ),
    case!(
        "payload over the window's end",
        [],
        (ACK, W - 1, 0, 9),
        Acks(1, 0),
        out_of_order
    ),
    case!(
        "payload from below",
        [(ACK, 0, 0, 9), (ACK, 9, 0, 9)],
        (ACK, 9, 0, 20),
        Nothing,
        in_order
    ),
    case!(
        "the gap closes",
        [(ACK, 9, 0, 9)],
        (ACK, 0, 0, 9),
        Acks(1, 18),
        in_order
    ),
    case!("beyond a gap", [], (ACK, 9, 0, 9), Acks(1, 0), out_of_order),
    case!(
        "the same beyond a gap",
        [(ACK, 9, 0, 9)],
        (ACK, 9, 0, 9),
        Acks(1, 0),
        not_kept
    ),
    // RFC 9293 section 3.10.7.4, eighth.
    case!("FIN", [], (FIN, 0, 0, 0), Acks(1, 1), fins),
    case!("FIN with payload", [], (FIN, 0, 0, 9), Acks(1, 10), fins),
    case!("FIN beyond a gap", [], (FIN, 9, 0, 0), Acks(1, 0), fins),
    case!(
        "FIN again",
        [(FIN, 0, 0, 0)],
        (FIN, 0, 0, 0),
        Acks(1, 1),
        unacceptable
    ),
    case!(
        "FIN beyond a gap that closes",
        [(FIN, 9, 0, 0)],
        (ACK, 0, 0, 9),
        Acks(1, 10),
        in_order
    ),
    case!(
        "octets after a FIN beyond a gap",
        [(FIN, 9, 0, 0)],
        (ACK, 9, 0, 1),
        Rst,
        beyond_fin
    ),
    case!(
        "FIN elsewhere",
        [(FIN, 9, 0, 0)],
        (FIN, 8, 0, 0),
        Rst,
        beyond_fin
    ),
    case!(
        "FIN before what arrived",
        [(ACK, 9, 0, 9)],
        (FIN, 9, 0, 0),
        Rst,
        beyond_fin
    ),
    case!(
        "octets after a FIN",
        [(FIN, 0, 0, 0)],
        (ACK, 1, 0, 9),
        Rst,
        beyond_fin
    ),
    // More of the same, and segments that no TCP sends.
    case!("RST with payload", [], (RST, 0, 0, 9), End, resets),
    case!(
        "RST with FIN",
        [],
        (Flags { fin: true, ..RST }, 0, 0, 0),
        End,
        resets
    ),
    case!(
        "every flag at once",
        [],
        (
            Flags {
                fin: true,
                syn: true,
                psh: true,
                ..RST
            },
            0,
            0,
            9
        ),
        End,
        resets
    ),
    case!(
        "RST half the space away",
        [],
        (RST, 1 << 31, 0, 0),
        Nothing,
        inexact_resets
    ),
    case!(
        "RST at the number before the gap closed",
        [(ACK, 9, 0, 9), (ACK, 0, 0, 9)],
        (RST, 9, 0, 0),
        Nothing,
        inexact_resets
    ),
    case!(
        "SYN beyond a gap",
        [(ACK, 9, 0, 9)],
        (SYN, 18, 0, 0),
        Acks(1, 0),
        syns
    ),
    case!(
        "no flag and no octet",
        [],
        (NONE, 0, 0, 0),
        Nothing,
        without_ack
    ),
    case!("ACK one below", [], (ACK, 0, -1, 0), Nothing, old_acks),
    case!(
        "ACK of the SYN alone, with a gap",
        [],
        (ACK, 9, -1, 9),
        Acks(1, 0),
        old_acks
    ),
    case!(
        "FIN below the window",
        [],
        (FIN, -1, 0, 0),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "FIN beyond the window",
        [],
        (FIN, W, 0, 0),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "FIN beyond the window's last octet",
        [],
        (FIN, W - 1, 0, 1),
        Acks(1, 0),
        fins
    ),
    case!(
        "FIN with an unacceptable ACK",
        [],
        (FIN, 0, 1, 0),
        Acks(1, 0),
        bad_acks
    ),
    case!(
        "octets over a FIN beyond a gap",
        [(FIN, 9, 0, 0)],
        (ACK, 0, 0, 20),
        Rst,
        beyond_fin
    ),
    case!(
        "a second FIN after the first",
        [(FIN, 0, 0, 0)],
        (FIN, 1, 0, 0),
        Rst,
        beyond_fin
    ),
    case!(
        "nothing after a FIN",
        [(FIN, 0, 0, 0)],
        (ACK, 1, 0, 0),
        Nothing,
        acks
    ),
    case!(
        "one octet after another",
        [(ACK, 0, 0, 1)],
        (ACK, 1, 0, 1),
        Acks(1, 2),
        in_order
    ),
    case!(
        "payload from below to beyond",
        [],
        (ACK, -10, 0, 20),
        Nothing,
        in_order
    ),
    case!(
        "an old duplicate a window away",
        [],
        (ACK, -W, 0, 9),
        Acks(1, 0),
        unacceptable
    ),
    case!(
        "another gap",
        [(ACK, 10, 0, 5)],
        (ACK, 30, 0, 5),
        Acks(1, 0),
        out_of_order
    ),
    case!(
        "between two gaps",
        [(ACK, 10, 0, 5), (ACK, 20, 0, 5)],
        (ACK, 15, 0, 5),
        Acks(1, 0),
        out_of_order
    ),
    case!(
        "over a gap and what lies beyond",
        [(ACK, 10, 0, 5)],
        (ACK, 0, 0, 40),
        Acks(1, 40),
        in_order
    ),
    case!(
        "an octet inside of a range",
        [(ACK, 10, 0, 5)],
        (ACK, 12, 0, 1),
        Acks(1, 0),
        not_kept
    ),
];

/// TCP-006, TCP-026, TCP-037, TCP-038, TCP-039: RFC 9293 section 3.10.7, RFC 5961: every case has
/// its answer and its counter.
#[test]
fn each_segment_has_its_answer_and_its_counter() {
    let octets = [0x5a; 4_096];
    for case in &CASES {
        let gauge = Gauge::new();
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
        let counted = (case.counter)(&after) - (case.counter)(&before);
        assert_eq!(counted, 1, "{}", case.name);
        gauge.verify(&Settings::default(), case.name);
        if matches!(found, Nothing | Acks(..)) {
            assert_ne!(peer.tcp.state(), State::Closed, "{}", case.name);
        }
    }
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
