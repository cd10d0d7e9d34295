//! Hashes of connection keys against a CRC32C of their octets.
use super::*;
use rnic_hdl_tools::testkit::lockstep;
use std::collections::VecDeque;

/// Cycles from `key` to `hash`.
const HASH_CYCLES: usize = 1;

fn as_bits(octets: &[u8; KEY_OCTETS]) -> Bits<KEY_BITS> {
    (0..KEY_BITS).fold(Bits::default(), |bits: Bits<KEY_BITS>, bit| {
        bits.replace_bit(bit, (octets[bit / 8] >> (bit % 8)) & 1 == 1)
    })
}

/// Random keys, and the corners: zeros, ones, single octets. Many keys stay for some cycles.
#[test]
fn hash_is_crc32c_of_the_octets_a_cycle_later() {
    let mut in_flight: VecDeque<u32> = VecDeque::new();
    let mut octets = [0; KEY_OCTETS];
    let mut cycle = 0;
    lockstep!("key_hash", KeyHash::default(), 1500, |uut, random| {
        if in_flight.len() == HASH_CYCLES {
            let expected = in_flight.pop_front().expect("a key is under way");
            assert_eq!(uut.hash.val(), u64::from(expected));
        }
        octets = match cycle {
            0 => [0; KEY_OCTETS],
            1 => [0xff; KEY_OCTETS],
            2..=37 => std::array::from_fn(|i| u8::from(i + 2 == cycle) << (cycle % 8)),
            _ if random.chance(1, 2) => octets,
            _ if random.chance(1, 16) => [0; KEY_OCTETS],
            _ => std::array::from_fn(|_| random.below(256) as u8),
        };
        uut.key.next = as_bits(&octets);
        in_flight.push_back(crc32c::crc32c(&octets));
        cycle += 1;
    });
}
