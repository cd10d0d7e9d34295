//! RPC over RDMA, version 1 (RFC 5666), without I/O and without a clock.
//!
//! Both ends of the protocol are state machines over the verbs of an RDMA connection: the time
//! comes in as an argument, completions are polled, and equal inputs give equal outputs. RFC 8166
//! has made RFC 5666 obsolete, with the same octets on the wire and fewer of them: everything of
//! the older text is understood, and by default only what the newer one allows is sent. Private
//! data is that of RFC 8797, reverse calls are those of RFC 8167.
//!
//! ```text
//!   binding                    what may be a chunk, how long a reply can get
//!   requester | responder      calls and replies, credits, registration, time-outs
//!   stream                     an XDR stream as inline octets and items
//!   wire, private_data         headers and their meaning
//!   verbs                      an RDMA connection: a provider, or fabric
//! ```
//!
//! | module           | what                                                                 |
//! |------------------|----------------------------------------------------------------------|
//! | [`wire`]         | headers of the five types, checked before anything is allocated      |
//! | [`private_data`] | inline sizes and remote invalidation, as a connection starts         |
//! | [`stream`]       | messages that leave, by the way that fits; readers of those received |
//! | [`binding`]      | tables of programs, headers of RPC, addresses of services            |
//! | [`place`]        | ranges of registered memory, of which there are no references        |
//! | [`verbs`]        | what the ends ask of a provider                                      |
//! | [`fabric`]       | a provider in memory, with orders and faults from a seed             |
//! | [`Endpoint`]     | a client or a server on a connection, and on those that follow it    |
//! | [`Pool`]         | memory for chunks of long messages, shared by connections            |
//!
//! Not supported: RPCSEC_GSS itself (its protected bodies are known, and have no item chunks),
//! and a second version of the protocol.
//!
//! # Checks beyond the tests
//!
//! | command                                                            | what                   |
//! |--------------------------------------------------------------------|------------------------|
//! | `cargo run --release -p rpcrdma --example fuzz -- --runs 10000000` | a slow parser agrees   |
//! | `cargo run --release -p rpcrdma --example explore`                 | every order of 2 calls |
//! | `cargo run --release -p rpcrdma --example soak -- --calls 1000000` | both ends, with faults |
//! | `cargo bench -p rpcrdma`                                           | what a call costs      |
//! | `cargo mutants --config protocol/rpcrdma/mutants.toml -p rpcrdma`  | what unit tests notice |
//!
//! # Example
//!
//! A client, a server, and the connection between them in memory:
//!
//! ```
//! use rpcrdma::binding::auth::Credential;
//! use rpcrdma::binding::nfs3;
//! use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
//! use rpcrdma::fabric::{self, Fabric};
//! use rpcrdma::place::Place;
//! use rpcrdma::stream::Message;
//! use rpcrdma::{Endpoint, Event, Offer, Pool, Settings};
//!
//! static PROGRAMS: [rpcrdma::binding::Program<'static>; 1] = [nfs3::PROGRAM];
//! let settings = Settings::default();
//! let mut fabric = Fabric::new(fabric::Settings::default());
//! let hosts = [fabric.host(), fabric.host()];
//! let (one, other) = fabric.connect(hosts[0], hosts[1]);
//! let mut memory = |host, octets: usize| {
//!     Place { memory: fabric.allocate(host, octets), offset: 0, length: octets as u32 }
//! };
//! let transports = hosts.map(|host| memory(host, settings.transport_octets()));
//! let mut pools = hosts.map(|host| Pool::new(memory(host, 1 << 20), 1 << 20));
//! let mut client = Endpoint::client(settings, transports[0]);
//! let mut server = Endpoint::server(settings, transports[1], &PROGRAMS);
//! let peer = Some(settings.private_data());
//! client.connected(0, &mut fabric.end(one), &mut pools[0], peer);
//! server.connected(0, &mut fabric.end(other), &mut pools[1], peer);
//!
//! // The NULL procedure of NFS: no arguments, no results.
//! let (mut message, xid) = (Message::new(), client.next_xid());
//! let (program, version, credential) = (100_003, 3, Credential::None);
//! CallHeader { xid, program, version, procedure: 0, credential }.write(&mut message)?;
//! let offer = Offer { results: &[], reply_octets_max: REPLY_HEADER_OCTETS };
//! let call = client.submit(&mut message, offer)?;
//! let mut replied = false;
//! while !replied {
//!     while let Some(event) = client.poll(0, &mut fabric.end(one), &mut pools[0]) {
//!         replied = event == Event::Replied(call);
//!     }
//!     fabric.run();
//!     while let Some(event) = server.poll(0, &mut fabric.end(other), &mut pools[1]) {
//!         let Event::Call(request) = event else { continue };
//!         let xid = server.request(request).expect("it is open").header().xid();
//!         ReplyHeader { xid, status: ReplyStatus::Success }.write(&mut message);
//!         let (verbs, pool) = (&mut fabric.end(other), &mut pools[1]);
//!         server.respond(0, verbs, pool, request, &mut message).expect("it is open");
//!     }
//!     fabric.run();
//! }
//! let mut reader = client.reply(call).expect("it was reported").reader();
//! let reply = ReplyHeader::read(&mut reader)?;
//! assert_eq!((reply.xid, reply.status), (xid, ReplyStatus::Success));
//! client.release(call, &mut pools[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod place;
pub mod wire;
pub mod private_data;
pub mod stream;
pub mod binding;
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
