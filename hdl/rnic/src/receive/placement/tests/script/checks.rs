//! The check of every event: answers of registers, writes of payload, entries and slots, counters.
use super::{offset_of, Script, COUNTERS, CQ_BASES, RING_BASE};
use crate::receive::placement::tests::host::Access;
use rnic_abi::{cqe, host_ring, registers as map};

impl Script {
    /// A register answered with `value`.
    pub(super) fn answered(&mut self, offset: u32, value: u32) {
        match offset {
            map::HOST_RING_PRODUCER => assert!(value as usize <= self.slots.len()),
            map::FREE_PAGES => assert_eq!(value, 77),
            map::HOST_RING_SLOTS_LOG2 => {
                assert_eq!(value, self.settings.ring_slots_log2)
            }
            map::TABLE_COMMAND if value == map::TABLE_BUSY => {
                self.host
                    .accesses
                    .push_back(Access::Read(map::TABLE_COMMAND));
            }
            map::TABLE_COMMAND => {
                assert_eq!(value, 0);
                self.polling = false;
                if let Some(due) = self.fence_due.take() {
                    assert!(
                        self.payload_written >= due,
                        "not busy, but only {} of {due} octets have come",
                        self.payload_written
                    );
                }
            }
            _ => {
                self.counters.insert(offset, value);
            }
        }
    }

    /// A TLP wrote `octets` octets: payload, an entry of the queue, or a slot of the ring.
    pub(super) fn written(&mut self, address: u64, octets: usize) {
        let queue_octets = (cqe::CQE_OCTETS as u64) << self.settings.cq_entries_log2;
        let in_queue = |base: &u64| (*base..base + queue_octets).contains(&address);
        let ring_octets = 1u64 << (self.settings.ring_slots_log2 + self.settings.slot_octets_log2);
        if let Some(queue) = CQ_BASES.iter().position(in_queue) {
            self.entry(queue, address, octets);
        } else if (RING_BASE..RING_BASE + ring_octets).contains(&address) {
            let offset = (address - RING_BASE) % (1 << self.settings.slot_octets_log2);
            if offset < host_ring::SLOT_HEADER_OCTETS as u64 {
                assert_eq!((offset, octets), (0, host_ring::SLOT_HEADER_OCTETS));
                self.slot(address);
            }
        } else {
            self.payload_written += octets as u64;
            for at in address..address + octets as u64 {
                assert!(
                    self.expected.contains_key(&at),
                    "octet {at:#x} was not to be written"
                );
            }
        }
    }

    fn entry(&mut self, queue: usize, address: u64, octets: usize) {
        let entries = 1u32 << self.settings.cq_entries_log2;
        let base = CQ_BASES[queue];
        let queue = &mut self.queues[queue];
        let number = queue.seen;
        assert_eq!(octets, cqe::CQE_OCTETS);
        assert_eq!(address, base + 32 * u64::from(number % entries));
        let (words, due) = queue.entries[number as usize];
        assert!(self.payload_written >= due, "entry before its payload");
        assert_eq!(self.host.words(address, octets), words);
        queue.seen += 1;
    }

    fn slot(&mut self, address: u64) {
        let slots = 1u32 << self.settings.ring_slots_log2;
        let number = self.slots.len() as u32;
        let slot = RING_BASE + (u64::from(number % slots) << self.settings.slot_octets_log2);
        assert_eq!(address, slot);
        assert!(
            number - self.slots_consumed < slots,
            "a slot is overwritten"
        );
        let read = self.host.words(address, 16);
        let phase = if number / slots % 2 == 0 {
            host_ring::PHASE
        } else {
            0
        };
        assert_eq!(read[1..], [0, 0, number | phase]);
        // Frames before this one that did not come were dropped.
        let id = self.host.words(slot + 16, 4)[0] as usize;
        assert!(
            id >= self.frame_next && id < self.frames.len(),
            "frame {id}"
        );
        self.frame_next = id + 1;
        assert_eq!(read[0] as usize, self.frames[id].octets.len());
        assert!(read[0] + 16 <= 1 << self.settings.slot_octets_log2);
        self.slots.push(id);
        self.check_slot(number);
    }

    /// Slot `number` holds its frame whole.
    pub(super) fn check_slot(&self, number: u32) {
        let index = u64::from(number) % (1 << self.settings.ring_slots_log2);
        let slot = RING_BASE + (index << self.settings.slot_octets_log2);
        let frame = &self.frames[self.slots[number as usize]].octets;
        assert_eq!(
            &self.host.read(slot + 16, frame.len()),
            frame,
            "slot {number}"
        );
    }

    /// The last checks of a finished run.
    pub fn conclude(&self) {
        assert!(self.finished());
        assert_eq!(self.seen(), self.due(), "entries");
        assert_eq!(self.pages_seen, self.frames.len(), "page chains");
        assert_eq!(self.payload_written, self.payload_due, "payload octets");
        for (address, octet) in &self.expected {
            assert_eq!(
                self.host.memory.get(address),
                Some(octet),
                "octet {address:#x}"
            );
        }
        let counted = COUNTERS.map(|counter| self.counters[&offset_of(counter)] as usize);
        let slot_octets = 1usize << self.settings.slot_octets_log2;
        let too_long = self
            .frames
            .iter()
            .filter(|frame| frame.octets.len() + 16 > slot_octets)
            .count();
        let full = self.frames.len() - too_long - self.slots.len();
        assert_eq!(
            counted,
            [self.slots.len(), full, too_long, self.due()],
            "counters"
        );
    }
}
