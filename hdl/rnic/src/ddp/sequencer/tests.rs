use super::*;
use crate::testkit::{settle, tick};

fn connected() -> Sequencer {
    let mut uut = Sequencer::default();
    uut.connect_all();
    settle(&mut uut);
    uut
}

/// The strobes of each of `cycles` cycles: T take, A address, D decide, C commit, L load.
fn trace(uut: &mut Sequencer, cycles: usize) -> String {
    let mut text = String::new();
    for _ in 0..cycles {
        settle(uut);
        text.push(
            match (
                uut.take.val(),
                uut.address.val(),
                uut.decide.val(),
                uut.load.val(),
            ) {
                (true, false, false, false) => 'T',
                (false, true, false, false) => 'A',
                (false, false, true, false) => 'D',
                (false, false, false, true) if uut.commit.val() => 'C',
                (false, false, false, true) => 'L',
                (false, false, false, false) if uut.commit.val() => 'c',
                (false, false, false, false) => '.',
                strobes => panic!("take, address, decide, load {strobes:?} at once"),
            },
        );
        tick(uut, |uut| &mut uut.clock);
    }
    text
}

#[test]
fn records_enter_every_six_cycles_and_commit_before_the_next_one_enters() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 22), "....T..ADCT..ADCT..ADC");
}

#[test]
fn a_record_commits_once_and_waits_for_the_outputs() {
    let mut uut = connected();
    uut.head_valid.next = true;
    assert_eq!(trace(&mut uut, 15), "....T..ADc.....");
    assert!(uut.may_run.val(), "a record that waits is done looking");
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 3), "LT.");
}

#[test]
fn a_restarted_record_looks_everything_up_again() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 4), "....");
    uut.hold.next = true;
    assert_eq!(trace(&mut uut, 2), "..", "held at the door");
    uut.restart.next = true;
    assert_eq!(trace(&mut uut, 1), ".");
    uut.hold.next = false;
    uut.restart.next = false;
    assert!(!uut.may_start.val(), "the record goes first");
    assert_eq!(trace(&mut uut, 6), "....T.");
    assert!(uut.may_start.val());
}

#[test]
fn reset_forgets_the_record_in_the_checks() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.outputs_free.next = true;
    trace(&mut uut, 6);
    uut.head_valid.next = false;
    uut.reset.next = true;
    trace(&mut uut, 1);
    uut.reset.next = false;
    assert_eq!(trace(&mut uut, 8), "........");
}
