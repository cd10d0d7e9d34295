//! Commands by number. From the client, except for those that reach memory of the client.

/// What a message asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Version and capabilities; the first message of a session.
    Version,
    /// Memory that the device may use.
    DmaMap,
    /// Memory that it may no longer use.
    DmaUnmap,
    /// Regions and kinds of interrupts.
    DeviceGetInfo,
    /// One region.
    DeviceGetRegionInfo,
    /// Eventfds in place of accesses: not supported.
    DeviceGetRegionIoFds,
    /// One kind of interrupts.
    DeviceGetIrqInfo,
    /// Eventfds of interrupts, masks, triggers.
    DeviceSetIrqs,
    /// Read of a region.
    RegionRead,
    /// Write of a region.
    RegionWrite,
    /// The server reads memory without a file: not supported.
    DmaRead,
    /// The server writes memory without a file: not supported.
    DmaWrite,
    /// Reset.
    DeviceReset,
    /// Dirty pages, for migration: not supported.
    DirtyPages,
    /// Any other number.
    Other(u16),
}

impl Command {
    const NUMBERED: [(u16, Self); 14] = [
        (1, Self::Version),
        (2, Self::DmaMap),
        (3, Self::DmaUnmap),
        (4, Self::DeviceGetInfo),
        (5, Self::DeviceGetRegionInfo),
        (6, Self::DeviceGetRegionIoFds),
        (7, Self::DeviceGetIrqInfo),
        (8, Self::DeviceSetIrqs),
        (9, Self::RegionRead),
        (10, Self::RegionWrite),
        (11, Self::DmaRead),
        (12, Self::DmaWrite),
        (13, Self::DeviceReset),
        (14, Self::DirtyPages),
    ];

    /// The command that a header names.
    pub fn from_code(code: u16) -> Self {
        let mut known = Self::NUMBERED.iter();
        let found = known.find(|(number, _)| *number == code);
        found.map_or(Self::Other(code), |(_, command)| *command)
    }

    /// The number in a header.
    pub fn code(self) -> u16 {
        if let Self::Other(code) = self {
            return code;
        }
        let mut known = Self::NUMBERED.iter();
        let found = known.find(|(_, command)| *command == self);
        found.expect("each command but Other has a row").0
    }
}
