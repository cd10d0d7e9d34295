//! Completion queue entries, alike in all queues: 32 octets, eight little-endian doublewords.
//!
//! | word | Receive | ReadResponse | Error |
//! |---|---|---|---|
//! | 0 | 3:0 kind, 7:4 RDMAP opcode, 9:8 QN, 31:16 connection | same, QN 0 | same, opcode and low bits of QN as received; 10 T, 11 L, 13:12 DV, 15:14 RV |
//! | 1 | MSN | STag | 3:0 layer, 7:4 error type, 15:8 error code, 31:16 ULPDU_Length |
//! | 2 | message length, octets | TO after the last octet, low half | sequence number of the FPDU's first octet |
//! | 3 | Invalidate STag, 0 for other opcodes | high half of that TO | STag, or Invalidate STag |
//! | 4 | sequence number after the FPDU | same | tagged: high half of TO; untagged: QN |
//! | 5 | 10:0 pool entry of the buffer | 10:0 pool entry of the read | low half of TO; MSN |
//! | 6 | 0 | 0 | 0; MO |
//! | 7 | 31 phase, 30:0 number of the entry in its queue | same | same |
//!
//! An Error entry holds the refused segment's DDP header without its reserved bits, for use in a
//! Terminate (RFC 5040 section 4.8). The fields are 0 without a valid header: if the layer is
//! MPA's, or ULPDU_Length is less than 18 octets (untagged header) or, with T, 14 octets (tagged
//! header). ULPDU_Length itself, in word 1, is what was received, in an error of MPA too: there
//! nothing vouches for it, and the other fields of the header, opcode and QN are 0.
//!
//! The phase is 1 on the first pass over the queue and inverts at each wrap. The device writes an
//! entry as one TLP, after everything it announces. Entry `n` is at base + (n mod entries) * 32.
//!
//! A queue without room loses no entry in silence and stops nobody else. The device numbers entries
//! when it checks an FPDU, before anything of it is placed; one that calls for an entry where
//! `entries` of them are not consumed is refused (`StreamError::CqOverflow`) and stops its own
//! connection. So a driver that gives each queue an entry for every posted buffer, every
//! outstanding read and one error of each connection meets no overflow.

/// Octets of an entry.
pub const CQE_OCTETS: usize = 32;
/// An untagged message is complete in its buffer.
pub const KIND_RECEIVE: u32 = 1;
/// The last segment of an RDMA Read Response has been placed.
pub const KIND_READ_RESPONSE: u32 = 2;
/// The connection is in its error state; the device places nothing more of it.
pub const KIND_ERROR: u32 = 3;
/// Phase bit, in word 7.
pub const PHASE: u32 = 1 << 31;
