//! The driver's side of the device's three-way hash tables (connections, STags).
//!
//! Each key has one slot in each way (`rnic_abi::tables::hash_slot`). When all three are taken,
//! keys are moved along the shortest chain of alternatives to a free slot (cuckoo hashing). A key
//! that is moved stands in its new slot before its old one is overwritten, so the device finds
//! every present key at each moment.

use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::tables::hash_slot;
use std::collections::{HashSet, VecDeque};

const SLOTS: usize = 1 << HASH_SLOTS_LOG2;
/// Slots looked at before an insertion gives up; far above what tables two thirds full need.
const MAX_VISITS: usize = 4096;

/// Where an entry stands: `way << 9 | slot`, the index of the device's table.
pub type Index = u32;

/// One write to the device's table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SlotWrite<V> {
    /// Index of the entry.
    pub index: Index,
    /// What stands there afterwards; `None` clears it.
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
    /// Is `value` there?
    pub fn contains(&self, hash: u32, value: &V) -> bool {
        self.position(hash, value).is_some()
    }

    /// Put `value` in; the writes to do, in this order, or `None` when no place can be made.
    pub fn insert(&mut self, hash: u32, value: V) -> Option<Vec<SlotWrite<V>>> {
        let path = self.path_to_free_slot(hash)?;
        let mut writes = Vec::with_capacity(path.len());
        // From the free end backwards: copy each moved entry before its old slot is overwritten.
        for step in (1..path.len()).rev() {
            let moved = self.entries[path[step - 1]].expect("inner slots of a path are taken");
            self.entries[path[step]] = Some(moved);
            writes.push(SlotWrite {
                index: path[step] as Index,
                value: Some(moved.value),
            });
        }
        self.entries[path[0]] = Some(Entry { hash, value });
        writes.push(SlotWrite {
            index: path[0] as Index,
            value: Some(value),
        });
        Some(writes)
    }

    /// Take `value` out; the write to do, or `None` if it is not there.
    pub fn remove(&mut self, hash: u32, value: &V) -> Option<SlotWrite<V>> {
        let index = self.position(hash, value)?;
        self.entries[index] = None;
        Some(SlotWrite {
            index: index as Index,
            value: None,
        })
    }

    fn position(&self, hash: u32, value: &V) -> Option<usize> {
        (0..HASH_WAYS)
            .map(|way| index_of(hash, way))
            .find(|&index| self.entries[index].is_some_and(|entry| entry.value == *value))
    }

    /// Breadth-first search for the shortest chain of moves; first the new key's slot, last a free
    /// one.
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

    /// What the device would hold after the writes.
    fn apply(device: &mut [Option<u64>], writes: &[SlotWrite<u64>], present: &[(u32, u64)]) {
        for write in writes {
            device[write.index as usize] = write.value;
            for &(hash, key) in present {
                let found = (0..HASH_WAYS).any(|way| device[index_of(hash, way)] == Some(key));
                assert!(found, "key {key:#x} must be found at each moment");
            }
        }
    }

    #[test]
    fn a_full_set_of_connections_always_fits_and_every_key_is_found_at_each_moment() {
        let seed = 1;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for round in 0..4 {
            let mut table = HashTable::default();
            let mut device = vec![None; HASH_WAYS * SLOTS];
            let mut present = Vec::new();
            for _ in 0..rnic_abi::limits::CONNECTIONS {
                let key: u64 = random.random();
                let hash = crc32c::crc32c(&key.to_le_bytes());
                let writes = table
                    .insert(hash, key)
                    .unwrap_or_else(|| panic!("round {round}, seed {seed}"));
                apply(&mut device, &writes, &present);
                present.push((hash, key));
            }
            while let Some((hash, key)) = present.pop() {
                let write = table.remove(hash, &key).expect("was inserted");
                apply(&mut device, &[write], &present);
            }
            assert!(device.iter().all(Option::is_none));
        }
    }

    #[test]
    fn keys_of_one_hash_fill_their_three_slots_and_the_fourth_is_refused() {
        let mut table = HashTable::default();
        for key in 0..HASH_WAYS as u64 {
            assert!(table.insert(7, key).is_some());
        }
        assert_eq!(table.insert(7, 99), None);
        assert!(table.contains(7, &2) && !table.contains(7, &99));
    }
}
