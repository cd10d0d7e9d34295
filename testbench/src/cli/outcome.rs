//! How a command ends.

/// Outcome of a command that could be carried out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All good.
    Good,
    /// A difference, a failed check, or a figure below its goal.
    Bad,
    /// An input could not be used; why was said.
    Unusable,
}

/// Why a command could not be carried out, in one line for the user.
pub(crate) type Failure = Box<dyn std::error::Error>;
