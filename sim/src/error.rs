//! What keeps a co-simulation from starting.

use std::path::PathBuf;
use thiserror::Error;

/// A failure to build or load the verilated core.
#[derive(Debug, Error)]
pub enum SimError {
    /// The tools are not installed.
    #[error("{path} is missing: run `make tools` in the project's folder once")]
    ToolMissing {
        /// What was looked for.
        path: PathBuf,
    },
    /// No C++ compiler runs.
    #[error("{named} is not installed: install clang (faster models) or g++, or name one in CXX")]
    CompilerMissing {
        /// What was looked for.
        named: String,
    },
    /// The core could not be emitted.
    #[error("the core of width {width} was not emitted: {reason}")]
    Emission {
        /// Data path width in bits.
        width: usize,
        /// The lint's words.
        reason: String,
    },
    /// A tool ran and failed.
    #[error("{tool} failed; its output is in {log}:\n{tail}")]
    ToolFailed {
        /// Which one.
        tool: String,
        /// Where its whole output is.
        log: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// The environment asks for a mutant in a way that cannot be met.
    #[error("{variable}: {reason}")]
    Mutant {
        /// The environment variable at fault.
        variable: &'static str,
        /// Why, and what to do.
        reason: String,
    },
    /// The data path width is none the core is built for.
    #[error("there is no core of width {0}: use 64, 128 or 512")]
    Width(usize),
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The built library does not load.
    #[error("{path} does not load: {reason}; remove it to have it built again")]
    Load {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
