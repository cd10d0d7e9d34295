//! Standard output and standard error, without the panics of `print!`.
//!
//! A reader that has left (`| head -1`) is [`StdoutError::Closed`]: the command ends without a
//! word, with [`CLOSED_STATUS`]. A full disk is [`StdoutError::Write`], a line and status 2. What
//! standard error does not take is lost: there is no place left to say so.

use crate::names;
use std::io::{self, ErrorKind, Write};
use thiserror::Error;

/// Exit status of a command whose reader has left: that of one that SIGPIPE ends, for a shell.
pub const CLOSED_STATUS: u8 = 128 + 13;

/// Why standard output takes no more.
#[derive(Debug, Error)]
pub enum StdoutError {
    /// A pipe whose reader has left.
    #[error("the reader of standard output has left")]
    Closed,
    /// Anything else, such as a full disk.
    #[error("standard output: {0}")]
    Write(#[source] io::Error),
}

/// Print lines for people; names in them may be of anybody.
///
/// # Errors
/// [`StdoutError`]; the reader has all that was printed before.
pub fn print(text: &str) -> Result<(), StdoutError> {
    write(names::lines(text).as_bytes())
}

/// Write octets as they are: JSON, a capture.
///
/// # Errors
/// As [`print()`].
pub fn write(octets: &[u8]) -> Result<(), StdoutError> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(octets).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => StdoutError::Closed,
        _ => StdoutError::Write(error),
    })
}

/// Say something on standard error, if it can be said; `text` ends with its last line.
pub fn complain(text: &str) {
    let text = format!("{}\n", names::lines(text));
    // One call, so that lines of several threads do not mix.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
