//! Octet order: a header as received, turned into the numbers it holds.
//!
//! ```text
//! octets (octet 0 in bits 7:0) --> [ wires ] --> number (octet 0 most significant)
//! ```
//!
//! | latency    | none: wires only          |
//! | throughput | one header per cycle      |
//! | units      | N is a multiple of 8 bits |
//!
//! Network byte order is most significant octet first, so every field of the header is a slice of
//! `number`.
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Reverses the order of the N/8 octets of a string.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        N > 0 && N % 8 == 0,
        "OctetOrder: N = {N} is not a positive multiple of 8"
    );
)]
pub struct OctetOrder<const N: usize> {
    /// Octet string, octet 0 in bits 7:0.
    pub octets: Signal<In, Bits<N>>,
    /// The same octets, octet 0 in the uppermost eight bits.
    pub number: Signal<Out, Bits<N>>,
}

impl<const N: usize> Logic for OctetOrder<N> {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        let octets = self.octets.val();
        let mut number = Bits::<N>::default();
        for i in 0..N / 8 {
            number.set_bits::<8>(N - 8 - 8 * i, octets.get_bits::<8>(8 * i));
        }
        self.number.next = number;
    }

    fn connect(&mut self) {
        self.number.connect();
    }

    fn hdl(&self) -> Verilog {
        let octets: Vec<String> = (0..N / 8)
            .map(|i| format!("octets[{}:{}]", 8 * i + 7, 8 * i))
            .collect();
        Verilog::Custom(format!(
            "\nalways @(*) number = {{{}}};\n",
            octets.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests;
