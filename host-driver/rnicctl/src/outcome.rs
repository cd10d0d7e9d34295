//! How a command ends.

/// Outcome of a command that could be carried out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All good.
    Good,
    /// A check failed.
    Bad,
}

/// Why a command could not be carried out, in one line for the user.
pub(crate) type Failure = Box<dyn std::error::Error>;
