//! Segments that the device drops for their checksum, by the connection that they would be of.

use crate::finding::{hash, Frames};
use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;

/// Segments whose checksum is wrong, by their numbers in the file.
#[derive(Debug, Default)]
pub(crate) struct BadChecksums {
    /// By the hash of both ends.
    by_ends: HashMap<u64, Frames>,
}

impl BadChecksums {
    /// Frame `number`, of the ends with this `key`.
    pub(crate) fn add(&mut self, key: u64, number: usize) {
        self.by_ends.entry(key).or_default().add(number);
    }

    /// Those of all connections but of some.
    pub(crate) fn besides(&self, some: impl IntoIterator<Item = [SocketAddr; 2]>) -> Frames {
        let some: BTreeSet<u64> = some.into_iter().map(key).collect();
        let others = self.by_ends.iter().filter(|(ends, _)| !some.contains(ends));
        Frames::of_all(others.map(|(_, frames)| frames))
    }
}

/// A short name of a connection's ends, whichever comes first.
pub(crate) fn key([one, other]: [SocketAddr; 2]) -> u64 {
    hash(&(one.min(other), one.max(other)))
}
