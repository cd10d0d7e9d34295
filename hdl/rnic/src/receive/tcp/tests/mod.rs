//! Tests of the TCP room and of its lookup, against plain-Rust expectations.

mod keys;
mod lookup;
mod model;
mod ports;
mod ranges;
mod reports;
mod reserve;
mod room;
mod traffic;
