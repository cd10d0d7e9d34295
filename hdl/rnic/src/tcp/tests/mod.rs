//! Tests of the TCP room and of its lookup, against plain-Rust expectations.

mod keys;
mod lookup;
mod room;
