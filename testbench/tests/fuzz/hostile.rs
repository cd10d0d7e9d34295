//! Hardware and model agree with malicious peers and a misbehaving host.

use crate::{on_the_model, runs, settings, settings_512, shell, RUNS_HOSTILE, RUNS_WIDE};
use rnic_testbench::fuzz::{Campaign, Failure, Settings, Totals};
use rnic_testbench::play::hostile::HostileAction;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Hardware and model agree whatever peers, owner and host do (MPA-046, DDP-042, DDP-047, DDP-050):
/// forged headers, regions registered and deregistered, connections reopened.
fn agrees_among_hostile_peers(settings: Settings, runs: u64) -> Totals {
    let (seed, width) = (settings.seed, settings.width);
    let mut campaign = Campaign::new(Settings {
        hostile: true,
        ..settings
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
    // Its first runs are short and have every action.
    let totals = agrees_among_hostile_peers(settings("hostile", 7, 64), runs(RUNS_HOSTILE));
    for action in HostileAction::ALL {
        assert!(totals.actions.contains_key(&action), "{}", action.name());
    }
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_of_a_fresh_seed() {
    let seed = RandomState::new().build_hasher().finish() % 1_000_000_000;
    let runs = runs(RUNS_HOSTILE);
    println!("fresh seed {seed}: rnic fuzz --hostile --seed {seed} --runs {runs}");
    agrees_among_hostile_peers(settings("hostile-fresh", seed, 64), runs);
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_at_128() {
    if rnic_effort::is_left_out("W = 128") {
        return;
    }
    agrees_among_hostile_peers(settings("hostile-wide", 2, 128), runs(RUNS_WIDE));
}

#[test]
fn rtl_and_model_agree_among_hostile_peers_at_512() {
    for settings in settings_512("hostile-wider", 3) {
        agrees_among_hostile_peers(settings, runs(RUNS_WIDE));
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
    let [_, most] = RUNS_HOSTILE;
    let mut runs = 0..most;
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
    assert_eq!(report["actions"]["reopen"], 1, "the last frame's");
    assert_eq!(report["deeds"], report["actions"], "the former key");
}
