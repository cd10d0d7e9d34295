//! Leaves shared by the rooms: memories, FIFO, register slice, CRC32C reduction.
//!
//! A leaf that is more than gates (a memory, an XOR network) carries a native `update()` and
//! Verilog text made from the same Rust data, one leaf per file, each with a lockstep test
//! (`rnic_hdl_tools::testkit`). Everything with a decision in it is a kernel.

pub mod crc32c;
pub mod block_fifo;
pub mod build;
pub mod fifo;
pub mod lut_ram;
pub mod free_list;
pub mod ram;
pub mod memories;
pub mod skid;

use rust_hdl::prelude::TimingInfo;

/// Timing record of a leaf whose `inputs` and `outputs` all belong to the port `clock`.
fn clocked_timing(name: &str, inputs: &[&str], outputs: &[&str]) -> Vec<TimingInfo> {
    let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    vec![TimingInfo {
        name: name.into(),
        clock: "clock".into(),
        inputs: owned(inputs),
        outputs: owned(outputs),
    }]
}

#[cfg(test)]
mod tests;
