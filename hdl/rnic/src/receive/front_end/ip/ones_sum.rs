//! One's complement sum (RFC 1071) of many 16-bit terms, in carry-save form.
//!
//! ```text
//! data, keep --> [ octets not kept are zero ] --> [ tree of 3:2 adders ] --> total
//! ```
//!
//! | latency    | 0 cycles (combinational); the tree is 2, 4, 5 full adders deep for 4, 8, 10    |
//! |            | terms                                                                          |
//! | units      | terms of two octets, term i in bits 16 i + 15 : 16 i                           |
//! | ensures    | `total` 15:0 + `total` 31:16 = the sum of all kept octets, modulo 65535        |
//! | source     | RFC 1071, 2: the sum does not depend on the byte order of the terms            |
//!
//! Modulo 65535 a carry out of bit 15 is one in bit 0, so the carries of a full adder come back
//! turned by one place, and no word ever grows. No carry runs through a word; the final compare
//! needs none either: sum + carry is a multiple of 65535 when one is the complement of the other,
//! both are all ones, or both are zero.
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Sum of the terms in `NW` bits, `KN = NW / 8` octets.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        NW % 16 == 0 && NW >= 48 && KN * 8 == NW,
        "OnesSum: NW = {NW} must be 16 times 3 or more, KN = {KN} must be NW / 8"
    );
)]
pub struct OnesSum<const NW: usize, const KN: usize> {
    /// The terms.
    pub data: Signal<In, Bits<NW>>,
    /// Bit i: octet i counts.
    pub keep: Signal<In, Bits<KN>>,
    /// Sum in bits 15:0, carry in bits 31:16.
    pub total: Signal<Out, Bits<32>>,
}

impl<const NW: usize, const KN: usize> Logic for OnesSum<NW, KN> {
    fn update(&mut self) {
        let (data, keep) = (self.data.val(), self.keep.val());
        let octet = |index: usize| match keep.get_bit(index) {
            true => data.get_bits::<8>(index * 8).to_u8() as u16,
            false => 0,
        };
        // The terms; then, in the order in which they are made, sums and carries. Adder k takes
        // the three oldest and appends two: the tree is as flat as can be.
        let mut terms: Vec<u16> = (0..KN / 2)
            .map(|term| octet(2 * term) | octet(2 * term + 1) << 8)
            .collect();
        for adder in 0..KN / 2 - 2 {
            let [a, b, c] = [0, 1, 2].map(|operand| terms[3 * adder + operand]);
            let carry = (a & b) | (a & c) | (b & c);
            terms.extend([a ^ b ^ c, carry.rotate_left(1)]);
        }
        let [.., sum, carry] = terms[..] else {
            unreachable!("at least three terms")
        };
        self.total.next = (u64::from(carry) << 16 | u64::from(sum)).into();
    }

    fn connect(&mut self) {
        self.total.connect();
    }

    fn hdl(&self) -> Verilog {
        let terms = KN / 2;
        let all = 3 * terms - 4;
        let mut text = format!("reg [15:0] term [0:{}];\nreg [15:0] carry;\n", all - 1);
        text += "always @(*) begin\n";
        for term in 0..terms {
            let octet =
                |index: usize| format!("(data[{} +: 8] & {{8{{keep[{index}]}}}})", index * 8);
            text += &format!(
                "   term[{term}] = {{{}, {}}};\n",
                octet(2 * term + 1),
                octet(2 * term)
            );
        }
        for adder in 0..terms - 2 {
            let [a, b, c] = [0, 1, 2].map(|operand| format!("term[{}]", 3 * adder + operand));
            let made = terms + 2 * adder;
            text += &format!("   carry = ({a} & {b}) | ({a} & {c}) | ({b} & {c});\n");
            text += &format!("   term[{made}] = {a} ^ {b} ^ {c};\n");
            text += &format!("   term[{}] = {{carry[14:0], carry[15]}};\n", made + 1);
        }
        text += &format!(
            "   total = {{term[{}], term[{}]}};\nend\n",
            all - 1,
            all - 2
        );
        Verilog::Custom(text)
    }
}

#[cfg(test)]
mod tests;
