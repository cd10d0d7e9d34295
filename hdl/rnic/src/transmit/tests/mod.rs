//! The whole room: random frames in both rings against an independent builder of frames.
mod bench;
mod engine;
pub mod frames;
mod ports;
mod rig;
mod software;

use super::types::count;
use super::{TransmitRoom128, TransmitRoom512, TransmitRoom64};
use frames::{frame_of, Spec};
use ports::Room;
use rig::{Paces, Plan, Rig};
use rnic_hdl_tools::testkit::{lockstep, simulate, Pace, Random, Simulation};
use rust_hdl::prelude::Block;

/// Nothing ever waits.
const BRISK: Paces = Paces {
    command: Pace::Always,
    read: Pace::Always,
    tlp: Pace::Always,
    frame: Pace::Always,
    latency: 30,
    pauses_of_1000: 0,
};

/// Every port waits now and then.
const MIXED: Paces = Paces {
    command: Pace::of_8(5),
    read: Pace::of_8(6),
    tlp: Pace::of_8(3),
    frame: Pace::of_8(6),
    latency: 60,
    pauses_of_1000: 3,
};

/// Everything that can happen to a frame.
const ALL_FATES: Plan = Plan {
    frames: 120,
    most_octets: 1600,
    refused_of_100: 20,
    failing_of_100: 15,
    pace: (1, 8),
};

const BASES: [u64; 2] = [0x10_0000, 0x1_ffff_f000];

/// A room after reset, and its rig, with rings of 16 and 64 units.
fn begin<R: Room + Block>(uut: &mut Simulation<R>, paces: Paces) -> Rig {
    let mut rig = Rig::new(paces);
    reset(uut, &mut rig);
    rig.set_up(0, BASES[0], 4);
    rig.set_up(1, BASES[1], 6);
    cycles(uut, &mut rig, 4);
    rig
}

fn reset<R: Room + Block>(uut: &mut Simulation<R>, rig: &mut Rig) {
    rig.inputs.reset = true;
    for _ in 0..3 {
        cycles(uut, rig, 1);
        rig.inputs.read = None;
        rig.forget();
    }
    rig.inputs.reset = false;
}

fn cycles<R: Room + Block>(uut: &mut Simulation<R>, rig: &mut Rig, count: u64) {
    for _ in 0..count {
        let mut random = uut.random.clone();
        rig.drive(&mut **uut, &mut random);
        uut.random = random;
        uut.tick();
    }
}

/// Runs until all of `plan` is written, and every frame is over.
fn run<R: Room + Block>(uut: &mut Simulation<R>, rig: &mut Rig, mut plan: Plan) {
    let mut quiet = 0;
    uut.run_until(400_000, |uut, random| {
        rig.produce(&mut plan, random);
        rig.drive(uut, random);
        let left = plan.frames + rig.outstanding();
        quiet = if left > 0 { 0 } else { quiet + 1 };
        (quiet < 50).then_some((plan.frames, rig.outstanding()))
    });
    uut.tick();
}

fn check_fates(rig: &Rig, frames: usize) {
    let passed: u64 = rig.counts[count::SENT] + rig.counts[count::REFUSED];
    assert_eq!(passed + rig.counts[count::FAILED], frames as u64);
    assert_eq!(rig.counts[count::SENT], rig.sent.len() as u64);
    assert_eq!(rig.counts[count::STOPPED], 0);
    assert_eq!(rig.counts[count::TAIL_IGNORED], 0);
}

macro_rules! random_frames {
    ($name:ident, $room:ty, $plan:expr, $paces:expr) => {
        #[test]
        fn $name() {
            let mut uut = simulate!(<$room>::default());
            let mut rig = begin(&mut uut, $paces);
            run(&mut uut, &mut rig, $plan);
            check_fates(&rig, $plan.frames);
            let rare = [rig.counts[count::REFUSED], rig.counts[count::FAILED]];
            assert!(rare.iter().all(|count| *count > 1), "{:?}", rig.counts);
            assert!(rig.sent.iter().any(|sent| sent.0 == 0));
            assert!(rig.sent.iter().any(|sent| sent.0 == 1));
        }
    };
}

random_frames!(random_frames_64, TransmitRoom64, ALL_FATES, MIXED);
random_frames!(random_frames_128, TransmitRoom128, ALL_FATES, MIXED);
random_frames!(random_frames_512, TransmitRoom512, ALL_FATES, MIXED);
random_frames!(
    long_frames_fill_the_store,
    TransmitRoom64,
    Plan {
        frames: 40,
        most_octets: 9216,
        failing_of_100: 20,
        ..ALL_FATES
    },
    Paces {
        read: Pace::Always,
        ..MIXED
    }
);
random_frames!(
    short_frames_without_waiting,
    TransmitRoom64,
    Plan {
        frames: 150,
        most_octets: 90,
        pace: (1, 2),
        ..ALL_FATES
    },
    BRISK
);

#[test]
fn the_room_is_emitted_at_every_width() {
    for width in [64, 128, 512] {
        let text = super::verilog(width).unwrap_or_else(|error| panic!("{width}: {error}"));
        assert!(text.contains("module transmit("), "{width}");
    }
}

/// Sums of every kind at every alignment: short frames, all places.
#[test]
fn sums_may_begin_and_end_anywhere() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, BRISK);
    let mut frames = 0;
    for octets in [14usize, 15, 31, 32, 33, 50] {
        for first in 0..octets - 5 {
            let mut random = Random::new((octets * first) as u64);
            let mut spec = frame_of(octets, &mut rig.arena, &mut random);
            let most = octets - 4 - first;
            spec.crc = Some((first, [1, 3, most][first % 3].min(most)));
            let start = random.below(octets as u64 - 1) as usize;
            let place = start + 2 * random.below((octets - 2 - start) as u64 / 2 + 1) as usize;
            spec.checksum = Some((start, place));
            // The control ring holds three frames of the most units.
            while !rig.put(0, &spec, false, &mut random) {
                cycles(&mut uut, &mut rig, 10);
            }
            let tail = rig.rings[0].written;
            rig.doorbell(0, tail);
            frames += 1;
        }
    }
    cycles(&mut uut, &mut rig, 300);
    assert_eq!(rig.outstanding(), 0);
    check_fates(&rig, frames);
}

#[test]
fn a_frame_waits_for_the_units_that_the_tail_cuts_and_the_other_ring_goes_on() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, BRISK);
    let mut random = Random::from_environment();
    let control = Spec::of(&[(0x9_0000, 100), (0x9_1001, 20), (0x9_2002, 30)]);
    let bulk = Spec::of(&[(0xa_0003, 200)]);
    for (ring, spec) in [(0, &control), (1, &bulk)] {
        assert!(rig.put(ring, spec, false, &mut random));
    }
    // Two of the control frame's three units.
    rig.doorbell(0, 2);
    cycles(&mut uut, &mut rig, 200);
    rig.doorbell(1, 2);
    cycles(&mut uut, &mut rig, 200);
    assert_eq!(rig.sent.len(), 1);
    assert_eq!(rig.sent[0].0, 1);
    rig.doorbell(0, 3);
    cycles(&mut uut, &mut rig, 200);
    assert_eq!(rig.sent.len(), 2);
    assert_eq!(rig.outstanding(), 0);
}

/// Bulk frames fill the store while the MAC pauses; a control frame goes before those that are not
/// yet read.
#[test]
fn control_frames_go_first() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, BRISK);
    let mut random = Random::from_environment();
    rig.inputs.pause = true;
    for _ in 0..6 {
        let spec = frame_of(4000, &mut rig.arena, &mut random);
        assert!(rig.put(1, &spec, false, &mut random));
    }
    let tail = rig.rings[1].written;
    rig.doorbell(1, tail);
    cycles(&mut uut, &mut rig, 3000);
    let spec = frame_of(60, &mut rig.arena, &mut random);
    assert!(rig.put(0, &spec, false, &mut random));
    let tail = rig.rings[0].written;
    rig.doorbell(0, tail);
    cycles(&mut uut, &mut rig, 500);
    assert!(rig.sent.is_empty(), "nothing leaves in a pause");
    rig.inputs.pause = false;
    cycles(&mut uut, &mut rig, 6000);
    let order: Vec<usize> = rig.sent.iter().map(|sent| sent.0).collect();
    // The store holds four frames of 4,000 octets.
    assert_eq!(order, [1, 1, 1, 1, 0, 1, 1]);
    assert_eq!(rig.outstanding(), 0);
}

/// A pause stops no frame that has begun, and no frame begins in it.
#[test]
fn a_pause_holds_whole_frames() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, BRISK);
    let mut random = Random::from_environment();
    for _ in 0..5 {
        let spec = frame_of(700, &mut rig.arena, &mut random);
        assert!(rig.put(1, &spec, false, &mut random));
    }
    let tail = rig.rings[1].written;
    rig.doorbell(1, tail);
    while rig.sent.len() < 5 {
        cycles(&mut uut, &mut rig, 40 + random.below(60));
        let begun = rig.sent.len();
        rig.inputs.pause = true;
        // What had begun has 88 beats at most, and the end of another may be before it.
        cycles(&mut uut, &mut rig, 100);
        let before = rig.sent.len();
        assert!(before <= begun + 2);
        cycles(&mut uut, &mut rig, 200);
        assert_eq!(rig.sent.len(), before);
        rig.inputs.pause = false;
        assert!(uut.cycle() < 20_000);
    }
    for (_, first, last) in &rig.sent {
        assert_eq!(last - first, 700u64.div_ceil(8) - 1, "no gap in a frame");
    }
}

#[test]
fn a_tail_that_goes_too_far_or_back_is_not_taken() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, BRISK);
    let mut random = Random::from_environment();
    let spec = Spec::of(&[(0x9_0000, 100)]);
    assert!(rig.put(0, &spec, false, &mut random));
    // Beyond the ring, after zero; then the right one, back again, and one unit too far.
    for (tail, ignored) in [(17, 1), (u32::MAX, 2), (2, 2), (1, 3), (18, 3), (2, 4)] {
        if tail == 18 {
            // Two units are over by now, so this is the ring's end.
            let filler = Spec {
                octets: 0,
                count: 15,
                elements: vec![(0, 0)],
                ..Spec::default()
            };
            assert!(rig.put(0, &filler, false, &mut random));
            let rest = Spec {
                count: 11,
                ..filler
            };
            assert!(rig.put(0, &rest, false, &mut random));
            assert_eq!(rig.rings[0].written, 18);
        }
        let before = rig.rings[0].tail;
        rig.doorbell(0, tail);
        if rig.counts[count::TAIL_IGNORED] != ignored {
            rig.rings[0].tail = before;
        }
        cycles(&mut uut, &mut rig, 200);
        assert_eq!(rig.counts[count::TAIL_IGNORED], ignored, "tail {tail}");
    }
    assert_eq!(rig.counts[count::SENT], 1);
    assert_eq!(rig.counts[count::REFUSED], 2);

    // A ring that is off takes none, and neither does one of a size that is none.
    for log2 in [0, 3, 17] {
        rig.set_up(0, BASES[0], log2);
        cycles(&mut uut, &mut rig, 10);
        rig.inputs.tail[0] = Some(2);
        let ignored = rig.counts[count::TAIL_IGNORED];
        cycles(&mut uut, &mut rig, 100);
        assert_eq!(rig.counts[count::TAIL_IGNORED], ignored + 1);
    }
}

/// Frames before a unit that cannot be read are sent, the others are not; after a set-up the
/// ring works again. The other ring does not notice.
#[test]
fn a_failed_read_of_units_stops_its_ring() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, MIXED);
    for round in 0..6 {
        let bad = 8 + uut.random.below(20) as u32;
        rig.bad_unit = Some(BASES[1] + 32 * u64::from(bad));
        let mut plan = Plan {
            frames: 40,
            most_octets: 300,
            refused_of_100: 5,
            failing_of_100: 5,
            pace: (1, 4),
        };
        let mut quiet = 0;
        uut.run_until(100_000, |uut, random| {
            rig.produce(&mut plan, random);
            rig.drive(uut, random);
            let control = rig.rings[0].pending.len() + rig.rings[0].leaving.len();
            let done = rig.rings[1].stopped && rig.rings[1].leaving.is_empty() && control == 0;
            quiet = if done { quiet + 1 } else { 0 };
            if rig.rings[1].stopped {
                plan.frames = 0;
                let written = rig.rings[0].written;
                if rig.rings[0].tail != written {
                    rig.doorbell(0, written);
                }
            }
            (quiet < 500).then_some(round)
        });
        uut.tick();
        assert_eq!(rig.counts[count::STOPPED], round + 1);
        // The first frame that was not sent has a unit at the bad one, or in the same read.
        let first = rig.rings[1]
            .pending
            .front()
            .expect("the ring cannot go past it");
        assert!(first.index <= bad && bad < first.index + first.units + 16);
        assert_eq!(first.status, None);
        rig.bad_unit = None;
        rig.set_up(1, BASES[1], 6);
        cycles(&mut uut, &mut rig, 1);
        run(
            &mut uut,
            &mut rig,
            Plan {
                frames: 10,
                ..ALL_FATES
            },
        );
        rig.set_up(1, BASES[1], 6);
        cycles(&mut uut, &mut rig, 1);
    }
}

/// Rings are set up, and the room is reset, while everything is under way: nothing from before
/// shows up after it but frames that were whole.
#[test]
fn set_up_and_reset_in_mid_traffic() {
    let mut uut = simulate!(TransmitRoom64::default());
    let mut rig = begin(&mut uut, MIXED);
    let mut plan = Plan {
        frames: usize::MAX,
        most_octets: 400,
        pace: (1, 6),
        ..ALL_FATES
    };
    let mut settled = 0;
    for round in 0..rnic_effort::count("rounds", 24, 40) {
        for _ in 0..100 + uut.random.below(700) {
            let mut random = uut.random.clone();
            rig.produce(&mut plan, &mut random);
            uut.random = random;
            cycles(&mut uut, &mut rig, 1);
        }
        if round % 8 == 7 {
            reset(&mut uut, &mut rig);
            rig.set_up(0, BASES[0], 4);
        }
        let ring = uut.random.below(2) as usize;
        rig.set_up(ring, BASES[ring], 4 + uut.random.below(4) as u32);
        cycles(&mut uut, &mut rig, 1);
        settled += usize::from(uut.control_settles.val() || uut.bulk_settles.val());
    }
    assert!(settled > 10);
    assert!(rig.sent.len() > 50, "{} frames", rig.sent.len());
    for (ring, base) in BASES.into_iter().enumerate() {
        rig.set_up(ring, base, 5);
        cycles(&mut uut, &mut rig, 1);
    }
    run(&mut uut, &mut rig, ALL_FATES);
}

/// While the TLP mux takes nothing, frames wait; no end is lost.
#[test]
fn reports_that_cannot_leave_hold_up_frames_and_lose_nothing() {
    let mut uut = simulate!(TransmitRoom64::default());
    let paces = Paces {
        tlp: Pace::Every(300),
        ..BRISK
    };
    let mut rig = begin(&mut uut, paces);
    let plan = Plan {
        frames: 80,
        most_octets: 80,
        refused_of_100: 50,
        ..ALL_FATES
    };
    run(&mut uut, &mut rig, plan);
    check_fates(&rig, plan.frames);
}

macro_rules! agrees {
    ($name:ident, $text:literal, $room:ty, $cycles:expr) => {
        #[test]
        fn $name() {
            let mut rig = Rig::new(MIXED);
            let mut plan = Plan {
                frames: usize::MAX,
                most_octets: 600,
                pace: (1, 4),
                ..ALL_FATES
            };
            lockstep!($text, <$room>::default(), $cycles, |uut, random| {
                let since = rig.now % 1500;
                rig.inputs.reset = since < 2;
                if rig.inputs.reset {
                    rig.forget();
                }
                if since == 4 {
                    rig.set_up(0, BASES[0], 4);
                    rig.set_up(1, BASES[1], 6);
                }
                if random.chance(1, 1000) {
                    rig.set_up(1, BASES[1], 5);
                }
                if since > 6 {
                    rig.produce(&mut plan, random);
                }
                rig.drive(uut, random);
                if rig.inputs.reset {
                    rig.inputs.read = None;
                    rig.forget();
                }
            });
            assert!(rig.sent.len() > 12, "{} frames", rig.sent.len());
        }
    };
}

agrees!(
    rust_and_verilog_agree_64,
    "transmit_64",
    TransmitRoom64,
    9000
);
agrees!(
    rust_and_verilog_agree_128,
    "transmit_128",
    TransmitRoom128,
    6000
);
agrees!(
    rust_and_verilog_agree_512,
    "transmit_512",
    TransmitRoom512,
    3000
);
