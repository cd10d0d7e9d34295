//! BAR0: 32-bit little-endian registers. A request may read any octets, and write any number of
//! doublewords; one that is not written whole keeps its value. MSI-X has a part of BAR0 of its own
//! ([`crate::interrupts`]).
//!
//! Ignored are a write of a value that a register does not allow, of a register that is only read,
//! of an offset without a register (it reads as 0), and every write while `CONTROL_RESET` reads as
//! `1`. Bits that are not named read as 0. A read is answered after the writes before it have taken
//! effect. An access that follows a [`POST`], or a table operation that is *short*
//! (see [`crate::tables`]), waits in the device until that is done, which takes
//! [`HOLD_CYCLES_MAX`] at most and does not depend on what the device sends.
use crate::limits::{IN_ORDER_PAGES, PAGES};

/// Size of BAR0 in octets.
pub const BAR0_OCTETS: u64 = 4096;

/// Identity: reads as [`IDENTITY_VALUE`].
pub const IDENTITY: u32 = 0x000;
/// Value of [`IDENTITY`]: `FWRP` in ASCII, first letter in the low octet.
pub const IDENTITY_VALUE: u32 = u32::from_le_bytes(*b"FWRP");
/// Revision of this map: 2 since it has a reset, 3 since it has several completion queues, 4 since
/// it has a posting port.
pub const REVISION: u32 = 0x004;
/// Value of [`REVISION`].
pub const REVISION_VALUE: u32 = 4;
/// Capabilities: bits 9:0 the frame data path width in bits, 25:16 the internal width in bits;
/// 13:10 log2 of the number of connections, 29:26 log2 of that of regions ([`crate::sizes`]).
pub const CAPABILITIES: u32 = 0x008;
/// Pages of packet memory.
pub const PACKET_PAGES: u32 = 0x00c;
/// Control, see [`CONTROL_ENABLE`] and [`CONTROL_RESET`].
pub const CONTROL: u32 = 0x010;
/// Frames are accepted; while clear every frame is dropped and counted.
pub const CONTROL_ENABLE: u32 = 1 << 0;
/// Written as 1: resets the device. Reads as 1 until the device is ready, after power-up and the
/// reset pin too; until then every write of a register is ignored, so wait for 0 first.
pub const CONTROL_RESET: u32 = 1 << 1;
/// PCI Express maximum payload size: 0 for 128 octets, 1 for 256, 2 for 512; other values are
/// ignored. Not more than Device Control allows, in configuration space.
pub const MAX_PAYLOAD: u32 = 0x014;
/// Free pages of packet memory (read only).
pub const FREE_PAGES: u32 = 0x018;

/// Completion queues that had no room for an entry. Bit `q` is set when an entry of queue `q` is
/// lost: its connection has stopped (`StreamError::CqOverflow`), or has stopped with an error that
/// no entry reports. Cleared when `CQ_ENTRIES_LOG2` of that queue is written, and by a reset (read
/// only).
pub const CQ_OVERFLOW: u32 = 0x020;

/// Host receive ring: bus address, low half; a multiple of 4096.
pub const HOST_RING_BASE_LOW: u32 = 0x040;
/// Host receive ring: bus address, high half.
pub const HOST_RING_BASE_HIGH: u32 = 0x044;
/// Host receive ring: log2 of its slots, 1..=16; 0 switches it off (frames for it are dropped);
/// other values are ignored. A write does not restart [`HOST_RING_PRODUCER`]: the next slot is
/// number `producer`, at `producer` modulo the slots. Only a reset makes it 0. Write address, slot
/// size and consumer first, this register last, and address and slot size only while it is 0.
pub const HOST_RING_SLOTS_LOG2: u32 = 0x048;
/// Host receive ring: log2 of the octets of one slot, 7..=14; other values are ignored. Its frame
/// has 16 octets less. Value after reset: [`HOST_RING_SLOT_OCTETS_LOG2_FIRST`].
pub const HOST_RING_SLOT_OCTETS_LOG2: u32 = 0x04c;
/// First value of [`HOST_RING_SLOT_OCTETS_LOG2`]: 16,384 octets, which take the longest frame.
pub const HOST_RING_SLOT_OCTETS_LOG2_FIRST: u32 = 14;
/// Host receive ring: slots the driver has consumed, modulo 2^32.
pub const HOST_RING_CONSUMER: u32 = 0x050;
/// Host receive ring: slots the device has filled, modulo 2^32 (read only).
pub const HOST_RING_PRODUCER: u32 = 0x054;

/// Pages of packet memory that segments beyond rcv_nxt of all connections may hold together. Bits
/// 9:0; a value above [`OUT_OF_ORDER_PAGES_MAX`] counts and reads as that, which is also the value
/// after reset.
pub const OUT_OF_ORDER_PAGES: u32 = 0x05c;
/// The same limit for each connection.
pub const OUT_OF_ORDER_SHARE: u32 = 0x060;
/// Largest value of [`OUT_OF_ORDER_PAGES`] and [`OUT_OF_ORDER_SHARE`].
pub const OUT_OF_ORDER_PAGES_MAX: u32 = (PAGES - IN_ORDER_PAGES) as u32;

/// Reserve of packet memory for segments in order. Bits 9:0: its pages; while fewer are free, only
/// one connection at a time, the *owner*, gets pages, and only to complete its FPDU; 0 switches
/// the reserve off. Bits 20:16: log2 of the cycles without an accepted segment after which the
/// owner loses it. Bits 30:21: pages of the reserve, if more, once two streams have sent FPDUs of
/// [`LONG_FPDU_OCTETS`] or more ([`IN_ORDER_RESERVE_GROWN`]), until reset or until this register is
/// written; with 0 in bits 9:0 it stays off. Value after reset: [`IN_ORDER_RESERVE_FIRST`].
pub const IN_ORDER_RESERVE: u32 = 0x064;
/// Lowest bit of the log2 of cycles in [`IN_ORDER_RESERVE`].
pub const IN_ORDER_RESERVE_HOLD_SHIFT: u32 = 16;
/// Lowest bit of the pages for long FPDUs in [`IN_ORDER_RESERVE`].
pub const IN_ORDER_RESERVE_LONG_SHIFT: u32 = 21;
/// Bit of [`IN_ORDER_RESERVE`] when read: two streams have sent long FPDUs. Not writable.
pub const IN_ORDER_RESERVE_GROWN: u32 = 1 << 31;
/// Octets, markers and CRC included, from which on an unfinished FPDU counts as long: a shorter one
/// fits [`IN_ORDER_RESERVE_PAGES_FIRST`] in segments of any size from 52 octets up.
pub const LONG_FPDU_OCTETS: u32 = 4096;
/// First value of the pages in [`IN_ORDER_RESERVE`]: twice the longest frame, and six pages.
pub const IN_ORDER_RESERVE_PAGES_FIRST: u32 = 80;
/// First value of the pages for long FPDUs in [`IN_ORDER_RESERVE`]: an FPDU of 64 KiB with markers
/// in nine frames of 9018 octets, or in 54 of 1518.
pub const IN_ORDER_RESERVE_LONG_FIRST: u32 = 324;
/// First value of the log2 of cycles in [`IN_ORDER_RESERVE`]: 430 ms at 156.25 MHz, longer than a
/// peer waits before it sends again.
pub const IN_ORDER_RESERVE_HOLD_FIRST: u32 = 26;
/// First value of [`IN_ORDER_RESERVE`].
pub const IN_ORDER_RESERVE_FIRST: u32 = in_order_reserve(
    IN_ORDER_RESERVE_PAGES_FIRST,
    IN_ORDER_RESERVE_LONG_FIRST,
    IN_ORDER_RESERVE_HOLD_FIRST,
);

/// Event ring: bus address, low half; a multiple of 4096.
pub const EVENT_BASE_LOW: u32 = 0x080;
/// Event ring: bus address, high half.
pub const EVENT_BASE_HIGH: u32 = 0x084;
/// Event ring: log2 of its entries, 1..=16; 0 switches it off (events then stay pending); other
/// values are ignored. A write does not restart [`EVENT_PRODUCER`], as in the host receive ring.
pub const EVENT_ENTRIES_LOG2: u32 = 0x088;
/// Event ring: entries the driver has consumed, modulo 2^32.
pub const EVENT_CONSUMER: u32 = 0x08c;
/// Event ring: entries the device has written, modulo 2^32 (read only).
pub const EVENT_PRODUCER: u32 = 0x090;
/// Delay of events about octets in order alone. 0: each such segment raises an event at once.
/// 12..=31: every second one does; one that stays alone raises its event within about so many
/// cycles, in log2: each connection is visited once in that time. Other values are ignored.
pub const EVENT_DELAY_LOG2: u32 = 0x094;
/// Smallest value of [`EVENT_DELAY_LOG2`] but 0: a connection is visited in every fourth cycle.
pub const EVENT_DELAY_LOG2_MIN: u32 = 12;
/// Largest value of [`EVENT_DELAY_LOG2`].
pub const EVENT_DELAY_LOG2_MAX: u32 = 31;

/// Transmit ring 0, [`crate::transmit_ring::CONTROL`]: bus address, low half; a multiple of 4096.
/// The registers of ring 1 are [`TX_STRIDE`] octets further on: see [`tx_register`].
pub const TX_BASE_LOW: u32 = 0x0a0;
/// Transmit ring: bus address, high half.
pub const TX_BASE_HIGH: u32 = 0x0a4;
/// Transmit ring: log2 of its units, 4..=16; 0 switches it off; other values are ignored. A write
/// sets the ring up: its indices become 0.
pub const TX_UNITS_LOG2: u32 = 0x0a8;
/// Transmit ring: units the driver has written, modulo 2^32. What it reads as is what was written
/// last, whether the device has taken it or not.
pub const TX_TAIL: u32 = 0x0ac;
/// Transmit ring: units the device has passed, modulo 2^32 (read only).
pub const TX_HEAD: u32 = 0x0b0;
/// Transmit ring: bus address of its report, low half; a multiple of 64.
pub const TX_REPORT_LOW: u32 = 0x0b4;
/// Transmit ring: bus address of its report, high half.
pub const TX_REPORT_HIGH: u32 = 0x0b8;
/// Octets from a register of transmit ring 0 to that of ring 1.
pub const TX_STRIDE: u32 = 32;
/// PCI Express maximum read request size: 0 for 128 octets, .. 5 for 4096; the device asks for 512
/// at most. Other values are ignored. Value after reset: [`READ_MAX_REQUEST_FIRST`].
pub const READ_MAX_REQUEST: u32 = 0x0e0;
/// Largest value of [`READ_MAX_REQUEST`].
pub const READ_MAX_REQUEST_MAX: u32 = 5;
/// First value of [`READ_MAX_REQUEST`]: 512 octets, which every function may be set to.
pub const READ_MAX_REQUEST_FIRST: u32 = 2;
/// Ticks after which a read of host memory is given up, 16 bits; larger values are ignored. A tick
/// is a microsecond. Value after reset: [`READ_TIMEOUT_FIRST`].
pub const READ_TIMEOUT: u32 = 0x0e4;
/// Largest value of [`READ_TIMEOUT`].
pub const READ_TIMEOUT_MAX: u32 = 0xffff;
/// First value of [`READ_TIMEOUT`]: 50 ms, the end of the default range (PCI Express Base
/// Specification, section 7.5.3.16).
pub const READ_TIMEOUT_FIRST: u32 = 50_000;
/// Transmit control: [`TX_CONTROL_LOOPBACK`] and [`TX_CONTROL_EXTENDED_TAGS`].
pub const TX_CONTROL: u32 = 0x0e8;
/// Frames that are sent are received instead; frames of the wire are dropped before anything else
/// sees them, and count in `drop_loopback` alone.
pub const TX_CONTROL_LOOPBACK: u32 = 1 << 0;
/// Extended Tag Field Enable: reads may use tags from 32 on.
pub const TX_CONTROL_EXTENDED_TAGS: u32 = 1 << 1;

/// Table command. A write starts the operation; reads return [`TABLE_BUSY`] until it is done. After
/// a short operation (see [`crate::tables`]) nothing need be read: the next access waits. Any
/// other one must have been read as done before this register or [`TABLE_DATA`] is written: the
/// write would be lost, and the next operation would have words of this one. An operation or a
/// table that does not exist is not started.
pub const TABLE_COMMAND: u32 = 0x100;
/// Bit of [`TABLE_COMMAND`] when written: the `WRITE` of a table whose writes fence does not. A
/// later one that does covers it. Of other operations it means nothing.
pub const TABLE_UNFENCED: u32 = 1 << 26;
/// Bit of [`TABLE_COMMAND`] when read: the operation is not finished.
pub const TABLE_BUSY: u32 = 1 << 31;

/// Posting port: bus address of a receive buffer, low half; of an outstanding read Tagged Offset of
/// its sink, bits 31:0. The port's registers read as 0; a reset clears them.
pub const POST_0: u32 = 0x110;
/// Posting port: bus address of the buffer, high half; of a read its sink STag.
pub const POST_1: u32 = 0x114;
/// Posting port: octets of the buffer, or of the read.
pub const POST_2: u32 = 0x118;
/// Posting port, doorbell: posts what the three registers before hold, which keep their values.
/// Bits 11:0: index of the queue, as in table `QUEUE`; 18:16: of a read, Tagged Offset of its sink,
/// bits 34:32; the others mean nothing. The device writes the pool entry at the queue's tail, then
/// the tail: an FPDU finds the buffer whole or not at all. A queue that is closed, or that holds as
/// many as it has entries, takes nothing: nothing changes but the counter `refuse_post_closed` or
/// `refuse_post_full`.
pub const POST: u32 = 0x11c;
/// Lowest bit of the Tagged Offset's bits 34:32 in [`POST`].
pub const POST_OFFSET_SHIFT: u32 = 16;
/// Cycles that a post or a short table operation keeps the next access waiting, at most.
pub const HOLD_CYCLES_MAX: usize = 64;

/// First doubleword of the table data: written before a table write, read after a table read. A
/// read leaves its answer there, and 0 in the words that the table has not. A write leaves the data
/// as they are: write all words that the entry has, also those that are 0; the others are ignored.
/// A reset clears them.
pub const TABLE_DATA: u32 = 0x140;
/// Doublewords of table data.
pub const TABLE_DATA_WORDS: usize = 10;

/// Octets from a register of a completion queue to the same one of the next queue, see
/// [`cq_register`].
pub const CQ_STRIDE: u32 = 32;
/// Completion queue 0: bus address, low half; a multiple of 4096.
pub const CQ_BASE_LOW: u32 = 0x200;
/// Completion queue 0: bus address, high half.
pub const CQ_BASE_HIGH: u32 = 0x204;
/// Completion queue 0: log2 of its entries, 1..=16; 0 switches it off, so that no entry has room in
/// it. A write empties the queue: the next entry is number 0. Write it, the bus address and a
/// consumer of 0 only while the queue is off and no connection uses it, this register last.
pub const CQ_ENTRIES_LOG2: u32 = 0x208;
/// Completion queue 0: entries the driver has consumed; of the count 16:0 are compared.
pub const CQ_CONSUMER: u32 = 0x20c;
/// Completion queue 0: entries the device has numbered, modulo 2^31 (read only). The last ones may
/// still be on their way to memory.
pub const CQ_PRODUCER: u32 = 0x210;

/// First counter; counter `i` is at `COUNTERS + 4 * i`, 32 bits, wrapping, read only.
pub const COUNTERS: u32 = 0x400;

/// The value to write to [`IN_ORDER_RESERVE`]: `long_pages << 21 | hold_log2 << 16 | pages`.
pub const fn in_order_reserve(pages: u32, long_pages: u32, hold_log2: u32) -> u32 {
    (long_pages << IN_ORDER_RESERVE_LONG_SHIFT) | (hold_log2 << IN_ORDER_RESERVE_HOLD_SHIFT) | pages
}

/// The offset of `register`, one of [`TX_BASE_LOW`] to [`TX_REPORT_HIGH`], of transmit ring `ring`:
/// `register + 32 * ring`.
pub const fn tx_register(ring: u32, register: u32) -> u32 {
    register + ring * TX_STRIDE
}

/// The value to write to [`POST`]: `offset_high << 16 | index`; `offset_high` is 0 for a buffer.
pub const fn post(index: u32, offset_high: u32) -> u32 {
    (offset_high << POST_OFFSET_SHIFT) | index
}

/// The value to write to [`TABLE_COMMAND`]: `operation << 24 | table << 16 | index`.
pub const fn table_command(operation: u32, table: u32, index: u32) -> u32 {
    (operation << 24) | (table << 16) | index
}

/// The offset of `register`, one of [`CQ_BASE_LOW`] to [`CQ_PRODUCER`], of completion queue
/// `queue`: `register + 32 * queue`.
pub const fn cq_register(queue: u32, register: u32) -> u32 {
    register + queue * CQ_STRIDE
}
