//! The PCI function as its configuration space shows it: identity, class, BAR0 and MSI-X.
//!
//! The vendor id is that of pid.codes, which gives device ids to open hardware. No device id has
//! been allocated for this project yet: [`DEVICE_ID`] is the one that pid.codes sets aside for
//! tests, so other hardware may bear it too. A driver checks [`crate::registers::IDENTITY`] as
//! well.
use crate::interrupts::{ENTRY_OCTETS, HOLD_OFF, PENDING, TABLE, VECTORS};
use crate::registers;

/// Vendor ID: pid.codes.
pub const VENDOR_ID: u16 = 0x1209;
/// Device ID: the test id of pid.codes.
pub const DEVICE_ID: u16 = 0x0001;
/// Revision ID: the revision of the register map.
pub const REVISION_ID: u8 = registers::REVISION_VALUE as u8;
/// Class Code: network controller, Ethernet, no programming interface.
pub const CLASS_CODE: u32 = 0x02_0000;

/// Size of BAR0 in octets, a power of two. BAR0 is memory, 64 bits wide, not prefetchable: reads of
/// registers are of the value at that time.
pub const BAR0_OCTETS: u64 = registers::BAR0_OCTETS;
/// MSI-X vectors.
pub const MSIX_VECTORS: u16 = VECTORS as u16;
/// BAR that holds the MSI-X table and the pending bits.
pub const MSIX_BAR: u8 = 0;
/// Offset of the MSI-X table in [`MSIX_BAR`], a multiple of 8.
pub const MSIX_TABLE_OFFSET: u32 = TABLE;
/// Offset of the pending bits in [`MSIX_BAR`], a multiple of 8.
pub const MSIX_PENDING_OFFSET: u32 = PENDING;

const _: () = {
    assert!(BAR0_OCTETS.is_power_of_two());
    assert!(registers::REVISION_VALUE <= 0xff);
    assert!(MSIX_TABLE_OFFSET % 8 == 0 && MSIX_PENDING_OFFSET % 8 == 0);
    assert!(MSIX_TABLE_OFFSET + VECTORS as u32 * ENTRY_OCTETS <= MSIX_PENDING_OFFSET);
    assert!(MSIX_PENDING_OFFSET + 8 <= HOLD_OFF && (HOLD_OFF as u64) < BAR0_OCTETS);
};
