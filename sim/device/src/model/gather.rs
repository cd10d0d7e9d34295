//! A head, its elements, and the frame that they make.

use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{
    units, ELEMENTS_MAX, ELEMENTS_SHIFT, ELEMENT_OCTETS, FRAME_OCTETS_MIN, INSERT_CHECKSUM,
    INSERT_CRC, UNIT_OCTETS,
};
use rnic_model::ip::ones_complement_sum;

const CHECKSUM_OCTETS: usize = 2;
const CRC_OCTETS: usize = 4;

/// What a head asks for.
#[derive(Clone, Debug)]
pub(super) struct Head {
    octets: usize,
    elements: u32,
    /// First octet summed, and where the checksum stands.
    checksum: Option<(usize, usize)>,
    /// First octet covered, and how many are.
    crc: Option<(usize, usize)>,
}

impl Head {
    /// Read a head's unit.
    pub(super) fn parse(unit: &[u8]) -> Self {
        let word = |at: usize| little_endian(&unit[4 * at..]);
        let halves = |at: usize| (word(at) as usize & 0xffff, word(at) as usize >> 16);
        Self {
            octets: word(0) as usize & 0xffff,
            elements: word(0) >> ELEMENTS_SHIFT & 0xf,
            checksum: (word(0) & INSERT_CHECKSUM != 0).then(|| halves(1)),
            crc: (word(0) & INSERT_CRC != 0).then(|| halves(2)),
        }
    }

    /// Units of the frame, the head's own included.
    pub(super) fn units(&self) -> u32 {
        units(self.elements)
    }

    /// Its elements in `units`, the units after the head: address and octets. `None` if the head
    /// is refused.
    pub(super) fn elements(&self, units: &[u8]) -> Option<Vec<(u64, usize)>> {
        let is_frame = (FRAME_OCTETS_MIN..=MAX_FRAME_OCTETS).contains(&self.octets);
        let is_gathered = (1..=ELEMENTS_MAX as u32).contains(&self.elements);
        let checksum_fits = self.checksum.is_none_or(|(start, place)| {
            let distance = place.checked_sub(start);
            let is_even = distance.is_some_and(|distance| distance % 2 == 0);
            is_even && place + CHECKSUM_OCTETS <= self.octets
        });
        let crc_fits = self.crc.is_none_or(|(first, covered)| {
            covered > 0 && first + covered + CRC_OCTETS <= self.octets
        });
        if !(is_frame && is_gathered && checksum_fits && crc_fits) {
            return None;
        }
        let elements = units
            .chunks_exact(ELEMENT_OCTETS)
            .take(self.elements as usize);
        let elements: Vec<(u64, usize)> = elements.map(element).collect();
        let octets: usize = elements.iter().map(|(_, octets)| octets).sum();
        let all_have_some = elements.iter().all(|&(_, octets)| octets > 0);
        (all_have_some && octets == self.octets).then_some(elements)
    }

    /// Insert what is asked for: the CRC of the octets as they are in memory, then the checksum
    /// over it.
    pub(super) fn insert(&self, frame: &mut [u8]) {
        if let Some((first, covered)) = self.crc {
            let (octets, crc) = frame[first..].split_at_mut(covered);
            crc[..CRC_OCTETS].copy_from_slice(&crc32c::crc32c(octets).to_le_bytes());
        }
        if let Some((start, place)) = self.checksum {
            let sum = ones_complement_sum(&frame[start..], 0);
            frame[place..place + CHECKSUM_OCTETS].copy_from_slice(&(!sum).to_be_bytes());
        }
    }
}

/// Address and octets of an element.
fn element(octets: &[u8]) -> (u64, usize) {
    let address = u64::from(little_endian(&octets[4..])) << 32 | u64::from(little_endian(octets));
    (address, little_endian(&octets[8..]) as usize & 0xffff)
}

fn little_endian(octets: &[u8]) -> u32 {
    u32::from_le_bytes(octets[..4].try_into().expect("four octets"))
}

const _: () = assert!(UNIT_OCTETS == 2 * ELEMENT_OCTETS);
