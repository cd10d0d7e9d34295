//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl.
#![deny(missing_docs)]

pub mod messages;
pub mod common;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
