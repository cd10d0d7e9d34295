//! Transmit rings: frames that the device gathers from host memory, sums, and sends.
//!
//! There are two rings of *units* of 32 octets in host memory: [`CONTROL`], whose frames go first,
//! and [`BULK`]. A frame takes one unit for its *head* and one for each two of its *elements*,
//! which say where its octets are. Units follow each other around the ring; a frame's may wrap. A
//! frame of one ring that begins first does not wait for the other ring; within a ring order is
//! kept.
//!
//! Head, eight little-endian doublewords:
//!
//! | word | bits | meaning |
//! |---|---|---|
//! | 0 | 15:0 | octets of the frame, from Ethernet's destination on, without FCS |
//! | 0 | 19:16 | elements, 1..=[`ELEMENTS_MAX`] |
//! | 0 | 20 | insert a checksum: words 1's fields are valid ([`INSERT_CHECKSUM`]) |
//! | 0 | 21 | insert a CRC32C: word 2's fields are valid ([`INSERT_CRC`]) |
//! | 0 | 31:22 | 0 |
//! | 1 | 15:0 | octet of the frame from which on the checksum is summed, to the frame's end |
//! | 1 | 31:16 | octet of the frame where the checksum stands, two octets |
//! | 2 | 15:0 | first octet of the frame that the CRC covers |
//! | 2 | 31:16 | octets that the CRC covers; it stands in the four octets after them |
//! | 3..=6 | | ignored: software's |
//! | 7 | | 0; the device writes a status here if it does not send the frame |
//!
//! Element, four little-endian doublewords: word 0 bus address, low half; word 1 its high half;
//! word 2 octets, 15:0; word 3 is ignored. The second element of a last unit may be unused.
//!
//! **Checksum** (RFC 1071): the two octets at its place hold what software summed already, for TCP
//! the ones' complement sum of the pseudo-header, not inverted. The device adds every 16-bit word
//! from the start octet to the end of the frame, a last odd octet as the high half of a word, and
//! writes the complement. It sums the CRC octets that it inserts, whatever stood there before.
//!
//! **CRC32C**: as MPA sends it (RFC 5044 section 4.4), the first octet being the least
//! significant one of the register. What stood in its place is ignored. It covers octets as
//! they are in memory: a checksum is inserted after it, and over it where their places meet.
//!
//! A head is *refused*, and its frame skipped, if
//! * the frame has fewer octets than [`FRAME_OCTETS_MIN`] or more than
//!   [`crate::limits::MAX_FRAME_OCTETS`],
//! * it has no element or more than [`ELEMENTS_MAX`], an element has no octets, or the elements
//!   together have not as many octets as the frame,
//! * the checksum's place passes the end of the frame, or lies before its start octet, or at
//!   an odd distance from it,
//! * the CRC covers no octet, or its place passes the end of the frame.
//!
//! The skipped units are the head's and those of as many elements as it says, up to 15. A frame of
//! which a read fails is not sent in any part; other reads of it may end later than its status.
//! Both get a status in word 7 of their head.
//!
//! **Indices** count units, modulo 2^32. A ring begins at a multiple of 4096, its report at a
//! multiple of 64; both addresses may change only while the ring is off and has
//! settled. Software writes units, then the tail. The device works at heads below the tail, and
//! waits where the tail cuts a frame's units. A tail more than the ring's units ahead of the head,
//! or after an earlier one, is not taken. When a frame's octets are all in the device, or it was
//! given up, the head index passes it; the device then writes the *report* of the ring,
//! [`REPORT_OCTETS`] octets as one TLP: word 0 the head index, word 1 the frames given up so far
//! (modulo 2^32), word 2 [`STOPPED`] or 0, word 3 zero. A report may stand for several frames. A
//! status is written before the report that passes its frame.
//!
//! If a read of units fails, the ring *stops*: frames whose units came before are sent, the others
//! are not. When the last of the former is over, a report says so; it is the last one, and the ring
//! does nothing until it is set up again. Writing `TX_UNITS_LOG2` sets up a ring: head, tail and
//! frames given up become 0. It drops what the device has fetched of the ring; frames whose octets
//! are all in the device are sent. Until the reads and writes that were under way have ended, the
//! ring *settles*: it takes doorbells, and does nothing else. After that no earlier status or
//! report follows.

/// The ring whose frames go first.
pub const CONTROL: u32 = 0;
/// The other ring.
pub const BULK: u32 = 1;
/// Transmit rings.
pub const RINGS: usize = 2;
/// Octets of a unit of a ring.
pub const UNIT_OCTETS: usize = 32;
/// Octets of an element.
pub const ELEMENT_OCTETS: usize = 16;
/// Most elements of a frame.
pub const ELEMENTS_MAX: usize = 8;
/// Fewest octets of a frame: Ethernet's header.
pub const FRAME_OCTETS_MIN: usize = crate::limits::MIN_FRAME_OCTETS;
/// log2 of the fewest units of a ring.
pub const UNITS_LOG2_MIN: u32 = 4;
/// log2 of the most units of a ring.
pub const UNITS_LOG2_MAX: u32 = 16;
/// Octets of a ring's report.
pub const REPORT_OCTETS: usize = 16;

/// Bit of word 0 of a head: insert a checksum.
pub const INSERT_CHECKSUM: u32 = 1 << 20;
/// Bit of word 0 of a head: insert a CRC32C.
pub const INSERT_CRC: u32 = 1 << 21;
/// Lowest bit of the number of elements in word 0 of a head.
pub const ELEMENTS_SHIFT: u32 = 16;
/// Word of a head where its status is written.
pub const STATUS_WORD: usize = 7;
/// Status: the head was refused.
pub const STATUS_REFUSED: u32 = 1;
/// Status: a read of the frame's octets failed.
pub const STATUS_READ_FAILED: u32 = 2;

/// Word 2 of a report: the ring has stopped.
pub const STOPPED: u32 = 1;

/// Units of a frame whose head says so many elements: `1 + (elements + 1) / 2`, rounded down.
pub const fn units(elements: u32) -> u32 {
    1 + elements.div_ceil(2)
}
