//! Interrupts: MSI-X in BAR0, and which vector each queue and ring raises.
//!
//! The table and the pending bits are as PCI Express Base Specification 5.0, section 7.7.2, lays
//! them out. MSI-X Enable and Function Mask are in configuration space, which is not the device's:
//! they are inputs. While MSI-X is off nothing is pending.
//!
//! A source raises the vector of its *route* when the octets that the interrupt is about are on
//! their way to memory; the message follows them. A vector raised again before its message has left
//! sends one. For its *hold-off* from the beginning of each message it begins none, and then one if
//! it was raised meanwhile.
//!
//! Route, four bits: bits 2:0 the vector, bit 3 [`ROUTE_ON`]. After a reset every route is off,
//! every hold-off 0, every vector masked; addresses and data of the table are 0.

/// Vectors.
pub const VECTORS: usize = 8;
/// MSI-X table: [`VECTORS`] entries of [`ENTRY_OCTETS`] octets.
pub const TABLE: u32 = 0x800;
/// Octets of an entry: address, data, vector control.
pub const ENTRY_OCTETS: u32 = 16;
/// Pending bits: vector `v` in bit `v` (read only).
pub const PENDING: u32 = 0x880;
/// Hold-off of vector 0 in ticks, up to [`HOLD_OFF_MAX`]; larger values are ignored. That of vector
/// `v` is `4 * v` octets further on.
pub const HOLD_OFF: u32 = 0x8c0;
/// Largest value of [`HOLD_OFF`].
pub const HOLD_OFF_MAX: u32 = 0x3ff;
/// Routes of completion queues 0 to 7, that of queue `q` in bits `4 * q + 3`..=`4 * q`: an entry is
/// written.
pub const QUEUE_ROUTES_LOW: u32 = 0x8e0;
/// Routes of completion queues 8 to 15, as [`QUEUE_ROUTES_LOW`].
pub const QUEUE_ROUTES_HIGH: u32 = 0x8e4;
/// Routes of rings: bits 3:0 the host receive ring, a slot is filled; 7:4 the event ring, an event
/// is written; 11:8 transmit rings, a status or a report is written.
pub const RING_ROUTES: u32 = 0x8e8;
/// Place of the host receive ring in [`RING_ROUTES`].
pub const ROUTE_HOST: u32 = 0;
/// Place of the event ring.
pub const ROUTE_EVENTS: u32 = 1;
/// Place of the transmit rings.
pub const ROUTE_TRANSMIT: u32 = 2;
/// Bit of a route: the source raises its vector.
pub const ROUTE_ON: u32 = 8;
/// Vector control of a table entry, bit 0: the vector is masked.
pub const CONTROL_MASKED: u32 = 1;
