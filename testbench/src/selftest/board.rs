//! The self-test on a simulated board, at its pins: as a person with a JTAG cable sees it.
//!
//! | run          | expected                                                        |
//! |--------------|-----------------------------------------------------------------|
//! | power-up     | the report of the script, octet by octet; the LEDs say pass     |
//! | command `f`  | one bit of a frame is wrong: FAIL                               |
//! | command `s`  | one bit of a signature is wrong: FAIL                           |
//! | command `r`  | pass; counters have gone on, so the report is another           |

use super::Script;
use indicatif::ProgressBar;
use rnic_abi::sizes::Sizes;
use rnic_board::script::TIMEOUT_CYCLES;
use rnic_sim::{BoardSim, Form, SimError};

/// LEDs that light when the self-test runs, and when it has passed or failed.
const RUNS: u8 = 1 << 1;
const PASSED: u8 = 1 << 2;
const FAILED: u8 = 1 << 3;
/// Scans without an octet after which the report has ended.
const SILENT_SCANS: usize = 4;
/// Cycles between two looks at the LEDs.
const LOOK_CYCLES: usize = 500;
/// Cycles until a run begins: reset after power-up, or a command.
const START_CYCLES: usize = 1_000;

/// A run of the self-test on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardRun {
    /// What was wrong on purpose.
    pub spoiled: &'static str,
    /// What the console says.
    pub report: String,
    /// The LEDs that light at its end.
    pub leds: u8,
    /// Cycles from power-up or command to the end of the script.
    pub cycles: u64,
    /// What was expected of it.
    pub must_pass: bool,
}

impl BoardRun {
    /// Whether the board says, at its LEDs and in its report, that the self-test has passed.
    pub fn passes(&self) -> bool {
        self.says("self-test pass\n", PASSED)
    }

    /// Whether it says that it has failed.
    pub fn fails(&self) -> bool {
        self.says("self-test FAIL\n", FAILED)
    }

    fn says(&self, verdict: &str, led: u8) -> bool {
        self.report.ends_with(verdict) && self.leds & (PASSED | FAILED) == led
    }

    /// Whether it is as expected.
    pub fn is_right(&self) -> bool {
        match self.must_pass {
            true => self.passes(),
            false => self.fails(),
        }
    }
}

/// The board's Verilog with this script; its core is the smallest.
///
/// # Errors
/// The checks or the emission lint refuse the board.
pub fn verilog(script: &Script) -> Result<String, SimError> {
    let verilog = rnic_board::verilog(&script.words, Sizes::SMALLEST);
    verilog.map_err(|error| SimError::Emission {
        width: 64,
        reason: error.to_string(),
    })
}

/// Powers a board up and runs the self-test as it is, with each thing wrong that can be, and again.
///
/// # Errors
/// The board cannot be built or loaded.
pub fn run_on_board(
    script: &Script,
    form: Form,
    seed: u64,
    progress: &ProgressBar,
) -> Result<Vec<BoardRun>, SimError> {
    progress.set_message("builds the board; a netlist takes minutes, once");
    let mut board = BoardSim::load(&verilog(script)?, form, seed)?;
    let commands = [
        (None, "nothing", true),
        (Some(b'f'), "a bit of a frame", false),
        (Some(b's'), "a bit of a signature", false),
        (Some(b'r'), "nothing", true),
    ];
    let mut runs = vec![];
    for (command, spoiled, must_pass) in commands {
        progress.set_message(format!("runs the self-test, spoiled: {spoiled}"));
        let begun = board.cycles();
        if let Some(command) = command {
            board.scan(Some(command));
        }
        board.run(START_CYCLES);
        // Every scene may wait in vain once.
        let limit = 2 * script.cycles + 8 * TIMEOUT_CYCLES as u64;
        while board.leds() & RUNS != 0 && board.cycles() - begun < limit {
            board.run(LOOK_CYCLES);
        }
        let cycles = board.cycles() - begun;
        progress.set_message("reads the report over JTAG");
        if command.is_none() {
            board.select_console();
        }
        let report = board.read_report(SILENT_SCANS);
        runs.push(BoardRun {
            spoiled,
            report,
            leds: board.leds(),
            cycles,
            must_pass,
        });
    }
    Ok(runs)
}
