//! Delay line without stalls.
//!
//! ```text
//! data_in --> [ register ] x N --> data_out
//! ```
//!
//! | latency    | N cycles; N = 0 is a wire                        |
//! | throughput | one word per cycle                               |
//! | reset      | none: what is inside says itself if it is valid  |
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// `N` registers in a row.
#[derive(LogicBlock, Init)]
pub struct Delay<T: Synth, const N: usize> {
    pub clock: Signal<In, Clock>,
    /// The word to delay.
    pub data_in: Signal<In, T>,
    /// The word of `N` cycles ago.
    pub data_out: Signal<Out, T>,
    stage: [DFF<T>; N],
    word: Signal<Local, T>,
}

impl<T: Synth, const N: usize> Logic for Delay<T, N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.word.next = self.data_in.val();
        for i in 0..N {
            self.stage[i].clock.next = self.clock.val();
            self.stage[i].d.next = self.word.val();
            self.word.next = self.stage[i].q.val();
        }
        self.data_out.next = self.word.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{lockstep, settle, tick};

    fn words_come_after<const N: usize>() {
        let mut uut = Delay::<Bits<8>, N>::default();
        uut.connect_all();
        for cycle in 1..20u64 {
            uut.data_in.next = cycle.into();
            settle(&mut uut);
            assert_eq!(uut.data_out.val(), cycle.saturating_sub(N as u64));
            tick(&mut uut, |uut| &mut uut.clock);
        }
    }

    #[test]
    fn a_word_comes_out_after_as_many_cycles_as_there_are_registers() {
        words_come_after::<0>();
        words_come_after::<1>();
        words_come_after::<3>();
    }

    #[test]
    fn rust_and_verilog_agree() {
        lockstep(
            "delay",
            Delay::<Bits<8>, 3>::default(),
            200,
            |uut| &mut uut.clock,
            |uut, random| uut.data_in.next = random.wide(),
        );
    }
}
