//! The event ring in memory (`rnic_abi::event_ring`).
//!
//! Input: entries of 8 words. Output: events, in the device's order. Slots are given back
//! (`EVENT_CONSUMER`) when a quarter of the ring was read: a register write for each event would
//! hold up other accesses, and the device needs to know no more than that three quarters are free.
//! A ring that is not polled delays events and nothing else.
//!
//! A connection's id may have belonged to another one. Entries of that one are in the ring when the
//! new context is written, and none after it; those are passed over.

use super::event::{Entry, Event};
use super::ring::{Ring, Shape};
use crate::device::access::{Dma, DmaBuffer, Registers};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use rnic_abi::event_ring::{EVENT_OCTETS, PHASE};
use rnic_abi::limits::CONNECTIONS;
use rnic_abi::{cqe, registers};

const _: () = assert!(PHASE == cqe::PHASE);

/// Offset of the word with the phase, the last one of an entry.
const LAST_WORD_OFFSET: usize = EVENT_OCTETS - 4;

/// The ring, and which of its entries are of open connections.
#[derive(Debug)]
pub(crate) struct EventRing {
    ring: Ring,
    /// Entries consumed.
    consumed: u64,
    /// Entries consumed whose slots were not given back yet.
    unreported: u32,
    /// Of each open connection the number of the first entry that may be its own.
    first: Vec<Option<u64>>,
}

impl EventRing {
    /// An empty ring of `1 << entries_log2` entries.
    pub(crate) fn allocate(dma: &mut impl Dma, entries_log2: u32) -> Result<Self, DriverError> {
        let shape = Shape {
            slots_log2: entries_log2,
            slot_octets_log2: EVENT_OCTETS.ilog2(),
            header_octets: EVENT_OCTETS,
        };
        Ok(Self {
            ring: Ring::allocate(dma, "event ring", shape)?,
            consumed: 0,
            unreported: 0,
            first: vec![None; CONNECTIONS],
        })
    }

    /// Set the device's registers to the ring.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        let [low, high] = self.ring.base();
        bar.write(registers::EVENT_BASE_LOW, low)?;
        bar.write(registers::EVENT_BASE_HIGH, high)?;
        bar.write(registers::EVENT_CONSUMER, 0)?;
        bar.write(registers::EVENT_ENTRIES_LOG2, self.ring.shape().slots_log2)
    }

    /// The ring's memory.
    pub(crate) fn buffer(&self) -> DmaBuffer {
        self.ring.buffer()
    }

    /// A connection begins. `written` is `EVENT_PRODUCER`, read after its context was written and
    /// before a segment could find it.
    pub(crate) fn begin(&mut self, connection: ConnectionId, written: u32) {
        // The device is at most a ring ahead.
        let ahead = written.wrapping_sub(self.consumed as u32);
        self.first[usize::from(connection.0)] = Some(self.consumed + u64::from(ahead));
    }

    /// A connection ends: what is still in the ring of it is passed over.
    pub(crate) fn end(&mut self, connection: ConnectionId) {
        if let Some(first) = self.first.get_mut(usize::from(connection.0)) {
            *first = None;
        }
    }

    /// The next event of an open connection, if there is one. It is in memory whether or not the
    /// device is still there.
    pub(crate) fn next(&mut self, bar: &mut impl Registers, dma: &impl Dma) -> Option<Event> {
        loop {
            let slot = self.ring.oldest(dma)?;
            let mut octets = [0; LAST_WORD_OFFSET];
            dma.read(slot.address, &mut octets);
            let mut words: Entry = [slot.last_word; EVENT_OCTETS / 4];
            for (word, octets) in words.iter_mut().zip(octets.chunks_exact(4)) {
                *word = u32::from_le_bytes(octets.try_into().expect("four octets"));
            }
            let number = self.consumed;
            self.consumed += 1;
            self.ring.consume();
            self.unreported += 1;
            if self.unreported >= (1 << self.ring.shape().slots_log2) / 4 {
                self.give_back(bar);
            }
            let event = Event::decode(&words);
            let first = self.first.get(usize::from(event.connection.0));
            if first
                .copied()
                .flatten()
                .is_some_and(|first| first <= number)
            {
                return Some(event);
            }
        }
    }

    /// Tell the device which slots are free.
    fn give_back(&mut self, bar: &mut impl Registers) {
        // The write comes after the reads of the slots (`Bar`). A device that is gone needs none.
        let _ = bar.write(registers::EVENT_CONSUMER, self.consumed as u32);
        self.unreported = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::memory::{Access, Memory};
    use crate::testing::Tables;

    /// A ring of two entries.
    fn ring() -> (EventRing, Tables, Memory) {
        let mut memory = Memory::new(1);
        let ring = EventRing::allocate(&mut memory, 1).expect("one allocation");
        (ring, Tables::default(), memory)
    }

    /// The doublewords of entry `number`, of `connection`, each with its address.
    fn writes(ring: &EventRing, number: u32, connection: u32) -> Vec<(u64, u32)> {
        let address = ring.buffer().address + u64::from(number & 1) * EVENT_OCTETS as u64;
        let phase = if number & 2 == 0 { PHASE } else { 0 };
        let words = [connection << 16 | 1, number, 2, 3, 4, 5, 0, phase | number];
        let words = words.into_iter().zip(0..);
        words.map(|(word, i)| (address + 4 * i, word)).collect()
    }

    fn put(ring: &EventRing, memory: &mut Memory, number: u32, connection: u32) {
        for (address, word) in writes(ring, number, connection) {
            memory.write(address, &word.to_le_bytes());
        }
    }

    /// The words of an entry become visible one by one while the driver polls.
    #[test]
    fn an_event_is_read_only_after_its_phase() {
        let (mut ring, mut bar, memory) = ring();
        ring.begin(ConnectionId(7), 0);
        for number in 0..7 {
            memory.pending.replace(writes(&ring, number, 7));
            memory.accesses.borrow_mut().clear();
            let (mut polls, mut found) = (0, None);
            while found.is_none() {
                polls += 1;
                found = ring.next(&mut bar, &memory);
            }
            assert_eq!(found.map(|event| event.rcv_nxt), Some(number));
            assert_eq!(polls, 8, "each poll sees one word more, the phase last");
            let address = writes(&ring, number, 7)[0].0;
            let phase = Access::Acquire(address + LAST_WORD_OFFSET as u64);
            let mut expected = vec![phase; 8];
            expected.push(Access::Read(address, LAST_WORD_OFFSET));
            assert_eq!(*memory.accesses.borrow(), expected, "entry {number}");
            assert_eq!(bar.registers[&registers::EVENT_CONSUMER], number + 1);
            assert_eq!(ring.next(&mut bar, &memory), None);
        }
    }

    /// Few register writes, and none is forgotten.
    #[test]
    fn slots_are_given_back_at_each_quarter_of_the_ring() {
        let mut memory = Memory::new(1);
        let mut ring = EventRing::allocate(&mut memory, 3).expect("one allocation");
        let mut bar = Tables::default();
        ring.begin(ConnectionId(7), 0);
        let base = ring.buffer().address;
        for number in 0..5u32 {
            let words = [7 << 16 | 1, number, 0, 0, 0, 0, 0, PHASE | number];
            for (word, i) in words.into_iter().zip(0..) {
                let address = base + u64::from(number) * EVENT_OCTETS as u64 + 4 * i;
                memory.write(address, &u32::to_le_bytes(word));
            }
        }
        let mut given_back = Vec::new();
        while ring.next(&mut bar, &memory).is_some() {
            given_back.push(bar.registers.get(&registers::EVENT_CONSUMER).copied());
        }
        assert_eq!(given_back, [None, Some(2), Some(2), Some(4), Some(4)]);
        assert_eq!((ring.next(&mut bar, &memory), bar.accesses), (None, 2));
    }

    #[test]
    fn events_of_an_earlier_connection_of_the_id_are_passed_over() {
        let (mut ring, mut bar, mut memory) = ring();
        put(&ring, &mut memory, 0, 7);
        assert_eq!(ring.next(&mut bar, &memory), None, "nobody has this id");
        ring.begin(ConnectionId(7), 1);
        put(&ring, &mut memory, 1, 7);
        assert!(ring.next(&mut bar, &memory).is_some());
        put(&ring, &mut memory, 2, 7);
        put(&ring, &mut memory, 3, 7);
        ring.end(ConnectionId(7));
        ring.begin(ConnectionId(7), 3);
        let event = ring
            .next(&mut bar, &memory)
            .expect("the second one is its own");
        assert_eq!(event.rcv_nxt, 3);
        assert_eq!(ring.next(&mut bar, &memory), None);
        assert_eq!(bar.registers[&registers::EVENT_CONSUMER], 4);
        // An entry of a connection that no device has.
        put(&ring, &mut memory, 4, 0xffff);
        assert_eq!(ring.next(&mut bar, &memory), None);
    }
}
