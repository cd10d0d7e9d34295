//! A connection of a case: what was agreed on, numbers of messages, regions, and what was sent.

use super::expect::Outcome;
use super::step::Which;
use crate::ddp::ReadRequest;
use crate::stranger::Stranger;
use crate::talk::Talk;
use std::time::Duration;

/// Octets of a buffer of the peer's, unless a ping has another one.
pub(crate) const BUFFER_OCTETS: u32 = 64;
/// STag and Tagged Offset of what the target reads.
pub(crate) const SOURCE: Region = Region {
    stag: 0x5151_5100,
    to: 0x1000,
    octets: BUFFER_OCTETS,
};
/// STag and Tagged Offset of what the target writes.
pub(crate) const SINK: Region = Region {
    stag: 0x5252_5200,
    to: 0x2_0000_0000,
    octets: BUFFER_OCTETS,
};

/// A buffer that one end has announced to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub stag: u32,
    pub to: u64,
    pub octets: u32,
}

impl Region {
    /// As `rping` says it: TO, STag, size.
    pub(crate) fn record(&self) -> Vec<u8> {
        let mut record = self.to.to_be_bytes().to_vec();
        record.extend_from_slice(&self.stag.to_be_bytes());
        record.extend_from_slice(&self.octets.to_be_bytes());
        record
    }

    /// What a record says; `None`: it is none.
    pub(crate) fn read(record: &[u8]) -> Option<Self> {
        let (to, rest) = record.split_first_chunk()?;
        let (stag, rest) = rest.split_first_chunk()?;
        Some(Self {
            to: u64::from_be_bytes(*to),
            stag: u32::from_be_bytes(*stag),
            octets: u32::from_be_bytes(rest.try_into().ok()?),
        })
    }
}

/// The octets of a buffer: text that a zero ends, as Linux' `rping` writes back no more than that.
pub(crate) fn pattern(octets: u32) -> Vec<u8> {
    let letter = |at: u32| b'A' + (at % 58) as u8;
    let text = (0..octets).map(|at| if at + 1 == octets { 0 } else { letter(at) });
    text.collect()
}

/// Why the steps of a case do not go on.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// This came.
    Came(Outcome),
    /// It cannot be seen; why.
    Unseen(String),
}

/// Numbers of the next message of a queue, in each direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub ours: u32,
    pub theirs: u32,
}

/// A connection.
pub(crate) struct State<'a> {
    pub stranger: &'a Stranger,
    pub talk: Talk,
    /// The peer's port.
    pub port: u16,
    pub patience: Duration,
    /// Full operation has begun.
    pub is_operating: bool,
    /// The target does not do for the case.
    pub is_unfit: bool,
    /// Flags and revision of the start-up frame that the peer has sent.
    pub own_frame: (u8, u8),
    /// Sends and Read Requests.
    pub sends: Numbers,
    pub reads: Numbers,
    /// ULPDUs of the target's that were taken.
    pub taken: usize,
    /// Regions of a client's.
    pub source: Option<Region>,
    pub sink: Option<Region>,
    /// The target's last Read Request.
    pub read: Option<ReadRequest>,
    /// Octets of one's own buffer.
    pub buffer_octets: u32,
    /// Octets that the target has to answer the last Read with, and has answered with.
    pub asked_octets: u32,
    pub response: Vec<u8>,
    /// The ULPDUs that a Terminate may be about.
    pub bad: Vec<Vec<u8>>,
    pub is_bad_named: bool,
    /// Octets that share a segment with the next FPDU.
    pub joined: Vec<u8>,
}

impl<'a> State<'a> {
    pub(crate) fn new(stranger: &'a Stranger, talk: Talk, patience: Duration) -> Self {
        let numbers = Numbers { ours: 1, theirs: 1 };
        Self {
            stranger,
            port: talk.conn.own_port(),
            talk,
            patience,
            is_operating: false,
            is_unfit: false,
            own_frame: (0, 0),
            sends: numbers,
            reads: numbers,
            taken: 0,
            source: None,
            sink: None,
            read: None,
            buffer_octets: BUFFER_OCTETS,
            asked_octets: 0,
            response: Vec::new(),
            bad: Vec::new(),
            is_bad_named: false,
            joined: Vec::new(),
        }
    }

    /// A region of the target's.
    pub(crate) fn region(&self, which: Which) -> Result<Region, Stop> {
        let region = match which {
            Which::Source => self.source,
            Which::Sink => self.sink,
            Which::Read => self.read.map(|read| Region {
                stag: read.sink_stag,
                to: read.sink_to,
                octets: read.octets,
            }),
        };
        region.ok_or_else(|| {
            Stop::Unseen(format!(
                "the target has not announced its {which:?}: the case does not wait for it"
            ))
        })
    }

    /// A buffer of the peer's own.
    pub(crate) fn own(&self, which: Which) -> Region {
        let octets = self.buffer_octets;
        match which {
            Which::Sink => Region { octets, ..SINK },
            Which::Source | Which::Read => Region { octets, ..SOURCE },
        }
    }
}
