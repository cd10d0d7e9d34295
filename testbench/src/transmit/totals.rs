//! What a run of the transmit side depends on, and what comes of it.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a run depends on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Seed of the campaign.
    pub seed: u64,
    /// Number of the run.
    pub run: u64,
    /// Frame path in bits.
    pub width: usize,
    /// The core as synthesised.
    pub silicon: bool,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its totals.
    pub totals: Totals,
    /// Differences, of which there should be none.
    pub differences: Vec<String>,
    /// Frames that left, in order.
    pub sent: Vec<Vec<u8>>,
}

/// Sums over all runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Runs.
    pub runs: u64,
    /// Frames handed to the device.
    pub frames: u64,
    /// Those of them that were drawn at random, for a host without faults.
    pub drawn: u64,
    /// Octets of frames that left.
    pub octets: u64,
    /// Frames with a checksum inserted.
    pub checksums: u64,
    /// Frames with a CRC32C inserted.
    pub crcs: u64,
    /// FPDUs of conversations.
    pub fpdus: u64,
    /// Pieces of frames.
    pub pieces: u64,
    /// Frames given up as their memory could not be read.
    pub unreadable: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Differences.
    pub mismatches: u64,
    /// Cycles of the hardware.
    pub cycles: u64,
    /// Heads that were drawn at a limit, below or beyond it: those that are sent, and those
    /// that are given up.
    pub limits: BTreeMap<&'static str, [u64; 2]>,
    /// What the host's wrong answers were for.
    pub spoiled: BTreeMap<&'static str, u64>,
}

impl Totals {
    /// Add another run's.
    pub fn add(&mut self, other: &Self) {
        for (sum, value) in self.rows_mut().into_iter().zip(other.rows()) {
            *sum.1 += value.1;
        }
        for (&limit, counts) in &other.limits {
            let sums = self.limits.entry(limit).or_default();
            sums.iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
        for (&kind, count) in &other.spoiled {
            *self.spoiled.entry(kind).or_default() += count;
        }
    }

    /// A table.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (name, value) in self.rows() {
            writeln!(out, "{name:<28} {value:>12}").expect("a string takes everything");
        }
        for (limit, [sent, given_up]) in &self.limits {
            let text = format!("{sent} sent, {given_up} given up");
            writeln!(out, "limit: {limit:<28} {text}").expect("a string takes everything");
        }
        for (kind, count) in &self.spoiled {
            writeln!(out, "spoiled: {kind:<24} {count:>7}").expect("a string takes everything");
        }
        out
    }

    fn rows(&self) -> [(&'static str, u64); 12] {
        let mut copy = self.clone();
        copy.rows_mut().map(|(name, value)| (name, *value))
    }

    fn rows_mut(&mut self) -> [(&'static str, &mut u64); 12] {
        [
            ("runs", &mut self.runs),
            ("frames", &mut self.frames),
            ("frames drawn at random", &mut self.drawn),
            ("octets", &mut self.octets),
            ("checksums inserted", &mut self.checksums),
            ("CRCs inserted", &mut self.crcs),
            ("FPDUs of conversations", &mut self.fpdus),
            ("pieces", &mut self.pieces),
            ("frames of no memory", &mut self.unreadable),
            ("interrupts", &mut self.interrupts),
            ("mismatches", &mut self.mismatches),
            ("cycles", &mut self.cycles),
        ]
    }
}
