//! Tools for hardware descriptions; no hardware is described here.
//!
//! ```text
//! block --> [ lint ] --> [ emit ] --> Verilog        [ testkit ]: the same block, simulated
//! ```
#![deny(missing_docs)]

pub mod emit;
pub mod lint;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
