//! Heads, elements and the frames that they stand for, by the text of `rnic_abi::transmit_ring`.
use crate::bus::reads::tests::completer::octet;
use rnic_abi::transmit_ring as abi;
use rnic_hdl_tools::testkit::Random;

/// A head and its elements.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Octets, as the head says.
    pub octets: usize,
    /// Start of the sum and place of the checksum.
    pub checksum: Option<(usize, usize)>,
    /// First octet that the CRC covers, and how many it covers.
    pub crc: Option<(usize, usize)>,
    /// Elements, as the head says.
    pub count: usize,
    pub elements: Vec<(u64, usize)>,
}

impl Spec {
    /// A frame of these elements.
    pub fn of(elements: &[(u64, usize)]) -> Self {
        Self {
            octets: elements.iter().map(|element| element.1).sum(),
            count: elements.len(),
            elements: elements.to_vec(),
            ..Self::default()
        }
    }

    pub fn units(&self) -> usize {
        abi::units(self.count as u32) as usize
    }

    /// The units, with garbage in all that the device does not look at.
    pub fn encode(&self, random: &mut Random) -> Vec<u8> {
        let mut words: Vec<u32> = (0..8 * self.units())
            .map(|_| random.bits() as u32)
            .collect();
        words[0] = self.octets as u32 | (self.count as u32) << abi::ELEMENTS_SHIFT;
        if let Some((start, place)) = self.checksum {
            words[0] |= abi::INSERT_CHECKSUM;
            words[1] = start as u32 | (place as u32) << 16;
        }
        if let Some((first, octets)) = self.crc {
            words[0] |= abi::INSERT_CRC;
            words[2] = first as u32 | (octets as u32) << 16;
        }
        words[abi::STATUS_WORD] = 0;
        for (index, (address, octets)) in self.elements.iter().enumerate() {
            let at = 8 + 4 * index;
            if at < words.len() {
                words[at] = *address as u32;
                words[at + 1] = (address >> 32) as u32;
                words[at + 2] = words[at + 2] << 16 | *octets as u32;
            }
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The first rule that the head breaks, in the order of the ABI's text.
    pub fn refusal(&self) -> Option<usize> {
        let whole = rnic_abi::limits::MAX_FRAME_OCTETS;
        if self.octets < abi::FRAME_OCTETS_MIN || self.octets > whole {
            return Some(0);
        }
        let count = self.count;
        if count == 0 || count > abi::ELEMENTS_MAX || self.elements.iter().any(|one| one.1 == 0) {
            return Some(1);
        }
        if self.elements.iter().map(|one| one.1).sum::<usize>() != self.octets {
            return Some(2);
        }
        if let Some((start, place)) = self.checksum {
            if place + 2 > self.octets || place < start || (place - start) % 2 == 1 {
                return Some(3);
            }
        }
        let crc = self.crc?;
        (crc.1 == 0 || crc.0 + crc.1 + 4 > self.octets).then_some(4)
    }

    /// The frame as it must leave.
    pub fn frame(&self) -> Vec<u8> {
        let octets = |(address, octets): &(u64, usize)| {
            let address = *address;
            (0..*octets as u64).map(move |offset| octet(address + offset))
        };
        let mut frame: Vec<u8> = self.elements.iter().flat_map(octets).collect();
        if let Some((first, octets)) = self.crc {
            let place = first + octets;
            let value = crc32c::crc32c(&frame[first..place]);
            frame[place..place + 4].copy_from_slice(&value.to_le_bytes());
        }
        if let Some((start, place)) = self.checksum {
            let checksum = internet_checksum(&frame[start..]);
            frame[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        frame
    }
}

/// RFC 1071, section 4.1, in network order.
fn internet_checksum(octets: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in octets.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    while sum >> 16 > 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn the_checksum_is_that_of_the_rfc() {
    // RFC 1071, section 3: the sum of these octets is 0xddf2.
    let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!(internet_checksum(&octets), !0xddf2);
    assert_eq!(internet_checksum(&octets[..7]), !0xdcfb);
}

/// Addresses for elements that no other element has.
pub struct Arena {
    next: u64,
}

impl Arena {
    pub fn new() -> Self {
        Self { next: 0xffff_0000 }
    }

    /// An address of any alignment, now and then far away.
    pub fn take(&mut self, octets: usize, random: &mut Random) -> u64 {
        if random.chance(1, 20) {
            self.next += 1 << 33;
        }
        let address = self.next + random.below(70);
        // No two elements share a doubleword.
        self.next = address + octets as u64 + 4 + random.below(40);
        address
    }
}

/// A frame of `octets` octets in up to eight elements of any length.
pub fn frame_of(octets: usize, arena: &mut Arena, random: &mut Random) -> Spec {
    let count = 1 + random.below(abi::ELEMENTS_MAX.min(octets) as u64) as usize;
    let mut cuts: Vec<usize> = vec![0, octets];
    while cuts.len() <= count {
        let cut = 1 + random.below(octets as u64 - 1) as usize;
        if !cuts.contains(&cut) {
            cuts.push(cut);
        }
    }
    cuts.sort_unstable();
    let lengths = cuts.windows(2).map(|ends| ends[1] - ends[0]);
    let elements: Vec<(u64, usize)> = lengths
        .map(|length| (arena.take(length, random), length))
        .collect();
    Spec::of(&elements)
}

/// A random length: short ones, those near a multiple of a beat, and long ones.
pub fn length(most: u64, random: &mut Random) -> usize {
    let octets = match random.below(4) {
        0 => 14 + random.below(60),
        1 => 64 * (1 + random.below(4)) + random.below(9) - 4,
        2 => 14 + random.below(most.min(700) - 13),
        _ => 14 + random.below(most - 13),
    };
    octets.min(most) as usize
}

/// Sums for a frame, anywhere that is allowed.
pub fn add_sums(spec: &mut Spec, random: &mut Random) {
    let octets = spec.octets as u64;
    if random.chance(2, 3) {
        let start = random.below(octets - 1);
        let place = start + 2 * random.below((octets - 2 - start) / 2 + 1);
        spec.checksum = Some((start as usize, place as usize));
    }
    if random.chance(2, 3) {
        let first = match random.below(3) {
            0 => random.below(octets - 4),
            _ => random.below((octets - 4).min(70)),
        };
        let most = octets - 4 - first;
        let covered = match random.below(3) {
            0 => most,
            1 => 1 + random.below(most.min(6)),
            _ => 1 + random.below(most),
        };
        spec.crc = Some((first as usize, covered as usize));
    }
}

/// Breaks one rule of a good frame; the rule of this number, from 0 to 4.
pub fn spoil(spec: &mut Spec, rule: u64, random: &mut Random) {
    let octets = spec.octets;
    match rule {
        0 => {
            spec.octets = [0, 13, 9217, 0xffff][random.below(4) as usize];
            let rest = spec.octets.saturating_sub(spec.elements.len() - 1).max(1);
            for element in &mut spec.elements {
                element.1 = 1;
            }
            spec.elements[0].1 = rest;
        }
        1 => match random.below(3) {
            0 => (spec.count, spec.elements) = (0, Vec::new()),
            1 => spec.count = 9 + random.below(7) as usize,
            _ => {
                let element = random.below(spec.elements.len() as u64) as usize;
                let length = std::mem::take(&mut spec.elements[element].1);
                let other = (element + 1) % spec.elements.len();
                spec.elements[other].1 += length;
                spec.elements[element].1 = 0;
            }
        },
        2 => {
            let element = random.below(spec.elements.len() as u64) as usize;
            spec.elements[element].1 += 1 + random.below(300) as usize;
        }
        3 => {
            spec.checksum = Some(match random.below(4) {
                0 => (octets % 2, octets - octets % 2),
                1 => (octets - 1, octets - 1),
                2 => (8, 6),
                _ => (3, 4),
            });
        }
        _ => {
            spec.crc = Some(match random.below(4) {
                0 => (0, 0),
                1 => (0, octets - 3),
                2 => (octets, 1),
                _ => (0xffff, 0xffff),
            });
        }
    }
}

#[test]
fn each_rule_is_broken_by_what_shall_break_it() {
    let (mut arena, mut random) = (Arena::new(), Random::from_environment());
    for round in 0..500 {
        let octets = length(2000, &mut random);
        let mut spec = frame_of(octets, &mut arena, &mut random);
        add_sums(&mut spec, &mut random);
        assert_eq!(spec.refusal(), None);
        assert_eq!(spec.frame().len(), octets);
        spoil(&mut spec, round % 5, &mut random);
        assert!(spec.refusal().is_some(), "{spec:?}");
    }
}
