//! A TCP connection (to be continued).
#![deny(missing_docs)]
mod seq;
pub mod options;
mod segment;
pub mod congestion;
pub mod settings;
mod error;
mod rto;
mod ranges;
mod scoreboard;
mod sender;
pub mod handover;
mod receiver;
mod time_wait;
mod output;
mod connection;
pub use congestion::Algorithm;
pub use connection::{Connection, Snapshot};
pub use error::{HandoverError, Lost, PushError};
pub use options::*;
pub use output::{Event, Output, ReceivedCounts, State, Statistics};
pub use segment::*;
pub use sender::{Record, SenderCounts};
pub use seq::SeqNumber;
pub use settings::{OutOfRange, Settings, TimeOut, TimeOuts};
