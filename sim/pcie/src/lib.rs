//! A PCI Express transaction-layer model: root complex, endpoint, memory and a monitor.
#![forbid(unsafe_code)]

mod byte_enables;
pub mod check;
pub mod completer;
mod limits;
pub mod memory;
pub mod monitor;
pub mod requester;
pub mod root_complex;
pub mod split;
pub mod tlp;
mod violation;

pub use byte_enables::ByteEnables;
pub use check::Direction;
pub use completer::CompletionSplit;
pub use limits::{Limits, ReadCompletionBoundary, TransferSize};
pub use monitor::{Monitor, Record};
pub use requester::{Token, TransferError};
pub use root_complex::{Interrupt, RootComplex, RootComplexSettings};
pub use tlp::{octets_from_dwords, Bdf, Header, Kind, Length, Tlp};
pub use violation::Violation;
