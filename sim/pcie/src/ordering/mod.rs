//! Which packet may pass which, and a queue that does what is permitted and nothing else.
//!
//! - `table`: table 2-40 of section 2.4.1 as a function of two packets.
//! - `queue`: [`OrderedQueue`], one direction's packets on their way to the link.
//!
//! Source: PCI Express Base Specification 5.0, section 2.4.1.

mod table;
mod queue;

pub use queue::OrderedQueue;
pub use table::{passing, Category, Ordered, Passing};
