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
//! | state | this end sends | on |
//! |---|---|---|
//! | held | nothing | a responder, until the first FPDU |
//! | open | ready-to-receive message, then work requests and Read Responses in turns | |
//! | closing | what is posted, then a FIN | `close` |
//! | terminating | one Terminate, then a FIN | an error, `terminate` |
//! | finished | nothing | a FIN, a Terminate received, TCP lost, `abort` |

mod work;
mod send_queue;
mod receive_queue;
mod read_responder;
mod pair;
mod close;
mod transmit;
mod receive;

pub use pair::{Event, Failure, Limits, QueuePair};
pub use receive::Received;
pub use work::{
    Completion, Delivered, Host, Kind, Operation, PostError, ReadRefusal, Status, WorkRequest,
};

#[cfg(test)]
mod tests;
