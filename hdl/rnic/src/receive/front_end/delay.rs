//! Delay line without stalls.
//!
//! ```text
//! data_in --> [ register ] x N --> data_out
//! ```
//!
//! | latency    | N cycles; N = 0 is a wire                  |
//! | throughput | one word per cycle                         |
//! | reset      | none: the words carry their own valid bits |
use rnic_macros::{kernel, Init};
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
    #[kernel]
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
mod tests;
