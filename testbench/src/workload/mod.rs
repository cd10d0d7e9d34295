//! Captures from a described workload: what `rnic gen` writes.
//!
//! ```text
//!  Workload -> messages -> Sender -> damage_stream -> Cutter -> faults -> connections take turns
//!  describe    `------ connection, for each direction ------------'     `-- generate --> pcap
//! ```
//!
//! What enters is one [`Workload`]; what leaves is a capture file, a [`Summary`] of it and what
//! each direction said, to hold receivers against. A description with its seed is the whole of a
//! capture: the same gives the same octets. Contents, borders and faults draw from generators of
//! their own, so that a fault more leaves the messages as they are.
//!
//! A capture does not answer: no fault changes what is sent later but for the segments that
//! [`Resend`] asks for.
//!
//! - [`describe`]: the workload, its defaults and limits.
//! - [`oddity`]: occasional irregularities other than loss and bit errors.
//! - [`neighbours`]: keys that meet in the device's hash tables.
//! - [`odd_frames`]: frames that are odd.
//! - [`messages`]: what a direction says.
//! - [`places`]: where an FPDU's octets are in its stream.
//! - [`faults`]: stages over its segments.
//! - [`connection`]: both directions, from SYN to FIN.
//! - [`mod@generate`]: connections in turns, the file, the summary.

pub mod describe;
pub mod oddity;
pub mod purpose;
pub mod neighbours;
pub mod odd_frames;
pub mod messages;
pub mod places;
pub mod faults;
pub mod connection;
pub mod generate;

pub use describe::WorkloadError;
pub use describe::{Faults, Field, Interleave, IpFamily, Markers, Mix, Resend, Workload};
pub use faults::Injected;
pub use generate::{generate, Generation, Summary};
pub use messages::SentMessage;
pub use oddity::Oddity;
