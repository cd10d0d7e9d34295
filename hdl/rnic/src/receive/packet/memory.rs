//! Packet memory: 512 pages of 256 octets, one write and one read per cycle.
//!
//! ```text
//! write_page, write_word, write_data --> [ 128 KiB ] --> read_data
//! read_page, read_word ------------------^   (2 cycles)
//! ```
//!
//! | latency    | 2 cycles, `read_page` and `read_word` to `read_data`             |
//! | throughput | one write and one read per cycle                                 |
//! | units      | words of D bits, `2^B` a page; `A = 9 + B`                       |
//!
//! Nobody reads a word in the cycle in which it is written: a frame is read only after it was
//! handed on. (A job that was killed may; nobody looks at what it reads then.)
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// `2^A` words of D bits, addressed by page and word in the page (B bits).
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        A == 9 + B,
        "PacketMemory: A = {A} must be 9 + B = {}",
        9 + B
    );
    assert!(
        (D / 8) << B == rnic_abi::limits::PAGE_OCTETS,
        "PacketMemory: 2^B = {} words of D = {D} bits are not a page",
        1 << B
    );
)]
pub struct PacketMemory<const D: usize, const A: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    /// Stores `write_data`.
    pub write_enable: Signal<In, Bit>,
    /// Page to write.
    pub write_page: Signal<In, Bits<9>>,
    /// Word of that page.
    pub write_word: Signal<In, Bits<B>>,
    /// Octets to write.
    pub write_data: Signal<In, Bits<D>>,
    /// Page to read.
    pub read_page: Signal<In, Bits<9>>,
    /// Word of that page.
    pub read_word: Signal<In, Bits<B>>,
    /// The word addressed two cycles ago.
    pub read_data: Signal<Out, Bits<D>>,
    words: SdpRam<Bits<D>, A>,
    #[constant(B as LiteralType)]
    page_shift: Constant<Bits<4>>,
}

impl<const D: usize, const A: usize, const B: usize> Logic for PacketMemory<D, A, B> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.words; clock, write_enable);
        self.words.write_address.next = (bit_cast::<A, 9>(self.write_page.val())
            << self.page_shift.val())
            | bit_cast::<A, B>(self.write_word.val());
        self.words.write_data.next = self.write_data.val();
        self.words.read_address.next = (bit_cast::<A, 9>(self.read_page.val())
            << self.page_shift.val())
            | bit_cast::<A, B>(self.read_word.val());
        self.read_data.next = self.words.read_data.val();
    }
}
