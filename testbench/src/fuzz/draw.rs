//! What a run plays: a workload, its faults, the back-pressure and the seed of conditions on the
//! receiving side, drawn from seed and number.
//!
//! Most runs are small and mostly whole, so that they are examined to the end; some are
//! harsh. About [`SEGMENTS`] segments make a run, however they come about. Bounded are:
//!
//! - octets and messages of a run, for its time;
//! - what waits in packet memory: the model has none that could be full, and which frame the
//!   hardware then drops depends on the cycle;
//! - completions: playback empties their queue every 256 frames, and the hardware waits while it is
//!   full, so a run with many messages in a segment is a short one.

use crate::traffic::Cutter;
use crate::workload::describe::{MTU_MAX, MTU_MIN_V4, MTU_MIN_V6};
use crate::workload::{Faults, Field, Interleave, IpFamily, Markers, Mix, Resend, Workload};
use rand::distr::{weighted::WeightedIndex, Distribution};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::PAGE_OCTETS;
use rnic_wire::mpa::fpdu::{mulpdu, MULPDU_MIN, ULPDU_OCTETS_MAX};
use std::ops::RangeInclusive;

/// Segments that a run is meant to have.
pub const SEGMENTS: RangeInclusive<usize> = 500..=1500;
/// Octets of messages in a run, about.
const OCTETS_MAX: f64 = 600_000.0;
/// Messages of a run.
const MESSAGES_MAX: f64 = 3_000.0;
/// Pages of packet memory that incomplete FPDUs may take: playback leaves 400 to what is in order,
/// whole frames among them.
const PAGES_MAX: f64 = 300.0;
/// DDP header of a long kind, ULPDU_Length, pad and CRC.
const FPDU_OVERHEAD_OCTETS: f64 = 26.0;

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its number.
    pub run: u64,
    /// What is sent, and what goes wrong.
    pub workload: Workload,
    /// Probability of back-pressure on the PCI Express side in a cycle.
    pub stall: f64,
    /// Hostile actions a frame.
    pub hostile: f64,
    /// Seed of the conditions on the receiving side, if there are any.
    pub conditions: Option<u64>,
}

impl Case {
    /// Run number `run` of `seed`.
    pub fn draw(seed: u64, run: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(run);
        let mut draw = Draw { generator };
        let mut workload = draw.workload();
        draw.faults(&mut workload);
        if draw.happens(0.04) {
            draw.lengthen(&mut workload);
        }
        let mut odd = ChaCha8Rng::seed_from_u64(seed.rotate_left(32));
        odd.set_stream(run);
        let mut odd = Draw { generator: odd };
        odd.oddities(&mut workload);
        let conditions = odd.conditions(&mut workload);
        fit_packet_memory(&mut workload);
        let segments = draw.between(SEGMENTS);
        fit_segments(&mut workload, segments);
        workload.messages = messages(&workload, segments);
        draw.stream_errors(&mut workload);
        odd.terminates(&mut workload);
        odd.selective_acks(&mut workload);
        let stall = draw.stall();
        Self {
            run,
            workload,
            stall,
            hostile: 0.0,
            conditions,
        }
    }

    /// The same run with malicious peers and a misbehaving host.
    pub fn turn_hostile(&mut self, seed: u64) {
        let mut generator = ChaCha8Rng::seed_from_u64(!seed);
        generator.set_stream(self.run);
        let mut draw = Draw { generator };
        let most = draw.weighted(&[(0.01, 4), (0.05, 4), (0.3, 2)]);
        self.hostile = draw.rate(most).max(0.001);
    }
}

pub(super) struct Draw {
    pub(super) generator: ChaCha8Rng,
}

impl Draw {
    fn between(&mut self, range: RangeInclusive<usize>) -> usize {
        self.generator.random_range(range)
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.generator.random_bool(probability)
    }

    /// A number of up to `most` as a user would write it: three decimals.
    pub(super) fn rate(&mut self, most: f64) -> f64 {
        let thousandths = (most * 1000.0).round() as u32;
        f64::from(self.generator.random_range(0..=thousandths)) / 1000.0
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let chosen = choices.choose(&mut self.generator);
        *chosen.expect("there is something to choose from")
    }

    /// One of `choices`, by its weight.
    fn weighted<T: Clone>(&mut self, choices: &[(T, u32)]) -> T {
        let weights = WeightedIndex::new(choices.iter().map(|choice| choice.1));
        let weights = weights.expect("some weight is not zero");
        choices[weights.sample(&mut self.generator)].0.clone()
    }

    fn workload(&mut self) -> Workload {
        let connections = self.weighted(&[
            (1..=1, 35),
            (2..=2, 20),
            (3..=8, 30),
            (9..=24, 10),
            (25..=64, 5),
        ]);
        let sizes = self.weighted(&[
            (0..=64, 20),
            (0..=512, 35),
            (0..=2000, 25),
            (0..=9000, 15),
            (0..=ULPDU_OCTETS_MAX, 5),
        ]);
        let mulpdu = self.weighted(&[
            (None, 50),
            (Some(MULPDU_MIN..=512), 25),
            (Some(513..=1460), 10),
            (Some(1461..=ULPDU_OCTETS_MAX), 15),
        ]);
        let ip = self.weighted(&[(IpFamily::V4, 2), (IpFamily::V6, 1), (IpFamily::Both, 1)]);
        let tags = self.weighted(&[(0, 60), (1, 25), (2, 15)]);
        let markers = [Markers::Initiator, Markers::Responder, Markers::Both];
        Workload {
            seed: self.generator.random(),
            connections: self.between(connections),
            interleave: self.one_of(&[Interleave::Segment, Interleave::Fpdu]),
            messages: 1,
            sizes,
            mix: self.mix(),
            mulpdu: mulpdu.map(|range| self.between(range)),
            cutter: self.one_of(&Cutter::ALL),
            markers: match self.happens(0.6) {
                true => self.one_of(&markers),
                false => Markers::Off,
            },
            crc: self.happens(0.8),
            revision: self.one_of(&[0, 1, 2]),
            ip,
            vlan: (0..tags).map(|_| self.between(1..=4094) as u16).collect(),
            timestamps: self.happens(0.4),
            mtu: self.mtu(ip),
            sequence_start: self.sequence_start(),
            faults: Faults::default(),
            ..Workload::default()
        }
    }

    fn mix(&mut self) -> Mix {
        if self.happens(0.5) {
            return Mix::default();
        }
        let weights = Mix::KINDS.map(|kind| (kind, self.between(0..=4) as u32));
        match weights.iter().all(|(_, weight)| *weight == 0) {
            true => Mix::default(),
            false => Mix(weights.into()),
        }
    }

    fn mtu(&mut self, ip: IpFamily) -> usize {
        let least = match ip {
            IpFamily::V4 => MTU_MIN_V4,
            IpFamily::V6 | IpFamily::Both => MTU_MIN_V6,
        };
        let range = self.weighted(&[
            (least..=least, 40),
            (1500..=1500, 40),
            (least..=MTU_MAX, 15),
            (MTU_MAX..=MTU_MAX, 5),
        ]);
        self.between(range)
    }

    /// Anywhere, where the stream will pass 2^32, or at a corner.
    fn sequence_start(&mut self) -> Option<u32> {
        match self.weighted(&[(0, 50), (1, 30), (2, 20)]) {
            0 => None,
            1 => Some(u32::MAX - self.between(0..=60_000) as u32),
            _ => Some(self.one_of(&[0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX])),
        }
    }

    /// Faults of segments and frames.
    fn faults(&mut self, workload: &mut Workload) {
        let most = self.weighted(&[(0.0, 15), (0.05, 45), (0.2, 30), (0.7, 10)]);
        let windows = self.weighted(&[(1..=8, 9), (9..=64, 1)]);
        let mut rate = |share: f64, most: f64| match self.happens(share) {
            true => self.rate(most),
            false => 0.0,
        };
        workload.faults = Faults {
            resegment: rate(0.6, most),
            overlap: rate(0.6, most),
            loss: rate(0.6, most / 2.0),
            duplicate: rate(0.6, most),
            reorder: rate(0.6, most),
            ..Faults::default()
        };
        for field in Field::ALL.into_iter().filter(|field| field.is_of_frame()) {
            let rate = rate(0.5, most / 4.0);
            workload.faults.errors.insert(field, rate);
        }
        let resend = [(Resend::All, 65), (Resend::Lost, 25), (Resend::Never, 10)];
        workload.faults.resend = self.weighted(&resend);
        workload.faults.resend_after = self.between(1..=30);
        workload.faults.reorder_window = self.between(windows);
    }

    /// FPDUs of up to 64 KiB. One of them fills most of packet memory, so one is on its way at a
    /// time, and no segment of it is missing.
    fn lengthen(&mut self, workload: &mut Workload) {
        workload.connections = self.between(1..=2);
        workload.interleave = Interleave::Fpdu;
        workload.sizes = 0..=ULPDU_OCTETS_MAX;
        workload.mulpdu = Some(self.between(ULPDU_OCTETS_MAX / 2..=ULPDU_OCTETS_MAX));
        workload.mtu = workload.mtu.max(1500);
        let faults = &mut workload.faults;
        (faults.loss, faults.reorder) = (0.0, 0.0);
        faults.errors.clear();
    }

    /// Wrong bits in FPDUs, under a right TCP checksum. The first one ends its stream, so there are
    /// few in a direction.
    fn stream_errors(&mut self, workload: &mut Workload) {
        if !self.happens(0.4) {
            return;
        }
        let messages = workload.messages as f64;
        let fpdus = messages * fpdus_a_message(workload);
        // Only so many FPDUs have a marker.
        let sides = if workload.markers == Markers::Both {
            1.0
        } else {
            0.5
        };
        let markers = sides * (longest_fpdu(workload) / 512.0).min(1.0);
        for field in Field::ALL.into_iter().filter(|field| !field.is_of_frame()) {
            let needs_crc = matches!(field, Field::Length | Field::Header);
            let needs_markers = field == Field::Marker;
            let possible = (workload.crc || !needs_crc)
                && (workload.markers != Markers::Off || !needs_markers);
            let expected = 2.0 * self.generator.random::<f64>();
            let wanted = self.happens(0.6) || needs_markers;
            if !wanted || !possible {
                continue;
            }
            let share = if needs_markers { markers } else { 1.0 };
            let rate = (expected / (fpdus * share)).min(0.5);
            workload.faults.errors.insert(field, rate);
        }
    }

    fn stall(&mut self) -> f64 {
        let most = self.weighted(&[(0.0, 50), (0.3, 30), (0.7, 18), (0.9, 2)]);
        self.rate(most)
    }
}

/// Longest TCP payload of a frame.
fn mss(workload: &Workload) -> usize {
    let ip = match workload.ip {
        IpFamily::V4 => 20,
        IpFamily::V6 | IpFamily::Both => 40,
    };
    let tcp = if workload.timestamps { 32 } else { 20 };
    workload.mtu - ip - tcp
}

fn longest_ulpdu(workload: &Workload) -> usize {
    let markers = workload.markers != Markers::Off;
    workload.mulpdu.unwrap_or(mulpdu(mss(workload), markers))
}

/// Octets of the longest FPDU there can be, markers left out.
pub(super) fn longest_fpdu(workload: &Workload) -> f64 {
    let message = *workload.sizes.end() as f64 + FPDU_OVERHEAD_OCTETS;
    message.min(longest_ulpdu(workload) as f64)
}

fn fpdus_a_message(workload: &Workload) -> f64 {
    (mean_size(workload) / longest_ulpdu(workload) as f64).max(1.0)
}

fn mean_size(workload: &Workload) -> f64 {
    (workload.sizes.start() + workload.sizes.end()) as f64 / 2.0
}

/// Octets of a segment in the middle of an FPDU.
fn mean_segment(workload: &Workload) -> f64 {
    let whole = mss(workload) as f64;
    let cut = match workload.cutter {
        Cutter::Chopped => whole / 2.0,
        Cutter::Aligned | Cutter::Packed | Cutter::Full => whole,
    };
    cut / (1.0 + workload.faults.resegment + workload.faults.overlap)
}

/// Shorter FPDUs, then fewer connections, until what waits fits packet memory.
fn fit_packet_memory(workload: &mut Workload) {
    while pages(workload) > PAGES_MAX {
        let longest = longest_fpdu(workload) as usize;
        if longest > MULPDU_MIN {
            workload.mulpdu = Some((longest * 3 / 4).max(MULPDU_MIN));
        } else {
            workload.connections -= 1;
        }
    }
}

/// Pages that incomplete FPDUs take at one time, about. Every direction may be in the middle of its
/// longest one, unless connections take turns by FPDU and no segment is missing: then one is, and
/// the rest have begun theirs at most. A stream that an error has ended takes none.
fn pages(workload: &Workload) -> f64 {
    let segment = mean_segment(workload);
    let of = |octets: f64| 1.0 + octets / PAGE_OCTETS as f64 + octets / segment;
    let longest = of(longest_fpdu(workload));
    let directions = directions(workload);
    let faults = &workload.faults;
    let frames = faults
        .errors
        .iter()
        .filter(|(field, _)| field.is_of_frame());
    let mut missing = frames
        .map(|(_, rate)| rate)
        .chain(
            faults
                .oddities
                .iter()
                .filter(|(oddity, _)| oddity.is_loss())
                .map(|(_, rate)| rate),
        )
        .chain([&faults.loss, &faults.reorder]);
    if workload.interleave == Interleave::Segment || missing.any(|&rate| rate > 0.0) {
        return directions * longest;
    }
    let begun = match workload.cutter {
        Cutter::Aligned | Cutter::Packed => 0.0,
        Cutter::Full | Cutter::Chopped => of(longest_fpdu(workload).min(mss(workload) as f64)),
    };
    longest + directions * begun
}

/// Segments that a message takes, about.
fn segments_a_message(workload: &Workload) -> f64 {
    let fpdus = fpdus_a_message(workload);
    let octets = octets_a_message(workload);
    let whole = mss(workload) as f64;
    let cut = match workload.cutter {
        Cutter::Aligned => fpdus * (octets / fpdus / whole).max(1.0),
        Cutter::Packed | Cutter::Full => octets / whole,
        Cutter::Chopped => 2.0 * octets / whole,
    };
    let faults = &workload.faults;
    cut * (1.0 + faults.resegment + faults.overlap + faults.duplicate)
}

/// Octets that a message takes in the stream, about.
fn octets_a_message(workload: &Workload) -> f64 {
    mean_size(workload) + fpdus_a_message(workload) * FPDU_OVERHEAD_OCTETS
}

/// Smaller messages, until one of each direction is not far more than `segments` segments.
fn fit_segments(workload: &mut Workload, segments: usize) {
    let most = segments as f64 * 2.0 / directions(workload);
    while segments_a_message(workload) > most {
        workload.sizes = 0..=workload.sizes.end() / 2;
    }
}

fn directions(workload: &Workload) -> f64 {
    2.0 * workload.connections as f64
}

/// Messages of a direction for about `segments` segments in all.
fn messages(workload: &Workload, segments: usize) -> usize {
    let a_message = segments_a_message(workload);
    let most = MESSAGES_MAX.min(OCTETS_MAX / octets_a_message(workload));
    let wanted = (segments as f64 / a_message).min(most);
    (wanted / directions(workload)).max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every drawn workload can be generated, and the same is drawn again.
    #[test]
    fn every_run_is_possible_and_its_own() {
        for run in 0..5_000 {
            let case = Case::draw(7, run);
            let good = case.workload.check();
            good.unwrap_or_else(|error| panic!("run {run}: {error}: {case:?}"));
            assert_eq!(case, Case::draw(7, run));
            assert_ne!(case.workload.seed, Case::draw(8, run).workload.seed);
            assert!((0.0..=0.95).contains(&case.stall));
            assert!(pages(&case.workload) <= PAGES_MAX, "run {run}: {case:?}");
        }
    }

    /// The longest FPDU is drawn, and 64 connections are.
    #[test]
    fn the_borders_of_what_can_be_are_drawn() {
        let cases: Vec<Case> = (0..20_000).map(|run| Case::draw(1, run)).collect();
        let workloads = || cases.iter().map(|case| &case.workload);
        assert!(workloads().any(|workload| workload.connections == 64));
        assert!(workloads().any(|workload| longest_fpdu(workload) > 60_000.0));
        assert!(workloads().any(|workload| workload.mulpdu == Some(MULPDU_MIN)));
    }
}
