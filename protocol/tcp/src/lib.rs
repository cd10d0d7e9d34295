//! A TCP connection (to be continued).
#![deny(missing_docs)]
mod seq;
mod options;
mod segment;
mod congestion;
mod settings;
mod error;
mod rto; mod sender;
mod scoreboard;
pub use congestion::*;
pub use error::*;
pub use options::*;
pub use rto::*;
pub use scoreboard::*;
pub use segment::*;
pub use seq::SeqNumber;
pub use settings::*;
