//! A stream while its events are read: what it has, what it waits for, where its payload goes.

use super::coverage::Coverage;
use super::run::Stream;
use crate::play::tally::Place;
use std::collections::{HashMap, VecDeque};

/// A stream while the events are read.
#[derive(Debug)]
pub(super) struct Building {
    pub(super) stream: Stream,
    pub(super) window: u32,
    pub(super) markers: bool,
    pub(super) coverage: Coverage,
    /// All octets that arrived, accepted or not.
    pub(super) arrived: Coverage,
    /// Offers that wait for a verdict, with the cycle in which they were in.
    pub(super) pending: VecDeque<(usize, u64)>,
    /// Regions by STag.
    pub(super) regions: HashMap<u32, Place>,
    /// Buffers by queue and MSN.
    pub(super) buffers: HashMap<(u32, u32), u64>,
    /// The offer that got the last verdict.
    pub(super) last_offer: usize,
}

impl Building {
    /// Position of a sequence number: the one closest to what is in order.
    pub(super) fn position(&self, sequence: u32) -> i64 {
        let in_order = self.coverage.prefix_end();
        let at = self.stream.sequence_start.wrapping_add(in_order as u32);
        in_order + i64::from(sequence.wrapping_sub(at) as i32)
    }
}
