//! One end of a connection in full operation: RDMAP's sender, its responder of Reads, and how it
//! ends (RFC 5040, RFC 5041 section 6).
//!
//! ```text
//!  post_send --> [send queue] --\                       /--> transmit --> Record, to TCP
//!  Received::ReadRequest --> [responder] --> turns --> [framer]
//!  Received::Send --> [receive queue] <-- post_receive
//!
//!  acknowledged, placed, delivered, flushed --> poll_completion: each request once, in order
//!  established, half closed, failed, ended  --> poll_event
//! ```
//!
//! Sending, and receiving beside it:
//!
//! ```text
//!  held --first FPDU--> open --close--> closing --all has left--> finished: FIN
//!   |                     |               |                          ^
//!   |                     +---------------+--error, terminate--> terminating
//!   +--error of MPA, the peer's FIN: nothing may be sent-----------> finished
//!  any --Terminate received: FIN; abort: RST; TCP lost-------------> finished
//!
//!  open --the peer's FIN--> finished --octets after it---> stopped: RST
//!   +-----error, Terminate received, abort, TCP lost-----> stopped
//! ```
//!
//! | state | this end sends | on |
//! |---|---|---|
//! | held | nothing | a responder, until the first FPDU |
//! | open | ready-to-receive message, then work requests and Read Responses in turns | |
//! | closing | what is posted, then a FIN | `close` |
//! | terminating | one Terminate, then a FIN | an error, `terminate` |
//! | finished | nothing | a FIN, a Terminate received, TCP lost, `abort` |
//!
//! [`Failure`] says what the peer did, and [`Place`] in which octet of its stream, or in which of
//! its messages.

mod work;
mod send_queue;
mod receive_queue;
mod read_responder;
mod event;
mod pair;
mod close;
mod transmit;
mod receive;

pub use event::{Event, Failure, Place};
pub use pair::{Limits, QueuePair};
pub use receive::Received;
pub use work::{
    Completion, Delivered, Host, Kind, Operation, PostError, ReadRefusal, Status, WorkRequest,
};

#[cfg(test)]
mod tests;
