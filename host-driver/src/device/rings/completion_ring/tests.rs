use super::*;
use crate::device::access::PresentBar;
use crate::testing::memory::{Access, Memory};
use crate::testing::Tables;
use rnic_abi::cqe::PHASE;

/// Queue 7, of two entries.
fn queue() -> (CompletionRing, Tables, Memory) {
    let mut memory = Memory::new(1);
    let ring = CompletionRing::allocate(&mut memory, QueueId(7), 1).expect("one allocation");
    (ring, Tables::default(), memory)
}

/// Entry `number` of a queue of two; word 1 is `mark`.
fn entry(number: u32, mark: u32) -> Entry {
    let phase = if number & 2 == 0 { PHASE } else { 0 };
    [5 << 16, mark, 0x10, 0x20, 0x30, 0, 0, phase | number]
}

/// The doublewords of entry `number`, each with its address.
fn writes(ring: &CompletionRing, number: u32, words: &Entry) -> Vec<(u64, u32)> {
    let address = ring.buffer().address + u64::from(number & 1) * CQE_OCTETS as u64;
    let words = words.iter().zip(0..);
    words.map(|(&word, i)| (address + 4 * i, word)).collect()
}

/// The words of an entry become visible one by one while the driver polls. A driver that reads the
/// other words before the phase gets old ones.
#[test]
fn an_entry_is_read_only_after_its_phase() {
    let (mut ring, mut bar, memory) = queue();
    for number in 0..7 {
        let words = entry(number, 0x100 + number);
        memory.pending.replace(writes(&ring, number, &words));
        memory.accesses.borrow_mut().clear();
        let (mut polls, mut found) = (0, None);
        while found.is_none() {
            polls += 1;
            found = ring.next(&mut bar, &memory, 0);
        }
        assert_eq!(found, Some(words));
        assert_eq!(polls, 8, "each poll sees one word more, the phase last");
        let address = writes(&ring, number, &words)[0].0;
        let phase = Access::Acquire(address + LAST_WORD_OFFSET as u64);
        let mut expected = vec![phase; 8];
        expected.push(Access::Read(address, LAST_WORD_OFFSET));
        assert_eq!(*memory.accesses.borrow(), expected, "entry {number}");
        let next = ring.next(&mut bar, &memory, 0);
        assert_eq!(next, None, "the next slot is of the previous pass");
    }
}

/// A device that writes the next entry in a slot as soon as it may.
struct Eager<'a> {
    memory: &'a Memory,
    slot: u64,
}

impl Registers for Eager<'_> {
    fn read(&mut self, _: u32) -> Result<u32, DriverError> {
        Ok(0)
    }

    fn write(&mut self, offset: u32, _: u32) -> Result<(), DriverError> {
        assert_eq!(offset, registers::cq_register(7, registers::CQ_CONSUMER));
        self.memory.fill(self.slot, CQE_OCTETS, 0xee);
        Ok(())
    }
}

#[test]
fn a_slot_is_given_back_after_it_has_been_read() {
    let (mut ring, _, mut memory) = queue();
    let words = entry(0, 0x77);
    for (address, word) in writes(&ring, 0, &words) {
        memory.write(address, &word.to_le_bytes());
    }
    let slot = ring.buffer().address;
    let mut bar = Eager {
        memory: &memory,
        slot,
    };
    assert_eq!(ring.next(&mut bar, &memory, 0), Some(words));
}

/// Completions that a device has written before it was gone are not lost.
#[test]
fn entries_in_memory_are_polled_when_the_device_is_gone() {
    let (mut ring, tables, mut memory) = queue();
    let mut bar = PresentBar::new(tables);
    bar.double().gone_after = Some(0);
    assert_eq!(ring.unpolled(&mut bar), Err(DriverError::Gone));
    let entries = [entry(0, 0xa), entry(1, 0xb)];
    for (number, words) in (0..).zip(&entries) {
        for (address, word) in writes(&ring, number, words) {
            memory.write(address, &word.to_le_bytes());
        }
    }
    let accesses = bar.double().accesses;
    for words in entries {
        assert_eq!(ring.next(&mut bar, &memory, 0), Some(words));
    }
    assert_eq!(ring.next(&mut bar, &memory, 0), None);
    assert_eq!(bar.double().accesses, accesses);
}
