//! The front end in lockstep with its Verilog, under valid and damaged frames.
use super::packets::{octets, shape, tcp_frame};
use super::rig::{Rig, Stimulus};
use super::{FrontEnd128, FrontEnd512, FrontEnd64};
use rnic_hdl_tools::testkit::{lockstep, Random};
use std::collections::VecDeque;

/// Beats to come: octets, last, first, and the frame they are of.
type Beats = VecDeque<(Vec<u8>, bool, bool, Stimulus)>;

fn beats_of_a_frame<R: Rig>(random: &mut Random) -> Beats {
    let shape = shape(random);
    let mut frame = tcp_frame(random, shape);
    if random.chance(1, 3) {
        let place = random.below(frame.len() as u64) as usize;
        frame[place] ^= 1 << random.below(8);
    }
    if random.chance(1, 8) {
        let size = 1 + random.below(60) as usize;
        frame = octets(random, size);
    }
    let stimulus = Stimulus {
        enabled: !random.chance(1, 20),
        mac_error: random.chance(1, 20),
        ..Stimulus::new(frame.clone())
    };
    let count = frame.len().div_ceil(R::OCTETS);
    let numbered = frame.chunks(R::OCTETS).enumerate();
    numbered
        .map(|(number, beat)| {
            (
                beat.to_vec(),
                number + 1 == count,
                number == 0,
                stimulus.clone(),
            )
        })
        .collect()
}

fn agrees<R: Rig>(name: &str, cycles: usize) {
    let mut waiting = Beats::new();
    let mut cycle = 0;
    lockstep(name, R::default(), cycles, R::clock, |uut, random| {
        cycle += 1;
        uut.reset(cycle < 3 || random.chance(1, 2000));
        // Half of the run keeps no gaps at all, so that frames are delayed and refused.
        if waiting.is_empty() && (cycle % 1000 < 500 || random.chance(1, 4)) {
            waiting = beats_of_a_frame::<R>(random);
        }
        match waiting.pop_front() {
            Some((beat, last, first, frame)) => {
                uut.give(&beat, last, &frame, random);
                uut.enable(if first {
                    frame.enabled
                } else {
                    random.chance(1, 2)
                });
            }
            None => uut.idle(random),
        }
    });
}

#[test]
fn rust_and_verilog_agree_w64() {
    agrees::<FrontEnd64>("front_end_64", 6000);
}

#[test]
fn rust_and_verilog_agree_w128() {
    agrees::<FrontEnd128>("front_end_128", rnic_effort::count("cycles", 1500, 4000));
}

#[test]
fn rust_and_verilog_agree_w512() {
    agrees::<FrontEnd512>("front_end_512", 1500);
}
