//! Transmit rings: what becomes of each frame on a ring in host memory.
//!
//! Written from `rnic_abi::transmit_ring`, RFC 1071 and RFC 5044 section 4.4.
//!
//! ```text
//!  tail -> units below it -> head, elements -> refused? -+-> Fate::Refused
//!             |                                          v
//!             | no read: the ring stops               octets -- no read: Fate::ReadFailed
//!                                                        v
//!                                          CRC32C, then checksum -> Fate::Sent
//! ```
//!
//! The model has no time. It passes every frame that the tail lets it pass, so its head is where the
//! device's is once the device is idle. It reads units one by one. The device may read several at a
//! time, and then one that cannot be read stops the ring in front of good units of the same read: a
//! caller that compares such a stop passes a `read` that fails for all units of that read.

use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{
    ELEMENTS_MAX, FRAME_OCTETS_MIN, STATUS_READ_FAILED, STATUS_REFUSED, STATUS_WORD, STOPPED,
    UNIT_OCTETS,
};

/// Words of a unit, and of an element.
const UNIT_WORDS: usize = 8;
const ELEMENT_WORDS: usize = 4;

/// What became of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is sent, without its FCS: checksum and CRC32C are inserted.
    Sent(Vec<u8>),
    /// Its head asks for what the device does not do.
    Refused,
    /// Some of its octets cannot be read.
    ReadFailed,
}

/// A frame that the head index has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Number of its head, modulo 2^32.
    pub first: u32,
    /// Units of its head and elements, those of a refused head as it says.
    pub units: u32,
    /// What became of it.
    pub fate: Fate,
}

impl Passed {
    /// The status that is written into its head, if one is.
    pub fn status(&self) -> Option<u32> {
        match self.fate {
            Fate::Sent(_) => None,
            Fate::Refused => Some(STATUS_REFUSED),
            Fate::ReadFailed => Some(STATUS_READ_FAILED),
        }
    }
}

/// A transmit ring that was set up.
#[derive(Clone, Debug)]
pub struct TransmitRing {
    base: u64,
    units_log2: u32,
    tail: u32,
    head: u32,
    given_up: u32,
    stopped: bool,
}

impl TransmitRing {
    /// An empty ring of `1 << units_log2` units at bus address `base`.
    pub fn new(base: u64, units_log2: u32) -> Self {
        Self {
            base,
            units_log2,
            tail: 0,
            head: 0,
            given_up: 0,
            stopped: false,
        }
    }

    /// Software writes the tail. Is it taken?
    pub fn write_tail(&mut self, tail: u32) -> bool {
        let ahead = |tail: u32| tail.wrapping_sub(self.head);
        let taken = ahead(tail) <= 1 << self.units_log2 && ahead(tail) >= ahead(self.tail);
        if taken {
            self.tail = tail;
        }
        taken
    }

    /// Pass frames as far as the tail permits, in order. `read` is host memory: so many octets from
    /// a bus address on, or `None` if one of them cannot be read.
    pub fn pass(&mut self, read: impl Fn(u64, usize) -> Option<Vec<u8>>) -> Vec<Passed> {
        let mut passed = Vec::new();
        while !self.stopped && self.head != self.tail {
            let Some(head) = self.unit(&read, self.head) else {
                self.stopped = true;
                break;
            };
            let head = Head::parse(&head);
            let units = 1 + u32::from(head.elements).div_ceil(2);
            // A frame whose units the tail cuts waits; those above the tail may be anything.
            let below_tail = self.tail.wrapping_sub(self.head);
            let behind_head = (1..units.min(below_tail)).map(|unit| self.head.wrapping_add(unit));
            let words: Option<Vec<_>> = behind_head.map(|unit| self.unit(&read, unit)).collect();
            let Some(words) = words else {
                self.stopped = true;
                break;
            };
            if units > below_tail {
                break;
            }
            let elements = words.as_flattened().chunks_exact(ELEMENT_WORDS);
            let elements = elements.map(Element::parse);
            let elements: Vec<Element> = elements.take(usize::from(head.elements)).collect();
            let fate = fate(&head, &elements, &read);
            self.given_up = self.given_up.wrapping_add(match fate {
                Fate::Sent(_) => 0,
                Fate::Refused | Fate::ReadFailed => 1,
            });
            passed.push(Passed {
                first: self.head,
                units,
                fate,
            });
            self.head = self.head.wrapping_add(units);
        }
        passed
    }

    /// Units passed, modulo 2^32.
    pub fn head(&self) -> u32 {
        self.head
    }

    /// Frames that were not sent although passed, modulo 2^32.
    pub fn given_up(&self) -> u32 {
        self.given_up
    }

    /// Did a read of units fail?
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The words of the report that is written now.
    pub fn report(&self) -> [u32; 4] {
        let stopped = if self.stopped { STOPPED } else { 0 };
        [self.head, self.given_up, stopped, 0]
    }

    /// Bus address of the status of the frame whose head is unit number `first`.
    pub fn status_address(&self, first: u32) -> u64 {
        self.address(first) + 4 * STATUS_WORD as u64
    }

    /// Bus address of unit number `number`.
    fn address(&self, number: u32) -> u64 {
        let place = u64::from(number) % (1 << self.units_log2);
        self.base + place * UNIT_OCTETS as u64
    }

    /// The words of unit number `number`, if it can be read.
    fn unit(
        &self,
        read: &impl Fn(u64, usize) -> Option<Vec<u8>>,
        number: u32,
    ) -> Option<[u32; UNIT_WORDS]> {
        let octets = read(self.address(number), UNIT_OCTETS)?;
        assert_eq!(octets.len(), UNIT_OCTETS, "what is read is what was asked");
        Some(std::array::from_fn(|word| {
            let octets = &octets[4 * word..][..4];
            u32::from_le_bytes(octets.try_into().expect("four octets"))
        }))
    }
}

/// What a head says.
#[derive(Clone, Debug)]
struct Head {
    octets: u16,
    /// 0..=15.
    elements: u8,
    /// Start octet and place of the checksum.
    checksum: Option<(usize, usize)>,
    /// First octet of the CRC's range, and its octets.
    crc: Option<(usize, usize)>,
}

impl Head {
    fn parse(words: &[u32; UNIT_WORDS]) -> Self {
        let [what, checksum, crc, ..] = *words;
        let halves = |word: u32| (usize::from(word as u16), (word >> 16) as usize);
        let is_set = |bit: u32| what >> bit & 1 == 1;
        Self {
            octets: what as u16,
            elements: (what >> 16 & 15) as u8,
            checksum: is_set(20).then_some(halves(checksum)),
            crc: is_set(21).then_some(halves(crc)),
        }
    }

    /// Is one of the contract's reasons to refuse it there?
    fn is_refused(&self, elements: &[Element]) -> bool {
        let octets = usize::from(self.octets);
        let wrong_length = !(FRAME_OCTETS_MIN..=MAX_FRAME_OCTETS).contains(&octets);
        let wrong_count = elements.is_empty() || elements.len() > ELEMENTS_MAX;
        let has_empty = elements.iter().any(|element| element.octets == 0);
        let sum: usize = elements.iter().map(|element| element.octets).sum();
        let wrong_checksum = self.checksum.is_some_and(|(start, place)| {
            place + 2 > octets || place < start || (place - start) % 2 == 1
        });
        let wrong_crc = self
            .crc
            .is_some_and(|(first, covered)| covered == 0 || first + covered + 4 > octets);
        wrong_length || wrong_count || has_empty || sum != octets || wrong_checksum || wrong_crc
    }
}

/// Where octets of a frame are.
#[derive(Clone, Debug)]
struct Element {
    address: u64,
    octets: usize,
}

impl Element {
    fn parse(words: &[u32]) -> Self {
        Self {
            address: u64::from(words[1]) << 32 | u64::from(words[0]),
            octets: usize::from(words[2] as u16),
        }
    }
}

fn fate(
    head: &Head,
    elements: &[Element],
    read: &impl Fn(u64, usize) -> Option<Vec<u8>>,
) -> Fate {
    if head.is_refused(elements) {
        return Fate::Refused;
    }
    let octets: Option<Vec<_>> = elements
        .iter()
        .map(|element| read(element.address, element.octets))
        .collect();
    let Some(octets) = octets else {
        return Fate::ReadFailed;
    };
    let mut frame = octets.concat();
    assert_eq!(frame.len(), usize::from(head.octets), "reads are whole");
    if let Some((first, covered)) = head.crc {
        let (covered, behind) = frame[first..].split_at_mut(covered);
        // The least significant octet first (RFC 5044 section 4.4, as the golden FPDUs show).
        behind[..4].copy_from_slice(&crc32c::crc32c(covered).to_le_bytes());
    }
    if let Some((start, place)) = head.checksum {
        let checksum = !ones_complement_sum(&frame[start..]);
        frame[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
    }
    Fate::Sent(frame)
}

/// The ones' complement sum of big-endian words (RFC 1071 section 1); behind a last odd octet one of
/// zero is thought.
fn ones_complement_sum(octets: &[u8]) -> u16 {
    octets.chunks(2).fold(0, |sum: u16, word| {
        let low = word.get(1).copied().unwrap_or(0);
        let (sum, carry) = sum.overflowing_add(u16::from_be_bytes([word[0], low]));
        // End-around carry: after it, the sum is at most 0xfffe and one more fits.
        sum + u16::from(carry)
    })
}

#[cfg(test)]
mod tests;
