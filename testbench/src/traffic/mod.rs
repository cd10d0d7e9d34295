//! Traffic: a plain iWARP sender, for benches, tests and generated captures.
//!
//! ```text
//!  message -> DDP segments -> FPDUs -> octet stream -> TCP segments -> frames -> capture file
//!     `-------- sender ---------'           `-- cutter --'   `- frame -'   `rnic_capture'
//! ```
//!
//! It is written from the specifications on top of `rnic-wire`, and shares nothing with the model.
//! Nothing is random unless the caller hands in a generator: a seed is the whole of a run.
//!
//! - [`sender`]: messages of one direction become FPDUs with or without markers and CRC.
//! - [`cutter`]: the stream becomes TCP segments, aligned to FPDUs or not.
//! - [`frame`]: segments become Ethernet frames with up to two VLAN tags, IPv4 or IPv6.
//! - [`conversation`]: a whole connection, from SYN over the MPA start-up to FIN, both directions.
//! - [`captures`]: the generated captures of this repository.

pub mod sender;
pub mod cutter;
pub mod frame;
pub mod conversation;
pub mod captures;

pub use conversation::{startup_frame, Conversation, Side};
pub use cutter::Cutter;
pub use frame::{Endpoint, FrameBuilder};
pub use sender::{Sender, SentFpdu, StreamConfig};
