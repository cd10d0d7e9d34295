//! Read Requests of the peer, and their responses in the order of the Requests (RDMAP-008).
//!
//! A Request takes one of IRD buffers from when it arrives until the last FPDU of its response is
//! made. Copied octets of responses are held by TCP until they are acknowledged; when as many are
//! as the limit says, responses wait.

use crate::framer::{Message, Pieces};
use crate::terminate::Refused;
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::{Opcode, QN_READ_REQUEST};
use rnic_wire::ddp::read_request::{ReadRequestRepr, READ_REQUEST_OCTETS};
use rnic_wire::ddp::untagged::{self, UntaggedRepr};
use std::collections::VecDeque;

/// A Request, and where its octets are.
#[derive(Copy, Clone, Debug)]
pub(super) struct Asked {
    pub version: u8,
    pub msn: u32,
    pub request: ReadRequestRepr,
    pub source: Pieces,
}

impl Asked {
    pub fn response(&self, snapshot: bool) -> Message {
        let ReadRequestRepr {
            sink_stag, sink_to, ..
        } = self.request;
        Message::read_response(self.version, sink_stag, sink_to, self.source, snapshot)
    }

    /// The segment of the Request, for a Terminate.
    pub fn refused(&self) -> Option<Refused> {
        let header = UntaggedRepr {
            control: ControlRepr::new(self.version, Opcode::ReadRequest, true),
            invalidate_stag: 0,
            qn: QN_READ_REQUEST,
            msn: self.msn,
            mo: 0,
        };
        let octets = untagged::HEADER_OCTETS + READ_REQUEST_OCTETS;
        let refused = Refused::new(octets as u16, &header.octets());
        refused.map(|refused| refused.with_read_request(&self.request.octets()))
    }
}

/// Memory: IRD Requests, and a number of 16 octets for each copied record that is not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct ReadResponder {
    ird: usize,
    snapshot: bool,
    snapshot_octets_max: u64,
    asked: VecDeque<Asked>,
    /// Ends and octets of what was copied and is not acknowledged.
    held: VecDeque<(u64, u64)>,
    held_octets: u64,
    /// How often a response, or the rest of one, began to wait for acknowledgements.
    waits: u64,
}

impl ReadResponder {
    pub fn new(ird: u16, snapshot: bool, snapshot_octets_max: u64) -> Self {
        Self {
            ird: usize::from(ird),
            snapshot,
            snapshot_octets_max,
            asked: VecDeque::new(),
            held: VecDeque::new(),
            held_octets: 0,
            waits: 0,
        }
    }

    pub fn is_full(&self) -> bool {
        self.asked.len() >= self.ird
    }

    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    pub fn push(&mut self, asked: Asked) {
        // After others that wait already it is no other wait.
        if self.asked.is_empty() && !self.has_room() {
            self.waits += 1;
        }
        self.asked.push_back(asked);
    }

    /// The Request whose response leaves, or is to leave next.
    pub fn first(&self) -> Option<&Asked> {
        self.asked.front()
    }

    /// Whether a response may leave next.
    pub fn is_ready(&self) -> bool {
        !self.asked.is_empty() && self.has_room()
    }

    /// The response that leaves next, unless it has to wait.
    pub fn next(&self) -> Option<Message> {
        let asked = self.asked.front()?;
        self.has_room().then(|| asked.response(self.snapshot))
    }

    /// Whether a part of a response may be copied.
    pub fn has_room(&self) -> bool {
        !self.snapshot || self.held_octets < self.snapshot_octets_max
    }

    /// A part of a response has left, up to `end` of the stream.
    pub fn left(&mut self, end: u64, octets: u64, last: bool) {
        if self.snapshot {
            self.held.push_back((end, octets));
            self.held_octets += octets;
        }
        if last {
            self.asked.pop_front();
        }
        if !self.asked.is_empty() && !self.has_room() {
            self.waits += 1;
        }
    }

    /// How often a response, or the rest of one, began to wait, since this was asked last.
    pub fn take_waits(&mut self) -> u64 {
        std::mem::take(&mut self.waits)
    }

    /// Everything before `acknowledged` of the stream is acknowledged.
    pub fn acknowledged(&mut self, acknowledged: u64) {
        while let Some(&(end, octets)) = self.held.front() {
            if end > acknowledged {
                return;
            }
            self.held.pop_front();
            self.held_octets -= octets;
        }
    }

    /// Nothing is answered any more.
    pub fn stop(&mut self) {
        self.asked.clear();
    }
}
