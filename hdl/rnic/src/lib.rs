//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl.
#![deny(missing_docs)]
// Kernels are translated: a match arm cannot have a guard, so its condition stands inside.
#![allow(clippy::collapsible_match)]

pub mod messages;

pub mod ethernet;
pub mod ip;
pub mod tcp;
pub mod front_end;
pub mod packet;
pub mod mpa;
pub mod ddp;
pub mod stag;
pub mod placement;
pub mod completion;
pub mod pcie;
pub mod csr;
pub mod top;

pub mod common;
pub mod emit;
pub mod lint;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
