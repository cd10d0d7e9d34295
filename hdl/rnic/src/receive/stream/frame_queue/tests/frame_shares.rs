//! Frames that hold several runs: the last run to go releases the pages.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};

/// What comes next of a frame: a run of it, or the end of one that was queued.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Run {
        opens: bool,
        closes: bool,
        kept: bool,
    },
    Leave,
}

/// A frame with runs still to come, and runs queued.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    to_come: u64,
    queued: u64,
}

fn step(frame: &mut Frame, random: &mut Random) -> Step {
    if frame.queued > 0 && (frame.to_come == 0 || random.chance(1, 3)) {
        frame.queued -= 1;
        return Step::Leave;
    }
    let opens = frame.to_come == 0;
    if opens {
        frame.to_come = 2 + random.below(16);
    }
    frame.to_come -= 1;
    let kept = random.chance(1, 2);
    frame.queued += u64::from(kept);
    Step::Run {
        opens,
        closes: frame.to_come == 0,
        kept,
    }
}

#[test]
fn lockstep_with_verilog_and_the_last_share() {
    let mut frames = [Frame::default(); 6];
    let (mut at, mut now, mut cycle) = (0, Step::Leave, 0);
    let mut seen = [0usize; 4];
    let uut = FrameShares::default();
    lockstep!("frame_shares", uut, 12_000, |uut, random| {
        (uut.keeps.next, uut.drops.next) = (false, false);
        (uut.front_leaves.next, uut.looks.next) = (false, false);
        if cycle % 4 == 0 {
            at = random.below(6) as usize;
            now = step(&mut frames[at], random);
        }
        let done = cycle % 4 == 3;
        match now {
            Step::Run {
                opens,
                closes,
                kept,
            } => {
                uut.page.next = (at as u64).into();
                (uut.opens.next, uut.closes.next) = (opens, closes);
                (uut.keeps.next, uut.drops.next) = (done && kept, done && !kept);
                rnic_hdl_tools::testkit::settle(uut);
                if done && !kept {
                    let gone = closes && frames[at].queued == 0;
                    assert_eq!(uut.gone.val(), gone);
                    seen[usize::from(gone)] += 1;
                }
            }
            Step::Leave => {
                uut.looks.next = true;
                uut.front_page.next = (at as u64).into();
                uut.front_leaves.next = done;
                if done {
                    let last = frames[at].queued + u64::from(frames[at].to_come > 0) == 0;
                    assert_eq!(uut.last.val(), last);
                    seen[2 + usize::from(last)] += 1;
                }
            }
        }
        cycle += 1;
    });
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}
