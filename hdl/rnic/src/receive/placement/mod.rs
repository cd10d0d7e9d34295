//! Placement: payload and host frames leave the placement buffer as memory-write TLPs.
//!
//! ```text
//! command (PlaceCommand), placement beats --> PayloadWriter --> payload TLPs
//!                                                 | announcements
//!                                                 v
//!                                          CompletionWriter --> completion TLPs
//! ```
//!
//! Enters: one `PlaceCommand` for each FPDU or host frame in the placement buffer, and its beats in
//! the same order. Exactly `PlaceCommand::beats` beats are taken for each, whatever becomes of
//! them.
//!
//! Leaves: TLPs that stay inside one line of `128 << max_payload` octets, with exact byte enables;
//! entries of the completion queue and headers of host slots, each behind the octets it announces;
//! page chains of host frames, once their beats are taken. `last` on a TLP stream ends the TLP.
//!
//! | counter (bit of `counts`)   | when                                                        |
//! |-----------------------------|-------------------------------------------------------------|
//! | 0 `HostFrames`              | a frame and its slot header have been handed on             |
//! | 1 `DropHostRingFull`        | the frame fits a slot, but the ring is full or off          |
//! | 2 `DropHostFrameTooLong`    | frame and header are longer than a slot; tested first       |
//! | 3 `Completions`             | an entry of the completion queue has been handed on         |
//!
//! Latency: 15 cycles from command (beats waiting) to the first TLP beat, 5 more from the last
//! payload beat to the completion entry. A tagged segment of 70 octets with an entry takes 8 cycles
//! of the stream at D = 128. Sources: PCI Express Base Specification 2.2; `rnic_abi::{cqe,
//! host_ring}`.

pub mod aligner;
pub mod cqe;
pub mod fence;
pub mod mover;
pub mod plan;
pub mod room;
pub mod shaper;
pub mod slot;
pub mod splitter;
pub mod writer;

#[cfg(test)]
mod tests;
