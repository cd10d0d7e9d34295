//! What the player did to a device: frames in the order in which they were offered, and what was
//! set up between them.

use crate::play::tally::Place;
use rnic_capture::segment::Segment;
use rnic_driver::{ConnectionConfig, ConnectionId};

/// A frame given to the device.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    /// Frame of the capture, counted from 1.
    pub frame: usize,
    /// The open flow that it belongs to, if it has payload.
    pub flow: Option<usize>,
    /// SEG.SEQ.
    pub sequence: u32,
    /// Its checksum is right.
    pub checksum_good: bool,
    /// TCP payload.
    pub payload: Vec<u8>,
}

/// Actions other than offering frames.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// A flow's connection was opened.
    Open {
        flow: usize,
        connection: u16,
        sequence_start: u32,
        window: u32,
        markers: bool,
    },
    /// A connection was closed.
    Close { connection: u16 },
    /// A flow has a region.
    Region {
        flow: usize,
        stag: u32,
        place: Place,
    },
    /// A flow has a buffer for a message.
    Buffer {
        flow: usize,
        qn: u32,
        msn: u32,
        address: u64,
    },
    /// The device gave up what a flow had beyond gaps.
    GaveUp { flow: usize },
    /// Of the last segment of a flow only the octets before `rcv_nxt` were taken.
    TakenUpTo { flow: usize, rcv_nxt: u32 },
}

/// Everything the player did, with the cycle in which it was done.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub(super) offers: Vec<Offer>,
    pub(super) actions: Vec<(u64, Action)>,
}

impl Log {
    /// `frame`, which holds `octets` and belongs to `flow`, is offered.
    pub fn offer(&mut self, frame: usize, flow: Option<usize>, octets: &[u8]) {
        let segment = Segment::of_frame(octets).filter(|segment| !segment.payload.is_empty());
        self.offers.push(match (flow, segment) {
            (Some(flow), Some(segment)) => Offer {
                frame,
                flow: Some(flow),
                sequence: segment.sequence,
                checksum_good: segment.checksum_good,
                payload: segment.payload.to_vec(),
            },
            _ => Offer {
                frame,
                flow: None,
                sequence: 0,
                checksum_good: false,
                payload: Vec::new(),
            },
        });
    }

    /// In cycle `cycle`, `flow` became `connection`.
    pub fn open(
        &mut self,
        cycle: u64,
        flow: usize,
        connection: ConnectionId,
        config: &ConnectionConfig,
    ) {
        let action = Action::Open {
            flow,
            connection: connection.0,
            sequence_start: config.sequence_start,
            window: config.window,
            markers: config.markers,
        };
        self.actions.push((cycle, action));
    }

    /// `connection` was closed.
    pub fn close(&mut self, cycle: u64, connection: ConnectionId) {
        let connection = connection.0;
        self.actions.push((cycle, Action::Close { connection }));
    }

    /// `flow` has a region.
    pub fn region(&mut self, cycle: u64, flow: usize, stag: u32, place: Place) {
        self.actions
            .push((cycle, Action::Region { flow, stag, place }));
    }

    /// `flow` has a buffer for a message.
    pub fn buffer(&mut self, cycle: u64, flow: usize, (qn, msn): (u32, u32), address: u64) {
        let action = Action::Buffer {
            flow,
            qn,
            msn,
            address,
        };
        self.actions.push((cycle, action));
    }

    /// The device gave up what `flow` had beyond gaps.
    pub fn gave_up(&mut self, cycle: u64, flow: usize) {
        self.actions.push((cycle, Action::GaveUp { flow }));
    }

    /// Of the last segment of `flow` only the octets before `rcv_nxt` were taken.
    pub fn taken_up_to(&mut self, cycle: u64, flow: usize, rcv_nxt: u32) {
        self.actions
            .push((cycle, Action::TakenUpTo { flow, rcv_nxt }));
    }
}
