//! A device for the tests of this folder: tables, memory that it writes, and a log of both, so that
//! a test sees what was freed before which fence.

use super::Context;
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::config::Config;
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::device::Device;
use crate::testing::hanging::Hanging;
use crate::testing::memory::Memory;
use crate::testing::transmit::Fate;
use rnic_abi::cqe::{CQE_OCTETS, KIND_READ_RESPONSE, KIND_RECEIVE, PHASE};
use rnic_abi::registers::{
    cq_register, CONTROL, CONTROL_RESET, CQ_BASE_LOW, CQ_ENTRIES_LOG2, CQ_PRODUCER, TABLE_COMMAND,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What happened, in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Operation and table of a command.
    Operation(u32, u32),
    /// A reset of the device.
    Reset,
    /// Memory at this address was freed.
    Freed(u64),
    /// All memory was unmapped.
    Unmapped,
}

/// The device and its memory.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) bar: Hanging,
    octets: Vec<u8>,
    /// Octets, by address. Addresses are not used again.
    pub(crate) allocated: BTreeMap<u64, usize>,
    pub(crate) steps: Vec<Step>,
    /// Completions that the device has written, by queue.
    written: BTreeMap<u32, u32>,
}

/// Both sides of the device; a test keeps a clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestDevice(Arc<Mutex<Inside>>);

/// Its memory as the driver owns it.
#[derive(Debug)]
pub(crate) struct TestMemory(TestDevice);

pub(crate) type TestContext = Context<TestDevice, TestMemory>;

impl TestDevice {
    /// A context over a new device.
    pub(crate) fn open() -> (Self, TestContext) {
        let test = Self::default();
        let memory = TestMemory(test.clone());
        let config = Config {
            completion_entries_log2: 4,
            control_units_log2: 4,
            host_slots_log2: 2,
            event_entries_log2: 6,
            ..Config::default()
        };
        let device = Device::open(test.clone(), memory, config).expect("opens");
        test.steps();
        (test, Context::new(device).expect("nobody has used it"))
    }

    pub(crate) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happened since the last call.
    pub(crate) fn steps(&self) -> Vec<Step> {
        std::mem::take(&mut self.inside().steps)
    }

    /// The operation after `after` more hangs.
    pub(crate) fn hang(&self, after: usize) {
        self.inside().bar.hangs_after = Some(after);
    }

    /// Addresses that are allocated.
    pub(crate) fn allocated(&self) -> Vec<u64> {
        self.inside().allocated.keys().copied().collect()
    }

    /// The device writes octets.
    pub(crate) fn write(&self, address: u64, data: &[u8]) {
        let at = address as usize;
        self.inside().octets[at..at + data.len()].copy_from_slice(data);
    }

    /// The device completes a message of 3 octets, which it wrote before.
    pub(crate) fn receive(&self, queue: u32, connection: u16, qn: u32, msn: u32, stag: u32) {
        let word = KIND_RECEIVE | qn << 8 | u32::from(connection) << 16;
        self.complete(queue, [word, msn, 3, stag, 0, 0, 0]);
    }

    /// The device completes the read in `pool_entry`.
    pub(crate) fn respond(&self, queue: u32, connection: u16, pool_entry: u32) {
        let word = KIND_READ_RESPONSE | u32::from(connection) << 16;
        self.complete(queue, [word, 0, 0, 0, 0, pool_entry, 0]);
    }

    /// The device sends the next frame of a ring, and reports it.
    pub(crate) fn transmit(&self, ring: TransmitRing) -> Option<Vec<u8>> {
        let mut inside = self.inside();
        let mut memory = Memory::new(0);
        memory.write(0, &inside.octets);
        let engine = &mut inside.bar.tables.transmit;
        let sent = engine.step(&memory, ring, Fate::Sent);
        for (address, word) in memory.pending.take() {
            let at = address as usize;
            inside.octets[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        sent
    }

    fn complete(&self, queue: u32, words: [u32; 7]) {
        let mut inside = self.inside();
        let registers = &mut inside.bar.tables.registers;
        let base = registers[&cq_register(queue, CQ_BASE_LOW)];
        let entries_log2 = registers[&cq_register(queue, CQ_ENTRIES_LOG2)];
        let number = inside.written.entry(queue).or_default();
        let (this, next) = (*number, *number + 1);
        *number = next;
        let registers = &mut inside.bar.tables.registers;
        registers.insert(cq_register(queue, CQ_PRODUCER), next);
        let slot = this & ((1 << entries_log2) - 1);
        let phase = if this >> entries_log2 & 1 == 0 {
            PHASE
        } else {
            0
        };
        let at = base as usize + slot as usize * CQE_OCTETS;
        let words = words.into_iter().chain([phase]);
        let octets: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        inside.octets[at..at + CQE_OCTETS].copy_from_slice(&octets);
    }
}

impl Bar for TestDevice {
    fn read32(&mut self, offset: u32) -> u32 {
        self.inside().bar.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let mut inside = self.inside();
        if offset == TABLE_COMMAND {
            let step = Step::Operation(value >> 24 & 3, value >> 16 & 0xf);
            inside.steps.push(step);
        }
        if offset == CONTROL && value & CONTROL_RESET != 0 {
            inside.steps.push(Step::Reset);
        }
        inside.bar.write32(offset, value);
    }
}

impl Dma for TestMemory {
    fn allocate(&mut self, _: &str, octets: usize, align: u64) -> Result<DmaBuffer, DriverError> {
        let mut inside = self.0.inside();
        // Address 0 is nobody's, and no two buffers touch.
        let address = (inside.octets.len() as u64 + 1).next_multiple_of(align);
        inside.octets.resize(address as usize + octets, 0);
        inside.allocated.insert(address, octets);
        Ok(DmaBuffer { address, octets })
    }

    fn free(&mut self, buffer: DmaBuffer) {
        let mut inside = self.0.inside();
        let allocated = inside.allocated.remove(&buffer.address);
        assert_eq!(allocated, Some(buffer.octets), "{buffer:x?}");
        inside.steps.push(Step::Freed(buffer.address));
    }

    fn read_u32_acquire(&self, address: u64) -> u32 {
        let mut octets = [0; 4];
        self.read(address, &mut octets);
        u32::from_le_bytes(octets)
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        let at = address as usize;
        out.copy_from_slice(&self.0.inside().octets[at..at + out.len()]);
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        self.0.write(address, data);
    }
}

impl Drop for TestMemory {
    fn drop(&mut self) {
        self.0.inside().steps.push(Step::Unmapped);
    }
}
