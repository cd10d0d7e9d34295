//! The MSI-X table and its pending bits, as laid out in a BAR.
//!
//! ```text
//!   entry   0x0 address, low   0x4 address, high   0x8 data   0xc vector control (bit 0: mask)
//! ```
//!
//! A raised vector sends a message at once; while masked it sets a pending bit, which becomes a
//! message when the mask is cleared. A vector raised several times while masked sends one.
//! Source: PCI Express Base Specification 5.0, sections 6.1.4 and 7.7.2.

use crate::configuration::Msix;
use crate::tlp::DWORD_OCTETS;

const CONTROL_OFFSET: usize = 12;
const CONTROL_MASKED: u8 = 1;

/// A memory write that is an interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MsixMessage {
    /// Where to write.
    pub address: u64,
    /// What to write, little-endian.
    pub data: u32,
}

/// Table and pending bits.
#[derive(Clone, Debug)]
pub struct MsixTable {
    table: Vec<u8>,
    pending: Vec<u8>,
    vector_count: u16,
}

impl MsixTable {
    /// After reset: every vector masked, none pending.
    pub fn new(msix: &Msix) -> Self {
        let mut table = vec![0; msix.table_octets()];
        for entry in table.chunks_exact_mut(Msix::ENTRY_OCTETS) {
            entry[CONTROL_OFFSET] = CONTROL_MASKED;
        }
        let pending = vec![0; msix.pending_octets()];
        Self {
            table,
            pending,
            vector_count: msix.vector_count,
        }
    }

    /// Reads octets of the table; zero past its end.
    pub fn read_table(&self, offset: usize, data: &mut [u8]) {
        copy_out(&self.table, offset, data);
    }

    /// Reads octets of the pending bits; zero past their end.
    pub fn read_pending(&self, offset: usize, data: &mut [u8]) {
        copy_out(&self.pending, offset, data);
    }

    /// Writes octets of the table; reserved bits and octets past its end do not change.
    pub fn write_table(&mut self, offset: usize, data: &[u8]) {
        for (at, octet) in (offset..).zip(data) {
            let mask = match at % Msix::ENTRY_OCTETS {
                // The low two address bits must be zero.
                0 => !0x3,
                CONTROL_OFFSET => CONTROL_MASKED,
                within if within > CONTROL_OFFSET => 0,
                _ => 0xff,
            };
            if let Some(place) = self.table.get_mut(at) {
                *place = octet & mask;
            }
        }
    }

    /// Marks `vector` as pending; false if there is no such vector.
    pub fn raise(&mut self, vector: u16) -> bool {
        let known = vector < self.vector_count;
        if known {
            self.pending[usize::from(vector / 8)] |= 1 << (vector % 8);
        }
        known
    }

    /// Takes the message of the lowest vector that is pending and not masked.
    pub fn next_message(&mut self) -> Option<MsixMessage> {
        let byte = self.pending.iter().position(|octet| *octet != 0)?;
        for vector in byte * 8..usize::from(self.vector_count) {
            let entry = &self.table[vector * Msix::ENTRY_OCTETS..][..Msix::ENTRY_OCTETS];
            let bit = 1u8 << (vector % 8);
            if self.pending[vector / 8] & bit == 0 || entry[CONTROL_OFFSET] & CONTROL_MASKED != 0 {
                continue;
            }
            let dword = |at: usize| {
                let octets = &entry[at..at + DWORD_OCTETS];
                octets
                    .iter()
                    .rev()
                    .fold(0u32, |value, octet| value << 8 | u32::from(*octet))
            };
            let address = u64::from(dword(4)) << 32 | u64::from(dword(0));
            let data = dword(8);
            self.pending[vector / 8] &= !bit;
            return Some(MsixMessage { address, data });
        }
        None
    }
}

fn copy_out(source: &[u8], offset: usize, data: &mut [u8]) {
    for (at, octet) in (offset..).zip(data) {
        *octet = source.get(at).copied().unwrap_or(0);
    }
}
