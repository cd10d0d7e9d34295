//! What is at the other end of a served device's wire.
//!
//! | link                | frames to the device                 | frames of the device          |
//! |---------------------|--------------------------------------|-------------------------------|
//! | `none`              | none                                 | are dropped                   |
//! | `pcap:FILE`         | those of a capture, at line rate     | the first one starts them     |
//! | `unix:PATH`         | of one peer at a time on that socket | to that peer, if there is one |
//! | `unix-connect:PATH` | of whoever listens on that socket    | to whoever listens there      |
//! | `tap:NAME`          | what Linux sends on an interface     | arrive on that interface      |
//!
//! A capture waits for the first frame that the device sends, so that its driver can set up what
//! the capture needs; each client gets all of it.

mod end;
mod capture;
mod peer;
mod socket;
mod connect;
mod stream;
mod tap;
mod kind;

pub(crate) use end::{poll_fd, timespec, SEEK};
pub use end::{Link, LinkError};
pub use kind::{within, LinkKind};

#[cfg(test)]
mod tests;
