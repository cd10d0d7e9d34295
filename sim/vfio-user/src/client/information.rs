//! What a server reports about its device, read without trust.

use std::os::fd::OwnedFd;

use crate::protocol::{self, irq_flags, region_flags, CapabilityHeader, SparseArea, SparseHeader};
use crate::socket::Message;

/// Octets of the first request for a region's information.
pub(super) const REGION_INFO_OCTETS: u32 = 1024;
/// Octets of the second one, if the first were too few.
pub(super) const REGION_INFO_OCTETS_MAX: u32 = 1 << 16;

/// What a device has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// It is a PCI function.
    pub pci: bool,
    /// It can be reset.
    pub resettable: bool,
    /// Regions, present or not.
    pub regions: u32,
    /// Kinds of interrupts.
    pub irqs: u32,
}

/// A region of a device.
#[derive(Debug)]
pub struct RegionInfo {
    /// Its length; 0 if there is no such region.
    pub octets: u64,
    /// It may be read.
    pub readable: bool,
    /// It may be written.
    pub writable: bool,
    /// What of it can be mapped; empty without a file.
    pub areas: Vec<MmapArea>,
    /// The file to map.
    pub file: Option<OwnedFd>,
    /// Where the region begins in the file.
    pub file_offset: u64,
}

/// A part of a region that can be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MmapArea {
    /// From the region's start; the file has it at this and the region's offset in it.
    pub offset: u64,
    /// Its length.
    pub octets: u64,
}

/// A kind of interrupts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IrqInfo {
    /// Vectors.
    pub count: u32,
    /// They can signal eventfds.
    pub eventfd: bool,
    /// They can be masked.
    pub maskable: bool,
    /// They mask themselves when they are triggered.
    pub automasked: bool,
    /// All vectors must be set at once.
    pub noresize: bool,
}

impl From<protocol::IrqInfo> for IrqInfo {
    fn from(info: protocol::IrqInfo) -> Self {
        Self {
            count: info.count,
            eventfd: info.flags & irq_flags::EVENTFD != 0,
            maskable: info.flags & irq_flags::MASKABLE != 0,
            automasked: info.flags & irq_flags::AUTOMASKED != 0,
            noresize: info.flags & irq_flags::NORESIZE != 0,
        }
    }
}

/// Reads the reply to `request`. None: it did not fit.
pub(super) fn region(
    index: u32,
    request: &protocol::RegionInfo,
    mut reply: Message,
) -> Result<Option<RegionInfo>, &'static str> {
    let payload = &reply.payload[..];
    let info = protocol::RegionInfo::decode(payload).ok_or("too short")?;
    if info.index != index {
        return Err("not the region asked for");
    }
    if info.argsz > request.argsz {
        return Ok(None);
    }
    let file = reply.fds.pop();
    let mappable = info.flags & region_flags::MMAP != 0 && file.is_some();
    let listed = match info.flags & region_flags::CAPABILITIES {
        0 => None,
        _ => sparse_areas(payload, info.cap_offset)?,
    };
    let whole = MmapArea {
        offset: 0,
        octets: info.size,
    };
    let areas = match listed {
        _ if !mappable => Vec::new(),
        Some(areas) => areas,
        None => vec![whole],
    };
    for area in &areas {
        let end = area.offset.checked_add(area.octets);
        let within = end.is_some_and(|end| end <= info.size);
        if !within || end.and_then(|end| end.checked_add(info.offset)).is_none() {
            return Err("an area past the region's end");
        }
    }
    Ok(Some(RegionInfo {
        octets: info.size,
        readable: info.flags & region_flags::READ != 0,
        writable: info.flags & region_flags::WRITE != 0,
        areas,
        file: file.filter(|_| mappable),
        file_offset: info.offset,
    }))
}

/// The areas of the capability that lists them, if there is one. Capabilities ascend, so that a
/// list that points at itself ends.
fn sparse_areas(payload: &[u8], first: u32) -> Result<Option<Vec<MmapArea>>, &'static str> {
    let mut areas = None;
    let mut from = protocol::RegionInfo::OCTETS;
    let mut next = first as usize;
    while next != 0 {
        if next < from {
            return Err("capabilities that do not ascend");
        }
        let rest = payload.get(next..).ok_or("a capability past the end")?;
        let header = CapabilityHeader::decode(rest).ok_or("a capability past the end")?;
        let rest = &rest[CapabilityHeader::OCTETS..];
        from = next + CapabilityHeader::OCTETS;
        next = header.next as usize;
        if header.id != region_flags::CAPABILITY_SPARSE_MMAP {
            continue;
        }
        let sparse = SparseHeader::decode(rest).ok_or("a capability past the end")?;
        let rest = &rest[SparseHeader::OCTETS..];
        let count = sparse.nr_areas as usize;
        let octets = count.checked_mul(SparseArea::OCTETS);
        let listed = octets.and_then(|octets| rest.get(..octets));
        let listed = listed.ok_or("more areas than fit")?;
        let area = |octets: &[u8]| {
            let area = SparseArea::decode(octets)?;
            Some(MmapArea {
                offset: area.offset,
                octets: area.size,
            })
        };
        let list = listed.chunks_exact(SparseArea::OCTETS).filter_map(area);
        areas = Some(list.collect());
    }
    Ok(areas)
}

#[cfg(test)]
mod tests;
