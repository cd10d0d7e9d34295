//! Errors that keep a co-simulation from starting.

use std::path::PathBuf;
use thiserror::Error;

/// A failure to build or load the verilated core.
#[derive(Debug, Error)]
pub enum SimError {
    /// The tools are not installed.
    #[error("{path} is missing: run `make tools` in the project's folder once")]
    ToolMissing {
        /// The missing file.
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
        /// The lint's findings.
        reason: String,
    },
    /// A tool ran and failed.
    #[error("{tool} failed; its output is in {log}:\n{tail}")]
    ToolFailed {
        /// The tool.
        tool: String,
        /// File with its complete output.
        log: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// The environment selects a mutant incorrectly.
    #[error("{variable}: {reason}")]
    Mutant {
        /// The environment variable at fault.
        variable: &'static str,
        /// The reason, and what to do.
        reason: String,
    },
    /// The core does not support the data path width.
    #[error("there is no core of width {0}: use 64, 128 or 512")]
    Width(usize),
    /// A file operation failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The built library does not load.
    #[error("{path} does not load: {reason}; remove it, and the next run builds it again")]
    Load {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}
