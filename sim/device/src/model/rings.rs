//! Rings in memory that the device writes: completion queues, host receive ring, event ring.

use rnic_abi::limits::COMPLETION_QUEUES;
use rnic_abi::registers::*;

/// log2 of the most entries of a ring.
const ENTRIES_LOG2_MAX: u32 = 16;
/// Valid values of `HOST_RING_SLOT_OCTETS_LOG2`.
const SLOT_OCTETS_LOG2: std::ops::RangeInclusive<u32> = 7..=14;
/// Octets of which a ring's address is a multiple.
const BASE_ALIGN: u64 = 4096;

/// One ring. All kinds have the same registers, in this order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    base: u64,
    /// 0: the ring is off.
    entries_log2: u32,
    consumer: u32,
    /// Entries that were written.
    pub(super) producer: u32,
}

impl Ring {
    const BASE_LOW: u32 = 0;
    const BASE_HIGH: u32 = 4;
    /// Offset of the register of its size.
    pub(super) const ENTRIES_LOG2: u32 = 8;
    const CONSUMER: u32 = 12;
    const PRODUCER: u32 = 16;

    /// The register `register` octets after the first one.
    pub(super) fn read(&self, register: u32) -> u32 {
        match register {
            Self::BASE_LOW => self.base as u32,
            Self::BASE_HIGH => (self.base >> 32) as u32,
            Self::ENTRIES_LOG2 => self.entries_log2,
            Self::CONSUMER => self.consumer,
            Self::PRODUCER => self.producer,
            _ => 0,
        }
    }

    /// Write the register; false if it is no valid size, which is not taken.
    pub(super) fn write(&mut self, register: u32, value: u32) -> bool {
        match register {
            Self::BASE_LOW => set_low(&mut self.base, value, BASE_ALIGN),
            Self::BASE_HIGH => set_high(&mut self.base, value),
            Self::ENTRIES_LOG2 if value > ENTRIES_LOG2_MAX => return false,
            Self::ENTRIES_LOG2 => self.entries_log2 = value,
            Self::CONSUMER => self.consumer = value,
            _ => {}
        }
        true
    }

    pub(super) fn is_on(&self) -> bool {
        self.entries_log2 != 0
    }

    /// Entries that may be written now.
    pub(super) fn room(&self) -> u32 {
        if !self.is_on() {
            return 0;
        }
        // Of the counts as many bits are compared as name one of 2^16 entries and its pass.
        let unconsumed = self.producer.wrapping_sub(self.consumer) & 0x1_ffff;
        (1u32 << self.entries_log2).saturating_sub(unconsumed)
    }

    /// Takes the next entry, of `1 << octets_log2` octets: its address, and its number with the
    /// phase in bit 31, which is 1 on the first pass.
    pub(super) fn take(&mut self, octets_log2: u32) -> (u64, u32) {
        let number = self.producer;
        self.producer = number.wrapping_add(1);
        let index = u64::from(number & ((1u32 << self.entries_log2) - 1));
        let is_odd_pass = number >> self.entries_log2 & 1;
        let address = self.base.wrapping_add(index << octets_log2);
        (
            address,
            (number & (u32::MAX >> 1)) | (is_odd_pass ^ 1) << 31,
        )
    }
}

/// All rings but those of transmit.
#[derive(Debug, Default)]
pub(super) struct Rings {
    pub(super) completions: [Ring; COMPLETION_QUEUES],
    /// `CQ_OVERFLOW`.
    pub(super) overflowed: u32,
    pub(super) host: Ring,
    pub(super) slot_octets_log2: u32,
    pub(super) events: Ring,
}

impl Rings {
    /// A register of the host receive ring.
    pub(super) fn read_host(&self, offset: u32) -> u32 {
        match host_register(offset) {
            None => self.slot_octets_log2,
            Some(register) => self.host.read(register),
        }
    }

    /// As [`Ring::write`].
    pub(super) fn write_host(&mut self, offset: u32, value: u32) -> bool {
        match host_register(offset) {
            None if value != 0 && !SLOT_OCTETS_LOG2.contains(&value) => return false,
            None => self.slot_octets_log2 = value,
            Some(register) => return self.host.write(register, value),
        }
        true
    }
}

/// The register of a [`Ring`]; the host ring has one more among them, the octets of a slot.
fn host_register(offset: u32) -> Option<u32> {
    match offset {
        HOST_RING_SLOT_OCTETS_LOG2 => None,
        HOST_RING_CONSUMER => Some(Ring::CONSUMER),
        HOST_RING_PRODUCER => Some(Ring::PRODUCER),
        _ => Some(offset - HOST_RING_BASE_LOW),
    }
}

/// Replace the low half of an address that is a multiple of `align`.
pub(super) fn set_low(address: &mut u64, value: u32, align: u64) {
    *address = (*address >> 32 << 32 | u64::from(value)) & !(align - 1);
}

/// Replace its high half.
pub(super) fn set_high(address: &mut u64, value: u32) {
    *address = *address & u64::from(u32::MAX) | u64::from(value) << 32;
}
