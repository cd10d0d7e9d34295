//! `rnic serve` as a process, and the driver over it.
//!
//! ```text
//!  this process                               rnic serve
//!    bus::open  --- vfio-user:rnic.sock --->    device
//!    memory, eventfds <---------------------      |
//!    Peer  -------- unix:link -------------->   wire
//! ```
//!
//! Frames are built by `traffic`, which shares nothing with the hardware. A time that is waited for
//! is only ever what makes a hang a failure.

mod host;
mod memory;
mod misuse;
mod receive;
mod server;
mod traffic;
mod verbs;
