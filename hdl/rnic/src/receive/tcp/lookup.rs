//! Connection lookup: exact match of a connection key in a three-way hash table.
//!
//! ```text
//! key -+-> [ hash ] --> slot of each way --> [ 3 ways: RAM, compare ] --> [ choose ] --> result
//!      +-> [ delay, 4 cycles ] ---------------^       ^
//! write, write_entry ---------------------------------+
//! ```
//!
//! | latency    | 7 cycles, `lookup` to `result_valid` (hash 2, RAM 2, compare 3)         |
//! | throughput | one key per cycle; results in the order of the keys                     |
//! | units      | `key` octet 0 in bits 7:0; `write_index` is `way << 9 \| slot`          |
//! | bound      | one read of one slot in each way decides: no probing, no chains         |
use super::hash::{KeyHash, KEY_BITS};
use crate::common::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// One slot of the connection lookup: an entry of table `LOOKUP`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LookupEntry {
    /// The slot is in use.
    pub valid: Bit,
    /// The key is IPv6.
    pub ipv6: Bit,
    /// The connection that the key belongs to.
    pub connection: Bits<10>,
    /// [`ConnectionKey`](crate::messages::ConnectionKey) as one octet string.
    pub key: Bits<KEY_BITS>,
}

/// Result of a lookup.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LookupResult {
    /// A connection has this key.
    pub hit: Bit,
    /// That connection; undefined without a hit.
    pub connection: Bits<10>,
}

/// The three ways and their hash.
///
/// A write is stored in a cycle in which no key is at the RAMs' address, so that no lookup reads
/// half an entry: at the end of the cycle after the one in which `written` is high.
#[derive(LogicBlock, Default)]
pub struct ConnectionLookup {
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards the lookups in flight, and writes `write_entry` to its slot of all
    /// ways in each cycle.
    pub reset: Signal<In, Bit>,
    /// Looks up `key` and `ipv6`.
    pub lookup: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    pub key: Signal<In, Bits<KEY_BITS>>,
    /// `result` is that of the key of seven cycles ago.
    pub result_valid: Signal<Out, Bit>,
    pub result: Signal<Out, LookupResult>,
    /// Stores `write_entry`; stable until `written`, index and entry for one cycle longer.
    pub write: Signal<In, Bit>,
    /// `way << 9 | slot`.
    pub write_index: Signal<In, Bits<11>>,
    pub write_entry: Signal<In, LookupEntry>,
    /// The write precedes the lookup of any key that is not yet at the RAMs.
    pub written: Signal<Out, Bit>,
    hash: KeyHash,
    ways: [LookupWay; 3],
    // Keys in flight, one register for each cycle of hash and RAM.
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

        // Key and age of each lookup.
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

        // Cycle 2: the hash gives one slot in each way. A write uses a cycle without lookup; this
        // is decided one cycle ahead.
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

        // Cycle 6: the connection of the way that hits; the driver enters a key only once.
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
            for i in 0..3 {
                self.way_writes[i].d.next = true;
            }
        }
    }
}

/// Parts in which a key is compared, 16 bits each.
const PIECES: usize = KEY_BITS / 16;
/// The parts, and `valid` with `ipv6`.
const COMPARES: usize = PIECES + 1;

/// One way: 512 slots, one of which is read and compared.
///
/// ```text
/// slot --> [ RAM ] --> 18 compares of 16 bits, one of the family --> [ AND ] --> hit, connection
///  cycle 0   1, 2                     3                                 4
/// ```
///
/// | latency    | 4 cycles, `slot` to `hit`; `key` and `ipv6` are sampled 2 cycles after `slot` |
/// | throughput | one slot per cycle; a slot must not be written while it is read               |
#[derive(LogicBlock, Default)]
pub struct LookupWay {
    pub clock: Signal<In, Clock>,
    pub write: Signal<In, Bit>,
    pub write_slot: Signal<In, Bits<9>>,
    pub write_entry: Signal<In, LookupEntry>,
    pub slot: Signal<In, Bits<9>>,
    /// The key to compare with the slot of two cycles ago.
    pub key: Signal<In, Bits<KEY_BITS>>,
    pub ipv6: Signal<In, Bit>,
    /// The slot of four cycles ago has the key of two cycles ago.
    pub hit: Signal<Out, Bit>,
    pub connection: Signal<Out, Bits<10>>,
    slots: SdpRam<LookupEntry, 9>,
    // Equal parts; the last bit: valid, and the same IP version.
    agreement: DFF<Bits<COMPARES>>,
    compared_connection: DFF<Bits<10>>,
    all_agree: DFF<Bit>,
    hit_connection: DFF<Bits<10>>,
    stored: Signal<Local, Bits<KEY_BITS>>,
    wanted: Signal<Local, Bits<KEY_BITS>>,
    agreeing: Signal<Local, Bits<COMPARES>>,
}

impl Logic for LookupWay {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; agreement, compared_connection, all_agree, hit_connection);
        wire!(self => self.slots;
            clock, write as write_enable, write_slot as write_address, write_entry as write_data,
            slot as read_address);

        self.stored.next = self.slots.read_data.val().key;
        self.wanted.next = self.key.val();
        self.agreeing.next = 0.into();
        for i in 0..PIECES {
            self.agreeing.next = self.agreeing.val().replace_bit(
                i,
                self.stored.val().get_bits::<16>(i * 16)
                    == self.wanted.val().get_bits::<16>(i * 16),
            );
        }
        for i in PIECES..COMPARES {
            self.agreeing.next = self.agreeing.val().replace_bit(
                i,
                self.slots.read_data.val().valid
                    & (self.slots.read_data.val().ipv6 == self.ipv6.val()),
            );
        }
        self.agreement.d.next = self.agreeing.val();
        self.compared_connection.d.next = self.slots.read_data.val().connection;

        self.all_agree.d.next = self.agreement.q.val().all();
        self.hit_connection.d.next = self.compared_connection.q.val();
        self.hit.next = self.all_agree.q.val();
        self.connection.next = self.hit_connection.q.val();
    }
}
