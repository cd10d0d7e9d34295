//! The Terminate that an error calls for, and what a received one says (RFC 5040 section 4.8).
//!
//! | error | headers of the refused segment |
//! |---|---|
//! | MPA, any | none: no segment could be trusted |
//! | local catastrophic, of RDMAP or DDP; catastrophic for one stream or all | none |
//! | DDP, tagged or untagged buffer | segment length, DDP header |
//! | RDMAP, remote protection or operation | segment length, DDP header |
//! | the same, of a Read Request | segment length, DDP header, its 28 octets |
//!
//! Where the header is not known, only the error is reported.
//!
//! Linux' siw lays the first four octets out by bit fields from the lowest bit on. Such a Terminate
//! is told from one as it should be, and read as it was meant:
//!
//! ```text
//!               octet 0         octet 2
//!  RFC 5040     LLLLTTTT        MDR.....
//!  siw          TTTTLLLL        .....RDM
//! ```

use crate::framer::{Octets, TERMINATE_OCTETS_MAX};
use rnic_wire::ddp::control::FLAG_TAGGED;
use rnic_wire::ddp::errors::{
    Cause, DDP_CATASTROPHIC, LAYER_DDP, LAYER_RDMAP, RDMAP_CATASTROPHIC, RDMAP_GLOBAL_CATASTROPHIC,
    RDMAP_STREAM_CATASTROPHIC,
};
use rnic_wire::ddp::rdmap::QN_SEND;
use rnic_wire::ddp::read_request::READ_REQUEST_OCTETS;
use rnic_wire::ddp::terminate::{Terminate, TerminateRepr, FLAG_DDP, FLAG_LENGTH, FLAG_RDMAP};
use rnic_wire::ddp::{tagged, untagged};
use std::fmt;

/// A segment that was refused.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    ulpdu_octets: u16,
    ddp_header: Octets<{ untagged::HEADER_OCTETS }>,
    read_request: Octets<READ_REQUEST_OCTETS>,
}

impl Refused {
    /// A segment of `ulpdu_octets` octets with this DDP header: 14 octets with T, else 18. `None`
    /// if the header is not whole, or longer.
    pub fn new(ulpdu_octets: u16, ddp_header: &[u8]) -> Option<Self> {
        let is_tagged = ddp_header.first()? & FLAG_TAGGED != 0;
        let octets = match is_tagged {
            true => tagged::HEADER_OCTETS,
            false => untagged::HEADER_OCTETS,
        };
        (ddp_header.len() == octets).then(|| Self {
            ulpdu_octets,
            ddp_header: Octets::of(&[ddp_header]),
            read_request: Octets::of(&[]),
        })
    }

    /// The Message Sequence Number, if it is a segment of a Send.
    pub(crate) fn send_msn(&self) -> Option<u32> {
        let header = self.ddp_header.as_slice();
        if header.first()? & FLAG_TAGGED != 0 {
            return None;
        }
        let header = untagged::UntaggedHeader::new_checked(header).ok()?;
        (header.qn() == QN_SEND).then(|| header.msn())
    }

    /// The segment of a Read Request with this payload.
    pub fn with_read_request(self, payload: &[u8; READ_REQUEST_OCTETS]) -> Self {
        Self {
            read_request: Octets::of(&[payload]),
            ..self
        }
    }
}

/// Whether a Terminate of this cause reports the segment.
fn reports_segment(cause: Cause) -> bool {
    let catastrophic = [
        RDMAP_CATASTROPHIC,
        RDMAP_STREAM_CATASTROPHIC,
        RDMAP_GLOBAL_CATASTROPHIC,
        DDP_CATASTROPHIC,
    ];
    matches!(cause.layer, LAYER_RDMAP | LAYER_DDP) && !catastrophic.contains(&cause)
}

/// The payload of the Terminate for `cause`, with what is known of the segment.
pub fn payload(cause: Cause, refused: Option<&Refused>) -> Octets<TERMINATE_OCTETS_MAX> {
    let refused = refused.filter(|_| reports_segment(cause));
    let rdmap_header = refused.filter(|_| cause.layer == LAYER_RDMAP);
    let repr = TerminateRepr {
        cause,
        segment_length: refused.map(|refused| refused.ulpdu_octets),
        ddp_header: refused.map_or(&[], |refused| refused.ddp_header.as_slice()),
        rdmap_header: rdmap_header.map_or(&[], |refused| refused.read_request.as_slice()),
    };
    let mut octets = [0; TERMINATE_OCTETS_MAX];
    repr.emit(&mut Terminate::new_unchecked(&mut octets[..]));
    Octets::of(&[&octets[..repr.buffer_len()]])
}

/// A Terminate as the peer sent it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The error; `None` if the payload has no room for it.
    pub cause: Option<Cause>,
    /// Its layer and type came exchanged, as Linux' siw sends them: `octets` has what came.
    pub is_exchanged: bool,
    /// The Message Sequence Number of our Read Request, if the peer refused one. None of a peer
    /// that exchanges: siw has the octets that were to be read in its place.
    pub read_msn: Option<u32>,
    /// The payload, as far as a Terminate goes.
    pub octets: Octets<TERMINATE_OCTETS_MAX>,
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cause, self.read_msn) {
            (Some(cause), Some(msn)) => {
                write!(f, "the peer refused our Read Request {msn}: {cause}")
            }
            (Some(cause), None) => {
                write!(f, "the peer sent a Terminate: {cause}")?;
                match self.is_exchanged {
                    true => f.write_str(" (it has layer and type exchanged)"),
                    false => Ok(()),
                }
            }
            (None, _) => {
                let octets = self.octets.as_slice().len();
                write!(
                    f,
                    "the peer sent a Terminate of {octets} octets, too few to name an error"
                )
            }
        }
    }
}

impl Received {
    /// Read a payload. Any octets are one.
    pub fn new(payload: &[u8]) -> Self {
        let terminate = Terminate::new_checked(payload).ok();
        let error = payload.first_chunk::<4>().map(error);
        let read_msn = terminate.and_then(|terminate| {
            let header = untagged::UntaggedHeader::new_checked(terminate.ddp_header()).ok()?;
            (header.qn() == rnic_wire::ddp::rdmap::QN_READ_REQUEST).then(|| header.msn())
        });
        Self {
            cause: error.map(|(cause, _)| cause),
            is_exchanged: error.is_some_and(|(_, is_exchanged)| is_exchanged),
            read_msn,
            octets: Octets::of(&[payload]),
        }
    }
}

/// M, D and R where a layout from the lowest bit on has them; reserved in RFC 5040, sent as zero.
const EXCHANGED_FLAGS: u16 = 0x0700;

/// The error that the first octets are meant to name, and whether its layer and type came
/// exchanged: by where M, D and R are, or without any of these by which of the two errors there is.
fn error(head: &[u8; 4]) -> (Cause, bool) {
    let terminate = Terminate::new_unchecked(&head[..]);
    let (cause, flags) = (terminate.cause(), terminate.flags());
    let exchanged = Cause {
        layer: cause.error_type,
        error_type: cause.layer,
        code: cause.code,
    };
    let has_flags = flags & (FLAG_LENGTH | FLAG_DDP | FLAG_RDMAP) != 0;
    let is_other = exchanged != cause && exchanged.name().is_some();
    let is_meant = flags & EXCHANGED_FLAGS != 0 || cause.name().is_none();
    match is_other && !has_flags && is_meant {
        true => (exchanged, true),
        false => (cause, false),
    }
}

#[cfg(test)]
mod tests;
