//! The switch from the start-up frames to full operation (START-042), explored: an endpoint without
//! a thread over the software device, and a peer whose segments arrive between any two of the
//! device's operations.
//!
//! ```text
//!  script: which segment arrives after which register access, which is lost, which comes twice
//!     |                                        |
//!     v                                        v
//!  peer --frames--> device model <--registers-- endpoint: Request read, accepted, Reply sent
//!     ^                                        |
//!     +----------------- frames ---------------+   then: what is not acknowledged is sent again
//! ```
//!
//! The other way round ([`initiator`]) the peer's Reply makes the endpoint switch.
//!
//! The invariant: every message of the peer is delivered once, in order and with its octets, or the
//! connection is reset and nothing of it is delivered. The peer may send FPDUs before the Reply,
//! which no standard allows it (START-041): then either outcome will do, but nothing between them.
//! So it may, as the responder, before our first FPDU (START-014).
//!
//! What is left out:
//!
//! - time: deadlines are passed only when nothing else happens;
//! - two faults among our own frames, and one of ours together with one of the peer's;
//! - segments that the wire puts together or cuts, markers and CRC;
//! - a switch after streaming data, whose frames go through the same operations.

mod bus;
mod initiator;
mod peer;
mod scene;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_driver::Dma;
use rnic_sim::DeviceCore;
use scene::{Outcome, Scene, Script};

/// Calls `run` with every ascending choice of `count` places out of `0..=places`.
fn ascending(count: usize, places: usize, run: &mut impl FnMut(&[usize])) {
    fn extend(chosen: &mut Vec<usize>, left: usize, places: usize, run: &mut impl FnMut(&[usize])) {
        if left == 0 {
            return run(chosen);
        }
        for place in chosen.last().copied().unwrap_or(0)..=places {
            chosen.push(place);
            extend(chosen, left - 1, places, run);
            chosen.pop();
        }
    }
    extend(&mut Vec::new(), count, places, run);
}

/// What has come out, counted.
#[derive(Debug, Default)]
struct Tally {
    delivered: usize,
    reset: usize,
}

impl Tally {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Delivered => self.delivered += 1,
            Outcome::Reset => self.reset += 1,
        }
    }
}

/// Play `all` scripts, or as many of them, spread evenly, as a short run has time for.
fn play<C: DeviceCore, D: Dma>(
    scene: &mut Scene<C, D>,
    what: &str,
    short: usize,
    all: &[Script],
) -> Tally {
    play_by(what, short, all, |script| scene.run(script))
}

/// As [`play`], by `run`.
fn play_by(
    what: &str,
    short: usize,
    all: &[Script],
    mut run: impl FnMut(&Script) -> Outcome,
) -> Tally {
    let count = rnic_effort::count(what, short.min(all.len()), all.len());
    let mut tally = Tally::default();
    for script in all.iter().step_by(all.len().div_ceil(count)) {
        tally.add(run(script));
    }
    println!("{} {what}: {tally:?}", all.len());
    tally
}

/// START-042: every interleaving without a fault.
#[test]
fn every_interleaving_delivers_once_or_resets() {
    let mut scene = Scene::model();
    let places = scene.places();
    for (count, what) in [
        (1, "interleavings of a Request"),
        (3, "interleavings of three segments"),
        (6, "interleavings of six segments"),
    ] {
        let mut scripts = Vec::new();
        ascending(count, places, &mut |chosen| {
            scripts.push(Script::of(chosen, count));
        });
        let tally = play(&mut scene, what, 200, &scripts);
        assert!(tally.delivered > 0, "{count}");
        assert!(tally.reset > 0 || count == 1, "{count}");
    }
}

/// Every interleaving of `count` segments, with what `faults` makes of it.
fn play_faults<C: DeviceCore, D: Dma>(
    scene: &mut Scene<C, D>,
    (count, short, what): (usize, usize, &str),
    faults: impl Fn(&Script, usize) -> Vec<Script>,
) {
    let places = scene.places();
    let mut scripts = Vec::new();
    ascending(count, places, &mut |chosen| {
        scripts.extend(faults(&Script::of(chosen, count), places));
    });
    let tally = play(scene, what, short, &scripts);
    assert!(tally.delivered > 0 && tally.reset > 0);
}

/// START-038, START-042, START-047: up to six segments, of which one, the Request too, is lost or
/// comes twice.
#[test]
fn six_segments_with_a_fault_deliver_once_or_reset() {
    let of = (6, 400, "interleavings of six with a fault");
    play_faults(&mut Scene::model(), of, Script::with_faults);
}

/// START-042: three segments and two faults.
#[test]
fn three_segments_with_two_faults_deliver_once_or_reset() {
    let of = (3, 400, "interleavings of three with two faults");
    play_faults(&mut Scene::model(), of, |script, places| {
        let faulty = script.with_faults(places).into_iter();
        faulty
            .flat_map(|script| script.with_faults(places))
            .collect()
    });
}

/// How many of our frames may be lost or doubled: the Reply or the Request's acknowledgement, and
/// what follows.
const OURS: usize = 6;

/// START-038, START-042: three segments, and one of our own frames, the Reply or an ACK, is lost or
/// comes twice.
#[test]
fn three_segments_with_a_fault_of_ours_deliver_once_or_reset() {
    let mut scene = Scene::model();
    let of = (3, 300, "interleavings of three with a fault of ours");
    play_faults(&mut scene, of, |script, _| script.with_ours(OURS));
    assert!(scene.spoilt > 20, "the Reply of {} scripts", scene.spoilt);
}

/// START-039, START-042: the Reply is there before the first operation; up to five FPDUs are early,
/// with no fault, one of the peer's segments lost or doubled, the Reply too, or one of our frames.
#[test]
fn an_initiator_delivers_once_or_resets() {
    let mut scene = Scene::model();
    let places = scene.places_of_initiator();
    for (count, short, what) in [
        (1, 20, "scripts of a Reply"),
        (3, 405, "scripts of a Reply and two FPDUs"),
        (6, 200, "scripts of a Reply and five FPDUs"),
    ] {
        let mut scripts = Vec::new();
        ascending(count - 1, places, &mut |chosen| {
            let script = Script::of(&[&[0], chosen].concat(), count);
            scripts.extend(script.with_faults(places));
            if count <= 3 {
                scripts.extend(script.with_ours(OURS));
            }
            scripts.push(script);
        });
        let tally = play_by(what, short, &scripts, |script| scene.run_initiator(script));
        assert!(tally.delivered > 0, "{count}");
    }
}

/// START-042 on the verilated core: up to six segments, up to two faults, and frames that are still
/// on their way through the device when an operation begins.
#[test]
fn a_sample_on_the_verilated_core_delivers_once_or_resets() {
    let mut scene = Scene::rtl();
    let places = scene.places();
    let count = rnic_effort::count("interleavings on the verilated core", 20, 1_000);
    let mut tally = Tally::default();
    for seed in 0..count {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let segments = random.random_range(2..=6);
        let mut chosen: Vec<usize> = (0..segments)
            .map(|_| random.random_range(0..=places))
            .collect();
        chosen.sort_unstable();
        let mut script = Script::of(&chosen, segments);
        for _ in 0..random.random_range(0..=2) {
            let faulty = script.with_faults(places);
            if !faulty.is_empty() {
                let index = random.random_range(0..faulty.len());
                script = faulty[index].clone();
            }
        }
        scene.schedule.ahead.set(random.random_range(0..400));
        println!("seed {seed}: {script:?}");
        tally.add(scene.run(&script));
    }
    println!("{tally:?}");
    assert!(tally.delivered > 0 && tally.reset > 0);
}
