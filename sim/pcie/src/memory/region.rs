//! One region of memory: its octets, the device's access rights, and the ranges it wrote.

use super::octets::Octets;
use rangemap::RangeSet;
use std::ops::Range;

/// What the device may do with a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The device may read it.
    pub read: bool,
    /// The device may write it.
    pub write: bool,
}

impl Access {
    /// The device may read only.
    pub const READ: Self = Self {
        read: true,
        write: false,
    };
    /// The device may write only.
    pub const WRITE: Self = Self {
        read: false,
        write: true,
    };
    /// The device may do both.
    pub const READ_WRITE: Self = Self {
        read: true,
        write: true,
    };
    /// The device may not access it; only the host uses it.
    pub const NONE: Self = Self {
        read: false,
        write: false,
    };
}

/// A run of octets that the device wrote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WriteEntry {
    /// The caller's time of the write.
    pub now: u64,
    /// Address of the first octet.
    pub address: u64,
    /// Octets written.
    pub octets: usize,
}

/// One mapped region.
#[derive(Clone, Debug)]
pub struct Region {
    name: String,
    base: u64,
    access: Access,
    data: Octets,
    octets_written: u64,
    written: RangeSet<u64>,
    log: Option<Vec<WriteEntry>>,
}

impl Region {
    /// `octets` zeroed octets at `base`; the caller has seen that they exist. `None` if the
    /// operating system has no addresses for them.
    pub(super) fn new(name: &str, base: u64, octets: usize, access: Access) -> Option<Self> {
        Some(Self {
            name: name.to_owned(),
            base,
            access,
            data: Octets::zeroed(octets)?,
            octets_written: 0,
            written: RangeSet::new(),
            log: None,
        })
    }

    /// Writes `data` for the device, and records the range.
    pub(super) fn device_write(&mut self, now: u64, address: u64, data: &[u8]) {
        let octets = data.len();
        self.slice_mut(address, octets).copy_from_slice(data);
        self.octets_written += octets as u64;
        // The last address of all is in no range that ends after it.
        let end = address.saturating_add(octets as u64);
        if address < end {
            self.written.insert(address..end);
        }
        if let Some(log) = &mut self.log {
            log.push(WriteEntry {
                now,
                address,
                octets,
            });
        }
    }

    /// Starts an empty log, or drops the log.
    pub(super) fn set_log(&mut self, on: bool) {
        self.log = on.then(Vec::new);
    }

    /// The name it was mapped under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Address of the first octet.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// What the device may do.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The octets.
    pub fn bytes(&self) -> &[u8] {
        self.data.as_slice()
    }

    /// The octets, for the host to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.data.as_mut_slice()
    }

    /// Octets the device has written since the region was mapped, each as often as written.
    pub fn octets_written(&self) -> u64 {
        self.octets_written
    }

    /// Every run the device wrote, oldest first; empty unless
    /// [`Memory::log_writes`](super::Memory::log_writes) is on.
    pub fn writes(&self) -> &[WriteEntry] {
        self.log.as_deref().unwrap_or_default()
    }

    /// The addresses the device wrote, as sorted ranges that neither touch nor overlap.
    pub fn written_ranges(&self) -> Vec<Range<u64>> {
        self.written.iter().cloned().collect()
    }

    /// As [`written_ranges`](Self::written_ranges), of `octets` octets from `address` on.
    pub fn written_within(&self, address: u64, octets: u64) -> Vec<Range<u64>> {
        let within = address..address.saturating_add(octets);
        if within.is_empty() {
            return Vec::new();
        }
        let parts = self.written.overlapping(&within);
        let clipped = parts.map(|part| part.start.max(address)..part.end.min(within.end));
        clipped.collect()
    }

    // One past the last octet, less one so that it cannot overflow.
    pub(super) fn last(&self) -> u64 {
        self.base + (self.bytes().len() as u64 - 1)
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        self.base <= address && address <= self.last()
    }

    // Octets from `address` to the end of the region.
    pub(super) fn available(&self, address: u64) -> usize {
        (self.last() - address) as usize + 1
    }

    pub(super) fn slice(&self, address: u64, octets: usize) -> &[u8] {
        let start = (address - self.base) as usize;
        &self.bytes()[start..start + octets]
    }

    pub(super) fn slice_mut(&mut self, address: u64, octets: usize) -> &mut [u8] {
        let start = (address - self.base) as usize;
        &mut self.bytes_mut()[start..start + octets]
    }
}
