//! An offloaded connection: its key, its configuration, its id and its state.

use crate::device::error::DriverError;
use crate::device::ids::QueueId;
use rnic_abi::limits::MAX_RECEIVE_WINDOW;
use std::net::{IpAddr, SocketAddr};

/// The two ends of a connection, as in a received segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionKey {
    /// Source of received segments.
    pub remote: SocketAddr,
    /// Destination of received segments.
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

/// What of a connection is known before it enters full operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Its two ends.
    pub key: ConnectionKey,
    /// Protection Domain.
    pub protection_domain: u16,
    /// Where its completions go: a queue that exists ([`Device::create_completion_queue`]).
    ///
    /// [`Device::create_completion_queue`]: crate::Device::create_completion_queue
    pub completion_queue: QueueId,
}

/// A connection's parameters when it enters full operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Its two ends.
    pub key: ConnectionKey,
    /// Sequence number of the first octet of full operation (SeqStart).
    pub sequence_start: u32,
    /// Receive window in octets, 1..=2^30.
    pub window: u32,
    /// SEG.ACK of the last acceptable segment that software has received. Events report it until
    /// the device has received one itself: a repeated start-up frame, of which the device takes
    /// nothing, must not seem to acknowledge something else.
    pub seg_ack: u32,
    /// SEG.WND of the same segment, unscaled.
    pub seg_wnd: u16,
    /// The peer inserts markers.
    pub markers: bool,
    /// CRC32C is in use.
    pub crc: bool,
    /// DDP and RDMAP version: 0 for peers of MPA revision 0, else 1.
    pub version: u8,
    /// Protection Domain.
    pub protection_domain: u16,
    /// Where its completions go: a queue that exists ([`Device::create_completion_queue`]).
    ///
    /// [`Device::create_completion_queue`]: crate::Device::create_completion_queue
    pub completion_queue: QueueId,
}

impl ConnectionConfig {
    /// What of it is known before.
    pub fn reservation(&self) -> Reservation {
        Reservation {
            key: self.key,
            protection_domain: self.protection_domain,
            completion_queue: self.completion_queue,
        }
    }

    /// Refuses what the device does not support.
    pub(crate) fn check(&self) -> Result<(), DriverError> {
        if self.window == 0 || self.window > MAX_RECEIVE_WINDOW {
            let value = u64::from(self.window);
            return Err(DriverError::Configuration {
                what: "the receive window",
                value,
                allowed: "1..=2^30",
            });
        }
        if self.version > 1 {
            let value = u64::from(self.version);
            return Err(DriverError::Configuration {
                what: "the DDP version",
                value,
                allowed: "0 or 1",
            });
        }
        Ok(())
    }
}

/// TCP state of a connection as the device holds it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TcpState {
    /// Next octet expected.
    pub rcv_nxt: u32,
    /// SEG.ACK of the last acceptable segment (RFC 9293 section 3.10.7.4).
    pub seg_ack: u32,
    /// SEG.WND of the same segment, unscaled.
    pub seg_wnd: u16,
    /// A FIN with payload has arrived; it takes effect once RCV.NXT is at its sequence number,
    /// which events report ([`Event::fin`](crate::Event::fin)).
    pub fin_seen: bool,
    /// Out-of-order ranges, at most 16.
    pub ranges: u8,
}

/// Octets received beyond a gap.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrderRange {
    /// Sequence number of the first octet.
    pub left: u32,
    /// Sequence number after the last octet.
    pub right: u32,
}

/// Resources that a connection's out-of-order segments hold, and the ACKs due for them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrderState {
    /// Pages of packet memory charged to the connection.
    pub pages: u16,
    /// Segments that call for an immediate duplicate ACK, modulo 256.
    pub duplicate_acks: u8,
}
