//! Steps of records, cycle by cycle, with verdicts and table operations at every time.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Simulation};

fn connected() -> Simulation<Sequencer> {
    simulate!(Sequencer::default())
}

/// The strobes of each of `cycles` cycles: T take and leave, t take alone, l leave alone, A
/// address, D decide, B leave and decide, c commit, C commit and load, L load.
fn trace(uut: &mut Simulation<Sequencer>, cycles: usize) -> String {
    let mut text = String::new();
    for _ in 0..cycles {
        uut.settle();
        let strobes = [
            uut.take.val(),
            uut.leave.val(),
            uut.address.val(),
            uut.decide.val(),
            uut.commit.val(),
            uut.load.val(),
        ];
        assert_eq!(uut.take_verdict.val(), strobes[3] && uut.is_judged.val());
        let letters = strobes.map(|strobe| if strobe { '1' } else { '0' });
        text.push(match letters.iter().collect::<String>().as_str() {
            "000000" => '.',
            "110000" => 'T',
            "100000" => 't',
            "010000" => 'l',
            "001000" => 'A',
            "000100" => 'D',
            "010100" => 'B',
            "000010" => 'c',
            "000011" => 'C',
            "000001" => 'L',
            other => panic!("take, leave, address, decide, commit, load {other} at once"),
        });
        uut.tick();
    }
    text
}

#[test]
fn records_enter_every_six_cycles_after_a_commit() {
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
    assert_eq!(trace(&mut uut, 2), "..", "held in front");
    uut.restart.next = true;
    assert_eq!(trace(&mut uut, 1), ".");
    uut.hold.next = false;
    uut.restart.next = false;
    assert!(!uut.may_start.val(), "the record goes first");
    assert_eq!(trace(&mut uut, 6), "....T.");
    assert!(uut.may_start.val());
}

#[test]
fn the_record_after_a_read_response_looks_everything_up_again() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 9), "....T..AD");
    uut.moved.next = true;
    assert_eq!(trace(&mut uut, 1), "C");
    uut.moved.next = false;
    assert!(uut.may_start.val(), "no table operation was waited for");
    assert_eq!(trace(&mut uut, 9), "....T..AD");
}

#[test]
fn record_waits_in_cycle_4_for_its_verdict() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.head_judged.next = true;
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 13), "....t..A.....");
    uut.verdict_valid.next = true;
    assert_eq!(
        trace(&mut uut, 1),
        "B",
        "decided in the cycle in which it comes"
    );
    uut.verdict_valid.next = false;
    // The next record repeats its lookups and waits in turn.
    assert_eq!(trace(&mut uut, 12), "C...t..A....");
}

#[test]
fn a_verdict_that_comes_before_cycle_4_costs_nothing() {
    for (early, expected) in [
        (4, "....T..ADC"),
        (5, "....tl.ADC"),
        (6, "....t.lADC"),
        (8, "....t..ABC"),
    ] {
        let mut uut = connected();
        uut.head_valid.next = true;
        uut.head_judged.next = true;
        uut.outputs_free.next = true;
        let mut text = trace(&mut uut, early);
        uut.verdict_valid.next = true;
        text += &trace(&mut uut, 10 - early);
        assert_eq!(text, expected);
    }
}

#[test]
fn a_record_without_a_verdict_takes_none() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 10), "....T..ADC");
    uut.verdict_valid.next = true;
    assert_eq!(trace(&mut uut, 6), "T..ADC");
    assert!(!uut.is_judged.val());
}

#[test]
fn record_without_verdict_yields_to_a_table_operation() {
    for waits in 0..6 {
        let mut uut = connected();
        uut.head_valid.next = true;
        uut.head_judged.next = true;
        uut.outputs_free.next = true;
        assert_eq!(trace(&mut uut, 5), "....t");
        trace(&mut uut, waits);
        assert!(uut.may_start.val() && !uut.may_run.val());
        uut.hold.next = true;
        trace(&mut uut, 1);
        uut.settle();
        assert!(uut.may_run.val(), "it is back in front after one cycle");
        assert_eq!(trace(&mut uut, 3), "...", "and held there");
        uut.restart.next = true;
        trace(&mut uut, 1);
        uut.hold.next = false;
        uut.restart.next = false;
        uut.settle();
        assert!(!uut.may_start.val(), "the record goes first");
        assert_eq!(trace(&mut uut, 10), "....t..A..");
        uut.verdict_valid.next = true;
        assert_eq!(trace(&mut uut, 2), "BC");
    }
}

#[test]
fn a_verdict_that_comes_with_the_table_operation_goes_first() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.head_judged.next = true;
    uut.outputs_free.next = true;
    assert_eq!(trace(&mut uut, 6), "....t.");
    uut.hold.next = true;
    uut.verdict_valid.next = true;
    let mut text = String::new();
    for _ in 0..4 {
        assert!(!uut.may_run.val());
        text += &trace(&mut uut, 1);
    }
    assert_eq!(text, "lADC");
    uut.settle();
    assert!(uut.may_run.val());
    assert_eq!(trace(&mut uut, 3), "...", "the next one is held");
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

#[test]
fn reset_discards_a_record_without_verdict() {
    let mut uut = connected();
    uut.head_valid.next = true;
    uut.head_judged.next = true;
    uut.outputs_free.next = true;
    trace(&mut uut, 10);
    uut.head_valid.next = false;
    uut.reset.next = true;
    trace(&mut uut, 1);
    uut.reset.next = false;
    uut.verdict_valid.next = true;
    assert_eq!(trace(&mut uut, 8), "........");
}
