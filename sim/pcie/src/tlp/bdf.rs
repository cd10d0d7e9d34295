//! Bus, device and function number: the name of a function on the fabric.

use std::fmt;

/// A bus, device and function number, as requester and completer ids carry it (section 2.2.6.2).
///
/// ```
/// let bdf = pcie_sim::Bdf::new(1, 2, 3);
/// assert_eq!(bdf.to_string(), "01:02.3");
/// assert_eq!(bdf.bits(), 0x0113);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bdf(u16);

impl Bdf {
    /// From bus, device (low five bits) and function (low three bits).
    pub const fn new(bus: u8, device: u8, function: u8) -> Self {
        Self((bus as u16) << 8 | (device as u16 & 0x1f) << 3 | (function as u16 & 0x7))
    }

    /// From the 16 bits of an id field.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The 16 bits of an id field.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Bus number.
    pub const fn bus(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Device number, `0..=31`.
    pub const fn device(self) -> u8 {
        (self.0 >> 3) as u8 & 0x1f
    }

    /// Function number, `0..=7`.
    pub const fn function(self) -> u8 {
        self.0 as u8 & 0x7
    }
}

impl fmt::Display for Bdf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:02x}:{:02x}.{}",
            self.bus(),
            self.device(),
            self.function()
        )
    }
}

impl fmt::Debug for Bdf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
