//! Boards that the core is configured into: self-test, clocks, pins.
#![deny(missing_docs)]

pub mod script;
