//! Host memory as the device may write it: named pieces at bus addresses, nothing between them.

use std::collections::BTreeMap;

/// Octets of an FPDU that may be in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Bus address of the first one.
    pub address: u64,
    /// The octets.
    pub data: Vec<u8>,
}

/// Mapped memory. A write outside of it is kept as a violation and changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pieces: BTreeMap<u64, Vec<u8>>,
    /// Writes that left mapped memory: address and octets.
    pub violations: Vec<(u64, usize)>,
    /// Memory is somebody else's: what is written is put here, in order, and nothing is mapped.
    pub handed_on: Option<Vec<Placement>>,
}

impl Memory {
    /// Map `octets` zeroed octets at `address`.
    pub fn map(&mut self, address: u64, octets: usize) {
        self.pieces.insert(address, vec![0; octets]);
    }

    /// Unmap the piece that starts at `address`.
    pub fn unmap(&mut self, address: u64) {
        self.pieces.remove(&address);
    }

    /// The device writes `data` at `address`.
    pub fn write(&mut self, address: u64, data: &[u8]) {
        if let Some(handed_on) = &mut self.handed_on {
            let data = data.to_vec();
            return handed_on.push(Placement { address, data });
        }
        let piece = self.pieces.range_mut(..=address).next_back();
        let target = piece.and_then(|(base, piece)| {
            let from = usize::try_from(address - base).ok()?;
            piece.get_mut(from..from.checked_add(data.len())?)
        });
        match target {
            Some(target) => target.copy_from_slice(data),
            None => self.violations.push((address, data.len())),
        }
    }

    /// `octets` octets from `address`, if they are in one mapped piece.
    pub fn read(&self, address: u64, octets: usize) -> Option<&[u8]> {
        let (base, piece) = self.pieces.range(..=address).next_back()?;
        let from = usize::try_from(address - base).ok()?;
        piece.get(from..from.checked_add(octets)?)
    }
}
