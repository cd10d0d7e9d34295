//! Sizes that a build of the device chooses, which the driver reads from `CAPABILITIES`:
//! connections and memory regions, 256, 512 or 1,024 of each, whatever the other is.
//!
//! A build with fewer connections or regions has smaller tables, and nothing else is different: the
//! layouts of [`crate::tables`] are those of the largest build. An index beyond a smaller table
//! names the entry of its low bits.
use crate::limits::{CONNECTIONS_LOG2, QUEUE_SLOTS, REGIONS_LOG2};

/// log2 of the fewest connections, and of the fewest regions, of a build.
const FEWEST_LOG2: usize = 8;
/// `CAPABILITIES`: low bit of log2 of the number of connections, and of that of regions.
const CONNECTIONS_SHIFT: u32 = 10;
const REGIONS_SHIFT: u32 = 26;

/// Offloaded connections and memory regions of a build: 256, 512 or 1,024 each.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sizes {
    connections_log2: usize,
    regions_log2: usize,
}

impl Sizes {
    /// The largest build.
    pub const LARGEST: Self = Self {
        connections_log2: CONNECTIONS_LOG2,
        regions_log2: REGIONS_LOG2,
    };

    /// The smallest build.
    pub const SMALLEST: Self = Self {
        connections_log2: FEWEST_LOG2,
        regions_log2: FEWEST_LOG2,
    };

    /// A build for so many connections and regions, if there is one.
    pub const fn new(connections: usize, regions: usize) -> Option<Self> {
        if !connections.is_power_of_two() || !regions.is_power_of_two() {
            return None;
        }
        Self::of_log2(connections.ilog2() as usize, regions.ilog2() as usize)
    }

    const fn of_log2(connections_log2: usize, regions_log2: usize) -> Option<Self> {
        let (low, high) = (FEWEST_LOG2, CONNECTIONS_LOG2);
        if connections_log2 < low || connections_log2 > high {
            return None;
        }
        if regions_log2 < low || regions_log2 > REGIONS_LOG2 {
            return None;
        }
        Some(Self {
            connections_log2,
            regions_log2,
        })
    }

    /// Connections.
    pub const fn connections(self) -> usize {
        1 << self.connections_log2
    }

    /// Memory regions that can be registered at one time.
    pub const fn regions(self) -> usize {
        1 << self.regions_log2
    }

    /// Queues of all connections in the device's tables.
    pub const fn queues(self) -> usize {
        QUEUE_SLOTS * self.connections()
    }

    /// Its bits of `CAPABILITIES`.
    pub const fn encode(self) -> u32 {
        (self.connections_log2 as u32) << CONNECTIONS_SHIFT
            | (self.regions_log2 as u32) << REGIONS_SHIFT
    }

    /// The sizes of a device whose `CAPABILITIES` are these, if there is such a build.
    pub const fn decode(capabilities: u32) -> Option<Self> {
        let connections_log2 = (capabilities >> CONNECTIONS_SHIFT & 0xf) as usize;
        let regions_log2 = (capabilities >> REGIONS_SHIFT & 0xf) as usize;
        Self::of_log2(connections_log2, regions_log2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_is_read_back_as_it_is() {
        for connections in [256, 512, 1024] {
            for regions in [256, 512, 1024] {
                let sizes = Sizes::new(connections, regions).expect("a build");
                assert_eq!(
                    (sizes.connections(), sizes.regions()),
                    (connections, regions)
                );
                // With the widths of the frame path and of the inner path at 512.
                let capabilities = sizes.encode() | 512 | 512 << 16;
                assert_eq!(Sizes::decode(capabilities), Some(sizes));
                assert_eq!(capabilities & 0x3ff, 512);
                assert_eq!(capabilities >> 16 & 0x3ff, 512);
            }
        }
        for (connections, regions) in [(0, 256), (300, 256), (128, 256), (2048, 256), (256, 2048)] {
            assert_eq!(Sizes::new(connections, regions), None);
        }
        assert_eq!(Sizes::decode(64 | 128 << 16), None);
    }
}
