//! MPA: from octets accepted in order to FPDUs that are whole, checked and free of markers.
//!
//! ```text
//! Accepted -> manager -> ReadJob -> (packet reader) -> joiner -> splitter -> strip -> placement buffer
//!                ^                                                  |  |
//!                +------------------- JobDone ----------------------+  +-> CRC32C, marker check -> record
//! ```
//!
//! | enters | leaves |
//! |---|---|
//! | `Accepted`, `HostFrame` from tcp; octets from packet memory | `FpduRecord` to ddp; octets without markers to placement |
//!
//! Errors found here travel in the record (`crc_good`, `marker_good`); ddp answers them, so that a
//! connection's errors are decided in one place. Sources: RFC 5044, and the older draft where MPA-011
//! names it.

pub mod inbox;
pub mod context;
pub mod manager;
pub mod joiner;
pub mod room;
pub mod splitter;
pub mod split_control;
pub mod window;
pub mod length;
pub mod cursor;
pub mod admission;
pub mod strip;
pub mod compact;
pub mod marker_check;
pub mod record;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
