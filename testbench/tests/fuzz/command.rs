//! The command `rnic fuzz`, its totals and its jobs.

use crate::{on_the_model, settings};
use rnic_testbench::fuzz::Campaign;
use rnic_testbench::workload::Oddity;
use std::ops::ControlFlow;
use std::process::Command;

/// A seed whose first runs are short.
const SEED: &str = "12";

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
            .args(["fuzz", "--seed", SEED, "--json", "-"])
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
    assert_eq!(both["tool"], "rnic");
    assert_eq!(both["seed"].to_string(), SEED);
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

/// Ctrl-C: totals so far, and no earlier report is replaced.
#[test]
fn a_campaign_that_is_interrupted_prints_its_totals() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    const OLD: &str = "{}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let (old, sent) = (folder.path().join("old.json"), folder.path().join("sent"));
    std::fs::write(&old, OLD).expect("room");
    let sent_path = sent.to_str().expect("UTF-8");
    for (kind, first) in [
        (&["--jobs", "1"][..], None),
        (&["--transmit", "--sent", sent_path], Some("run-0.pcap")),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rnic"))
            // Below what a profile is taken for.
            .args(["fuzz", "--runs", "99", "--seed", SEED, "--json"])
            .arg(&old)
            .args(kind)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("cargo has built it");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it is piped");
        assert!(
            line.starts_with(&format!("seed {SEED}, width 64")),
            "{line}"
        );
        // Runs begin soon; with a file to wait for, at least one is over.
        while first.is_some_and(|name| !sent.join(name).exists()) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
        let command = format!("kill -INT {}", child.id());
        let killed = Command::new("sh").args(["-c", &command]).status();
        assert!(killed.expect("a shell").success());
        let rest: Vec<String> = stdout.lines().map(|line| line.expect("UTF-8")).collect();
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(2), "{said}");
        let totals = rest.iter().find(|line| line.starts_with("runs "));
        let runs = totals.and_then(|line| line.split_whitespace().last()?.parse().ok());
        assert!((1..99).contains(&runs.unwrap_or(0)), "{rest:?}");
        assert!(said.contains("these are the totals so far"), "{said}");
        assert!(said.contains("old.json is as it was before"), "{said}");
        assert_eq!(std::fs::read_to_string(&old).expect("it is there"), OLD);
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let first = std::fs::read(sent.join("run-0.pcap")).expect("a capture");
    // The captures of a run before are kept.
    let again = Command::new(env!("CARGO_BIN_EXE_rnic"))
        .args([
            "fuzz",
            "--transmit",
            "--runs",
            "1",
            "--seed",
            "6",
            "--sent",
            sent_path,
        ])
        .output()
        .expect("cargo has built it");
    let said = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        said.contains("--sent") && said.contains("run-0.pcap"),
        "{said}"
    );
    assert!(first == std::fs::read(sent.join("run-0.pcap")).expect("a capture"));
}
