//! Tools for hardware descriptions; no hardware is described here.
//!
//! ```text
//! block --> [ lint ] --> [ emit ] --> Verilog        [ testkit ]: the same block, simulated
//! ```
#![deny(missing_docs)]

// `#[kernel]` names the crate, which has kernels of its own in its tests.
extern crate self as rnic_hdl_tools;

pub mod emit;
pub mod kernel;
pub mod lint;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
