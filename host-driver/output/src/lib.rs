//! What a command prints, and the files that it writes for its user: of `rnic` and `rnicctl`.
//!
//! ```text
//!  text for people --> names (no control characters) --> stdout --> closed pipe, full disk: errors
//!  --json, --out --> Claims (no input, no capture) --> Output --> beside the file, then renamed
//!                                                         `-----> pipe, device, terminal: written
//! ```
//!
//! Nothing here panics on what a file system or a reader does.
#![deny(missing_docs)]

pub mod names;
pub mod stdout;
pub mod temporary;
mod magic;
mod target;
mod claims;
mod output;

pub use claims::Claims;
pub use names::shown;
pub use output::{is_closed, Output, OutputError};
pub use stdout::StdoutError;
