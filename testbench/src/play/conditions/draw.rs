//! Draws conditions from a seed: those of a playback, and those of one window, region or buffer.

use super::{Condition, Conditions, RegionCondition};
use super::{FOUR_GIB, LOW_PIECES_ADDRESS, LOW_RINGS_ADDRESS, PATIENCE_CYCLES};
use super::{PIECES_ADDRESS, RINGS_ADDRESS};
use crate::play::dut::ReadSink;
use rand::distr::{weighted::WeightedIndex, Distribution};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::{COMPLETION_QUEUES, MAX_RECEIVE_WINDOW};
use rnic_driver::QueueId;

/// Rings where pieces of memory cross 4 GiB.
const HIGH_RINGS_ADDRESS: u64 = 0x9_0000_0000;
/// Ring bases are multiples of this.
const RING_ALIGNMENT: u64 = 4096;

/// What a choice concerns, so that each is drawn apart.
#[derive(Copy, Clone)]
enum Subject {
    Run,
    Window,
    Region,
    Buffer,
    Read,
    QueueId,
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
        // What is refused ends its stream: mostly few, so that most of the traffic is examined.
        self.refused = weighted(random, &[(0.0, 10), (0.03, 9), (0.3, 1)]);
        self.shortened = weighted(random, &[(0.0, 10), (0.03, 9), (0.3, 1)]);
        self
    }

    fn draw_device(mut self, random: &mut ChaCha8Rng) -> Self {
        let windows = weighted(random, &[(0.0, 16), (0.2, 6), (1.0, 1)]);
        self.windows = (windows, random.random_range(11..=18));
        self.max_payload_octets = weighted(random, &[(256, 2), (128, 1), (512, 1)]);
        self.spreads_completions = weighted(random, &[(false, 1), (true, 1)]);
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
        self.event_entries_log2 = weighted(random, &[(10, 3), (2, 1), (1, 1)]);
        self.event_delay_log2 = weighted(random, &[(0, 3), (12, 1), (13, 1)]);
        self
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

    /// Completion queue of a flow.
    pub fn completion_queue(&self, flow: usize) -> QueueId {
        let random = self.of(Subject::QueueId, flow, 0);
        match (random, self.spreads_completions) {
            (Some(mut random), true) => QueueId(random.random_range(0..COMPLETION_QUEUES as u8)),
            _ => QueueId::default(),
        }
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
            (condition.before, condition.after) = (room(&mut random), room(&mut random));
        }
        if random.random_bool(self.shortened) {
            (condition.before, condition.after) =
                weighted(&mut random, &[((0, -1), 3), ((-1, 0), 1)]);
        }
        condition
    }

    /// Change what a read asks for, seldom; true if it did.
    pub fn read(&self, flow: usize, position: usize, read: &mut ReadSink) -> bool {
        let Some(mut random) = self.of(Subject::Read, flow, position as u64) else {
            return false;
        };
        // There are many more reads than regions.
        if !random.random_bool(self.shortened / 10.0) {
            return false;
        }
        match random.random_range(0..5) {
            0 => read.octets = read.octets.wrapping_sub(1),
            1 => read.octets = read.octets.wrapping_add(1),
            2 => read.stag ^= 1 << random.random_range(0..32),
            3 => read.offset = read.offset.wrapping_sub(1),
            _ => read.offset ^= 1 << random.random_range(0..35),
        }
        true
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
    use crate::play::conditions::Met;
    use rnic_driver::Config;

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
            // It depends on the messages of the flows.
            add(Condition::SmallCompletionQueue, true);
            let queue = |flow| conditions.completion_queue(flow);
            let is_other = (0..4).any(|flow| queue(flow) != QueueId::default());
            add(Condition::OtherCompletionQueue, is_other);
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
                        region.before > 0 || region.after > 0,
                    );
                    add(
                        Condition::ShorterRegion,
                        region.before < 0 || region.after < 0,
                    );
                    let buffer = conditions.buffer(flow, 0, stag as usize);
                    add(Condition::LargerBuffer, buffer > 0);
                    add(Condition::ShorterBuffer, buffer < 0);
                    let asked = ReadSink {
                        stag,
                        offset: 5,
                        octets: 5,
                    };
                    let mut read = asked;
                    let differs = conditions.read(flow, stag as usize, &mut read);
                    assert_eq!(differs, read != asked);
                    add(Condition::OtherRead, differs);
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
}
