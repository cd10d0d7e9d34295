//! Rings in memory that the device and the driver share.
//!
//! ```text
//!  device --> completion queues -----> Completion
//!         --> event ring ------------> Event
//!         --> host ring -------------> frames for the host's own stack
//!  driver --> transmit rings: TransmitFrame --> device --> Transmitted
//! ```

mod ring;
mod completion;
mod terminate;
mod completion_ring;
mod completion_queues;
mod event;
mod event_ring;
mod host_ring;
mod transmit_frame;
mod copy_area;
mod transmit_ring;

pub use completion::{Completion, RefusedHeader};
pub(crate) use completion_queues::{check_size, CompletionQueues};
pub use event::{Event, Reason, Reasons};
pub(crate) use event_ring::EventRing;
pub(crate) use host_ring::HostRing;
pub use transmit_frame::{InsertChecksum, InsertCrc, Piece, TransmitFrame};
pub(crate) use transmit_ring::UnitRing;
pub use transmit_ring::{TransmitResult, Transmitted};
