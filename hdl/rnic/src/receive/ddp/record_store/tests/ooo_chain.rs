//! Chains of FPDUs out of order after a bad one.
use super::super::*;
use rnic_hdl_tools::testkit::{settle, tick};

/// The answer of the chain to a record, whose verdict then follows.
fn step(uut: &mut OooChain, span: u64, sequence: u64, end: u64, good: bool) -> bool {
    uut.record.next = FpduRecord {
        span: span.into(),
        sequence: sequence.into(),
        sequence_end: end.into(),
        ..FpduRecord::default()
    };
    tick(uut, |uut| &mut uut.clock);
    let follows = uut.follows_bad.val();
    uut.judged.next = true;
    uut.good.next = good;
    tick(uut, |uut| &mut uut.clock);
    uut.judged.next = false;
    follows
}

/// MPA-045: the chain continues from bad to bad and ends with another job.
#[test]
fn chain_lasts_to_the_end_of_the_job() {
    let mut uut = OooChain::default();
    uut.connect_all();
    settle(&mut uut);
    assert!(!step(&mut uut, 0, 0, 20, true), "nothing was bad yet");
    assert!(!step(&mut uut, 0, 20, 40, false));
    assert!(step(&mut uut, 0, 40, 60, false));
    assert!(step(&mut uut, 0, 60, 80, false));
    assert!(!step(&mut uut, 1, 80, 90, false), "another span");
    assert!(!step(&mut uut, 1, 80, 90, false), "the same one once more");
    assert!(!step(&mut uut, 1, 91, 99, true), "not where it ended");
    assert!(!step(&mut uut, 1, 90, 95, true), "a good one came between");
    assert!(!step(&mut uut, 1, 95, 7, false));
    uut.reset.next = true;
    tick(&mut uut, |uut| &mut uut.clock);
    uut.reset.next = false;
    assert!(!step(&mut uut, 1, 7, 8, true), "reset forgets");
}
