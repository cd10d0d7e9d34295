//! Connection keys and the driver's view of the lookup table.
use crate::messages::{KEY_BITS, KEY_HASH_BITS, KEY_OCTETS};
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::tables::hash_slot;
use rnic_hdl_tools::testkit::Random;
use rust_hdl::prelude::*;

/// A connection key as the wire carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// IPv6.
    pub ipv6: bool,
    /// Remote address, local address, remote port, local port.
    pub octets: [u8; KEY_OCTETS],
}

impl Key {
    /// A random key; IPv4 addresses are the last four octets of their sixteen.
    pub fn random(random: &mut Random) -> Self {
        let ipv6 = random.chance(1, 2);
        let mut octets = [0; KEY_OCTETS];
        for (place, octet) in octets.iter_mut().enumerate() {
            if ipv6 || place >= 32 || place % 16 >= 12 {
                *octet = random.below(256) as u8;
            }
        }
        Self { ipv6, octets }
    }

    /// The same key but for one bit or the family.
    pub fn changed(mut self, random: &mut Random) -> Self {
        let place = random.below(KEY_BITS as u64 + 1) as usize;
        if place == KEY_BITS {
            self.ipv6 = !self.ipv6;
        } else {
            self.octets[place / 8] ^= 1 << (place % 8);
        }
        self
    }

    /// What packet memory hands on beside the key.
    pub fn hash(&self) -> Bits<KEY_HASH_BITS> {
        let hash = u64::from(crc32c::crc32c(&self.octets));
        (hash & ((1 << KEY_HASH_BITS) - 1)).into()
    }

    /// Table indices of the key's possible slots, one for each way.
    pub fn indices(&self) -> [usize; HASH_WAYS] {
        let hash = crc32c::crc32c(&self.octets);
        std::array::from_fn(|way| (way << 9) | hash_slot(hash, way))
    }

    /// Octets `first..first + N / 8` with the first one in bits 7:0.
    pub fn bits<const N: usize>(&self, first: usize) -> Bits<N> {
        (0..N).fold(Bits::default(), |bits: Bits<N>, bit| {
            let octet = self.octets[first + bit / 8];
            bits.replace_bit(bit, (octet >> (bit % 8)) & 1 == 1)
        })
    }
}
