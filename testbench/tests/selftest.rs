//! The script of a board's self-test: it passes again and again, and finds what it is for.

use indicatif::ProgressBar;
use rnic_abi::sizes::Sizes;
use rnic_board::script::{Word, REPORT_OCTETS, WORDS};
use rnic_sim::{Core, Form};
use rnic_testbench::selftest::{generate, play, Played, SceneSummary, Script};
use std::sync::OnceLock;

/// What a short run leaves out: a core with few connections, which only `board.rs` needs, too.
const BOARD: &str = "the script of the board's self-test";

/// One script for all tests.
fn script() -> &'static Script {
    static SCRIPT: OnceLock<Script> = OnceLock::new();
    SCRIPT.get_or_init(|| generate(&ProgressBar::hidden()).expect("the scenes are sound"))
}

fn core() -> Core {
    let core = Core::load(64, Sizes::SMALLEST, Form::Emitted, None, 1);
    core.expect("the core is there")
}

fn scene(name: &str) -> &'static SceneSummary {
    let scenes = &script().scenes;
    let scene = scenes.iter().find(|scene| scene.name == name);
    scene.expect("it is one of the scenes")
}

/// The script with another word in the place of the first one that `change` changes.
fn changed(change: impl Fn(usize, Word) -> Option<Word>) -> Vec<Word> {
    let mut words = script().words.clone();
    let mut found = words.iter().enumerate();
    let found = found.find_map(|(place, &word)| Some((place, change(place, word)?)));
    let (place, word) = found.expect("there is such a word");
    words[place] = word;
    words
}

/// Places of the first words of all frames in the script.
fn frame_starts() -> Vec<usize> {
    let mut begins = true;
    let mut starts = Vec::new();
    for (place, word) in script().words.iter().enumerate() {
        if let Word::Frame { last, .. } = word {
            if std::mem::replace(&mut begins, *last) {
                starts.push(place);
            }
        }
    }
    starts
}

/// What the report says of the scenes, and of all.
fn verdicts(played: &Played) -> Vec<&str> {
    let lines = played.report.lines();
    let verdicts = lines.filter(|line| line.ends_with("pass") || line.ends_with("FAIL"));
    verdicts.collect()
}

const PASSES: [&str; 5] = [
    "in order pass",
    "out of order pass",
    "refused pass",
    "loopback pass",
    "self-test pass",
];

#[test]
fn it_fits_and_passes_however_often_one_core_runs_it() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let script = script();
    assert!(script.words.len() <= WORDS);
    assert!(script.report.len() <= REPORT_OCTETS);
    assert!(script.cycles < 60_000, "{} cycles", script.cycles);
    let mut core = core();
    let first = play(&mut core, &script.words).expect("the core takes requests");
    assert_eq!(first.report, script.report);
    assert!(first.report.starts_with("Ferrowarp self-test\n"));
    assert_eq!(verdicts(&first), PASSES);
    for _ in 0..2 {
        let again = play(&mut core, &script.words).expect("the core takes requests");
        assert_eq!(verdicts(&again), PASSES);
        // Counters go on.
        assert_ne!(again.report, script.report);
    }
}

/// An address of the frame that software gets in the first scene: no checksum covers it.
#[test]
fn a_changed_octet_of_a_frame_fails_its_scene() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let place = frame_starts()[scene("in order").frames - 1];
    let words = changed(|here, word| match word {
        Word::Frame {
            octets,
            count,
            last,
        } if here == place => Some(Word::Frame {
            octets: octets ^ 1 << 60,
            count,
            last,
        }),
        _ => None,
    });
    let played = play(&mut core(), &words).expect("the core takes requests");
    let found = verdicts(&played);
    assert_eq!(found[0], "in order FAIL");
    assert_eq!(found[1..4], PASSES[1..4]);
    assert_eq!(found[4], "self-test FAIL");
}

/// A segment whose TCP checksum is wrong is dropped: what it would have caused never comes.
#[test]
fn a_frame_that_is_dropped_fails_its_scene_and_no_other() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let words = changed(|_, word| match word {
        Word::Frame {
            octets,
            count,
            last: true,
        } => Some(Word::Frame {
            octets: octets ^ 1,
            count,
            last: true,
        }),
        _ => None,
    });
    let played = play(&mut core(), &words).expect("the core takes requests");
    let found = verdicts(&played);
    assert_eq!(found[0], "in order FAIL");
    assert_eq!(found[1..4], PASSES[1..4]);
    assert_eq!(found[4], "self-test FAIL");
    assert!(played.parts[0].late);
}

#[test]
fn a_changed_bit_of_what_is_expected_fails_its_scene() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let expect = |tlps_bit: u32, reads_bit: u32, from: u32| {
        changed(move |_, word| match word {
            Word::Expect { tlps, reads } if tlps == from => Some(Word::Expect {
                tlps: tlps ^ tlps_bit,
                reads: reads ^ reads_bit,
            }),
            _ => None,
        })
    };
    let signature = |name| scene(name).signatures.tlps;
    let changes = [
        (1, expect(1 << 31, 0, signature("out of order"))),
        (3, expect(0, 1, signature("loopback"))),
    ];
    let mut core = core();
    for (failing, words) in changes {
        let played = play(&mut core, &words).expect("the core takes requests");
        let found = verdicts(&played);
        let fails = found.iter().map(|line| line.ends_with("FAIL"));
        let expected = (0..5).map(|place| place == failing || place == 4);
        assert!(fails.eq(expected), "{found:?}");
    }
}

#[test]
fn each_scene_shows_what_it_is_for() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let counter = |name, counter: &str| scene(name).counters[counter];
    assert!(counter("in order", "tcp_in_order") > 3);
    assert_eq!(counter("in order", "host_frames"), 1);
    assert!(counter("out of order", "tcp_out_of_order") > 1);
    assert!(counter("out of order", "drop_tcp_duplicate") > 0);
    assert!(scene("out of order").placed_out_of_order_octets > 0);
    assert_eq!(counter("refused", "refuse_ddp_bounds"), 1);
    assert!(counter("loopback", "tx_frames") > 1);
    assert!(scene("loopback").reads > 0);
    // What the script reads is what hardware and model counted together.
    let refused = script().report.contains("\nrefuse_ddp_bounds 00000001\n");
    let sent = format!("\ntx_frames {:08x}\n", counter("loopback", "tx_frames"));
    assert!(refused && script().report.contains(&sent));
}
