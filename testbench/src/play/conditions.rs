//! Conditions on the receiving side: how the driver sets device, connections, regions and buffers
//! up, and how late it takes what the device gives.
//!
//! All is drawn from one seed ([`Conditions::draw`]); what concerns one flow, region or buffer
//! depends on the seed and its number alone, so that a prefix of a capture meets the same. Without
//! a seed the device gets what the capture needs: the widest window, regions and buffers of the
//! size that is written, long queues, and a driver that is never late.

mod apply;
mod draw;

use rnic_abi::limits::CONNECTIONS_LOG2;
use rnic_driver::Config;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bus address of the first piece of memory that is mapped for a capture.
const PIECES_ADDRESS: u64 = 0x80_0000_0000;
/// Bus address of the completion queue, which the host ring follows.
const RINGS_ADDRESS: u64 = 0x1_0000_0000;
/// The same below 4 GiB.
const LOW_PIECES_ADDRESS: u64 = 0x4000_0000;
const LOW_RINGS_ADDRESS: u64 = 0x2000_0000;
const FOUR_GIB: u64 = 1 << 32;
/// Cycles that a patient wire waits: more than one reading of the longest FPDU.
const PATIENCE_CYCLES: usize = 6_000;

/// What is met, by kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A connection has a window whose right edge is met.
    SmallWindow,
    /// Segments whose octets beyond the window's right edge were cut off.
    CutAtWindow,
    /// A region is bound to its connection.
    BoundRegion,
    /// A region is a window of a larger one.
    MemoryWindow,
    /// A region belongs to another Protection Domain.
    ForeignDomain,
    /// A region is bound to another connection.
    ForeignConnection,
    /// A region that is bound to its connection belongs to another Protection Domain.
    BoundForeignDomain,
    /// A region does not exist.
    AbsentRegion,
    /// A region that its peer invalidates is never made valid again.
    NeverRenewed,
    /// A region begins before and ends after its traffic.
    LargerRegion,
    /// A region is one octet too short, at its end or its beginning.
    ShorterRegion,
    /// A receive buffer is longer than its message.
    LargerBuffer,
    /// A receive buffer is too short, mostly by an octet.
    ShorterBuffer,
    /// A read asks for something else than its response has: octets, STag or offset.
    OtherRead,
    /// The MSNs of a connection begin just below 2^32.
    MsnWrap,
    /// A connection has a receive queue of four entries at most.
    SmallReceiveQueue,
    /// A connection uses another completion queue than the first one.
    OtherCompletionQueue,
    /// A completion queue has 16 entries at most.
    SmallCompletionQueue,
    /// The driver takes completions late.
    LateDriver,
    /// The host ring has 16 slots at most.
    SmallHostRing,
    /// Slots of the host ring are shorter than the longest frame.
    SmallHostSlots,
    /// A connection may have fewer pages for segments beyond a gap than there are.
    SmallShare,
    /// The event ring has 4 entries at most.
    SmallEventRing,
    /// Events about octets in order alone are delayed.
    DelayedEvents,
    /// Maximum payload size of 128 octets.
    Payload128,
    /// Maximum payload size of 512 octets.
    Payload512,
    /// Regions and buffers lie below 4 GiB.
    LowPieces,
    /// A region or buffer crosses 4 GiB.
    CrossingPieces,
    /// Completion queues and host ring lie below 4 GiB.
    LowRings,
    /// Completion queue or host ring crosses 4 GiB.
    CrossingRings,
}

impl Condition {
    /// Every kind.
    pub const ALL: [Self; 30] = [
        Self::SmallWindow,
        Self::CutAtWindow,
        Self::BoundRegion,
        Self::MemoryWindow,
        Self::ForeignDomain,
        Self::ForeignConnection,
        Self::BoundForeignDomain,
        Self::AbsentRegion,
        Self::NeverRenewed,
        Self::LargerRegion,
        Self::ShorterRegion,
        Self::LargerBuffer,
        Self::ShorterBuffer,
        Self::OtherRead,
        Self::MsnWrap,
        Self::SmallReceiveQueue,
        Self::OtherCompletionQueue,
        Self::SmallCompletionQueue,
        Self::LateDriver,
        Self::SmallHostRing,
        Self::SmallHostSlots,
        Self::SmallShare,
        Self::SmallEventRing,
        Self::DelayedEvents,
        Self::Payload128,
        Self::Payload512,
        Self::LowPieces,
        Self::CrossingPieces,
        Self::LowRings,
        Self::CrossingRings,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SmallWindow => "small_window",
            Self::CutAtWindow => "cut_at_window",
            Self::BoundRegion => "bound_region",
            Self::MemoryWindow => "memory_window",
            Self::ForeignDomain => "foreign_domain",
            Self::ForeignConnection => "foreign_connection",
            Self::BoundForeignDomain => "bound_foreign_domain",
            Self::AbsentRegion => "absent_region",
            Self::NeverRenewed => "never_renewed",
            Self::LargerRegion => "larger_region",
            Self::ShorterRegion => "shorter_region",
            Self::LargerBuffer => "larger_buffer",
            Self::ShorterBuffer => "shorter_buffer",
            Self::OtherRead => "other_read",
            Self::MsnWrap => "msn_wrap",
            Self::SmallReceiveQueue => "small_receive_queue",
            Self::OtherCompletionQueue => "other_completion_queue",
            Self::SmallCompletionQueue => "small_completion_queue",
            Self::LateDriver => "late_driver",
            Self::SmallHostRing => "small_host_ring",
            Self::SmallHostSlots => "small_host_slots",
            Self::SmallShare => "small_share",
            Self::SmallEventRing => "small_event_ring",
            Self::DelayedEvents => "delayed_events",
            Self::Payload128 => "payload_128",
            Self::Payload512 => "payload_512",
            Self::LowPieces => "low_pieces",
            Self::CrossingPieces => "crossing_pieces",
            Self::LowRings => "low_rings",
            Self::CrossingRings => "crossing_rings",
        }
    }
}

/// How often each kind was met.
pub type Met = BTreeMap<Condition, u64>;

/// What surrounds the device.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Bus address of the completion queue, which the host ring follows.
    pub rings_address: u64,
    /// The driver takes completions after so many frames.
    pub late_frames: usize,
    /// Cycles that the wire waits before each frame while few pages are left, as peers do that a
    /// receiver slows down.
    pub patience_cycles: usize,
    /// Cycles from one frame's start to the next, at least; 0: as fast as the wire brings them.
    pub frame_cycles_min: u64,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            rings_address: RINGS_ADDRESS,
            late_frames: 1,
            patience_cycles: PATIENCE_CYCLES,
            frame_cycles_min: 0,
        }
    }
}

/// What is done to a region.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionCondition {
    /// How it is bound, or whose it is; nothing special if absent.
    pub owner: Option<Condition>,
    /// It is not made valid again.
    pub never_renewed: bool,
    /// Octets before its traffic; one less than the traffic has if negative.
    pub before: i64,
    /// Octets after its traffic; one less than the traffic has if negative.
    pub after: i64,
    /// A bit of Protection Domain or connection that is another's.
    pub bit: u32,
}

/// Conditions of a playback.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// What they are drawn from; the default, if absent.
    pub seed: Option<u64>,
    /// MSN of the first message on each queue.
    pub first_msn: u32,
    /// log2 of the most entries of a receive queue.
    pub queue_entries_log2_max: u32,
    /// Bus address of the first piece of memory.
    pub pieces_address: u64,
    /// What surrounds the device.
    pub surroundings: Surroundings,
    /// Bits that turn in the number of a flow to give its Protection Domain.
    pub domain_mask: u16,
    max_payload_octets: u32,
    /// Connections are spread over all completion queues, each no larger than its connections
    /// need; if not, all use the first one, which has room for anything.
    spreads_completions: bool,
    host_slots_log2: u32,
    host_slot_octets_log2: u32,
    event_entries_log2: u32,
    event_delay_log2: u32,
    ooo_pages_max: u32,
    ooo_share_max: u32,
    /// Share of connections with a small window, and log2 of the largest one.
    windows: (f64, u32),
    /// Share of regions that are not plain, share of them that are refused, and the same for
    /// extents and buffers.
    owned: f64,
    refused: f64,
    resized: f64,
    shortened: f64,
}

impl Default for Conditions {
    fn default() -> Self {
        let config = Config::default();
        Self {
            seed: None,
            first_msn: 1,
            queue_entries_log2_max: u32::MAX,
            pieces_address: PIECES_ADDRESS,
            surroundings: Surroundings::default(),
            domain_mask: 0,
            max_payload_octets: config.max_payload_octets,
            spreads_completions: false,
            host_slots_log2: config.host_slots_log2,
            host_slot_octets_log2: config.host_slot_octets_log2,
            event_entries_log2: config.event_entries_log2,
            event_delay_log2: 0,
            ooo_pages_max: config.out_of_order_pages,
            ooo_share_max: config.out_of_order_share,
            windows: (0.0, 0),
            owned: 0.0,
            refused: 0.0,
            resized: 0.0,
            shortened: 0.0,
        }
    }
}

/// A connection that is not `own`, and whose id is not one of the first `used` ones.
pub fn foreign_connection(own: u16, bit: u32, used: usize) -> u16 {
    let bits = CONNECTIONS_LOG2 as u32;
    let others = (0..bits).map(|turn| own ^ 1 << ((bit + turn) % bits));
    let unused = others.filter(|&id| usize::from(id) >= used);
    unused.into_iter().next().unwrap_or(own ^ 1 << (bits - 1))
}
