//! The command `rnic fuzz`, its totals and its jobs.

use crate::{on_the_model, settings};
use rnic_testbench::fuzz::Campaign;
use rnic_testbench::workload::Oddity;
use std::ops::ControlFlow;
use std::process::Command;

/// Totals, failures and the run that ends a campaign are the same with one job and with several.
#[test]
fn results_do_not_depend_on_jobs() {
    const FRAMES_MAX: usize = 700;
    let campaign = |name: &str, jobs: usize| {
        let settings = settings(name, 1, 64);
        let mut campaign = Campaign::with_player(settings, |capture, options| {
            let mut report = on_the_model(capture, options)?;
            report.mismatches += u64::from(capture.frames.len() > FRAMES_MAX);
            Ok(report)
        });
        let (mut failed, mut reported) = (Vec::new(), 0);
        let runs = campaign.runs(0..40, jobs, |_, failure| {
            reported += 1;
            failed.extend(failure.map(|failure| (failure.run, failure.failing_frames)));
            match failed.len() {
                2.. => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        runs.expect("the model plays everything");
        campaign.totals.wall_s = 0.0;
        let totals = serde_json::to_value(&campaign.totals).expect("plain data");
        (reported, failed, totals)
    };
    let one = campaign("one-job", 1);
    assert_eq!(
        one.1.len(),
        2,
        "some runs have more than {FRAMES_MAX} frames"
    );
    assert!(one.1.iter().all(|failure| failure.1 == FRAMES_MAX + 1));
    assert_eq!(
        one.0,
        one.1[1].0 + 1,
        "the run that ends it is the last one"
    );
    assert_eq!(campaign("three-jobs", 3), one);
}

/// The command does the requested runs, with the same result alone and among others, and reports
/// them as JSON.
#[test]
fn the_command_reports_what_was_played() {
    let fuzz = |options: &[&str]| -> serde_json::Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rnic"));
        command
            .args(["fuzz", "--seed", "5", "--json", "-"])
            .args(options);
        let output = command.output().expect("cargo has built it");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{options:?}: {said}");
        serde_json::from_slice(&output.stdout).expect("JSON alone")
    };
    let sums = [
        "frames",
        "segments",
        "fpdus",
        "fpdus_received",
        "placed_octets",
        "cycles",
    ];
    let both = fuzz(&["--runs", "2"]);
    let alone = [fuzz(&["--only", "0"]), fuzz(&["--only", "1"])];
    assert_eq!((&both["tool"], &both["seed"]), (&"rnic".into(), &5.into()));
    assert_eq!((&both["runs"], &both["mismatches"]), (&2.into(), &0.into()));
    assert_eq!(both["failures"], serde_json::json!([]));
    assert_eq!(
        both["faults"].as_object().map(serde_json::Map::len),
        Some(14 + Oddity::ALL.len())
    );
    for name in sums {
        let sum: u64 = alone
            .iter()
            .filter_map(|report| report[name].as_u64())
            .sum();
        assert!(sum > 0, "{name}");
        assert_eq!(both[name], sum, "{name}");
    }
}
