//! Conditions on the receiving side: how the driver sets device, connections, regions and buffers
//! up, and how late it takes what the device gives.
//!
//! All is drawn from one seed ([`Conditions::draw`]); what concerns one flow, region or buffer
//! depends on the seed and its number alone, so that a prefix of a capture meets the same. Without
//! a seed the device gets what the capture needs: the widest window, regions and buffers of the
//! size that is written, long queues, and a driver that is never late.

use rand::distr::{weighted::WeightedIndex, Distribution};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::{CONNECTIONS_LOG2, MAX_RECEIVE_WINDOW};
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
/// Rings where pieces of memory cross 4 GiB.
const HIGH_RINGS_ADDRESS: u64 = 0x9_0000_0000;
const FOUR_GIB: u64 = 1 << 32;
/// Cycles that a patient wire waits: more than one reading of the longest FPDU.
const PATIENCE_CYCLES: usize = 6_000;
/// Ring bases are multiples of this.
const RING_ALIGNMENT: u64 = 4096;

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
    /// A region begins before and ends behind its traffic.
    LargerRegion,
    /// A region is one octet too short, at its end or its beginning.
    ShorterRegion,
    /// A receive buffer is longer than its message.
    LargerBuffer,
    /// A receive buffer is too short, mostly by an octet.
    ShorterBuffer,
    /// The MSNs of a connection begin just below 2^32.
    MsnWrap,
    /// A connection has a receive queue of four entries at most.
    SmallReceiveQueue,
    /// The completion queue has 16 entries at most.
    SmallCompletionQueue,
    /// The driver takes completions late.
    LateDriver,
    /// The host ring has 16 slots at most.
    SmallHostRing,
    /// Slots of the host ring are shorter than the longest frame.
    SmallHostSlots,
    /// A connection may have fewer pages for segments beyond a gap than there are.
    SmallShare,
    /// Maximum payload size of 128 octets.
    Payload128,
    /// Maximum payload size of 512 octets.
    Payload512,
    /// Regions and buffers lie below 4 GiB.
    LowPieces,
    /// A region or buffer crosses 4 GiB.
    CrossingPieces,
    /// Completion queue and host ring lie below 4 GiB.
    LowRings,
    /// Completion queue or host ring crosses 4 GiB.
    CrossingRings,
}

impl Condition {
    /// Every kind.
    pub const ALL: [Self; 26] = [
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
        Self::MsnWrap,
        Self::SmallReceiveQueue,
        Self::SmallCompletionQueue,
        Self::LateDriver,
        Self::SmallHostRing,
        Self::SmallHostSlots,
        Self::SmallShare,
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
            Self::MsnWrap => "msn_wrap",
            Self::SmallReceiveQueue => "small_receive_queue",
            Self::SmallCompletionQueue => "small_completion_queue",
            Self::LateDriver => "late_driver",
            Self::SmallHostRing => "small_host_ring",
            Self::SmallHostSlots => "small_host_slots",
            Self::SmallShare => "small_share",
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
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            rings_address: RINGS_ADDRESS,
            late_frames: 1,
            patience_cycles: PATIENCE_CYCLES,
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
    /// Octets behind its traffic; one less than the traffic has if negative.
    pub behind: i64,
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
    completion_entries_log2: u32,
    host_slots_log2: u32,
    host_slot_octets_log2: u32,
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
            completion_entries_log2: config.completion_entries_log2,
            host_slots_log2: config.host_slots_log2,
            host_slot_octets_log2: config.host_slot_octets_log2,
            ooo_pages_max: config.early_pages,
            ooo_share_max: config.early_share,
            windows: (0.0, 0),
            owned: 0.0,
            refused: 0.0,
            resized: 0.0,
            shortened: 0.0,
        }
    }
}

/// What a choice concerns, so that each is drawn apart.
#[derive(Copy, Clone)]
enum Subject {
    Run,
    Window,
    Region,
    Buffer,
}

impl Conditions {
    /// Those of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut random = generator(seed, Subject::Run, 0, 0);
        let conditions = Self {
            seed: Some(seed),
            ..Self::default()
        };
        conditions.draw_memory(&mut random).draw_device(&mut random)
    }

    fn draw_memory(mut self, random: &mut ChaCha8Rng) -> Self {
        self.first_msn = match random.random_bool(0.4) {
            true => u32::MAX - random.random_range(0..12),
            false => 1,
        };
        self.queue_entries_log2_max = weighted(random, &[(u32::MAX, 9), (2, 1), (1, 1), (0, 1)]);
        let crossing = FOUR_GIB - random.random_range(1..20_000);
        let pieces = [(PIECES_ADDRESS, 2), (LOW_PIECES_ADDRESS, 1), (crossing, 2)];
        self.pieces_address = weighted(random, &pieces);
        let crosses = self.pieces_address == crossing;
        let crossing = FOUR_GIB - RING_ALIGNMENT * random.random_range(1..4);
        self.surroundings.rings_address =
            match (weighted(random, &[(0, 2), (1, 1), (2, 1)]), crosses) {
                (0, false) => RINGS_ADDRESS,
                (1, false) => crossing,
                (2, _) => LOW_RINGS_ADDRESS,
                _ => HIGH_RINGS_ADDRESS,
            };
        self.domain_mask = random.random();
        let share =
            |random: &mut ChaCha8Rng, zero| weighted(random, &[(0.0, zero), (0.1, 1), (0.5, 1)]);
        self.owned = share(random, 1);
        self.resized = share(random, 1);
        // What is refused ends its stream: mostly few, so that most of the traffic is looked at.
        self.refused = weighted(random, &[(0.0, 10), (0.03, 9), (0.3, 1)]);
        self.shortened = weighted(random, &[(0.0, 10), (0.03, 9), (0.3, 1)]);
        self
    }

    fn draw_device(mut self, random: &mut ChaCha8Rng) -> Self {
        let windows = weighted(random, &[(0.0, 16), (0.2, 6), (1.0, 1)]);
        self.windows = (windows, random.random_range(11..=18));
        self.max_payload_octets = weighted(random, &[(256, 2), (128, 1), (512, 1)]);
        self.completion_entries_log2 = weighted(random, &[(10, 4), (4, 1), (3, 1), (1, 1)]);
        self.surroundings.late_frames = weighted(random, &[(1, 3), (7, 1), (64, 1)]);
        self.host_slots_log2 = weighted(random, &[(8, 4), (4, 1), (2, 1), (1, 1)]);
        self.host_slot_octets_log2 = weighted(random, &[(14, 4), (11, 1), (7, 1)]);
        let share = weighted(random, &[(512, 20), (64, 3), (8, 1), (1, 1)]);
        self.ooo_share_max = random.random_range(0..=share);
        if share == 512 {
            self.ooo_share_max = share;
        }
        self.ooo_pages_max = weighted(random, &[(512, 20), (100, 2), (12, 1)]);
        self.surroundings.patience_cycles = weighted(random, &[(0, 2), (PATIENCE_CYCLES, 1)]);
        self
    }

    /// `config` under these conditions.
    pub fn config(&self, config: Config) -> Config {
        let early_pages = config.early_pages.min(self.ooo_pages_max);
        Config {
            max_payload_octets: self.max_payload_octets,
            completion_entries_log2: self.completion_entries_log2,
            host_slots_log2: self.host_slots_log2,
            host_slot_octets_log2: self.host_slot_octets_log2,
            early_pages,
            early_share: config.early_share.min(self.ooo_share_max),
            ..config
        }
    }

    /// What is met by the device as a whole, which `config` sets up.
    pub fn of_device(&self, config: &Config) -> Met {
        let late = self.surroundings.late_frames > 1;
        let pieces = self.pieces_address;
        let rings = self.surroundings.rings_address;
        let met = [
            (
                Condition::SmallCompletionQueue,
                config.completion_entries_log2 <= 4,
            ),
            (Condition::LateDriver, late),
            (Condition::SmallHostRing, config.host_slots_log2 <= 4),
            (Condition::SmallHostSlots, config.host_slot_octets_log2 < 14),
            (
                Condition::SmallShare,
                config.early_share < config.early_pages,
            ),
            (Condition::Payload128, config.max_payload_octets == 128),
            (Condition::Payload512, config.max_payload_octets == 512),
            (Condition::LowPieces, pieces == LOW_PIECES_ADDRESS),
            (
                Condition::CrossingPieces,
                pieces != LOW_PIECES_ADDRESS && pieces < FOUR_GIB,
            ),
            (Condition::LowRings, rings == LOW_RINGS_ADDRESS),
            (
                Condition::CrossingRings,
                rings != LOW_RINGS_ADDRESS && rings < FOUR_GIB,
            ),
        ];
        let met = met.into_iter().filter(|&(_, is_met)| is_met);
        met.map(|(condition, _)| (condition, 1)).collect()
    }

    /// May the host ring be full though it is emptied after each batch of frames?
    pub fn host_ring_is_small(&self) -> bool {
        self.host_slots_log2 < Config::default().host_slots_log2
    }

    /// Do connections refuse octets beyond a gap, or beyond a window, so that what follows waits?
    pub fn leaves_gaps(&self) -> bool {
        let out_of_order = self.ooo_share_max.min(self.ooo_pages_max);
        self.windows.0 > 0.0 || out_of_order < Config::default().early_pages
    }

    fn of(&self, subject: Subject, flow: usize, number: u64) -> Option<ChaCha8Rng> {
        let seed = self.seed?;
        Some(generator(seed, subject, flow, number))
    }

    /// Receive window of a flow, in octets.
    pub fn window(&self, flow: usize) -> u32 {
        let Some(mut random) = self.of(Subject::Window, flow, 0) else {
            return MAX_RECEIVE_WINDOW;
        };
        let (share, log2_max) = self.windows;
        match random.random_bool(share) {
            true => {
                let most = 1 << random.random_range(9..=log2_max);
                random.random_range(1..=most)
            }
            false => MAX_RECEIVE_WINDOW,
        }
    }

    /// Protection Domain of a flow: its own.
    pub fn domain(&self, flow: usize) -> u16 {
        flow as u16 ^ self.domain_mask
    }

    /// What is done to the region of `stag`.
    pub fn region(&self, flow: usize, stag: u32) -> RegionCondition {
        let mut condition = RegionCondition::default();
        let Some(mut random) = self.of(Subject::Region, flow, u64::from(stag)) else {
            return condition;
        };
        condition.bit = random.random_range(0..16);
        if random.random_bool(self.owned) {
            let own = [Condition::BoundRegion, Condition::MemoryWindow];
            condition.owner = own.choose(&mut random).copied();
        }
        if random.random_bool(self.refused) {
            let foreign = [
                Condition::ForeignDomain,
                Condition::ForeignConnection,
                Condition::BoundForeignDomain,
                Condition::AbsentRegion,
            ];
            condition.owner = foreign.choose(&mut random).copied();
        }
        condition.never_renewed = random.random_bool(4.0 * self.refused / 5.0);
        if random.random_bool(self.resized) {
            let room = |random: &mut ChaCha8Rng| weighted(random, &[(0, 1), (1, 1), (4099, 1)]);
            (condition.before, condition.behind) = (room(&mut random), room(&mut random));
        }
        if random.random_bool(self.shortened) {
            (condition.before, condition.behind) =
                weighted(&mut random, &[((0, -1), 3), ((-1, 0), 1)]);
        }
        condition
    }

    /// Octets that a buffer has more than its message; fewer, down to none, if negative.
    pub fn buffer(&self, flow: usize, qn: u32, position: usize) -> i64 {
        let number = u64::from(qn) << 32 | position as u64;
        let Some(mut random) = self.of(Subject::Buffer, flow, number) else {
            return 0;
        };
        // There are many more buffers than regions.
        if random.random_bool(self.shortened / 10.0) {
            return weighted(&mut random, &[(-1, 3), (-1500, 1)]);
        }
        match random.random_bool(self.resized) {
            true => weighted(&mut random, &[(1, 1), (7, 1), (5000, 1)]),
            false => 0,
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

fn generator(seed: u64, subject: Subject, flow: usize, number: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(
        (subject as u64) << 56 | (flow as u64) << 40 | (number >> 32) << 32 | number & 0xffff_ffff,
    );
    random
}

/// One of `choices`, by its weight.
fn weighted<T: Copy>(random: &mut ChaCha8Rng, choices: &[(T, u32)]) -> T {
    let weights = WeightedIndex::new(choices.iter().map(|choice| choice.1));
    choices[weights.expect("some weight is not zero").sample(random)].0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_seed_the_device_gets_what_the_capture_needs() {
        let conditions = Conditions::default();
        let config = Config::default();
        assert_eq!(conditions.config(config), config);
        assert_eq!(conditions.of_device(&config), Met::new());
        assert_eq!(conditions.window(3), MAX_RECEIVE_WINDOW);
        assert_eq!(conditions.domain(3), 3);
        assert_eq!(conditions.region(3, 0x1234), RegionCondition::default());
        assert_eq!(conditions.buffer(3, 0, 7), 0);
    }

    #[test]
    fn a_seed_gives_the_same_again_and_every_kind_is_drawn() {
        let mut met = Met::new();
        let mut add = |condition: Condition, is_met: bool| {
            *met.entry(condition).or_default() += u64::from(is_met);
        };
        for seed in 0..200 {
            let conditions = Conditions::draw(seed);
            assert_eq!(conditions, Conditions::draw(seed));
            let config = conditions.config(Config::default());
            for (condition, count) in conditions.of_device(&config) {
                add(condition, count > 0);
            }
            add(Condition::MsnWrap, conditions.first_msn > 1);
            add(
                Condition::SmallReceiveQueue,
                conditions.queue_entries_log2_max <= 2,
            );
            // It is counted where segments are judged.
            add(Condition::CutAtWindow, true);
            for flow in 0..4 {
                add(
                    Condition::SmallWindow,
                    conditions.window(flow) < MAX_RECEIVE_WINDOW,
                );
                for stag in 0..8 {
                    let region = conditions.region(flow, stag);
                    assert_eq!(region, conditions.region(flow, stag));
                    region.owner.into_iter().for_each(|owner| add(owner, true));
                    add(Condition::NeverRenewed, region.never_renewed);
                    add(
                        Condition::LargerRegion,
                        region.before > 0 || region.behind > 0,
                    );
                    add(
                        Condition::ShorterRegion,
                        region.before < 0 || region.behind < 0,
                    );
                    let buffer = conditions.buffer(flow, 0, stag as usize);
                    add(Condition::LargerBuffer, buffer > 0);
                    add(Condition::ShorterBuffer, buffer < 0);
                }
            }
        }
        for condition in Condition::ALL {
            assert!(
                met[&condition] > 5,
                "{}: {}",
                condition.name(),
                met[&condition]
            );
        }
    }

    #[test]
    fn a_foreign_connection_differs_in_a_bit_and_is_no_flows() {
        for own in 0..128 {
            for bit in 0..16 {
                let other = foreign_connection(own, bit, 128);
                assert_eq!((own ^ other).count_ones(), 1);
                assert!((128..1024).contains(&other));
            }
        }
    }
}
