//! What the application posts, and what becomes of it.

use crate::framer::{first_octets, Piece, Pieces, Unreadable};
use rnic_wire::ddp::errors::{
    Cause, RDMAP_ACCESS, RDMAP_ASSOCIATION, RDMAP_BOUNDS, RDMAP_STAG, RDMAP_WRAP,
};
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::READ_REQUEST_OCTETS;
use rnic_wire::ddp::{tagged, untagged};

/// What is to be done with a payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A Send, into the peer's next posted receive.
    Send {
        /// It raises an event at the peer.
        solicited: bool,
        /// An STag of the peer's to invalidate.
        invalidate_stag: Option<u32>,
    },
    /// An RDMA Write.
    Write {
        /// The peer's STag.
        stag: u32,
        /// Tagged Offset of the first octet.
        to: u64,
    },
    /// An RDMA Read; its work request has no payload.
    Read {
        /// Our STag, which the response writes.
        sink_stag: u32,
        /// Tagged Offset of its first octet.
        sink_to: u64,
        /// The peer's STag.
        source_stag: u32,
        /// Tagged Offset of its first octet.
        source_to: u64,
        /// Octets to read.
        octets: u32,
    },
}

/// A posted operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// Comes back with the completion.
    pub id: u64,
    /// What to do.
    pub operation: Operation,
    /// The octets, not to be changed before the completion.
    pub payload: Pieces,
}

impl WorkRequest {
    /// Octets of the first ULPDU of its message.
    pub(super) fn first_octets(&self, mulpdu: usize) -> usize {
        let front = match self.operation {
            Operation::Send { .. } => untagged::HEADER_OCTETS,
            Operation::Write { .. } => tagged::HEADER_OCTETS,
            Operation::Read { .. } => untagged::HEADER_OCTETS + READ_REQUEST_OCTETS,
        };
        first_octets(front, self.payload.octets(), mulpdu)
    }
}

/// Why nothing was posted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// As much is posted as the queue holds.
    #[error("the queue holds no more than {0} requests")]
    Full(usize),
    /// A message of 2^32 octets or more (DDP-017), or a Read with a payload.
    #[error("a message of {0} octets is none that can be sent")]
    Length(u64),
    /// This end has closed, or the connection has failed (DDP-028).
    #[error("the queue pair is closed")]
    Closed,
    /// The peer has closed its half: nothing arrives any more.
    #[error("the peer has closed its half of the connection")]
    HalfClosed,
}

/// How a request ended. Each is a status of libibverbs, whose other ones do not occur: they are of
/// InfiniBand's own retries, End-to-End contexts, tag matching, or of requests that are refused
/// here when they are posted ([`PostError`]).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// A Send or Write is acknowledged by the peer's TCP (DDP-026), a Read placed, a receive
    /// delivered.
    Success,
    /// The receive has too few octets for the peer's message (DDP-039, DDP-040), by which the
    /// connection has failed.
    LocalLength,
    /// The connection ended before (RDMAP-021).
    Flushed,
    /// The payload could not be read.
    LocalProtection,
    /// The peer refused a Read for what it would read.
    RemoteAccess,
    /// The peer refused a Read for another reason.
    RemoteOperation,
}

impl Status {
    /// The number of this status in `enum ibv_wc_status` of libibverbs, for programs that are
    /// written for that.
    ///
    /// | status | name | number |
    /// |---|---|---|
    /// | [`Status::Success`] | `IBV_WC_SUCCESS` | 0 |
    /// | [`Status::LocalLength`] | `IBV_WC_LOC_LEN_ERR` | 1 |
    /// | [`Status::LocalProtection`] | `IBV_WC_LOC_PROT_ERR` | 4 |
    /// | [`Status::Flushed`] | `IBV_WC_WR_FLUSH_ERR` | 5 |
    /// | [`Status::RemoteAccess`] | `IBV_WC_REM_ACCESS_ERR` | 10 |
    /// | [`Status::RemoteOperation`] | `IBV_WC_REM_OP_ERR` | 11 |
    pub const fn ibv_wc_status(self) -> u32 {
        self.ibv_wc().0
    }

    /// The name of this status in `enum ibv_wc_status` of libibverbs.
    pub const fn ibv_wc_name(self) -> &'static str {
        self.ibv_wc().1
    }

    const fn ibv_wc(self) -> (u32, &'static str) {
        match self {
            Self::Success => (0, "IBV_WC_SUCCESS"),
            Self::LocalLength => (1, "IBV_WC_LOC_LEN_ERR"),
            Self::LocalProtection => (4, "IBV_WC_LOC_PROT_ERR"),
            Self::Flushed => (5, "IBV_WC_WR_FLUSH_ERR"),
            Self::RemoteAccess => (10, "IBV_WC_REM_ACCESS_ERR"),
            Self::RemoteOperation => (11, "IBV_WC_REM_OP_ERR"),
        }
    }
}

/// What has ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A Send.
    Send,
    /// An RDMA Write.
    Write,
    /// An RDMA Read.
    Read,
    /// A receive; what it received unless it was flushed.
    Receive(Option<Delivered>),
}

/// A delivered message.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delivered {
    /// One of the four Sends.
    pub opcode: Opcode,
    /// Message Sequence Number.
    pub msn: u32,
    /// Its length.
    pub octets: u32,
    /// Our STag that it invalidated.
    pub invalidated_stag: Option<u32>,
}

/// The end of a request: one for each, in the order of posting of its queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Completion {
    /// As posted.
    pub id: u64,
    /// What has ended.
    pub kind: Kind,
    /// How.
    pub status: Status,
}

/// Why a Read Request is refused (RDMAP-009).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReadRefusal {
    /// The STag is unknown, has another key, or is not valid.
    Stag,
    /// Not all octets are in the region.
    Bounds,
    /// The region may not be read by a peer.
    Access,
    /// The region is of another Protection Domain or stream.
    Association,
    /// TO plus length exceeds 2^64.
    Wrap,
}

impl ReadRefusal {
    /// RDMAP's error for it.
    pub const fn cause(self) -> Cause {
        match self {
            Self::Stag => RDMAP_STAG,
            Self::Bounds => RDMAP_BOUNDS,
            Self::Access => RDMAP_ACCESS,
            Self::Association => RDMAP_ASSOCIATION,
            Self::Wrap => RDMAP_WRAP,
        }
    }
}

/// What a queue pair needs of the device and of the application's memory. Everything is called
/// while octets are being made or a completion is being taken in, and returns at once.
pub trait Host {
    /// Copy a piece of a payload, or of the source of a Read; `into` has its length.
    ///
    /// # Errors
    /// [`Unreadable`]: the connection ends.
    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable>;

    /// The source of a peer's Read, of at least one octet: valid, of this stream, readable by a
    /// peer, and wholly in its region (RDMAP-009).
    ///
    /// # Errors
    /// [`ReadRefusal`]: a Terminate, and the connection ends.
    fn read_source(&mut self, stag: u32, to: u64, octets: u32) -> Result<Pieces, ReadRefusal>;

    /// The peer has invalidated our STag: the device refuses it already. Called before the receive
    /// completes (RDMAP-013).
    fn invalidated(&mut self, stag: u32);

    /// Make a Read outstanding at the device; its Request leaves with the record that is being
    /// made. Never more than ORD at a time.
    fn expect_read(&mut self, sink_stag: u32, sink_to: u64, octets: u32);

    /// Post a buffer for Read Requests again; the last FPDU of a response leaves with the record
    /// that is being made, and the peer's next Request may answer it.
    fn repost_read_buffer(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of `enum ibv_wc_status`, in its order, which gives each name its number.
    const IBV_WC: [&str; 12] = [
        "IBV_WC_SUCCESS",
        "IBV_WC_LOC_LEN_ERR",
        "IBV_WC_LOC_QP_OP_ERR",
        "IBV_WC_LOC_EEC_OP_ERR",
        "IBV_WC_LOC_PROT_ERR",
        "IBV_WC_WR_FLUSH_ERR",
        "IBV_WC_MW_BIND_ERR",
        "IBV_WC_BAD_RESP_ERR",
        "IBV_WC_LOC_ACCESS_ERR",
        "IBV_WC_REM_INV_REQ_ERR",
        "IBV_WC_REM_ACCESS_ERR",
        "IBV_WC_REM_OP_ERR",
    ];

    #[test]
    fn each_status_has_the_number_of_its_name() {
        let all = [
            Status::Success,
            Status::LocalLength,
            Status::Flushed,
            Status::LocalProtection,
            Status::RemoteAccess,
            Status::RemoteOperation,
        ];
        for status in all {
            let number = status.ibv_wc_status() as usize;
            assert_eq!(IBV_WC[number], status.ibv_wc_name(), "{status:?}");
        }
    }
}
