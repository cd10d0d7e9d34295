//! The script of the self-test in block RAM with contents.
//!
//! | latency | 2 cycles, `address` to `word`                              |
//! | units   | words of [`WORD_BITS`] bits                                |
use crate::script::{Word, ADDRESS_BITS, WORDS, WORD_BITS};
use rust_hdl::prelude::*;
use std::fmt::Write;

/// A memory that is only read; what is left of it after the script reads as [`Word::End`].
#[derive(LogicBlock)]
pub struct ScriptRom {
    pub clock: Signal<In, Clock>,
    pub address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word addressed two cycles ago.
    pub word: Signal<Out, Bits<WORD_BITS>>,
    _words: Vec<u128>,
    _fetched: u128,
}

impl ScriptRom {
    /// A memory with this script.
    ///
    /// # Panics
    /// If the script has more words than the memory.
    pub fn new(script: &[Word]) -> Self {
        assert!(script.len() <= WORDS, "ScriptRom: {} words", script.len());
        let mut words: Vec<u128> = script.iter().map(|word| word.encode()).collect();
        words.resize(WORDS, Word::End.encode());
        Self {
            clock: Default::default(),
            address: Default::default(),
            word: Default::default(),
            _words: words,
            _fetched: 0,
        }
    }
}

impl Logic for ScriptRom {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let low = Bits::<WORD_BITS>::from(self._fetched as u64);
            let high = Bits::<WORD_BITS>::from((self._fetched >> 64) as u64);
            self.word.next = low | (high << 64);
            self._fetched = self._words[self.address.val().index()];
        }
    }

    fn connect(&mut self) {
        self.word.connect();
    }

    fn hdl(&self) -> Verilog {
        let (high, last) = (WORD_BITS - 1, WORDS - 1);
        let mut text = format!(
            "reg [{high}:0] memory[0:{last}];\nreg [{high}:0] fetched = {WORD_BITS}'h0;\n\
             initial begin\n"
        );
        for (number, word) in self._words.iter().enumerate() {
            writeln!(text, "   memory[{number}] = {WORD_BITS}'h{word:x};")
                .expect("writing to a string");
        }
        write!(
            text,
            "   word = {WORD_BITS}'h0;\nend\n\
             always @(posedge clock) begin\n   fetched <= memory[address];\n   \
             word <= fetched;\nend\n"
        )
        .expect("writing to a string");
        Verilog::Custom(text)
    }

    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "script_rom".into(),
            clock: "clock".into(),
            inputs: vec!["address".into()],
            outputs: vec!["word".into()],
        }]
    }
}

#[cfg(test)]
mod tests;
