//! Why a connection ended, and why a call was refused.
use crate::seq::SeqNumber;
use thiserror::Error;

/// Why a connection was lost. MPA reports each as its error 1 and passes this on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum Lost {
    /// The peer answered the SYN with an RST.
    #[error("the peer refused the connection")]
    Refused,
    /// The peer reset the connection.
    #[error("the peer reset the connection at sequence number {seq}")]
    Reset {
        /// SEG.SEQ of its RST.
        seq: SeqNumber,
    },
    /// The application aborted the connection.
    #[error("the connection was aborted here")]
    Aborted,
    /// The SYN was not answered in time.
    #[error("no answer to the SYN in time")]
    SynTimeOut,
    /// Octets were sent again too often without an acknowledgement.
    #[error("octets from {seq} on were not acknowledged, sent {count} times again")]
    RetransmissionCount {
        /// The first of them.
        seq: SeqNumber,
        /// Retransmissions.
        count: u32,
    },
    /// Octets were not acknowledged in time.
    #[error("octets from {seq} on were not acknowledged in time")]
    RetransmissionTimeOut {
        /// The first of them.
        seq: SeqNumber,
    },
    /// Start-up was not over in time.
    #[error("start-up was not over in time")]
    StartupTimeOut,
    /// The peer did not close its side in time.
    #[error("the peer did not close its side in time")]
    FinWait2TimeOut,
    /// Keepalive probes were not answered.
    #[error("{count} keepalive probes were not answered")]
    KeepaliveTimeOut {
        /// Probes.
        count: u32,
    },
    /// The peer sent octets after its FIN, or a second FIN elsewhere.
    #[error("the peer sent octets up to {end} after its FIN at {fin}")]
    DataBeyondFin {
        /// Sequence number of the FIN.
        fin: SeqNumber,
        /// Sequence number after the last octet.
        end: SeqNumber,
    },
}

/// Why a record was not taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum PushError {
    /// The queue is full; some of it has to be acknowledged first.
    #[error("{records_max} records are queued already")]
    Full {
        /// Records that can be queued.
        records_max: u32,
    },
    /// A record has at least one octet, and at most 65,535.
    #[error("a record of {octets} octets, where 1 to 65535 are possible")]
    Octets {
        /// Octets of the record.
        octets: u32,
    },
    /// The handshake is not over.
    #[error("the connection is not established yet")]
    NotConnected,
    /// The sending side has been closed, or the connection has ended.
    #[error("the connection does not send any more")]
    Closed,
}

/// Why the receiver was not limited, or not handed over.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum HandoverError {
    /// Octets after the start-up frame were acknowledged already: the peer must be reset.
    #[error("octets up to {acknowledged} were acknowledged, the switch is at {at}")]
    Acknowledged {
        /// Number of the first octet of full operation.
        at: SeqNumber,
        /// RCV.NXT as it was sent.
        acknowledged: SeqNumber,
    },
    /// The octets before the switch have not all arrived, or have not all been read.
    #[error("the receiver is at {at}, the switch at {switch}")]
    NotThere {
        /// Number of the next octet to be read.
        at: SeqNumber,
        /// Number of the first octet of full operation.
        switch: SeqNumber,
    },
    /// Not in a state in which the peer may still send: no connection yet, or its FIN is here.
    #[error("the peer does not send in this state")]
    State,
    /// No limit has been set.
    #[error("the place of the switch has not been set")]
    NoLimit,
    /// The receiver has been handed over already.
    #[error("the receiver has been handed over already")]
    Twice,
}
