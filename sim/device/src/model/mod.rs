//! The device in software: BAR0, tables, rings and interrupts around the software model of
//! reception. A driver cannot distinguish it from the hardware but by its speed.
//!
//! ```text
//!  BAR0 --> Registers --+--> Tables ----> Model (`rnic_model`) <---- frames of the wire
//!                       |                   |     ^
//!                       |                   |     +--------- looped back ----+
//!                       |       placements, entries, slots, events           |
//!                       |                   v                                |
//!                       +--> rings ---> DeviceMemory ---> TransmitRing ------+--> sent
//!                       +--> Interrupts <------- routes
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `registers.rs`, `register_values.rs` | decodes BAR0 |
//! | `tables.rs`, `table_state.rs`, `entries.rs` | table operations |
//! | `connections.rs`, `lookup.rs` | lookup, contexts, ranges |
//! | `queues.rs`, `pool.rs` | queues of buffers and reads |
//! | `regions.rs`, `stags.rs` | regions and their STags |
//! | `receive.rs` | a frame through the model, then into memory and rings |
//! | `rings.rs` | places of entries, phases |
//! | `events.rs`, `unreported.rs` | which connections have an event pending, and its entry |
//! | `transmit.rs`, `transmit_ring.rs` | heads in their order, statuses and reports |
//! | `gather.rs` | elements, checksum, CRC32C |
//! | `interrupts.rs` | routes, hold-offs, messages |
//! | `host.rs` | the driver's two traits over it, in one process |
//!
//! Protocol decisions are the model's; nothing is shared with the hardware but `rnic_abi`.
//!
//! **Time.** A clock of its own, in cycles of 156 a microsecond: it advances with each
//! [`run`](DeviceCore::run) and with the octets of each frame. Hold-offs and event delays follow
//! it. A table operation, a post and a reset are done when they are written.
//!
//! **What has no effect**, because there is nothing that it could shape: `MAX_PAYLOAD`,
//! `READ_MAX_REQUEST`, `READ_TIMEOUT` and `TX_CONTROL_EXTENDED_TAGS` (no TLPs: accesses of memory
//! are whole, and end at once), `IN_ORDER_RESERVE` (packet memory has no end; of pages only those
//! charged beyond gaps are counted in `FREE_PAGES`). FPDUs beyond a gap are placed when it closes,
//! so `RECORDS` are all free, and `IN_USE` names no shared runs.
//!
//! **What is refused**, with a line that names the table or register (see
//! [`take_faults`](DeviceCore::take_faults)): a TCP context over received ranges, a pool entry that
//! is posted, tails beyond a queue's entries, a queue beyond the pool, ways and tables that do not
//! exist, sizes of rings and slots that do not exist.

mod connections;
mod entries;
mod events;
mod gather;
mod host;
mod interrupts;
mod lookup;
mod pool;
mod queues;
mod receive;
mod regions;
mod register_values;
mod registers;
mod rings;
mod stags;
mod table_state;
mod tables;
mod transmit;
mod transmit_ring;
mod unreported;

pub use host::{attach, HostMemory, ModelBar, ModelDma};

use interrupts::Interrupts;
use pcie_sim::memory::{DeviceMemory, MemoryError};
use register_values::Registers;
use rings::Rings;
use rnic_abi::sizes::Sizes;
use rnic_abi::transmit_ring::RINGS;
use rnic_model::Model;
use rnic_sim::{DeviceCore, SentFrame};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use table_state::Tables;
use transmit_ring::TransmitRing;
use unreported::Events;

/// Cycles of a tick, which is a microsecond, as the hardware has them at W = 64.
const TICK_CYCLES: u64 = 156;
/// Frames of transmit rings that one turn sends at most, so that frames of the wire come between.
const TURN_FRAMES: usize = 64;
/// Faults that are kept until they are taken.
const FAULTS_MAX: usize = 64;

/// The device. Time passes in [`DeviceCore::run`].
#[derive(Debug)]
pub struct DeviceModel {
    /// Frame path in bits, as `CAPABILITIES` says.
    width: usize,
    sizes: Sizes,
    model: Model,
    registers: Registers,
    tables: Tables,
    rings: Rings,
    events: Events,
    transmit: [TransmitRing; RINGS],
    interrupts: Interrupts,
    memory: Option<Rc<dyn DeviceMemory>>,
    /// Frames that have not been received: octets, and whether the MAC found them bad.
    wire: VecDeque<(Vec<u8>, bool)>,
    sent: VecDeque<SentFrame>,
    faults: Vec<String>,
    /// Cycles since power-up.
    now: u64,
}

impl DeviceModel {
    /// A device that reports a frame path of `width` bits, with tables of `sizes`; it reaches no
    /// memory.
    pub fn new(width: usize, sizes: Sizes) -> Self {
        let mut device = Self {
            width,
            sizes,
            model: Model::new(0),
            registers: Registers::default(),
            tables: Tables::new(sizes),
            rings: Rings::default(),
            events: Events::default(),
            transmit: Default::default(),
            interrupts: Interrupts::default(),
            memory: None,
            wire: VecDeque::new(),
            sent: VecDeque::new(),
            faults: Vec::new(),
            now: 0,
        };
        device.model.forget_out_of_order();
        device.model.memory.handed_on = Some(Vec::new());
        device.reset_tables();
        device
    }

    /// As `CONTROL_RESET`: every table, ring and register is as after power-up, but for counters.
    /// What is on the wire is received by the device that is off.
    fn reset_tables(&mut self) {
        self.model.reset();
        self.registers = Registers::default();
        self.tables = Tables::new(self.sizes);
        self.rings = Rings::default();
        self.events = Events::default();
        self.transmit = Default::default();
        self.interrupts.reset();
    }

    /// Write to memory; a refused write changes nothing there, and the device goes on.
    fn write_memory(&mut self, address: u64, data: &[u8]) {
        let written = match &self.memory {
            Some(memory) => memory.write(address, data),
            None => Err(MemoryError::Unmapped {
                address,
                octets: data.len(),
            }),
        };
        if let Err(error) = written {
            self.fault(format!("a write to memory was refused: {error}"));
        }
    }

    /// Read memory; `None`, and a fault, if it is refused.
    fn read_memory(&mut self, address: u64, octets: usize) -> Option<Vec<u8>> {
        let mut data = vec![0; octets];
        let read = match &self.memory {
            Some(memory) => memory.read(address, &mut data),
            None => Err(MemoryError::Unmapped { address, octets }),
        };
        if let Err(error) = read {
            self.fault(format!("a read of memory was refused: {error}"));
            return None;
        }
        Some(data)
    }

    fn fault(&mut self, fault: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }

    fn send_interrupts(&mut self) {
        for message in self.interrupts.due(self.now) {
            self.write_memory(message.address, &message.data.to_le_bytes());
        }
    }
}

impl DeviceCore for DeviceModel {
    fn read_bar(&mut self, offset: u32, out: &mut [u8]) {
        for (place, octet) in (offset..).zip(out) {
            let value = self.read_register(place & !3);
            *octet = value.to_le_bytes()[(place & 3) as usize];
        }
    }

    /// A doubleword that is not written whole keeps its value.
    fn write_bar(&mut self, offset: u32, data: &[u8]) {
        let skipped = (offset.wrapping_neg() & 3) as usize;
        let whole = data.get(skipped..).unwrap_or_default().chunks_exact(4);
        for (place, octets) in (offset + skipped as u32..).step_by(4).zip(whole) {
            let value = u32::from_le_bytes(octets.try_into().expect("four octets"));
            self.write_register(place, value);
        }
    }

    fn reset(&mut self) {
        self.wire.clear();
        self.sent.clear();
        self.faults.clear();
        self.reset_tables();
    }

    fn set_msix(&mut self, enable: bool, mask: bool) {
        self.interrupts.set_control(enable, mask);
    }

    fn set_memory(&mut self, memory: Option<Rc<dyn DeviceMemory>>) {
        self.memory = memory;
    }

    fn add_interrupt_window(&mut self, addresses: Range<u64>) {
        self.interrupts.add_window(addresses);
    }

    fn run(&mut self, cycles: usize) {
        while let Some((frame, error)) = self.wire.pop_front() {
            self.receive_from_wire(&frame, error);
        }
        self.send_frames(TURN_FRAMES);
        self.now += cycles as u64;
        self.write_events();
        self.send_interrupts();
    }

    fn next_interrupt(&mut self) -> Option<u64> {
        self.interrupts.next_message()
    }

    fn inactive_cycles(&self) -> u64 {
        let waits = self.interrupts.wait() || self.events.wait(self.rings.events.room());
        match waits || !self.wire.is_empty() || self.may_send() {
            true => 0,
            false => u64::MAX,
        }
    }

    fn tick_cycles(&self) -> u64 {
        TICK_CYCLES
    }

    fn take_faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }

    fn push_frame(&mut self, octets: Vec<u8>, error: bool) {
        self.wire.push_back((octets, error));
    }

    fn frames_waiting(&self) -> usize {
        self.wire.len()
    }

    fn next_sent(&mut self) -> Option<SentFrame> {
        self.sent.pop_front()
    }
}
