//! `rnic gen`: captures from a described workload are what was asked for, the model finds in them
//! what was said, and an independent dissector reads them.
//!
//! - [`rig`]: what was said against what the model heard.
//! - [`content`]: choices that change the octets on the wire but not what is delivered.
//! - [`faults`]: each fault happens, and does what it is said to do.
//! - [`command`]: the command line.
//! - [`dissector`]: tshark reads it.
//!
//! The contents come from the generator's own list of messages, never from the capture; the model
//! reads the capture alone.

mod rig;
mod content;
mod faults;
mod command;
mod dissector;
