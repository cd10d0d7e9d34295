//! What a function is made of: its identity, its BARs, its interrupts.

use thiserror::Error;

/// Who the function says it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    /// Vendor ID.
    pub vendor_id: u16,
    /// Device ID.
    pub device_id: u16,
    /// Revision ID.
    pub revision_id: u8,
    /// Class Code: base class, sub-class, interface; 24 bits.
    pub class_code: u32,
    /// Subsystem Vendor ID.
    pub subsystem_vendor_id: u16,
    /// Subsystem ID.
    pub subsystem_id: u16,
}

/// One memory BAR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Which BAR register, `0..=5`; a 64-bit BAR uses the next one as well.
    pub index: u8,
    /// Size in octets: a power of two, at least 128.
    pub octets: u64,
    /// Whether it may be placed above 4 GiB.
    pub wide: bool,
    /// Whether reads are free of side effects.
    pub prefetchable: bool,
}

/// Where the MSI-X table and pending bits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Msix {
    /// Vectors, `1..=2048`.
    pub vector_count: u16,
    /// BAR index of the table.
    pub table_bar: u8,
    /// Octet offset of the table in it; a multiple of eight.
    pub table_offset: u32,
    /// BAR index of the Pending Bit Array (PBA).
    pub pending_bar: u8,
    /// Octet offset of the array in it; a multiple of eight.
    pub pending_offset: u32,
}

impl Msix {
    /// Octets of one table entry.
    pub const ENTRY_OCTETS: usize = 16;

    /// Octets of the table.
    pub const fn table_octets(&self) -> usize {
        self.vector_count as usize * Self::ENTRY_OCTETS
    }

    /// Octets of the pending bits: whole quadwords.
    pub const fn pending_octets(&self) -> usize {
        (self.vector_count as usize).div_ceil(64) * 8
    }
}

/// Why a configuration space cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ConfigurationError {
    /// The size is no power of two, is below 128, or does not fit the BAR's width.
    #[error(
        "BAR {index} has {octets} octets; give a power of two from 128 on, 2^31 at most if narrow"
    )]
    BarSize {
        /// The BAR.
        index: u8,
        /// Its size.
        octets: u64,
    },
    /// The register does not exist or belongs to another BAR.
    #[error("BAR {index} does not exist or is taken; a wide BAR takes two registers")]
    BarIndex {
        /// The BAR.
        index: u8,
    },
    /// The vectors are too many or none.
    #[error("{vector_count} MSI-X vectors; give 1 to 2048")]
    VectorCount {
        /// The number asked for.
        vector_count: u16,
    },
    /// The table or the pending bits are not within their BAR, or not aligned.
    #[error("MSI-X structure at BAR {bar} offset {offset:#x} is outside its BAR or unaligned")]
    MsixPlace {
        /// The BAR.
        bar: u8,
        /// The offset.
        offset: u32,
    },
}
