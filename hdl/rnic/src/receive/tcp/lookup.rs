//! Connection lookup: exact match of a connection key in a three-way hash table.
//!
//! ```text
//! hash ---> slot of each way --> [ 3 ways: RAM, compare ] --> candidates --> [ one by one ]
//! key -+-> fingerprint ---------------------^                                     |
//!      |                                              [ rests of keys: RAM ] <----+ connection
//!      |                                                       v                  v
//!      +-> rest --> [ register ] --------------------------> [ compare ] ----> result
//! ```
//!
//! A way holds 24 bits of each key, the *fingerprint*; the rest of a connection's key stands once,
//! at its connection. A way whose slot has the fingerprint names a candidate. Candidates are
//! compared in turn, so every bit of a key counts, whatever keys a peer chooses: all it can do is
//! make a lookup take two cycles more. [`KeyHash`](crate::receive::packet::key_hash) is computed
//! while the frame is queued.
//!
//! | latency    | 7 cycles, `lookup` to `result_valid` (RAM 2, compare 1, RAM 2, compare  |
//! |            | 2); 1 more for each candidate compared after the first                  |
//! | throughput | one key per 3 cycles, 4 with two candidates, 5 with three; results in   |
//! |            | the order of the keys                                                   |
//! | units      | `key` octet 0 in bits 7:0; `write_index` is `way << 9 \| slot`          |
//! | bound      | one read of one slot in each way decides: no probing, no chains         |
use crate::common::build::sizes;
use crate::common::ram::SdpRam;
use crate::messages::{KEY_BITS, KEY_HASH_BITS};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// An entry of table `LOOKUP`, as the driver writes it.
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

/// The octets of a key that differ most from peer to peer.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Fingerprint {
    /// Last octet of the remote address.
    pub remote_host: Bits<8>,
    /// As the key has it.
    pub remote_port: Bits<16>,
}

/// The octets of a key that are not in its fingerprint.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeyRest {
    /// The remote address without its last octet.
    pub remote_network: Bits<120>,
    /// As the key has it.
    pub local_address: Bits<128>,
    /// As the key has it.
    pub local_port: Bits<16>,
}

/// Bits of a [`KeyRest`].
const REST_BITS: usize = 264;
/// Pieces of 24 bits of a [`KeyRest`], each compared by itself.
const PIECES: usize = REST_BITS / 24;

/// A candidate that is read and compared; a key without one makes one empty try.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct Try {
    /// There is a candidate.
    candidate: Bit,
    /// The key has no other one.
    last: Bit,
    connection: Bits<10>,
}

/// The three ways, and the rests of the keys.
///
/// An entry is stored in the cycle of `written`. No result depends on what either memory shows for
/// that cycle, so no lookup meets half an entry; a key that waits is looked up anew.
#[derive(LogicBlock, Init)]
pub struct ConnectionLookup {
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards the lookups in flight, and writes `write_entry`, which is not valid,
    /// to its slot of all ways in each cycle.
    pub reset: Signal<In, Bit>,
    /// Looks up `key` and `ipv6`; all four stay until `ready`, or are withdrawn.
    pub lookup: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    pub key: Signal<In, Bits<KEY_BITS>>,
    /// Of `key`: a slot number for each way (`rnic_abi::tables::hash_slot`).
    pub hash: Signal<In, Bits<KEY_HASH_BITS>>,
    /// With `lookup`: the key is taken, its candidates are known.
    pub ready: Signal<Out, Bit>,
    /// `result` is that of the oldest key without one.
    pub result_valid: Signal<Out, Bit>,
    pub result: Signal<Out, LookupResult>,
    /// Stores `write_entry`; stable until `written`.
    pub write: Signal<In, Bit>,
    /// `way << 9 | slot`.
    pub write_index: Signal<In, Bits<11>>,
    pub write_entry: Signal<In, LookupEntry>,
    /// The write precedes the lookup of any key that is not yet taken.
    pub written: Signal<Out, Bit>,
    ways: [LookupWay; 3],
    #[init(SdpRam::of_words(sizes().connections()))]
    rests: SdpRam<KeyRest, 10>,
    // Cycles that `key` has been at the ways, up to 2: then they show its slots.
    age: DFF<Bits<2>>,
    // The entry is being stored: in a way, and its rest.
    storing: DFF<Bit>,
    way_writes: [DFF<Bit>; 3],
    rest_write: DFF<Bit>,
    // The key taken last: what its candidates are compared with.
    wanted: DFF<KeyRest>,
    // In use, or read: `wanted` stays.
    holds: DFF<Bit>,
    // Its candidates not yet tried, bit n that of way n.
    trying: DFF<Bit>,
    candidates: DFF<Bits<3>>,
    connections: [DFF<Bits<10>>; 3],
    // Tries, by what the memory and the compares show of them.
    addressed: DFF<Try>,
    fetched: DFF<Try>,
    compared: DFF<Try>,
    decided: DFF<Try>,
    agreement: DFF<Bits<PIECES>>,
    all_agree: DFF<Bit>,
    // The hit among the candidates tried so far.
    found: DFF<LookupResult>,
    write_way: Signal<Local, Bits<2>>,
    write_slot: Signal<Local, Bits<9>>,
    write_now: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    fingerprint: Signal<Local, Fingerprint>,
    entry_key: Signal<Local, Bits<KEY_BITS>>,
    entry_fingerprint: Signal<Local, Fingerprint>,
    entry_slot: Signal<Local, LookupSlot>,
    entry_rest: Signal<Local, KeyRest>,
    matching: Signal<Local, Bits<3>>,
    others: Signal<Local, Bits<3>>,
    attempt: Signal<Local, Try>,
    stored: Signal<Local, Bits<REST_BITS>>,
    expected: Signal<Local, Bits<REST_BITS>>,
    agreeing: Signal<Local, Bits<PIECES>>,
    ending: Signal<Local, Try>,
    hit: Signal<Local, Bit>,
    #[constant(1)]
    one_cycle: Constant<Bits<2>>,
    #[constant(1)]
    lowest: Constant<Bits<3>>,
}

impl Logic for ConnectionLookup {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; age, storing, rest_write, wanted, holds, trying, candidates, agreement);
        registers!(clock; all_agree, found, addressed, fetched, compared, decided);
        wire!(self => self.rests; clock);

        // Cycles 0 to 2: a key stays at the ways until they show its slots.
        self.fingerprint.next.remote_host = self.key.val().get_bits::<8>(120);
        self.fingerprint.next.remote_port = self.key.val().get_bits::<16>(256);
        self.ready.next = self.age.q.val().get_bit(1) & !self.holds.q.val();
        self.take.next = self.lookup.val() & self.age.q.val().get_bit(1) & !self.holds.q.val();

        // Writes, in a cycle in which no candidate's rest is read.
        self.write_way.next = self.write_index.val().get_bits::<2>(9);
        self.write_slot.next = self.write_index.val().get_bits::<9>(0);
        self.write_now.next =
            self.write.val() & !self.storing.q.val() & !self.take.val() & !self.trying.q.val();
        self.written.next = self.storing.q.val();
        self.storing.d.next = self.write_now.val();
        self.entry_key.next = self.write_entry.val().key;
        self.entry_slot.next.valid = self.write_entry.val().valid;
        self.entry_slot.next.ipv6 = self.write_entry.val().ipv6;
        self.entry_slot.next.connection = self.write_entry.val().connection;
        self.entry_fingerprint.next.remote_host = self.entry_key.val().get_bits::<8>(120);
        self.entry_fingerprint.next.remote_port = self.entry_key.val().get_bits::<16>(256);
        self.entry_slot.next.fingerprint = self.entry_fingerprint.val();
        for i in 0..3 {
            self.ways[i].clock.next = self.clock.val();
            self.way_writes[i].clock.next = self.clock.val();
            self.ways[i].write.next = self.way_writes[i].q.val();
            self.ways[i].write_slot.next = self.write_slot.val();
            self.ways[i].write_entry.next = self.entry_slot.val();
            self.ways[i].fingerprint.next = self.fingerprint.val();
            self.ways[i].ipv6.next = self.ipv6.val();
        }
        self.way_writes[0].d.next = self.write_now.val() & (self.write_way.val() == 0);
        self.way_writes[1].d.next = self.write_now.val() & (self.write_way.val() == 1);
        self.way_writes[2].d.next = self.write_now.val() & (self.write_way.val() == 2);
        self.ways[0].slot.next = self.hash.val().get_bits::<9>(0);
        self.ways[1].slot.next = self.hash.val().get_bits::<9>(9);
        self.ways[2].slot.next = self.hash.val().get_bits::<9>(18);
        // An entry that is taken out names a connection whose key may stand elsewhere by now.
        self.rest_write.d.next = self.write_now.val() & self.write_entry.val().valid;
        self.rests.write_enable.next = self.rest_write.q.val();
        self.rests.write_address.next = self.write_entry.val().connection;
        self.entry_rest.next.remote_network = self.entry_key.val().get_bits::<120>(0);
        self.entry_rest.next.local_address = self.entry_key.val().get_bits::<128>(128);
        self.entry_rest.next.local_port = self.entry_key.val().get_bits::<16>(272);
        self.rests.write_data.next = self.entry_rest.val();

        // Cycles at the ways; a write restarts them.
        if !self.age.q.val().get_bit(1) {
            self.age.d.next = self.age.q.val() + self.one_cycle.val();
        }
        if !self.lookup.val() | self.take.val() | self.write_now.val() | self.storing.q.val() {
            self.age.d.next = 0.into();
        }

        // Cycle 3: the candidates, one a cycle. While none is under way, whatever is at the ways is
        // loaded: an enable straight from a register.
        self.holds.d.next = self.take.val() | self.trying.q.val();
        self.matching.next = 0.into();
        for i in 0..3 {
            self.connections[i].clock.next = self.clock.val();
            self.connections[i].d.next = self.connections[i].q.val();
            self.matching.next = self
                .matching
                .val()
                .replace_bit(i, self.ways[i].matching.val());
        }
        self.others.next = self.candidates.q.val() & (self.candidates.q.val() - self.lowest.val());
        self.candidates.d.next = self.others.val();
        if !self.holds.q.val() {
            self.candidates.d.next = self.matching.val();
            self.wanted.d.next.remote_network = self.key.val().get_bits::<120>(0);
            self.wanted.d.next.local_address = self.key.val().get_bits::<128>(128);
            self.wanted.d.next.local_port = self.key.val().get_bits::<16>(272);
            for i in 0..3 {
                self.connections[i].d.next = self.ways[i].connection.val();
            }
        }
        self.attempt.next.candidate = self.trying.q.val() & self.candidates.q.val().any();
        self.attempt.next.last = self.trying.q.val() & !self.others.val().any();
        self.attempt.next.connection = self.connections[2].q.val();
        if self.candidates.q.val().get_bit(1) {
            self.attempt.next.connection = self.connections[1].q.val();
        }
        if self.candidates.q.val().get_bit(0) {
            self.attempt.next.connection = self.connections[0].q.val();
        }
        self.trying.d.next = self.take.val() | (self.trying.q.val() & self.others.val().any());
        self.rests.read_address.next = self.attempt.val().connection;

        // Cycles 5 to 7: its rest is there, and compared.
        self.addressed.d.next = self.attempt.val();
        self.fetched.d.next = self.addressed.q.val();
        self.compared.d.next = self.fetched.q.val();
        self.decided.d.next = self.compared.q.val();
        self.stored.next = self.rests.read_data.val().into();
        self.expected.next = self.wanted.q.val().into();
        self.agreeing.next = 0.into();
        for i in 0..PIECES {
            self.agreeing.next = self.agreeing.val().replace_bit(
                i,
                self.stored.val().get_bits::<24>(i * 24)
                    == self.expected.val().get_bits::<24>(i * 24),
            );
        }
        self.agreement.d.next = self.agreeing.val();
        self.all_agree.d.next = self.agreement.q.val().all();

        // The hit of any candidate; the driver enters a key only once.
        self.ending.next = self.decided.q.val();
        self.hit.next = self.ending.val().candidate & self.all_agree.q.val();
        self.result.next = self.found.q.val();
        if self.hit.val() {
            self.result.next.hit = true;
            self.result.next.connection = self.ending.val().connection;
        }
        self.found.d.next = self.result.val();
        self.result_valid.next = self.ending.val().last;
        if self.ending.val().last {
            self.found.d.next.hit = false;
        }

        if self.reset.val() {
            self.age.d.next = 0.into();
            self.trying.d.next = false;
            self.holds.d.next = false;
            self.found.d.next.hit = false;
            self.addressed.d.next.candidate = false;
            self.addressed.d.next.last = false;
            self.fetched.d.next.candidate = false;
            self.fetched.d.next.last = false;
            self.compared.d.next.candidate = false;
            self.compared.d.next.last = false;
            self.decided.d.next.candidate = false;
            self.decided.d.next.last = false;
            for i in 0..3 {
                self.way_writes[i].d.next = true;
            }
        }
    }
}

/// One slot of a way.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LookupSlot {
    /// It is in use.
    pub valid: Bit,
    /// Its key is IPv6.
    pub ipv6: Bit,
    /// The connection that has the rest of its key.
    pub connection: Bits<10>,
    /// What the way compares.
    pub fingerprint: Fingerprint,
}

/// One way: 512 slots, one of which is read and compared.
///
/// | latency    | 2 cycles, `slot` to `matching`                                  |
/// | throughput | one slot per cycle; a slot must not be written while it is read |
#[derive(LogicBlock, Default)]
pub struct LookupWay {
    pub clock: Signal<In, Clock>,
    pub write: Signal<In, Bit>,
    pub write_slot: Signal<In, Bits<9>>,
    pub write_entry: Signal<In, LookupSlot>,
    pub slot: Signal<In, Bits<9>>,
    /// To compare with the slot of two cycles ago.
    pub fingerprint: Signal<In, Fingerprint>,
    pub ipv6: Signal<In, Bit>,
    /// That slot has a key of this IP version and fingerprint.
    pub matching: Signal<Out, Bit>,
    pub connection: Signal<Out, Bits<10>>,
    slots: SdpRam<LookupSlot, 9>,
    read: Signal<Local, LookupSlot>,
}

impl Logic for LookupWay {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.slots;
            clock, write as write_enable, write_slot as write_address, write_entry as write_data,
            slot as read_address);
        self.read.next = self.slots.read_data.val();
        self.matching.next = self.read.val().valid
            & (self.read.val().ipv6 == self.ipv6.val())
            & (self.read.val().fingerprint == self.fingerprint.val());
        self.connection.next = self.read.val().connection;
    }
}
