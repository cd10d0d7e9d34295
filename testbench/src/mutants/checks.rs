//! The checks of a mutant: child processes that must fail.
//!
//! A child catches the mutant if it exits with a status other than 0, reports a failure before it
//! exits (it is then stopped), or runs far longer than it should, as it does on a core that hangs.

use super::time::{self, Bound};
use super::MutantError;
use rnic_sim::mutant::{LIBRARY_VARIABLE, NUMBER_VARIABLE};
use serde::Serialize;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Where a mutant can be caught, in the order of cost.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Captures through hardware and model.
    Playback,
    /// A driver's program on hardware and model: registers, tables, posts, resets, interrupts.
    Registers,
    /// Random workloads and faults.
    Fuzz,
    /// The same with malicious peers and a misbehaving host.
    Hostile,
    /// Frames that the device sends.
    Transmit,
    /// Named attacks.
    Attacks,
    /// Proofs about the changed block.
    Proofs,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 7] = [
        Self::Playback,
        Self::Registers,
        Self::Fuzz,
        Self::Hostile,
        Self::Transmit,
        Self::Attacks,
        Self::Proofs,
    ];

    /// Its name in the report.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Does it observe the whole device, from outside?
    pub fn is_of_the_system(self) -> bool {
        self != Self::Proofs
    }
}

/// A command that must fail on a mutant.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its stage.
    pub stage: Stage,
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    /// Text of a line that reports a failure before the child ends; `None` for children with
    /// children of their own, which would outlive them.
    reports: Option<&'static str>,
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Status 0.
    Passed,
    /// Anything else, with the child's message.
    Failed(String),
}

/// Runs of transmission for each run of received traffic.
const TRANSMIT_RUNS: u64 = 4;

/// Captures of the playback stage: with CRC and without, markers, lost segments, IPv6 and VLAN
/// tags, all opcodes.
const CAPTURES: [&str; 5] = [
    "rping-v4-crc.pcap",
    "rping-v4-nocrc.pcap",
    "ops-v4-crc.pcap",
    "mk-v6-vlan.pcap",
    "mk-loss.pcap",
];

/// Programs that checks run, all from this build.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `rnic` itself.
    pub rnic: PathBuf,
    /// The test binary of the attacks.
    pub attacks: PathBuf,
    /// The test binary that drives hardware and model.
    pub device_model: PathBuf,
    /// The test binary of the whole device.
    pub device: PathBuf,
    /// Folder of the project.
    pub root: PathBuf,
    /// Folder for what checks write.
    pub out: PathBuf,
}

impl Programs {
    /// The checks of the whole device.
    pub fn system_checks(&self, seed: u64, fuzz_runs: u64) -> Vec<Check> {
        let root = self.root.clone();
        let rnic = |stage, arguments: Vec<String>| Check {
            stage,
            program: self.rnic.clone(),
            arguments,
            folder: root.clone(),
            reports: Some("fails and is cut down"),
        };
        let mut play = vec!["play".to_owned(), "--seed".into(), seed.to_string()];
        play.extend(CAPTURES.map(|name| format!("testbench/captures/{name}")));
        let fuzz = |hostile: &[&str]| {
            let (runs, seed) = (fuzz_runs.to_string(), seed.to_string());
            let out = self.out.join("fuzz").display().to_string();
            // The campaign itself keeps every core busy.
            let given = [
                "fuzz", "--jobs", "1", "--runs", &runs, "--seed", &seed, "--out", &out,
            ];
            let given = given.iter().chain(hostile);
            given.map(|&word| word.to_owned()).collect()
        };
        // Short runs, of which each looks at one vector and one hold-off.
        let (runs, seed) = ((TRANSMIT_RUNS * fuzz_runs).to_string(), seed.to_string());
        let transmit = ["fuzz", "--transmit", "--runs", &runs, "--seed", &seed];
        let transmit = transmit.map(str::to_owned).to_vec();
        vec![
            rnic(Stage::Playback, play),
            self.test(Stage::Registers, &self.device_model, None),
            self.test(Stage::Registers, &self.device, Some("interrupts::")),
            self.test(Stage::Registers, &self.device, Some("bar_accesses::")),
            rnic(Stage::Fuzz, fuzz(&[])),
            rnic(Stage::Hostile, fuzz(&["--hostile"])),
            Check {
                reports: Some("fails: rnic fuzz --transmit"),
                ..rnic(Stage::Transmit, transmit)
            },
            self.attack(None),
        ]
    }

    /// All attacks, or the one of a name.
    pub fn attack(&self, name: Option<&str>) -> Check {
        self.test(Stage::Attacks, &self.attacks, name)
    }

    /// All tests of a program, or those of a name.
    fn test(&self, stage: Stage, program: &Path, name: Option<&str>) -> Check {
        // The library is of W = 64.
        let given = ["--test-threads=1", "--skip=_128", "--skip=_512"];
        let mut arguments = given.map(str::to_owned).to_vec();
        // A test's full name begins with the file; the filter is any part of it.
        arguments.extend(name.map(str::to_owned));
        Check {
            stage,
            program: program.to_path_buf(),
            arguments,
            folder: self.root.join("testbench"),
            reports: Some(" ... FAILED"),
        }
    }

    /// The proofs about blocks that hold `module`, on the text in `verilog`.
    pub fn proofs(&self, verilog: &Path, module: &str) -> Check {
        let out = verilog.with_file_name("proofs").display().to_string();
        let text = verilog.display().to_string();
        let arguments = ["formal/prove.py", "--jobs", "1", "--module", module];
        let arguments = arguments.into_iter().chain(["--out", &out, &text]);
        Check {
            stage: Stage::Proofs,
            program: self.root.join(".tools/venv/bin/python3"),
            arguments: arguments.map(str::to_owned).collect(),
            folder: self.root.clone(),
            reports: None,
        }
    }
}

impl Check {
    /// Run it with mutant `number` of `library` enabled, for at most `limit` of the processor's
    /// time.
    pub fn run(&self, library: &Path, number: u16, limit: Duration) -> Result<Ended, MutantError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env(NUMBER_VARIABLE, number.to_string())
            .env(LIBRARY_VARIABLE, library)
            // The counts of `make test`: what it shortens must notice a mutant as it stands.
            .env(rnic_effort::VARIABLE, "short")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let failed = |error: std::io::Error| MutantError::Tool {
            tool: self.program.display().to_string(),
            reason: error.to_string(),
        };
        let mut child = command.spawn().map_err(failed)?;
        let lines = lines_of(&mut child);
        let watched = self.watch(&lines, &Bound::new(child.id(), limit));
        if watched.is_err() {
            // It may have ended meanwhile; `wait` returns the status either way.
            let _ = child.kill();
        }
        let status = child.wait().map_err(failed)?;
        Ok(match watched {
            Err(message) => Ended::Failed(message),
            Ok(_) if status.success() => Ended::Passed,
            Ok(message) => Ended::Failed(format!("{status}: {message}")),
        })
    }

    /// Read lines until the child closes its outputs; returns the most informative one. An error is
    /// the reason to stop it.
    fn watch(&self, lines: &Receiver<String>, bound: &Bound) -> Result<String, String> {
        let mut message = String::new();
        let reports = |line: &str| self.reports.is_some_and(|words| line.contains(words));
        while !bound.is_exceeded() {
            match lines.recv_timeout(time::STEP) {
                Ok(line) if reports(&line) => return Err(line),
                Ok(line)
                    if is_diagnostic(&line) || !is_diagnostic(&message) && !line.is_empty() =>
                {
                    message = line;
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(message),
            }
        }
        Err(format!("no end; last: {message}"))
    }
}

/// Does the line say what went wrong?
fn is_diagnostic(line: &str) -> bool {
    [
        "panicked",
        "differ",
        "rnic: ",
        "NOT PROVED",
        "mismatches: 1",
    ]
    .iter()
    .any(|word| line.contains(word))
}

/// Lines of both outputs of `child`.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
        pass_on(output, sender.clone());
    }
    if let Some(output) = child.stderr.take() {
        pass_on(output, sender);
    }
    receiver
}

fn pass_on(output: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str, seconds: u64) -> Ended {
        let check = Check {
            stage: Stage::Attacks,
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            folder: ".".into(),
            reports: Some(" ... FAILED"),
        };
        let limit = Duration::from_secs(seconds);
        check.run(Path::new("a.so"), 7, limit).expect("a shell")
    }

    #[test]
    fn a_child_passes_with_status_0_only() {
        assert_eq!(shell("echo good", 60), Ended::Passed);
        let Ended::Failed(message) = shell("echo 'thread panicked'; echo more; exit 101", 60)
        else {
            panic!("status 101 passed");
        };
        assert!(message.contains("thread panicked"), "{message}");
        assert!(matches!(shell("kill -SEGV $$", 60), Ended::Failed(_)));
    }

    #[test]
    fn a_child_that_reports_a_failure_or_hangs_is_stopped() {
        let begun = Instant::now();
        let reports = Ended::Failed("test a ... FAILED".into());
        assert_eq!(
            shell("echo 'test a ... FAILED'; exec sleep 600", 60),
            reports
        );
        for hangs in ["exec sleep 600", "while :; do :; done"] {
            let Ended::Failed(message) = shell(&format!("echo last; {hangs}"), 1) else {
                panic!("a child that hangs passed");
            };
            assert_eq!(message, "no end; last: last");
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_child_receives_its_mutant() {
        let script = "test \"$RNIC_MUTANT $RNIC_MUTANT_LIBRARY\" = '7 a.so'";
        assert_eq!(shell(script, 60), Ended::Passed);
    }
}
