//! What runs out when reads fail: the room for frames that were given up, and tags.

use super::{Hit, Spoiled, NOWHERE, SETTLED_CYCLES, SLOW_CYCLES};
use rand::seq::IndexedRandom;
use rnic_abi::counters::Counter;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_driver::{DmaBuffer, Piece, TransmitResult, TransmitRing, Transmitted};

/// More frames than the device has room for.
const LOST_FRAMES: u64 = 12;
/// Tags that a device has at most.
const TAGS_MAX: u32 = 256;
/// Cycles beside the time-out itself until a read has begun, and has been given up.
const MARGIN_CYCLES: usize = 300;

impl Spoiled {
    /// Frames of no memory, together longer than the room for frames, and one of memory after them.
    pub(super) fn lose_long_frames(&mut self) {
        let ring = *TransmitRing::ALL.choose(&mut self.random).expect("two");
        let half = MAX_FRAME_OCTETS / 2;
        let first = DmaBuffer {
            address: self.memory.address,
            octets: half,
        };
        let nowhere = DmaBuffer {
            address: NOWHERE,
            octets: half,
        };
        for cookie in 0..LOST_FRAMES {
            let pieces = [Piece::Memory(first), Piece::Memory(nowhere)];
            self.send(cookie, ring, &pieces);
            self.simulation.borrow_mut().run(SETTLED_CYCLES / 2);
            let expected = Transmitted {
                ring,
                cookie,
                result: TransmitResult::ReadFailed,
            };
            let results = self.results();
            if results != [expected] {
                self.differ(format!("long frame {cookie} of no memory: {results:?}"));
                return;
            }
        }
        self.totals.unreadable += LOST_FRAMES;
        self.count(Counter::TxFailed, LOST_FRAMES as u32);
        let reads = half.div_ceil(self.max_read_octets) as u32;
        self.count(Counter::ReadUnsupported, LOST_FRAMES as u32 * reads);
        let given = self.draw(1);
        self.send(0, given[0].ring, &[Piece::Memory(given[0].piece)]);
        self.simulation.borrow_mut().run(SETTLED_CYCLES);
        let results = self.results();
        self.check_round("after frames of no memory", &given, Hit::Nothing, &results);
    }

    /// The host answers after the time-out, so that each read of units takes a tag out of use; when
    /// there is none left reads are refused, until completions come.
    pub(super) fn starve(&mut self) {
        let mut given = self.draw(1).remove(0);
        given.ring = TransmitRing::Bulk;
        let piece = [Piece::Memory(given.piece)];
        let count = |spoiled: &mut Self, counter| {
            let found = spoiled.device.counter(counter);
            found.expect("the device is there")
        };
        // A microsecond for the read or for the tag that it waits for in vain, begun before.
        let microsecond = self.simulation.borrow().tick_cycles() as usize;
        let given_up_cycles = 2 * microsecond + MARGIN_CYCLES;
        let mut attempts = 0;
        while count(self, Counter::ReadRefused) == 0 && attempts <= TAGS_MAX {
            self.send(0, given.ring, &piece);
            self.simulation.borrow_mut().run(given_up_cycles);
            if let Err(error) = self.device.restart_transmit(given.ring) {
                self.differ(format!("read {attempts} of a slow host: {error}"));
                return;
            }
            self.results();
            attempts += 1;
        }
        let timed_out = count(self, Counter::ReadTimedOut);
        let refused = count(self, Counter::ReadRefused);
        if (timed_out, refused) != (attempts - 1, 1) {
            self.differ(format!(
                "{attempts} reads of a slow host: {timed_out} timed out, {refused} refused"
            ));
        }
        // All of them come: tags are free again, and none of what they bring is used.
        self.simulation.borrow_mut().run(SLOW_CYCLES as usize);
        let late = count(self, Counter::ReadLate);
        if late < timed_out {
            self.differ(format!("{late} late completions of {timed_out} reads"));
        }
        self.send(0, given.ring, &piece);
        self.simulation.borrow_mut().run(given_up_cycles);
        let timed_out = count(self, Counter::ReadTimedOut);
        if timed_out != attempts || !self.sent().is_empty() {
            self.differ(format!(
                "{timed_out} reads timed out, of {attempts} with a tag"
            ));
        }
        *self.totals.spoiled.entry("tags that starve").or_default() += 1;
    }
}
