//! What the device has taken in.

use super::event::{Failure, Place};
use super::pair::{QueuePair, Receiving, Sending};
use super::read_responder::Asked;
use super::work::{Delivered, Host, Status};
use crate::framer::Pieces;
use crate::terminate::{self, Refused};
use rnic_wire::ddp::errors::{
    Cause, DDP_MO, DDP_NO_BUFFER, DDP_TOO_LONG, LAYER_RDMAP, RDMAP_OPCODE,
    RDMAP_STREAM_CATASTROPHIC,
};
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::{ReadRequest, ReadRequestRepr};

/// A completion of the device, or its event for the first FPDU. What is placed without completion,
/// RDMA Writes, is not seen here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// The first FPDU of the stream is valid. A completion says so too, if it is seen before.
    FirstFpdu,
    /// A Send is whole in the oldest receive's buffer.
    Send(Delivered),
    /// A Read Request is whole.
    ReadRequest {
        /// Its Message Sequence Number on queue 1.
        msn: u32,
        /// Its payload.
        payload: &'a [u8],
    },
    /// The response to the oldest outstanding Read is whole.
    ReadResponse,
    /// A Terminate.
    Terminate {
        /// Its payload.
        payload: &'a [u8],
    },
    /// The device has refused an FPDU, and takes nothing more.
    Refused {
        /// The error.
        cause: Cause,
        /// Where the FPDU begins, in octets from SeqStart.
        stream_offset: u64,
        /// The segment, if its header is known.
        segment: Option<Refused>,
    },
}

impl QueuePair {
    /// Take in what the device has. In the order of the stream.
    pub fn on_received(&mut self, received: Received<'_>, host: &mut impl Host) {
        match self.receiving {
            // One report; what comes then is dropped in silence (DDP-045).
            Receiving::Stopped => return,
            // The event of an FPDU that was there before the FIN may be seen after it.
            Receiving::Finished if received == Received::FirstFpdu => return,
            Receiving::Finished => return self.refuse_data_after_fin(),
            Receiving::Open => {}
        }
        match received {
            Received::Refused {
                cause,
                stream_offset,
                segment,
            } => {
                if Self::is_above_mpa(cause) {
                    self.release();
                }
                if matches!(cause, DDP_MO | DDP_TOO_LONG) {
                    let msn = segment.as_ref().and_then(Refused::send_msn);
                    msn.into_iter().for_each(|msn| self.receives.refuse(msn));
                }
                self.refuse(cause, Place::Fpdu(stream_offset), segment.as_ref());
                return;
            }
            Received::FirstFpdu => self.release(),
            Received::Send(message) => {
                self.release();
                self.deliver(message, host);
            }
            Received::ReadRequest { msn, payload } => {
                self.release();
                self.asked(msn, payload, host);
            }
            Received::ReadResponse => {
                self.release();
                if !self.sends.read_done() {
                    // The device sees to that; a response to nothing ends the stream (RDMAP-011).
                    self.refuse(RDMAP_OPCODE, Place::Here, None);
                }
            }
            Received::Terminate { payload } => {
                self.release();
                self.terminated(&terminate::Received::new(payload));
            }
        }
        self.settle();
    }

    fn refuse_data_after_fin(&mut self) {
        self.fail(Failure::DataAfterFin);
        self.reset();
    }

    fn deliver(&mut self, message: Delivered, host: &mut impl Host) {
        if let Some(stag) = message.invalidated_stag {
            host.invalidated(stag);
        }
        if !self.receives.deliver(message) {
            self.refuse(DDP_NO_BUFFER, Place::Send(message.msn), None);
        }
    }

    fn asked(&mut self, msn: u32, payload: &[u8], host: &mut impl Host) {
        let place = Place::ReadRequest(msn);
        let request = ReadRequest::new_checked(payload);
        let Some(request) = request.and_then(|view| ReadRequestRepr::parse(&view)).ok() else {
            return self.refuse(RDMAP_STREAM_CATASTROPHIC, place, None);
        };
        let mut asked = Asked {
            version: self.version,
            msn,
            request,
            source: Pieces::NONE,
        };
        if self.responder.is_full() {
            // More Reads than IRD: there is no buffer for this one (RDMAP-012).
            return self.refuse(DDP_NO_BUFFER, place, asked.refused().as_ref());
        }
        // After our FIN nothing can be answered; the peer learns that from the FIN.
        if self.sending == Sending::Finished {
            return;
        }
        // A Read of no octets has no source to be checked.
        if request.size > 0 {
            match host.read_source(request.source_stag, request.source_to, request.size) {
                Ok(source) => asked.source = source.part(0, u64::from(request.size)),
                Err(refusal) => {
                    return self.refuse(refusal.cause(), place, asked.refused().as_ref());
                }
            }
            if asked.source.octets() != u64::from(request.size) {
                return self.refuse(RDMAP_STREAM_CATASTROPHIC, place, None);
            }
        }
        self.responder.push(asked);
    }

    /// The peer has ended the stream: nothing is sent any more (RDMAP-020).
    fn terminated(&mut self, received: &terminate::Received) {
        if let (Some(msn), Some(cause)) = (received.read_msn, received.cause) {
            let status = match (cause.layer, cause.error_type) {
                (LAYER_RDMAP, 1) => Status::RemoteAccess,
                _ => Status::RemoteOperation,
            };
            self.sends.read_refused(msn, status);
        }
        self.fail(Failure::Terminated(*received));
        self.stop();
        self.finish_sending();
    }
}

impl Delivered {
    /// A Send of `opcode`; `None` if it is none of the four.
    pub fn new(opcode: Opcode, msn: u32, octets: u32, invalidated_stag: u32) -> Option<Self> {
        let is_send = opcode.qn() == Some(rnic_wire::ddp::rdmap::QN_SEND);
        is_send.then(|| Self {
            opcode,
            msn,
            octets,
            invalidated_stag: opcode.invalidates().then_some(invalidated_stag),
        })
    }
}
