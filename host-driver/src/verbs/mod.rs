//! Ownership by types: memory, regions, windows and connections that cannot be freed while the
//! device may write them.
//!
//! [`Device`](crate::Device) takes ids and addresses, and leaves it to its user to free nothing too
//! early. Here each thing is an object that holds what it needs:
//!
//! ```text
//!  Context                    the device; reset when the last object of it has gone
//!    +- Memory                what the device may access
//!    +- ProtectionDomain      a number
//!    |    +- MemoryRegion     holds its memory and its domain
//!    |    |    +- MemoryWindow         holds its region
//!    |    +- Connection       holds its domain, its CompletionQueue, posted memory;
//!    |                        an outstanding read of it holds its region
//!    +- CompletionQueue       gives posted memory back
//!         +- CompletionEvents holds its queues and a vector: a file for any event loop
//! ```
//!
//! - **An object ends** with `close`, which says what went wrong and gives the object back, or when
//!   it is dropped. Both take the device's access away and wait until it writes nothing more:
//!   only then is the memory free, and the STag or number used again.
//! - **What others hold** lives until they have gone: `close` of it is refused and names them, and
//!   after a drop the last of them ends it.
//! - **A connection ends at once.** What is bound to it, regions and windows, is closed with it, as
//!   the device would otherwise give it to the next connection of that id. Their objects stay.
//! - **If the device does not answer**, memory that it may still write is kept: mapped, and used
//!   for nothing else, until the context has been closed with a reset that ended; otherwise until
//!   the process ends. A drop never panics for that.
//!
//! Objects may be used by several threads; a lock is held for one call at a time. There is no
//! thread and no runtime in here. An object that is leaked (`mem::forget`) keeps the device open.
//! Its memory stays with it, so nothing is written that was given to others.

mod refused;
mod rights;
mod frame_memory;
mod ledger;
mod holds;
mod completions;
mod connection_end;
mod place;
mod memory;
mod region;
mod window;
mod completion_queue;
mod connection;
mod protection_domain;
mod frames;
mod events;
mod context;
pub mod endpoint;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use completion_queue::{Completed, CompletionQueue, Received};
pub use connection::Connection;
pub use context::Context;
pub use events::CompletionEvents;
pub use frames::{Frame, Part, Piece};
pub use memory::{Memory, MemoryRefused};
pub use protection_domain::ProtectionDomain;
pub use refused::Refused;
pub use region::{MemoryRegion, RegionOptions};
pub use rights::Rights;
pub use window::{MemoryWindow, WindowOptions};
