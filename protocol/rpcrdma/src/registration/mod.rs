//! Memory that the transport borrows, and windows on memory for one call.
//!
//! ```text
//!   Pool       sinks of read chunks, long messages      shares: nobody takes the last half
//!   Exposures  one window a chunk, for one call         expose -> peer -> invalidated | revoked
//! ```
//!
//! A chunk is one window of exactly its octets with the least right, and never valid after its
//! call (RFC 5666 section 7, RPC-039). Whether a provider binds a window or renews a region of its
//! own is behind [`Verbs::expose`](crate::verbs::Verbs::expose). Where entries run out a call
//! gives back what it has and waits, so that no two calls wait for each other.
mod exposures;
mod pool;
mod sink;

pub(crate) use exposures::Exposures;
pub use pool::Pool;
pub(crate) use sink::{lay_out, sink_octets, ReadJob};
