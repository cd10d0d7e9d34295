//! Connections of a host: an interface, TCP, MPA and queue pairs over one device.
//!
//! ```text
//!  Endpoint --connect--> Stream --queue_pair--> QueuePair --start--> in full operation
//!     |                    ^  \--request--> ConnectionRequest --queue_pair--> QueuePair --accept
//!     +--listen--> Listener/                                \--reject--> Stream
//! ```
//!
//! | file         | what                                                         |
//! |--------------|--------------------------------------------------------------|
//! | `notice`     | files and threads that wait                                  |
//! | `loop_file`  | one file for the loop of an application                      |
//! | `order`      | whose completion came when                                   |
//! | `error`      | what goes wrong                                              |
//! | `settings`   | settings of an endpoint                                      |
//! | `records`    | octets that may have to be sent again                        |
//! | `pcapng`     | which way a frame went; frames into a capture                |
//! | `tap`        | who sees frames                                              |
//! | `wire`       | segments and frames on the rings                             |
//! | `pair`       | what a queue pair has of the device                          |
//! | `live`       | a connection                                                 |
//! | `starting`   | MPA's start-up, and the switch to the device                 |
//! | `engine`     | all connections, and what moves them                         |
//! | `arriving`   | results, events, completions, frames                         |
//! | `observing`  | what an administrator sees                                   |
//! | `shared`     | the lock, the thread, the clock                              |
//! | `handle`     | what every handle of a connection is                         |
//! | `work`       | what a request is, and what its completion says              |
//! | `stream`     | a connection before MPA                                      |
//! | `request`    | a peer's Request that waits for its answer                   |
//! | `queue_pair` | a queue pair, from its start to its end                      |
//! | `posting`    | requests posted, each of which completes once                |
//! | `sharing`    | completions of several queue pairs in one place              |
//! | `listener`   | connections that others open                                 |
//! | `steps`      | what one handle of a connection becomes                      |
//! | `attended`   | an endpoint with what its user calls, and its thread         |
//! | `own_loop`   | an endpoint that the application runs                        |
//!
//! What is MPA's and TCP's own, settings, time-outs, statistics and reasons, is re-exported here:
//! [`startup`], [`tcp`], [`Status`], [`Failure`].
//!
//! An endpoint has a thread of its own: acknowledgements, retransmission and Read Responses do not
//! wait for an application that computes. It sleeps until an interrupt or a deadline. Calls do at
//! once what follows from them, under the same lock. An application with a loop of its own may run
//! it instead ([`Endpoint::without_thread`]).

mod notice;
mod loop_file;
mod records;
mod error;
mod order;
mod pcapng;
mod tap;
mod wire;
mod pair;
mod live;
mod starting;
mod engine;
mod arriving;
mod observing;
mod shared;
mod handle;
mod settings;
mod work;
mod queue_pair;
mod posting;
mod sharing;
mod request;
mod stream;
mod listener;
mod steps;
mod attended;
mod own_loop;

pub use rnic_iwarp::queue_pair::{Failure, Place, Status};
pub use rnic_iwarp::startup;
pub use rnic_tcp as tcp;

pub use attended::Endpoint;
pub use error::{EndpointError, Unposted};
pub use listener::Listener;
pub use live::PairEvent;
pub use pcapng::Way;
pub use queue_pair::{PairOptions, QueuePair};
pub use request::ConnectionRequest;
pub use settings::EndpointSettings;
pub use sharing::{SharedCompletions, TaggedCompletion};
pub use stream::{ExpectedRequest, Stream};
pub use tap::Tap;
pub use wire::EndpointCounts;
pub use work::{SendOperation, WorkCompletion, WorkKind};
