//! Lanes of a stream of beats: which octets lie after a place, and octets masked or replaced.
//!
//! | block             | kind   | computes                                              |
//! |-------------------|--------|-------------------------------------------------------|
//! | [`LaneMask`]      | kernel | the lanes of each beat from a place of the frame on   |
//! | [`MaskOctets`]    | leaf   | some octets cleared, some complemented                |
//! | [`ReplaceOctets`] | leaf   | some octets replaced by those of two patterns         |
//!
//! All of them are combinational from registers or inputs to outputs.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The lanes at or after a place of a frame, beat by beat: `K = 2^O` lanes, `H = 14 - O`.
///
/// What is left to the place counts down, so that no beat needs a compare.
#[derive(LogicBlock, Init)]
#[init(
    assert!(K == 1 << O && H + O == 14, "LaneMask: K = {K}, H = {H} do not fit O = {O}");
)]
pub struct LaneMask<const K: usize, const O: usize, const H: usize> {
    pub clock: Signal<In, Clock>,
    /// A frame begins: `mask` is that of its first beat from the next cycle on.
    pub load: Signal<In, Bit>,
    /// With `load`: the place.
    pub place: Signal<In, Bits<14>>,
    /// `mask` is that of the next beat from the next cycle on.
    pub step: Signal<In, Bit>,
    /// Bit i: lane i is at the place or after it.
    pub mask: Signal<Out, Bits<K>>,
    beats: DFF<Bits<H>>,
    lane: DFF<Bits<O>>,
    #[constant(1)]
    one: Constant<Bits<H>>,
    #[init(Constant::new(!Bits::<K>::default()))]
    ones: Constant<Bits<K>>,
}

impl<const K: usize, const O: usize, const H: usize> Logic for LaneMask<K, O, H> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; beats, lane);
        self.mask.next = self.ones.val() << self.lane.q.val();
        if self.beats.q.val().any() {
            self.mask.next = 0.into();
        }
        if self.step.val() {
            if self.beats.q.val().any() {
                self.beats.d.next = self.beats.q.val() - self.one.val();
            } else {
                self.lane.d.next = 0.into();
            }
        }
        if self.load.val() {
            self.lane.d.next = self.place.val().get_bits::<O>(0);
            for lane_bits in O..(O + 1) {
                self.beats.d.next = self.place.val().get_bits::<H>(lane_bits);
            }
        }
    }
}

/// Verilog of `target`, octet by octet, from what `octet` says of its lane and its part-select.
fn each_octet(lanes: usize, target: &str, octet: impl Fn(usize, &str) -> String) -> Verilog {
    let line = |lane: usize| {
        let part = format!("[{} +: 8]", 8 * lane);
        format!("   {target}{part} = {};\n", octet(lane, &part))
    };
    let lines: String = (0..lanes).map(line).collect();
    Verilog::Custom(format!("always @(*) begin\n{lines}end\n"))
}

/// `data` where `keep` says so, else zero; complemented where `flip` says so. `K = D / 8`.
#[derive(LogicBlock, Init)]
#[init(assert!(D == 8 * K, "MaskOctets: D = {D} must be 8 K, K = {K}");)]
pub struct MaskOctets<const D: usize, const K: usize> {
    pub data: Signal<In, Bits<D>>,
    /// Bit i: octet i stays.
    pub keep: Signal<In, Bits<K>>,
    /// Bit i: octet i, or the zero there, is complemented.
    pub flip: Signal<In, Bits<K>>,
    pub masked: Signal<Out, Bits<D>>,
}

impl<const D: usize, const K: usize> Logic for MaskOctets<D, K> {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        let octets_of = |mask: Bits<K>| {
            (0..K)
                .filter(|lane| mask.get_bit(*lane))
                .fold(Bits::<D>::default(), |all, lane| {
                    (8 * lane..8 * lane + 8).fold(all, |all, bit| all.replace_bit(bit, true))
                })
        };
        self.masked.next =
            (self.data.val() & octets_of(self.keep.val())) ^ octets_of(self.flip.val());
    }

    fn connect(&mut self) {
        self.masked.connect();
    }

    fn hdl(&self) -> Verilog {
        each_octet(K, "masked", |lane, part| {
            format!("(data{part} & {{8{{keep[{lane}]}}}}) ^ {{8{{flip[{lane}]}}}}")
        })
    }
}

/// `data` with octets of two patterns in some lanes; the second one goes over the first. `K = W /
/// 8`.
#[derive(LogicBlock, Init)]
#[init(assert!(W == 8 * K && K % 4 == 0, "ReplaceOctets: W = {W} must be 8 K, K = {K} of 4");)]
pub struct ReplaceOctets<const W: usize, const K: usize> {
    pub data: Signal<In, Bits<W>>,
    /// Bit i: octet i is octet i modulo 4 of `first`.
    pub first_lanes: Signal<In, Bits<K>>,
    pub first: Signal<In, Bits<32>>,
    /// Bit i: octet i is octet i modulo 2 of `second`.
    pub second_lanes: Signal<In, Bits<K>>,
    pub second: Signal<In, Bits<16>>,
    pub replaced: Signal<Out, Bits<W>>,
}

impl<const W: usize, const K: usize> Logic for ReplaceOctets<W, K> {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        let mut replaced = self.data.val();
        for bit in 0..W {
            let lane = bit / 8;
            if self.first_lanes.val().get_bit(lane) {
                replaced = replaced.replace_bit(bit, self.first.val().get_bit(bit % 32));
            }
            if self.second_lanes.val().get_bit(lane) {
                replaced = replaced.replace_bit(bit, self.second.val().get_bit(bit % 16));
            }
        }
        self.replaced.next = replaced;
    }

    fn connect(&mut self) {
        self.replaced.connect();
    }

    fn hdl(&self) -> Verilog {
        each_octet(K, "replaced", |lane, part| {
            let (first, second) = (8 * (lane % 4), 8 * (lane % 2));
            format!(
                "second_lanes[{lane}] ? second[{second} +: 8] : \
                 first_lanes[{lane}] ? first[{first} +: 8] : data{part}"
            )
        })
    }
}

#[cfg(test)]
mod tests;
