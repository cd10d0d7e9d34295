//! A flow while its connection is offloaded.

use super::region::Region;
use crate::play::dut::Buffer;
use rnic_driver::Connection;
use std::collections::BTreeMap;

/// A message that a flow will bring, and its buffer.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) first_frame: usize,
    pub(super) buffer: Buffer,
    pub(super) posted: bool,
}

/// A flow while its connection is offloaded.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) connection: Connection,
    /// Messages by queue, in order of their MSN.
    pub(super) queues: BTreeMap<u32, Vec<Expected>>,
    pub(super) regions: Vec<Region>,
    /// No buffers are posted before this frame.
    pub(super) withheld_until: usize,
}
