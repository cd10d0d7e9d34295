//! One's complement sums (RFC 1071) in carry-save form: of one beat, and of a frame.
//!
//! Modulo 65535 a carry out of bit 15 is one in bit 0, so the carries of a full adder are rotated
//! by one bit, and no word ever grows. No carry propagates through a word. The final comparison
//! needs no propagation either: sum + carry is a multiple of 65535 if one is the complement of the
//! other, both are all ones, or both are zero. The sum does not depend on the byte order of the
//! terms (RFC 1071, 2), so octets are added as they are on the lanes.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Sum of the terms in `NW` bits, `KN = NW / 8` octets.
///
/// ```text
/// data, keep --> [ octets not kept are zero ] --> [ tree of 3:2 adders ] --> total
/// ```
///
/// | latency | 0 cycles (combinational); 4, 8, 10 terms: 2, 4, 5 full adders deep              |
/// | units   | terms of two octets, term i in bits 16 i + 15 : 16 i                            |
/// | ensures | `total` 15:0 + `total` 31:16 = the sum of all kept octets, modulo 65535         |
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
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        let (data, keep) = (self.data.val(), self.keep.val());
        let octet = |index: usize| match keep.get_bit(index) {
            true => data.get_bits::<8>(index * 8).to_u8() as u16,
            false => 0,
        };
        // The terms, followed by sums and carries in the order of their creation. Each adder
        // takes the three oldest and appends two, which gives the flattest tree.
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

/// Running sum over chosen octets of a frame, in beats of `W` bits, `K` octets.
///
/// ```text
/// data, keep --> [ sums of G groups ] --> [ running sum ] --> total
/// ```
///
/// | latency    | 2 cycles, beat to `total`                                  |
/// | throughput | one beat per cycle; a frame's first beat starts a new sum  |
///
/// A beat is summed in `G` groups of `NW` bits, `KN` octets; the results and the running sum are
/// `AW = 32 (G + 1)` bits, `AK` octets.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == G * NW && K == G * KN && AW == 32 * (G + 1),
        "StreamSum: W = {W}, K = {K}, AW = {AW} do not fit G = {G} groups of {NW} bits"
    );
)]
pub struct StreamSum<
    const W: usize,
    const K: usize,
    const G: usize,
    const NW: usize,
    const KN: usize,
    const AW: usize,
    const AK: usize,
> {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<W>>,
    /// Bit i: octet i counts. Zero without a beat.
    pub keep: Signal<In, Bits<K>>,
    /// First beat of a frame.
    pub first: Signal<In, Bit>,
    /// The sum up to the beat of two cycles ago.
    pub total: Signal<Out, Bits<32>>,
    group: [OnesSum<NW, KN>; G],
    group_total: [DFF<Bits<32>>; G],
    group_first: DFF<Bit>,
    accumulator: OnesSum<AW, AK>,
    running: DFF<Bits<32>>,
    so_far: Signal<Local, Bits<32>>,
    one_total: Signal<Local, Bits<32>>,
    terms: Signal<Local, Bits<AW>>,
    #[constants(|group| 32 * group as LiteralType)]
    place: [Constant<Bits<8>>; G],
    #[constant(32 * G as LiteralType)]
    last_place: Constant<Bits<8>>,
    #[constant(!Bits::<AK>::default())]
    all_octets: Constant<Bits<AK>>,
}

impl<
        const W: usize,
        const K: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > Logic for StreamSum<W, K, G, NW, KN, AW, AK>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; group_first, running);
        self.total.next = self.running.q.val();
        self.group_first.d.next = self.first.val();
        self.terms.next = 0.into();
        for width in NW..(NW + 1) {
            for octets in KN..(KN + 1) {
                for i in 0..G {
                    self.group[i].data.next = self.data.val().get_bits::<NW>(i * width);
                    self.group[i].keep.next = self.keep.val().get_bits::<KN>(i * octets);
                    self.group_total[i].clock.next = self.clock.val();
                    self.group_total[i].d.next = self.group[i].total.val();
                    self.one_total.next = self.group_total[i].q.val();
                    self.terms.next = self.terms.val()
                        | (bit_cast::<AW, 32>(self.one_total.val()) << self.place[i].val());
                }
            }
        }
        // The running sum is the last term, where the tree is shallow.
        self.so_far.next = self.running.q.val();
        if self.group_first.q.val() {
            self.so_far.next = 0.into();
        }
        self.accumulator.data.next =
            self.terms.val() | (bit_cast::<AW, 32>(self.so_far.val()) << self.last_place.val());
        self.accumulator.keep.next = self.all_octets.val();
        self.running.d.next = self.accumulator.total.val();
    }
}

#[cfg(test)]
mod tests;
