//! `rnic serve` as a process, and the driver over it.
//!
//! ```text
//!  this process                               rnic serve
//!    bus::open  --- vfio-user:rnic.sock --->    device
//!    memory, eventfds <---------------------      |
//!    Peer  -------- unix:link -------------->   wire
//! ```
//!
//! Each test runs with the verilated device and with the model of it.
//!
//! Frames are built by `traffic`, which shares nothing with the hardware. A time that is waited for
//! is only ever what makes a hang a failure.

mod client;
mod ends;
mod host;
mod hub;
mod in_process;
mod memory;
mod misuse;
mod overflow;
mod page;
mod receive;
mod sender;
mod server;
mod traffic;
mod verbs;
