//! Messages as they are on the socket: headers, payloads and their limits.
//!
//! ```text
//!    0          2          4               8          12         16            size
//!    | message  | command  | size of all,  | flags    | errno of | payload of  |
//!    | id       |          | header too    |          | a reply  | the command |
//! ```
//!
//! All numbers are in the byte order of the host, as the specification says: both ends are
//! processes of one machine. File descriptors travel beside a message, as ancillary data.
//!
//! Source: the vfio-user specification, version 0.1, with the structures of `linux/vfio.h`.

mod capabilities;
mod command;
#[cfg(test)]
mod tests;

pub use capabilities::{BadCapabilities, Capabilities};
pub use command::Command;

/// Major version of the protocol; both ends must have the same.
pub const VERSION_MAJOR: u16 = 0;
/// Minor version; the lower one of both ends is used.
pub const VERSION_MINOR: u16 = 1;

/// Most octets of data in one region access, as both ends announce it.
pub const TRANSFER_OCTETS_MAX: u32 = 1 << 20;
/// Largest message that is received into memory.
pub const MESSAGE_OCTETS_MAX: u32 =
    (Header::OCTETS + RegionAccess::OCTETS) as u32 + TRANSFER_OCTETS_MAX;
/// Largest message that is read and dropped, to reach the one after it. It is what a peer may
/// send that ignores the announced limit: QEMU's clients know no larger transfer.
pub const DROPPED_OCTETS_MAX: u32 = 64 << 20;
/// Most file descriptors with one message. QEMU refuses a server that announces more.
pub const MESSAGE_FDS_MAX: usize = 16;

/// Regions of a PCI function: six BARs, the expansion ROM, configuration space, VGA.
pub const REGION_COUNT: u32 = 9;
/// The region that is configuration space; BAR `n` is region `n`.
pub const REGION_CONFIGURATION: u32 = 7;

/// Kinds of interrupts of a PCI function.
pub const IRQ_COUNT: u32 = 5;
/// The interrupt pin.
pub const IRQ_INTX: u32 = 0;
/// Message signalled interrupts.
pub const IRQ_MSI: u32 = 1;
/// Message signalled interrupts with a table.
pub const IRQ_MSIX: u32 = 2;
/// Error report.
pub const IRQ_ERR: u32 = 3;
/// Request to release the device.
pub const IRQ_REQ: u32 = 4;

/// Bits of [`Header::flags`].
pub mod header_flags {
    /// The type's bits: 0 is a command, 1 a reply.
    pub const TYPE: u32 = 0xf;
    /// The type of a reply.
    pub const REPLY: u32 = 1;
    /// A command that wants no reply.
    pub const NO_REPLY: u32 = 1 << 4;
    /// A reply that reports an error.
    pub const ERROR: u32 = 1 << 5;
}

/// Bits of [`DeviceInfo::flags`].
pub mod device_flags {
    /// The device can be reset by [`Command::DeviceReset`](super::Command::DeviceReset).
    pub const RESET: u32 = 1;
    /// It is a PCI function.
    pub const PCI: u32 = 1 << 1;
}

/// Bits of [`RegionInfo::flags`].
pub mod region_flags {
    /// The client may read the region.
    pub const READ: u32 = 1;
    /// The client may write the region.
    pub const WRITE: u32 = 1 << 1;
    /// The client may map a part of the region; a file descriptor comes with the reply.
    pub const MMAP: u32 = 1 << 2;
    /// Capabilities follow.
    pub const CAPABILITIES: u32 = 1 << 3;
    /// Identity of the capability that lists the areas to map.
    pub const CAPABILITY_SPARSE_MMAP: u16 = 1;
}

/// Bits of [`DmaMap::flags`].
pub mod map_flags {
    /// The device may read.
    pub const READ: u32 = 1;
    /// The device may write.
    pub const WRITE: u32 = 1 << 1;
}

/// Bits of [`DmaUnmap::flags`].
pub mod unmap_flags {
    /// The reply must list the pages that were written: not supported.
    pub const GET_DIRTY_BITMAP: u32 = 1;
    /// Every map, whatever the range.
    pub const ALL: u32 = 1 << 1;
}

/// Bits of [`IrqInfo::flags`].
pub mod irq_flags {
    /// It can signal an eventfd.
    pub const EVENTFD: u32 = 1;
    /// It can be masked.
    pub const MASKABLE: u32 = 1 << 1;
    /// It masks itself when it is triggered.
    pub const AUTOMASKED: u32 = 1 << 2;
    /// All vectors must be set at once: not so here.
    pub const NORESIZE: u32 = 1 << 3;
}

/// Bits of [`SetIrqs::flags`]: one kind of data and one action.
pub mod set_irqs_flags {
    /// The action is for every vector of the range.
    pub const DATA_NONE: u32 = 1;
    /// An octet for each vector says whether the action is for it.
    pub const DATA_BOOL: u32 = 1 << 1;
    /// A file descriptor for each vector, or none at all, which takes them away.
    pub const DATA_EVENTFD: u32 = 1 << 2;
    /// Mask.
    pub const ACTION_MASK: u32 = 1 << 3;
    /// Unmask.
    pub const ACTION_UNMASK: u32 = 1 << 4;
    /// With data: what to signal. Without: signal it now.
    pub const ACTION_TRIGGER: u32 = 1 << 5;
}

/// Structures whose fields follow each other without gaps.
macro_rules! structures {
    ($($(#[$about:meta])* $name:ident {
        $($(#[$about_field:meta])* $field:ident: $number:ty,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct $name {
            $($(#[$about_field])* pub $field: $number,)*
        }

        impl $name {
            /// Octets on the socket.
            pub const OCTETS: usize = 0 $(+ size_of::<$number>())*;

            /// As on the socket.
            pub fn encode(&self) -> [u8; Self::OCTETS] {
                let mut octets = [0; Self::OCTETS];
                let mut rest = &mut octets[..];
                $(rest = put(rest, &self.$field.to_ne_bytes());)*
                debug_assert!(rest.is_empty());
                octets
            }

            /// The structure that `octets` begin with; none if they are too few.
            pub fn decode(octets: &[u8]) -> Option<Self> {
                let rest = octets;
                $(
                    let (field, rest) = rest.split_first_chunk()?;
                    let $field = <$number>::from_ne_bytes(*field);
                )*
                let _ = rest;
                Some(Self { $($field,)* })
            }

            /// The structure that `octets` are, and nothing else.
            pub fn decode_whole(octets: &[u8]) -> Option<Self> {
                let whole = octets.len() == Self::OCTETS;
                Self::decode(octets).filter(|_| whole)
            }
        }
    )*};
}

fn put<'a>(rest: &'a mut [u8], field: &[u8]) -> &'a mut [u8] {
    let (place, rest) = rest.split_at_mut(field.len());
    place.copy_from_slice(field);
    rest
}

structures! {
    /// What each message begins with.
    Header {
        /// Chosen by who sends the command, repeated in the reply.
        message_id: u16,
        /// A [`Command`].
        command: u16,
        /// Octets of the message, this header included.
        size: u32,
        /// See [`header_flags`].
        flags: u32,
        /// The errno of a reply with [`header_flags::ERROR`].
        error: u32,
    }

    /// The versions that [`Command::Version`] proposes and its reply settles. Capabilities follow,
    /// as JSON that ends in a zero octet.
    Version {
        /// [`VERSION_MAJOR`].
        major: u16,
        /// At most [`VERSION_MINOR`] in a reply.
        minor: u16,
    }

    /// Memory that the device may use, with at most one file descriptor.
    DmaMap {
        /// Octets of this structure.
        argsz: u32,
        /// See [`map_flags`].
        flags: u32,
        /// Where it begins in the file.
        offset: u64,
        /// IOVA of its first octet.
        address: u64,
        /// Octets.
        size: u64,
    }

    /// Memory that the device must no longer use; the reply repeats it.
    DmaUnmap {
        /// Octets of the largest reply.
        argsz: u32,
        /// See [`unmap_flags`].
        flags: u32,
        /// First IOVA.
        address: u64,
        /// Octets.
        size: u64,
    }

    /// What a device has.
    DeviceInfo {
        /// Octets of the largest reply.
        argsz: u32,
        /// See [`device_flags`].
        flags: u32,
        /// Regions.
        num_regions: u32,
        /// Kinds of interrupts.
        num_irqs: u32,
    }

    /// What a region is.
    RegionInfo {
        /// In a command octets of the largest reply, in a reply what all of it needs.
        argsz: u32,
        /// See [`region_flags`].
        flags: u32,
        /// Which region.
        index: u32,
        /// Where the first capability is, from this structure on; 0 if there is none.
        cap_offset: u32,
        /// Octets.
        size: u64,
        /// Where the region begins in the file to map.
        offset: u64,
    }

    /// What each capability of a region begins with.
    CapabilityHeader {
        /// Such as [`region_flags::CAPABILITY_SPARSE_MMAP`].
        id: u16,
        /// Of the capability.
        version: u16,
        /// Where the next one is, from the region's structure on; 0 at the last.
        next: u32,
    }

    /// What follows in the capability that lists the areas to map.
    SparseHeader {
        /// Areas.
        nr_areas: u32,
        /// Zero.
        reserved: u32,
    }

    /// An area to map.
    SparseArea {
        /// From the region's start.
        offset: u64,
        /// Octets.
        size: u64,
    }

    /// A kind of interrupt.
    IrqInfo {
        /// Octets of the largest reply.
        argsz: u32,
        /// See [`irq_flags`].
        flags: u32,
        /// Which kind.
        index: u32,
        /// Vectors.
        count: u32,
    }

    /// What to do with a range of vectors.
    SetIrqs {
        /// Octets of this structure and its data.
        argsz: u32,
        /// See [`set_irqs_flags`].
        flags: u32,
        /// Which kind of interrupt.
        index: u32,
        /// First vector.
        start: u32,
        /// Vectors.
        count: u32,
    }

    /// An access to a region. The data follows in a write and in a read's reply.
    RegionAccess {
        /// First octet.
        offset: u64,
        /// Which region.
        region: u32,
        /// Octets of data.
        count: u32,
    }
}

impl Header {
    /// Of a command with `payload_octets` after it.
    pub fn command(message_id: u16, command: Command, payload_octets: usize) -> Self {
        Self {
            message_id,
            command: command.code(),
            size: (Self::OCTETS + payload_octets) as u32,
            flags: 0,
            error: 0,
        }
    }

    /// Of the reply to this command.
    pub fn reply(&self, payload_octets: usize) -> Self {
        Self {
            size: (Self::OCTETS + payload_octets) as u32,
            flags: header_flags::REPLY,
            error: 0,
            ..*self
        }
    }

    /// Of a reply that reports an error. It has no payload.
    pub fn error_reply(&self, errno: u32) -> Self {
        Self {
            flags: header_flags::REPLY | header_flags::ERROR,
            error: errno,
            ..self.reply(0)
        }
    }

    /// It is a reply, right or wrong.
    pub const fn is_reply(&self) -> bool {
        self.flags & header_flags::TYPE == header_flags::REPLY
    }

    /// It must not be answered: a command that wants no reply, or a reply.
    pub const fn is_final(&self) -> bool {
        self.is_reply() || self.flags & header_flags::NO_REPLY != 0
    }

    /// It reports an error.
    pub const fn is_error(&self) -> bool {
        self.flags & header_flags::ERROR != 0
    }
}
