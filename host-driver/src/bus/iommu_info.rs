//! What an IOMMU can map: the answer to VFIO_IOMMU_GET_INFO (`include/uapi/linux/vfio.h`).
//!
//! ```text
//!  word  0      1      2..3     4           5        cap_offset / 4 ..
//!        argsz  flags  pgsizes  cap_offset  padding  capabilities
//!
//!  capability:   id (16), version (16) | offset of the next one | content
//!  IOVA ranges:  count | reserved | (first (64), last (64)) ...
//! ```

use super::iova::IovaSpace;
use std::ops::Range;
use vfio_bindings::bindings::vfio::{
    VFIO_IOMMU_INFO_CAPS, VFIO_IOMMU_INFO_PGSIZES, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE,
};

/// Octets of the smallest page if the IOMMU does not say.
const PAGE_OCTETS: u64 = 4096;
/// Without the capability, which Linux has since 5.4: what every IOMMU of the last years maps, but
/// for the addresses at which x86 machines take MSI messages.
const FALLBACK: [Range<u64>; 2] = [0..0xfee0_0000, 0xfef0_0000..1 << 39];

/// The addresses that may be mapped, and the smallest page.
pub(crate) fn parse(info: &[u32]) -> IovaSpace {
    let flags = word(info, 1).unwrap_or_default();
    let page_sizes = long(info, 2).filter(|_| flags & VFIO_IOMMU_INFO_PGSIZES != 0);
    let page_octets = page_sizes.filter(|sizes| *sizes != 0).map(lowest_bit);
    let first = word(info, 4).filter(|_| flags & VFIO_IOMMU_INFO_CAPS != 0);
    let ranges = first.and_then(|offset| iova_ranges(info, offset));
    IovaSpace {
        ranges: ranges.unwrap_or_else(|| FALLBACK.to_vec()),
        page_octets: page_octets.unwrap_or(PAGE_OCTETS),
    }
}

/// The ranges in the capability that has them; the first one is at `offset` octets. Each is after
/// the one that points to it, or the chain could be a circle.
fn iova_ranges(info: &[u32], offset: u32) -> Option<Vec<Range<u64>>> {
    let mut at = offset as usize / 4;
    loop {
        let (id, next) = (word(info, at)? & 0xffff, word(info, at + 1)? as usize / 4);
        if id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE {
            break;
        }
        if next <= at {
            return None;
        }
        at = next;
    }
    let count = word(info, at + 2)? as usize;
    let starts = (at + 4..).step_by(4).take(count);
    let range = |start| {
        let (first, last) = (long(info, start)?, long(info, start + 2)?);
        // The last address of all has no end; nothing is allocated there.
        Some(first..last.saturating_add(1))
    };
    starts.map(range).collect()
}

fn word(info: &[u32], index: usize) -> Option<u32> {
    info.get(index).copied()
}

/// 64 bits in the machine's order, which is little-endian wherever this is used.
fn long(info: &[u32], index: usize) -> Option<u64> {
    let (low, high) = (word(info, index)?, word(info, index + 1)?);
    Some(u64::from(high) << 32 | u64::from(low))
}

fn lowest_bit(sizes: u64) -> u64 {
    1 << sizes.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux answers on a machine with VT-d: another capability, then the ranges.
    fn answer(cap_offset: u32) -> Vec<u32> {
        let mut info = vec![112, 3, 0x4020_1000, 0, cap_offset, 0];
        // DMA_AVAIL.
        info.extend([0x0001_0003, 40, 65_535, 0]);
        info.extend([0x0001_0001, 0, 2, 0]);
        info.extend([0, 0, 0xfedf_ffff, 0]);
        info.extend([0xfef0_0000, 0, 0xffff_ffff, 0x1ff]);
        info
    }

    #[test]
    fn ranges_are_read_past_other_capabilities() {
        let space = parse(&answer(24));
        let expected = [0..0xfee0_0000, 0xfef0_0000..0x200_0000_0000];
        assert_eq!(space.ranges, expected);
        assert_eq!(space.page_octets, 4096);
    }

    #[test]
    fn the_whole_space_has_an_end() {
        let mut info = answer(40);
        info[12] = 1;
        info[16..18].fill(u32::MAX);
        let ranges = parse(&info).ranges;
        assert_eq!((ranges.len(), ranges[0].clone()), (1, 0..u64::MAX));
    }

    #[test]
    fn without_ranges_the_msi_addresses_are_left_out() {
        let fallback = |info: &[u32]| assert_eq!(parse(info).ranges, FALLBACK);
        fallback(&[]);
        fallback(&[24, 1, 0x1000, 0, 0, 0]);
        // An answer that did not fit: no capabilities.
        fallback(&answer(0));
        // A circle, and a range that is cut off.
        let mut info = answer(24);
        info[7] = 24;
        fallback(&info);
        let info = answer(24);
        fallback(&info[..info.len() - 1]);
        // The flags say that there is none.
        let mut info = answer(24);
        info[1] = 1;
        fallback(&info);
        info[1] = 2;
        info[2] = 0x1_0000;
        assert_eq!(parse(&info).page_octets, PAGE_OCTETS);
    }
}
