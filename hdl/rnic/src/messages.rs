//! Messages between the rooms: one struct per message, with its units.
//!
//! A message port has three signals: `<name>` (the struct), `<name>_valid`, `<name>_ready`. The
//! message is transferred in a cycle in which both are high; `valid` never waits for `ready`. The
//! receiving room buffers its input in a FIFO, so `ready` comes from a register. A message without
//! `ready` is valid for one cycle, and its receiver always has room; the head of the block says
//! why. These signals, `clock` and `reset` (synchronous: it empties the block) have a comment only
//! where a port differs.
use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rust_hdl::prelude::*;

/// Verdict of the front end on a frame.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FrameVerdict {
    /// Release the frame.
    Drop,
    /// Hand the whole frame to the host.
    Host,
    /// A TCP segment with valid headers; look up its connection.
    Tcp,
}

/// Octets of a [`ConnectionKey`].
pub const KEY_OCTETS: usize = 36;
/// Its bits.
pub const KEY_BITS: usize = 8 * KEY_OCTETS;
/// Bits of the key's CRC32C that the lookup uses: a slot number for each way.
pub const KEY_HASH_BITS: usize = HASH_WAYS * HASH_SLOTS_LOG2;

/// What identifies a connection, besides the IP version: octet strings, octet 0 in bits 7:0, in the
/// order in which they are hashed and compared.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ConnectionKey {
    /// Source address of received segments; IPv4 in the last four octets (bits 127:96), zeros
    /// before.
    pub remote_address: Bits<128>,
    /// Destination address, likewise.
    pub local_address: Bits<128>,
    /// Source port in bits 15:0, destination port in 31:16.
    pub ports: Bits<32>,
}

/// The parsed headers of a frame without its key; numbers are in host order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentInfo {
    pub verdict: FrameVerdict,
    /// Octets of the frame, without pad and FCS.
    pub frame_octets: Bits<14>,
    /// TCP flags: bit 0 FIN, 1 SYN, 2 RST, 3 PSH, 4 ACK, 5 URG.
    pub flags: Bits<6>,
    /// The TCP checksum is right.
    pub checksum_good: Bit,
    /// TCP options other than timestamps after two NOPs (RFC 7323, appendix A).
    pub more_options: Bit,
    /// SEG.SEQ.
    pub seg_seq: Bits<32>,
    /// SEG.ACK.
    pub seg_ack: Bits<32>,
    /// SEG.WND, unscaled.
    pub seg_wnd: Bits<16>,
    /// First payload octet, counted from the start of the stored frame (pad included).
    pub payload_offset: Bits<14>,
    /// Payload octets by the IP length, without Ethernet padding.
    pub payload_octets: Bits<14>,
}

/// Front end to packet memory: the parsed headers, once per frame, a few cycles after its last
/// beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameInfo {
    /// The key is IPv6.
    pub ipv6: Bit,
    pub key: ConnectionKey,
    pub segment: SegmentInfo,
}

/// A chain of pages, first to last, to release to the pool: all of a frame's, or a part of them.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PageChain {
    /// First page.
    pub head_page: Bits<9>,
    /// Last page.
    pub tail_page: Bits<9>,
}

/// Packet memory to TCP: a stored frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredFrame {
    /// Its verdict is never `Drop`.
    pub info: FrameInfo,
    /// Low bits of the CRC32C of its key.
    pub key_hash: Bits<KEY_HASH_BITS>,
    /// All its pages.
    pub pages: PageChain,
}

/// TCP to MPA: a run of accepted payload octets, in order or beyond a gap; or a connection's
/// out-of-order range to drop, or a query of its FPDU status.
///
/// Octets beyond a gap form *out-of-order ranges*, numbered by TCP. `left` and `right` are the
/// ranges adjacent to the octets. TCP reuses a number only after the message that ends its range
/// (`right`, or `purges`).
///
/// | `ooo` | `has_left` | `has_right` | the octets |
/// |---|---|---|---|
/// | 0 | - | 0 | follow the stream's last octet in order |
/// | 0 | - | 1 | the same, and range `right` follows them: it ends and is now in order |
/// | 1 | 0 | 0 | open a new range, number `left` |
/// | 1 | 1 | 0 | follow the last octet of range `left` |
/// | 1 | 0 | 1 | precede the first octet of range `right` |
/// | 1 | 1 | 1 | follow range `left`; range `right` follows them, ends and becomes part of `left` |
///
/// A frame that overlaps ranges received before can hold several runs of new octets; it then gives
/// one message per run, consecutive and in order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Accepted {
    /// Connection.
    pub connection: Bits<10>,
    /// Sequence number of the first octet, with `ooo`.
    pub sequence: Bits<32>,
    /// First page of the frame that holds them.
    pub head_page: Bits<9>,
    /// Last page of that frame.
    pub tail_page: Bits<9>,
    /// First accepted octet, from the start of the stored frame.
    pub offset: Bits<14>,
    /// Accepted octets, at least 1.
    pub octets: Bits<14>,
    /// They are beyond a gap.
    pub ooo: Bit,
    /// See above.
    pub has_left: Bit,
    /// Number of an out-of-order range.
    pub left: Bits<8>,
    /// See above.
    pub has_right: Bit,
    /// Number of an out-of-order range.
    pub right: Bits<8>,
    /// The frame holds several runs of new octets: its pages are released with the last of them.
    pub shared: Bit,
    /// This is the first message of its frame.
    pub first: Bit,
    /// This is the last message of its frame.
    pub last: Bit,
    /// No octets: the connection ends, and out-of-order range `right` is released. Only
    /// `connection` and `right` are valid.
    pub purges: Bit,
    /// No octets: a query, answered with [`FpduStatus`]. Only `connection` is valid.
    pub queries: Bit,
}

/// Stream manager to TCP: the state of a connection's incomplete FPDU, including every message
/// accepted before the query.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduStatus {
    /// A job is in flight and may change the other fields.
    pub busy: Bit,
    /// No octet is queued in order.
    pub empty: Bit,
    /// The length of the FPDU is known, and `missing` is valid.
    pub known: Bit,
    /// Octets in order that complete the FPDU.
    pub missing: Bits<18>,
}

/// TCP to events: what a segment did to its connection, or that the driver wrote its context.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ConnectionReport {
    /// Connection.
    pub connection: Bits<10>,
    /// Reasons, as `rnic_abi::event_ring` numbers them; without `FIRST_FPDU`.
    pub reasons: Bits<8>,
    /// The segment is part of an out-of-order range from now on: `left` to `right`.
    pub changes: Bit,
    /// Sequence number of the range's first octet.
    pub left: Bits<32>,
    /// Sequence number after its last octet.
    pub right: Bits<32>,
    /// No segment: a connection begins under this number.
    pub begins: Bit,
    /// The segment is acceptable: its SEG.ACK and SEG.WND count.
    pub acknowledges: Bit,
    /// SEG.ACK.
    pub seg_ack: Bits<32>,
    /// SEG.WND, unscaled.
    pub seg_wnd: Bits<16>,
}

/// TCP to events: the context of a connection, as an event reports it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReportedContext {
    /// Sequence number of the next octet in order.
    pub rcv_nxt: Bits<32>,
    /// SEG.ACK of the last acceptable segment.
    pub seg_ack: Bits<32>,
    /// SEG.WND of that segment, unscaled.
    pub seg_wnd: Bits<16>,
    /// Segments that require a duplicate ACK, modulo 256.
    pub duplicates_due: Bits<8>,
    /// Duplicate ACKs received, modulo 256.
    pub duplicates_seen: Bits<8>,
    /// A FIN with payload has arrived.
    pub fin: Bit,
    /// Its sequence number.
    pub fin_sequence: Bits<32>,
    /// Number of out-of-order ranges.
    pub ranges: Bits<5>,
}

/// TCP to the host path: a whole frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HostFrame {
    /// First page.
    pub head_page: Bits<9>,
    /// Last page.
    pub tail_page: Bits<9>,
    /// Octets of the frame, without pad and FCS.
    pub frame_octets: Bits<14>,
}

/// Kind of a read job.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum JobKind {
    /// FPDUs of a stream, from an FPDU's first octet on.
    Stream,
    /// The first FPDU exceeds the placement buffer and has been checked; place it.
    Place,
    /// A whole frame for the host.
    Host,
}

/// MPA stream manager (or host path) to the packet reader: octets to read, in order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadJob {
    pub kind: JobKind,
    /// Connection (streams).
    pub connection: Bits<10>,
    /// Page that `offset` counts from: the first page of the first frame not yet released.
    pub head_page: Bits<9>,
    /// First octet, from the start of that page.
    pub offset: Bits<14>,
    /// Octets of this job in that frame.
    pub run_octets: Bits<14>,
    /// Octets of the whole job; more than `run_octets` if further frames of the stream follow.
    pub octets: Bits<18>,
    /// Sequence number of the first octet (streams).
    pub sequence: Bits<32>,
    /// Four-octet words since the last marker position; 0: the first octet is at one.
    pub phase: Bits<7>,
    /// Markers are expected.
    pub markers: Bit,
    /// CRC32C is checked.
    pub crc: Bit,
    /// Slot of the first frame in the reader's frame tables (streams).
    pub slot: Bits<10>,
    /// Last page of the first frame; placement releases a host frame's pages up to it.
    pub tail_page: Bits<9>,
    /// The octets are beyond a gap: their FPDUs are placed, not delivered (`JobKind::Stream`).
    pub ooo: Bit,
    /// With `ooo`: the span that holds them.
    pub span: Bits<9>,
    /// With `ooo`: an FPDU is known to begin at the first octet. If not, the first FPDU needs a
    /// marker that points to its start (MPA-044).
    pub proven: Bit,
}

/// FPDU splitter to the stream manager: a stream job has ended. An out-of-order job ends once DDP
/// has reported on each of its FPDUs. A replay ends in the same way, with nothing consumed.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct JobDone {
    /// Connection.
    pub connection: Bits<10>,
    /// Octets of the job in FPDUs handed on; the rest stays queued.
    pub consumed: Bits<18>,
    /// Octets, from the first one not consumed, that must be queued before the next job is sent.
    pub need: Bits<18>,
    /// The FPDU after the consumed octets is too long for one pass and has been checked: the next
    /// job is `JobKind::Place`.
    pub place_next: Bit,
    /// The job was out of order.
    pub ooo: Bit,
    /// With `ooo`: its span.
    pub span: Bits<9>,
    /// With `ooo`: FPDUs handed on.
    pub fpdus: Bits<16>,
    /// With `ooo`: sequence number after them.
    pub sequence_end: Bits<32>,
    /// With `ooo`: one of them, or the next one, could not be placed. From there on the FPDUs are
    /// not consumed and wait until they are in order.
    pub refused: Bit,
}

/// Processing of an FPDU.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FpduKind {
    /// Check, and buffer for placement.
    Normal,
    /// First pass over a long FPDU; its octets do not enter the placement buffer.
    Check,
    /// Second pass over a long FPDU that has been checked.
    Place,
    /// Not an FPDU but a whole frame for the host.
    Host,
    /// An FPDU beyond a gap. Its payload is placed if it passes every check; it has no other
    /// effect until its record is replayed.
    OutOfOrder,
    /// The record of an `FpduKind::OutOfOrder` that was placed, replayed in order. No octets.
    Deliver,
    /// FPDU starts by length and by marker disagree (MPA error 3). No octets.
    Fault,
}

/// Splitter to marker removal and CRC: properties of an FPDU, known at its first beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduInfo {
    /// Never `Deliver` or `Fault`.
    pub kind: FpduKind,
    /// Connection.
    pub connection: Bits<10>,
    /// `FpduKind::OutOfOrder`: the span that holds it.
    pub span: Bits<9>,
    /// `FpduKind::OutOfOrder`: only a marker in it can show that an FPDU begins here.
    pub unproven: Bit,
    /// Sequence number of the FPDU's first octet, a leading marker included.
    pub sequence: Bits<32>,
    /// ULPDU_Length in octets.
    pub ulpdu_length: Bits<16>,
    /// Octets on the wire: length field, ULPDU, PAD, CRC and markers; of a `FpduKind::Host` the
    /// octets of the frame.
    pub wire_octets: Bits<18>,
    /// Words since the last marker position, at the first octet; 0: it opens with a marker.
    pub phase: Bits<7>,
    /// Markers are expected.
    pub markers: Bit,
    /// CRC32C is checked.
    pub crc: Bit,
    /// `FpduKind::Host`: first page of the frame.
    pub head_page: Bits<9>,
    /// `FpduKind::Host`: last page of the frame.
    pub tail_page: Bits<9>,
}

/// MPA to DDP: first words of an FPDU, sent while it passes. Its octets, from ULPDU_Length on and
/// without markers and CRC, enter the placement buffer (not for `FpduKind::Check`). Only whole
/// FPDUs pass.
///
/// The port has no `ready`: DDP drives `record_room` high while it can take two records more.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduRecord {
    pub kind: FpduKind,
    /// Connection.
    pub connection: Bits<10>,
    /// As in [`FpduInfo`].
    pub span: Bits<9>,
    /// As in [`FpduInfo`].
    pub unproven: Bit,
    /// Sequence number of the FPDU's first octet.
    pub sequence: Bits<32>,
    /// Sequence number after its last octet.
    pub sequence_end: Bits<32>,
    /// ULPDU_Length in octets; for `FpduKind::Host` the octets of the frame.
    pub ulpdu_length: Bits<16>,
    /// The first five words without markers: ULPDU_Length and DDP header; octet string, octet 0 in
    /// bits 7:0. Undefined beyond the ULPDU.
    pub header: Bits<160>,
    /// Beats of this FPDU in the placement buffer; 0 for `FpduKind::Check`, `FpduKind::Deliver` and
    /// `FpduKind::Fault`.
    pub beats: Bits<13>,
    /// `FpduKind::Host`: first page of the frame.
    pub head_page: Bits<9>,
    /// `FpduKind::Host`: last page of the frame.
    pub tail_page: Bits<9>,
}

/// MPA to DDP: an `FpduKind::Normal`, `FpduKind::Check` or `FpduKind::OutOfOrder` has passed. One
/// per such record, after it and in the order of the records; none for the other kinds.
///
/// The port has no `ready`: DDP holds as many verdicts as records.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduVerdict {
    /// CRC32C is right, or not checked.
    pub crc_good: Bit,
    /// Every marker agrees with the FPDU's start.
    pub marker_good: Bit,
    /// The FPDU contains a marker.
    pub marker_seen: Bit,
}

/// DDP to MPA: result of an `FpduKind::OutOfOrder`; one cycle, in the order of the records.
///
/// The port has no `ready`: MPA adds them up as they come.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OutOfOrderResult {
    /// Its payload is on its way to memory and its record is stored. If not, it had no effect.
    pub good: Bit,
    /// Sequence number after its last octet.
    pub sequence_end: Bits<32>,
}

/// Processing of the stored records of a span.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReplayKind {
    /// The span is in order: its records enter the checks, as `FpduKind::Deliver`.
    Deliver,
    /// The span is no longer needed: its records are discarded.
    Forget,
    /// No records: FPDU starts disagree, an `FpduKind::Fault` enters the checks.
    Fault,
}

/// MPA to DDP: order to replay or discard the stored records of a span's placed FPDUs.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Replay {
    pub kind: ReplayKind,
    /// Connection.
    pub connection: Bits<10>,
    /// Span; undefined for `ReplayKind::Fault`.
    pub span: Bits<9>,
    /// `ReplayKind::Fault`: sequence number of the FPDU that overlaps the start of another one.
    pub sequence: Bits<32>,
}

/// DDP to MPA: a replay is done. No record of the span is stored any more, and its records are in
/// the record queue ahead of every later one.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Replayed {
    pub kind: ReplayKind,
    /// As in [`Replay`].
    pub connection: Bits<10>,
    /// As in [`Replay`].
    pub span: Bits<9>,
}

/// Placement of the beats of an FPDU or a host frame.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlaceKind {
    /// Discard the beats.
    Discard,
    /// Write the payload to memory.
    Write,
    /// Put the frame into the host receive ring.
    Host,
}

/// DDP to placement: remove the next FPDU from the placement buffer, and how to process it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlaceCommand {
    pub kind: PlaceKind,
    /// Beats to remove from the placement buffer; may be 0.
    pub beats: Bits<13>,
    /// Words before the payload in the first beat(s): 4 tagged, 5 untagged, 0 host.
    pub skip_words: Bits<3>,
    /// Bus address of the first payload octet (`PlaceKind::Write`).
    pub address: Bits<64>,
    /// Payload octets; for `PlaceKind::Host` the frame's. At least 1 unless `PlaceKind::Discard`.
    pub octets: Bits<16>,
    /// A completion queue entry follows the payload.
    pub complete: Bit,
    /// Completion queue of that entry.
    pub queue: Bits<4>,
    /// That entry, word 0 in bits 31:0.
    pub cqe: Bits<256>,
}

/// Register file to ddp and placement: a register of a completion queue gets a value. Each of the
/// four bits is high for one cycle, at most one of them, and not again for 3 cycles but in a reset.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CqWrite {
    pub queue: Bits<4>,
    pub value: Bits<32>,
    /// `CQ_BASE_LOW`.
    pub base_low: Bit,
    /// `CQ_BASE_HIGH`.
    pub base_high: Bit,
    /// `CQ_ENTRIES_LOG2`: the queue is empty from then on.
    pub entries_log2: Bit,
    /// `CQ_CONSUMER`.
    pub consumer: Bit,
}

/// DDP to the register file: what a completion queue has come to, one cycle.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CqReport {
    pub queue: Bits<4>,
    /// `entries` is new.
    pub numbered: Bit,
    /// Entries numbered so far, modulo 2^31.
    pub entries: Bits<31>,
    /// An entry had no room.
    pub lost: Bit,
}

/// Register file to every room: one table operation, stable until the owning room's `table_done`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TableRequest {
    /// `rnic_abi::tables::{WRITE, READ, RELEASE}`.
    pub operation: Bits<2>,
    /// Table number.
    pub table: Bits<4>,
    /// Entry.
    pub index: Bits<16>,
    /// Data words, word 0 in bits 31:0.
    pub data: Bits<320>,
}

/// Trace: the verdict on a segment with payload, one cycle.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentEvent {
    /// Connection.
    pub connection: Bits<10>,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: Bits<3>,
    /// SEG.SEQ as received.
    pub seg_seq: Bits<32>,
    /// Payload octets as received.
    pub seg_len: Bits<14>,
}

/// Trace: outcome of an FPDU, one cycle, in stream order. None for FPDUs after a stream error.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduEvent {
    /// Connection.
    pub connection: Bits<10>,
    /// Sequence number of the FPDU's first octet.
    pub sequence: Bits<32>,
    /// ULPDU_Length in octets.
    pub ulpdu_length: Bits<16>,
    /// `rnic_abi::errors::StreamError`, 0 for none.
    pub error: Bits<5>,
    /// RDMAP opcode as received; 0 where the ULPDU has no DDP header or the CRC is wrong.
    pub opcode: Bits<4>,
    /// The ULPDU has a DDP header, and CRC and markers are right: `opcode` is valid.
    pub opcode_valid: Bit,
    /// Octets placed in memory.
    pub placed_octets: Bits<16>,
    /// They were placed while octets before the FPDU were still missing.
    pub placed_ooo: Bit,
}
