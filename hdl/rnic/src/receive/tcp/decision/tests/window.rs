//! Verdicts and octets against the segment taken octet by octet.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};
use std::collections::VecDeque;

/// Expected result, in plain integers: the octets of the segment one by one.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    verdict: SegmentVerdict,
    octets: u64,
    offset: u64,
    distance: u64,
    end: u64,
    after: u32,
    to_the_end: bool,
    acknowledges: bool,
}

fn expected(distance: i64, length: i64, offset: i64, rcv_nxt: u32, window: i64) -> Expected {
    let first = distance.max(0);
    let wanted = (first..distance + length).filter(|octet| *octet < window);
    let octets = wanted.count() as i64;
    let verdict = if distance >= window {
        SegmentVerdict::OutsideWindow
    } else if distance > 0 {
        SegmentVerdict::OutOfOrder
    } else if distance + length <= 0 {
        SegmentVerdict::Duplicate
    } else if octets == 0 {
        SegmentVerdict::OutsideWindow
    } else if distance < 0 {
        SegmentVerdict::Trimmed
    } else {
        SegmentVerdict::InOrder
    };
    Expected {
        verdict,
        octets: octets as u64,
        offset: (offset - distance) as u64 % (1 << 14),
        distance: distance as u32 as u64,
        end: (first + octets) as u64,
        after: rcv_nxt.wrapping_add((first + octets) as u32),
        to_the_end: first + octets == distance + length,
        acknowledges: octets > 0
            || distance == 0
            || (length == 0 && (0..window).contains(&distance)),
    }
}

fn near(random: &mut Random, place: i64) -> i64 {
    place + random.below(5) as i64 - 2
}

/// Sequence numbers around the wrap at 2^32, segments around every edge of the window.
#[test]
fn matches_the_octet_by_octet_model() {
    // A new segment every fourth cycle: one cycle early, then two of latency.
    let mut answers: VecDeque<Expected> = VecDeque::new();
    let (mut cycle, mut seen) = (0, [0usize; 5]);
    let uut = WindowCheck::default();
    lockstep!("segment_judge", uut, 12_000, |uut, random| {
        if cycle % 4 == 0 {
            let window = match random.below(4) {
                0 => 0,
                1 => random.below(64) as i64,
                2 => random.below(20_000) as i64,
                _ => 1 << 30,
            };
            let longest = if random.chance(1, 2) { 8 } else { 9000 };
            let length = match random.chance(1, 8) {
                true => 0,
                false => 1 + random.below(longest) as i64,
            };
            let distance = match random.below(6) {
                0 => 0,
                1 => near(random, window),
                2 => near(random, -length),
                3 => -(random.below(length as u64) as i64),
                4 => near(random, window - length),
                _ => random.below(1 << 31) as i64 - (1 << 30),
            };
            let rcv_nxt = (random.below(1 << 14) as u32).wrapping_sub(1 << 13);
            let rcv_nxt = if random.chance(1, 4) {
                random.bits() as u32
            } else {
                rcv_nxt
            };
            let seq = rcv_nxt.wrapping_add(distance as u32);
            let offset = 56 + random.below(60) as i64;
            uut.seg_seq.next = u64::from(seq).into();
            uut.seg_len.next = (length as u64).into();
            uut.payload_offset.next = (offset as u64).into();
            uut.rcv_nxt.next = u64::from(rcv_nxt).into();
            uut.wanted.next = u64::from(rcv_nxt).into();
            uut.window.next = (window as u64).into();
            answers.push_back(expected(distance, length, offset, rcv_nxt, window));
        }
        if cycle % 4 == 3 {
            let expected = answers.pop_front().expect("a segment went in");
            seen[expected.verdict as usize] += 1;
            let context = format!("{expected:?}");
            assert_eq!(uut.verdict.val(), expected.verdict as u64, "{context}");
            let accepted = matches!(
                expected.verdict,
                SegmentVerdict::InOrder | SegmentVerdict::Trimmed
            );
            assert_eq!(uut.accept.val(), accepted, "{context}");
            let ooo = expected.verdict == SegmentVerdict::OutOfOrder;
            assert_eq!(uut.ooo.val(), ooo, "{context}");
            assert_eq!(uut.acknowledges.val(), expected.acknowledges, "{context}");
            if ooo {
                assert_eq!(uut.offset.val(), expected.offset, "{context}");
            }
            if accepted || ooo {
                let left = if ooo { expected.distance } else { 0 };
                let segment = ClippedSegment {
                    ooo,
                    trimmed: expected.verdict == SegmentVerdict::Trimmed,
                    left_distance: left.into(),
                    right_distance: expected.end.into(),
                    left: uut.wanted.val() + left,
                    right: u64::from(expected.after).into(),
                    origin: expected.offset.into(),
                };
                assert_eq!(uut.segment.val(), segment, "{context}");
                assert_eq!(uut.end_in_window.val(), expected.end, "{context}");
                let after = u64::from(expected.after);
                assert_eq!(uut.rcv_nxt_after.val(), after, "{context}");
                assert_eq!(uut.to_the_end.val(), expected.to_the_end, "{context}");
            }
            if accepted {
                assert_eq!(uut.octets.val(), expected.octets, "{context}");
                assert_eq!(uut.offset.val(), expected.offset, "{context}");
            }
        }
        cycle += 1;
    });
    assert!(
        seen.iter().all(|count| *count > 50),
        "verdicts seen: {seen:?}"
    );
}
