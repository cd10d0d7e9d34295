//! The driver's side of the device's three-way hash tables (connections, STags).
//!
//! Each key has one slot in each way (`rnic_abi::tables::hash_slot`). When all three are taken,
//! keys are moved along the shortest chain of alternatives to a free slot (cuckoo hashing). A key
//! is written to its new slot before its old one is overwritten, so the device finds every present
//! key at any time.

use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::tables::hash_slot;
use std::collections::{HashSet, VecDeque};

const SLOTS: usize = 1 << HASH_SLOTS_LOG2;
/// Slots visited before an insertion fails; tables two thirds full need far fewer.
const MAX_VISITS: usize = 4096;

/// Index of an entry in the device's table: `way << 9 | slot`.
pub type Index = u32;

/// One write to the device's table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SlotWrite<V> {
    /// Index of the entry.
    pub index: Index,
    /// The new entry; `None` clears it.
    pub value: Option<V>,
}

#[derive(Copy, Clone, Debug)]
struct Entry<V> {
    hash: u32,
    value: V,
}

/// Mirror of a device table; `V` is the whole entry, key included.
#[derive(Debug)]
pub struct HashTable<V> {
    entries: Vec<Option<Entry<V>>>,
}

impl<V: Copy + PartialEq> Default for HashTable<V> {
    fn default() -> Self {
        Self {
            entries: vec![None; HASH_WAYS * SLOTS],
        }
    }
}

fn index_of(hash: u32, way: usize) -> usize {
    way << HASH_SLOTS_LOG2 | hash_slot(hash, way)
}

impl<V: Copy + PartialEq> HashTable<V> {
    /// Whether the table holds `value`.
    #[cfg(test)]
    pub fn contains(&self, hash: u32, value: &V) -> bool {
        self.position(hash, value).is_some()
    }

    /// Insert `value`. `write` performs each write to the device, in an order that lets it find
    /// every present key at any time; the mirror records a write only after it succeeds.
    ///
    /// # Errors
    /// `full` if no slot can be freed. An error of `write`, after which earlier writes have been
    /// undone: unless these writes fail too, the device's table is as before. If they do, a moved
    /// value may be in two slots, which [`HashTable::remove`] knows.
    pub fn insert<E>(
        &mut self,
        hash: u32,
        value: V,
        full: E,
        mut write: impl FnMut(SlotWrite<V>) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.path_to_free_slot(hash).ok_or(full)?;
        let before: Vec<_> = path.iter().map(|&index| self.entries[index]).collect();
        // From the free end backwards: copy each moved entry before its old slot is overwritten.
        for step in (0..path.len()).rev() {
            let entry = match step {
                0 => Entry { hash, value },
                _ => before[step - 1].expect("inner slots of a path are taken"),
            };
            if let Err(error) = self.set(path[step], Some(entry), &mut write) {
                // The device may have performed this write too, so undo starts with its slot.
                for (&index, &entry) in path.iter().zip(&before).skip(step) {
                    let _ = self.set(index, entry, &mut write);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Remove `value` from every slot that holds it; the mirror drops it after the device has.
    ///
    /// # Errors
    /// That of `write`; the table still holds the value.
    pub fn remove<E>(
        &mut self,
        hash: u32,
        value: &V,
        mut write: impl FnMut(SlotWrite<V>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(index) = self.position(hash, value) {
            self.set(index, None, &mut write)?;
        }
        Ok(())
    }

    fn set<E>(
        &mut self,
        index: usize,
        entry: Option<Entry<V>>,
        write: &mut impl FnMut(SlotWrite<V>) -> Result<(), E>,
    ) -> Result<(), E> {
        write(SlotWrite {
            index: index as Index,
            value: entry.map(|entry| entry.value),
        })?;
        self.entries[index] = entry;
        Ok(())
    }

    fn position(&self, hash: u32, value: &V) -> Option<usize> {
        (0..HASH_WAYS)
            .map(|way| index_of(hash, way))
            .find(|&index| self.entries[index].is_some_and(|entry| entry.value == *value))
    }

    /// Breadth-first search for the shortest chain of moves, from the new key's slot to a free one.
    fn path_to_free_slot(&self, hash: u32) -> Option<Vec<usize>> {
        let mut visited = HashSet::new();
        let mut queue: VecDeque<Vec<usize>> = (0..HASH_WAYS)
            .map(|way| vec![index_of(hash, way)])
            .collect();
        while let Some(path) = queue.pop_front() {
            let last = *path.last().expect("paths are not empty");
            let Some(entry) = self.entries[last] else {
                return Some(path);
            };
            if !visited.insert(last) {
                continue;
            }
            if visited.len() > MAX_VISITS {
                return None;
            }
            for way in 0..HASH_WAYS {
                let next = index_of(entry.hash, way);
                if !visited.contains(&next) {
                    let mut longer = path.clone();
                    longer.push(next);
                    queue.push_back(longer);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    /// A device that performs each write but may report an error, and the keys it must find.
    struct Slots {
        held: Vec<Option<u64>>,
        present: Vec<(u32, u64)>,
        refuses: Option<usize>,
    }

    impl Slots {
        fn new() -> Self {
            Self {
                held: vec![None; HASH_WAYS * SLOTS],
                present: Vec::new(),
                refuses: None,
            }
        }

        fn write(&mut self, write: SlotWrite<u64>) -> Result<(), &'static str> {
            self.held[write.index as usize] = write.value;
            for &(hash, key) in &self.present {
                let found = (0..HASH_WAYS).any(|way| self.held[index_of(hash, way)] == Some(key));
                assert!(found, "key {key:#x} must be found at any time");
            }
            let left = self.refuses.map(|left| left.wrapping_sub(1));
            self.refuses = left;
            left.map_or(Ok(()), |left| {
                if left == usize::MAX {
                    Err("refused")
                } else {
                    Ok(())
                }
            })
        }

        fn insert(
            &mut self,
            table: &mut HashTable<u64>,
            hash: u32,
            key: u64,
        ) -> Result<(), &'static str> {
            table.insert(hash, key, "full", |write| self.write(write))?;
            self.present.push((hash, key));
            Ok(())
        }
    }

    fn mirrored(table: &HashTable<u64>) -> Vec<Option<u64>> {
        let value = |entry: &Option<Entry<u64>>| entry.map(|entry| entry.value);
        table.entries.iter().map(value).collect()
    }

    fn random_key(random: &mut rand_chacha::ChaCha8Rng) -> (u32, u64) {
        let key: u64 = random.random();
        (crc32c::crc32c(&key.to_le_bytes()), key)
    }

    #[test]
    fn a_full_set_of_keys_fits_and_each_is_found_at_any_time() {
        let seed = 1;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for round in 0..4 {
            let (mut table, mut device) = (HashTable::default(), Slots::new());
            for _ in 0..rnic_abi::limits::CONNECTIONS {
                let (hash, key) = random_key(&mut random);
                let inserted = device.insert(&mut table, hash, key);
                assert_eq!(inserted, Ok(()), "round {round}, seed {seed}");
            }
            assert_eq!(mirrored(&table), device.held);
            while let Some((hash, key)) = device.present.pop() {
                let removed = table.remove(hash, &key, |write| device.write(write));
                assert_eq!(removed, Ok(()));
            }
            assert!(device.held.iter().all(Option::is_none));
        }
    }

    /// The device performs the write and reports an error: the worst case.
    #[test]
    fn a_write_that_fails_leaves_mirror_and_device_as_they_were() {
        let seed = 2;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let (mut table, mut device) = (HashTable::default(), Slots::new());
        let mut of_several_writes = 0;
        for _ in 0..rnic_abi::limits::CONNECTIONS {
            let (hash, key) = random_key(&mut random);
            for refused in 0.. {
                let before = device.held.clone();
                device.refuses = Some(refused);
                let inserted = device.insert(&mut table, hash, key);
                device.refuses = None;
                assert_eq!(mirrored(&table), device.held, "{key:#x}, seed {seed}");
                if inserted.is_ok() {
                    of_several_writes += usize::from(refused > 1);
                    break;
                }
                assert_eq!(
                    device.held, before,
                    "{key:#x}, write {refused}, seed {seed}"
                );
            }
        }
        assert!(
            of_several_writes > 20,
            "{of_several_writes} keys were moved"
        );
        let (hash, key) = device.present.pop().expect("many are there");
        device.refuses = Some(0);
        let removed = table.remove(hash, &key, |write| device.write(write).and(Err("refused")));
        assert!(removed.is_err() && table.contains(hash, &key));
    }

    /// A move is made, the insertion after it fails, and so does the way back: the moved key is in
    /// two slots, and its removal clears both.
    #[test]
    fn a_key_left_in_two_slots_is_removed_from_both() {
        let seed = 3;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let (mut table, mut device) = (HashTable::default(), Slots::new());
        let copies = |device: &Slots, key: u64| {
            let held = device.held.iter();
            held.filter(|slot| **slot == Some(key)).count()
        };
        let moved = loop {
            let (hash, key) = random_key(&mut random);
            let mut writes = 0;
            let result = table.insert(hash, key, "full", |write| {
                writes += 1;
                match writes {
                    1 => device.write(write),
                    _ => Err("refused"),
                }
            });
            match result {
                Ok(()) => device.present.push((hash, key)),
                Err(error) => {
                    assert_eq!(error, "refused", "seed {seed}");
                    let keys = device.present.iter().copied();
                    let mut twice = keys.filter(|&(_, key)| copies(&device, key) == 2);
                    break twice.next().expect("a key has been moved");
                }
            }
        };
        assert_eq!(mirrored(&table), device.held, "seed {seed}");
        device.present.retain(|&present| present != moved);
        let removed = table.remove(moved.0, &moved.1, |write| device.write(write));
        assert_eq!((removed, copies(&device, moved.1)), (Ok(()), 0));
        assert_eq!(mirrored(&table), device.held, "seed {seed}");
    }

    #[test]
    fn keys_of_one_hash_fill_their_three_slots_and_the_fourth_is_refused() {
        let mut table = HashTable::default();
        for key in 0..HASH_WAYS as u64 {
            assert_eq!(table.insert(7, key, (), |_| Ok(())), Ok(()));
        }
        assert_eq!(table.insert(7, 99, (), |_| Ok(())), Err(()));
        assert!(table.contains(7, &2) && !table.contains(7, &99));
    }
}
