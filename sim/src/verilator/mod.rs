//! From emitted Verilog to a loaded model: tools, build with cache, C shim, loading.
//!
//! A model is built once for each combination of Verilog and shim (their hash names its folder
//! under `target/verilated`), so later runs start at once.

mod ffi;
mod shim;
mod silicon;
mod wrapper;
mod build;

pub use build::{build, verilator_root, workspace_root, Options};
pub use ffi::Model;
