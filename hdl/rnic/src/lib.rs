//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl.
#![deny(missing_docs)]

pub mod messages;
pub mod common;
pub mod emit;
pub mod lint;
pub mod placement;
pub mod completion;
pub mod pcie;
pub mod csr;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
