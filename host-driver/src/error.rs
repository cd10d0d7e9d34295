//! What can go wrong between driver and device.

use thiserror::Error;

/// An operation of the driver that could not be done. Nothing is left half done.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DriverError {
    /// BAR0 does not belong to a Ferrowarp RNIC.
    #[error(
        "register 0x000 reads {found:#010x} instead of {expected:#010x}: not a Ferrowarp RNIC; \
         check the address"
    )]
    Identity {
        /// What it reads.
        found: u32,
        /// What it should read.
        expected: u32,
    },
    /// The device's register map has a revision this driver does not know.
    #[error(
        "the device has register map revision {found}, the driver knows {expected}: use the \
         matching driver"
    )]
    Revision {
        /// Of the device.
        found: u32,
        /// Of the driver.
        expected: u32,
    },
    /// A configuration value is outside what the device takes.
    #[error("{what} is {value}, allowed is {allowed}")]
    Configuration {
        /// Which value.
        what: &'static str,
        /// What was asked for.
        value: u64,
        /// What is possible.
        allowed: &'static str,
    },
    /// All of a device resource is in use.
    #[error("no free {what}: {limit} are in use; close or deregister some first")]
    Exhausted {
        /// Of what.
        what: &'static str,
        /// How many the device has.
        limit: usize,
    },
    /// A key is in the table already.
    #[error("{what} is in use already; remove the first one before")]
    Duplicate {
        /// What kind of key.
        what: &'static str,
    },
    /// No free place in the hash table could be made for a key.
    #[error(
        "no place in the {what} table for this key, although it is not full; serve this one in \
         software"
    )]
    HashFull {
        /// Which table.
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
    /// Windows and what they open hold each other.
    #[error("the region with STag {stag:#010x} {reason}")]
    Window {
        /// STag of the region.
        stag: u32,
        /// What is in the way.
        reason: &'static str,
    },
    /// A receive queue has all its entries posted.
    #[error(
        "queue {qn} of connection {connection} has all its {entries} receive buffers posted; \
         consume some first"
    )]
    QueueFull {
        /// Connection.
        connection: u16,
        /// Queue number.
        qn: u32,
        /// Entries of the queue.
        entries: u32,
    },
    /// A table operation does not end.
    #[error(
        "the device did not finish table {table} operation {operation} on entry {index}; it may \
         hang - read its counters, then reset it"
    )]
    TableTimeout {
        /// Table.
        table: u32,
        /// Operation.
        operation: u32,
        /// Entry.
        index: u32,
    },
    /// The operating system gave no random octets.
    #[error("no random octets for an STag ({reason}); name the STag yourself or try again")]
    Random {
        /// What the operating system says.
        reason: String,
    },
    /// The device's memory could not be allocated.
    #[error("{octets} octets of device-visible memory for {name} could not be had")]
    OutOfMemory {
        /// What for.
        name: String,
        /// How much.
        octets: usize,
    },
}
