//! Interrupts: which vector a source raises, when its message leaves, and where to.

use rnic_abi::interrupts::{
    CONTROL_MASKED, ENTRY_OCTETS, QUEUE_ROUTES_HIGH, QUEUE_ROUTES_LOW, ROUTE_ON, VECTORS,
};
use std::collections::VecDeque;
use std::ops::Range;

/// Doublewords of an entry of the table.
const ENTRY_WORDS: usize = ENTRY_OCTETS as usize / 4;
/// Place of the vector control in an entry.
const CONTROL_WORD: usize = 3;
/// Bits of the routes of all rings.
const RING_ROUTE_BITS: u32 = 0xfff;

/// An interrupt that is an ordinary write, as no window of interrupts holds its address.
#[derive(Copy, Clone, Debug)]
pub(super) struct Message {
    /// Bus address.
    pub(super) address: u64,
    /// What is written.
    pub(super) data: u32,
}

#[derive(Copy, Clone, Debug)]
struct Vector {
    entry: [u32; ENTRY_WORDS],
    is_pending: bool,
    hold_off_ticks: u32,
    hold_off_cycles: u64,
    /// Cycle before which no message begins.
    free_from: u64,
}

/// The eight vectors and the routes to them.
#[derive(Debug)]
pub(super) struct Interrupts {
    vectors: [Vector; VECTORS],
    queue_routes: [u32; 2],
    ring_routes: u32,
    is_enabled: bool,
    is_masked: bool,
    windows: Vec<Range<u64>>,
    /// Addresses in a window.
    messages: VecDeque<u64>,
}

impl Default for Interrupts {
    fn default() -> Self {
        let masked = Vector {
            entry: [0, 0, 0, CONTROL_MASKED],
            is_pending: false,
            hold_off_ticks: 0,
            hold_off_cycles: 0,
            free_from: 0,
        };
        Self {
            vectors: [masked; VECTORS],
            queue_routes: [0; 2],
            ring_routes: 0,
            is_enabled: false,
            is_masked: false,
            windows: Vec::new(),
            messages: VecDeque::new(),
        }
    }
}

impl Interrupts {
    /// All but what configuration space and the host decide.
    pub(super) fn reset(&mut self) {
        *self = Self {
            is_enabled: self.is_enabled,
            is_masked: self.is_masked,
            windows: std::mem::take(&mut self.windows),
            ..Self::default()
        };
    }

    /// MSI-X Enable and Function Mask. While MSI-X is off nothing is pending.
    pub(super) fn set_control(&mut self, enable: bool, mask: bool) {
        (self.is_enabled, self.is_masked) = (enable, mask);
        if !enable {
            for vector in &mut self.vectors {
                vector.is_pending = false;
            }
        }
    }

    pub(super) fn add_window(&mut self, addresses: Range<u64>) {
        self.windows.push(addresses);
    }

    /// Entries of completion queue `queue` were written.
    pub(super) fn raise_queue(&mut self, queue: usize) {
        self.raise(self.queue_routes[queue / 8] >> (4 * (queue % 8)));
    }

    /// Something was written for the ring at `place` of the routes of rings.
    pub(super) fn raise_ring(&mut self, place: u32) {
        self.raise(self.ring_routes >> (4 * place));
    }

    fn raise(&mut self, route: u32) {
        if route & ROUTE_ON != 0 && self.is_enabled {
            self.vectors[(route & (ROUTE_ON - 1)) as usize].is_pending = true;
        }
    }

    /// Begin the messages that may begin at `now`; those outside of every window are returned.
    pub(super) fn due(&mut self, now: u64) -> Vec<Message> {
        let mut writes = Vec::new();
        if !self.is_enabled || self.is_masked {
            return writes;
        }
        for vector in &mut self.vectors {
            if !vector.may_send() || now < vector.free_from {
                continue;
            }
            vector.is_pending = false;
            vector.free_from = now + vector.hold_off_cycles;
            let [low, high, data, _] = vector.entry;
            let address = u64::from(high) << 32 | u64::from(low);
            match self.windows.iter().any(|window| window.contains(&address)) {
                true => self.messages.push_back(address),
                false => writes.push(Message { address, data }),
            }
        }
        writes
    }

    /// Whether a message waits for the time only.
    pub(super) fn wait(&self) -> bool {
        let is_on = self.is_enabled && !self.is_masked;
        is_on && self.vectors.iter().any(Vector::may_send)
    }

    pub(super) fn next_message(&mut self) -> Option<u64> {
        self.messages.pop_front()
    }

    pub(super) fn pending(&self) -> u32 {
        let bits = self.vectors.iter().enumerate();
        bits.fold(0, |bits, (number, vector)| {
            bits | u32::from(vector.is_pending) << number
        })
    }

    /// The doubleword `offset` octets after the table's beginning.
    pub(super) fn read_table(&self, offset: u32) -> u32 {
        let word = (offset / 4) as usize;
        self.vectors[word / ENTRY_WORDS].entry[word % ENTRY_WORDS]
    }

    pub(super) fn write_table(&mut self, offset: u32, value: u32) {
        let word = (offset / 4) as usize;
        // The low bits of an address and reserved bits of the control are zero.
        let writable = match word % ENTRY_WORDS {
            0 => !3,
            CONTROL_WORD => CONTROL_MASKED,
            _ => u32::MAX,
        };
        self.vectors[word / ENTRY_WORDS].entry[word % ENTRY_WORDS] = value & writable;
    }

    pub(super) fn hold_off(&self, vector: u32) -> u32 {
        self.vectors[vector as usize].hold_off_ticks
    }

    pub(super) fn set_hold_off(&mut self, vector: u32, ticks: u32, cycles: u64) {
        let vector = &mut self.vectors[vector as usize];
        (vector.hold_off_ticks, vector.hold_off_cycles) = (ticks, cycles);
    }

    pub(super) fn routes(&self, offset: u32) -> u32 {
        match offset {
            QUEUE_ROUTES_LOW => self.queue_routes[0],
            QUEUE_ROUTES_HIGH => self.queue_routes[1],
            _ => self.ring_routes,
        }
    }

    pub(super) fn set_routes(&mut self, offset: u32, value: u32) {
        match offset {
            QUEUE_ROUTES_LOW => self.queue_routes[0] = value,
            QUEUE_ROUTES_HIGH => self.queue_routes[1] = value,
            _ => self.ring_routes = value & RING_ROUTE_BITS,
        }
    }
}

impl Vector {
    fn may_send(&self) -> bool {
        self.is_pending && self.entry[CONTROL_WORD] & CONTROL_MASKED == 0
    }
}
