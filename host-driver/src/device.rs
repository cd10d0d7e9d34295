//! The device: identity, rings, counters.

use crate::bar::Bar;
use crate::completion::ring::{Beside, CompletionRing};
use crate::connection::{ConnectionConfig, LookupEntry};
use crate::dma::{Dma, DmaBuffer};
use crate::error::DriverError;
use crate::hash_table::HashTable;
use crate::queue::Queue;
use crate::region::{RegionConfig, StagEntry};
use crate::table;
use rnic_abi::counters::{Counter, ALL};
use rnic_abi::cqe::CQE_OCTETS;
use rnic_abi::limits::{CONNECTIONS, EARLY_RECORDS, HASH_SLOTS_LOG2, HASH_WAYS, PAGES, REGIONS};
use rnic_abi::{registers, tables};
use std::collections::BTreeMap;

/// Choices made when the device is opened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// PCI Express maximum payload size in octets: 128, 256 or 512.
    pub max_payload_octets: u32,
    /// log2 of the entries of the completion queue, 1..=16.
    pub completion_entries_log2: u32,
    /// log2 of the slots of the host receive ring, 1..=16.
    pub host_slots_log2: u32,
    /// log2 of the octets of one slot, 7..=14; the frame has 16 octets less.
    pub host_slot_octets_log2: u32,
    /// Pages of packet memory that segments beyond a gap may hold, of all connections together; at
    /// most `EARLY_PAGES_MAX`. The others hold what is in order: unfinished FPDUs above all.
    pub early_pages: u32,
    /// The same for one connection.
    pub early_share: u32,
    /// Pages kept for one connection at a time, which goes on to the end of its FPDU when fewer are
    /// free; at most `PAGES`. An FPDU gets through if the frames that hold it take no more. 0: all
    /// pages are for all, and connections with unfinished FPDUs may stop each other for ever.
    pub in_order_reserve: u32,
    /// The same from when two streams have shown FPDUs of `LONG_FPDU_OCTETS` or more; at most
    /// `PAGES`. Less than `in_order_reserve`, as 0, changes nothing: then long FPDUs may stop each
    /// other for ever.
    pub long_reserve: u32,
    /// log2 of the cycles after which that connection loses its turn if nothing of it is accepted,
    /// 0..=31: more than its peer waits before it sends again.
    pub reserve_hold_log2: u32,
    /// Nothing has used the device since it was powered on, so its tables are empty. If not,
    /// [`Device::open`] clears them: a reset does not, and what stands there would let old peers
    /// into memory that was given back. Takes 9,000 table writes.
    pub fresh: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_payload_octets: 256,
            completion_entries_log2: 10,
            host_slots_log2: 8,
            host_slot_octets_log2: 14,
            early_pages: registers::EARLY_PAGES_MAX,
            early_share: registers::EARLY_PAGES_MAX,
            in_order_reserve: registers::IN_ORDER_RESERVE_PAGES_FIRST,
            long_reserve: registers::IN_ORDER_RESERVE_LONG_FIRST,
            reserve_hold_log2: registers::IN_ORDER_RESERVE_HOLD_FIRST,
            fresh: false,
        }
    }
}

impl Config {
    fn check(&self) -> Result<u32, DriverError> {
        let range = |what, value: u32, low, high, allowed| {
            let inside = (low..=high).contains(&value);
            let refused = DriverError::Configuration {
                what,
                value: u64::from(value),
                allowed,
            };
            inside.then_some(()).ok_or(refused)
        };
        range(
            "log2 of the completion queue's entries",
            self.completion_entries_log2,
            1,
            16,
            "1..=16",
        )?;
        range(
            "log2 of the host ring's slots",
            self.host_slots_log2,
            1,
            16,
            "1..=16",
        )?;
        range(
            "log2 of a host slot's octets",
            self.host_slot_octets_log2,
            7,
            14,
            "7..=14",
        )?;
        for (what, pages) in [
            ("pages for early segments", self.early_pages),
            ("pages for a connection's early segments", self.early_share),
        ] {
            range(what, pages, 0, registers::EARLY_PAGES_MAX, "0..=472")?;
        }
        for (what, pages) in [
            ("pages kept for segments in order", self.in_order_reserve),
            ("pages kept where FPDUs are long", self.long_reserve),
        ] {
            range(what, pages, 0, PAGES as u32, "0..=512")?;
        }
        range(
            "log2 of the cycles of a silent turn",
            self.reserve_hold_log2,
            0,
            31,
            "0..=31",
        )?;
        match self.max_payload_octets {
            128 => Ok(0),
            256 => Ok(1),
            512 => Ok(2),
            other => Err(DriverError::Configuration {
                what: "the maximum payload size",
                value: u64::from(other),
                allowed: "128, 256 or 512",
            }),
        }
    }
}

/// What connections hold of the pools that they share, all of them together. With no connection
/// open, and nothing on its way, all are 0.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Received ranges beyond gaps, of `RANGES`.
    pub ranges: u16,
    /// Keys of frames that hold several runs of new octets, of `SHARED_RUNS`.
    pub shared_runs: u16,
    /// Spans, of `SPANS`.
    pub spans: u16,
    /// Records of FPDUs placed beyond a gap, of `EARLY_RECORDS`.
    pub records: u16,
}

/// An open device.
#[derive(Debug)]
pub struct Device<B: Bar, D: Dma> {
    pub(crate) bar: B,
    pub(crate) dma: D,
    pub(crate) config: Config,
    pub(crate) completions: CompletionRing,
    pub(crate) host_ring: DmaBuffer,
    pub(crate) host_consumer: u32,
    pub(crate) lookup: HashTable<LookupEntry>,
    pub(crate) stags: HashTable<StagEntry>,
    pub(crate) connections: Vec<Option<ConnectionConfig>>,
    pub(crate) regions: Vec<Option<RegionConfig>>,
    /// Index of the region's STag, by the index of the window's.
    pub(crate) windows: BTreeMap<u32, u32>,
    pub(crate) queues: BTreeMap<(u16, u32), Queue>,
    /// The device's counters when it was opened: a reset does not clear them.
    counters_before: Vec<u32>,
}

/// Tables whose entries let frames in, or into memory, with their sizes: peers first, so that
/// nothing comes that needs the others.
const CLEARED: [(u32, u32); 4] = [
    (tables::LOOKUP, HASH_ENTRIES),
    (tables::STAG, HASH_ENTRIES),
    (tables::REGION, REGIONS as u32),
    (tables::QUEUE, 4 * CONNECTIONS as u32),
];
const HASH_ENTRIES: u32 = (HASH_WAYS << HASH_SLOTS_LOG2) as u32;

impl<B: Bar, D: Dma> Device<B, D> {
    /// Check the identity, set rings and payload size up, then enable reception.
    ///
    /// The device must have been reset since another driver used it: what its connections held is
    /// lost then. What reset leaves, the tables, is cleared here before a frame is accepted, unless
    /// the configuration says that there is nothing ([`Config::fresh`]).
    pub fn open(mut bar: B, mut dma: D, config: Config) -> Result<Self, DriverError> {
        let max_payload = config.check()?;
        expect_identity(&mut bar)?;
        bar.write32(registers::CONTROL, 0);
        if !config.fresh {
            clear_tables(&mut bar)?;
        }
        bar.write32(registers::MAX_PAYLOAD, max_payload);
        bar.write32(registers::EARLY_PAGES, config.early_pages);
        bar.write32(registers::EARLY_SHARE, config.early_share);
        let reserve = registers::in_order_reserve(
            config.in_order_reserve,
            config.long_reserve,
            config.reserve_hold_log2,
        );
        bar.write32(registers::IN_ORDER_RESERVE, reserve);
        let entries = CQE_OCTETS << config.completion_entries_log2;
        let completion_queue = dma.allocate("completion queue", entries, 4096)?;
        let slots = 1usize << (config.host_slots_log2 + config.host_slot_octets_log2);
        let host_ring = match dma.allocate("host receive ring", slots, 4096) {
            Ok(buffer) => buffer,
            Err(error) => {
                dma.free(completion_queue);
                return Err(error);
            }
        };
        bar.write32(registers::CQ_BASE_LOW, completion_queue.address as u32);
        bar.write32(
            registers::CQ_BASE_HIGH,
            (completion_queue.address >> 32) as u32,
        );
        bar.write32(registers::CQ_CONSUMER, 0);
        bar.write32(registers::CQ_ENTRIES_LOG2, config.completion_entries_log2);
        bar.write32(registers::HOST_RING_BASE_LOW, host_ring.address as u32);
        bar.write32(
            registers::HOST_RING_BASE_HIGH,
            (host_ring.address >> 32) as u32,
        );
        bar.write32(registers::HOST_RING_CONSUMER, 0);
        bar.write32(
            registers::HOST_RING_SLOT_OCTETS_LOG2,
            config.host_slot_octets_log2,
        );
        bar.write32(registers::HOST_RING_SLOTS_LOG2, config.host_slots_log2);
        let counters_before = match config.fresh {
            true => vec![0; ALL.len()],
            false => read_counters(&mut bar),
        };
        bar.write32(registers::CONTROL, registers::CONTROL_ENABLE);
        // A read is answered after the posted writes before it have taken effect: from here on the
        // device receives.
        bar.read32(registers::CONTROL);
        Ok(Self {
            bar,
            dma,
            config,
            completions: CompletionRing::new(completion_queue, config.completion_entries_log2),
            host_ring,
            host_consumer: 0,
            lookup: HashTable::default(),
            stags: HashTable::default(),
            connections: vec![None; CONNECTIONS],
            regions: vec![None; REGIONS],
            windows: BTreeMap::new(),
            queues: BTreeMap::new(),
            counters_before,
        })
    }

    /// Stop reception and give the rings back. The device has to be reset before it is opened
    /// again: what its connections have under way goes on, and what they hold stays held.
    pub fn close(mut self) -> (B, D) {
        self.bar.write32(registers::CONTROL, 0);
        self.bar.read32(registers::CONTROL);
        self.dma.free(self.completions.buffer);
        self.dma.free(self.host_ring);
        (self.bar, self.dma)
    }

    /// Width of the frame path in bits.
    pub fn frame_path_bits(&mut self) -> u32 {
        self.bar.read32(registers::CAPABILITIES) & 0x3ff
    }

    /// Pages of packet memory that are free now.
    pub fn free_pages(&mut self) -> u32 {
        self.bar.read32(registers::FREE_PAGES)
    }

    /// What all connections together hold of the device's pools now.
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`] if the device does not answer.
    pub fn in_use(&mut self) -> Result<InUse, DriverError> {
        let [ranges_runs, spans, ..] = table::read(&mut self.tables(), tables::IN_USE, 0)?;
        let [free_records, ..] = table::read(&mut self.tables(), tables::RECORDS, 0)?;
        Ok(InUse {
            ranges: (ranges_runs & 0x1ff) as u16,
            shared_runs: (ranges_runs >> 16 & 0x7f) as u16,
            spans: (spans & 0x3ff) as u16,
            records: EARLY_RECORDS.saturating_sub((free_records & 0x3ff) as usize) as u16,
        })
    }

    /// Every counter with what it has counted since the device was opened, modulo 2^32, in the
    /// order of the BAR.
    pub fn counters(&mut self) -> Vec<(Counter, u32)> {
        let now = read_counters(&mut self.bar);
        let counts = now.iter().zip(&self.counters_before);
        let since = counts.map(|(now, before)| now.wrapping_sub(*before));
        ALL.iter().copied().zip(since).collect()
    }

    /// What `counter` has counted since the device was opened, modulo 2^32: one register read.
    pub fn counter(&mut self, counter: Counter) -> u32 {
        let before = self.counters_before[counter.index()];
        read_counter(&mut self.bar, counter).wrapping_sub(before)
    }

    /// The registers for a table operation ([`CompletionRing::beside`]).
    pub(crate) fn tables(&mut self) -> Beside<'_, B, D> {
        self.completions.beside(&mut self.bar, &self.dma)
    }

    /// The device-visible memory, for buffers and regions.
    pub fn dma(&mut self) -> &mut D {
        &mut self.dma
    }
}

/// The counters as the device has them, in the order of [`ALL`].
fn read_counters(bar: &mut impl Bar) -> Vec<u32> {
    let counters = ALL.iter();
    counters
        .map(|&counter| read_counter(bar, counter))
        .collect()
}

fn read_counter(bar: &mut impl Bar, counter: Counter) -> u32 {
    bar.read32(registers::COUNTERS + 4 * counter.index() as u32)
}

/// Clear what a reset leaves of an earlier use.
fn clear_tables(bar: &mut impl Bar) -> Result<(), DriverError> {
    for (table, entries) in CLEARED {
        table::clear(bar, table, entries)?;
    }
    Ok(())
}

fn expect_identity(bar: &mut impl Bar) -> Result<(), DriverError> {
    let found = bar.read32(registers::IDENTITY);
    if found != registers::IDENTITY_VALUE {
        return Err(DriverError::Identity {
            found,
            expected: registers::IDENTITY_VALUE,
        });
    }
    let found = bar.read32(registers::REVISION);
    if found != registers::REVISION_VALUE {
        return Err(DriverError::Revision {
            found,
            expected: registers::REVISION_VALUE,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{NoMemory, Tables};

    /// Entries of a driver before this one: none of them is valid any more, and none was looked at
    /// before it was written.
    #[test]
    fn opening_a_used_device_clears_what_lets_peers_into_memory() {
        let mut bar = Tables::default();
        let valid = [1 << 31; registers::TABLE_DATA_WORDS];
        for (table, entries) in CLEARED {
            for index in 0..entries {
                bar.written.insert((table, index), valid);
            }
        }
        let config = Config::default();
        assert!(!config.fresh, "who says nothing has the tables cleared");
        let device = Device::open(bar, NoMemory, config).expect("opens");
        let valid = device.bar.written.values().filter(|words| words[0] != 0);
        assert_eq!(valid.count(), 0);
        let writes = device.bar.operations.len();
        let entries: u32 = CLEARED.iter().map(|(_, entries)| entries + 1).sum();
        assert_eq!(writes, entries as usize);
    }

    #[test]
    fn opening_a_fresh_device_writes_no_table() {
        let config = Config {
            fresh: true,
            ..Config::default()
        };
        let device = Device::open(Tables::default(), NoMemory, config).expect("opens");
        assert!(device.bar.operations.is_empty());
    }
}
