//! The Length field of a header, and the unit it counts.

/// Octets in a dword.
pub const DWORD_OCTETS: usize = 4;

/// The Length field: a count of dwords in ten bits, where 0 stands for 1024 (section 2.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Length(u16);

impl Length {
    /// The field in a packet that carries no length, such as `Cpl` or `Msg`.
    pub const RESERVED: Self = Self(0);
    /// One dword.
    pub const ONE: Self = Self(1);
    /// The largest count the field can hold, in dwords.
    pub const DWORDS_MAX: usize = 1024;

    /// The field that stands for `dwords`, or `None` outside `1..=1024`.
    pub const fn from_dwords(dwords: usize) -> Option<Self> {
        match dwords {
            1..=Self::DWORDS_MAX => Some(Self((dwords % Self::DWORDS_MAX) as u16)),
            _ => None,
        }
    }

    /// The low ten bits of `bits` as the field.
    pub const fn from_field(bits: u32) -> Self {
        Self((bits & 0x3ff) as u16)
    }

    /// The ten bits of the field.
    pub const fn field(self) -> u32 {
        self.0 as u32
    }

    /// The count the field stands for, `1..=1024`.
    pub const fn dwords(self) -> usize {
        if self.0 == 0 {
            Self::DWORDS_MAX
        } else {
            self.0 as usize
        }
    }

    /// The count in octets, `4..=4096`.
    pub const fn octets(self) -> usize {
        self.dwords() * DWORD_OCTETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_zero_stands_for_1024_dwords() {
        assert_eq!(Length::from_field(0).octets(), 4096);
        assert_eq!(Length::from_dwords(1024).map(Length::field), Some(0));
        assert_eq!(Length::from_dwords(0), None);
        assert_eq!(Length::from_dwords(1025), None);
        for dwords in 1..=Length::DWORDS_MAX {
            assert_eq!(
                Length::from_dwords(dwords).map(Length::dwords),
                Some(dwords)
            );
        }
    }
}
