//! What is asked and answered: one line each, see the module above.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// Version of the protocol.
pub const VERSION: u32 = 1;
/// Octets of the longest request, its newline included.
pub const REQUEST_OCTETS_MAX: usize = 64;
/// Former names of pools, with the present ones: an answer has a pool under both until the next
/// release.
pub(super) const FORMER_POOL_NAMES: [(&str, &str); 1] = [("shared_runs", "fragments")];
/// What each request begins with.
const PREFIX: &str = "ferrowarp-monitor/1";

/// What can be asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// What the device is, and what it has free.
    Info,
    /// Every counter.
    Counters,
    /// A page of regions, by their STags.
    Regions {
        /// The lowest STag of the page.
        from: u64,
    },
    /// A page of connections, by their ids.
    Connections {
        /// The lowest id of the page.
        from: u64,
    },
}

impl Request {
    /// Reads a request, without its newline; the error is for whoever sent it.
    ///
    /// # Errors
    /// What is wrong, and what can be asked.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        let line = std::str::from_utf8(line).map_err(|_| "the request is not UTF-8".to_owned())?;
        let words: Vec<&str> = line.split(' ').collect();
        let (&prefix, words) = words.split_first().expect("a text has a first word");
        if prefix != PREFIX {
            return Err(format!("a request begins with `{PREFIX} `"));
        }
        let number = |text: &str| {
            let number = text.parse::<u64>();
            number.map_err(|_| format!("`{text}` is not a decimal number"))
        };
        match words {
            ["info"] => Ok(Self::Info),
            ["counters"] => Ok(Self::Counters),
            ["regions", from] => Ok(Self::Regions {
                from: number(from)?,
            }),
            ["connections", from] => Ok(Self::Connections {
                from: number(from)?,
            }),
            _ => Err("ask for `info`, `counters`, `regions FROM` or `connections FROM`".to_owned()),
        }
    }
}

/// As it is sent, without its newline.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Info => write!(f, "{PREFIX} info"),
            Self::Counters => write!(f, "{PREFIX} counters"),
            Self::Regions { from } => write!(f, "{PREFIX} regions {from}"),
            Self::Connections { from } => write!(f, "{PREFIX} connections {from}"),
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// [`VERSION`] of who answers.
    pub version: u32,
    /// What was asked for.
    #[serde(flatten)]
    pub body: Body,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// To [`Request::Info`].
    Info(Info),
    /// To [`Request::Counters`]: by name, modulo 2^32.
    Counters(BTreeMap<String, u32>),
    /// To [`Request::Regions`].
    Regions(Page<RegionReport>),
    /// To [`Request::Connections`].
    Connections(Page<ConnectionReport>),
    /// The request is wrong, or the device does not answer.
    Error(String),
}

/// What a device is, and what it has free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The process that has the device open.
    pub process: u32,
    /// Width of the frame path in bits.
    pub frame_path_bits: u32,
    /// Connections that the device can have.
    pub connections: u32,
    /// Connections that are open.
    pub connections_open: u32,
    /// Regions that the device can have.
    pub regions: u32,
    /// Regions that are registered, and windows that are bound.
    pub regions_registered: u32,
    /// Pages of packet memory that are free.
    pub free_pages: u32,
    /// Pools that all connections share, by name; see [`Info::present_pools`].
    pub pools: BTreeMap<String, PoolReport>,
}

impl Info {
    /// The pools by name, each once: without copies under former names.
    pub fn present_pools(&self) -> impl Iterator<Item = (&str, PoolReport)> {
        let is_copy = |name: &str| {
            let mut former = FORMER_POOL_NAMES.iter();
            former.any(|(old, present)| *old == name && self.pools.contains_key(*present))
        };
        let pools = self.pools.iter().map(|(name, pool)| (name.as_str(), *pool));
        pools.filter(move |(name, _)| !is_copy(name))
    }
}

/// A pool of the device.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolReport {
    /// What is in use.
    pub used: u32,
    /// What there is.
    pub size: u32,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// In order.
    pub items: Vec<T>,
    /// Where the next page begins; null if there is none.
    pub next: Option<u64>,
}

/// A region or window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionReport {
    /// STag, with its key.
    pub stag: u32,
    /// Its octets.
    pub octets: u64,
    /// What peers may do: `remote_write`, `read_sink`, `remote_read`, `remote_invalidate`.
    pub rights: Vec<String>,
    /// Protection Domain.
    pub protection_domain: u16,
    /// The only connection that may use it, if there is one.
    pub connection: Option<u16>,
    /// The device takes it; false once a peer has invalidated it.
    pub valid: bool,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionReport {
    /// Its id.
    pub id: u16,
    /// Source of received segments.
    pub remote: SocketAddr,
    /// Destination of received segments.
    pub local: SocketAddr,
    /// Protection Domain.
    pub protection_domain: u16,
    /// Where its completions go.
    pub completion_queue: u32,
    /// Receive window in octets.
    pub window: u32,
    /// As the device holds it.
    pub tcp: TcpReport,
    /// What it holds of segments beyond a gap.
    pub out_of_order: OutOfOrderReport,
    /// What its owner does for it, if that is an endpoint of
    /// [`verbs`](crate::verbs::endpoint).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointReport>,
}

/// A connection as its endpoint has it: the sender of TCP, and the queue pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointReport {
    /// State of TCP, as RFC 9293 names it.
    pub state: String,
    /// Smoothed round-trip time in microseconds, once there is one.
    pub srtt_us: Option<u64>,
    /// Retransmission time-out in microseconds.
    pub rto_us: u64,
    /// Congestion window in octets.
    pub congestion_octets: u64,
    /// Octets that are believed to be in the network.
    pub flying_octets: u64,
    /// Segments with payload that were sent.
    pub segments: u64,
    /// Segments that were sent again.
    pub retransmitted_segments: u64,
    /// Work requests that are posted and have not completed.
    pub sends_posted: u32,
    /// Reads of the peer's memory that are outstanding.
    pub reads_out: u32,
    /// Why it has failed, if it has.
    pub last_error: Option<String>,
}

/// TCP state of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpReport {
    /// Next octet expected.
    pub rcv_nxt: u32,
    /// SEG.ACK of the last acceptable segment.
    pub seg_ack: u32,
    /// SEG.WND of the same segment, unscaled.
    pub seg_wnd: u16,
    /// A FIN with payload has arrived.
    pub fin_seen: bool,
}

/// What a connection holds of segments beyond a gap.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfOrderReport {
    /// Ranges of octets.
    pub ranges: u8,
    /// Pages of packet memory.
    pub pages: u16,
    /// Segments that called for a duplicate ACK, modulo 256.
    pub duplicate_acks: u8,
}
