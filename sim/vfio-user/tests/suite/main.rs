//! Client and server together, each against the other implementation, and against malice.

mod common;
mod interoperability;
mod leaks;
mod malformed;
mod malicious_server;
mod operations;
mod robustness;
mod servers;
