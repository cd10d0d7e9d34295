//! Hardware and model agree on random traffic.

use crate::{runs, settings, settings_512, RUNS, RUNS_FRESH, RUNS_WIDE};
use rnic_testbench::fuzz::{Campaign, Failure, Settings, Totals};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Runs of a test at W = 128.
const RUNS_128: u64 = 5;
/// Ordinary runs of a test on the synthesised text, and as many hostile ones.
const RUNS_SILICON: u64 = 6;

fn play(campaign: &mut Campaign, run: u64) {
    let failure = campaign.run(run).expect("the core is there");
    let text = failure.as_ref().map(Failure::text);
    assert_eq!(failure, None, "{}", text.unwrap_or_default());
}

fn agrees(settings: Settings, runs: u64) -> Totals {
    let (seed, width) = (settings.seed, settings.width);
    let mut campaign = Campaign::new(settings);
    (0..runs).for_each(|run| play(&mut campaign, run));
    let totals = campaign.totals;
    println!("seed {seed}, width {width}\n{}", totals.text());
    assert_eq!((totals.runs, totals.mismatches), (runs, 0));
    // A run that sends or places nothing proves nothing.
    assert!(totals.segments > 100 * runs, "{}", totals.text());
    assert!(totals.placed_octets > 0, "{}", totals.text());
    totals
}

/// Of a fixed seed much of what is sent arrives, too. A fresh one may end its longest streams by an
/// error at their first FPDUs, and few of them are enough for less than a quarter.
fn agrees_and_much_arrives(settings: Settings, runs: u64) {
    let totals = agrees(settings, runs);
    let text = totals.text();
    assert!(totals.fpdus_received > totals.fpdus / 4, "{text}");
}

/// Runs whose unfinished FPDUs exceed packet memory: segments dropped for lack of room are
/// retransmitted and everything is compared, also with a late driver and with a stream that stops
/// and never ends.
#[test]
fn runs_that_do_not_fit_and_streams_that_do_not_end_still_agree() {
    let mut resent = 0;
    let found = [(4, 8), (71, 34), (1, 1829), (112_201, 16)];
    for number in rnic_effort::some_of("runs that do not fit", 0..found.len(), 2) {
        let (seed, run) = found[number];
        let mut campaign = Campaign::new(settings("crowded", seed, 64));
        play(&mut campaign, run);
        resent += campaign.totals.resent;
    }
    assert!(resent > 0, "each run has room now");
}

/// MPA-045, RDMAP-020: a run in which the hardware places what follows a Terminate, from a span
/// that it reads before the stream comes to the Terminate.
#[test]
fn what_is_placed_beyond_a_terminate_is_no_difference() {
    play(&mut Campaign::new(settings("ended", 114_470_727, 64)), 295);
}

/// MPA-043, MPA-046, DDP-020 under faults of every kind, in every run of this seed.
#[test]
fn rtl_and_model_agree_on_random_traffic_of_a_fixed_seed() {
    agrees_and_much_arrives(settings("fixed", 1, 64), runs(RUNS));
}

/// The same with a fresh seed, which a failure prints.
#[test]
fn rtl_and_model_agree_on_random_traffic_of_a_fresh_seed() {
    let seed = RandomState::new().build_hasher().finish() % 1_000_000_000;
    let runs = runs(RUNS_FRESH);
    println!("fresh seed {seed}: rnic fuzz --seed {seed} --runs {runs}");
    agrees(settings("fresh", seed, 64), runs);
}

#[test]
fn rtl_and_model_agree_on_random_traffic_at_128() {
    if rnic_effort::is_left_out("W = 128") {
        return;
    }
    agrees_and_much_arrives(settings("wide", 1, 128), RUNS_128);
}

#[test]
fn rtl_and_model_agree_on_random_traffic_at_512() {
    for settings in settings_512("wider", 1) {
        agrees_and_much_arrives(settings, runs(RUNS_WIDE));
    }
}

/// The synthesised text behaves as the simulated one, whatever values hardware leaves undefined, on
/// a fresh device and on one that was reset in mid-traffic. In a short run that text is compared
/// block by block alone (`lockstep_as_synthesised`).
#[test]
fn what_is_synthesised_agrees_with_the_model_too() {
    if rnic_effort::is_left_out("W = 64 as it is synthesised") {
        return;
    }
    let seed = RandomState::new().build_hasher().finish() % 1_000_000_000;
    println!("fresh seed {seed}: rnic fuzz --silicon --seed {seed} --runs {RUNS_SILICON}");
    for hostile in [false, true] {
        let mut campaign = Campaign::new(Settings {
            hostile,
            silicon: true,
            ..settings("silicon", seed, 64)
        });
        for run in 0..RUNS_SILICON {
            let failure = campaign.run(run).expect("the core is there");
            let text = failure.as_ref().map(Failure::text);
            assert_eq!(failure, None, "{}", text.unwrap_or_default());
        }
        assert!(campaign.totals.placed_octets > 0, "seed {seed}");
    }
}
