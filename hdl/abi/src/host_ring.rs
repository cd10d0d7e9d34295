//! Host receive ring: complete frames that belong to no offloaded connection.
//!
//! Slot `i` is at `base + (i << slot_octets_log2)`. A slot opens with a header of four
//! little-endian doublewords; the frame follows as received, without the FCS: word 0 frame octets,
//! words 1 and 2 zero, word 3 phase (bit 31) and slot number (bits 30:0). The header is written
//! after the frame, as one TLP. The phase is as in a completion queue.

/// Octets of the header of a slot.
pub const SLOT_HEADER_OCTETS: usize = 16;
/// Phase bit, in word 3.
pub const PHASE: u32 = 1 << 31;
