//! Sizes and time-outs of an endpoint.
use crate::private_data::PrivateData;
use crate::wire::Caps;

/// A second, in the unit of all times.
const SECOND_US: u64 = 1_000_000;

/// Sizes and time-outs of an [`Endpoint`](crate::Endpoint), fixed for its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Calls in flight: asked for by a client, granted at most by a server.
    pub credits: u32,
    /// The longest Send either way before anything else is agreed on, 1,024 at least.
    pub inline_octets: u32,
    /// Calls that a client queues, those in flight included.
    pub calls_max: u32,
    /// Items of at least so many octets are chunks even if they fit in a Send.
    pub chunk_octets_min: u32,
    /// Reverse calls in flight (RFC 8167); 0: an end neither makes nor takes any.
    pub reverse_credits: u32,
    /// Replies by read list, to and from a peer without private data (RFC 5666 section 3.8; RFC
    /// 8166 has none).
    pub read_lists: bool,
    /// The peer may invalidate handles of this end by its Sends.
    pub remote_invalidation: bool,
    /// What a received header may ask for.
    pub caps: Caps,
    /// Whose share of the [`Pool`](crate::Pool) this endpoint takes from: small numbers.
    pub client: u32,
    /// A call that is not answered in this time closes its connection.
    pub call_time_out_us: u64,
    /// A DONE that does not come in this time closes its connection.
    pub done_time_out_us: u64,
    /// A Read that is not answered in this time closes its connection.
    pub read_time_out_us: u64,
    /// The first and the longest pause before another connection.
    pub back_off_us: (u64, u64),
    /// Connections that a call is sent on before it fails.
    pub attempts_max: u32,
    /// A line for the header of each message, sent and received, until it is taken by
    /// [`Endpoint::logged`](crate::Endpoint::logged).
    pub log_headers: bool,
}

impl Default for Settings {
    /// 32 credits, 4,096 octets, 60 s a call, 30 s a DONE or a Read, 1 to 30 s between
    /// connections; only what RFC 8166 allows.
    fn default() -> Self {
        Self {
            credits: 32,
            inline_octets: 4_096,
            calls_max: 128,
            chunk_octets_min: 1_024,
            reverse_credits: 0,
            read_lists: false,
            remote_invalidation: true,
            caps: Caps::default(),
            client: 0,
            call_time_out_us: 60 * SECOND_US,
            done_time_out_us: 30 * SECOND_US,
            read_time_out_us: 30 * SECOND_US,
            back_off_us: (SECOND_US, 30 * SECOND_US),
            attempts_max: 8,
            log_headers: false,
        }
    }
}

/// Receives beyond those of credits: for a DONE, and for a message that should not have come.
const SPARE_RECEIVES: u32 = 2;
/// Sends beyond those of calls and replies: for DONEs and errors.
const SPARE_SENDS: u32 = 4;

impl Settings {
    /// Receives that an end posts: as many as its queue pair has to take.
    #[must_use]
    pub fn receives(&self) -> u32 {
        self.credits.max(1) + self.reverse_credits + SPARE_RECEIVES
    }

    /// Buffers for Sends.
    pub(crate) fn sends(&self) -> u32 {
        self.credits.max(1) + self.reverse_credits + SPARE_SENDS
    }

    /// Octets of a buffer.
    pub(crate) fn buffer_octets(&self) -> u32 {
        self.inline_octets
            .max(crate::private_data::INLINE_OCTETS_DEFAULT)
    }

    /// Registered memory that an endpoint needs for its Sends and receives.
    #[must_use]
    pub fn transport_octets(&self) -> usize {
        (self.receives() + self.sends()) as usize * self.buffer_octets() as usize
    }

    /// What this end says of itself while the connection starts.
    #[must_use]
    pub fn private_data(&self) -> PrivateData {
        PrivateData {
            remote_invalidation: self.remote_invalidation,
            send_octets: self.buffer_octets(),
            receive_octets: self.buffer_octets(),
        }
    }
}
