//! Distributed RAM for FIFOs and small tables: synchronous write, asynchronous read.
//!
//! | latency    | read: none (combinational); write: visible from the next cycle     |
//! | throughput | one read and one write per cycle                                   |
//! | units      | addresses count words of `T::BITS` bits; depth is `2^A`, 2..64     |
//! | contents   | zero at power-up; there is no reset                                |
//!
//! A read of the word that is being written returns the old value; this one is safe, because
//! the write happens at the clock edge.
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Distributed RAM of `2^A` words of type `T` with an asynchronous read port.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (1..=6).contains(&A),
        "LutRam: A = {A} address bits is outside 1..=6"
    );
)]
pub struct LutRam<T: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    /// High for each cycle in which `write_data` is stored.
    pub write_enable: Signal<In, Bit>,
    /// Word to write.
    pub write_address: Signal<In, Bits<A>>,
    /// Value to write.
    pub write_data: Signal<In, T>,
    /// Word to read.
    pub read_address: Signal<In, Bits<A>>,
    /// The addressed word, in the same cycle.
    pub read_data: Signal<Out, T>,
    #[init(vec![T::default(); 1 << A])]
    _memory: Vec<T>,
}

impl<T: Synth, const A: usize> Logic for LutRam<T, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            self._memory[self.write_address.val().index()] = self.write_data.val();
        }
        self.read_data.next = self._memory[self.read_address.val().index()];
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "\
(* ram_style = \"distributed\" *)
reg [{high}:0] memory[0:{last}];

integer word;
initial begin
   for (word = 0; word <= {last}; word = word + 1) memory[word] = {width}'h0;
end

always @(posedge clock) begin
   if (write_enable) memory[write_address] <= write_data;
end

always @(*) read_data = memory[read_address];
",
            high = T::BITS - 1,
            last = (1usize << A) - 1,
            width = T::BITS,
        ))
    }

    fn timing(&self) -> Vec<TimingInfo> {
        super::clocked_timing(
            "lut_ram",
            &["write_enable", "write_address", "write_data"],
            &[],
        )
    }
}

#[cfg(test)]
mod tests;
