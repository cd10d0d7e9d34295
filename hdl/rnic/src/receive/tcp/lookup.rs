//! Connection lookup: exact match of a connection key in a three-way hash table.
//!
//! ```text
//! key -+-> [ hash ] --> slot of each way --> [ 3 ways: RAM, compare ] --> [ choose ] --> result
//!      +-> [ delay, 4 cycles ] ---------------^       ^
//! write, write_entry ---------------------------------+
//! ```
//!
//! | latency    | 7 cycles, `lookup` to `result_valid` (hash 2, RAM 2, compare 3)         |
//! | throughput | one key per cycle; results come in the order of the keys                |
//! | units      | `key` octet 0 in bits 7:0; `write_index` is `way << 9 \| slot`          |
//! | bound      | one read of one slot in each way decides: no probing, no chains         |
//!
//! A write goes in when no key is at the RAMs' address, so that no lookup meets half an entry; it
//! is stored at the end of the cycle after the one in which `written` is high.
use super::hash::{KeyHash, KEY_BITS};
use super::records::{LookupEntry, LookupResult};
use super::way::LookupWay;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Three-way lookup of the connection that a key belongs to.
#[derive(LogicBlock, Default)]
pub struct ConnectionLookup {
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets the lookups under way, not the table.
    pub reset: Signal<In, Bit>,
    /// `key` and `ipv6` are to be looked up.
    pub lookup: Signal<In, Bit>,
    /// The key is IPv6.
    pub ipv6: Signal<In, Bit>,
    /// The key, an octet string.
    pub key: Signal<In, Bits<KEY_BITS>>,
    /// `result` answers the key of seven cycles ago.
    pub result_valid: Signal<Out, Bit>,
    /// What was found.
    pub result: Signal<Out, LookupResult>,
    /// Store `write_entry`; holds until `written`, what is to be written one cycle longer.
    pub write: Signal<In, Bit>,
    /// `way << 9 | slot`.
    pub write_index: Signal<In, Bits<11>>,
    /// The new content of that slot.
    pub write_entry: Signal<In, LookupEntry>,
    /// The write is chosen: it is done before any key is looked up that is not yet at the RAMs.
    pub written: Signal<Out, Bit>,
    hash: KeyHash,
    ways: [LookupWay; 3],
    // Keys under way, one register for each cycle of hash and RAM.
    keys: [DFF<Bits<KEY_BITS>>; 4],
    families: [DFF<Bit>; 4],
    // Bit n: a lookup is n + 1 cycles old.
    ages: DFF<Bits<7>>,
    // The way is written in this cycle.
    way_writes: [DFF<Bit>; 3],
    found: DFF<LookupResult>,
    hash_value: Signal<Local, Bits<32>>,
    write_way: Signal<Local, Bits<2>>,
    write_slot: Signal<Local, Bits<9>>,
    write_now: Signal<Local, Bit>,
    hits: Signal<Local, Bits<3>>,
    ages_next: Signal<Local, Bits<7>>,
}

impl Logic for ConnectionLookup {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; ages, found);
        wire!(self => self.hash; clock, key);
        self.hash_value.next = self.hash.hash.val();

        // The key and the age of each lookup, step by step.
        for i in 0..4 {
            self.keys[i].clock.next = self.clock.val();
            self.families[i].clock.next = self.clock.val();
        }
        self.keys[0].d.next = self.key.val();
        self.families[0].d.next = self.ipv6.val();
        for i in 1..4 {
            self.keys[i].d.next = self.keys[i - 1].q.val();
            self.families[i].d.next = self.families[i - 1].q.val();
        }
        self.ages_next.next = self.ages.q.val() << 1;
        self.ages_next.next = self.ages_next.val().replace_bit(0, self.lookup.val());
        self.ages.d.next = self.ages_next.val();

        // Cycle 2: the hash gives one slot in each way. A write takes the RAMs in a cycle in which
        // no lookup does; it is chosen one cycle before.
        self.write_way.next = self.write_index.val().get_bits::<2>(9);
        self.write_slot.next = self.write_index.val().get_bits::<9>(0);
        self.write_now.next = self.write.val() & !self.ages.q.val().get_bit(0);
        self.written.next = self.write_now.val();
        for i in 0..3 {
            self.ways[i].clock.next = self.clock.val();
            self.way_writes[i].clock.next = self.clock.val();
            self.ways[i].write.next = self.way_writes[i].q.val();
            self.ways[i].write_slot.next = self.write_slot.val();
            self.ways[i].write_entry.next = self.write_entry.val();
            self.ways[i].key.next = self.keys[3].q.val();
            self.ways[i].ipv6.next = self.families[3].q.val();
        }
        self.way_writes[0].d.next = self.write_now.val() & (self.write_way.val() == 0);
        self.way_writes[1].d.next = self.write_now.val() & (self.write_way.val() == 1);
        self.way_writes[2].d.next = self.write_now.val() & (self.write_way.val() == 2);
        self.ways[0].slot.next = self.hash_value.val().get_bits::<9>(0);
        self.ways[1].slot.next = self.hash_value.val().get_bits::<9>(9);
        self.ways[2].slot.next = self.hash_value.val().get_bits::<9>(18);

        // Cycle 6: the connection of the way that hits.
        self.hits.next = 0.into();
        for i in 0..3 {
            self.hits.next = self.hits.val().replace_bit(i, self.ways[i].hit.val());
        }
        self.found.d.next.hit = self.hits.val().any();
        self.found.d.next.connection = self.ways[0].connection.val();
        if self.hits.val().get_bit(1) {
            self.found.d.next.connection = self.ways[1].connection.val();
        }
        if self.hits.val().get_bit(2) {
            self.found.d.next.connection = self.ways[2].connection.val();
        }
        self.result.next = self.found.q.val();
        self.result_valid.next = self.ages.q.val().get_bit(6);

        if self.reset.val() {
            self.ages.d.next = 0.into();
        }
    }
}
