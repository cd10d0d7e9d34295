//! What the programs about connections share.
//!
//! ```text
//!  command line --> Options --> End: device, endpoint, Protection Domain
//!                                |-- connect, accept --> QueuePair --> Work: what has happened
//!                                `-- region
//! ```
//!
//! | file      | what                                                          |
//! |-----------|---------------------------------------------------------------|
//! | `options` | the command line: device, role, interface, MPA                |
//! | `address` | addresses as people write them                                |
//! | `record`  | frames into a capture                                         |
//! | `end`     | from an address to a queue pair, in both roles                |
//! | `work`    | completions and events of a queue pair, waited for together   |
//! | `failure` | what went wrong, with what to do next; exit status            |
//! | `figures` | what many durations have in common                            |
//! | `files`   | a file system in registered memory                            |
//! | `nfs`     | what clients and servers of NFSv3 say to each other           |
#![deny(missing_docs)]

pub mod address;
pub mod failure;
pub mod figures;
pub mod options;
mod record;
pub mod end;
pub mod work;
pub mod files;
pub mod nfs;
