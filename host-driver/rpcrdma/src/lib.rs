//! RPC over RDMA on the driver's queue pairs: the provider that [`rpcrdma`] asks for.
//!
//! ```text
//!  Memories: regions, by number ----+
//!                                   |
//!  QueuePair --> Link: Verbs <------+        Client: calls, and connections one after another
//!                  ^                         Server: a Link and an rpcrdma::Endpoint a client
//!                  `--- rpcrdma::Endpoint ---^
//! ```
//!
//! | file       | what                                                        |
//! |------------|-------------------------------------------------------------|
//! | `error`    | what goes wrong                                             |
//! | `memories` | registered memory by number, shared by all connections      |
//! | `request`  | what is posted, until it is handed to the queue pair        |
//! | `link`     | one connection as [`rpcrdma::verbs::Verbs`]                 |
//! | `end`      | a link and the machine over it, waited for together         |
//! | `client`   | calls, over as many connections as it takes                 |
//! | `server`   | clients that connect, each an end; calls to them            |
#![deny(missing_docs)]

mod error;
mod memories;
mod request;
mod link;
mod end;
mod client;
mod server;

pub use client::{Client, ClientSettings};
pub use end::End;
pub use error::RpcError;
pub use link::Link;
pub use memories::Memories;
pub use server::{ClientId, Served, Server, ServerSettings};
