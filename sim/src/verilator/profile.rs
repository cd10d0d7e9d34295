//! Profile-guided builds: clang lays the model's code out for the paths that a training run takes.
//!
//! ```text
//!  C++ of the model -> instrumented library -> training run -> counts of each branch
//!        |                                                            | llvm-profdata
//!        +--------------> library  <----------------------------------+
//! ```
//!
//! A simulated cycle is one sweep through code that does not fit the instruction cache, and most
//! branches of it go the same way in nearly every cycle: with their counts known, what seldom runs
//! leaves the lines that are fetched in each cycle. The simulated values are the same.
//!
//! The model is compiled twice, so this pays only for long runs.
//!
//! | enters | generated C++, a run to train with, clang and its `llvm-profdata`    |
//! | leaves | the profile, and the flag by which the second compilation uses it    |

use super::command::{compile, link, run, GUIDED_FLAGS};
use super::compiler::{Compiler, Profiler};
use crate::error::SimError;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Counts of the training, stored next to the library that they guided.
const PROFILE: &str = "model.profdata";
/// What an instrumented library writes as its model is closed (`shim.rs`).
const COUNTS: &str = "model.profraw";
/// Its name differs from the finished library's, as both are loaded by one process.
const INSTRUMENTED: &str = "librnic_training.so";

/// A run that a long one resembles, on the library that it is given.
#[derive(Clone, Copy)]
pub struct Training<'a>(pub &'a dyn Fn(&Path));

impl fmt::Debug for Training<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Training")
    }
}

/// Was `library`, built by [`build`](super::build()), guided by a profile?
pub fn is_guided(library: &Path) -> bool {
    library.with_file_name(PROFILE).exists()
}

/// Train an instrumented build in `work`. Its objects are removed again, so that the next
/// compilation there makes those that use the profile.
pub(super) fn train(
    work: &Path,
    compiler: &Compiler,
    profiler: &Profiler,
    training: Training,
) -> Result<(), SimError> {
    const INSTRUMENT: &str = "-fprofile-instr-generate";
    compile(work, compiler, GUIDED_FLAGS, &[INSTRUMENT.to_owned()])?;
    let counts = format!("-DRNIC_TRAINING={:?}", work.join(COUNTS));
    let flags = [INSTRUMENT.to_owned(), counts];
    link(work, compiler, &flags, INSTRUMENTED, false)?;
    training.0(&work.join(INSTRUMENTED));
    let mut merge = Command::new(&profiler.command);
    merge.args(["merge", "-o", PROFILE, COUNTS]);
    run(&profiler.command, merge, work)
}

/// Remove what [`train`] compiled, and with `all` the profile too.
pub(super) fn clean(work: &Path, all: bool) -> Result<(), SimError> {
    let io = |source| SimError::Io {
        path: work.to_path_buf(),
        source,
    };
    for entry in fs::read_dir(work.join("obj")).map_err(io)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let compiled = name.ends_with(".o") && !name.contains("Slow");
        let header = name.ends_with(".fast.gch");
        if name.starts_with("Vrnic") && (compiled || header) || name == "libVrnic.a" {
            fs::remove_file(entry.path()).map_err(io)?;
        }
    }
    let trained = [COUNTS, INSTRUMENTED].into_iter();
    for name in trained.chain(all.then_some(PROFILE)) {
        let path = work.join(name);
        if path.exists() {
            fs::remove_file(path).map_err(io)?;
        }
    }
    Ok(())
}

/// The flag that uses the profile, from a folder from which `work` is `above`.
pub(super) fn use_flag(above: &str) -> String {
    format!("-fprofile-instr-use={above}{PROFILE}")
}
