//! `rnic fuzz`: random workloads through hardware and model agree, what is drawn covers what there
//! is, and a difference is found, cut down and can be played again.
//!
//! The canaries put in a comparison that must find something: a fuzzer that is blind fails here.

use indicatif::ProgressBar;
use rnic_abi::counters::Counter;
use rnic_testbench::capture::{self, Capture, Flow};
use rnic_testbench::fuzz::{Campaign, Case, Failure, Settings, Totals};
use rnic_testbench::play::difference::{Difference, What};
use rnic_testbench::play::hostile::HostileAction;
use rnic_testbench::play::{play, Condition, DutKind, Options, PlayError, Report};
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::{generate, Injected, IpFamily, Markers, Oddity, Resend, Workload};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

/// Runs of a test at W = 64, and at W = 128.
const RUNS: u64 = 20;
const RUNS_128: u64 = 5;
/// Runs of a test at a width, ordinary ones at W = 512 and hostile ones at all but 64.
const RUNS_SHORT: u64 = 3;
/// Runs over which every condition must have been met, and every refusal.
const RUNS_MODEL: u64 = 200;
/// Runs of a test on what is synthesised, and as many hostile ones.
const RUNS_SILICON: u64 = 6;
/// Hostile runs of a test.
const RUNS_HOSTILE: u64 = 12;
/// Workloads over which every kind of fault and every choice must have been drawn.
const DRAWS: u64 = 100;

fn settings(name: &str, seed: u64, width: usize) -> Settings {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier test run has left there says nothing about this one.
    let _ = std::fs::remove_dir_all(&folder);
    Settings {
        seed,
        width,
        folder,
        hostile: false,
        silicon: false,
    }
}

/// Play it on the model alone.
fn on_the_model(capture: &Capture, options: &Options) -> Result<Report, PlayError> {
    let options = Options {
        dut: DutKind::Model,
        ..options.clone()
    };
    let flows = capture::flows(capture, None);
    play(capture, &flows, &options, &ProgressBar::hidden())
}

fn agrees(name: &str, seed: u64, width: usize, runs: u64) -> Totals {
    let mut campaign = Campaign::new(settings(name, seed, width));
    for run in 0..runs {
        let failure = campaign.run(run).expect("the core is there");
        let text = failure.as_ref().map(Failure::text);
        assert_eq!(failure, None, "{}", text.unwrap_or_default());
    }
    let totals = campaign.totals;
    println!("seed {seed}, width {width}\n{}", totals.text());
    assert_eq!((totals.runs, totals.mismatches), (runs, 0));
    // Much is sent, and most of it arrives: a run in which nothing is placed shows nothing.
    assert!(totals.segments > 100 * runs, "{}", totals.text());
    assert!(
        totals.fpdus_received > totals.fpdus / 4,
        "{}",
        totals.text()
    );
    totals
}

/// Runs whose connections leave more unfinished than packet memory holds: what found no room was
/// sent again, and everything is compared: with a late driver too, and of a stream that
/// stops and never ends.
#[test]
fn runs_that_do_not_fit_and_streams_that_do_not_end_still_agree() {
    let mut resent = 0;
    for (seed, run) in [(4, 8), (71, 34), (1, 1829), (112_201, 16)] {
        let mut campaign = Campaign::new(settings("crowded", seed, 64));
        let failure = campaign.run(run).expect("the core is there");
        let text = failure.as_ref().map(Failure::text);
        assert_eq!(failure, None, "{}", text.unwrap_or_default());
        resent += campaign.totals.resent;
    }
    assert!(resent > 0, "each run has room now");
}

/// Overlaps with other octets give five streams length fields that were not sent, and what comes in
/// small segments fills packet memory: the driver closes one of them, and all others get through
/// (ADR 13).
#[test]
fn fpdus_beyond_the_reserve_stop_only_their_own_connection() {
    let mut campaign = Campaign::new(Settings {
        silicon: true,
        ..settings("reserve", 886_555_268, 64)
    });
    let failure = campaign.run(4).expect("the core is there");
    let text = failure.as_ref().map(Failure::text);
    assert_eq!(failure, None, "{}", text.unwrap_or_default());
    assert!(campaign.totals.closed_for_room > 0, "each had room");
}

/// MPA-043, MPA-046, DDP-020 under faults of every kind, in every run of this seed.
#[test]
fn rtl_and_model_agree_on_random_traffic_of_a_fixed_seed() {
    agrees("fixed", 1, 64, RUNS);
}

/// The same of a fresh seed; it is printed with a failure.
#[test]
fn rtl_and_model_agree_on_random_traffic_of_a_fresh_seed() {
    let seed = RandomState::new().build_hasher().finish() % 1_000_000_000;
    println!("fresh seed {seed}: rnic fuzz --seed {seed} --runs {RUNS}");
    agrees("fresh", seed, 64, RUNS);
}

#[test]
fn rtl_and_model_agree_on_random_traffic_at_128() {
    agrees("wide", 1, 128, RUNS_128);
}

#[test]
fn rtl_and_model_agree_on_random_traffic_at_512() {
    agrees("wider", 1, 512, RUNS_SHORT);
}

/// What is synthesised behaves as what is simulated, whatever hardware leaves open, on a fresh
/// device and on one that was reset in mid-traffic.
#[test]
fn what_is_synthesised_agrees_with_the_model_too() {
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

/// Hardware and model agree whatever peers, owner and host do: MPA-046, DDP-042, DDP-047, DDP-050
/// among forged headers, regions that come and go and connections opened again.
fn agrees_among_hostile_peers(name: &str, seed: u64, width: usize, runs: u64) -> Totals {
    let mut campaign = Campaign::new(Settings {
        hostile: true,
        ..settings(name, seed, width)
    });
    for run in 0..runs {
        let failure = campaign.run(run).expect("the core is there");
        let text = failure.as_ref().map(Failure::text);
        assert_eq!(failure, None, "{}", text.unwrap_or_default());
    }
    let totals = campaign.totals;
    println!("seed {seed}, width {width}, hostile\n{}", totals.text());
    assert_eq!((totals.runs, totals.mismatches), (runs, 0));
    assert!(totals.placed_octets > 0, "{}", totals.text());
    totals
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_of_a_fixed_seed() {
    let totals = agrees_among_hostile_peers("hostile", 4, 64, RUNS_HOSTILE);
    for action in HostileAction::ALL {
        assert!(totals.actions.contains_key(&action), "{}", action.name());
    }
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_of_a_fresh_seed() {
    let seed = RandomState::new().build_hasher().finish() % 1_000_000_000;
    println!("fresh seed {seed}: rnic fuzz --hostile --seed {seed} --runs {RUNS_HOSTILE}");
    agrees_among_hostile_peers("hostile-fresh", seed, 64, RUNS_HOSTILE);
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_at_128() {
    agrees_among_hostile_peers("hostile-wide", 2, 128, RUNS_SHORT);
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_at_512() {
    agrees_among_hostile_peers("hostile-wider", 3, 512, RUNS_SHORT);
}

/// What is drawn reaches the receiver: each condition is met, each oddity sent, and what they lead
/// to is counted.
#[test]
fn every_condition_is_met_and_what_it_leads_to_is_counted() {
    let settings = settings("met", 1, 64);
    let mut campaign = Campaign::with_player(settings, on_the_model);
    for run in 0..RUNS_MODEL {
        let failure = campaign.run(run).expect("the model plays everything");
        assert_eq!(failure, None);
    }
    let totals = campaign.totals;
    println!("{}", totals.text());
    for condition in Condition::ALL {
        assert!(
            totals.conditions.contains_key(&condition),
            "{}",
            condition.name()
        );
    }
    // A queue that is full, and so a buffer that is missing, is the driver's: the model has none.
    let counters = [
        Counter::DropRunt,
        Counter::DropFrameTooLong,
        Counter::DropTcpOutsideWindow,
        Counter::DropTcpNoRoom,
        Counter::DropHostRingFull,
        Counter::DropHostFrameTooLong,
        Counter::RefuseDdpStag,
        Counter::RefuseDdpAssociation,
        Counter::RefuseDdpWrap,
        Counter::RefuseDdpBounds,
        Counter::RefuseDdpMo,
        Counter::RefuseDdpTooLong,
        Counter::RefuseRdmapInvalidate,
    ];
    for counter in counters {
        assert!(totals.counters[counter.name()] > 0, "{}", counter.name());
    }
}

/// The printed command replays a failed hostile run with the same actions.
#[test]
fn a_hostile_run_is_replayed_with_its_actions() {
    let settings = Settings {
        hostile: true,
        ..settings("hostile-again", 1, 64)
    };
    let mut campaign = Campaign::with_player(settings, |capture, options| {
        let mut report = on_the_model(capture, options)?;
        report.mismatches += report
            .actions
            .get(&HostileAction::Reopen)
            .copied()
            .unwrap_or(0);
        Ok(report)
    });
    let mut runs = 0..RUNS_HOSTILE;
    let failure = runs.find_map(|run| campaign.run(run).expect("the model plays everything"));
    let failure = failure.expect("some run opens a connection again");
    assert!(failure.again.ends_with(" --hostile"), "{}", failure.again);
    let report = failure.capture.with_extension("json");
    let replay = format!("{} --dut model --json {}", failure.replay, report.display());
    let output = shell(&replay);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report = std::fs::read(report).expect("the report is written");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["deeds"]["reopen"], 1, "the last frame's");
}

/// Does some drawn workload have it?
fn drawn(workloads: &[Workload], what: &str, has: impl Fn(&Workload) -> bool) {
    assert!(workloads.iter().any(has), "{what} is never drawn");
}

#[test]
fn every_fault_and_every_choice_is_drawn() {
    let cases = (0..DRAWS).map(|run| Case::draw(1, run));
    let workloads: Vec<Workload> = cases.map(|case| case.workload).collect();
    let mut injected = Injected::default();
    for workload in &workloads {
        let generation = generate(workload).expect("what is drawn can be made");
        injected.add(&generation.summary.faults);
    }
    for (kind, count) in injected.by_kind() {
        let is_odd = Oddity::ALL.iter().any(|oddity| oddity.name() == kind);
        let least = if is_odd { DRAWS / 20 } else { DRAWS / 2 };
        assert!(count >= least, "{kind}: {count} in {DRAWS} runs");
    }
    for cutter in Cutter::ALL {
        drawn(&workloads, "a cutter", |w| w.cutter == cutter);
    }
    for markers in [
        Markers::Off,
        Markers::Initiator,
        Markers::Responder,
        Markers::Both,
    ] {
        drawn(&workloads, "a use of markers", |w| w.markers == markers);
    }
    for ip in [IpFamily::V4, IpFamily::V6, IpFamily::Both] {
        drawn(&workloads, "an IP version", |w| w.ip == ip);
    }
    for resend in [Resend::All, Resend::Lost, Resend::Never] {
        drawn(&workloads, "a way to send again", |w| {
            w.faults.resend == resend
        });
    }
    for either in [false, true] {
        drawn(&workloads, "CRC or none", |w| w.crc == either);
        drawn(&workloads, "timestamps or none", |w| w.timestamps == either);
    }
    for count in 0..=2 {
        drawn(&workloads, "a revision", |w| {
            usize::from(w.revision) == count
        });
        drawn(&workloads, "a number of tags", |w| w.vlan.len() == count);
    }
    drawn(&workloads, "neighbours in the hash tables", |w| {
        w.neighbours
    });
    drawn(&workloads, "MSNs that wrap", |w| w.msn_start > 1);
    drawn(&workloads, "Tagged Offsets up to 2^64", |w| {
        w.to_start > u64::MAX - 1_000_000
    });
    drawn(&workloads, "one connection", |w| w.connections == 1);
    drawn(&workloads, "many connections", |w| w.connections > 24);
    drawn(&workloads, "a message of 64 KiB", |w| {
        *w.sizes.end() > 60_000
    });
    drawn(&workloads, "a stream past 2^32", |w| {
        w.sequence_start.is_some_and(|start| start > 0xffff_0000)
    });
}

/// Hardware against a model that does not check CRCs: the flows it is told of have none.
fn against_a_model_without_crc(capture: &Capture, options: &Options) -> Result<Report, PlayError> {
    let with = |dut: DutKind, flows: &[Flow]| {
        let options = Options {
            dut,
            ..options.clone()
        };
        play(capture, flows, &options, &ProgressBar::hidden())
    };
    let flows = capture::flows(capture, None);
    let blind = flows
        .iter()
        .cloned()
        .map(|flow| Flow { crc: false, ..flow });
    let mut rtl = with(DutKind::Rtl, &flows)?;
    let model = with(DutKind::Model, &blind.collect::<Vec<Flow>>())?;
    for (name, count) in &rtl.counters {
        let other = model.counters[name];
        if *count != other {
            rtl.mismatches += 1;
            rtl.differences.push(Difference {
                frames: None,
                flow: None,
                what: What::Counter(name),
                place: None,
                expected: other.to_string(),
                found: count.to_string(),
            });
        }
    }
    Ok(rtl)
}

/// FPDUs with wrong CRC among the first `frames` frames, as the true model counts them.
fn crc_errors(capture: &Capture, frames: usize) -> u64 {
    let prefix = Capture {
        path: capture.path.clone(),
        frames: capture.frames[..frames].to_vec(),
    };
    let flows = capture::flows(&prefix, None);
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let report = play(&prefix, &flows, &options, &ProgressBar::hidden());
    let report = report.expect("the model plays everything");
    report.flows.iter().map(|flow| flow.crc_errors).sum()
}

/// What a user's shell makes of a command that is printed.
fn shell(command: &str) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_rnic")).parent();
    let folder = folder.expect("a program lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .output()
        .expect("there is a shell")
}

/// The canary: a model that takes a wrong CRC is found, by a capture that ends with the frame that
/// brings the first one, and that fails again when it is read from its file.
#[test]
fn a_model_that_takes_a_wrong_crc_is_found_and_the_capture_is_cut_behind_the_first() {
    let settings = settings("canary", 1, 64);
    let mut campaign = Campaign::with_player(settings, against_a_model_without_crc);
    let mut runs = 0..RUNS;
    let failure = runs.find_map(|run| campaign.run(run).expect("the core is there"));
    let failure = failure.expect("some run has an FPDU with a wrong CRC");
    println!("{}", failure.text());
    let capture = capture::read(&failure.capture).expect("a sound capture");
    let frames = capture.frames.len();
    assert_eq!(frames, failure.failing_frames);
    assert!(frames < failure.frames);
    assert_eq!(crc_errors(&capture, frames), 1);
    assert_eq!(crc_errors(&capture, frames - 1), 0);
    let told = failure.told.join("\n");
    assert!(told.contains("mpa_crc"), "{told}");
    // The command that is printed plays the file; without the canary nothing differs.
    let output = shell(&failure.replay);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("{frames} frames")), "{said}");
}

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

/// A panic of a receiver is a failure like any other, and is cut down too.
#[test]
fn a_panic_is_a_failure_with_its_words() {
    const GUILTY: usize = 37;
    let mut campaign = Campaign::with_player(settings("panic", 1, 64), |capture, options| {
        assert!(
            capture.frames.len() < GUILTY,
            "frame {GUILTY} is one too many"
        );
        on_the_model(capture, options)
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    campaign.listen(move |run, told| {
        ears.lock()
            .expect("no panic there")
            .push((run, told.to_vec()))
    });
    let failure = campaign.run(0).expect("no core is needed");
    let failure = failure.expect("it must panic");
    let words = "panic: frame 37 is one too many".to_owned();
    assert_eq!(
        *heard.lock().expect("no panic there"),
        [(0, vec![words])],
        "told before it is cut down"
    );
    assert_eq!(failure.failing_frames, GUILTY);
    let capture = capture::read(&failure.capture).expect("a sound capture");
    assert_eq!(capture.frames.len(), GUILTY);
    assert_eq!(failure.told, ["panic: frame 37 is one too many"]);
    assert_eq!((campaign.totals.runs, campaign.totals.mismatches), (1, 1));
}

/// The command does the runs it is asked for, alone or among others the same, and tells them as
/// JSON.
#[test]
fn the_command_tells_what_was_played() {
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
        let sum: u64 = alone.iter().filter_map(|told| told[name].as_u64()).sum();
        assert!(sum > 0, "{name}");
        assert_eq!(both[name], sum, "{name}");
    }
}
