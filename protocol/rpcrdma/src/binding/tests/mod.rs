//! Unit tests of bindings.
mod addresses;
mod chunks;
mod compounds;
mod headers;
mod tables;
