//! What the device's rings show on the bus: each entry as raw words, and what it announces, read
//! from host memory at the moment in which the entry is written.
//!
//! ```text
//!  memory write --+--> completion queues: place, number, phase; the message as it is in its buffer
//!                 +--> host ring: place, number, phase; the whole slot
//!                 +--> event ring: place, number, phase
//! ```
//!
//! A driver may act on an entry as soon as it sees it, so everything announced must be there by
//! then (architecture rule: payload, then entry). Layouts come from `rnic_abi`; nothing is decoded
//! by the driver's code.

use crate::play::dut::{self, Buffer, Entry};
use pcie_sim::memory::Memory;
use rnic_abi::cqe::{self, CQE_OCTETS, KIND_READ_RESPONSE, KIND_RECEIVE};
use rnic_abi::event_ring::{self, EVENT_OCTETS};
use rnic_abi::host_ring::{self, SLOT_HEADER_OCTETS};
use rnic_driver::{Config, QueueId, RegionConfig};
use rnic_model::ANNOUNCED_OCTETS_MAX;
use rnic_sim::WriteObserver;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Octets before the end of a Read Response that are compared, as many at most as its region has:
/// the entry names its end alone.
const TAIL_OCTETS: u64 = 64;

/// Words 0 to 2 of a slot's header; word 3 numbers the slots and is compared by itself.
pub const HEADER_OCTETS_COMPARED: usize = 12;

/// A ring in host memory.
#[derive(Clone, Debug)]
struct Ring {
    address: u64,
    place_octets_log2: u32,
    places_log2: u32,
    /// Entries written so far.
    count: u32,
}

impl Ring {
    /// The mapped region `name` as a ring.
    fn find(memory: &Memory, name: &str, places_log2: u32, place_octets_log2: u32) -> Self {
        let region = memory.region(name);
        let region = region.unwrap_or_else(|| panic!("the driver has allocated its {name}"));
        Self {
            address: region.base(),
            place_octets_log2,
            places_log2,
            count: 0,
        }
    }

    /// Bus addresses of all places.
    fn addresses(&self) -> Range<u64> {
        self.address..self.address + (1 << (self.places_log2 + self.place_octets_log2))
    }

    /// Octets from the ring's start to `address`, if it is inside.
    fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.address)?;
        (offset < 1 << (self.places_log2 + self.place_octets_log2)).then_some(offset)
    }

    /// Bus address of the next entry.
    fn next_address(&self) -> u64 {
        let place = u64::from(self.count) & ((1 << self.places_log2) - 1);
        self.address + (place << self.place_octets_log2)
    }

    /// Number and phase of the next entry, as its last word has them: the phase is 1 on the first
    /// pass and turns at each wrap.
    fn next_word(&self, phase: u32) -> u32 {
        let first = self.count >> self.places_log2 & 1 == 0;
        (self.count & !phase) | if first { phase } else { 0 }
    }
}

/// What the rings have shown.
#[derive(Clone, Debug)]
pub struct Rings {
    queues: Vec<(QueueId, Ring)>,
    host: Ring,
    events: Ring,
    /// Posted buffers by entry of the pool.
    buffers: HashMap<u32, Buffer>,
    /// Regions by stag_index, as registered last.
    regions: HashMap<u32, RegionConfig>,
    /// Completion entries not yet taken.
    pub entries: Vec<Entry>,
    /// Slots of the host ring not yet taken: words 0 to 2 of the header, and the frame.
    pub slots: Vec<Vec<u8>>,
    /// What no ring may show, in words.
    pub faults: Vec<String>,
}

impl Rings {
    /// The rings of a device that was opened with `config`.
    pub fn new(memory: &Memory, config: &Config) -> Self {
        let slot_octets_log2 = config.host_slot_octets_log2;
        let slots = config.host_slots_log2;
        let host = Ring::find(memory, "host receive ring", slots, slot_octets_log2);
        let events = config.event_entries_log2;
        let events = Ring::find(memory, "event ring", events, EVENT_OCTETS.ilog2());
        let mut rings = Self {
            queues: Vec::new(),
            host,
            events,
            buffers: HashMap::new(),
            regions: HashMap::new(),
            entries: Vec::new(),
            slots: Vec::new(),
            faults: Vec::new(),
        };
        let first = QueueId::default();
        rings.add_queue(memory, first, config.completion_entries_log2);
        rings
    }

    /// The driver has created a completion queue.
    pub fn add_queue(&mut self, memory: &Memory, queue: QueueId, entries_log2: u32) {
        let name = match queue.0 {
            0 => "completion queue".to_owned(),
            number => format!("completion queue {number}"),
        };
        let ring = Ring::find(memory, &name, entries_log2, CQE_OCTETS.ilog2());
        self.queues.push((queue, ring));
    }

    /// Where the rings are.
    pub fn addresses(&self) -> dut::RingAddresses {
        dut::RingAddresses {
            completions: self
                .queues
                .iter()
                .map(|(_, ring)| ring.addresses())
                .collect(),
            host: self.host.addresses(),
            events: self.events.addresses(),
        }
    }

    /// A buffer was posted.
    pub fn posted(&mut self, pool_entry: u32, buffer: Buffer) {
        self.buffers.insert(pool_entry, buffer);
    }

    /// A region was registered.
    pub fn registered(&mut self, config: &RegionConfig) {
        self.regions.insert(config.stag >> 8, *config);
    }

    /// A write into the queue at `place` of the list.
    fn entry_written(
        &mut self,
        place: usize,
        now: u64,
        address: u64,
        octets: usize,
        memory: &Memory,
    ) {
        let (queue, ring) = &mut self.queues[place];
        let (queue, name) = (*queue, format!("completion queue {}", queue.0));
        let (expected, number) = (ring.next_address(), ring.count);
        if (address, octets) != (expected, CQE_OCTETS) {
            self.faults.push(format!(
                "cycle {now}: {name}, entry {number}: {octets} octets at {address:#x} instead \
                 of {CQE_OCTETS} at {expected:#x}"
            ));
            return;
        }
        let words: [u32; 8] = std::array::from_fn(|word| dword(memory, address, word));
        let last = ring.next_word(cqe::PHASE);
        ring.count = ring.count.wrapping_add(1);
        if words[7] != last {
            let found = words[7];
            self.faults.push(format!(
                "cycle {now}: {name}, entry {number}: word 7 (phase and number) is \
                 {found:#010x} instead of {last:#010x}"
            ));
        }
        let [words @ .., _] = words;
        let place = self.announced(&words);
        let announced = place.and_then(|(address, octets)| {
            let left_out = octets.saturating_sub(ANNOUNCED_OCTETS_MAX);
            let tail = address + left_out as u64;
            memory.read(tail, octets - left_out).ok()
        });
        self.entries.push(Entry {
            queue,
            words,
            announced,
        });
    }

    /// Bus address and octets of what an entry announces.
    fn announced(&self, words: &[u32; 7]) -> Option<(u64, usize)> {
        match words[0] & 0xf {
            KIND_RECEIVE => {
                let buffer = self.buffers.get(&words[5])?;
                Some((buffer.address, words[2].min(buffer.octets) as usize))
            }
            KIND_READ_RESPONSE => {
                let region = self.regions.get(&(words[1] >> 8))?;
                let end = u64::from(words[3]) << 32 | u64::from(words[2]);
                let inside = end.wrapping_sub(region.tagged_offset);
                let tail = inside.min(TAIL_OCTETS);
                let address = region.address.wrapping_add(inside - tail);
                (inside <= region.octets).then_some((address, tail as usize))
            }
            _ => None,
        }
    }

    fn event_written(&mut self, now: u64, address: u64, octets: usize, memory: &Memory) {
        let (expected, number) = (self.events.next_address(), self.events.count);
        let last = self.events.next_word(event_ring::PHASE);
        self.events.count = self.events.count.wrapping_add(1);
        if (address, octets) != (expected, EVENT_OCTETS) {
            self.faults.push(format!(
                "cycle {now}: event {number}: {octets} octets at {address:#x} instead of \
                 {EVENT_OCTETS} at {expected:#x}"
            ));
            return;
        }
        let found = dword(memory, address, 7);
        if found != last {
            self.faults.push(format!(
                "cycle {now}: event {number}: word 7 (phase and number) is {found:#010x} instead \
                 of {last:#010x}"
            ));
        }
    }

    fn host_ring_written(&mut self, now: u64, address: u64, octets: usize, memory: &Memory) {
        let offset = address - self.host.address;
        if offset & ((1 << self.host.place_octets_log2) - 1) >= SLOT_HEADER_OCTETS as u64 {
            // Octets of a frame; its header follows.
            return;
        }
        let (expected, number) = (self.host.next_address(), self.host.count);
        if (address, octets) != (expected, SLOT_HEADER_OCTETS) {
            self.faults.push(format!(
                "cycle {now}: host frame {number}: a header of {octets} octets at {address:#x} \
                 instead of {SLOT_HEADER_OCTETS} at {expected:#x}"
            ));
            return;
        }
        let last = self.host.next_word(host_ring::PHASE);
        let found = dword(memory, address, 3);
        if found != last {
            self.faults.push(format!(
                "cycle {now}: host frame {number}: word 3 (phase and number) is {found:#010x} \
                 instead of {last:#010x}"
            ));
        }
        self.host.count = self.host.count.wrapping_add(1);
        let room = (1usize << self.host.place_octets_log2) - SLOT_HEADER_OCTETS;
        let frame = (dword(memory, address, 0) as usize).min(room);
        let slot = memory.read(address, SLOT_HEADER_OCTETS + frame);
        let mut slot = slot.expect("a slot lies in its ring");
        slot.drain(HEADER_OCTETS_COMPARED..SLOT_HEADER_OCTETS);
        self.slots.push(slot);
    }
}

fn dword(memory: &Memory, address: u64, word: usize) -> u32 {
    let octets = memory.read(address + 4 * word as u64, 4);
    let octets = octets.expect("an entry lies in its ring");
    u32::from_le_bytes(octets.try_into().expect("four octets were read"))
}

/// The rings of a device, shared by the simulation that shows writes and the receiver that asks.
#[derive(Clone, Debug)]
pub struct BusWatch(pub Rc<RefCell<Rings>>);

impl WriteObserver for BusWatch {
    fn written(&mut self, now: u64, address: u64, octets: usize, memory: &Memory) {
        let mut rings = self.0.borrow_mut();
        let holds = |(_, ring): &(QueueId, Ring)| ring.offset(address).is_some();
        if let Some(place) = rings.queues.iter().position(holds) {
            rings.entry_written(place, now, address, octets, memory);
        } else if rings.host.offset(address).is_some() {
            rings.host_ring_written(now, address, octets, memory);
        } else if rings.events.offset(address).is_some() {
            rings.event_written(now, address, octets, memory);
        }
    }
}
