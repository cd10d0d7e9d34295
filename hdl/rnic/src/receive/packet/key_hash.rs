//! CRC32C of a connection key: the hash of the connection lookup.
//!
//! ```text
//!         +-------------------+   +---------------------+
//! key --->| 9 words of XORs   |-->| XOR of the 9 terms  |---> hash
//! 288 bit | (4 octets each)   |   | and a constant      |
//!         +-------------------+   +---------------------+
//!              registers             combinational
//! ```
//!
//! | latency    | 1 cycle, `key` to `hash`                                                |
//! | throughput | one key per cycle; no valid, no reset: the user counts the cycle        |
//! | units      | `key` is an octet string, octet 0 in bits 7:0: remote address (16),     |
//! |            | local address (16), remote port (2), local port (2)                     |
//!
//! CRC32C is linear but for a constant: the checksum of a key is the XOR, over its set bits, of
//! what each bit contributes, and the checksum of 36 zero octets. Both are computed once, in Rust,
//! and serve the simulation and the Verilog alike. The slots of the table are cut out of the hash
//! by `rnic_abi::tables::hash_slot`, here and in the driver.
//!
//! A key mostly stays for many cycles. Under Verilator only, the terms are not recomputed while the
//! key does not change; this saves simulation time.
use crate::messages::{KEY_BITS, KEY_OCTETS};
use rnic_macros::Init;
use rust_hdl::prelude::*;

const WORDS: usize = KEY_OCTETS / 4;
/// CRC32C (Castagnoli) polynomial, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// CRC register after `octets` entered a register that held `state`; neither end is inverted.
fn crc_register(state: u32, octets: &[u8; KEY_OCTETS]) -> u32 {
    octets.iter().fold(state, |state, octet| {
        (0..8).fold(state ^ u32::from(*octet), |state, _| {
            if state & 1 == 1 {
                (state >> 1) ^ POLYNOMIAL
            } else {
                state >> 1
            }
        })
    })
}

/// What each key bit adds to the checksum.
fn contributions() -> Vec<u32> {
    (0..KEY_BITS)
        .map(|bit| {
            let mut octets = [0; KEY_OCTETS];
            octets[bit / 8] = 1 << (bit % 8);
            crc_register(0, &octets)
        })
        .collect()
}

/// The checksum of a key of zeros.
fn checksum_of_zeros() -> u32 {
    !crc_register(!0, &[0; KEY_OCTETS])
}

/// CRC32C of a 36-octet key, feed-forward.
#[derive(LogicBlock, Init)]
pub struct KeyHash {
    pub clock: Signal<In, Clock>,
    /// The key, octet 0 in bits 7:0.
    pub key: Signal<In, Bits<KEY_BITS>>,
    /// CRC32C of the key of the cycle before.
    pub hash: Signal<Out, Bits<32>>,
    #[init(contributions())]
    _contributions: Vec<u32>,
    #[init(checksum_of_zeros())]
    _of_zeros: u32,
    #[init([0; WORDS])]
    _terms: [u32; WORDS],
}

impl KeyHash {
    /// The key bits of word `word` that hash bit `bit` depends on.
    fn sources(&self, word: usize, bit: usize) -> Vec<usize> {
        (32 * word..32 * (word + 1))
            .filter(|source| (self._contributions[*source] >> bit) & 1 == 1)
            .collect()
    }
}

impl Logic for KeyHash {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        if self.clock.pos_edge() {
            let key = self.key.val();
            self._terms = std::array::from_fn(|word| {
                (32 * word..32 * (word + 1))
                    .filter(|bit| key.get_bit(*bit))
                    .fold(0, |sum, bit| sum ^ self._contributions[bit])
            });
        }
        let terms = self._terms.iter();
        let hash = terms.fold(self._of_zeros, |sum, term| sum ^ term);
        self.hash.next = u64::from(hash).into();
    }

    fn connect(&mut self) {
        self.hash.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut text = String::new();
        for word in 0..WORDS {
            text += &format!("reg [31:0] term_{word};\n");
        }
        text += &format!("`ifdef VERILATOR\nreg [{}:0] key_before;\n", KEY_BITS - 1);
        text += &format!("initial key_before = {KEY_BITS}'h0;\n");
        text += "always @(posedge clock) key_before <= key;\n`endif\n\ninitial begin\n";
        for word in 0..WORDS {
            text += &format!("   term_{word} = 32'h0;\n");
        }
        text += "end\n\nalways @(posedge clock)\n";
        // The terms of a key of zeros are zeros, as they are at the start.
        text += "`ifdef VERILATOR\nif (key != key_before)\n`endif\nbegin\n";
        for word in 0..WORDS {
            for bit in 0..32 {
                let sources: Vec<String> = self
                    .sources(word, bit)
                    .iter()
                    .map(|source| format!("key[{source}]"))
                    .collect();
                text += &format!("   term_{word}[{bit}] <= {};\n", sources.join(" ^ "));
            }
        }
        let terms: Vec<String> = (0..WORDS).map(|word| format!("term_{word}")).collect();
        text += &format!(
            "end\n\nalways @(*) hash = 32'h{:08x} ^ {};\n",
            self._of_zeros,
            terms.join(" ^ ")
        );
        Verilog::Custom(text)
    }

    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "key_hash".into(),
            clock: "clock".into(),
            inputs: vec!["key".into()],
            outputs: vec!["hash".into()],
        }]
    }
}

#[cfg(test)]
mod tests;
