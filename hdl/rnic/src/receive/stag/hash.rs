//! Hash of an STag index: the CRC32C of its three octets, most significant first.
//!
//! ```text
//! stag_index --> [ one XOR tree a bit ] --> hash
//! ```
//!
//! | latency    | none (combinational): at most 15 inputs a bit, two levels of LUT4 |
//! | throughput | one hash per cycle                                                |
//! | source     | `rnic_abi::tables::STAG`; CRC32C as in RFC 3720, appendix B.4     |
//!
//! A CRC of a fixed length is an affine map of its input: bit i of the hash is the parity of the
//! input under a mask, XOR a constant bit. Simulation and Verilog are made from the same masks.
use rust_hdl::prelude::*;

/// Octets of a stag_index.
const STAG_INDEX_OCTETS: usize = 3;
/// Polynomial of CRC32C, reflected.
const CRC32C_REFLECTED: u32 = 0x82f6_3b78;

/// CRC32C of a stag_index.
#[derive(LogicBlock)]
pub struct StagHash {
    /// Upper 24 bits of an STag.
    pub stag_index: Signal<In, Bits<24>>,
    /// Its CRC32C; `rnic_abi::tables::hash_slot` cuts a slot for each way out of it.
    pub hash: Signal<Out, Bits<32>>,
    _masks: [u32; 32],
    _constant: u32,
}

/// CRC32C of `octets`, bit by bit.
fn crc32c(octets: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { CRC32C_REFLECTED } else { 0 };
    !octets
        .iter()
        .fold(!0, |crc, &octet| (0..8).fold(crc ^ u32::from(octet), step))
}

/// CRC32C of the three octets of `stag_index`, most significant first.
fn crc32c_of_index(stag_index: u32) -> u32 {
    crc32c(&stag_index.to_be_bytes()[4 - STAG_INDEX_OCTETS..])
}

impl Default for StagHash {
    fn default() -> Self {
        let constant = crc32c_of_index(0);
        let mut masks = [0; 32];
        for input in 0..8 * STAG_INDEX_OCTETS {
            let column = crc32c_of_index(1 << input) ^ constant;
            for (output, mask) in masks.iter_mut().enumerate() {
                *mask |= ((column >> output) & 1) << input;
            }
        }
        Self {
            stag_index: Default::default(),
            hash: Default::default(),
            _masks: masks,
            _constant: constant,
        }
    }
}

impl Logic for StagHash {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        let stag_index = self.stag_index.val().to_u32();
        let bit = |i: usize| (stag_index & self._masks[i]).count_ones() & 1;
        let linear = (0..32).fold(0, |hash, i| hash | (bit(i) << i));
        self.hash.next = u64::from(linear ^ self._constant).into();
    }

    fn connect(&mut self) {
        self.hash.connect();
    }

    fn hdl(&self) -> Verilog {
        let rows = self._masks.iter().enumerate().map(|(i, mask)| {
            let constant = (self._constant >> i) & 1;
            format!("   hash[{i}] = (^(stag_index & 24'h{mask:06x})) ^ 1'b{constant};\n")
        });
        Verilog::Custom(format!(
            "\nalways @(*) begin\n{}end\n",
            rows.collect::<String>()
        ))
    }
}

#[cfg(test)]
mod tests;
