//! Captures: frames out of files, and what a device must know of the flows in them.
//!
//! - [`mod@file`]: pcap and pcapng, plain or gzip, into whole Ethernet frames.
//! - [`reassembly`]: octets of one TCP direction in order, however they arrived.
//! - [`startup`]: MPA Request and Reply frames (RFC 5044 section 7.1, RFC 6581 section 9).
//! - [`segment`]: TCP segments of frames.
//! - [`flow`]: a flow, and what must be set up before it is played.
//! - [`connections`]: the flows of a capture.
//! - [`plan`]: which device plays which frames and flows, and what these share.
//! - [`pcap`]: frames into a capture file.
//!
//! Nothing here is the model's: a parser fault of the oracle must not choose what is played. Frames
//! are read by `etherparse`, FPDUs and DDP segments by `rnic-wire`.
#![deny(missing_docs)]

pub mod file;
pub mod reassembly;
pub mod startup;
pub mod segment;
pub mod flow;
mod learn;
pub mod connections;
pub mod plan;
pub mod pcap;

pub use connections::flows;
pub use file::{parse, read, Capture, CaptureError};
pub use flow::{Flow, Message, RegionUse, StartupOverride};
