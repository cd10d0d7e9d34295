//! The elastic buffer against lists of frames.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};

type Uut = Intake<64>;

/// One random beat, or none, of frames of up to `longest` beats.
fn drive(uut: &mut Uut, random: &mut Random, idle_of_8: u64, left: &mut u64, longest: u64) {
    uut.frame_valid.next = !random.chance(idle_of_8, 8);
    uut.enable.next = random.chance(3, 4);
    uut.frame_data.next = random.wide();
    uut.frame_error.next = random.chance(1, 4);
    if uut.frame_valid.next && *left == 0 {
        *left = 1 + random.below(longest);
    }
    uut.frame_last.next = *left == 1;
    let octets = if *left == 1 { 1 + random.below(8) } else { 8 };
    uut.frame_octets.next = octets.into();
    *left -= u64::from(uut.frame_valid.next);
}

/// Every beat of every accepted frame leaves once, in order and spaced; all others are counted.
fn walk(idle_of_8: u64, longest: u64, may_refuse: bool) {
    let mut random = Random::from_environment();
    let mut uut = simulate!(Uut::default());
    let (mut wire, mut out, mut counted) = (vec![Vec::new()], vec![Vec::new()], 0);
    let (mut left, mut earliest, mut blocked_until) = (0, 0, 0);
    for cycle in 0..6000u64 {
        if cycle < 5900 || left > 0 {
            drive(&mut uut, &mut random, idle_of_8, &mut left, longest);
        } else {
            uut.frame_valid.next = false;
        }
        uut.settle();
        if uut.frame_valid.next {
            let frame: &mut Vec<u64> = wire.last_mut().expect("never empty");
            frame.push(uut.frame_data.next.to_u64());
            if uut.frame_last.next {
                wire.push(Vec::new());
            }
        }
        uut.overrun_counted.next = uut.overrun.val() && random.chance(7, 8);
        counted += usize::from(uut.overrun_counted.next);
        if uut.beat_valid.val() {
            let beat = uut.beat.val();
            let frame: &mut Vec<u64> = out.last_mut().expect("never empty");
            assert!(cycle >= blocked_until, "a spilled beat is due");
            assert_eq!(beat.first, frame.is_empty());
            frame.push(uut.beat_data.val().to_u64());
            if beat.last {
                let ends = cycle + u64::from(beat.octets.to_u8() > 6);
                assert!(ends >= earliest, "two frames end too close");
                (earliest, blocked_until) = (ends + 2, ends + 1);
                out.push(Vec::new());
            }
        }
        uut.tick();
    }
    assert_eq!((wire.pop(), out.pop()), (Some(vec![]), Some(vec![])));
    assert_eq!(wire.len(), out.len() + counted);
    assert_eq!(counted > 0, may_refuse, "{counted} refused");
    let mut wire = wire.into_iter();
    for frame in out {
        assert!(
            wire.any(|given| given == frame),
            "not given, or out of order"
        );
    }
}

#[test]
fn spaced_frames_pass_in_order() {
    walk(4, 12, false);
    walk(1, 20, false);
}

#[test]
fn crowded_frames_are_refused_and_counted() {
    walk(0, 3, true);
    walk(0, 1, true);
}

/// The wire goes on during a reset: frames of which a beat arrives in reset are not seen, their
/// rest is no frame and not counted, and the first frame that begins after the reset is whole.
#[test]
fn a_frame_cut_by_a_reset_is_not_seen() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(Uut::default());
    uut.enable.next = true;
    uut.frame_octets.next = 4u64.into();
    for round in 0..200u64 {
        let (begin, end) = (random.below(20), 20 + random.below(30));
        let (mut left, mut expected, mut seen) = (0, vec![], vec![]);
        for cycle in 0..100 {
            uut.reset.next = (begin..end).contains(&cycle);
            // The pin comes first, as at power-up, in some rounds.
            uut.wire_reset.next = round % 3 == 0 && cycle == begin;
            uut.frame_valid.next = cycle < 80 || left > 0;
            if left == 0 && uut.frame_valid.next {
                left = 3 + random.below(12);
                if cycle >= end {
                    expected.push(cycle);
                }
            }
            uut.frame_last.next = left == 1;
            uut.frame_data.next = cycle.into();
            left -= u64::from(uut.frame_valid.next);
            uut.settle();
            if cycle >= end {
                assert!(!uut.overrun.val(), "round {round}");
                if uut.beat_valid.val() && uut.beat.val().first {
                    seen.push(uut.beat_data.val().to_u64());
                } else if uut.beat_valid.val() {
                    assert!(!seen.is_empty(), "round {round}: the rest of a frame");
                }
            }
            uut.tick();
        }
        assert_eq!(seen, expected, "round {round}");
    }
}

#[test]
fn rust_and_verilog_agree() {
    let mut left = 0;
    lockstep!("intake", Uut::default(), 4000, |uut, random| {
        uut.reset.next = random.chance(1, 300);
        uut.wire_reset.next = random.chance(1, 300);
        let dense = random.below(3);
        drive(uut, random, dense, &mut left, 4);
        uut.overrun_counted.next = false;
    });
}
