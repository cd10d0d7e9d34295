//! Where a command writes its JSON: nowhere, stdout, or a file.

use crate::cli::outcome::Failure;
use rnic_testbench::play::PlayError;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Accepts one document per line.
pub(crate) enum JsonSink {
    /// No JSON requested.
    Nowhere,
    /// `-`: the command prints nothing else there.
    Stdout,
    /// A file, replaced, and its name.
    File(File, String),
}

impl JsonSink {
    /// Opened before the work begins: an unwritable path fails at once.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        Ok(match path {
            None => Self::Nowhere,
            Some(path) if path == Path::new("-") => Self::Stdout,
            Some(path) => {
                let file = File::create(path).map_err(|error| unusable(path, &error))?;
                Self::File(file, path.display().to_string())
            }
        })
    }

    /// Is stdout reserved for the JSON?
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Write one document.
    pub(crate) fn write(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(document)?;
        match self {
            Self::Nowhere => {}
            Self::Stdout => writeln!(io::stdout(), "{text}")?,
            Self::File(file, name) => {
                writeln!(file, "{text}").map_err(|error| unusable(Path::new(name), &error))?;
            }
        }
        Ok(())
    }
}

/// A file or folder that cannot be used, and why.
pub(crate) fn unusable(path: &Path, error: &io::Error) -> PlayError {
    PlayError::Option(format!("{}: {error}", path.display()))
}
