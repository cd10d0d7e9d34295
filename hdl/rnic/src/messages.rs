//! What the rooms hand each other: one struct per message, each with its units.
//!
//! A message port is three signals: `<name>` (the struct), `<name>_valid`, `<name>_ready`; it is
//! taken in a cycle in which both are high. The receiving room opens with a FIFO, so `ready` comes
//! from a register. `valid` never waits for `ready`. A message without `ready` is there for one
//! cycle, and its receiver always has room; the head of the block says why. These signals, `clock`
//! and `reset` (synchronous: it empties the block) have a comment only where a port differs.
use rust_hdl::prelude::*;

/// What becomes of a frame after the front end.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FrameVerdict {
    /// Release the frame.
    Drop,
    /// Hand the whole frame to the host.
    Host,
    /// A TCP segment with sane headers; look its connection up.
    Tcp,
}

/// Front end to packet memory: all that was read of a frame, once per frame, a few cycles after its
/// last beat. Octet strings have octet 0 in bits 7:0; numbers are in host order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameInfo {
    pub verdict: FrameVerdict,
    /// Octets of the frame, without pad and FCS.
    pub frame_octets: Bits<14>,
    /// The key is IPv6.
    pub ipv6: Bit,
    /// Source address, octet string; IPv4 in the last four octets (bits 127:96), zeros before.
    pub remote_address: Bits<128>,
    /// Destination address, likewise.
    pub local_address: Bits<128>,
    /// Source port in bits 15:0, destination port in 31:16, octet strings as on the wire.
    pub ports: Bits<32>,
    /// TCP flags: bit 0 FIN, 1 SYN, 2 RST, 3 PSH, 4 ACK, 5 URG.
    pub flags: Bits<6>,
    /// The TCP checksum is right.
    pub checksum_good: Bit,
    /// SEG.SEQ.
    pub seg_seq: Bits<32>,
    /// SEG.ACK.
    pub seg_ack: Bits<32>,
    /// SEG.WND, unscaled.
    pub seg_wnd: Bits<16>,
    /// First payload octet, counted from the start of the stored frame (pad included).
    pub payload_offset: Bits<14>,
    /// Payload octets; the IP length rules, Ethernet padding is not counted.
    pub payload_octets: Bits<14>,
}

/// A chain of pages, first to last, to give back to the pool: a frame's, or a part of them.
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
    /// All its pages.
    pub pages: PageChain,
}

/// TCP to MPA: a run of payload octets that was accepted, in order or beyond a gap; or an out-of-order range
/// that nobody waits for any more.
///
/// What a connection received beyond a gap lies in *out-of-order ranges*, the received ranges of TCP, known
/// by the number that TCP gives them. `left` and `right` say what the octets touch; TCP uses a
/// number again only after the message that ends its run (`right`, or `purges`).
///
/// | `ooo` | `has_left` | `has_right` | the octets |
/// |---|---|---|---|
/// | 0 | - | 0 | follow the stream's last octet in order |
/// | 0 | - | 1 | the same, and run `right` follows them: it ends and is in order from now on |
/// | 1 | 0 | 0 | open a new run, number `left` |
/// | 1 | 1 | 0 | follow the last octet of run `left` |
/// | 1 | 0 | 1 | come before the first octet of run `right` |
/// | 1 | 1 | 1 | follow run `left`, and run `right` follows them: it ends and is part of `left` |
///
/// A frame holds more than one run of new octets where it goes over ranges received before; then
/// there is a message for each, one after the other and in order.
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
    /// They lie beyond a gap.
    pub ooo: Bit,
    /// See above.
    pub has_left: Bit,
    /// Number of an out-of-order range.
    pub left: Bits<8>,
    /// See above.
    pub has_right: Bit,
    /// Number of an out-of-order range.
    pub right: Bits<8>,
    /// The frame holds several runs of new octets: it goes back to the pool when all are done with.
    pub shared: Bit,
    /// This is the first message of its frame.
    pub first: Bit,
    /// This is the last message of its frame.
    pub last: Bit,
    /// No octets: the connection ends, and out-of-order range `right` goes back to the pool. Only
    /// `connection` and `right` count.
    pub purges: Bit,
    /// No octets: the stream manager is to answer with [`FpduStatus`]. Only `connection` counts.
    pub queries: Bit,
}

/// Stream manager to TCP: the octets of a connection that wait for the rest of their FPDU, after
/// everything that TCP has told of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduStatus {
    /// A job is out, which may change the rest.
    pub busy: Bit,
    /// No octet is queued in order.
    pub empty: Bit,
    /// The length of the FPDU is known, and `missing` counts.
    pub known: Bit,
    /// Octets in order until the FPDU is whole.
    pub missing: Bits<18>,
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

/// What a job reads.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum JobKind {
    /// FPDUs of a stream, from an FPDU's first octet on.
    Stream,
    /// The first FPDU is longer than the placement buffer and has been checked; place
    /// it.
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
    /// Page that `offset` counts from: of the first frame's pages the first not yet given back.
    pub head_page: Bits<9>,
    /// First octet, from the start of that page.
    pub offset: Bits<14>,
    /// Octets of this job in that frame.
    pub run_octets: Bits<14>,
    /// Octets of the job in all; more than `run_octets` when further frames of the stream follow.
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
    /// Last page of the first frame; the host path gives the pages up to it back when it is done.
    pub tail_page: Bits<9>,
    /// The octets lie beyond a gap: their FPDUs are placed, not delivered (`JobKind::Stream`).
    pub ooo: Bit,
    /// With `ooo`: the span that they are of.
    pub span: Bits<9>,
    /// With `ooo`: an FPDU is known to begin at the first octet. If not, the first FPDU counts
    /// only if a marker in it says so.
    pub proven: Bit,
}

/// FPDU splitter to the stream manager: a stream job has ended. That of an out-of-order job waits on the
/// way until each of its FPDUs is judged. A replay ends in the same way, with nothing consumed.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct JobDone {
    /// Connection.
    pub connection: Bits<10>,
    /// Octets of the job that belong to FPDUs handed on; the rest is still needed.
    pub consumed: Bits<18>,
    /// Octets that must be there, from the first one not consumed, before the next job makes sense.
    pub need: Bits<18>,
    /// The FPDU after the consumed octets was too long for one pass and has been checked: the next
    /// job is `JobKind::Place`.
    pub place_next: Bit,
    /// The job was an out-of-order one.
    pub ooo: Bit,
    /// With `ooo`: its span.
    pub span: Bits<9>,
    /// With `ooo`: FPDUs handed on.
    pub fpdus: Bits<16>,
    /// With `ooo`: sequence number after them.
    pub sequence_end: Bits<32>,
    /// With `ooo`: not every one of them was placed, or the next one cannot be. Those from the
    /// first of them on are not consumed and wait until they are in order.
    pub refused: Bit,
}

/// What is done with an FPDU.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FpduKind {
    /// Check, and keep for placement.
    Normal,
    /// First pass over a long FPDU; its octets do not enter the placement buffer.
    Check,
    /// Second pass over a long FPDU, checked before.
    Place,
    /// Not an FPDU but a whole frame for the host.
    Host,
    /// An FPDU beyond a gap. Its payload is placed if nothing is wrong with it;
    /// nothing else comes of it before its record is replayed.
    OutOfOrder,
    /// The record of an `FpduKind::OutOfOrder` that was placed, replayed in order. No octets.
    Deliver,
    /// FPDU starts by length and by marker disagree (MPA error 3). No octets.
    Fault,
}

/// Splitter to marker removal and CRC: what is known of an FPDU when its first beat passes.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduInfo {
    /// Never `Deliver` or `Fault`.
    pub kind: FpduKind,
    /// Connection.
    pub connection: Bits<10>,
    /// `FpduKind::OutOfOrder`: the span that it is of.
    pub span: Bits<9>,
    /// `FpduKind::OutOfOrder`: only a marker in it can show that an FPDU begins here.
    pub unproven: Bit,
    /// Sequence number of the FPDU's first octet, a leading marker included.
    pub sequence: Bits<32>,
    /// ULPDU_Length in octets.
    pub ulpdu_length: Bits<16>,
    /// Octets on the wire: length field, ULPDU, PAD, CRC and markers. For `FpduKind::Host` the frame's.
    pub wire_octets: Bits<18>,
    /// Words since the last marker position at the first octet; 0: it opens with a marker.
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

/// MPA to DDP: an FPDU is passing, and its first words are there; its octets, from ULPDU_Length on
/// and without markers and CRC, go to the placement buffer (not for `FpduKind::Check`). It passes whole.
///
/// The port has no `ready`: DDP has `record_room` high while it can take two records more.
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
    /// bits 7:0. What lies beyond the ULPDU is undefined.
    pub header: Bits<160>,
    /// Beats that this FPDU occupies in the placement buffer; 0 for `FpduKind::Check`, `FpduKind::Deliver`
    /// and `FpduKind::Fault`.
    pub beats: Bits<13>,
    /// `FpduKind::Host`: first page of the frame.
    pub head_page: Bits<9>,
    /// `FpduKind::Host`: last page of the frame.
    pub tail_page: Bits<9>,
}

/// MPA to DDP: an `FpduKind::Normal`, `FpduKind::Check` or `FpduKind::OutOfOrder` has passed. One for each such record,
/// in the order of the records and after its record; none for the other kinds.
///
/// The port has no `ready`: DDP holds as many verdicts as records.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FpduVerdict {
    /// CRC32C is right, or not checked.
    pub crc_good: Bit,
    /// Every marker agrees with the FPDU's start.
    pub marker_good: Bit,
    /// There is a marker in the FPDU.
    pub marker_seen: Bit,
}

/// DDP to MPA: an `FpduKind::OutOfOrder` has been judged; one cycle, in the order of the records.
///
/// The port has no `ready`: MPA adds them up as they come.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OutOfOrderResult {
    /// Its payload is on its way to memory and its record is kept. If not, nothing came of it.
    pub good: Bit,
    /// Sequence number after its last octet.
    pub sequence_end: Bits<32>,
}

/// What becomes of the stored records of a span.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReplayKind {
    /// The span is in order: its records go through the checks, as `FpduKind::Deliver`.
    Deliver,
    /// Nobody waits for the span any more: its records are forgotten.
    Forget,
    /// No records: FPDU starts disagree, an `FpduKind::Fault` goes through the checks.
    Fault,
}

/// MPA to DDP: what becomes of the records that DDP keeps of a span's placed FPDUs.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Replay {
    pub kind: ReplayKind,
    /// Connection.
    pub connection: Bits<10>,
    /// Span; not of `ReplayKind::Fault`.
    pub span: Bits<9>,
    /// `ReplayKind::Fault`: sequence number of the FPDU that reaches over the start of another one.
    pub sequence: Bits<32>,
}

/// DDP to MPA: a replay is done: no record of the span is kept, and what was to go through the
/// checks stands in the queue of records before all that comes from now on.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Replayed {
    pub kind: ReplayKind,
    /// As in [`Replay`].
    pub connection: Bits<10>,
    /// As in [`Replay`].
    pub span: Bits<9>,
}

/// What placement does with the beats of an FPDU or a host frame.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlaceKind {
    /// Throw the beats away.
    Discard,
    /// Write the payload to memory.
    Write,
    /// Put the frame into the host receive ring.
    Host,
}

/// DDP to placement: take the next FPDU out of the placement buffer, and what to do with it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlaceCommand {
    pub kind: PlaceKind,
    /// Beats to take out of the placement buffer; may be 0.
    pub beats: Bits<13>,
    /// Words before the payload in the first beat(s): 4 tagged, 5 untagged, 0 host.
    pub skip_words: Bits<3>,
    /// Bus address of the first payload octet (`PlaceKind::Write`).
    pub address: Bits<64>,
    /// Payload octets; for `PlaceKind::Host` the frame's. At least 1 unless `PlaceKind::Discard`.
    pub octets: Bits<16>,
    /// A completion queue entry follows the payload.
    pub complete: Bit,
    /// Words 0 to 6 of that entry, word 0 in bits 31:0.
    pub cqe: Bits<224>,
}

/// Register file to every room: one table operation. It holds until the owning room's `table_done`.
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

/// Trace: what became of an FPDU, one cycle, in stream order. None for FPDUs after a stream's
/// error.
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
    /// The ULPDU has a DDP header, and CRC and markers are right: `opcode` counts.
    pub opcode_valid: Bit,
    /// Octets placed in memory.
    pub placed_octets: Bits<16>,
    /// They were placed while octets before the FPDU were still missing.
    pub placed_ooo: Bit,
}
