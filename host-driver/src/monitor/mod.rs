//! Lets others look at a device that an application has open: only its owner can read its
//! registers, so the owner answers for it, on a Unix socket, from its own loop.
//!
//! ```text
//!   application                                      rnicctl, or any client
//!     Device <-- serve() -- Monitor <-- socket, 0600 -- Client
//! ```
//!
//! ```no_run
//! use rnic_driver::monitor::Monitor;
//! # fn turn(device: &mut rnic_driver::bus::AnyDevice) -> Result<(), Box<dyn std::error::Error>> {
//! let mut monitor = Monitor::bind("/run/user/1000/ferrowarp/storage.sock".as_ref())?;
//! loop {
//!     // ... wait for interrupts, and for `monitor.as_fd()`, which is readable when a client asks
//!     monitor.serve(device)?;
//! }
//! # }
//! ```
//!
//! An application of [`verbs`](crate::verbs) calls
//! [`Context::serve_monitor`](crate::verbs::Context::serve_monitor) instead.
//!
//! # Protocol, version 1
//!
//! A client sends one line and gets one line, a JSON object; then the connection ends.
//!
//! | request | answer |
//! |---|---|
//! | `ferrowarp-monitor/1 info` | `{"version":1,"info":{..}}`: [`Info`] |
//! | `ferrowarp-monitor/1 counters` | `{"version":1,"counters":{"frames":7,..}}`, modulo 2^32, since the device was opened |
//! | `ferrowarp-monitor/1 regions FROM` | `{"version":1,"regions":{"items":[..],"next":N}}`: up to [`PAGE_ITEMS`] [`RegionReport`]s with an STag of at least FROM, in order |
//! | `ferrowarp-monitor/1 connections FROM` | the same with [`ConnectionReport`]s, by their ids; of an endpoint with an [`EndpointReport`] each |
//! | anything else | `{"version":1,"error":"why"}` |
//!
//! FROM is decimal. Ask for 0 first, then for `next` until it is null. Each page is read at another
//! time, so together they are no snapshot. A later version of the protocol adds members to its
//! objects, or has another number.
//!
//! # What a client can do
//!
//! Read what the answers have; nothing in them is an address of memory, or what memory holds. An
//! STag in them is what a peer writes with, so the socket is its user's alone. A client cannot hold
//! the application up: [`Monitor::serve`] never blocks, answers one request a call with at most
//! `2 * PAGE_ITEMS` table operations of the device, and keeps at most [`CLIENTS_MAX`] clients, each
//! with a request of [`REQUEST_OCTETS_MAX`] octets and one answer. One more takes the place of the
//! one that has been there longest.

mod protocol;
mod report;
mod visitor;
mod server;
mod client;

pub use client::{Client, MonitorError, ANSWER_OCTETS_MAX};
pub use protocol::{
    Answer, Body, ConnectionReport, EndpointReport, Info, OutOfOrderReport, Page, PoolReport,
    RegionReport, Request, TcpReport, REQUEST_OCTETS_MAX, VERSION,
};
pub use report::{report, PAGE_ITEMS};
pub use server::{Monitor, CLIENTS_MAX};

use std::path::PathBuf;

/// Where monitors are looked for: `$XDG_RUNTIME_DIR/ferrowarp`; `None` without such a folder of the
/// user.
pub fn default_directory() -> Option<PathBuf> {
    let runtime = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    runtime.is_absolute().then(|| runtime.join("ferrowarp"))
}

#[cfg(test)]
mod tests;
