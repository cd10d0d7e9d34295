//! Every mutant through the checks until one catches it: first the one that its row or its room
//! names, then the others in the order of their cost.
//!
//! First the core without any mutant, which must pass each check; what it takes there bounds what a
//! check may take later. Then `jobs` mutants at a time, each check a child process.

use super::checks::{Check, Ended, Programs, Stage};
use super::table::Mutant;
use super::text::Design;
use super::MutantError;
use crate::former_keys;
use rnic_abi::sizes::Sizes;
use rnic_sim::mutant;
use serde::{Serialize, Serializer};
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Runs of each kind of random traffic.
const FUZZ_RUNS: u64 = 4;
/// For a check of the sound core.
const SOUND_LIMIT: Duration = Duration::from_secs(600);
/// A check of a mutant may take this many times what it took of the sound core, and this longer.
const LIMIT_FACTOR: u32 = 8;
const LIMIT_MARGIN: Duration = Duration::from_secs(20);
/// Proofs bound themselves (proofs.toml).
const PROOFS_LIMIT: Duration = Duration::from_secs(3600);

/// What all mutants have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Programs of the checks.
    pub programs: Programs,
    /// Seed of every random choice.
    pub seed: u64,
    /// Mutants at a time.
    pub jobs: usize,
    /// What survives the checks of the whole device goes on to the proofs of its block.
    pub proofs: bool,
}

/// What caught a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Catch {
    /// Where.
    pub stage: Stage,
    /// The check's message.
    #[serde(flatten, serialize_with = "message")]
    pub message: String,
}

fn message<S: Serializer>(message: &str, serializer: S) -> Result<S::Ok, S::Error> {
    former_keys::serialize(["message", "told"], message, serializer)
}

/// A mutant and its end.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which one.
    pub mutant: Mutant,
    /// Nothing, if it survived.
    pub catch: Option<Catch>,
    /// What it took.
    pub seconds: f64,
}

impl Outcome {
    /// Is it as the table has it: caught, or argued as no change and not caught?
    pub fn is_as_it_should_be(&self) -> bool {
        self.catch.is_some() != self.mutant.equivalent.is_some()
    }
}

/// A core with all mutants, checked without any.
pub struct Campaign {
    settings: Settings,
    verilog: String,
    library: PathBuf,
    /// With what each took of the sound core, the quickest first.
    checks: Vec<(Check, Duration)>,
}

impl Campaign {
    /// Build the core with `table`, the whole of it, and put it through every check without a
    /// mutant in force.
    pub fn new(settings: Settings, table: &[Mutant]) -> Result<Self, MutantError> {
        let verilog = rnic_hdl::top::verilog(mutant::WIDTH, Sizes::LARGEST);
        let verilog = verilog.map_err(|error| MutantError::Tool {
            tool: "the emitter".into(),
            reason: error.to_string(),
        })?;
        let library = mutant::library(&Design::new(&verilog).with_all(table)?)?;
        let checks = settings.programs.system_checks(settings.seed, FUZZ_RUNS);
        let mut campaign = Self {
            settings,
            verilog,
            library,
            checks: Vec::new(),
        };
        for check in checks {
            let begun = Instant::now();
            let ended = check.run(&campaign.library, 0, SOUND_LIMIT)?;
            if let Ended::Failed(message) = ended {
                let check = check.stage.name();
                return Err(MutantError::Unsound { check, message });
            }
            campaign.checks.push((check, begun.elapsed()));
        }
        campaign.checks.sort_by_key(|(_, took)| *took);
        Ok(campaign)
    }

    /// What each check took of the sound core, and how a person uses a mutant.
    pub fn first_lines(&self) -> String {
        let checks = self.checks.iter();
        let took: Vec<String> = checks
            .map(|(check, took)| format!("{} {:.1} s", check.stage.name(), took.as_secs_f64()))
            .collect();
        let (variable, path) = (mutant::LIBRARY_VARIABLE, self.library.display());
        let number = mutant::NUMBER_VARIABLE;
        format!(
            "without a mutant every check passes: {}\nfor mutant N: {number}=N {variable}={path}",
            took.join(", ")
        )
    }

    /// Runs all `mutants` and reports each to `listener`, in their order. A `Break` ends the
    /// campaign before that mutant; those under way end, and count for nothing.
    pub fn run(
        &self,
        mutants: &[Mutant],
        mut listener: impl FnMut(&Outcome) -> ControlFlow<()>,
    ) -> Result<Vec<Outcome>, MutantError> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for _ in 0..self.settings.jobs {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if sender.send((mutant.number, self.one(mutant))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut ready: Vec<(u16, Outcome)> = Vec::new();
            let mut outcomes = Vec::new();
            for (number, outcome) in receiver {
                ready.push((number, outcome?));
                while let Some(mutant) = mutants.get(outcomes.len()) {
                    let place = ready
                        .iter()
                        .position(|(number, _)| *number == mutant.number);
                    let Some(place) = place else { break };
                    let (_, outcome) = ready.swap_remove(place);
                    if listener(&outcome).is_break() {
                        return Ok(outcomes);
                    }
                    outcomes.push(outcome);
                }
            }
            Ok(outcomes)
        })
    }

    /// One mutant through the checks.
    fn one(&self, mutant: &Mutant) -> Result<Outcome, MutantError> {
        let begun = Instant::now();
        let catch = self.catch(mutant)?;
        Ok(Outcome {
            mutant: mutant.clone(),
            catch,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    fn catch(&self, mutant: &Mutant) -> Result<Option<Catch>, MutantError> {
        let programs = &self.settings.programs;
        let known = mutant.attack.as_deref().map(|name| {
            let all = self
                .checks
                .iter()
                .find(|(check, _)| check.stage == Stage::Attacks);
            let took = all.map_or(SOUND_LIMIT, |(_, took)| *took);
            (programs.attack(Some(name)), took)
        });
        let is_first =
            |check: &Check| mutant.room.serves_transmission() && check.stage == Stage::Transmit;
        let mut checks: Vec<_> = self.checks.iter().collect();
        checks.sort_by_key(|(check, _)| !is_first(check));
        for (check, took) in known.iter().chain(checks) {
            let limit = *took * LIMIT_FACTOR + LIMIT_MARGIN;
            let ended = check.run(&self.library, mutant.number, limit)?;
            if let Ended::Failed(message) = ended {
                let stage = check.stage;
                return Ok(Some(Catch { stage, message }));
            }
        }
        match self.settings.proofs {
            true => self.prove(mutant),
            false => Ok(None),
        }
    }

    /// The proofs about the block, on the text with this change alone.
    fn prove(&self, mutant: &Mutant) -> Result<Option<Catch>, MutantError> {
        let folder = self.settings.programs.out.join(mutant.number.to_string());
        let path = folder.join("rnic.v");
        let failed = |error: std::io::Error| MutantError::Tool {
            tool: path.display().to_string(),
            reason: error.to_string(),
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let text = Design::new(&self.verilog).with_one(mutant)?;
        fs::write(&path, text).map_err(failed)?;
        let check = self.settings.programs.proofs(&path, &mutant.module);
        let ended = check.run(&self.library, mutant.number, PROOFS_LIMIT)?;
        Ok(match ended {
            Ended::Passed => None,
            Ended::Failed(message) => Some(Catch {
                stage: Stage::Proofs,
                message: message.trim().to_owned(),
            }),
        })
    }
}
