//! RPC over RDMA, version 1 (RFC 5666), without I/O and without a clock.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod place;
pub mod wire;
pub mod private_data;
pub mod verbs;
pub mod fabric;
mod credits;
mod counters;
mod registration;
mod requester;
mod responder;
mod connection;

pub use connection::{Endpoint, Event, Offer, Settings};
pub use counters::Counters;
pub use credits::{Credits, Grants};
pub use registration::Pool;
pub use requester::{CallId, Configure, Failure, Reply, SubmitError};
pub use responder::{CacheKey, Cached, NotOpen, Policy, ReplyCache, Request, RequestId};
pub mod stream;
pub mod binding;
