//! One run: draws it, plays it, and cuts it down to its smallest failing prefix if it fails.

use crate::former_keys;
use crate::fuzz::draw::Case;
use crate::fuzz::totals::Totals;
use crate::play::{play, Conditions, DutKind, Options, PlayError, Report};
use crate::workload::{generate, Summary, WorkloadError};
use indicatif::ProgressBar;
use rnic_capture::pcap::capture_file;
use rnic_capture::Capture;
use rnic_output::{Claims, OutputError};
use serde::{Serialize, Serializer};
use std::any::Any;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Instant;
use thiserror::Error;

/// One in this many runs is played on a device that was reset in mid-traffic before.
const USED_ONE_OF: u64 = 10;

/// What all runs have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seed of every random choice.
    pub seed: u64,
    /// Frame path of the RTL in bits.
    pub width: usize,
    /// Folder for the captures of failing runs; created for the first one.
    pub folder: PathBuf,
    /// Forge frames, and act as malicious peers and owners do.
    pub hostile: bool,
    /// Play the synthesised text.
    pub silicon: bool,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Seed.
    pub seed: u64,
    /// Number of the run.
    pub run: u64,
    /// Frames of the run.
    pub frames: usize,
    /// Frames of its smallest failing prefix: with one frame less nothing differs.
    pub failing_frames: usize,
    /// The file with these frames.
    pub capture: PathBuf,
    /// The command that replays them.
    pub replay: String,
    /// The command that repeats the whole run.
    pub again: String,
    /// Differences of the whole run.
    pub mismatches: u64,
    /// The first differences of the file, described.
    #[serde(flatten, serialize_with = "differences")]
    pub differences: Vec<String>,
}

fn differences<S: Serializer>(found: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    former_keys::serialize(["differences", "told"], found, serializer)
}

/// Why a run could not be done; says nothing about hardware or model.
#[derive(Debug, Error)]
pub enum FuzzError {
    /// The drawn workload cannot be generated.
    #[error("run {run} draws what cannot be generated: {source}")]
    Workload {
        /// Which run.
        run: u64,
        /// Why.
        source: WorkloadError,
    },
    /// The core cannot be simulated, or a file cannot be read.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A folder cannot be made.
    #[error("{path}: {source}")]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Called with a failing run and its first differences before the run is cut down, which takes as
/// long as ten runs.
pub type Listener = dyn Fn(u64, &[String]) + Send + Sync;

/// Plays a capture and reports the differences.
pub type Player = dyn Fn(&Capture, &Options) -> Result<Report, PlayError> + Send + Sync;

/// Runs, and their results so far.
pub struct Campaign {
    settings: Settings,
    player: Box<Player>,
    listener: Box<Listener>,
    /// Sums over the runs done.
    pub totals: Totals,
}

/// Result of a playback.
struct Played {
    /// `None` if it was cut short.
    report: Option<Report>,
    mismatches: u64,
    differences: Vec<String>,
}

impl Campaign {
    /// Hardware against model, as `rnic play` compares them.
    pub fn new(settings: Settings) -> Self {
        Self::with_player(settings, |capture: &Capture, options: &Options| {
            let flows = rnic_capture::flows(capture, None);
            play(capture, &flows, options, &ProgressBar::hidden())
        })
    }

    /// As [`Campaign::new`] with another comparison: tests use one that must find something.
    pub fn with_player(
        settings: Settings,
        player: impl Fn(&Capture, &Options) -> Result<Report, PlayError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            settings,
            player: Box::new(player),
            listener: Box::new(|_, _| {}),
            totals: Totals::default(),
        }
    }

    /// Report failed runs to `listener`.
    pub fn listen(&mut self, listener: impl Fn(u64, &[String]) + Send + Sync + 'static) {
        self.listener = Box::new(listener);
    }

    /// Do run number `run`; returns the failure, if it fails.
    pub fn run(&mut self, run: u64) -> Result<Option<Failure>, FuzzError> {
        let (totals, failure) = self.one(run)?;
        self.totals.add(&totals);
        Ok(failure)
    }

    /// Run number `run`: its own totals, and its failure.
    pub(super) fn one(&self, run: u64) -> Result<(Totals, Option<Failure>), FuzzError> {
        let started = Instant::now();
        let mut totals = Totals::default();
        let mut case = Case::draw(self.settings.seed, run);
        if self.settings.hostile {
            case.turn_hostile(self.settings.seed);
        }
        let (summary, capture) = self.capture(&case, run)?;
        let options = self.options(&case);
        let played = self.play(&capture, &options)?;
        let octets = capture.frames.iter().map(|frame| frame.len() as u64);
        totals.add_sent(&summary, octets.sum());
        if let Some(report) = &played.report {
            totals.add_received(report);
        }
        totals.wall_s = started.elapsed().as_secs_f64();
        totals.mismatches = played.mismatches;
        if played.mismatches == 0 {
            return Ok((totals, None));
        }
        // Whole at first: it can be played before the cut is done.
        write(&capture.path, &capture_file(&capture.frames))?;
        (self.listener)(run, &played.differences);
        let failure = self.cut_down(&capture, &options, run, &played)?;
        Ok((totals, Some(failure)))
    }

    /// What a case sends.
    fn capture(&self, case: &Case, run: u64) -> Result<(Summary, Capture), FuzzError> {
        let generation = generate(&case.workload);
        let generation = generation.map_err(|source| FuzzError::Workload { run, source })?;
        let parsed = rnic_capture::parse(&self.path(run), generation.file);
        Ok((generation.summary, parsed.map_err(PlayError::from)?))
    }

    fn options(&self, case: &Case) -> Options {
        Options {
            dut: DutKind::Both,
            width: self.settings.width,
            seed: case.workload.seed,
            stall: case.stall,
            hostile: case.hostile,
            // Two hosts on one device share its resources; on two they may use the same STags.
            one_device: case.run % 2 == 0,
            conditions: case
                .conditions
                .map_or_else(Conditions::default, Conditions::draw),
            silicon: self.settings.silicon,
            used: case.workload.seed % USED_ONE_OF == 0,
            ..Options::default()
        }
    }

    fn path(&self, run: u64) -> PathBuf {
        let name = format!("fuzz-{}-{run}.pcap", self.settings.seed);
        self.settings.folder.join(name)
    }

    /// Play; driver errors and panics count as differences.
    fn play(&self, capture: &Capture, options: &Options) -> Result<Played, PlayError> {
        let failed = |what: String| Played {
            report: None,
            mismatches: 1,
            differences: vec![what],
        };
        // Each playback creates its receivers, so that a panic leaves nothing behind.
        let played = catch_unwind(AssertUnwindSafe(|| (self.player)(capture, options)));
        match played {
            Ok(Ok(report)) => Ok(Played {
                mismatches: report.mismatches,
                differences: report.differences.iter().map(ToString::to_string).collect(),
                report: Some(report),
            }),
            Ok(Err(error @ PlayError::Driver { .. })) => Ok(failed(error.to_string())),
            Ok(Err(error)) => Err(error),
            Err(panic) => Ok(failed(format!("panic: {}", words(panic.as_ref())))),
        }
    }

    /// Write the smallest failing prefix, and play the file as its reader will.
    fn cut_down(
        &self,
        capture: &Capture,
        options: &Options,
        run: u64,
        played: &Played,
    ) -> Result<Failure, FuzzError> {
        let (seed, path) = (self.settings.seed, &capture.path);
        let prefix = |frames: usize| Capture::new(path, capture.frames[..frames].to_vec());
        let whole = capture.frames.len();
        let failing_frames = smallest_failing(whole, |frames| {
            Ok::<_, PlayError>(self.play(&prefix(frames), options)?.mismatches > 0)
        })?;
        write(path, &capture_file(&capture.frames[..failing_frames]))?;
        let written = rnic_capture::read(path).map_err(PlayError::from)?;
        let mut differences = self.play(&written, options)?.differences;
        if differences.is_empty() {
            // Not seen so far; it would mean that runs are not reproducible.
            differences.push("the file does not fail when it is played again".into());
            differences.extend_from_slice(&played.differences);
        }
        let file = quoted(path);
        let Options {
            width,
            stall,
            hostile,
            ref conditions,
            one_device,
            used,
            silicon,
            ..
        } = *options;
        let drawn = conditions.seed;
        let drawn = drawn.map_or(String::new(), |seed| format!(" --conditions {seed}"));
        let flags = [
            (one_device, " --one-device"),
            (silicon, " --silicon"),
            (used, " --used"),
        ];
        let given = flags.into_iter().filter(|(is_set, _)| *is_set);
        let flags_of_play: String = given.map(|(_, flag)| flag).collect();
        let silicon = if silicon { " --silicon" } else { "" };
        let (rate, flag) = match self.settings.hostile {
            true => (format!(" --hostile {hostile}"), " --hostile"),
            false => (String::new(), ""),
        };
        Ok(Failure {
            seed,
            run,
            frames: whole,
            failing_frames,
            capture: path.clone(),
            replay: format!(
                "rnic play {file} --as-captured --width {width} --seed {} --stall {stall}{rate}\
                 {drawn}{flags_of_play}",
                options.seed
            ),
            again: format!("rnic fuzz --width {width} --seed {seed} --only {run}{flag}{silicon}"),
            mismatches: played.mismatches,
            differences,
        })
    }
}

/// The length of a failing prefix whose prefix of one frame less does not fail; `whole` frames
/// fail, 0 frames do not.
fn smallest_failing<E>(
    whole: usize,
    mut fails: impl FnMut(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let (mut good, mut failing) = (0, whole);
    while failing - good > 1 {
        let middle = good + (failing - good) / 2;
        match fails(middle)? {
            true => failing = middle,
            false => good = middle,
        }
    }
    Ok(failing)
}

/// A path as one shell word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    match text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

fn write(path: &Path, octets: &[u8]) -> Result<(), FuzzError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| FuzzError::Folder {
        path: folder.to_path_buf(),
        source,
    })?;
    // One of the same name is of the same seed and run.
    let mut file = Claims::new().output_over_capture("--out", path)?;
    file.write(octets)?;
    Ok(file.finish()?)
}

impl Failure {
    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "run {} of seed {} fails, with {} differences in {} frames\n",
            self.run, self.seed, self.mismatches, self.frames
        );
        for difference in &self.differences {
            text += &format!("  difference: {difference}\n");
        }
        text += &format!(
            "the first {} frames fail and are in {}; to play them, or the whole run:\n  {}\n  {}\n",
            self.failing_frames,
            self.capture.display(),
            self.replay,
            self.again
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_finds_the_frame_that_makes_the_difference() {
        for whole in 1..50 {
            for guilty in 1..=whole {
                let found = smallest_failing(whole, |frames| Ok::<_, ()>(frames >= guilty));
                assert_eq!(found, Ok(guilty));
            }
        }
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        let known = [
            ("build/fuzz-1-2.pcap", "build/fuzz-1-2.pcap"),
            ("my runs/a.pcap", "'my runs/a.pcap'"),
            ("it's", r"'it'\''s'"),
        ];
        for (path, word) in known {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }
}
