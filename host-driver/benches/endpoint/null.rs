//! A device that does nothing and is never busy: what is left is the driver's own cost.
//!
//! ```text
//!  doorbell --> every frame is reported as sent at once
//!  bench    --> frames into the host ring, entries into the event ring
//! ```

use rnic_abi::event_ring::EVENT_OCTETS;
use rnic_abi::host_ring::SLOT_HEADER_OCTETS;
use rnic_abi::sizes::Sizes;
use rnic_abi::transmit_ring::{BULK, ELEMENTS_SHIFT, ELEMENT_OCTETS, RINGS, UNIT_OCTETS};
use rnic_abi::{cqe, registers};
use rnic_driver::{Bar, Dma, DmaBuffer, DriverError};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Octets of host memory.
const MEMORY_OCTETS: usize = 1 << 26;

/// Registers and memory.
#[derive(Debug)]
pub struct Null {
    registers: Vec<u32>,
    memory: Vec<u8>,
    allocated: u64,
    heads: [u32; RINGS],
    /// Entries written to the host ring and to the event ring.
    written: [u32; 2],
    /// Frames of a ring are kept, for the handshake.
    pub keeps_frames: bool,
    pub frames: VecDeque<Vec<u8>>,
    pub bar_writes: u64,
    /// Frames of the bulk ring, and of the control ring.
    pub bulk_sent: u64,
    pub control_sent: u64,
}

/// The device, as its driver and the bench have it.
#[derive(Clone, Debug)]
pub struct NullDevice(Rc<RefCell<Null>>);

impl NullDevice {
    pub fn new() -> Self {
        Self(Rc::new(RefCell::new(Null {
            registers: vec![0; 1 << 14],
            memory: vec![0; MEMORY_OCTETS],
            allocated: 4096,
            heads: [0; RINGS],
            written: [0; 2],
            keeps_frames: true,
            frames: VecDeque::new(),
            bar_writes: 0,
            bulk_sent: 0,
            control_sent: 0,
        })))
    }

    /// Look at it.
    pub fn with<T>(&self, look: impl FnOnce(&mut Null) -> T) -> T {
        look(&mut self.0.borrow_mut())
    }
}

impl Null {
    /// Frames of both rings.
    pub fn frames_sent(&self) -> u64 {
        self.bulk_sent + self.control_sent
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    fn word(&self, address: u64) -> u32 {
        let at = address as usize;
        let octets = self.memory[at..at + 4].try_into().expect("four");
        u32::from_le_bytes(octets)
    }

    fn put(&mut self, address: u64, words: &[u32]) {
        for (word, at) in words.iter().zip((address as usize..).step_by(4)) {
            self.memory[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// The phase of entry number `number` of a ring.
    fn phase(number: u32, entries_log2: u32) -> u32 {
        match number >> entries_log2 & 1 {
            0 => cqe::PHASE,
            _ => 0,
        }
    }

    /// A frame has come in for the host.
    pub fn receive(&mut self, frame: &[u8]) {
        let base = u64::from(self.register(registers::HOST_RING_BASE_LOW));
        let octets_log2 = self.register(registers::HOST_RING_SLOT_OCTETS_LOG2);
        let slots_log2 = self.register(registers::HOST_RING_SLOTS_LOG2);
        let number = self.written[0];
        let index = number & ((1 << slots_log2) - 1);
        let slot = base + (u64::from(index) << octets_log2);
        let at = slot as usize + SLOT_HEADER_OCTETS;
        self.memory[at..at + frame.len()].copy_from_slice(frame);
        let phase = Self::phase(number, slots_log2);
        self.put(slot, &[frame.len() as u32, 0, 0, phase]);
        self.written[0] += 1;
    }

    /// An event, of these words but for the last one.
    pub fn event(&mut self, words: [u32; 7]) {
        let base = u64::from(self.register(registers::EVENT_BASE_LOW));
        let entries_log2 = self.register(registers::EVENT_ENTRIES_LOG2);
        let number = self.written[1];
        let index = number & ((1 << entries_log2) - 1);
        let entry = base + u64::from(index) * EVENT_OCTETS as u64;
        self.put(entry, &words);
        let last = entry + EVENT_OCTETS as u64 - 4;
        self.put(last, &[Self::phase(number, entries_log2)]);
        self.written[1] += 1;
    }

    /// A doorbell: everything up to the tail is sent.
    fn send(&mut self, ring: usize, tail: u32) {
        let register = |offset| registers::tx_register(ring as u32, offset);
        let base = u64::from(self.register(register(registers::TX_BASE_LOW)));
        let report = u64::from(self.register(register(registers::TX_REPORT_LOW)));
        let units_log2 = self.register(register(registers::TX_UNITS_LOG2));
        let unit = |number: u32| {
            let index = number & ((1 << units_log2) - 1);
            base + u64::from(index) * UNIT_OCTETS as u64
        };
        while self.heads[ring] != tail {
            let head = self.heads[ring];
            let elements = self.word(unit(head)) >> ELEMENTS_SHIFT & 0xf;
            if self.keeps_frames {
                let places = (0..elements).map(|element| {
                    let unit = unit(head + 1 + element / 2);
                    unit + u64::from(element % 2) * ELEMENT_OCTETS as u64
                });
                let runs = places.map(|place| {
                    let (from, octets) = (self.word(place) as usize, self.word(place + 8));
                    &self.memory[from..from + octets as usize]
                });
                let frame = runs.collect::<Vec<_>>().concat();
                self.frames.push_back(frame);
            }
            let is_bulk = ring as u32 == BULK;
            self.bulk_sent += u64::from(is_bulk);
            self.control_sent += u64::from(!is_bulk);
            let units = rnic_abi::transmit_ring::units(elements);
            self.heads[ring] = head.wrapping_add(units);
        }
        self.put(report, &[tail, 0, 0, 0]);
    }
}

impl Bar for NullDevice {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            registers::IDENTITY => registers::IDENTITY_VALUE,
            registers::REVISION => registers::REVISION_VALUE,
            registers::CAPABILITIES => Sizes::LARGEST.encode(),
            // Never busy, never in a reset.
            registers::TABLE_COMMAND | registers::CONTROL => 0,
            registers::EVENT_PRODUCER => self.with(|null| null.written[1]),
            _ => self.with(|null| null.register(offset)),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.with(|null| {
            null.bar_writes += 1;
            null.registers[offset as usize / 4] = value;
            let tails = (0..RINGS)
                .find(|&ring| registers::tx_register(ring as u32, registers::TX_TAIL) == offset);
            if let Some(ring) = tails {
                null.send(ring, value);
            }
        });
    }
}

impl Dma for NullDevice {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        self.with(|null| {
            let address = null.allocated.next_multiple_of(align.max(1));
            null.allocated = address + octets as u64;
            match null.allocated as usize <= MEMORY_OCTETS {
                true => Ok(DmaBuffer { address, octets }),
                false => Err(DriverError::OutOfMemory {
                    name: name.to_owned(),
                    octets,
                }),
            }
        })
    }

    fn free(&mut self, _: DmaBuffer) {}

    fn read_u32_acquire(&self, address: u64) -> u32 {
        self.with(|null| null.word(address))
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        self.with(|null| {
            let at = address as usize;
            out.copy_from_slice(&null.memory[at..at + out.len()]);
        });
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        self.with(|null| {
            let at = address as usize;
            null.memory[at..at + data.len()].copy_from_slice(data);
        });
    }
}
