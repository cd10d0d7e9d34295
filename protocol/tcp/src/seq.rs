//! Sequence numbers: 32 bits that wrap (RFC 9293 section 3.4).
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A sequence number of TCP.
///
/// Two of them are compared by their distance modulo 2^32, so an order exists only between numbers
/// less than 2^31 apart. A connection never has numbers in use that are further apart, because its
/// windows are at most 2^30 (RFC 7323 section 2.3). The order is not transitive, hence methods with
/// names instead of `Ord`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// Octets from `earlier` to this number, negative if it comes before; exact while they are less
    /// than 2^31 apart.
    pub const fn distance_from(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// This number comes before `other`.
    pub const fn is_before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }

    /// This number comes after `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }

    /// This number lies in `first..=last`. True for every number between them modulo 2^32, even if
    /// they are more than 2^31 apart.
    pub const fn is_within(self, first: Self, last: Self) -> bool {
        self.0.wrapping_sub(first.0) <= last.0.wrapping_sub(first.0)
    }

    /// Octets from `earlier` to this number; 0 if it comes before.
    pub const fn octets_since(self, earlier: Self) -> u32 {
        let distance = self.distance_from(earlier);
        if distance < 0 {
            0
        } else {
            distance as u32
        }
    }

    /// The later of two.
    #[must_use]
    pub const fn later(self, other: Self) -> Self {
        if self.is_before(other) {
            other
        } else {
            self
        }
    }

    /// The earlier of two.
    #[must_use]
    pub const fn earlier(self, other: Self) -> Self {
        if self.is_before(other) {
            self
        } else {
            other
        }
    }
}

impl Add<u32> for SeqNumber {
    type Output = Self;

    fn add(self, octets: u32) -> Self {
        Self(self.0.wrapping_add(octets))
    }
}

impl AddAssign<u32> for SeqNumber {
    fn add_assign(&mut self, octets: u32) {
        *self = *self + octets;
    }
}

impl Sub<u32> for SeqNumber {
    type Output = Self;

    fn sub(self, octets: u32) -> Self {
        Self(self.0.wrapping_sub(octets))
    }
}

impl fmt::Display for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-001: The largest distance with an order, the smallest without, and across the wrap.
    #[test]
    fn order_is_by_distance_up_to_two_to_the_thirty_first() {
        for base in [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX].map(SeqNumber) {
            assert!(!base.is_before(base) && !base.is_after(base));
            assert!(base.is_before(base + 1) && (base + 1).is_after(base));
            assert!(base.is_before(base + 0x7fff_ffff));
            assert!((base + 0x8000_0001).is_before(base));
            assert_eq!((base + 7).distance_from(base), 7);
            assert_eq!(base.distance_from(base + 7), -7);
            assert_eq!((base + 7).octets_since(base), 7);
            assert_eq!(base.octets_since(base + 7), 0);
            assert_eq!(base.later(base + 1), base + 1);
            assert_eq!((base + 1).later(base), base + 1);
            assert_eq!(base.earlier(base + 1), base);
            assert_eq!((base + 1).earlier(base), base);
            assert_eq!(base + 5 - 5, base);
            assert_eq!(base.to_string(), base.0.to_string());
        }
    }

    #[test]
    fn a_range_has_both_its_ends_and_wraps() {
        for first in [5, u32::MAX - 3].map(SeqNumber) {
            let last = first + 8;
            assert!(first.is_within(first, last) && last.is_within(first, last));
            assert!(!(first - 1).is_within(first, last) && !(last + 1).is_within(first, last));
            assert!((first + 0x9000_0000).is_within(first, first + 0xa000_0000));
        }
    }
}
