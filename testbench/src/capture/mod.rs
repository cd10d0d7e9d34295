//! Captures: frames out of files, and what a device must know of the flows in them.
//!
//! - [`mod@file`]: pcap and pcapng, plain or gzip, into whole Ethernet frames.
//! - [`reassembly`]: octets of one TCP direction in order, however they arrived.
//! - [`startup`]: MPA Request and Reply frames (RFC 5044 section 7.1, RFC 6581 section 9).
//! - [`flow`]: the flows of a capture, and what must be set up for each before it is played.

pub mod file;
pub mod reassembly;
pub mod startup;
pub mod flow;
mod learn;

pub use file::{parse, read, Capture, CaptureError};
pub use flow::{flows, Flow, Message, RegionUse, StartupOverride};
