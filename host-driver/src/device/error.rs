//! Errors of the driver.

use crate::device::ids::{QueueId, TransmitRing};
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{ELEMENTS_MAX, FRAME_OCTETS_MIN};
use thiserror::Error;

/// An operation of the driver that failed. It left nothing half done: what it did not complete is
/// in none of the driver's tables and, as far as the device still takes orders, in none of the
/// device's. After [`TableTimeout`](Self::TableTimeout), [`ResetTimeout`](Self::ResetTimeout) and
/// [`Gone`](Self::Gone) it may not take any: keep the memory it was given.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DriverError {
    /// BAR0 does not belong to a Ferrowarp RNIC.
    #[error(
        "register 0x000 reads {found:#010x} instead of {expected:#010x}: not a Ferrowarp RNIC; \
         check the address"
    )]
    Identity {
        /// Value of the register.
        found: u32,
        /// Value in a Ferrowarp RNIC.
        expected: u32,
    },
    /// The device's register map has a revision this driver does not know.
    #[error(
        "the device has register map revision {found}, the driver knows {expected}: use the \
         matching driver"
    )]
    Revision {
        /// The device's.
        found: u32,
        /// The driver's.
        expected: u32,
    },
    /// The device's tables have sizes this driver does not know.
    #[error(
        "CAPABILITIES reads {capabilities:#010x}, which names no build of 256, 512 or 1024 \
         connections and regions: use the matching driver"
    )]
    Sizes {
        /// Value of the register.
        capabilities: u32,
    },
    /// A configuration value is outside the range that the device supports.
    #[error("{what} is {value}, allowed is {allowed}")]
    Configuration {
        /// Which value.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// All of a device resource is in use.
    #[error("no free {what}: {limit} are in use; close or deregister some first")]
    Exhausted {
        /// Which resource.
        what: &'static str,
        /// How many the device has.
        limit: usize,
    },
    /// A key is in the table already.
    #[error("{what} is already in use; remove it first")]
    Duplicate {
        /// What kind of key.
        what: &'static str,
    },
    /// No slot of the hash table could be freed for a key.
    #[error(
        "no free slot in the {what} table for this key, although the table is not full; serve it \
         in software"
    )]
    HashFull {
        /// Which table.
        what: &'static str,
    },
    /// Something is in use by others, which end first.
    #[error("{what} is in use by {by}; close these first")]
    InUse {
        /// What it is.
        what: String,
        /// Who uses it.
        by: String,
    },
    /// Two objects belong to different devices.
    #[error("the {what} belongs to another context; make all objects that work together from one")]
    OtherContext {
        /// The kind of the second one.
        what: &'static str,
    },
    /// Memory that the device may only read is wanted for what it writes.
    #[error(
        "the device may only read this memory, which it would write as {what}; map it with \
         Access::ReadWrite"
    )]
    ReadOnly {
        /// What the memory was to be.
        what: &'static str,
    },
    /// An id names nothing.
    #[error("there is no {what} {id}")]
    Unknown {
        /// What kind of id.
        what: &'static str,
        /// The id.
        id: u64,
    },
    /// A connection is reserved, and the device has no state of it yet.
    #[error("connection {connection} is reserved and receives nothing yet; activate it first")]
    Reserved {
        /// Its number.
        connection: u16,
    },
    /// A connection cannot be activated.
    #[error("connection {connection} cannot be activated: {reason}")]
    Activation {
        /// Its number.
        connection: u16,
        /// Why.
        reason: &'static str,
    },
    /// A region's windows, or its being one, rule the operation out.
    #[error("the region with STag {stag:#010x} {reason}")]
    Window {
        /// STag of the region.
        stag: u32,
        /// Why the operation is refused.
        reason: &'static str,
    },
    /// A queue has all its entries posted: buffers, or reads on queue 3.
    #[error(
        "queue {qn} of connection {connection} has all its {entries} entries posted; poll the \
         completions of some first"
    )]
    QueueFull {
        /// Connection.
        connection: u16,
        /// Queue number.
        qn: u32,
        /// Entries of the queue.
        entries: u32,
    },
    /// More entries could arrive in a completion queue than it has.
    #[error(
        "completion queue {queue} has {entries} entries, but {needed} could arrive before they are \
         polled: create it larger, use another one, or poll what closed connections have left in it"
    )]
    CompletionQueueSize {
        /// Number of the queue.
        queue: u8,
        /// Its entries.
        entries: u32,
        /// Entries for every buffer, outstanding read and connection.
        needed: u32,
    },
    /// A frame that the device cannot send. It is on no ring.
    #[error("the frame cannot be sent: {0}")]
    Frame(FrameError),
    /// The device was opened without this transmit ring.
    #[error(
        "the {} transmit ring is off; open the device with a number of units for it",
        ring.name()
    )]
    TransmitOff {
        /// The ring.
        ring: TransmitRing,
    },
    /// A transmit ring has no room for a frame. The frame is on no ring.
    #[error("the {} transmit ring has no room for the frame; poll results first", ring.name())]
    TransmitFull {
        /// The ring.
        ring: TransmitRing,
    },
    /// A transmit ring has stopped: the device could not read its units.
    #[error(
        "the {} transmit ring has stopped, as the device could not read its memory; check how it \
         is mapped, and restart the ring",
        ring.name()
    )]
    TransmitStopped {
        /// The ring.
        ring: TransmitRing,
    },
    /// A transmit ring that has not stopped cannot be restarted.
    #[error("the {} transmit ring has not stopped; only a stopped one is restarted", ring.name())]
    TransmitRunning {
        /// The ring.
        ring: TransmitRing,
    },
    /// The device reported about a transmit ring what cannot be.
    #[error(
        "the device reported {value:#010x} as {what} of the {} transmit ring, which cannot be; \
         close it, which resets it, and open it again; keep the memory of its frames until then",
        ring.name()
    )]
    TransmitReport {
        /// The ring.
        ring: TransmitRing,
        /// Which word.
        what: &'static str,
        /// Its value.
        value: u32,
    },
    /// A table operation did not end.
    #[error(
        "the device did not finish table {table} operation {operation} on entry {index}; it may \
         hang - close it, which resets it, and open it again; keep its memory until then"
    )]
    TableTimeout {
        /// Table.
        table: u32,
        /// Operation.
        operation: u32,
        /// Entry.
        index: u32,
    },
    /// A reset of the device did not end.
    #[error(
        "the device did not finish its reset and may still write to memory: none that it was given \
         is freed - reset it through the bus or power it off before that memory is used for \
         something else"
    )]
    ResetTimeout,
    /// The device does not answer: all its registers read as ones.
    #[error(
        "the device is gone, its registers read as ones: none of the memory it was given is freed \
         - check slot and link, scan the bus again, and open the device anew"
    )]
    Gone,
    /// The operating system returned no random octets.
    #[error("no random octets for an STag ({reason}); choose the STag yourself or try again")]
    Random {
        /// The operating system's reason.
        reason: String,
    },
    /// Device-visible memory could not be allocated.
    #[error("failed to allocate {octets} octets of device-visible memory for {name}")]
    OutOfMemory {
        /// What it is for.
        name: String,
        /// Its size.
        octets: usize,
    },
    /// Device-visible memory could not be made or given to the device.
    #[error("failed to give the device {octets} octets of memory for {name}: {reason}")]
    Memory {
        /// What it is for.
        name: String,
        /// Its size.
        octets: usize,
        /// Why, and what to do.
        reason: String,
    },
}

impl DriverError {
    /// There is no such queue.
    pub(crate) fn unknown_queue(queue: QueueId) -> Self {
        Self::Unknown {
            what: "completion queue",
            id: u64::from(queue.0),
        }
    }
}

/// Why a frame cannot be sent. The device would refuse it, except where noted.
#[derive(Copy, Clone, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// Too few or too many pieces.
    #[error("it has {pieces} pieces; 1 to {ELEMENTS_MAX} are possible")]
    Pieces {
        /// Its pieces.
        pieces: usize,
    },
    /// A piece without octets.
    #[error("piece {piece} has no octets; leave it out")]
    EmptyPiece {
        /// Which one, from 0 on.
        piece: usize,
    },
    /// A piece that passes the end of the address space; the device could not read it.
    #[error(
        "piece {piece} of {octets} octets at {address:#x} passes the end of the address space"
    )]
    PieceWraps {
        /// Which one, from 0 on.
        piece: usize,
        /// Its bus address.
        address: u64,
        /// Its octets.
        octets: usize,
    },
    /// Too short for Ethernet's header, or longer than the device sends.
    #[error("it has {octets} octets; {FRAME_OCTETS_MIN} to {MAX_FRAME_OCTETS} are possible")]
    Length {
        /// Its octets.
        octets: usize,
    },
    /// The checksum is not in the frame, or before what it sums, or at an odd distance.
    #[error(
        "a checksum at octet {place} does not fit a frame of {octets} octets that are summed from \
         octet {start} on: it stands in them, at an even distance from their start"
    )]
    Checksum {
        /// First octet that is summed.
        start: usize,
        /// Where the checksum stands.
        place: usize,
        /// Octets of the frame.
        octets: usize,
    },
    /// The CRC covers nothing, or is not in the frame.
    #[error(
        "a CRC of {covered} octets from octet {first} on does not fit a frame of {octets} octets: \
         it covers at least one and stands in the four after them"
    )]
    Crc {
        /// First octet that is covered.
        first: usize,
        /// Octets that are covered.
        covered: usize,
        /// Octets of the frame.
        octets: usize,
    },
    /// The checksum stands in octets that the CRC covers, or in the CRC; the device would not
    /// refuse it, but one of the two cannot be right when the frame arrives.
    #[error("the checksum at octet {place} stands in the CRC or in octets that the CRC covers")]
    ChecksumUnderCrc {
        /// Where the checksum stands.
        place: usize,
    },
}
