//! A flow while its connection is offloaded.

use super::region::Region;
use crate::play::dut::{Buffer, ReadSink};
use rnic_driver::ConnectionId;
use std::collections::BTreeMap;

/// A message that a flow will bring, and what is posted for it.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) first_frame: usize,
    pub(super) posting: Posting,
    pub(super) posted: bool,
}

/// What is posted to a queue.
#[derive(Copy, Clone, Debug)]
pub(super) enum Posting {
    /// The buffer of an untagged message.
    Buffer(Buffer),
    /// The read that a Read Response answers.
    Read(ReadSink),
}

/// A flow while its connection is offloaded.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) connection: ConnectionId,
    /// Messages by queue, in order of their MSN; reads on the queue of theirs.
    pub(super) queues: BTreeMap<u32, Vec<Expected>>,
    pub(super) regions: Vec<Region>,
    /// Right edge of its window when that was last written: it never moves left.
    pub(super) right_edge: u32,
    /// No buffers are posted before this frame.
    pub(super) withheld_until: usize,
}
