//! The memories of the core, each alone: what synthesis makes of them is played against them.

use super::lut_ram::LutRam;
use super::ram::SdpRam;
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use rust_hdl::prelude::*;

/// A memory's module, its word in bits, and log2 of its words.
pub type Shape = (&'static str, usize, usize);

/// Shapes that take each width of an ECP5's block RAM, and LUT RAM; read latency in cycles behind.
pub const SHAPES: [(Shape, usize); 7] = [
    (("ram_1x14", 1, 14), 2),
    (("ram_3x13", 3, 13), 2),
    (("ram_4x12", 4, 12), 2),
    (("ram_9x11", 9, 11), 2),
    (("ram_18x10", 18, 10), 2),
    (("ram_40x9", 40, 9), 2),
    (("lut_ram_20x5", 20, 5), 0),
];

/// The Verilog of the modules of [`SHAPES`].
///
/// # Errors
/// The checks or the emission lint refuse a memory.
pub fn verilog() -> Result<String, EmitError> {
    let mut lut_ram = LutRam::<Bits<20>, 5>::default();
    lut_ram.clock.connect();
    lut_ram.write_enable.connect();
    lut_ram.write_address.connect();
    lut_ram.write_data.connect();
    lut_ram.read_address.connect();
    lut_ram.connect_all();
    Ok([
        ram::<1, 14>("ram_1x14")?,
        ram::<3, 13>("ram_3x13")?,
        ram::<4, 12>("ram_4x12")?,
        ram::<9, 11>("ram_9x11")?,
        ram::<18, 10>("ram_18x10")?,
        ram::<40, 9>("ram_40x9")?,
        verilog_named("lut_ram_20x5", &lut_ram)?,
    ]
    .concat())
}

fn ram<const N: usize, const A: usize>(name: &str) -> Result<String, EmitError> {
    let mut ram = SdpRam::<Bits<N>, A>::default();
    ram.clock.connect();
    ram.write_enable.connect();
    ram.write_address.connect();
    ram.write_data.connect();
    ram.read_address.connect();
    ram.connect_all();
    verilog_named(name, &ram)
}
