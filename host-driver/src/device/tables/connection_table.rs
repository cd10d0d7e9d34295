//! The device's connections: ids, contexts, and the hash table that finds them.
//!
//! ```text
//!  Reservation --> reserve --> QUEUE --> Reserved --> queues, receives
//!  ConnectionConfig --> activate --> contexts (TCP, MPA, DDP) --> LOOKUP --> Open
//!  Open, Reserved --> stop --> LOOKUP --> ranges, pages released --> ... --> forget
//! ```

use super::connection::{
    ConnectionConfig, ConnectionKey, OutOfOrderRange, OutOfOrderState, Reservation, TcpState,
};
use super::hash_table::HashTable;
use crate::device::access::table;
use crate::device::access::Registers;
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use rnic_abi::limits::{CONNECTIONS, QUEUE_SLOTS};
use rnic_abi::{registers, tables};

/// A Protection Domain that no region has.
pub(crate) const NO_DOMAIN: u16 = u16::MAX;

/// A lookup entry of the device's table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct LookupEntry {
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
        let mut words = [0; 10];
        words[0] = 1 << 31 | u32::from(self.ipv6) << 30 | u32::from(self.connection);
        for (word, octets) in words[1..].iter_mut().zip(self.octets.chunks_exact(4)) {
            *word = u32::from_le_bytes(octets.try_into().expect("four octets"));
        }
        words
    }
}

/// What an id is in use for.
#[derive(Copy, Clone, Debug)]
enum Slot {
    /// The device knows its queues, and no segment finds it.
    Reserved(Reservation),
    Open(ConnectionConfig),
}

impl Slot {
    fn reservation(&self) -> Reservation {
        match self {
            Self::Reserved(reservation) => *reservation,
            Self::Open(config) => config.reservation(),
        }
    }
}

/// The connections that are reserved or open, and a mirror of the device's lookup table.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    lookup: HashTable<LookupEntry>,
    slots: Vec<Option<Slot>>,
}

impl Default for ConnectionTable {
    /// Of the largest build.
    fn default() -> Self {
        Self::of_connections(CONNECTIONS)
    }
}

impl ConnectionTable {
    /// The table of a device with so many connections.
    pub(crate) fn of_connections(connections: usize) -> Self {
        Self {
            lookup: HashTable::default(),
            slots: vec![None; connections],
        }
    }

    /// Whether none is reserved or open.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// Take an id, and empty its queues: they may be opened and posted to from here on.
    pub(crate) fn reserve(
        &mut self,
        bar: &mut impl Registers,
        reservation: &Reservation,
    ) -> Result<ConnectionId, DriverError> {
        let mut slots = self.slots.iter().flatten();
        if slots.any(|slot| slot.reservation().key == reservation.key) {
            return Err(DriverError::Duplicate {
                what: "the connection's address and port pair",
            });
        }
        let free = self.slots.iter().position(Option::is_none);
        let id = free.ok_or(DriverError::Exhausted {
            what: "connection",
            limit: self.slots.len(),
        })? as u16;
        for qn in 0..QUEUE_SLOTS as u32 {
            table::write(bar, tables::QUEUE, u32::from(id) << 2 | qn, &[0])?;
        }
        self.slots[usize::from(id)] = Some(Slot::Reserved(*reservation));
        Ok(ConnectionId(id))
    }

    /// Write a reserved connection's contexts, then its lookup entry: the first segment that
    /// matches the entry finds all of them, and what was posted. Returns the events written in
    /// between: older ones are of an earlier connection with this id.
    pub(crate) fn activate(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
        config: &ConnectionConfig,
    ) -> Result<u32, DriverError> {
        config.check()?;
        let reason = match self.slot(connection)? {
            Slot::Open(_) => Some("it is open already"),
            Slot::Reserved(reservation) if reservation != config.reservation() => Some(
                "its addresses and ports, its protection domain or its completion queue are not \
                 those that it was reserved with",
            ),
            Slot::Reserved(_) => None,
        };
        if let Some(reason) = reason {
            return Err(DriverError::Activation {
                connection: connection.0,
                reason,
            });
        }
        write_contexts(bar, u32::from(connection.0), config)?;
        let events_written = bar.read(registers::EVENT_PRODUCER)?;
        let entry = LookupEntry::new(&config.key, connection.0);
        let full = DriverError::HashFull { what: "connection" };
        self.lookup.insert(config.key.hash(), entry, full, |slot| {
            let words = slot.value.map(|value| value.words());
            let words = words.as_ref().map_or(&[0][..], |words| words);
            table::write(bar, tables::LOOKUP, slot.index, words)
        })?;
        self.slots[usize::from(connection.0)] = Some(Slot::Open(*config));
        Ok(events_written)
    }

    /// Remove the lookup entry, so that no further segment is accepted; then release ranges and
    /// pages. The last release ends when the device has checked every FPDU of the connection, so
    /// what the checks go by, regions, queues and contexts, may be taken away after it. The id
    /// stays in use until [`ConnectionTable::forget`].
    pub(crate) fn stop(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<(), DriverError> {
        let key = self.reservation(connection)?.key;
        let entry = LookupEntry::new(&key, connection.0);
        self.lookup.remove(key.hash(), &entry, |slot| {
            table::write(bar, tables::LOOKUP, slot.index, &[0])
        })?;
        table::release(bar, tables::TCP, u32::from(connection.0))?;
        table::release(bar, tables::MPA, u32::from(connection.0))
    }

    /// Free the id of a stopped connection.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(usize::from(connection.0)) {
            *slot = None;
        }
    }

    /// The configuration of an open connection.
    pub(crate) fn config(&self, connection: ConnectionId) -> Result<ConnectionConfig, DriverError> {
        match self.slot(connection)? {
            Slot::Open(config) => Ok(config),
            Slot::Reserved(_) => Err(DriverError::Reserved {
                connection: connection.0,
            }),
        }
    }

    /// What a connection, open or not yet, was reserved with.
    pub(crate) fn reservation(&self, connection: ConnectionId) -> Result<Reservation, DriverError> {
        self.slot(connection).map(|slot| slot.reservation())
    }

    fn slot(&self, connection: ConnectionId) -> Result<Slot, DriverError> {
        let slot = self.slots.get(usize::from(connection.0));
        slot.copied().flatten().ok_or(DriverError::Unknown {
            what: "connection",
            id: u64::from(connection.0),
        })
    }

    /// The open connections, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &ConnectionConfig)> {
        let slots = (0..).map(ConnectionId).zip(&self.slots);
        slots.filter_map(|(connection, slot)| match slot {
            Some(Slot::Open(config)) => Some((connection, config)),
            Some(Slot::Reserved(_)) | None => None,
        })
    }

    /// Write a connection's window, and nothing else of its context.
    pub(crate) fn set_window(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
        window: u32,
    ) -> Result<(), DriverError> {
        let config = ConnectionConfig {
            window,
            ..self.config(connection)?
        };
        config.check()?;
        table::write(bar, tables::TCP_WINDOW, u32::from(connection.0), &[window])?;
        self.slots[usize::from(connection.0)] = Some(Slot::Open(config));
        Ok(())
    }

    /// Take every region from a connection, which stays open: its Protection Domain is one that no
    /// region has. What it is configured with stays as it was.
    pub(crate) fn take_regions(
        &self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<(), DriverError> {
        let config = ConnectionConfig {
            protection_domain: NO_DOMAIN,
            ..self.config(connection)?
        };
        write_ddp_context(bar, u32::from(connection.0), &config)
    }

    /// Read the TCP state of a connection.
    pub(crate) fn tcp_state(
        &self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<TcpState, DriverError> {
        let words = self.read(bar, tables::TCP, connection)?;
        Ok(TcpState {
            rcv_nxt: words[0],
            seg_ack: words[2],
            seg_wnd: words[3] as u16,
            fin_seen: words[3] >> 16 & 1 == 1,
            ranges: (words[3] >> 17 & 0x1f) as u8,
        })
    }

    /// Read what a connection's out-of-order segments hold.
    pub(crate) fn out_of_order_state(
        &self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<OutOfOrderState, DriverError> {
        let words = self.read(bar, tables::OUT_OF_ORDER, connection)?;
        Ok(OutOfOrderState {
            pages: (words[1] & 0x3ff) as u16,
            duplicate_acks: words[2] as u8,
        })
    }

    /// Read the out-of-order ranges of a connection, the one changed last first, the others in
    /// sequence order. Each is a table operation of its own; segments may arrive between them.
    pub(crate) fn out_of_order_ranges(
        &self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<Vec<OutOfOrderRange>, DriverError> {
        let words = self.read(bar, tables::OUT_OF_ORDER, connection)?;
        let (mut number, count, last) = (words[0] & 0xff, words[0] >> 8 & 0x1f, words[0] >> 16);
        let mut ranges = Vec::new();
        for _ in 0..count {
            let [left, right, link, _] = table::read(bar, tables::RANGE, number)?;
            let position = match number == last & 0xff {
                true => 0,
                false => ranges.len(),
            };
            ranges.insert(position, OutOfOrderRange { left, right });
            number = link & 0xff;
            if link >> 8 & 1 == 0 {
                break;
            }
        }
        Ok(ranges)
    }

    /// Read the entry of an open connection.
    fn read(
        &self,
        bar: &mut impl Registers,
        table: u32,
        connection: ConnectionId,
    ) -> Result<[u32; 4], DriverError> {
        self.config(connection)?;
        table::read(bar, table, u32::from(connection.0))
    }
}

/// Everything of a connection but its queues and its lookup entry.
fn write_contexts(
    bar: &mut impl Registers,
    index: u32,
    config: &ConnectionConfig,
) -> Result<(), DriverError> {
    let start = config.sequence_start;
    let tcp = [start, config.window, config.seg_ack, config.seg_wnd.into()];
    table::write(bar, tables::TCP, index, &tcp)?;
    let flags = u32::from(config.markers) | u32::from(config.crc) << 1;
    table::write(bar, tables::MPA, index, &[start, flags])?;
    write_ddp_context(bar, index, config)
}

fn write_ddp_context(
    bar: &mut impl Registers,
    index: u32,
    config: &ConnectionConfig,
) -> Result<(), DriverError> {
    let queue = u32::from(config.completion_queue.0);
    let ddp = u32::from(config.protection_domain) | u32::from(config.version) << 16 | queue << 17;
    table::write(bar, tables::DDP, index, &[ddp])
}

#[cfg(test)]
mod tests;
