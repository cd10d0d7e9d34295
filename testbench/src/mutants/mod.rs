//! Mutants: single changes of the emitted Verilog that the project's checks must notice.
//!
//! ```text
//!  mutants.toml -> table -> text: one Verilog with all changes -> one library -> checks, each a
//!                             |                                                 child process
//!                             +---> one Verilog with one change -> proofs, for what survives
//! ```
//!
//! - [`table`]: what a row is, and how the file is read.
//! - [`text`]: changes in the core's text, all of them selectable, or one for good.
//! - [`checks`]: playback, a driver's program, fuzz, attacks, proofs: commands with time limits.
//! - `time`: what a child has used of them.
//! - [`campaign`]: every mutant through the checks until one catches it.
//! - [`report`]: rows and sums for people, and as JSON.

pub mod table;
pub mod text;
pub mod checks;
mod time;
pub mod campaign;
pub mod report;

use std::path::PathBuf;
use thiserror::Error;

/// What keeps mutants from being made or run.
#[derive(Debug, Error)]
pub enum MutantError {
    /// The table cannot be read.
    #[error("{path}: {reason}")]
    Table {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A row of the table does not fit the emitted text.
    #[error("mutants.toml: mutant {number}, \"{name}\": {reason}")]
    Row {
        /// Its number.
        number: u16,
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// `--only` names nothing.
    #[error("--only {0}: mutants.toml has no such mutant")]
    Unknown(String),
    /// The core cannot be emitted or built.
    #[error(transparent)]
    Core(#[from] rnic_sim::SimError),
    /// A tool of the run cannot be started or fails.
    #[error("{tool}: {reason}")]
    Tool {
        /// Which one.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A check fails on the sound core, so that it shows nothing about a mutant.
    #[error("{check} fails without any mutant: {message}; fix that first")]
    Unsound {
        /// The check.
        check: String,
        /// Its message.
        message: String,
    },
}
