//! Unit tests of bindings.
mod addresses;
mod chunks;
mod headers;
mod tables;
