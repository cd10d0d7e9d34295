//! Why an operation is refused.

use thiserror::Error;

/// Why an operation is refused; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The file is gone.
    #[error("the file is gone")]
    Stale,
    /// There is no such name.
    #[error("there is no such name")]
    NotFound,
    /// The name is taken.
    #[error("the name is taken")]
    Exists,
    /// It is no directory.
    #[error("it is no directory")]
    NotDirectory,
    /// It is a directory.
    #[error("it is a directory")]
    IsDirectory,
    /// The directory has names.
    #[error("the directory is not empty")]
    NotEmpty,
    /// The memory of the files, or their number, is used up.
    #[error("no space is left")]
    NoSpace,
    /// The name or path is too long.
    #[error("the name is too long")]
    NameTooLong,
    /// The arguments make no sense.
    #[error("the arguments make no sense")]
    Invalid,
    /// The file would be too large.
    #[error("the file would be too large")]
    TooLarge,
    /// The file has as many names as it can have.
    #[error("the file has too many names")]
    TooManyLinks,
    /// It has changed since it was read.
    #[error("it has changed since it was read")]
    NotSynchronised,
}
