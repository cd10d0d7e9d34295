//! The queue pair's state, its queues, and what it reports.

use super::event::Event;
use super::read_responder::{Asked, ReadResponder};
use super::receive_queue::ReceiveQueue;
use super::send_queue::SendQueue;
use super::work::{Completion, Operation, PostError, WorkRequest};
use crate::framer::{Framer, Message};
use crate::startup::{Agreed, Rtr};
use std::collections::VecDeque;

/// Sizes of a queue pair.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Work requests that are posted and have not completed.
    pub sends: usize,
    /// Receives that are posted and have not completed.
    pub receives: usize,
    /// Octets of Read Responses that are copied and not acknowledged; one FPDU more at most.
    pub snapshot_octets: u64,
    /// Copy the octets of Read Responses when they leave. Without it a Write of the peer's, or the
    /// application, may change them before they are acknowledged, and they would be sent again
    /// otherwise than before.
    pub copy_responses: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sends: 256,
            receives: 256,
            snapshot_octets: 256 * 1024,
            copy_responses: true,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    Open,
    /// What is posted leaves, and then a FIN.
    Closing,
    /// One Terminate leaves, and then a FIN.
    Terminate(Message),
    Finished,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Receiving {
    Open,
    /// The peer's FIN.
    Finished,
    /// Nothing of the peer's is taken any more.
    Stopped,
}

/// Where a message comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Rtr(Rtr),
    Work,
    Response,
    Terminate,
}

/// One end of a connection in full operation.
///
/// Memory: [`Limits::sends`] and [`Limits::receives`] entries, IRD Read Requests, ORD numbers, one
/// number for each copied record of Read Responses, of which there are no more than
/// [`Limits::snapshot_octets`] octets and one FPDU, and a few events.
#[derive(Clone, Debug)]
pub struct QueuePair {
    pub(super) version: u8,
    pub(super) framer: Framer,
    pub(super) sends: SendQueue,
    pub(super) receives: ReceiveQueue,
    pub(super) responder: ReadResponder,
    /// A message that has begun to leave.
    pub(super) current: Option<(Message, Origin)>,
    pub(super) rtr: Option<Rtr>,
    /// A responder before the first FPDU.
    pub(super) held: bool,
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    pub(super) fin_received: bool,
    pub(super) lost: bool,
    pub(super) let_go: bool,
    pub(super) failed: bool,
    pub(super) responded_last: bool,
    /// Where the last ULPDU came from, and the Request if it was a response.
    pub(super) last_taken: Option<(Origin, Option<Asked>)>,
    /// The payload of the last ULPDU could not be read.
    pub(super) unreadable: bool,
    pub(super) send_msn: u32,
    pub(super) read_msn: u32,
    pub(super) closed_reported: bool,
    pub(super) events: VecDeque<Event>,
}

impl QueuePair {
    /// Bind a connection (START-004). Receives, and buffers for IRD Read Requests and one
    /// Terminate, are to be posted at the device before an initiator's first record, and before a
    /// responder's Reply.
    pub fn new(agreed: &Agreed, emss_octets: usize, limits: Limits) -> Self {
        let mut events = VecDeque::new();
        if agreed.initiator {
            events.push_back(Event::Established);
        }
        let snapshot_octets = limits.snapshot_octets.max(1);
        Self {
            version: agreed.version,
            framer: Framer::new(agreed, emss_octets),
            sends: SendQueue::new(limits.sends, agreed.ord),
            receives: ReceiveQueue::new(limits.receives),
            responder: ReadResponder::new(agreed.ird, limits.copy_responses, snapshot_octets),
            current: None,
            rtr: agreed.rtr.filter(|_| agreed.initiator),
            held: !agreed.initiator,
            sending: Sending::Open,
            receiving: Receiving::Open,
            fin_received: false,
            lost: false,
            let_go: false,
            failed: false,
            responded_last: false,
            last_taken: None,
            unreadable: false,
            send_msn: 1,
            read_msn: 1,
            closed_reported: false,
            events,
        }
    }

    /// TCP's EMSS has changed.
    pub fn set_emss(&mut self, emss_octets: usize) {
        self.framer.set_emss(emss_octets);
    }

    /// Post an operation. It leaves after those posted before it.
    ///
    /// # Errors
    /// [`PostError`]: nothing is posted.
    pub fn post_send(&mut self, work: WorkRequest) -> Result<(), PostError> {
        if self.sending != Sending::Open {
            return Err(PostError::Closed);
        }
        let octets = work.payload.octets();
        if matches!(work.operation, Operation::Read { .. }) {
            if self.receiving != Receiving::Open {
                return Err(PostError::HalfClosed);
            }
            if octets > 0 {
                return Err(PostError::Length(octets));
            }
        }
        if octets > u64::from(u32::MAX) {
            return Err(PostError::Length(octets));
        }
        if self.sends.is_full() {
            return Err(PostError::Full(self.sends.capacity()));
        }
        self.sends.push(work);
        Ok(())
    }

    /// Post a receive, whose buffer the device has.
    ///
    /// # Errors
    /// [`PostError`]: nothing is posted.
    pub fn post_receive(&mut self, id: u64) -> Result<(), PostError> {
        match self.receiving {
            Receiving::Stopped => return Err(PostError::Closed),
            Receiving::Finished => return Err(PostError::HalfClosed),
            Receiving::Open => {}
        }
        if self.receives.is_full() {
            return Err(PostError::Full(self.receives.capacity()));
        }
        self.receives.push(id);
        Ok(())
    }

    /// Reads of the peer's memory that are outstanding.
    pub fn reads_out(&self) -> usize {
        self.sends.reads_out()
    }

    /// How often a Read Response, or the rest of one, has begun to wait until the peer acknowledges
    /// others, since this was asked last: [`Limits::snapshot_octets`] were held.
    pub fn take_response_waits(&mut self) -> u64 {
        self.responder.take_waits()
    }

    /// The next completion, of either queue.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.sends.pop().or_else(|| self.receives.pop())
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
