//! `rnic selftest`: the script of a board's self-test, and the self-test on a simulated board.

use crate::cli::lines::Lines;
use crate::cli::outcome::{Failure, Outcome};
use indicatif::ProgressBar;
use rnic_board::script::{Word, WORDS};
use rnic_output::{Claims, Output};
use rnic_sim::Form;
use rnic_testbench::selftest::board::{run_on_board, BoardRun};
use rnic_testbench::selftest::{generate, Script};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLE: &str = "Examples:\n  rnic selftest\n  rnic selftest --dut netlist";

/// What runs the script.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Dut {
    /// The core and a player in software, as the script is made.
    Script,
    /// The board's Verilog, at its pins.
    Rtl,
    /// What yosys makes of it, at its pins; takes minutes to build, once.
    Netlist,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// What runs the script.
    #[arg(long, value_enum, default_value_t = Dut::Rtl)]
    dut: Dut,
    /// Seed of the phase of TCK, and of what crossings and undefined values show.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the words here, one of 18 hexadecimal digits a line; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let out = arguments.out.as_deref();
    let out = out.map(|path| Claims::new().output("--out", path));
    let out = out.transpose()?;
    let lines = Lines::unless(out.as_ref().is_some_and(Output::is_stdout));
    let progress = spinner();
    let script = generate(&progress)?;
    if let Some(mut file) = out {
        let line = |word: &Word| format!("{:018x}\n", word.encode());
        let words: String = script.words.iter().map(line).collect();
        file.write(words.as_bytes())?;
        file.finish()?;
    }
    let form = match arguments.dut {
        Dut::Script => {
            progress.finish_and_clear();
            lines.say(format!("{}\n{}", table(&script), script.report).trim_end())?;
            return Ok(Outcome::Good);
        }
        Dut::Rtl => Form::Emitted,
        Dut::Netlist => Form::Netlist,
    };
    let runs = run_on_board(&script, form, arguments.seed, &progress)?;
    progress.finish_and_clear();
    let same = runs[0].report == script.report;
    let (table, verdicts) = (table(&script), verdicts(&runs, same));
    lines.say(format!("{table}\n{}\n{verdicts}", runs[0].report).trim_end())?;
    match same && runs.iter().all(BoardRun::is_right) {
        true => Ok(Outcome::Good),
        false => Ok(Outcome::Bad),
    }
}

/// A sign of life on a terminal.
pub(crate) fn spinner() -> ProgressBar {
    let progress = ProgressBar::new_spinner();
    progress.set_message("plays the scenes of the self-test on the smallest core");
    progress.enable_steady_tick(Duration::from_millis(250));
    progress
}

/// Scenes, one a line, and their sums.
fn table(script: &Script) -> String {
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
    let _ = writeln!(text, "{words} of {WORDS} words, {cycles} cycles");
    text
}

/// The runs on the board, one a line.
fn verdicts(runs: &[BoardRun], same: bool) -> String {
    let mut text = String::new();
    for run in runs {
        let said = match (run.passes(), run.fails()) {
            (true, _) => "pass",
            (_, true) => "FAIL",
            _ => "neither pass nor FAIL",
        };
        let right = if run.is_right() { "right" } else { "WRONG" };
        let _ = writeln!(
            text,
            "wrong on purpose: {:<22} the board says {said}: {right} (LEDs {:08b}, {} cycles)",
            run.spoiled, run.leds, run.cycles
        );
    }
    let verdict = if same { "is" } else { "IS NOT" };
    let _ = writeln!(text, "the first report {verdict} that of the script");
    text
}
