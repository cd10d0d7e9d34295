//! The receive pipeline: frames in, memory-write TLPs out. Its rooms, in pipeline order:
//!
//! ```text
//! front_end -> packet -> tcp -> stream -> (packet's reader) -> fpdu -> ddp, stag -> placement
//! ```
pub mod front_end;
pub mod packet;
pub mod tcp;
pub mod stream;
pub mod fpdu;
pub mod ddp;
pub mod stag;
pub mod placement;
