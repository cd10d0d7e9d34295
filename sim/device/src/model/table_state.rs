//! What the tables hold beside the model.

use super::lookup::{Connections, Ranges};
use super::pool::Queues;
use super::stags::RegionTables;
use rnic_abi::sizes::Sizes;

/// All of it.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) connections: Connections,
    pub(super) queues: Queues,
    pub(super) regions: RegionTables,
    pub(super) ranges: Ranges,
}

impl Tables {
    /// Empty tables.
    pub(super) fn new(sizes: Sizes) -> Self {
        Self {
            connections: Connections::default(),
            queues: Queues::new(sizes.queues()),
            regions: RegionTables::new(sizes.regions()),
            ranges: Ranges::default(),
        }
    }
}
