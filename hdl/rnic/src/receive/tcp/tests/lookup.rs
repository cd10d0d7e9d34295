//! The lookup against a `HashMap`, with inserts and removes between the keys.
use super::keys::Key;
use crate::receive::tcp::lookup::ConnectionLookup;
use crate::receive::tcp::lookup::LookupEntry;
use rnic_hdl_tools::testkit::{lockstep, Random};
use std::collections::{HashMap, VecDeque};

/// Cycles from a key to its result.
const LATENCY: usize = 7;
/// Cycles before its RAM read in which a write may or may not affect a key.
const READ_AFTER: usize = 2;

/// The table as software sees it, and the keys in flight.
#[derive(Default)]
struct Model {
    pool: Vec<Key>,
    connections: HashMap<Key, u64>,
    slots: HashMap<usize, Key>,
    /// The pending write: index, key, and the connection to insert.
    write: Option<(usize, Key, Option<u64>)>,
    /// A write was chosen in the last cycle: it is stored in this one.
    stores: bool,
    /// The last cycles' keys, oldest first.
    asked: VecDeque<Option<Key>>,
    /// Expected results, decided as the slots are read.
    answers: VecDeque<Option<u64>>,
    hits: usize,
    misses: usize,
}

impl Model {
    fn start_write(&mut self, random: &mut Random) {
        let key = self.pool[random.below(self.pool.len() as u64) as usize];
        let free = |index: &usize| !self.slots.contains_key(index);
        self.write = match self.connections.get(&key) {
            Some(_) => self
                .slots
                .iter()
                .find(|(_, stored)| **stored == key)
                .map(|(index, _)| (*index, key, None)),
            None => key
                .indices()
                .into_iter()
                .filter(free)
                .nth(0)
                .map(|index| (index, key, Some(random.below(1024)))),
        };
    }

    fn finish_write(&mut self) {
        let (index, key, connection) = self.write.take().expect("a write is pending");
        match connection {
            Some(connection) => {
                self.connections.insert(key, connection);
                self.slots.insert(index, key);
            }
            None => {
                self.connections.remove(&key);
                self.slots.remove(&index);
            }
        }
    }
}

fn entry(key: &Key, connection: Option<u64>) -> LookupEntry {
    LookupEntry {
        valid: connection.is_some(),
        ipv6: key.ipv6,
        connection: connection.unwrap_or(0).into(),
        key: key.bits(0),
    }
}

fn check_result(uut: &ConnectionLookup, model: &mut Model, cycle: usize) {
    let asked = cycle >= LATENCY && model.asked[0].is_some();
    assert_eq!(uut.result_valid.val(), asked);
    if cycle >= LATENCY {
        model.asked.pop_front();
    }
    if asked {
        let found = uut.result.val();
        let expected = model.answers.pop_front().expect("decided at its read");
        assert_eq!(found.hit, expected.is_some());
        if let Some(connection) = expected {
            assert_eq!(found.connection, connection);
            model.hits += 1;
        } else {
            model.misses += 1;
        }
    }
}

fn drive(uut: &mut ConnectionLookup, model: &mut Model, cycle: usize, random: &mut Random) {
    check_result(uut, model, cycle);
    // A key in a burst every cycle, or now and then.
    let burst = (cycle / 64) % 2 == 0;
    let ask = if burst {
        random.chance(15, 16)
    } else {
        random.chance(1, 3)
    };
    let known = model.pool[random.below(model.pool.len() as u64) as usize];
    let key = if random.chance(1, 4) {
        known.changed(random)
    } else {
        known
    };
    uut.lookup.next = ask;
    uut.ipv6.next = key.ipv6;
    uut.key.next = key.bits(0);
    model.asked.push_back(ask.then_some(key));
    // A write's words are stable for the cycle after it was chosen.
    if model.write.is_none() && !model.stores && random.chance(1, 8) {
        model.start_write(random);
    }
    model.stores = false;
    uut.write.next = model.write.is_some();
    if let Some((index, key, connection)) = &model.write {
        uut.write_index.next = (*index as u64).into();
        uut.write_entry.next = entry(key, *connection);
    }
    // The key asked two cycles ago is read now. A write is chosen when none is read in the next
    // cycle, in which it is stored.
    let asked = |ago: usize| {
        let past = model.asked.len().checked_sub(1 + ago)?;
        model.asked[past]
    };
    let (reads, reads_next) = (asked(READ_AFTER), asked(READ_AFTER - 1));
    if let Some(key) = reads {
        let answer = model.connections.get(&key).copied();
        model.answers.push_back(answer);
    }
    if reads_next.is_none() && model.write.is_some() {
        model.finish_write();
        model.stores = true;
    }
}

#[test]
fn lookup_matches_a_map() {
    let mut setup = Random::from_environment();
    let mut model = Model {
        pool: (0..200).map(|_| Key::random(&mut setup)).collect(),
        ..Model::default()
    };
    let mut cycle = 0;
    let uut = ConnectionLookup::default();
    lockstep!("connection_lookup", uut, 6_000, |uut, random| {
        drive(uut, &mut model, cycle, random);
        cycle += 1;
    });
    assert!(model.hits > 500, "{} hits", model.hits);
    assert!(model.misses > 500, "{} misses", model.misses);
}
