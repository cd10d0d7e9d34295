//! The report: characters that the player writes and the console reads.
//!
//! ```text
//! word --> octet by octet, or digit by digit --> [ 4,096 octets ] --> read_data
//! ```
//!
//! | latency | 8 cycles a word; 2 cycles, `read_address` to `read_data`               |
//! | units   | characters; those that are 0 are left out; beyond the last are dropped |
use rnic_hdl::parts::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// log2 of the octets of a report.
pub const REPORT_LOG2: usize = 12;
const _: () = assert!(crate::script::REPORT_OCTETS == 1 << REPORT_LOG2);

/// Writer and memory of the report.
#[derive(LogicBlock, Init)]
pub struct Report {
    pub clock: Signal<In, Clock>,
    /// Begins an empty report.
    pub clear: Signal<In, Bit>,
    /// Eight characters, the first in bits 7:0; or a value, in bits 31:0.
    pub word: Signal<In, Bits<64>>,
    /// It is a value.
    pub is_value: Signal<In, Bit>,
    /// One cycle: `word` is to be written; only while not `busy`.
    pub write: Signal<In, Bit>,
    /// From the cycle after `write` on, until it is.
    pub busy: Signal<Out, Bit>,
    /// Characters so far that can be read: if that at `read_address` is among them, `read_data` is
    /// it in the same cycle.
    pub length: Signal<Out, Bits<13>>,
    pub read_address: Signal<In, Bits<REPORT_LOG2>>,
    pub read_data: Signal<Out, Bits<8>>,
    memory: SdpRam<Bits<8>, REPORT_LOG2>,
    rest: DFF<Bits<64>>,
    digits: DFF<Bit>,
    left: DFF<Bits<4>>,
    written: DFF<Bits<13>>,
    // What was written comes out of the memory two cycles later.
    settling: DFF<Bits<13>>,
    readable: DFF<Bits<13>>,
    digit: Signal<Local, Bits<4>>,
    character: Signal<Local, Bits<8>>,
    writes: Signal<Local, Bit>,
    #[constant(8)]
    characters: Constant<Bits<4>>,
    #[constant(1)]
    one: Constant<Bits<4>>,
    #[constant(1)]
    one_more: Constant<Bits<13>>,
    #[constant(10)]
    ten: Constant<Bits<4>>,
    #[constant(u64::from(b'0'))]
    zero_digit: Constant<Bits<8>>,
    #[constant(u64::from(b'a' - 10))]
    letter: Constant<Bits<8>>,
    #[constant(1 << REPORT_LOG2)]
    full: Constant<Bits<13>>,
}

impl Logic for Report {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; rest, digits, left, written, settling, readable);
        wire!(self => self.memory; clock, read_address);
        self.read_data.next = self.memory.read_data.val();
        self.busy.next = self.left.q.val().any();
        self.settling.d.next = self.written.q.val();
        self.readable.d.next = self.settling.q.val();
        self.length.next = self.readable.q.val();

        self.digit.next = self.rest.q.val().get_bits::<4>(28);
        self.character.next = self.rest.q.val().get_bits::<8>(0);
        if self.digits.q.val() {
            self.character.next = bit_cast::<8, 4>(self.digit.val()) + self.zero_digit.val();
            if self.digit.val() >= self.ten.val() {
                self.character.next = bit_cast::<8, 4>(self.digit.val()) + self.letter.val();
            }
        }
        self.writes.next = (self.left.q.val().any() & self.character.val().any())
            & (self.written.q.val() != self.full.val());
        self.memory.write_enable.next = self.writes.val();
        self.memory.write_address.next = self.written.q.val().get_bits::<REPORT_LOG2>(0);
        self.memory.write_data.next = self.character.val();
        if self.writes.val() {
            self.written.d.next = self.written.q.val() + self.one_more.val();
        }
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - self.one.val();
            self.rest.d.next = self.rest.q.val() >> 8;
            if self.digits.q.val() {
                self.rest.d.next = self.rest.q.val() << 4;
            }
        } else if self.write.val() {
            self.rest.d.next = self.word.val();
            self.digits.d.next = self.is_value.val();
            self.left.d.next = self.characters.val();
        }
        if self.clear.val() {
            self.left.d.next = 0.into();
            self.written.d.next = 0.into();
            self.settling.d.next = 0.into();
            self.readable.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
