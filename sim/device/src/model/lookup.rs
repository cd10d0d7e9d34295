//! The lookup table, and the table of received ranges.

use super::entries::{Words, HASH_SLOTS};
use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::tables::hash_slot;
use rnic_driver::ConnectionKey;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const KEY_OCTETS: usize = ConnectionKey::OCTETS;
const VALID: u32 = 1 << 31;
const IS_V6: u32 = 1 << 30;
/// Bits that number a range.
pub(super) const RANGE_MASK: usize = 0xff;
/// Bits that number a connection.
const CONNECTION_MASK: u32 = 0x3ff;

/// A valid entry of the lookup table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: ConnectionKey,
    octets: [u8; KEY_OCTETS],
    connection: u16,
}

impl Entry {
    pub(super) fn of(words: &Words, connections: usize) -> Option<Self> {
        if words[0] & VALID == 0 {
            return None;
        }
        let octets: Vec<u8> = words[1..]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let octets: [u8; KEY_OCTETS] = octets.try_into().expect("nine words");
        let address = |at: usize| -> IpAddr {
            let octets: [u8; 16] = octets[at..at + 16].try_into().expect("16 octets");
            match words[0] & IS_V6 != 0 {
                true => Ipv6Addr::from(octets).into(),
                false => Ipv4Addr::new(octets[12], octets[13], octets[14], octets[15]).into(),
            }
        };
        let port = |at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
        let key = ConnectionKey {
            remote: SocketAddr::new(address(0), port(32)),
            local: SocketAddr::new(address(16), port(34)),
        };
        let connection = words[0] & CONNECTION_MASK & (connections as u32 - 1);
        Some(Self {
            key,
            octets,
            connection: connection as u16,
        })
    }
}

/// The lookup table. A key may stand in two ways while the driver moves it.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) entries: Vec<Option<Entry>>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            entries: vec![None; HASH_SLOTS],
        }
    }
}

impl Connections {
    /// The entry that a segment of `wanted`'s key finds: that of its slot in one of the ways.
    pub(super) fn find(&self, wanted: &Entry) -> Option<u16> {
        let hash = crc32c::crc32c(&wanted.octets);
        (0..HASH_WAYS).find_map(|way| {
            let entry = self.entries[way << HASH_SLOTS_LOG2 | hash_slot(hash, way)]?;
            let is_same = (entry.key, entry.octets) == (wanted.key, wanted.octets);
            is_same.then_some(entry.connection)
        })
    }
}

/// The ranges of all connections as they were when an entry that names them was read last: a range
/// has no number of its own.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    pub(super) entries: Vec<Words>,
}

impl Ranges {
    /// An entry of the table.
    pub(super) fn read(&self, index: usize) -> Words {
        let entry = self.entries.get(index & RANGE_MASK);
        entry.copied().unwrap_or_default()
    }
}
