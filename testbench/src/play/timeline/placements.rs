//! Which memory writes brought the payload of which FPDU.
//!
//! The core's report of an FPDU has no address. The FPDU's own header has: its octets are those of
//! the segments that the device accepted, and regions and buffers are known from the driver. Its
//! writes are then the chain of TLPs that begins at the doubleword of its first octet, each one
//! where the last one ended: a TLP never holds octets of two FPDUs.

use super::building::Building;
use super::log::Offer;
use super::run::Placement;
use rnic_wire::ddp::control::Control;
use rnic_wire::ddp::tagged::{self, TaggedHeader};
use rnic_wire::ddp::untagged::{self, UntaggedHeader};
use rnic_wire::mpa::fpdu::LENGTH_OCTETS;
use rnic_wire::mpa::marker::{octets_to_marker, MARKER_OCTETS};
use std::collections::{HashMap, VecDeque};

/// Octets of a doubleword, the unit of a TLP's payload.
const DWORD_OCTETS: u64 = 4;

/// Payload writes that no FPDU has claimed, by their first address: cycle and end.
#[derive(Debug, Default)]
pub(super) struct Writes(HashMap<u64, VecDeque<(u64, u64)>>);

impl Writes {
    pub(super) fn add(&mut self, cycle: u64, address: u64, octets: usize) {
        let end = address + octets as u64;
        self.0.entry(address).or_default().push_back((cycle, end));
    }

    /// The first write from `address` on and from `cycle` on that ends at `end` or before.
    fn claim(&mut self, address: u64, cycle: u64, end: u64) -> Option<(u64, u64)> {
        let writes = self.0.get_mut(&address)?;
        let fits = |&(at, to): &(u64, u64)| at >= cycle && to <= end;
        let place = writes.iter().position(fits)?;
        writes.remove(place)
    }

    /// The chain of writes that covers `octets` octets from `address`: its first and last cycle.
    fn claim_all(&mut self, address: u64, octets: u64, cycle: u64) -> Option<(u64, u64)> {
        let end = (address + octets).next_multiple_of(DWORD_OCTETS);
        let mut at = address & !(DWORD_OCTETS - 1);
        let (mut first, mut last) = (None, cycle);
        while at < end {
            (last, at) = self.claim(at, last, end)?;
            first.get_or_insert(last);
        }
        Some((first?, last))
    }

    /// Writes that were not claimed.
    pub(super) fn left(&self) -> u64 {
        self.0.values().map(|writes| writes.len() as u64).sum()
    }
}

/// Find the writes of every placement. FPDUs to the same address were written in the order in which
/// they were ready, those of a stream in its order.
pub(super) fn find_writes(streams: &mut [Building], offers: &[Offer], writes: &mut Writes) {
    let mut order: Vec<(u64, usize, usize)> = Vec::new();
    for (stream, building) in streams.iter().enumerate() {
        let placements = building.stream.placements.iter().enumerate();
        order.extend(placements.filter_map(|(index, p)| Some((p.ready?, stream, index))));
    }
    order.sort_unstable();
    for (ready, stream, index) in order {
        let building = &mut streams[stream];
        let placement = building.stream.placements[index];
        let Some(address) = address_of(building, offers, &placement) else {
            continue;
        };
        let octets = u64::from(placement.placed_octets);
        building.stream.placements[index].writes = writes.claim_all(address, octets, ready);
    }
}

/// Bus address of the first payload octet of an FPDU.
fn address_of(building: &Building, offers: &[Offer], placement: &Placement) -> Option<u64> {
    let header = header_of(building, offers, placement.position)?;
    if Control::new_unchecked(&header[..]).tagged() {
        let header = TaggedHeader::new_unchecked(&header[..tagged::HEADER_OCTETS]);
        let place = building.regions.get(&header.stag())?;
        let offset = header.to().wrapping_sub(place.base);
        return Some(place.address.wrapping_add(offset));
    }
    let header = UntaggedHeader::new_unchecked(&header[..]);
    let address = building.buffers.get(&(header.qn(), header.msn()))?;
    Some(address + u64::from(header.mo()))
}

/// The octets after the length field of the FPDU at `position`, markers left out.
fn header_of(
    building: &Building,
    offers: &[Offer],
    position: i64,
) -> Option<[u8; untagged::HEADER_OCTETS]> {
    let mut header = [0; untagged::HEADER_OCTETS];
    let mut at = position;
    for index in 0..LENGTH_OCTETS + header.len() {
        if building.markers && octets_to_marker(at as u64) == 0 {
            at += MARKER_OCTETS as i64;
        }
        let octet = octet_at(building, offers, at);
        if index >= LENGTH_OCTETS {
            // A short tagged FPDU may end before an untagged header would.
            header[index - LENGTH_OCTETS] = octet.unwrap_or(0);
        } else {
            octet?;
        }
        at += 1;
    }
    Some(header)
}

fn octet_at(building: &Building, offers: &[Offer], position: i64) -> Option<u8> {
    let offer = &offers[building.coverage.offer_at(position)?];
    let start = building.stream.sequence_start.wrapping_add(position as u32);
    let offset = start.wrapping_sub(offer.sequence) as usize;
    offer.payload.get(offset).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_writes_is_claimed_once_and_in_order() {
        let mut writes = Writes::default();
        for (cycle, address, octets) in [
            (10, 0x100, 128),
            (11, 0x180, 4),
            (20, 0x100, 128),
            (21, 0x180, 4),
        ] {
            writes.add(cycle, address, octets);
        }
        assert_eq!(writes.claim_all(0x101, 130, 9), Some((10, 11)));
        assert_eq!(writes.claim_all(0x101, 130, 9), Some((20, 21)));
        assert_eq!(writes.claim_all(0x101, 130, 9), None);
        assert_eq!(writes.left(), 0);
    }

    #[test]
    fn a_write_before_the_octets_were_there_or_beyond_them_is_another_ones() {
        let mut writes = Writes::default();
        writes.add(10, 0x100, 8);
        assert_eq!(writes.claim_all(0x100, 8, 11), None);
        assert_eq!(writes.claim_all(0x100, 4, 5), None);
        assert_eq!(writes.left(), 1);
        assert_eq!(writes.claim_all(0x100, 7, 10), Some((10, 10)));
    }
}
