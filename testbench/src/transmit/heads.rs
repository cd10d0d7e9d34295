//! Heads at their limits, one below and one beyond: what stands on the ring, and what the contract
//! (`rnic_abi::transmit_ring`) says becomes of it.

use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{
    units, ELEMENTS_MAX, ELEMENTS_SHIFT, FRAME_OCTETS_MIN, INSERT_CHECKSUM, INSERT_CRC,
    STATUS_READ_FAILED, STATUS_REFUSED,
};

/// Octets of an element's length field, and what a head's fields take.
const FIELD_MAX: usize = 0xffff;
/// Elements that the field of a head can say.
const ELEMENTS_SAID_MAX: usize = 15;
const CHECKSUM_OCTETS: usize = 2;
const CRC_OCTETS: usize = 4;
/// Octets that a CRC covers in the frame of [`carries`].
const COVERED: usize = 14;

/// A frame whose checksum, from its CRC on, is folded to the very last carry: the words that are
/// summed, least significant octet first, are 0x1ffff together.
pub(super) fn carries() -> Vec<u8> {
    let words = (0..=u8::MAX).find_map(|octet| {
        let crc = crc32c::crc32c(&[octet; COVERED]);
        let word = 0x1_ffffu32.checked_sub((crc & 0xffff) + (crc >> 16))?;
        Some((octet, u16::try_from(word).ok()?))
    });
    let (octet, word) = words.expect("half of all CRCs have such a word");
    let mut octets = vec![octet; COVERED + CRC_OCTETS];
    octets.extend(word.to_le_bytes());
    octets.extend([0; CHECKSUM_OCTETS]);
    octets
}

/// Where octets of frames lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere in memory.
    Anywhere,
    /// They are those of [`carries`].
    Carries,
    /// The last ones lie past the end of the address space, which nothing reads.
    PastTheEnd,
}

/// A head, its elements, and the limit that it is drawn for.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub limit: &'static str,
    pub octets: usize,
    /// Octets of each element; all that the head says are there.
    pub elements: Vec<usize>,
    /// Octet from which on it is summed, and its place.
    checksum: Option<(usize, usize)>,
    /// First octet covered, and how many.
    crc: Option<(usize, usize)>,
    pub place: Place,
}

impl Head {
    pub fn new(limit: &'static str, octets: usize, elements: Vec<usize>) -> Self {
        Self {
            limit,
            octets,
            elements,
            checksum: None,
            crc: None,
            place: Place::Anywhere,
        }
    }

    /// Whether a head is refused, as the contract says it.
    pub fn is_refused(&self) -> bool {
        let count = self.elements.len();
        let sum: usize = self.elements.iter().sum();
        let wrong_length = self.octets < FRAME_OCTETS_MIN || self.octets > MAX_FRAME_OCTETS;
        let wrong_elements = count == 0 || count > ELEMENTS_MAX;
        let wrong_octets = self.elements.contains(&0) || sum != self.octets;
        let wrong_checksum = self.checksum.is_some_and(|(start, place)| {
            let passes = place + CHECKSUM_OCTETS > self.octets;
            passes || place < start || (place - start) % 2 != 0
        });
        let wrong_crc = self.crc.is_some_and(|(first, octets)| {
            octets == 0 || first + octets + CRC_OCTETS > self.octets
        });
        wrong_length || wrong_elements || wrong_octets || wrong_checksum || wrong_crc
    }

    /// What the device writes as its status.
    pub fn status(&self) -> u32 {
        match (self.is_refused(), self.place) {
            (true, _) => STATUS_REFUSED,
            (false, Place::PastTheEnd) => STATUS_READ_FAILED,
            (false, _) => 0,
        }
    }

    /// What leaves of `octets` in memory.
    pub fn frame(&self, mut octets: Vec<u8>) -> Vec<u8> {
        if let Some((first, covered)) = self.crc {
            let crc = crc32c::crc32c(&octets[first..first + covered]);
            octets[first + covered..][..CRC_OCTETS].copy_from_slice(&crc.to_le_bytes());
        }
        if let Some((start, place)) = self.checksum {
            let words = octets[start..].chunks(2);
            let sum: u32 = words
                .map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)))
                .sum();
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            octets[place..place + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
        octets
    }

    /// Its units, with elements from `address` on.
    pub fn units(&self, mut address: u64) -> Vec<u8> {
        let mut head = [0_u32; 8];
        head[0] = self.octets as u32 | (self.elements.len() as u32) << ELEMENTS_SHIFT;
        if let Some((start, place)) = self.checksum {
            head[0] |= INSERT_CHECKSUM;
            head[1] = start as u32 | (place as u32) << 16;
        }
        if let Some((first, octets)) = self.crc {
            head[0] |= INSERT_CRC;
            head[2] = first as u32 | (octets as u32) << 16;
        }
        let mut words = head.to_vec();
        for &octets in &self.elements {
            words.extend([address as u32, (address >> 32) as u32, octets as u32, 0]);
            address = address.wrapping_add(octets as u64);
        }
        words.resize(8 * units(self.elements.len() as u32) as usize, 0);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// `octets` in `count` elements, all of one octet but the last.
fn elements(octets: usize, count: usize) -> Vec<usize> {
    let mut elements = vec![1; count.saturating_sub(1)];
    elements.push(octets - elements.len());
    elements
}

/// Every limit of a head, at it, below and beyond.
pub(super) fn cases() -> Vec<Head> {
    let mut cases = Vec::new();
    for octets in [1, 13, 14, 15, 9215, 9216, 9217, FIELD_MAX] {
        cases.push(Head::new("octets of the frame", octets, vec![octets]));
    }
    cases.push(Head::new("octets of the frame", 0, vec![0]));
    for count in [1, 2, 7, 8, 9, ELEMENTS_SAID_MAX] {
        cases.push(Head::new("elements", 64, elements(64, count)));
    }
    cases.push(Head::new("elements", 64, vec![]));
    for said in [63, 64, 65] {
        cases.push(Head::new("octets of the elements", said, vec![20, 44]));
    }
    for place in 0..4 {
        let mut elements = vec![20, 20, 20];
        elements.insert(place, 0);
        cases.push(Head::new("an element without octets", 60, elements));
    }
    for octets in [14, 15, 61, MAX_FRAME_OCTETS] {
        let whole = |limit| Head::new(limit, octets, elements(octets, 2));
        for place in [octets - 3, octets - 2, octets - 1, octets, FIELD_MAX - 1] {
            // Two octets beyond it lie an even distance away, which is wrong by its sign alone.
            let near = place.saturating_sub(2)..=(place + 2).min(FIELD_MAX);
            for start in std::iter::once(0).chain(near) {
                cases.push(Head {
                    checksum: Some((start, place)),
                    ..whole("place of the checksum")
                });
            }
        }
        for (first, covered) in [
            (0, octets - 4),
            (0, octets - 3),
            (0, octets),
            (octets - 5, 1),
            (octets - 4, 1),
            (octets, 1),
            (FIELD_MAX, FIELD_MAX),
            (0, 0),
            (octets - 4, 0),
            (3, 1),
        ] {
            cases.push(Head {
                crc: Some((first, covered)),
                ..whole("range of the CRC")
            });
        }
    }
    cases.extend(sums_after_crcs());
    for elements in [vec![64], vec![20, 44]] {
        cases.push(Head {
            place: Place::PastTheEnd,
            ..Head::new("the end of addresses", 64, elements)
        });
    }
    cases
}

/// Heads with both: what of a CRC a sum counts.
fn sums_after_crcs() -> Vec<Head> {
    let mut cases = Vec::new();
    for covered in [20, 21, 50] {
        for start in (covered - 2..covered + 8).chain([covered + 100]) {
            let place = start + (190 - start) / 2 * 2;
            cases.push(Head {
                checksum: Some((start, place)),
                crc: Some((0, covered)),
                ..Head::new("a CRC and where a sum starts", 200, elements(200, 2))
            });
        }
    }
    let octets = carries().len();
    cases.push(Head {
        checksum: Some((COVERED, octets - CHECKSUM_OCTETS)),
        crc: Some((0, COVERED)),
        place: Place::Carries,
        ..Head::new("carries of a checksum", octets, elements(octets, 1))
    });
    cases
}

/// A head without elements that has as many octets as an element would where the next unit begins.
pub(super) fn empty_before_its_like() -> [Head; 2] {
    let next = Head {
        crc: Some((64, 10)),
        ..Head::new("elements", 128, elements(128, 2))
    };
    [Head::new("elements", 64, vec![]), next]
}
