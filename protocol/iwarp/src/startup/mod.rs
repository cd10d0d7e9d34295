//! Start-up: a Request and a Reply, and what they agree on (RFC 5044 section 7.1, RFC 6581; the
//! draft of revision 0, section 6.1).
//!
//! ```text
//!  Initiator                                                     Responder
//!   new, poll -> Request -------- MPA ID Req Frame --------> feed, poll -> Request
//!                                                            the ULP decides
//!   feed, poll -> Agreed <------- MPA ID Rep Frame --------- accept -> Accepted
//!   or Rejected, Failed, Terminate                           or reject; or poll -> Failed
//!   == full operation ============ FPDUs ==================> FPDUs only after the first one
//! ```
//!
//! Frames are plain octets of the TCP stream, without CRC or markers, however they are cut into
//! segments (START-003). They may open the stream or follow octets of the application's, in either
//! direction of TCP (START-002, START-005). A key is judged when its 16 octets are there, Rev,
//! flags and PD_Length at 20; [`StartupError`] says what the peer did, and in which octet.
//!
//! What the texts leave open is decided so:
//!
//! - A Reply with R = 1 leaves TCP open, as rule 3 has it, and not closed as in the worked example
//!   of revision 0 (START-012).
//! - Two initiators fail, each at the other's key; there is no simultaneous start (START-018).
//! - A Request above `Settings::revision` is answered in that revision, or TCP is closed, by
//!   `Settings::answer_newer`; one above 2 is refused. A Reply is never above its Request.
//! - IRD and ORD are agreed as the lesser of what one end holds and the other would use; an
//!   initiator lowers its ORD. A peer that reads deeper than IRD was offered gets a Terminate.
//! - A responder selects one kind of RTR, the cheapest that both know; B, C and D mean nothing
//!   without A. Without a common kind the Request can only be rejected.
//! - A Reply of revision 2 without S, or of a lower revision, has no peer-to-peer model, and IRD
//!   and ORD are the ULPs' to agree on.
//! - Octets after a frame whose sender has to wait are refused: they are lost with the connection,
//!   and never delivered (START-041).

mod settings;
mod error;
mod frame;
mod agreed;
mod initiator;
mod responder;

pub use agreed::Agreed;
pub use error::StartupError;
pub use initiator::{Initiator, InitiatorOutput, Rejection};
pub use responder::{Accepted, AnswerError, Request, Responder, ResponderOutput};
pub use settings::{
    private_data_octets_max, Rtr, RtrKinds, Settings, SettingsError, DEPTH_MAX, REPLY_TIMEOUT_US,
    REQUEST_TIMEOUT_US, REVISION_MAX, TIMEOUT_US_MAX, TIMEOUT_US_MIN,
};

#[cfg(test)]
mod tests;
