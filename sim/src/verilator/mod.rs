//! From emitted Verilog to a loaded model: tools, build with cache, C shim, loading.
//!
//! A model is built once for each combination of Verilog, shim and compiler (their hash names its
//! folder under `target/verilated`), so later runs start at once.

mod command;
mod compiler;
mod ffi;
mod gating;
mod profile;
mod shim;
mod silicon;
mod wrapper;
mod build;

pub use build::{build, build_with, Options};
pub(crate) use command::{content_key, once, run, site_packages, write};
pub use command::{verilator_root, workspace_root};
pub use compiler::{Compiler, Profiler};
pub use ffi::Model;
pub use gating::{gate, Gated, Room, ROOMS};
pub use profile::{is_guided, Training};
