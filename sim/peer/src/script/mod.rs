//! Cases as data: what the peer does, what the standard asks for then, and what came.
//!
//! ```text
//!  TOML --> file --> Case {before, steps, expect} --> play --> Outcome --> judge --> Verdict
//!                      steps: step <-- frames, segment          |
//!                                      hear <-- what came ------+
//! ```
//!
//! | file       | what                                                    |
//! |------------|---------------------------------------------------------|
//! | `step`     | what the peer can do, as it stands in a file            |
//! | `expect`   | how a case can end, and what the standard asks for      |
//! | `case`     | a case, and checks of what it says                      |
//! | `file`     | files of cases; errors with their line and their case   |
//! | `embedded` | the cases of this program                               |
//! | `state`    | a connection of a case: numbers, regions, what was sent |
//! | `frames`   | start-up frames, good and malformed                     |
//! | `segment`  | FPDUs, good and malformed                               |
//! | `hear`     | what is waited for                                      |
//! | `play`     | a case from its connection to its outcome               |
//! | `verdict`  | what the outcome is worth                               |

mod step;
mod expect;
mod case;
mod file;
mod embedded;
mod state;
mod frames;
mod segment;
mod hear;
mod play;
mod verdict;

pub use case::{Case, Role, TargetKind};
pub use embedded::embedded;
pub use expect::{Expectation, Outcome};
pub use file::{parse, FileError};
pub use play::{Played, Player, Targets};
pub use verdict::{judge, Verdict};
