//! First and Last DW Byte Enables: which octets of a request count.
//!
//! ```text
//!   address  ...0  ...4  ...8       octets 3..10 of three dwords:
//!            ---x  xxxx  xx--       first = 0b1000, last = 0b0011 (bit 0 = lowest address)
//! ```
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2.5 and 2.2.9.

use std::fmt;
use std::ops::Range;

use crate::tlp::{Length, DWORD_OCTETS};

/// The two four-bit fields, first in bits 3:0 and last in bits 7:4, as a header holds them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteEnables(u8);

impl ByteEnables {
    /// No octet at all: a zero-length request of one dword.
    pub const NONE: Self = Self(0);
    /// All octets of a single dword.
    pub const ONE_DWORD: Self = Self(0x0f);

    /// From the first and last field, low four bits of each.
    pub const fn new(first: u8, last: u8) -> Self {
        Self((last & 0xf) << 4 | (first & 0xf))
    }

    /// From the octet that a request header holds.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The octet that a request header holds.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// First DW BE.
    pub const fn first(self) -> u8 {
        self.0 & 0xf
    }

    /// Last DW BE.
    pub const fn last(self) -> u8 {
        self.0 >> 4
    }

    /// The enables and length of a request for the `octets` octets from `address` on.
    ///
    /// `None` if they need more than 1024 dwords. Zero octets give the zero-length request.
    ///
    /// ```
    /// use pcie_sim::ByteEnables;
    /// let (enables, length) = ByteEnables::for_span(0x1003, 7).unwrap();
    /// assert_eq!((enables.first(), enables.last()), (0b1000, 0b0011));
    /// assert_eq!(length.dwords(), 3);
    /// ```
    pub fn for_span(address: u64, octets: usize) -> Option<(Self, Length)> {
        if octets == 0 {
            return Some((Self::NONE, Length::ONE));
        }
        let start = (address % DWORD_OCTETS as u64) as usize;
        let end = start.checked_add(octets)?;
        let length = Length::from_dwords(end.div_ceil(DWORD_OCTETS))?;
        let first = 0xf << start;
        let last = 0xf >> (length.octets() - end);
        match length.dwords() {
            1 => Some((Self::new(first & last, 0), length)),
            _ => Some((Self::new(first, last), length)),
        }
    }

    /// Octets before the first enabled one; 0 if none is enabled.
    pub const fn leading_octets(self) -> usize {
        match self.first() {
            0 => 0,
            first => first.trailing_zeros() as usize,
        }
    }

    /// Octet offsets from the first enabled octet to past the last, within `length`.
    ///
    /// Empty for a zero-length request. The enables of a longer request are taken as the
    /// rules want them, not zero.
    pub fn span(self, length: Length) -> Range<usize> {
        let field = match length.dwords() {
            1 => self.first(),
            _ => self.last(),
        };
        if field == 0 {
            return 0..0;
        }
        let unused = field.leading_zeros() as usize - DWORD_OCTETS;
        self.leading_octets()..length.octets() - unused
    }

    /// Byte Count of the first completion of a read with these enables.
    ///
    /// The octets from the first enabled to the last; 1 if none is.
    pub fn byte_count(self, length: Length) -> usize {
        self.span(length).len().max(1)
    }

    /// Whether the octet at `offset` in a request of `length` is enabled.
    pub fn enabled(self, length: Length, offset: usize) -> bool {
        let bit = offset % DWORD_OCTETS;
        match offset / DWORD_OCTETS {
            0 => self.first() >> bit & 1 == 1,
            dword if dword + 1 == length.dwords() => self.last() >> bit & 1 == 1,
            dword => dword < length.dwords(),
        }
    }

    /// Whether every octet between the first and the last enabled one is enabled as well.
    pub fn contiguous(self, length: Length) -> bool {
        let field_contiguous = |field: u8| {
            let shifted = field >> field.trailing_zeros().min(7);
            shifted & shifted.wrapping_add(1) == 0
        };
        match length.dwords() {
            1 => field_contiguous(self.first()),
            _ => {
                let reaches_up = self.first() == 0 || self.first() & 0b1000 != 0;
                let reaches_down = self.last() == 0 || self.last() & 0b0001 != 0;
                reaches_up
                    && reaches_down
                    && field_contiguous(self.first())
                    && field_contiguous(self.last())
            }
        }
    }

    /// The runs of enabled octets, as offsets within a request of `length`, in order.
    pub fn runs(self, length: Length) -> impl Iterator<Item = Range<usize>> {
        let span = self.span(length);
        let contiguous = self.contiguous(length);
        let mut next = span.start;
        std::iter::from_fn(move || {
            if contiguous {
                let run = next..span.end;
                next = span.end;
                return (!run.is_empty()).then_some(run);
            }
            let start = (next..span.end).find(|&offset| self.enabled(length, offset))?;
            let end = (start..span.end).find(|&offset| !self.enabled(length, offset));
            next = end.unwrap_or(span.end);
            Some(start..next)
        })
    }
}

impl fmt::Debug for ByteEnables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "first {:04b} last {:04b}",
            self.first(),
            self.last()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_give_back_the_octets_they_were_built_from() {
        for address in 0..4u64 {
            for octets in 0..40 {
                let (enables, length) = ByteEnables::for_span(address, octets).expect("short");
                assert!(enables.contiguous(length), "{enables:?}");
                let enabled: Vec<usize> = (0..length.octets())
                    .filter(|&at| enables.enabled(length, at))
                    .collect();
                let start = address as usize;
                assert_eq!(enabled, (start..start + octets).collect::<Vec<_>>());
                assert_eq!(enables.byte_count(length), octets.max(1));
            }
        }
        assert_eq!(ByteEnables::for_span(1, 4096), None);
        assert!(ByteEnables::for_span(0, 4096).is_some());
        assert_eq!(ByteEnables::for_span(3, usize::MAX), None);
    }

    #[test]
    fn runs_cover_exactly_the_enabled_octets() {
        for bits in 0..=255u8 {
            for dwords in 1..4 {
                let length = Length::from_dwords(dwords).expect("in range");
                let enables = ByteEnables::from_bits(bits);
                // The rules forbid these; `span` does not cover them.
                if dwords > 1 && (enables.first() == 0 || enables.last() == 0) {
                    continue;
                }
                let enabled: Vec<usize> = (0..length.octets())
                    .filter(|&at| enables.enabled(length, at))
                    .collect();
                let runs: Vec<Range<usize>> = enables.runs(length).collect();
                assert_eq!(runs.iter().cloned().flatten().collect::<Vec<_>>(), enabled);
                assert_eq!(
                    enables.contiguous(length),
                    runs.len() <= 1,
                    "{enables:?} {dwords}"
                );
            }
        }
    }

    #[test]
    fn byte_count_follows_the_table_of_single_dword_requests() {
        // PCI Express Base Specification 5.0, section 2.2.9, values of Byte Count.
        let table = [1, 1, 1, 2, 1, 3, 2, 3, 1, 4, 3, 4, 2, 4, 3, 4];
        for (first, expected) in table.into_iter().enumerate() {
            let enables = ByteEnables::new(first as u8, 0);
            assert_eq!(
                enables.byte_count(Length::ONE),
                expected,
                "first BE {first:04b}"
            );
        }
    }
}
