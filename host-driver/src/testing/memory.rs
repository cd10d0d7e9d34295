//! Memory that the device writes while the driver reads it, and that may run out.
use crate::device::access::{Dma, DmaBuffer};
use crate::device::error::DriverError;
use std::cell::RefCell;

/// Octets of the memory.
const OCTETS: usize = 1 << 23;

/// One access of the driver.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A doubleword with Acquire ordering.
    Acquire(u64),
    /// Octets, from an address on.
    Read(u64, usize),
}

/// The memory, and a record of the driver's accesses.
#[derive(Debug)]
pub(crate) struct Memory {
    octets: RefCell<Vec<u8>>,
    /// Doublewords that the device has not written yet, each with its address. One becomes visible
    /// before each access, as late as the device's own order allows.
    pub(crate) pending: RefCell<Vec<(u64, u32)>>,
    pub(crate) accesses: RefCell<Vec<Access>>,
    next: u64,
    /// Allocations that succeed before one does not.
    pub(crate) allocations: usize,
}

impl Memory {
    pub(crate) fn new(allocations: usize) -> Self {
        Self {
            octets: RefCell::new(vec![0; OCTETS]),
            pending: RefCell::default(),
            accesses: RefCell::default(),
            next: 0,
            allocations,
        }
    }

    /// The device writes octets.
    pub(crate) fn fill(&self, address: u64, octets: usize, octet: u8) {
        let at = address as usize;
        self.octets.borrow_mut()[at..at + octets].fill(octet);
    }

    /// The device reads octets.
    pub(crate) fn peek(&self, address: u64, octets: usize) -> Vec<u8> {
        let at = address as usize;
        self.octets.borrow()[at..at + octets].to_vec()
    }

    /// The device writes a doubleword, which becomes visible later, in the order of these writes.
    pub(crate) fn post(&self, address: u64, word: u32) {
        self.pending.borrow_mut().push((address, word));
    }

    /// The device's next doubleword becomes visible.
    fn step(&self) {
        let mut pending = self.pending.borrow_mut();
        if !pending.is_empty() {
            let (address, word) = pending.remove(0);
            let at = address as usize;
            self.octets.borrow_mut()[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
    }
}

impl Dma for Memory {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        let left = self.allocations.checked_sub(1);
        self.allocations = left.ok_or(DriverError::OutOfMemory {
            name: name.to_owned(),
            octets,
        })?;
        let address = self.next.next_multiple_of(align);
        self.next = address + octets as u64;
        assert!(
            self.next as usize <= OCTETS,
            "the test's memory is larger than its rings"
        );
        Ok(DmaBuffer { address, octets })
    }

    fn free(&mut self, _: DmaBuffer) {}

    fn read_u32_acquire(&self, address: u64) -> u32 {
        let mut octets = [0; 4];
        self.step();
        self.accesses.borrow_mut().push(Access::Acquire(address));
        let at = address as usize;
        octets.copy_from_slice(&self.octets.borrow()[at..at + 4]);
        u32::from_le_bytes(octets)
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        self.step();
        let access = Access::Read(address, out.len());
        self.accesses.borrow_mut().push(access);
        let at = address as usize;
        out.copy_from_slice(&self.octets.borrow()[at..at + out.len()]);
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        let at = address as usize;
        self.octets.borrow_mut()[at..at + data.len()].copy_from_slice(data);
    }
}
