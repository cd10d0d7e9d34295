//! Event ring: what a TCP sender in software needs to know of received segments. Entries of 32
//! octets, eight little-endian doublewords.
//!
//! | word | bits | meaning |
//! |---|---|---|
//! | 0 | 8:0 | reasons, one bit each: [`IN_ORDER`] and the following |
//! | 0 | 9 | a FIN with payload has arrived; it takes effect once rcv_nxt is what word 6 says |
//! | 0 | 10 | words 4 and 5 name a range |
//! | 0 | 15:11 | received ranges beyond rcv_nxt, 0..=16 |
//! | 0 | 31:16 | connection |
//! | 1 | | rcv_nxt: octets of payload alone, as in table `TCP`; a FIN does not count |
//! | 2 | | the highest SEG.ACK of the acceptable segments since the connection's last event; without such a segment that of the last one, as table `TCP` has it |
//! | 3 | 15:0 | SEG.WND of that segment, unscaled; of several with this SEG.ACK that of the last |
//! | 3 | 23:16 | segments that call for an immediate duplicate ACK, modulo 256, as table `OUT_OF_ORDER` has them |
//! | 3 | 31:24 | duplicate ACKs received ([`ACK_REPEATED`]), modulo 256 |
//! | 4 | | sequence number of the first octet of the range that changed last, if it is still beyond rcv_nxt: the first SACK block (RFC 2018 section 4); otherwise 0 |
//! | 5 | | sequence number after its last octet; otherwise 0 |
//! | 6 | | with bit 9 of word 0: sequence number of the first FIN that came with payload, after the last octet of that; otherwise 0 |
//! | 7 | 31 | phase |
//! | 7 | 30:0 | number of the entry |
//!
//! A connection has at most one event pending: what happens before it is written joins it. Reasons
//! are those since the connection's last event, and so is SEG.ACK; the other numbers are the
//! connection's when the entry is composed, at least as new as every segment among the reasons. The
//! counters are cumulative since the TCP context was written. An entry of an earlier connection
//! with the same id is never composed after that write.
//!
//! SEG.ACKs are compared in the order in which the segments arrived, by the sign of their
//! difference modulo 2^32 (RFC 9293 section 3.4): a segment takes the place of the one before
//! unless its SEG.ACK is before it. The device does not know SND.NXT: an acceptable segment may
//! acknowledge what was never sent. As the next event begins anew, it hides no SEG.ACK of a later
//! one; within an event the segments that it hides are acknowledged again by the next segment of
//! the peer.
//!
//! The device takes octets after a FIN as others: that there are any is for software to judge, by
//! rcv_nxt and the range (RFC 5041 section 6.2.1). A FIN without payload goes to the host ring.
//!
//! The phase is 1 on the first pass over the ring and inverts at each wrap. The device writes an
//! entry as one TLP. While the ring is full, events are pending; nothing else waits for it.

/// Octets of an entry.
pub const EVENT_OCTETS: usize = 32;
/// Phase bit, in word 7.
pub const PHASE: u32 = 1 << 31;

/// Octets were accepted in order. Alone it raises an event with every second segment, or later, if
/// register `EVENT_DELAY_LOG2` says so; every other reason raises one at once.
pub const IN_ORDER: u32 = 1 << 0;
/// Octets were accepted beyond a gap.
pub const OUT_OF_ORDER: u32 = 1 << 1;
/// Nothing of a segment was accepted: a duplicate, one outside of the window, or one without room.
/// Also a segment without payload that is not acceptable, which does not count in word 3.
pub const NOT_ACCEPTED: u32 = 1 << 2;
/// Octets were accepted in order while there were ranges (RFC 5681 section 4.2).
pub const GAP_FILLED: u32 = 1 << 3;
/// A segment with PSH was accepted, at least in part.
pub const PUSH: u32 = 1 << 4;
/// SEG.ACK or SEG.WND changed.
pub const ACK: u32 = 1 << 5;
/// An acceptable segment without payload repeated SEG.ACK and SEG.WND (RFC 5681 section 2).
pub const ACK_REPEATED: u32 = 1 << 6;
/// A FIN with payload was accepted, and all of that payload.
pub const FIN: u32 = 1 << 7;
/// The connection's first FPDU passed all checks: from now on a responder may send FPDUs.
pub const FIRST_FPDU: u32 = 1 << 8;
/// Number of reasons.
pub const REASONS: usize = 9;

/// Bit of word 0: a FIN with payload has arrived.
pub const FIN_SEEN: u32 = 1 << 9;
/// Bit of word 0: words 4 and 5 name a range.
pub const HAS_RANGE: u32 = 1 << 10;
/// Lowest bit of the number of ranges in word 0.
pub const RANGES_SHIFT: u32 = 11;
