//! Entries of tables as the driver writes and reads them.

use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::registers::TABLE_DATA_WORDS;

/// Slots of a hash table.
pub(super) const HASH_SLOTS: usize = HASH_WAYS << HASH_SLOTS_LOG2;

/// An entry as the driver writes it.
pub(super) type Words = [u32; TABLE_DATA_WORDS];

/// An entry of fewer words.
pub(super) fn padded(words: &[u32]) -> Words {
    let mut all = [0; TABLE_DATA_WORDS];
    all[..words.len()].copy_from_slice(words);
    all
}
