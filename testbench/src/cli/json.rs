//! Where a command writes its JSON: nowhere, standard output, or a file.

use crate::cli::outcome::Failure;
use rnic_output::{shown, Claims, Output};
use rnic_testbench::play::PlayError;
use serde::Serialize;
use std::io;
use std::path::Path;

/// Accepts one document per line.
#[derive(Debug)]
pub(crate) struct JsonSink(Option<Output>);

impl JsonSink {
    /// Opened before the work begins: an unwritable path fails at once. With `-` the command prints
    /// nothing else on standard output.
    pub(crate) fn open(claims: &mut Claims, path: Option<&Path>) -> Result<Self, Failure> {
        let output = path.map(|path| claims.output("--json", path));
        Ok(Self(output.transpose()?))
    }

    /// Is standard output reserved for the JSON?
    pub(crate) fn is_stdout(&self) -> bool {
        self.0.as_ref().is_some_and(Output::is_stdout)
    }

    /// Write one document.
    pub(crate) fn write(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        if let Some(output) = &mut self.0 {
            let text = serde_json::to_string(document)?;
            output.write(format!("{text}\n").as_bytes())?;
        }
        Ok(())
    }

    /// All documents are written.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        Ok(self.0.map_or(Ok(()), Output::finish)?)
    }

    /// As [`JsonSink::finish`], if the command ended early: an earlier report stays. What became of
    /// the file, for people.
    pub(crate) fn finish_early(self) -> Result<Option<String>, Failure> {
        self.0.map_or(Ok(None), finish_early)
    }
}

/// Ends an output early: where it was and what is there, for people; `None` for standard output.
pub(crate) fn finish_early(output: Output) -> Result<Option<String>, Failure> {
    if output.is_stdout() {
        return Ok(None);
    }
    let name = shown(output.path());
    Ok(Some(match output.keep_beside_earlier()? {
        true => format!("{name} has these"),
        false => format!("{name} is as it was before"),
    }))
}

/// A file or folder that cannot be used, and why.
pub(crate) fn unusable(path: &Path, error: &io::Error) -> PlayError {
    PlayError::Option(format!("{}: {error}", shown(path)))
}
