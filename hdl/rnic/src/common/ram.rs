//! Simple dual-port block RAM: one write port, one read port, one clock.
//!
//! ```text
//!              +-----------+    +----------+
//! read_address | 2^A words |--->| output   |---> read_data
//!   write_* -->| (T each)  |    | register |
//!              +-----------+    +----------+
//!                 cycle 1          cycle 2
//! ```
//!
//! | latency    | 2 cycles, `read_address` to `read_data`; a write is readable when its     |
//! |            | address is presented one cycle after the write or later                   |
//! | throughput | one read and one write per cycle                                          |
//! | units      | addresses count words of `T::BITS` bits; depth is `2^A` words, or fewer   |
//! |            | ([`SdpRam::of_words`])                                                    |
//! | contents   | zero at power-up, of more than 4,096 words undefined; there is no reset   |
//!
//! yosys makes DP16KD of it, but does not know that block's output register: the second stage is
//! fabric registers. Measured (128 bits, 512 words, nextpnr, seed 1, out of context): 4 DP16KD and
//! 128 registers; ECP5-5G -8 457 MHz (1.4 ns clock to output); plain ECP5 -8 196 MHz (4.3 ns), -6
//! 145 MHz (5.8 ns). Below 200 MHz on a plain ECP5 the RAM itself is the limit.
//!
//! **Read during write.** A read whose address is written in the same cycle is undefined in
//! hardware (`no_rw_check`: the block RAM is given no collision logic). Callers keep the two
//! apart or forward the value themselves. Both simulations return `T::default()` for such a
//! read, so that a caller which relies on it fails its tests; `rnic play --silicon` gives noise.
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Simple dual-port RAM of `2^A` words of type `T`, read latency exactly 2 cycles.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (1..=16).contains(&A),
        "SdpRam: A = {A} address bits is outside 1..=16"
    );
)]
pub struct SdpRam<T: Synth, const A: usize> {
    /// The clock of both ports.
    pub clock: Signal<In, Clock>,
    /// High for each cycle in which `write_data` is stored.
    pub write_enable: Signal<In, Bit>,
    /// Word to write.
    pub write_address: Signal<In, Bits<A>>,
    /// Value to write.
    pub write_data: Signal<In, T>,
    /// Word to read; sampled every cycle.
    pub read_address: Signal<In, Bits<A>>,
    /// The word addressed two cycles ago.
    pub read_data: Signal<Out, T>,
    // A power of two of words.
    #[init(vec![T::default(); 1 << A])]
    _memory: Vec<T>,
    #[init(T::default())]
    _fetched: T,
}

impl<T: Synth, const A: usize> SdpRam<T, A> {
    /// A RAM of fewer words than addresses: the high bits of an address mean nothing.
    ///
    /// # Panics
    /// Unless `words` is a power of two from 2 to `2^A`.
    pub fn of_words(words: usize) -> Self {
        let fits = (2..=1 << A).contains(&words) && words.is_power_of_two();
        assert!(fits, "SdpRam: {words} words at {A} address bits");
        Self {
            _memory: vec![T::default(); words],
            ..Self::default()
        }
    }
}

impl<T: Synth, const A: usize> Logic for SdpRam<T, A> {
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        self.read_data.next = self._fetched;
        let last = self._memory.len() - 1;
        let written = self.write_address.val().index() & last;
        let read = self.read_address.val().index() & last;
        let collides = self.write_enable.val() && written == read;
        self._fetched = if collides {
            T::default()
        } else {
            self._memory[read]
        };
        if self.write_enable.val() {
            self._memory[written] = self.write_data.val();
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let default = format!("{:x}", T::default().verilog());
        let address_bits = self._memory.len().ilog2() as usize;
        Verilog::Custom(verilog(T::BITS, address_bits, A, &default))
    }

    fn timing(&self) -> Vec<TimingInfo> {
        super::clocked_timing(
            "sdp_ram",
            &[
                "write_enable",
                "write_address",
                "write_data",
                "read_address",
            ],
            &["read_data"],
        )
    }
}

/// Verilog of a RAM of `2^address_bits` words of `width` bits, whose ports have `port_bits` address
/// bits; `default` is what an undefined read gives in simulation.
///
/// A deep RAM is synthesised as slices, each as wide as one block RAM of that depth. Left to itself
/// yosys joins shallower blocks with a mux behind them, which costs 2 ns after the slowest output
/// of the chip. Simulation keeps one array: the slices slow it down. A slice has no initial
/// contents, as yosys needs more memory than it has for that many words.
fn verilog(width: usize, address_bits: usize, port_bits: usize, default: &str) -> String {
    let last = (1usize << address_bits) - 1;
    let slice = match address_bits < port_bits {
        true => format!("[{}:0]", address_bits - 1),
        false => String::new(),
    };
    let whole = format!(
        "\
(* no_rw_check *)
reg [{high}:0] memory[0:{last}];
reg [{high}:0] fetched;

integer word;
initial begin
   for (word = 0; word <= {last}; word = word + 1) memory[word] = {width}'h0;
   fetched = {width}'h0;
   read_data = {width}'h0;
end

always @(posedge clock) begin
   if (write_enable) memory[write_address{slice}] <= write_data;
   fetched <= memory[read_address{slice}];
`ifdef VERILATOR
   // Undefined in hardware: the simulation shows the default so that no caller relies on it.
   if (write_enable && write_address{slice} == read_address{slice}) fetched <= {default};
`endif
   read_data <= fetched;
end
",
        high = width - 1,
    );
    if address_bits <= NATURAL_ADDRESS_BITS {
        return whole;
    }
    assert!(slice.is_empty(), "a deep RAM has a word at each address");
    let bits = BLOCK_BITS >> address_bits;
    let slices: String = (0..width)
        .step_by(bits)
        .map(|low| slice_verilog(low, bits.min(width - low), last))
        .collect();
    format!("`ifdef VERILATOR\n{whole}`else\n{slices}`endif\n")
}

/// Address bits up to which yosys puts no blocks behind a mux.
const NATURAL_ADDRESS_BITS: usize = 12;
/// Bits of a DP16KD without its parity bits, which blocks deeper than 2,048 words do not have.
const BLOCK_BITS: usize = 1 << 14;

/// Bits `low..low + bits` of a deep RAM, words 0 to `last`, an array of their own.
fn slice_verilog(low: usize, bits: usize, last: usize) -> String {
    format!(
        "\
(* no_rw_check *)
reg [{high}:0] memory_{low}[0:{last}];
reg [{high}:0] fetched_{low} = {bits}'h0;
initial read_data[{low} +: {bits}] = {bits}'h0;
always @(posedge clock) begin
   if (write_enable) memory_{low}[write_address] <= write_data[{low} +: {bits}];
   fetched_{low} <= memory_{low}[read_address];
   read_data[{low} +: {bits}] <= fetched_{low};
end
",
        high = bits - 1,
    )
}

#[cfg(test)]
mod tests;
