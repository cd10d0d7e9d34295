//! Unit tests of bindings.
mod chunks;
mod headers;
mod tables;
