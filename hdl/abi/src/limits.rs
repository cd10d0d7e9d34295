//! Sizes that hardware, driver and model agree on.

/// Pad octets before each stored frame, which align every header after Ethernet's to four octets.
pub const FRAME_PAD_OCTETS: usize = 2;
/// Longest frame that the device accepts, in octets without the FCS but with VLAN tags.
pub const MAX_FRAME_OCTETS: usize = 9216;
/// Shortest frame with a complete Ethernet header, in octets without the FCS.
pub const MIN_FRAME_OCTETS: usize = 14;
/// Octets of one page of packet memory.
pub const PAGE_OCTETS: usize = 256;
/// Pages of packet memory for a frame of `octets` octets without its FCS.
pub const fn frame_pages(octets: usize) -> u32 {
    (octets + FRAME_PAD_OCTETS).div_ceil(PAGE_OCTETS) as u32
}
/// log2 of the number of pages of packet memory.
pub const PAGES_LOG2: usize = 9;
/// Pages of packet memory (128 KiB in all).
pub const PAGES: usize = 1 << PAGES_LOG2;
/// log2 of the number of offloaded connections of the largest build.
pub const CONNECTIONS_LOG2: usize = 10;
/// Offloaded connections of the largest build ([`crate::sizes`]).
pub const CONNECTIONS: usize = 1 << CONNECTIONS_LOG2;
/// log2 of the number of completion queues.
pub const COMPLETION_QUEUES_LOG2: usize = 4;
/// Completion queues; each connection uses one of them.
pub const COMPLETION_QUEUES: usize = 1 << COMPLETION_QUEUES_LOG2;
/// Ways of each hash table; each key has one possible slot in each way.
pub const HASH_WAYS: usize = 3;
/// log2 of the number of slots in one way of a hash table.
pub const HASH_SLOTS_LOG2: usize = 9;
/// log2 of the number of memory regions of the largest build.
pub const REGIONS_LOG2: usize = 10;
/// Memory regions that can be registered at one time in the largest build ([`crate::sizes`]).
pub const REGIONS: usize = 1 << REGIONS_LOG2;
/// log2 of the number of entries in the shared pool of posted receive buffers.
pub const RECEIVE_POOL_LOG2: usize = 11;
/// Entries of the shared pool of posted receive buffers.
pub const RECEIVE_POOL: usize = 1 << RECEIVE_POOL_LOG2;
/// Untagged queues of a connection: Send, Read Request, Terminate.
pub const QUEUES: usize = 3;
/// Number of the queue that holds a connection's outstanding reads, for which there is no QN.
pub const READ_QUEUE: usize = QUEUES;
/// Queues of a connection in the device's tables: those of messages, and that of reads.
pub const QUEUE_SLOTS: usize = QUEUES + 1;
/// The sink of a read is a region of fewer than 2^35 octets (32 GiB): an outstanding read holds
/// that many low bits of its Tagged Offset.
pub const READ_SINK_OCTETS_LOG2: usize = 35;
/// Longest ULPDU that is checked and placed in one pass, in octets; a longer one is read from
/// packet memory twice.
pub const SINGLE_PASS_ULPDU_OCTETS: usize = 9216;
/// log2 of the number of received ranges beyond rcv_nxt, of all connections together.
pub const RANGES_LOG2: usize = 8;
/// Received ranges beyond rcv_nxt, of all connections together.
pub const RANGES: usize = 1 << RANGES_LOG2;
/// Received ranges beyond rcv_nxt that one connection may have.
pub const RANGES_PER_CONNECTION: usize = 16;
/// Fragments: runs of new octets with a further run in the same frame, of all frames together. A
/// segment that overlaps received ranges has a run on each side of them.
pub const FRAGMENTS: usize = 64;
/// Spans: each out-of-order segment that does not follow received octets opens one. It ends when
/// the stream reaches it.
pub const SPANS: usize = 512;
/// Records of FPDUs placed beyond a gap, of all connections together; if none is free, an FPDU is
/// placed when it is in order.
pub const OUT_OF_ORDER_RECORDS: usize = 511;
/// Pages of packet memory that are reserved for segments in order. The longest frame takes 37.
pub const IN_ORDER_PAGES: usize = 40;
/// Cycles from reset to ready, without the end of the TLP under way.
pub const RESET_CYCLES: u64 = 4_800;
/// Largest receive window of a connection, in octets.
pub const MAX_RECEIVE_WINDOW: u32 = 1 << 30;
