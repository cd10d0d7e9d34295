//! Tables written and read through `TABLE_COMMAND`.
//!
//! A command is `operation` (bits 25:24), `table` (bits 19:16) and `index` (bits 15:0), and
//! [`TABLE_UNFENCED`]. Each operation is atomic with respect to the pipeline: a segment or FPDU
//! sees the entry either before or after it.
//!
//! A fence and a `RELEASE` wait for octets to be written, an operation on [`LOOKUP`], [`TCP`] or
//! [`MPA`] for segments before it. These wait for the host to take TLPs and for nothing else:
//! software need not consume entries of a ring meanwhile. Short are those on [`DDP`], [`QUEUE`],
//! [`QUEUE_TAIL`], [`RECEIVE_POOL`], [`STAG`], [`REGION`] and [`RECORDS`] that do not fence: they
//! wait for the checks of one FPDU, and every access of BAR0 waits for them.
//!
//! A word is ignored that an entry has not; so is all but word 0 of an entry of [`LOOKUP`] or
//! [`STAG`] that is not valid, and of a [`QUEUE`] that is closed.
use crate::registers::TABLE_UNFENCED;

/// Write the entry from `TABLE_DATA`. A write of [`QUEUE`], [`STAG`] or [`REGION`] may revoke
/// access to memory: it is busy until every command that placement accepted before has left
/// (fence), but with [`TABLE_UNFENCED`]. At most two commands that were checked before it may not
/// be accepted yet: a second write of the same entry is busy until they have left too.
pub const WRITE: u32 = 1;
/// Read the entry into `TABLE_DATA`: words 0 to 7 of a [`REGION`], words 0 to 3 of [`TCP`],
/// [`OUT_OF_ORDER`], [`RANGE`], [`IN_USE`] and [`RECORDS`]. All others read as zero. A peer may
/// invalidate a region between the reads of its halves: then word 0 says that it is valid, and the
/// others are what they were.
pub const READ: u32 = 2;
/// Release the entry's resources. Clear the connection's [`LOOKUP`] entry first. Table [`TCP`]: all
/// received ranges of the connection are dropped. Table [`MPA`], after that: all pages that the
/// connection holds return to the pool, and its last FPDUs leave the checks; only then is it done.
/// After it contexts, queues and regions may be given to another connection. Other tables have no
/// such operation.
pub const RELEASE: u32 = 3;

/// Connection lookup. Index: `way << 9 | slot`.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | 31 | valid |
/// | 0 | 30 | the key is IPv6 |
/// | 0 | 9:0 | connection |
/// | 1..=9 | | key, 36 octets as on the wire, octet 0 in bits 7:0 of word 1 |
///
/// The key is remote address (16 octets), local address (16 octets), remote port, local port, as a
/// received segment carries them in source and destination. IPv4 addresses are the last four octets
/// of their 16, the others zero. The hash of a key is the CRC32C of its 36 octets; see
/// [`hash_slot`] for the slot of each way. A connection is open from the moment its key is here:
/// write its other tables first and this entry last; when it closes, clear this entry first.
pub const LOOKUP: u32 = 1;
/// TCP context. Index: connection. A write does not clear ranges: release those of an earlier
/// connection first.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | | rcv_nxt: it counts octets of payload alone, and no FIN |
/// | 1 | | receive window in octets, at most `MAX_RECEIVE_WINDOW` |
/// | 2 | | SEG.ACK of the last acceptable segment (RFC 9293 section 3.10.7.4); the driver orders it |
/// | 3 | 15:0 | SEG.WND of that segment, unscaled |
/// | 3 | 16 | a FIN with payload has arrived, whose sequence number events report; when written, that is rcv_nxt |
/// | 3 | 21:17 | received ranges beyond rcv_nxt, 0..=16 (read only) |
/// | 3 | 29:22 | number of the first of them, in table [`RANGE`] (read only) |
pub const TCP: u32 = 2;
/// MPA context. Index: connection. A write starts an empty stream.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | | SeqStart: sequence number of the first octet of full operation |
/// | 1 | 0 | markers are expected in the received stream |
/// | 1 | 1 | CRC32C is checked |
pub const MPA: u32 = 3;
/// DDP context. Index: connection. A write clears the connection's error state.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | 15:0 | Protection Domain |
/// | 0 | 16 | expected DDP and RDMAP version: 0 for revision-0 peers, 1 otherwise |
/// | 0 | 20:17 | completion queue |
pub const DDP: u32 = 4;
/// Queue of a connection. Index: `connection << 2 | queue`: the untagged queues 0 to 2, and its
/// outstanding reads as queue 3. A write empties the queue.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | 31 | the queue is open |
/// | 0 | 19:16 | log2 of its entries, 0..=11 |
/// | 0 | 10:0 | first entry in the pool |
/// | 1 | | first MSN expected |
///
/// The buffer for a message is pool entry `first + (msn mod entries)`. Reads are numbered in the
/// order of their Read Requests; no segment carries their number.
pub const QUEUE: u32 = 5;
/// Tail of a queue. Index as [`QUEUE`]. Word 0, bits 15:0: low half of the MSN
/// after the last posted one. At most `entries` may be posted at one time.
pub const QUEUE_TAIL: u32 = 6;
/// Pool of posted receive buffers and outstanding reads. Index: entry. Of a buffer, words 0 and 1:
/// bus address; word 2: octets. Of an outstanding read:
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | | Tagged Offset of the sink, bits 31:0 |
/// | 1 | | sink STag |
/// | 2 | | octets, 0 for a zero-length read |
/// | 3 | 2:0 | Tagged Offset of the sink, bits 34:32 |
///
/// Each segment of the Read Response moves the offset, and takes its payload off the octets. A
/// region of 2^35 octets or more is no sink: these bits of an offset do not name one octet of it.
pub const RECEIVE_POOL: u32 = 7;
/// STag lookup. Index: `way << 9 | slot`. Word 0, bit 31: valid; bits 9:0: region. Word 1, bits
/// 23:0: stag_index. An STag is `stag_index << 8 | stag_key`. The slot of each way is [`hash_slot`]
/// of the CRC32C of the three octets of stag_index, most significant first. A region is registered
/// from the moment its STag is here: write the region first and this entry last. No two ways may
/// hold one stag_index with two regions.
pub const STAG: u32 = 8;
/// Memory region. Index: region.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | 31 | valid |
/// | 0 | 15:8 | stag_key |
/// | 0 | 4:0 | rights, see [`RIGHT_REMOTE_WRITE`] and the following |
/// | 1 | 15:0 | Protection Domain |
/// | 1 | 25:16 | connection, used with [`RIGHT_STREAM_BOUND`] |
/// | 2, 3 | | Tagged Offset of the first octet |
/// | 4, 5 | 47:0 | octets |
/// | 6, 7 | | bus address of the first octet minus its Tagged Offset, modulo 2^64 |
pub const REGION: u32 = 9;
/// Out-of-order state of a connection. Index: connection. Read only.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | 7:0 | number of the first range, in table [`RANGE`] |
/// | 0 | 12:8 | ranges, 0..=16 |
/// | 0 | 23:16 | number of the range changed last; it may have become in order since |
/// | 1 | 9:0 | pages charged to the connection: those of the frames of its ranges |
/// | 2 | 7:0 | segments that call for an immediate duplicate ACK, modulo 256 |
///
/// Such a segment is beyond rcv_nxt, accepted or not, has no new octets, is beyond the window, or
/// was dropped for lack of room (RFC 5681 section 3.2, RFC 9293 section 3.10.7.4).
pub const OUT_OF_ORDER: u32 = 10;
/// A received range beyond rcv_nxt. Index: number of the range. Read only.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | | sequence number of its first octet |
/// | 1 | | sequence number after its last octet |
/// | 2 | 7:0 | number of the connection's next range in sequence order |
/// | 2 | 8 | there is a next range |
/// | 3 | 9:0 | pages charged for it |
pub const RANGE: u32 = 11;
/// Use of TCP's shared pools by all connections together. Index: any. Read only.
///
/// | word | bits | meaning |
/// |---|---|---|
/// | 0 | 8:0 | entries of table [`RANGE`], of `RANGES` |
/// | 0 | 22:16 | fragments: runs of new octets with a further run in the same frame, of `FRAGMENTS` |
/// | 1 | 9:0 | spans: stretches of received octets without a gap before them, of `SPANS` |
pub const IN_USE: u32 = 12;
/// Pool of records of FPDUs that were placed beyond a gap. Index: any. Read only. Word 0, bits 9:0:
/// records that are free, of `OUT_OF_ORDER_RECORDS`.
pub const RECORDS: u32 = 13;
/// Receive window of a connection, alone. Index: connection. Word 0: as in [`TCP`]. A write changes
/// nothing else of the context; a segment is decided by the old window or the new one. The right
/// edge of what was advertised never moves left (RFC 9293 section 3.8.6): that is the driver's
/// rule.
pub const TCP_WINDOW: u32 = 14;
/// The table with the highest number; there are no gaps from [`LOOKUP`] on.
pub const LAST: u32 = TCP_WINDOW;

/// Words that an entry has, from word 0 on; 0 if there is no such table. Only these are written.
pub const fn words(table: u32) -> usize {
    match table {
        DDP | QUEUE_TAIL | RECORDS | TCP_WINDOW => 1,
        MPA | QUEUE | STAG | IN_USE => 2,
        OUT_OF_ORDER => 3,
        TCP | RECEIVE_POOL | RANGE => 4,
        REGION => 8,
        LOOKUP => 10,
        _ => 0,
    }
}

/// Whether `command`, as written to `TABLE_COMMAND`, starts an operation after which the next
/// access of BAR0 waits until it is done.
pub const fn is_short(command: u32) -> bool {
    let (operation, table) = (command >> 24 & 3, command >> 16 & 0xf);
    let fences = operation == WRITE
        && matches!(table, QUEUE | STAG | REGION)
        && command & TABLE_UNFENCED == 0;
    matches!(operation, WRITE | READ) && matches!(table, DDP..=REGION | RECORDS) && !fences
}

/// The name of a table; `None` if there is none of this number.
pub const fn name(table: u32) -> Option<&'static str> {
    Some(match table {
        LOOKUP => "LOOKUP",
        TCP => "TCP",
        MPA => "MPA",
        DDP => "DDP",
        QUEUE => "QUEUE",
        QUEUE_TAIL => "QUEUE_TAIL",
        RECEIVE_POOL => "RECEIVE_POOL",
        STAG => "STAG",
        REGION => "REGION",
        OUT_OF_ORDER => "OUT_OF_ORDER",
        RANGE => "RANGE",
        IN_USE => "IN_USE",
        RECORDS => "RECORDS",
        TCP_WINDOW => "TCP_WINDOW",
        _ => return None,
    })
}

/// RDMA Writes may write to the region.
pub const RIGHT_REMOTE_WRITE: u32 = 1 << 0;
/// The region may be the sink of RDMA Read Responses.
pub const RIGHT_READ_SINK: u32 = 1 << 1;
/// The region may be the source of RDMA Reads (checked by the driver).
pub const RIGHT_REMOTE_READ: u32 = 1 << 2;
/// The STag may be invalidated by a Send with Invalidate.
pub const RIGHT_REMOTE_INVALIDATE: u32 = 1 << 3;
/// The STag is limited to one connection of its Protection Domain: both are checked (RFC 5041
/// section 8.2).
pub const RIGHT_STREAM_BOUND: u32 = 1 << 4;

/// The slot in `way` of a key whose CRC32C is `hash`: nine of its bits, from bit 9 * `way` on:
/// `(hash >> 9 * way) & 511`.
pub const fn hash_slot(hash: u32, way: usize) -> usize {
    (hash >> (9 * way) & 0x1ff) as usize
}
