//! The lookup against a `HashMap`, with inserts and removes between the keys.
use super::keys::Key;
use crate::messages::KEY_HASH_BITS;
use crate::receive::tcp::lookup::ConnectionLookup;
use crate::receive::tcp::lookup::LookupEntry;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};

/// Slots of each way that the keys of these tests have.
const SLOTS: usize = 16;
/// Bits of the key in its fingerprint: the last octet of the remote address, the remote port.
const FINGERPRINT_BITS: [std::ops::Range<usize>; 2] = [120..128, 256..272];

/// Slots of a key in the three ways, of a few, so that many keys meet.
fn slots(key: &Key) -> [usize; 3] {
    let sum = crc32c::crc32c(&key.octets) as usize;
    [sum, sum / SLOTS, sum / SLOTS / SLOTS].map(|number| number % SLOTS)
}

fn hash(key: &Key) -> Bits<KEY_HASH_BITS> {
    let [first, second, third] = slots(key).map(|slot| slot as u64);
    (first | second << 9 | third << 18).into()
}

fn same_fingerprint(mut key: Key, as_of: &Key) -> Key {
    for bits in FINGERPRINT_BITS {
        let octets = bits.start / 8..bits.end / 8;
        key.octets[octets.clone()].copy_from_slice(&as_of.octets[octets]);
    }
    key.ipv6 = as_of.ipv6;
    key
}

/// The table as software sees it, and the keys in flight.
#[derive(Default)]
struct Model {
    pool: Vec<Key>,
    connections: HashMap<Key, u64>,
    taken: HashMap<usize, Key>,
    /// The pending write: index, key, and the connection to insert.
    write: Option<(usize, Key, Option<u64>)>,
    /// The key that waits.
    asked: Option<Key>,
    /// Expected results, decided as the keys are taken.
    answers: VecDeque<Option<u64>>,
    hits: usize,
    misses: usize,
}

impl Model {
    fn start_write(&mut self, random: &mut Random) {
        let key = self.pool[random.below(self.pool.len() as u64) as usize];
        let indices = (0..).zip(slots(&key)).map(|(way, slot)| way << 9 | slot);
        let mut own = indices.clone().filter(|i| self.taken.get(i) == Some(&key));
        let mut free = indices.filter(|index| !self.taken.contains_key(index));
        // The driver gives a connection to one key at a time.
        let used = |number: &u64| self.connections.values().any(|other| other == number);
        let connection = random.below(1024);
        self.write = if self.connections.contains_key(&key) {
            own.next().map(|index| (index, key, None))
        } else if used(&connection) {
            None
        } else {
            free.next().map(|index| (index, key, Some(connection)))
        };
    }

    fn finish_write(&mut self) {
        let (index, key, connection) = self.write.take().expect("a write is pending");
        match connection {
            Some(connection) => {
                self.connections.insert(key, connection);
                self.taken.insert(index, key);
            }
            None => {
                self.connections.remove(&key);
                self.taken.remove(&index);
            }
        }
    }

    /// A key of the pool, or one that differs from it in one bit.
    fn ask(&mut self, random: &mut Random) -> Key {
        let known = self.pool[random.below(self.pool.len() as u64) as usize];
        match random.below(4) {
            0 => known.changed(random),
            _ => known,
        }
    }
}

fn entry(key: &Key, connection: Option<u64>) -> LookupEntry {
    LookupEntry {
        valid: connection.is_some(),
        ipv6: key.ipv6,
        // An entry taken out has any connection, as the driver's has.
        connection: connection.unwrap_or(0).into(),
        key: key.bits(0),
    }
}

fn check_result(uut: &ConnectionLookup, model: &mut Model) {
    if !uut.result_valid.val() {
        return;
    }
    let found = uut.result.val();
    let expected = model.answers.pop_front().expect("a key was taken");
    assert_eq!(found.hit, expected.is_some());
    if let Some(connection) = expected {
        assert_eq!(found.connection, connection);
        model.hits += 1;
    } else {
        model.misses += 1;
    }
}

fn drive(uut: &mut ConnectionLookup, model: &mut Model, busy: bool, random: &mut Random) {
    check_result(uut, model);
    if uut.written.val() {
        model.finish_write();
    } else if model.write.is_none() && random.chance(1, 4) {
        model.start_write(random);
    }
    uut.write.next = model.write.is_some();
    if let Some((index, key, connection)) = &model.write {
        uut.write_index.next = (*index as u64).into();
        uut.write_entry.next = entry(key, *connection);
    }

    if model.asked.is_none() && (busy || random.chance(1, 8)) {
        model.asked = Some(model.ask(random));
    } else if random.chance(1, 32) {
        model.asked = None;
    }
    uut.lookup.next = model.asked.is_some();
    let Some(key) = model.asked else {
        return;
    };
    uut.ipv6.next = key.ipv6;
    uut.key.next = key.bits(0);
    uut.hash.next = hash(&key);
    if uut.ready.val() {
        let answer = model.connections.get(&key).copied();
        model.answers.push_back(answer);
        model.asked = None;
    }
}

/// Keys that share slots and fingerprints, so that two and three candidates are common.
#[test]
fn lookup_matches_a_map() {
    let mut setup = Random::from_environment();
    let bases: Vec<Key> = (0..4).map(|_| Key::random(&mut setup)).collect();
    let mut model = Model {
        pool: (0..60)
            .map(|number| same_fingerprint(Key::random(&mut setup), &bases[number % bases.len()]))
            .collect(),
        ..Model::default()
    };
    let mut cycle = 0;
    let uut = ConnectionLookup::default();
    lockstep!("connection_lookup", uut, 12_000, |uut, random| {
        // Keys without a pause, or now and then.
        let busy = (cycle / 64) % 2 == 0;
        drive(uut, &mut model, busy, random);
        cycle += 1;
    });
    assert!(model.hits > 300, "{} hits", model.hits);
    assert!(model.misses > 300, "{} misses", model.misses);
}

/// A lookup that has `count` keys of one fingerprint in its ways, all in one slot.
fn filled(count: usize, random: &mut Random) -> (Simulation<ConnectionLookup>, Vec<Key>) {
    let mut uut = simulate!(ConnectionLookup::default());
    let first = Key::random(random);
    let keys: Vec<Key> = (0..count)
        .map(|_| same_fingerprint(Key::random(random), &first))
        .collect();
    for (way, key) in keys.iter().enumerate() {
        uut.write_index.next = (way as u64 * 512).into();
        uut.write_entry.next = entry(key, Some(700 + way as u64));
        uut.write.next = true;
        uut.wait_for(10, |uut| uut.written.val());
        uut.write.next = false;
        uut.tick();
    }
    (uut, keys)
}

#[test]
fn a_result_takes_seven_cycles_and_one_more_for_each_other_candidate() {
    let mut random = Random::from_environment();
    for candidates in 1..=3 {
        let (mut uut, keys) = filled(candidates, &mut random);
        for (way, key) in keys.iter().enumerate() {
            uut.lookup.next = true;
            uut.ipv6.next = key.ipv6;
            uut.key.next = key.bits(0);
            let before = uut.wait_for(10, |uut| uut.ready.val());
            uut.tick();
            uut.lookup.next = false;
            let after = uut.wait_for(10, |uut| uut.result_valid.val());
            assert_eq!(before + 1 + after, 6 + candidates as u64);
            let expected = (true, 700 + way as u64);
            let result = uut.result.val();
            assert_eq!((result.hit, result.connection.to_u64()), expected);
            uut.ticks(8);
        }
    }
}

#[test]
fn a_key_is_taken_every_three_cycles_and_one_more_for_each_other_candidate() {
    let mut random = Random::from_environment();
    for candidates in 1..=3 {
        let (mut uut, keys) = filled(candidates, &mut random);
        uut.lookup.next = true;
        uut.ipv6.next = keys[0].ipv6;
        uut.key.next = keys[0].bits(0);
        let mut taken = 0;
        for _ in 0..600 {
            taken += u64::from(uut.ready.val());
            uut.tick();
        }
        let cycles = 600 / (2 + candidates as u64);
        assert!(taken.abs_diff(cycles) <= 1, "{taken} of {cycles}");
    }
}
