//! Each beat goes after the one before, and a packet that does not keep to its Length fails.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Simulation};

/// A good completion of `payload` doublewords for doubleword 3 of place 5, its last one.
fn good(payload: u64) -> CheckedCompletion {
    CheckedCompletion {
        accepted: true,
        tag: 5u64.into(),
        fits: true,
        over: true,
        dword: 3u64.into(),
        payload: payload.into(),
        ..Default::default()
    }
}

/// What a packet brought about.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// Doubleword and lanes.
    writes: Vec<(u64, u64)>,
    reports: Vec<CompletionReport>,
    /// Unsupported, aborted, poisoned, malformed.
    causes: [u32; 4],
}

/// Sends a packet with these lanes in its beats, `gap` idle cycles between them.
fn outcome(
    uut: &mut Simulation<CompletionBeats<4>>,
    checked: CheckedCompletion,
    keeps: &[u64],
    gap: usize,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut cycles = Vec::new();
    for (index, keep) in keeps.iter().enumerate() {
        cycles.push(Some((index, *keep)));
        cycles.extend(vec![None; gap]);
    }
    cycles.extend([None; 4]);
    for beat in cycles {
        uut.checked_valid.next = beat.is_some();
        let (index, keep) = beat.unwrap_or((9, 15));
        uut.checked.next = checked;
        if index > 0 {
            // Only valid with the first beat.
            uut.checked.next = CheckedCompletion::default();
        }
        uut.checked_first.next = index == 0;
        uut.checked_last.next = index + 1 == keeps.len();
        uut.checked_keep.next = keep.into();
        uut.tick();
        if uut.write_valid.val() {
            assert_eq!(uut.write_tag.val(), 5u64);
            let (dword, lanes) = (uut.write_dword.val(), uut.write_lanes.val());
            outcome.writes.push((dword.to_u64(), lanes.to_u64()));
        }
        if uut.report_valid.val() {
            outcome.reports.push(uut.report.val());
        }
        let flags = [
            uut.unsupported.val(),
            uut.aborted.val(),
            uut.poisoned.val(),
            uut.malformed.val(),
        ];
        for (count, flag) in outcome.causes.iter_mut().zip(flags) {
            *count += u32::from(flag);
        }
    }
    outcome
}

fn report(over: bool, failed: bool) -> Vec<CompletionReport> {
    vec![CompletionReport {
        tag: 5u64.into(),
        over,
        failed,
    }]
}

#[test]
fn a_packet_is_written_beat_after_beat() {
    let mut uut = simulate!(CompletionBeats::<4>::default());
    for gap in 0..3 {
        for (payload, keeps) in [
            (1, &[1][..]),
            (4, &[15][..]),
            (5, &[15, 1][..]),
            (11, &[15, 15, 7][..]),
        ] {
            let found = outcome(&mut uut, good(payload), keeps, gap);
            let places = (0..).map(|index| 3 + 4 * index);
            let writes = places.zip(keeps.iter().copied()).collect();
            let expected = Outcome {
                writes,
                reports: report(true, false),
                causes: [0; 4],
            };
            assert_eq!(found, expected, "{payload} doublewords");
        }
    }
}

#[test]
fn a_packet_that_does_not_keep_to_its_length_fails_and_is_not_written_from_there_on() {
    let mut uut = simulate!(CompletionBeats::<4>::default());
    for (payload, keeps, written) in [
        (5, &[15][..], 0),
        (5, &[15, 0][..], 1),
        (5, &[15, 3][..], 1),
        (5, &[7, 1][..], 0),
        (5, &[15, 15, 1][..], 1),
        (4, &[15, 0][..], 0),
        (4, &[15, 15][..], 0),
        (12, &[15, 7, 15][..], 1),
    ] {
        let found = outcome(&mut uut, good(payload), keeps, 0);
        assert_eq!(found.writes.len(), written, "{payload}: {keeps:?}");
        assert_eq!(found.reports, report(true, true), "{payload}: {keeps:?}");
        assert_eq!(found.causes, [0, 0, 0, 1]);
    }
}

#[test]
fn only_sound_completions_that_fit_are_written() {
    let mut uut = simulate!(CompletionBeats::<4>::default());
    let fits = good(5);
    for (checked, causes, reported) in [
        (
            CheckedCompletion {
                accepted: false,
                ..fits
            },
            [0; 4],
            false,
        ),
        (
            CheckedCompletion {
                fits: false,
                over: false,
                ..fits
            },
            [0, 0, 0, 1],
            true,
        ),
        (
            CheckedCompletion {
                poisoned: true,
                ..fits
            },
            [0, 0, 1, 0],
            true,
        ),
        (
            CheckedCompletion {
                refused: true,
                fits: false,
                ..fits
            },
            [1, 0, 0, 0],
            true,
        ),
        (
            CheckedCompletion {
                refused: true,
                aborted: true,
                fits: false,
                ..fits
            },
            [0, 1, 0, 0],
            true,
        ),
    ] {
        let found = outcome(&mut uut, checked, &[15, 1], 1);
        let reports = if reported {
            report(checked.over, true)
        } else {
            vec![]
        };
        let expected = Outcome {
            writes: vec![],
            reports,
            causes,
        };
        assert_eq!(found, expected, "{checked:?}");
    }
}

#[test]
fn lockstep_with_verilog() {
    let mut left = 0;
    lockstep!(
        "completion_beats",
        CompletionBeats::<16>::default(),
        6000,
        |uut, random| {
            uut.link_reset.next = random.chance(1, 500);
            uut.checked_valid.next = random.chance(3, 4);
            uut.checked_first.next = left == 0;
            if left == 0 && uut.checked_valid.next {
                left = random.below(70);
                uut.checked.next = CheckedCompletion {
                    accepted: random.chance(7, 8),
                    tag: random.wide(),
                    fits: random.chance(7, 8),
                    over: random.chance(1, 2),
                    poisoned: random.chance(1, 8),
                    refused: random.chance(1, 8),
                    aborted: random.chance(1, 8),
                    dword: random.wide(),
                    payload: left.into(),
                };
            }
            let lanes = left.min(16);
            uut.checked_keep.next = ((1u64 << lanes) - 1).into();
            uut.checked_last.next = left <= 16;
            if random.chance(1, 20) {
                uut.checked_keep.next = random.wide();
                uut.checked_last.next = random.chance(1, 2);
            }
            if uut.checked_valid.next {
                left = if uut.checked_last.next {
                    0
                } else {
                    left.saturating_sub(16)
                };
            }
        }
    );
}
