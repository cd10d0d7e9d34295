//! What serves a Ferrowarp RNIC that is simulated, to a driver in this process or in another one.
//!
//! ```text
//!  bus::open("sim:KIND,LINK") -- provide_simulator --+
//!                                                    +--> Service --> DeviceCore <--> Link
//!  bus::open("vfio-user:PATH") -- rnic serve --------+       |
//!                                                   Simulation: the verilated core
//!                                                   DeviceModel: the device in software
//! ```
//!
//! - [`provide_simulator`]: `sim:` addresses, a device on a thread of the program that drives it.
//! - [`Service`]: a device, its clients over vfio-user and its link, turned by one thread.
//! - [`link`]: what is at the other end of its wire.
//! - [`hub`]: joins the wires of several.
//! - [`model`]: the device in software. The verilated core is `rnic_sim`'s.
#![deny(missing_docs)]

pub mod model;
pub mod link;
pub mod hub;
mod tun;
mod service;
mod in_process;

pub use in_process::provide_simulator;
pub use service::{ServeError, Service, PAYLOAD_OCTETS_MAX};
