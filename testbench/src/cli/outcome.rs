//! How a command ends.

/// How a command ended without being at fault itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All good.
    Good,
    /// A difference, a failed check, or a figure below its goal.
    Bad,
}

/// Why a command could not be carried out, in one line for its user.
pub(crate) type Failure = Box<dyn std::error::Error>;
