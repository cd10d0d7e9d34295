//! Captures: frames out of files, and what a device must know of the flows in them.
//!
//! - [`load`]: a capture as users have it, ready to be played.
//! - [`mod@file`]: pcap and pcapng, plain or packed, of several link types, into Ethernet frames.
//! - `reader`: the frames of packets, and which are left out.
//! - `repair`: what the sender's card was to do.
//! - `track`, [`connections`]: TCP connections and their flows.
//! - `why`, `shape`, `bad_checksums`: why there is none.
//! - [`reassembly`]: octets of one TCP direction in order, however they arrived.
//! - [`startup`]: MPA Request and Reply frames (RFC 5044 section 7.1, RFC 6581 section 9).
//! - [`segment`]: TCP segments of frames.
//! - [`flow`]: a flow, and what must be set up before it is played.
//! - [`plan`]: which device plays which frames and flows, and what these share.
//! - [`finding`]: what is said besides.
//! - [`pcap`], [`pcapng`]: frames into a capture file.
//!
//! Nothing here is the model's: a parser fault of the oracle must not choose what is played. Frames
//! are read by `etherparse`, FPDUs and DDP segments by `rnic-wire`.
#![deny(missing_docs)]

pub mod finding;
pub mod file;
mod reader;
mod bad_checksums;
mod repair;
pub mod reassembly;
pub mod startup;
pub mod segment;
pub mod flow;
mod learn;
mod shape;
mod track;
mod why;
pub mod connections;
pub mod load;
pub mod plan;
pub mod pcap;
pub mod pcapng;

pub use connections::flows;
pub use file::{parse, read, Capture, CaptureError};
pub use finding::Finding;
pub use flow::{Flow, Message, RegionUse, StartupOverride};
pub use load::{open, open_octets, Opened, ReadOptions};
