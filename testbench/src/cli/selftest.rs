//! `rnic selftest`: the script of a board's self-test.

use crate::cli::json::unusable;
use crate::cli::outcome::{Failure, Outcome};
use indicatif::ProgressBar;
use rnic_board::script::WORDS;
use rnic_testbench::selftest::{generate, Script};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write the words here, one of 18 hexadecimal digits a line.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let progress = ProgressBar::new_spinner();
    progress.set_message("plays the scenes on the smallest core");
    progress.enable_steady_tick(Duration::from_millis(250));
    let script = generate(&progress);
    progress.finish_and_clear();
    let script = script?;
    if let Some(path) = &arguments.out {
        let line = |word: &rnic_board::script::Word| format!("{:018x}\n", word.encode());
        let lines: String = script.words.iter().map(line).collect();
        fs::write(path, lines).map_err(|error| unusable(path, &error))?;
    }
    print!("{}", text(&script));
    Ok(Outcome::Good)
}

/// For a terminal.
fn text(script: &Script) -> String {
    let mut text = format!(
        "{:<14}{:>7}{:>7}{:>8}{:>6}{:>7}  signatures\n",
        "scene", "frames", "words", "cycles", "TLPs", "reads"
    );
    for scene in &script.scenes {
        let (name, frames, words) = (scene.name, scene.frames, scene.words);
        let (cycles, tlps, reads) = (scene.cycles, scene.tlps, scene.reads);
        let signed = scene.signatures;
        // Writing into a String does not fail.
        let _ = writeln!(
            text,
            "{name:<14}{frames:>7}{words:>7}{cycles:>8}{tlps:>6}{reads:>7}  {:08x} {:08x}",
            signed.tlps, signed.reads
        );
    }
    let (words, cycles) = (script.words.len(), script.cycles);
    let _ = writeln!(
        text,
        "{words} of {WORDS} words, {cycles} cycles; the report:\n"
    );
    text + &script.report
}
