//! What comes out of a connection, and what it reports of itself.
use crate::error::Lost;
use crate::segment::Outgoing;
use crate::sender::SenderCounts;
use std::hash::{Hash, Hasher};

/// What a connection has for its caller.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A segment to be sent.
    Segment(Outgoing),
    /// The record with this id is acknowledged whole; its octets may change. In the order in which
    /// records were pushed, each once.
    Acked(u64),
    /// What happened.
    Event(Event),
}

/// What happened to a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The handshake is over.
    Connected,
    /// The peer has sent its last octet, and all have arrived. Sending goes on.
    PeerClosed,
    /// Both ends have closed, all is acknowledged, and TIME-WAIT, if this end had to wait, is over.
    Closed,
    /// The connection has ended otherwise.
    Lost(Lost),
}

/// States of RFC 9293 section 3.3.2, without LISTEN, which is the listener's.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// A SYN has been sent.
    SynSent,
    /// SYNs went both ways; an acknowledgement of this end's is missing.
    SynReceived,
    /// Both ends can send.
    Established,
    /// This end has closed.
    FinWait1,
    /// The peer has acknowledged that.
    FinWait2,
    /// The peer has closed.
    CloseWait,
    /// Both have closed, this end first; an acknowledgement of its FIN is missing.
    Closing,
    /// Both have closed, the peer first; an acknowledgement of this end's FIN is missing.
    LastAck,
    /// Both have closed; the peer may not know that this end has its FIN.
    TimeWait,
    /// It has ended.
    Closed,
}

impl State {
    /// Octets of the peer may still arrive.
    pub const fn receives(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// Segments with payload may still leave.
    pub const fn sends(self) -> bool {
        matches!(
            self,
            Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck
        )
    }
}

/// A connection at one moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statistics {
    /// State.
    pub state: State,
    /// Smoothed round-trip time in microseconds, once there is one.
    pub srtt_us: Option<u64>,
    /// Retransmission time-out in microseconds, back-off included.
    pub rto_us: u64,
    /// Congestion window in octets.
    pub congestion_octets: u64,
    /// Slow-start threshold in octets.
    pub threshold_octets: u64,
    /// The peer's window in octets.
    pub peer_window_octets: u32,
    /// Octets believed to be in the network.
    pub flying_octets: u64,
    /// Largest segment in octets.
    pub emss_octets: u16,
    /// Counters of the sender.
    pub sent: SenderCounts,
    /// Counters of what arrived.
    pub received: ReceivedCounts,
    /// Why the connection ended.
    pub lost: Option<Lost>,
}

/// Counters of what arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct ReceivedCounts {
    /// Segments.
    pub segments: u64,
    /// Events of the device.
    pub events: u64,
    /// Acknowledgements of what was sent, new or repeated.
    pub acks: u64,
    /// Acknowledgements of less than had been acknowledged.
    pub old_acks: u64,
    /// Payloads that were in order.
    pub in_order: u64,
    /// Payloads that were kept beyond a gap.
    pub out_of_order: u64,
    /// FINs, the same one as often as it comes.
    pub fins: u64,
    /// Octets or FINs after the FIN, or before octets that had come.
    pub beyond_fin: u64,
    /// RSTs that ended the connection.
    pub resets: u64,
    /// Segments outside of the window.
    pub unacceptable: u64,
    /// Segments that acknowledge what was never sent, or what no segment can any more.
    pub bad_acks: u64,
    /// SYNs inside the connection.
    pub syns: u64,
    /// RSTs that did not have the exact number.
    pub inexact_resets: u64,
    /// Segments without ACK.
    pub without_ack: u64,
    /// Segments that came before the handshake was over and are not part of it.
    pub strays: u64,
    /// Payloads of which nothing was kept.
    pub not_kept: u64,
    /// Challenge ACKs that were due.
    pub challenges: u64,
    /// Those that were left out, beyond the limit.
    pub challenges_left_out: u64,
}

/// Nothing: what a connection does does not depend on them, so that two which differ in them alone
/// count as equal where states are explored.
impl Hash for ReceivedCounts {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
