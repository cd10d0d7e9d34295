//! Outputs of acceptance, as the model compares them.
use crate::messages::{Accepted, HostFrame, SegmentEvent};

/// A message of acceptance; fields without meaning are `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    pub connection: u64,
    pub pages: Option<(u64, u64)>,
    pub place: Option<(u64, u64)>,
    pub sequence: Option<u32>,
    pub ooo: bool,
    pub left: Option<u64>,
    pub follows_left: bool,
    pub right: Option<u64>,
    pub shared: bool,
    pub first: bool,
    pub last: bool,
    pub purges: bool,
}

impl From<Accepted> for Reported {
    fn from(message: Accepted) -> Self {
        let number = |bits: rust_hdl::prelude::Bits<8>| bits.index() as u64;
        let counts = !message.purges;
        let opens = message.ooo && !message.has_right;
        let pages = (
            message.head_page.index() as u64,
            message.tail_page.index() as u64,
        );
        let place = (message.offset.index() as u64, message.octets.index() as u64);
        Self {
            connection: message.connection.index() as u64,
            pages: counts.then_some(pages),
            place: counts.then_some(place),
            sequence: (counts && message.ooo).then(|| message.sequence.to_u64() as u32),
            ooo: counts && message.ooo,
            left: (counts && (message.has_left || opens)).then(|| number(message.left)),
            follows_left: counts && message.has_left,
            right: (message.purges || message.has_right).then(|| number(message.right)),
            shared: counts && message.shared,
            first: counts && message.first,
            last: counts && message.last,
            purges: message.purges,
        }
    }
}

/// A frame for the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    pub pages: (u64, u64),
    pub octets: u64,
}

impl From<HostFrame> for Host {
    fn from(message: HostFrame) -> Self {
        Self {
            pages: (
                message.head_page.index() as u64,
                message.tail_page.index() as u64,
            ),
            octets: message.frame_octets.index() as u64,
        }
    }
}

/// Trace of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    pub connection: u64,
    pub verdict: u64,
    pub seg_seq: u64,
    pub seg_len: u64,
}

impl From<SegmentEvent> for Event {
    fn from(event: SegmentEvent) -> Self {
        Self {
            connection: event.connection.index() as u64,
            verdict: event.verdict.index() as u64,
            seg_seq: event.seg_seq.index() as u64,
            seg_len: event.seg_len.index() as u64,
        }
    }
}
