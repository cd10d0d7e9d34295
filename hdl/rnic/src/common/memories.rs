//! The memories of the core, each alone, so that what synthesis makes of them can be played against
//! them.
//!
//! | leaves | one Verilog module for each of [`SHAPES`], with the ports of [`SdpRam`] or [`LutRam`] |
//! | units  | bits of a word, log2 of words, cycles from `read_address` to `read_data`              |

use super::lut_ram::LutRam;
use super::ram::SdpRam;
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use rust_hdl::prelude::*;

/// A memory as a module of its own.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The module.
    pub name: &'static str,
    /// Bits of a word.
    pub bits: usize,
    /// log2 of its words.
    pub words_log2: usize,
    /// Cycles from `read_address` to `read_data`.
    pub latency: usize,
}

const fn ram(name: &'static str, bits: usize, words_log2: usize) -> Shape {
    Shape {
        name,
        bits,
        words_log2,
        latency: 2,
    }
}

/// Shapes that take each width of an ECP5's block RAM, and LUT RAM.
pub const SHAPES: [Shape; 7] = [
    ram("ram_1x14", 1, 14),
    ram("ram_3x13", 3, 13),
    ram("ram_4x12", 4, 12),
    ram("ram_9x11", 9, 11),
    ram("ram_18x10", 18, 10),
    ram("ram_40x9", 40, 9),
    Shape {
        latency: 0,
        ..ram("lut_ram_20x5", 20, 5)
    },
];

/// The Verilog of a memory with every input connected.
macro_rules! alone {
    ($name:literal, $memory:ty) => {{
        let mut memory = <$memory>::default();
        memory.clock.connect();
        memory.write_enable.connect();
        memory.write_address.connect();
        memory.write_data.connect();
        memory.read_address.connect();
        memory.connect_all();
        verilog_named($name, &memory)?
    }};
}

/// The Verilog of the modules of [`SHAPES`].
///
/// # Errors
/// The checks or the emission lint refuse a memory.
pub fn verilog() -> Result<String, EmitError> {
    Ok([
        alone!("ram_1x14", SdpRam<Bits<1>, 14>),
        alone!("ram_3x13", SdpRam<Bits<3>, 13>),
        alone!("ram_4x12", SdpRam<Bits<4>, 12>),
        alone!("ram_9x11", SdpRam<Bits<9>, 11>),
        alone!("ram_18x10", SdpRam<Bits<18>, 10>),
        alone!("ram_40x9", SdpRam<Bits<40>, 9>),
        alone!("lut_ram_20x5", LutRam<Bits<20>, 5>),
    ]
    .concat())
}
