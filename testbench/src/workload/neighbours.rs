//! Keys that meet in the device's hash tables: they differ in one 16-bit piece and share a slot.
//!
//! A lookup that leaves a piece out of its comparison takes one for the other.

use crate::traffic::frame::Endpoint;
use rnic_abi::tables::hash_slot;
use rnic_driver::{stag_hash, ConnectionKey};
use std::net::{IpAddr, SocketAddr};

/// Octets of a piece.
const PIECE_OCTETS: usize = 2;
/// Pieces of an address as the device stores it.
const ADDRESS_PIECES: usize = 8;
/// Stag indices of one family of neighbours: their lower halves differ, their upper octet is the
/// same.
const STAG_LOWER_BITS: u32 = 16;

/// Pieces that a key of this family may differ in: of IPv4 addresses the last two.
pub fn pieces(is_v6: bool) -> Vec<usize> {
    let own = |piece: &usize| is_v6 || *piece >= 2 * ADDRESS_PIECES || *piece % ADDRESS_PIECES >= 6;
    (0..ConnectionKey::OCTETS / PIECE_OCTETS)
        .filter(own)
        .collect()
}

/// The ends of neighbour number `number` (from 0) of the key of source and destination, in a piece
/// of the key and a way of the table; there are some 127.
pub fn neighbour(ends: [Endpoint; 2], piece: usize, way: usize, number: usize) -> [Endpoint; 2] {
    let key = |ends: &[Endpoint; 2]| ConnectionKey {
        remote: ends[0].address,
        local: ends[1].address,
    };
    let slot = hash_slot(key(&ends).hash(), way);
    let changed = (1..=u16::MAX).map(|change| with_piece_changed(ends, piece, change));
    let mut same = changed.filter(|ends| hash_slot(key(ends).hash(), way) == slot);
    // Nine bits of a linear code over sixteen: the differences are a space of seven dimensions.
    same.nth(number % 127).unwrap_or(ends)
}

fn with_piece_changed(mut ends: [Endpoint; 2], piece: usize, change: u16) -> [Endpoint; 2] {
    let end = match piece {
        0..8 | 16 => &mut ends[0],
        _ => &mut ends[1],
    };
    let (ip, port) = (end.address.ip(), end.address.port());
    end.address = match piece {
        16.. => SocketAddr::new(ip, port ^ change),
        _ => SocketAddr::new(address_changed(ip, piece % ADDRESS_PIECES, change), port),
    };
    ends
}

fn address_changed(address: IpAddr, piece: usize, change: u16) -> IpAddr {
    let change = change.to_be_bytes();
    match address {
        IpAddr::V4(v4) => {
            let mut octets = v4.octets();
            let at = PIECE_OCTETS * piece.saturating_sub(6);
            octets[at] ^= change[0];
            octets[at + 1] ^= change[1];
            octets.into()
        }
        IpAddr::V6(v6) => {
            let mut octets = v6.octets();
            octets[PIECE_OCTETS * piece] ^= change[0];
            octets[PIECE_OCTETS * piece + 1] ^= change[1];
            octets.into()
        }
    }
}

/// Stag indices of upper octet `upper` that share their slot in the first way, so that all but one
/// stand in others.
pub fn stag_indices(upper: u8) -> Vec<u32> {
    let first = u32::from(upper) << STAG_LOWER_BITS;
    let slot = |index: u32| hash_slot(stag_hash(index), 0);
    let all = first..first + (1 << STAG_LOWER_BITS);
    all.filter(|&index| slot(index) == slot(first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_abi::limits::HASH_WAYS;

    fn ends(is_v6: bool) -> [Endpoint; 2] {
        let addresses = match is_v6 {
            false => ["10.77.0.1:40000", "10.77.0.2:7174"],
            true => ["[fd77::1]:40000", "[fd77::2]:7174"],
        };
        addresses.map(|address| Endpoint {
            mac: [2, 0, 0, 0, 0, 1],
            address: address.parse().expect("an address"),
        })
    }

    fn octets(ends: &[Endpoint; 2]) -> [u8; ConnectionKey::OCTETS] {
        let [remote, local] = ends.map(|end| end.address);
        ConnectionKey { remote, local }.octets()
    }

    /// All 18 pieces, in all three ways.
    #[test]
    fn neighbours_differ_in_one_piece_and_share_a_slot() {
        assert_eq!(pieces(false), [6, 7, 14, 15, 16, 17]);
        assert_eq!(pieces(true).len(), 18);
        for is_v6 in [false, true] {
            for (piece, way) in pieces(is_v6)
                .into_iter()
                .flat_map(|piece| (0..HASH_WAYS).map(move |way| (piece, way)))
            {
                let (own, other) = (ends(is_v6), neighbour(ends(is_v6), piece, way, 5));
                let (own, other) = (octets(&own), octets(&other));
                let differ = |piece: &usize| {
                    let octets = 2 * piece..2 * piece + 2;
                    own[octets.clone()] != other[octets]
                };
                let differing: Vec<usize> = (0..18).filter(differ).collect();
                assert_eq!(differing, [piece]);
                let slot = |octets: &[u8]| hash_slot(crc32c::crc32c(octets), way);
                assert_eq!(slot(&own), slot(&other));
            }
        }
    }

    #[test]
    fn neighbours_are_not_each_other() {
        let of = |number| neighbour(ends(false), 16, 0, number)[0].address;
        let all: std::collections::BTreeSet<_> = (0..127).map(of).collect();
        assert_eq!(all.len(), 127);
    }

    #[test]
    fn stag_indices_of_a_family_share_a_slot_and_differ_in_their_lower_half() {
        for upper in [0x10, 0x8f] {
            let indices = stag_indices(upper);
            assert!(indices.len() >= 128, "{}", indices.len());
            let slots = indices.iter().map(|&index| hash_slot(stag_hash(index), 0));
            let slots: std::collections::BTreeSet<usize> = slots.collect();
            assert_eq!(slots.len(), 1);
            assert!(indices.iter().all(|index| index >> 16 == u32::from(upper)));
        }
    }
}
