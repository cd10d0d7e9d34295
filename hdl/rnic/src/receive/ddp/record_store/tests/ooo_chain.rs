//! Chains of out-of-order FPDUs after a bad one.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Simulation};

/// The chain's answer to a record, which is then judged.
fn step(
    uut: &mut Simulation<OutOfOrderChain>,
    span: u64,
    sequence: u64,
    end: u64,
    good: bool,
) -> bool {
    uut.record.next = FpduRecord {
        span: span.into(),
        sequence: sequence.into(),
        sequence_end: end.into(),
        ..FpduRecord::default()
    };
    uut.tick();
    let follows = uut.follows_bad.val();
    uut.judged.next = true;
    uut.good.next = good;
    uut.tick();
    uut.judged.next = false;
    follows
}

/// MPA-045: the chain continues from bad to bad and ends with another job.
#[test]
fn mpa_045_the_chain_goes_on_from_bad_to_bad_and_ends_with_another_job() {
    let mut uut = simulate!(OutOfOrderChain::default());
    assert!(!step(&mut uut, 0, 0, 20, true), "nothing was bad yet");
    assert!(!step(&mut uut, 0, 20, 40, false));
    assert!(step(&mut uut, 0, 40, 60, false));
    assert!(step(&mut uut, 0, 60, 80, false));
    assert!(!step(&mut uut, 1, 80, 90, false), "another span");
    assert!(!step(&mut uut, 1, 80, 90, false), "the same one once more");
    assert!(!step(&mut uut, 1, 91, 99, true), "not where it ended");
    assert!(!step(&mut uut, 1, 90, 95, true), "a good one came between");
    assert!(!step(&mut uut, 1, 95, 7, false));
    uut.pulse(|uut| &mut uut.reset);
    assert!(!step(&mut uut, 1, 7, 8, true), "reset forgets");
}
