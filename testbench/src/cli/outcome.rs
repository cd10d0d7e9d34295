//! How a command ends.

use rnic_output::{is_closed, stdout};
use std::process::ExitCode;

/// Outcome of a command that could be carried out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All good.
    Good,
    /// A difference, a failed check, or a figure below its goal.
    Bad,
    /// Some of the input could not be used, which was said.
    Unusable,
    /// A signal has ended it early, which was said.
    Interrupted,
}

/// Why a command could not be carried out, in one line for the user.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Say why a command could not be carried out; its status. If the reader of its output has left,
/// nobody waits for a word.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    if is_closed(failure.as_ref()) {
        return ExitCode::from(stdout::CLOSED_STATUS);
    }
    // Some have several lines, such as what a compiler said; none of them looks like one of ours.
    let failure = failure.to_string().trim_end().replace('\n', "\n  ");
    stdout::complain(&format!("rnic: {failure}"));
    ExitCode::from(2)
}
