//! Host memory as a device sees it: named regions with unmapped space between them.
//!
//! ```text
//!   0                base        base + len                               2^64
//!   |--- unmapped ---[== region ==)--- unmapped ---[== region ==)--- unmapped ---|
//!                     read / write by the device as its access says
//! ```
//!
//! A device access that leaves the regions, or that a region forbids, is refused as a whole: not
//! one octet is read or written. The host reads and writes any region. A large region is
//! backed by the operating system page by page as it is written, and may be larger than the
//! machine's memory. Addresses and lengths are in octets.

mod octets;
mod region;

use std::fmt::Debug;
use std::ops::Range;

use thiserror::Error;

pub use region::{Access, Region, WriteEntry};

/// Why memory was not mapped, read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MemoryError {
    /// Some octet of the range belongs to no region.
    #[error("{octets} octets from {address:#x} are not all mapped; map a region over them")]
    Unmapped {
        /// First octet.
        address: u64,
        /// Octets asked for.
        octets: usize,
    },
    /// A region of the range does not let the device do this.
    #[error("region {region:?} refuses this access of {octets} octets at {address:#x}")]
    Forbidden {
        /// First octet.
        address: u64,
        /// Octets asked for.
        octets: usize,
        /// The region that refuses.
        region: String,
    },
    /// The host asked for one slice over two regions.
    #[error("{octets} octets from {address:#x} are not in one region; take one slice for each")]
    NotOneRegion {
        /// First octet.
        address: u64,
        /// Octets asked for.
        octets: usize,
    },
    /// A new region would overlap another.
    #[error("region {new:?} would overlap region {existing:?}")]
    Overlap {
        /// The region asked for.
        new: String,
        /// The region in its way.
        existing: String,
    },
    /// A new region is empty, reaches past the last address, or is larger than what the operating
    /// system has addresses for.
    #[error(
        "region of {octets} octets at {base:#x} is empty, ends past 2^64 - 1, or is too large"
    )]
    BadRange {
        /// Its base.
        base: u64,
        /// Its length.
        octets: usize,
    },
}

/// Memory that a device accesses and that somebody else owns, as processes share it. An access is
/// refused as a whole.
pub trait DeviceMemory: Debug {
    /// Whether the device may write all `octets` octets from `address` on.
    ///
    /// # Errors
    /// Some octet is not mapped or not writable by the device.
    fn may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError>;
    /// Writes `data` at `address`.
    ///
    /// # Errors
    /// As [`may_write`](Self::may_write); nothing is written.
    fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError>;
    /// Reads into `data` from `address` on.
    ///
    /// # Errors
    /// Some octet is not mapped or not readable by the device; `data` is left as it was.
    fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError>;
}

/// All of host memory.
///
/// ```
/// use pcie_sim::memory::{Access, Memory, MemoryError};
///
/// let mut memory = Memory::new();
/// memory.map("buffers", 0x1_0000, 0x1000, Access::WRITE)?;
/// memory.device_write(0, 0x1_0ffc, &[1, 2, 3, 4])?;
/// assert_eq!(memory.slice(0x1_0ffc, 4)?, [1, 2, 3, 4]);
/// // One octet too many: none of it is written.
/// assert!(memory.device_write(0, 0x1_0ffd, &[9; 4]).is_err());
/// assert_eq!(memory.slice(0x1_0ffc, 4)?, [1, 2, 3, 4]);
/// # Ok::<(), MemoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory {
    // Sorted by base; no two overlap.
    regions: Vec<Region>,
    // Index of the region written last; a guess that may be out of range.
    recent: usize,
}

impl Memory {
    /// Memory without a region.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps `octets` zeroed octets at `base`.
    ///
    /// # Errors
    /// The range is empty, ends past the last address, is larger than what the operating system has
    /// addresses for, or overlaps a region.
    pub fn map(
        &mut self,
        name: &str,
        base: u64,
        octets: usize,
        access: Access,
    ) -> Result<(), MemoryError> {
        let bad_range = MemoryError::BadRange { base, octets };
        let Some(octets_less_one) = octets.checked_sub(1) else {
            return Err(bad_range);
        };
        let Some(last) = base.checked_add(octets_less_one as u64) else {
            return Err(bad_range);
        };
        let at = self.regions.partition_point(|region| region.base() <= last);
        if let Some(existing) = at.checked_sub(1).map(|before| &self.regions[before]) {
            if existing.last() >= base {
                let (new, existing) = (name.to_owned(), existing.name().to_owned());
                return Err(MemoryError::Overlap { new, existing });
            }
        }
        let region = Region::new(name, base, octets, access);
        self.regions.insert(at, region.ok_or(bad_range)?);
        Ok(())
    }

    /// Takes the region that holds `address` out of memory.
    ///
    /// # Errors
    /// No region holds it.
    pub fn unmap(&mut self, address: u64) -> Result<Region, MemoryError> {
        let index = self
            .index_of(address)
            .ok_or(MemoryError::Unmapped { address, octets: 1 })?;
        Ok(self.regions.remove(index))
    }

    /// Every region, by rising base.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The first region called `name`.
    pub fn region(&self, name: &str) -> Option<&Region> {
        self.regions.iter().find(|region| region.name() == name)
    }

    /// The first region called `name`, to change its octets.
    pub fn region_mut(&mut self, name: &str) -> Option<&mut Region> {
        self.regions.iter_mut().find(|region| region.name() == name)
    }

    /// The region that holds `address`.
    pub fn region_at(&self, address: u64) -> Option<&Region> {
        self.index_of(address).map(|index| &self.regions[index])
    }

    /// Starts a log of the device's writes to the region that holds `address`, or stops it and
    /// drops what it holds. The log grows with every write.
    ///
    /// # Errors
    /// No region holds `address`.
    pub fn log_writes(&mut self, address: u64, on: bool) -> Result<(), MemoryError> {
        let index = self
            .index_of(address)
            .ok_or(MemoryError::Unmapped { address, octets: 1 })?;
        self.regions[index].set_log(on);
        Ok(())
    }

    /// `octets` octets from `address` on, all in one region, as the host reads them.
    ///
    /// # Errors
    /// They are not all mapped, or not all in one region.
    pub fn slice(&self, address: u64, octets: usize) -> Result<&[u8], MemoryError> {
        let index = self.one_region(address, octets)?;
        Ok(self.regions[index].slice(address, octets))
    }

    /// `octets` octets from `address` on, all in one region, for the host to change.
    ///
    /// # Errors
    /// They are not all mapped, or not all in one region.
    pub fn slice_mut(&mut self, address: u64, octets: usize) -> Result<&mut [u8], MemoryError> {
        let index = self.one_region(address, octets)?;
        Ok(self.regions[index].slice_mut(address, octets))
    }

    /// Writes `data` at `address` as the host, whatever the region's access.
    ///
    /// # Errors
    /// Some octet is not mapped; nothing is written.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let first = self.permitted(address, data.len(), |_| true)?;
        self.for_each_part(first, address, data.len(), |region, at, part| {
            region
                .slice_mut(at, part.len())
                .copy_from_slice(&data[part]);
        });
        Ok(())
    }

    /// Reads `octets` octets from `address` as the host, over as many regions as they span.
    ///
    /// # Errors
    /// Some octet is not mapped.
    pub fn read(&self, address: u64, octets: usize) -> Result<Vec<u8>, MemoryError> {
        let mut data = vec![0; octets];
        self.read_where(address, &mut data, |_| true)?;
        Ok(data)
    }

    /// Writes `data` at `address` as the device.
    ///
    /// # Errors
    /// Some octet is not mapped or not writable by the device; nothing is written.
    pub fn device_write(&mut self, now: u64, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let first = self.permitted(address, data.len(), |access| access.write)?;
        self.for_each_part(first, address, data.len(), |region, at, part| {
            region.device_write(now, at, &data[part]);
        });
        Ok(())
    }

    /// Whether the device may write all `octets` octets from `address` on.
    ///
    /// # Errors
    /// Some octet is not mapped or not writable by the device.
    pub fn device_may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError> {
        self.permitted(address, octets, |access| access.write)
            .map(|_| ())
    }

    /// Reads into `data` from `address` on as the device.
    ///
    /// # Errors
    /// Some octet is not mapped or not readable by the device; `data` is left as it was.
    pub fn device_read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        self.read_where(address, data, |access| access.read)
    }

    fn read_where(
        &self,
        address: u64,
        data: &mut [u8],
        permits: impl Fn(Access) -> bool,
    ) -> Result<(), MemoryError> {
        let mut index = self.permitted(address, data.len(), permits)?;
        let mut offset = 0;
        while offset < data.len() {
            let region = &self.regions[index];
            let at = address + offset as u64;
            let octets = region.available(at).min(data.len() - offset);
            data[offset..offset + octets].copy_from_slice(region.slice(at, octets));
            offset += octets;
            index += 1;
        }
        Ok(())
    }

    // Calls `act` for each region's part of a range that `permitted` has let through.
    fn for_each_part(
        &mut self,
        first: usize,
        address: u64,
        octets: usize,
        mut act: impl FnMut(&mut Region, u64, Range<usize>),
    ) {
        let mut offset = 0;
        let mut index = first;
        while offset < octets {
            let region = &mut self.regions[index];
            let at = address + offset as u64;
            let part = region.available(at).min(octets - offset);
            act(region, at, offset..offset + part);
            offset += part;
            self.recent = index;
            index += 1;
        }
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        if self
            .regions
            .get(self.recent)
            .is_some_and(|region| region.contains(address))
        {
            return Some(self.recent);
        }
        let after = self
            .regions
            .partition_point(|region| region.base() <= address);
        let index = after.checked_sub(1)?;
        self.regions[index].contains(address).then_some(index)
    }

    fn one_region(&self, address: u64, octets: usize) -> Result<usize, MemoryError> {
        let index = self
            .index_of(address)
            .ok_or(MemoryError::Unmapped { address, octets })?;
        if octets > self.regions[index].available(address) {
            return Err(MemoryError::NotOneRegion { address, octets });
        }
        Ok(index)
    }

    // Index of the first region, if every octet is in a region whose access `permits`.
    fn permitted(
        &self,
        address: u64,
        octets: usize,
        permits: impl Fn(Access) -> bool,
    ) -> Result<usize, MemoryError> {
        if octets == 0 {
            return Ok(0);
        }
        let unmapped = || MemoryError::Unmapped { address, octets };
        let first = self.index_of(address).ok_or_else(unmapped)?;
        let mut index = first;
        let mut at = address;
        let mut left = octets;
        loop {
            let region = self.regions.get(index).filter(|region| region.contains(at));
            let region = region.ok_or_else(unmapped)?;
            if !permits(region.access()) {
                let region = region.name().to_owned();
                return Err(MemoryError::Forbidden {
                    address,
                    octets,
                    region,
                });
            }
            let part = region.available(at).min(left);
            left -= part;
            if left == 0 {
                return Ok(first);
            }
            at = at.checked_add(part as u64).ok_or_else(unmapped)?;
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_neighbours() -> Memory {
        let mut memory = Memory::new();
        memory
            .map("low", 0x1000, 0x10, Access::READ_WRITE)
            .expect("free");
        memory
            .map("high", 0x1010, 0x10, Access::WRITE)
            .expect("free");
        memory
    }

    #[test]
    fn a_write_over_two_neighbouring_regions_lands_in_both() {
        let mut memory = two_neighbours();
        memory.log_writes(0x1010, true).expect("mapped");
        memory
            .device_write(5, 0x100e, &[1, 2, 3, 4])
            .expect("mapped and writable");
        assert_eq!(memory.read(0x100e, 4).expect("mapped"), [1, 2, 3, 4]);
        let high = memory.region("high").expect("mapped");
        assert_eq!(
            high.writes(),
            [WriteEntry {
                now: 5,
                address: 0x1010,
                octets: 2
            }]
        );
        assert_eq!(high.octets_written(), 2);
    }

    #[test]
    fn a_refused_access_touches_no_octet() {
        let mut memory = two_neighbours();
        let result = memory.device_write(0, 0x101f, &[7, 7]);
        assert_eq!(
            result,
            Err(MemoryError::Unmapped {
                address: 0x101f,
                octets: 2
            })
        );
        assert_eq!(memory.slice(0x101f, 1).expect("mapped"), [0]);
        let mut data = [0xa5; 4];
        let result = memory.device_read(0x100e, &mut data);
        assert!(matches!(result, Err(MemoryError::Forbidden { region, .. }) if region == "high"));
        assert_eq!(data, [0xa5; 4]);
    }

    #[test]
    fn the_last_octet_of_the_address_space_can_be_mapped() {
        let mut memory = Memory::new();
        memory
            .map("top", u64::MAX - 3, 4, Access::WRITE)
            .expect("free");
        memory
            .device_write(0, u64::MAX - 3, &[1, 2, 3, 4])
            .expect("mapped");
        assert_eq!(memory.slice(u64::MAX, 1).expect("mapped"), [4]);
        assert!(memory.device_write(0, u64::MAX, &[1, 2]).is_err());
        let result = memory.map("past", u64::MAX, 2, Access::WRITE);
        assert_eq!(
            result,
            Err(MemoryError::BadRange {
                base: u64::MAX,
                octets: 2
            })
        );
    }

    #[test]
    fn regions_may_touch_but_not_overlap() {
        let mut memory = two_neighbours();
        for base in [0x0ff1, 0x1000, 0x100f, 0x101f] {
            let result = memory.map("new", base, 0x10, Access::READ);
            assert!(
                matches!(result, Err(MemoryError::Overlap { .. })),
                "{base:#x}"
            );
        }
        assert!(matches!(
            memory.map("around", 0, 0x1_0000, Access::READ),
            Err(MemoryError::Overlap { .. })
        ));
        memory
            .map("below", 0x0ff0, 0x10, Access::READ)
            .expect("touches only");
        memory.unmap(0x1008).expect("mapped");
        assert!(memory.region_at(0x1008).is_none());
        assert!(memory.slice(0x1010, 16).is_ok());
    }

    #[test]
    fn written_ranges_are_merged_and_sorted() {
        let mut memory = Memory::new();
        memory
            .map("log", 0, 0x100, Access::READ_WRITE)
            .expect("free");
        memory.log_writes(0, true).expect("mapped");
        for (address, octets) in [(0x40u64, 8usize), (0x10, 4), (0x44, 8), (0x14, 4)] {
            memory
                .device_write(0, address, &vec![1; octets])
                .expect("mapped");
        }
        let region = memory.region("log").expect("mapped");
        assert_eq!(region.written_ranges(), [0x10..0x18, 0x40..0x4c]);
    }
}
