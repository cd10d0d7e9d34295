//! One's complement sum over chosen octets of a frame.
//!
//! ```text
//! data, keep --> [ sums of G groups ] --> [ running sum ] --> total
//! ```
//!
//! | latency    | 2 cycles, beat to `total`                                      |
//! | throughput | one beat per cycle; a frame's first beat starts a new sum      |
//! | units      | `total` in carry-save form, see `ones_sum`                     |
//! | source     | RFC 1071                                                       |
use super::ones_sum::OnesSum;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Running sum in beats of `W` bits, `K` octets.
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
    /// The beat.
    pub data: Signal<In, Bits<W>>,
    /// Which of its octets count; none, if there is no beat.
    pub keep: Signal<In, Bits<K>>,
    /// A frame begins with this beat.
    pub first: Signal<In, Bit>,
    /// The sum until the beat of two cycles ago.
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
        // The running sum comes last, where the tree is shallow.
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
