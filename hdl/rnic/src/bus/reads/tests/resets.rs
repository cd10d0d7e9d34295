//! Reset, link reset and hold in the middle of reads.
use super::bench::{Bench, Settings};
use super::completer::Fault;
use super::rig::{cycles_128, engine_128, run_128, BRISK, MIXED, PLAIN, TIMEOUT_CYCLES};
use crate::bus::reads::types::cause;
use rnic_hdl_tools::testkit::{Pace, Random};

/// A reset in the middle of everything: no read from before is answered, every read after it is,
/// with its own octets, while completions from before still come.
#[test]
fn no_completion_from_before_a_reset_is_taken_for_one_after_it() {
    let mut random = Random::from_environment();
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        kinds: &[Fault::Late],
        faults_of_1000: 50,
        ..MIXED
    });
    let mut late = 0;
    for _ in 0..25 {
        (0..12).for_each(|_| bench.add_random(&mut random));
        let cycles = 50 + random.below(900);
        cycles_128(&mut uut, &mut bench, cycles);
        uut.reset.next = true;
        let cycles = 1 + random.below(4);
        for _ in 0..cycles {
            cycles_128(&mut uut, &mut bench, 1);
            bench.reset();
        }
        uut.reset.next = false;
        late = bench.counts[cause::LATE];
    }
    assert!(late > 50, "{late} completions came for earlier reads");
    assert_eq!(
        bench.counts[cause::UNEXPECTED] + bench.counts[cause::MALFORMED],
        0
    );
    bench.settings.faults_of_1000 = 0;
    let good = bench.reads_good;
    (0..30).for_each(|_| bench.add_random(&mut random));
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.reads_good, good + 30);
    assert!(uut.idle.val());
}

/// Without an answer the tags run out, and reads are refused; a link that comes up again has them
/// all. Earlier completions are then unexpected, and have no effect.
#[test]
fn a_host_that_never_answers_costs_every_tag_until_the_link_is_reset() {
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        kinds: &[Fault::Silent],
        faults_of_1000: 1000,
        manner: BRISK,
        ..PLAIN
    });
    for index in 0..10u64 {
        bench.add(&[(0x1000 * index, 2048)]);
    }
    // Four reads of four requests each; the fifth and those after it find no tag.
    for _ in 0..16 * TIMEOUT_CYCLES {
        if bench.reads_left() == 6 {
            break;
        }
        cycles_128(&mut uut, &mut bench, 1);
    }
    assert_eq!((bench.reads_failed, bench.tags.len()), (4, 16));
    bench.refuse_rest();
    run_128(&mut uut, &mut bench);
    assert_eq!((bench.reads_failed, bench.tags.len()), (10, 16));
    assert_eq!(bench.counts[cause::REFUSED], 6);
    assert!(!uut.idle.val());

    // A reset changes nothing, as the completions may still come.
    uut.pulse(|uut| &mut uut.reset);
    bench.add(&[(0x1000, 64)]);
    bench.refuse_rest();
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.tags.len(), 16);

    uut.pulse(|uut| &mut uut.link_reset);
    bench.host.reset_link();
    bench.settings.faults_of_1000 = 0;
    (0..4).for_each(|index| bench.add(&[(0x1000 * index, 5000)]));
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.reads_good, 4);
    assert!(uut.idle.val());
}

/// While `hold`, no request begins and one on offer stays; completions come in.
#[test]
fn hold_begins_no_request() {
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        request: Pace::Never,
        ..PLAIN
    });
    (0..3).for_each(|index| bench.add(&[(0x1000 * index, 5000)]));
    cycles_128(&mut uut, &mut bench, 20);
    assert!(uut.request_valid.val() && !uut.idle.val());
    uut.hold.next = true;
    cycles_128(&mut uut, &mut bench, 20);
    assert!(uut.request_valid.val());
    bench.settings.request = Pace::Always;
    cycles_128(&mut uut, &mut bench, 100);
    assert_eq!(bench.tags.len(), 1);
    assert!(!uut.request_valid.val() && uut.idle.val());
    uut.hold.next = false;
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.reads_good, 3);
}
