//! Captures made here octet by octet: formats and link types, what a sender's card had yet to do,
//! connections that begin oddly, and what is said of each.
//!
//! The conversation in them is one: an MPA connection with a Write and a Send. What is read of it
//! is compared with what was put in, never with what another run of the reader has read.

mod connections;
mod conversation;
mod files;
mod formats;
mod offload;
mod why;
