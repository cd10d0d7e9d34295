//! A file system in registered memory: what `nfs_server` serves. It knows nothing of RPC or RDMA
//! but the [`Place`] that a piece of a file has, and can lend it.
//!
//! ```text
//!  Files: nodes by FileId, limits -----> Directory: names, in the order of stable cookies
//!    |
//!    `--> Content: segments of 1 MiB, each a hole or a run of memory
//!            |
//!            `--> Arena: runs of 4 KiB to 1 MiB; one that is lent stays until it is given back
//! ```
//!
//! A piece that is read is lent to whoever sends it. What is written meanwhile goes into a copy, so
//! that TCP may send the lent octets again (RFC 5041 leaves them to the sender until then).
//!
//! | file        | what                                                      |
//! |-------------|-----------------------------------------------------------|
//! | `arena`     | runs of memory, and loans of them                         |
//! | `content`   | the octets of a file, with holes                          |
//! | `directory` | names of a directory                                      |
//! | `node`      | what a file, a directory or a symbolic link is            |
//! | `tree`      | nodes by number: attributes, octets, limits               |
//! | `names`     | operations on names: make, remove, rename, link           |
//! | `error`     | why an operation is refused                               |
//!
//! [`Place`]: rpcrdma::place::Place

mod arena;
mod content;
mod directory;
mod error;
mod names;
mod node;
mod tree;

pub use arena::{Arena, Loan, PAGE_OCTETS, RUN_OCTETS_MAX};
pub use content::{Memory, Piece, Source};
pub use directory::Entry;
pub use error::Error;
pub use names::New;
pub use node::{Attributes, Kind, Owner, SetAttributes, Time};
pub use tree::{FileId, Files, Limits, Usage};

/// Octets of the longest name.
pub const NAME_OCTETS_MAX: usize = 255;
/// Octets of the longest path of a symbolic link.
pub const PATH_OCTETS_MAX: usize = 4095;
/// Octets of the largest file: memory bounds what is in it, not its holes.
pub const FILE_OCTETS_MAX: u64 = 1 << 43;
/// Names of a file.
pub const LINKS_MAX: u32 = 1024;

#[cfg(test)]
mod tests;
