//! A mismatch or panic is found, cut down to its smallest failing prefix, and replayed.

use crate::{on_the_model, settings, shell, RUNS};
use indicatif::ProgressBar;
use rnic_capture::{Capture, Flow};
use rnic_testbench::fuzz::Campaign;
use rnic_testbench::play::difference::{Difference, What};
use rnic_testbench::play::{play, DutKind, Options, PlayError, Report};
use std::sync::{Arc, Mutex};

/// Hardware against a model that does not check CRCs: its flows are configured without.
fn against_a_model_without_crc(capture: &Capture, options: &Options) -> Result<Report, PlayError> {
    let with = |dut: DutKind, flows: &[Flow]| {
        let options = Options {
            dut,
            ..options.clone()
        };
        play(capture, flows, &options, &ProgressBar::hidden())
    };
    let flows = rnic_capture::flows(capture, None);
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

/// FPDUs with a wrong CRC among the first `frames` frames, as the correct model counts them.
fn crc_errors(capture: &Capture, frames: usize) -> u64 {
    let prefix = Capture::new(&capture.path, capture.frames[..frames].to_vec());
    let flows = rnic_capture::flows(&prefix, None);
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let report = play(&prefix, &flows, &options, &ProgressBar::hidden());
    let report = report.expect("the model plays everything");
    report.flows.iter().map(|flow| flow.crc_errors).sum()
}

/// The canary: a model that accepts a wrong CRC is found. The written capture ends with the frame
/// that carries the first one, and fails again when it is read from its file.
#[test]
fn a_model_that_takes_a_wrong_crc_is_found_and_the_capture_is_cut_after_the_first() {
    // A short run of this seed has one.
    let settings = settings("canary", 9, 64);
    let mut campaign = Campaign::with_player(settings, against_a_model_without_crc);
    let [_, most] = RUNS;
    let mut runs = 0..most;
    let failure = runs.find_map(|run| campaign.run(run).expect("the core is there"));
    let failure = failure.expect("some run has an FPDU with a wrong CRC");
    println!("{}", failure.text());
    let capture = rnic_capture::read(&failure.capture).expect("a sound capture");
    let frames = capture.frames.len();
    assert_eq!(frames, failure.failing_frames);
    assert!(frames < failure.frames);
    assert_eq!(crc_errors(&capture, frames), 1);
    assert_eq!(crc_errors(&capture, frames - 1), 0);
    let differences = failure.differences.join("\n");
    assert!(differences.contains("mpa_crc"), "{differences}");
    // The printed command plays the file; without the canary nothing differs.
    let output = shell(&failure.replay);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("{frames} frames")), "{said}");
}

/// A panic of a receiver is a failure like any other and is cut down too.
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
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reports);
    campaign.listen(move |run, differences| {
        sink.lock()
            .expect("no panic there")
            .push((run, differences.to_vec()))
    });
    let failure = campaign.run(0).expect("no core is needed");
    let failure = failure.expect("it must panic");
    let words = "panic: frame 37 is one too many".to_owned();
    assert_eq!(
        *reports.lock().expect("no panic there"),
        [(0, vec![words])],
        "reported before it is cut down"
    );
    assert_eq!(failure.failing_frames, GUILTY);
    let capture = rnic_capture::read(&failure.capture).expect("a sound capture");
    assert_eq!(capture.frames.len(), GUILTY);
    assert_eq!(failure.differences, ["panic: frame 37 is one too many"]);
    assert_eq!((campaign.totals.runs, campaign.totals.mismatches), (1, 1));
}
