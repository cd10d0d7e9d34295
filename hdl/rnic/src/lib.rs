//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl.
#![deny(missing_docs)]

pub mod common;
pub mod messages;
pub mod mpa;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
