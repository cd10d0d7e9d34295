//! How a connection ends: gracefully, by halves, by an error, or at once.
//!
//! ```text
//!  close ----> rest leaves --> CloseSend ----\
//!  refuse ---> one Terminate -> CloseSend ----+--> and the peer's FIN, close or abort --> Closed
//!  FIN ------> HalfClosed, sending goes on --/
//!  abort ----> Abort --------------------------------------------------------> Closed
//!  lost -------------------------------------- and close or abort -----------> Closed
//! ```

use super::event::{Event, Failure, Place};
use super::pair::{QueuePair, Receiving, Sending};
use crate::framer::Message;
use crate::terminate::{payload, Refused};
use rnic_wire::ddp::errors::{Cause, LAYER_LLP};

impl QueuePair {
    /// Graceful end: what is posted leaves, then a FIN; what the peer sends is still received
    /// (DDP-028, DDP-031). After a failure, and after the peer's FIN, the application lets go.
    pub fn close(&mut self) {
        self.let_go = true;
        if self.sending == Sending::Open {
            self.sending = Sending::Closing;
        }
        self.settle();
    }

    /// Abortive end: a RST, and everything is flushed (DDP-035).
    pub fn abort(&mut self) {
        self.let_go = true;
        if !self.has_ended() {
            self.fail(Failure::Aborted);
            self.reset();
        }
        self.settle();
    }

    /// Both halves have ended and everything that has left is acknowledged, or TCP is gone.
    fn has_ended(&self) -> bool {
        let halves = self.sending == Sending::Finished && self.fin_received;
        self.lost || halves && !self.sends.awaits_acknowledgement()
    }

    /// Have TCP send a RST, and flush everything.
    pub(super) fn reset(&mut self) {
        self.events.push_back(Event::Abort);
        self.lose();
        self.settle();
    }

    /// An error that this end has found in the peer's stream or in itself, such as in a Reply, or a
    /// failed device: a Terminate, if one may be sent. The caller has seen to it that the device
    /// places nothing more.
    pub fn terminate(&mut self, cause: Cause) {
        self.refuse(cause, Place::Here, None);
    }

    /// The peer's FIN, when everything before it has been given to [`Self::on_received`].
    ///
    /// [`Self::on_received`]: QueuePair::on_received
    pub fn on_fin(&mut self) {
        if self.fin_received || self.lost {
            return;
        }
        self.fin_received = true;
        if self.receiving == Receiving::Open {
            self.receiving = Receiving::Finished;
            self.receives.flush();
            // Responses cannot come any more.
            self.sends.stop_reads();
            self.events.push_back(Event::HalfClosed);
        }
        if self.held {
            // No FPDU will come: this end may never send (START-014).
            self.sends.stop();
            self.finish_sending();
        }
        self.settle();
    }

    /// TCP is lost: reset by the peer, or given up after some time-out of its own (MPA-053).
    pub fn on_lost(&mut self) {
        if self.lost {
            return;
        }
        if !self.has_ended() {
            self.fail(Failure::Lost);
        }
        self.lose();
        self.settle();
    }

    /// Everything before `stream_offset`, in octets from SeqStart, is acknowledged. TCP accepts no
    /// acknowledgement of what it has not sent; one would complete no more than what has left.
    pub fn on_acknowledged(&mut self, stream_offset: u64) {
        self.sends.acknowledged(stream_offset);
        self.responder.acknowledged(stream_offset);
        self.settle();
    }

    /// The stream has failed by what the peer sent; the first failure alone counts (DDP-045,
    /// RDMAP-020).
    pub(super) fn refuse(&mut self, cause: Cause, place: Place, refused: Option<&Refused>) {
        if self.failed || self.lost || self.closed_reported {
            return;
        }
        // Before the first FPDU nothing may be sent, and one that MPA refuses is none (START-014).
        // After our FIN there is nothing either.
        let may_send = !self.held && self.sending != Sending::Finished;
        self.fail(Failure::Refused { cause, place });
        let octets = payload(cause, refused);
        self.stop();
        match may_send {
            true => {
                let message = Message::terminate(self.version, octets.as_slice());
                self.sending = Sending::Terminate(message);
            }
            false => self.finish_sending(),
        }
        self.settle();
    }

    /// Report a failure, if it is the first one.
    pub(super) fn fail(&mut self, failure: Failure) {
        if !self.failed {
            self.failed = true;
            self.events.push_back(Event::Failed(failure));
        }
    }

    /// Nothing is received any more, and nothing leaves of what was posted.
    pub(super) fn stop(&mut self) {
        self.receiving = Receiving::Stopped;
        self.receives.flush();
        self.sends.stop();
        self.responder.stop();
        self.current = None;
        self.rtr = None;
    }

    /// A FIN is to follow what has been handed over.
    pub(super) fn finish_sending(&mut self) {
        if self.sending != Sending::Finished {
            self.sending = Sending::Finished;
            self.events.push_back(Event::CloseSend);
        }
    }

    fn lose(&mut self) {
        self.stop();
        self.sends.lose();
        self.lost = true;
        self.sending = Sending::Finished;
    }

    /// Ends that follow from others.
    pub(super) fn settle(&mut self) {
        let left = self.sends.is_drained() && self.responder.is_empty();
        let left = left && self.current.is_none() && self.rtr.is_none();
        if self.sending == Sending::Closing && left {
            self.finish_sending();
        }
        if self.let_go && self.has_ended() && !self.closed_reported {
            self.closed_reported = true;
            self.receiving = Receiving::Stopped;
            self.receives.flush();
            self.events.push_back(Event::Closed);
        }
    }

    /// The first FPDU has arrived: a responder may send.
    pub(super) fn release(&mut self) {
        if self.held {
            self.held = false;
            self.events.push_back(Event::Established);
        }
    }

    /// Whether an error of this cause is in an FPDU that MPA has taken.
    pub(super) fn is_above_mpa(cause: Cause) -> bool {
        cause.layer != LAYER_LLP
    }
}
