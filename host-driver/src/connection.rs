//! Offloaded connections: key, contexts, lookup entry.

use crate::bar::Bar;
use crate::device::Device;
use crate::dma::Dma;
use crate::error::DriverError;
use crate::table;
use rnic_abi::limits::{CONNECTIONS, MAX_RECEIVE_WINDOW, QUEUES};
use rnic_abi::tables;
use std::net::{IpAddr, SocketAddr};

/// The two ends of a connection, as a received segment names them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionKey {
    /// Source of what the device receives.
    pub remote: SocketAddr,
    /// Destination of what the device receives.
    pub local: SocketAddr,
}

impl ConnectionKey {
    /// Octets of a key in the device's table.
    pub const OCTETS: usize = 36;

    /// The key as the device stores and hashes it (`rnic_abi::tables::LOOKUP`).
    pub fn octets(&self) -> [u8; Self::OCTETS] {
        let mut octets = [0; Self::OCTETS];
        octets[..16].copy_from_slice(&address_octets(self.remote.ip()));
        octets[16..32].copy_from_slice(&address_octets(self.local.ip()));
        octets[32..34].copy_from_slice(&self.remote.port().to_be_bytes());
        octets[34..].copy_from_slice(&self.local.port().to_be_bytes());
        octets
    }

    /// The key's hash.
    pub fn hash(&self) -> u32 {
        crc32c::crc32c(&self.octets())
    }
}

fn address_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => {
            let mut octets = [0; 16];
            octets[12..].copy_from_slice(&v4.octets());
            octets
        }
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// What the device must know of a connection when it enters full operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Its two ends.
    pub key: ConnectionKey,
    /// Sequence number of the first octet of full operation (SeqStart).
    pub sequence_start: u32,
    /// Receive window in octets, 1..=2^30.
    pub window: u32,
    /// The peer was asked for markers.
    pub markers: bool,
    /// CRC32C is in use.
    pub crc: bool,
    /// DDP and RDMAP version: 0 for peers of MPA revision 0, else 1.
    pub version: u8,
    /// Protection Domain.
    pub protection_domain: u16,
}

/// The id of an offloaded connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(pub u16);

/// TCP state of a connection as the device holds it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TcpState {
    /// Next octet expected.
    pub rcv_nxt: u32,
    /// Last SEG.ACK seen.
    pub seg_ack: u32,
    /// SEG.WND beside it, unscaled.
    pub seg_wnd: u16,
    /// A FIN came with payload; it is due once no range is left.
    pub fin_seen: bool,
    /// Received ranges beyond `rcv_nxt`, at most 16.
    pub ranges: u8,
}

/// Octets received beyond a gap: sequence numbers of the first one and of the one after the last.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EarlyRange {
    /// First octet.
    pub left: u32,
    /// After the last octet.
    pub right: u32,
}

/// What a connection's early segments hold, and what they ask for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EarlyState {
    /// Pages of packet memory charged to the connection.
    pub pages: u16,
    /// Segments that asked for a duplicate ACK at once, modulo 256.
    pub duplicate_acks: u8,
}

/// A lookup entry as it stands in the device's table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookupEntry {
    connection: u16,
    ipv6: bool,
    octets: [u8; ConnectionKey::OCTETS],
}

impl LookupEntry {
    fn new(key: &ConnectionKey, connection: u16) -> Self {
        Self {
            connection,
            ipv6: key.remote.is_ipv6(),
            octets: key.octets(),
        }
    }

    fn words(&self) -> [u32; 10] {
        core::array::from_fn(|word| match word {
            0 => 1 << 31 | u32::from(self.ipv6) << 30 | u32::from(self.connection),
            _ => {
                let first = 4 * (word - 1);
                u32::from_le_bytes(
                    self.octets[first..first + 4]
                        .try_into()
                        .expect("four octets"),
                )
            }
        })
    }
}

impl<B: Bar, D: Dma> Device<B, D> {
    /// Offload a connection: contexts first, the lookup entry last, so that the first segment finds
    /// all.
    pub fn open_connection(
        &mut self,
        config: &ConnectionConfig,
    ) -> Result<Connection, DriverError> {
        check(config)?;
        if self
            .connections
            .iter()
            .flatten()
            .any(|open| open.key == config.key)
        {
            return Err(DriverError::Duplicate {
                what: "the connection's address and port pair",
            });
        }
        let free = self.connections.iter().position(Option::is_none);
        let id = free.ok_or(DriverError::Exhausted {
            what: "connection",
            limit: CONNECTIONS,
        })? as u16;
        let index = u32::from(id);
        let mut bar = self.completions.beside(&mut self.bar, &self.dma);
        table::write(
            &mut bar,
            tables::TCP,
            index,
            &[config.sequence_start, config.window],
        )?;
        let flags = u32::from(config.markers) | u32::from(config.crc) << 1;
        table::write(
            &mut bar,
            tables::MPA,
            index,
            &[config.sequence_start, flags],
        )?;
        let ddp = u32::from(config.protection_domain) | u32::from(config.version) << 16;
        table::write(&mut bar, tables::DDP, index, &[ddp])?;
        for qn in 0..QUEUES as u32 {
            table::write(&mut bar, tables::QUEUE, index << 2 | qn, &[0, 0])?;
        }
        let entry = LookupEntry::new(&config.key, id);
        let full = DriverError::HashFull { what: "connection" };
        self.lookup.insert(config.key.hash(), entry, full, |slot| {
            let words = slot.value.map_or([0; 10], |value| value.words());
            table::write(&mut bar, tables::LOOKUP, slot.index, &words)
        })?;
        self.connections[usize::from(id)] = Some(*config);
        Ok(Connection(id))
    }

    /// End the offload: no further segment is taken, then received ranges, held pages, the regions
    /// and windows bound to the connection and its queues are given back, in this order. Its id may
    /// be another peer's next, which must not find what was bound to this one.
    pub fn close_connection(&mut self, connection: Connection) -> Result<(), DriverError> {
        let config = self.connection_config(connection)?;
        let entry = LookupEntry::new(&config.key, connection.0);
        let mut bar = self.completions.beside(&mut self.bar, &self.dma);
        self.lookup.remove(config.key.hash(), &entry, |slot| {
            table::write(&mut bar, tables::LOOKUP, slot.index, &[])
        })?;
        table::release(&mut bar, tables::TCP, u32::from(connection.0))?;
        table::release(&mut bar, tables::MPA, u32::from(connection.0))?;
        self.deregister_bound(connection)?;
        self.close_queues(connection)?;
        self.connections[usize::from(connection.0)] = None;
        Ok(())
    }

    /// TCP state of a connection, for acknowledgements.
    pub fn tcp_state(&mut self, connection: Connection) -> Result<TcpState, DriverError> {
        self.connection_config(connection)?;
        let words = table::read(&mut self.tables(), tables::TCP, u32::from(connection.0))?;
        Ok(TcpState {
            rcv_nxt: words[0],
            seg_ack: words[2],
            seg_wnd: words[3] as u16,
            fin_seen: words[3] >> 16 & 1 == 1,
            ranges: (words[3] >> 17 & 0x1f) as u8,
        })
    }

    /// What a connection's early segments hold and ask for.
    pub fn early_state(&mut self, connection: Connection) -> Result<EarlyState, DriverError> {
        self.connection_config(connection)?;
        let words = table::read(&mut self.tables(), tables::EARLY, u32::from(connection.0))?;
        Ok(EarlyState {
            pages: (words[1] & 0x3ff) as u16,
            duplicate_acks: words[2] as u8,
        })
    }

    /// What a connection holds beyond gaps, for selective acknowledgements (RFC 2018 section 4):
    /// the range changed last comes first, the others follow in sequence order.
    ///
    /// A range may go again before it is in order: where packet memory is nearly full, the device
    /// gives up what lies behind a long FPDU to get that FPDU through. A peer must keep what was
    /// only acknowledged selectively (RFC 2018 section 8).
    ///
    /// Each range is a table access of its own, and segments arrive meanwhile: the list is what was
    /// there at one time or another during the call. A range in it may have grown or become in
    /// order since; then its number may even belong to another connection by now. Check the list
    /// with a second call and a later [`Device::tcp_state`] before it is sent.
    pub fn early_ranges(&mut self, connection: Connection) -> Result<Vec<EarlyRange>, DriverError> {
        self.connection_config(connection)?;
        let early = table::read(&mut self.tables(), tables::EARLY, u32::from(connection.0))?;
        let (mut number, count, last) = (early[0] & 0xff, early[0] >> 8 & 0x1f, early[0] >> 16);
        let mut ranges = Vec::new();
        for _ in 0..count {
            let [left, right, link, _] = table::read(&mut self.tables(), tables::RANGE, number)?;
            let place = if number == last & 0xff {
                0
            } else {
                ranges.len()
            };
            ranges.insert(place, EarlyRange { left, right });
            number = link & 0xff;
            if link >> 8 & 1 == 0 {
                break;
            }
        }
        Ok(ranges)
    }

    /// The configuration of an open connection.
    pub fn connection_config(
        &self,
        connection: Connection,
    ) -> Result<ConnectionConfig, DriverError> {
        let slot = self
            .connections
            .get(usize::from(connection.0))
            .copied()
            .flatten();
        slot.ok_or(DriverError::Unknown {
            what: "connection",
            id: u64::from(connection.0),
        })
    }
}

fn check(config: &ConnectionConfig) -> Result<(), DriverError> {
    if config.window == 0 || config.window > MAX_RECEIVE_WINDOW {
        let value = u64::from(config.window);
        return Err(DriverError::Configuration {
            what: "the receive window",
            value,
            allowed: "1..=2^30",
        });
    }
    if config.version > 1 {
        let value = u64::from(config.version);
        return Err(DriverError::Configuration {
            what: "the DDP version",
            value,
            allowed: "0 or 1",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
