//! A tag is issued only while neither the walker nor a completer has a use for it.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};
use std::collections::BTreeSet;

/// Tags by what is left of them.
#[derive(Default)]
struct Expected {
    open: BTreeSet<u64>,
    owned: BTreeSet<u64>,
    failed: BTreeSet<u64>,
}

fn any_of(tags: &BTreeSet<u64>, random: &mut Random) -> Option<u64> {
    let place = random.below(tags.len().max(1) as u64) as usize;
    tags.iter().nth(place).copied()
}

/// One cycle of random events, checked.
fn step<const A: usize, const T: usize>(
    uut: &mut Simulation<TagTable<A, T>>,
    expected: &mut Expected,
    limit: u64,
) {
    let mut random = uut.random.clone();
    let free = uut.free_tag.val().to_u64();
    assert!(free < limit);
    uut.issue.next = uut.free_valid.val() && random.chance(1, 2);
    let report = any_of(&expected.open, &mut random).filter(|_| random.chance(1, 3));
    let (over, failed) = (random.chance(1, 2), random.chance(1, 4));
    uut.report_valid.next = report.is_some();
    uut.report.next = CompletionReport {
        tag: report.unwrap_or(random.below(64)).into(),
        over,
        failed,
    };
    let retired = any_of(&expected.owned, &mut random).filter(|_| random.chance(1, 3));
    uut.retire.next = retired.is_some();
    uut.retire_tag.next = retired.unwrap_or(random.below(64)).into();
    let head = any_of(&expected.owned, &mut random).unwrap_or(0);
    uut.head_tag.next = head.into();
    uut.settle();
    assert_eq!(uut.head_open.val(), expected.open.contains(&head));
    if expected.owned.contains(&head) {
        assert_eq!(uut.head_failed.val(), expected.failed.contains(&head));
    }
    assert_eq!(uut.idle.val(), expected.open.is_empty());
    let late = report.is_some_and(|tag| !expected.owned.contains(&tag));
    assert_eq!(uut.late.val(), late);
    if let Some(tag) = report {
        if over {
            expected.open.remove(&tag);
        }
        if failed {
            expected.failed.insert(tag);
        }
    }
    if let Some(tag) = retired {
        expected.owned.remove(&tag);
    }
    if uut.reset.next {
        expected.owned.clear();
    }
    if uut.issue.next {
        assert!(expected.open.insert(free), "tag {free} is open");
        assert!(
            uut.reset.next || expected.owned.insert(free),
            "tag {free} is owned"
        );
        expected.failed.remove(&free);
    }
    uut.random = random;
    uut.tick();
}

fn random_events<const A: usize, const T: usize>(extended_tags: bool, limit: u64) {
    let mut uut = simulate!(TagTable::<A, T>::default());
    uut.pulse(|uut| &mut uut.link_reset);
    uut.extended_tags.next = extended_tags;
    let mut expected = Expected::default();
    for _ in 0..6000 {
        uut.reset.next = uut.random.chance(1, 200);
        step(&mut uut, &mut expected, limit);
    }
    assert!(expected.owned.len() + expected.open.len() > 4);
}

#[test]
fn no_tag_is_issued_while_it_is_open_or_owned() {
    random_events::<4, 16>(true, 16);
    random_events::<4, 16>(false, 16);
    random_events::<6, 64>(true, 64);
    random_events::<6, 64>(false, 32);
}

/// Issues tags, without a report or an end of one, until there is none; returns them.
fn issue_all<const A: usize, const T: usize>(uut: &mut Simulation<TagTable<A, T>>) -> Vec<u64> {
    let mut tags = Vec::new();
    for _ in 0..3 * T {
        uut.issue.next = uut.free_valid.val();
        if uut.issue.next {
            tags.push(uut.free_tag.val().to_u64());
        }
        uut.tick();
    }
    uut.issue.next = false;
    tags
}

#[test]
fn tags_in_quarantine_starve_the_table_for_a_time_out_and_no_others() {
    let mut uut = simulate!(TagTable::<4, 16>::default());
    uut.pulse(|uut| &mut uut.link_reset);
    uut.timeout_ticks.next = 20u64.into();
    uut.tick.next = true;
    assert_eq!(issue_all(&mut uut), (0..16).collect::<Vec<_>>());
    uut.ticks(60);
    assert!(!uut.starved.val(), "the walker has them");
    uut.pulse(|uut| &mut uut.reset);
    uut.ticks(15);
    assert!(!uut.starved.val());
    uut.ticks(10);
    assert!(uut.starved.val());
    // The last completion of one has come.
    uut.report.next.tag = 9u64.into();
    uut.report.next.over = true;
    uut.settle();
    assert!(!uut.late.val());
    uut.report_valid.next = true;
    uut.settle();
    assert!(uut.late.val());
    uut.tick();
    uut.report_valid.next = false;
    uut.ticks(2);
    assert!(!uut.starved.val());
    assert_eq!(issue_all(&mut uut), [9]);
    uut.pulse(|uut| &mut uut.link_reset);
    assert_eq!(issue_all(&mut uut).len(), 16);
}

#[test]
fn lockstep_with_verilog() {
    lockstep!(
        "tag_table",
        TagTable::<6, 64>::default(),
        6000,
        |uut, random| {
            uut.reset.next = random.chance(1, 200);
            uut.link_reset.next = random.chance(1, 1500);
            uut.extended_tags.next = random.chance(15, 16);
            uut.tick.next = random.chance(1, 2);
            uut.timeout_ticks.next = random.below(20).into();
            uut.issue.next = random.chance(1, 2);
            uut.report.next = CompletionReport {
                tag: random.wide(),
                over: random.chance(1, 4),
                failed: random.chance(1, 4),
            };
            uut.report_valid.next = random.chance(1, 2);
            uut.head_tag.next = random.wide();
            uut.retire.next = random.chance(1, 2);
            uut.retire_tag.next = random.wide();
        }
    );
}
