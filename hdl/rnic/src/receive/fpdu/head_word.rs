//! Where ULPDU_Length is to be seen: in the window, at its next place, or just arriving.
//!
//! | latency    | none: combinational                                                        |
//! | units      | `ulpdu_length` in octets                                                   |
//!
//! ULPDU_Length is octets 0 and 1 of an FPDU's first word, or of its second one behind a leading
//! marker, most significant first (MPA-001, MPA-010).
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Chooses the word that holds ULPDU_Length.
#[derive(LogicBlock, Default)]
pub struct HeadWord {
    /// The FPDU opens with a marker.
    pub lead: Signal<In, Bit>,
    /// Word 0 of the FPDU, in the window.
    pub word_0: Signal<In, Bits<32>>,
    /// Word 1 of the FPDU, in the window.
    pub word_1: Signal<In, Bits<32>>,
    /// Word 0 is in the window.
    pub low_valid: Signal<In, Bit>,
    /// Word 1 is in the window too, if the job has it.
    pub usable: Signal<In, Bit>,
    /// The FPDU begins in lane 0.
    pub aligned: Signal<In, Bit>,
    /// A beat arrives at the window.
    pub arrives: Signal<In, Bit>,
    /// Word 0 of the arriving beat.
    pub arriving_0: Signal<In, Bits<32>>,
    /// Word 1 of the arriving beat.
    pub arriving_1: Signal<In, Bits<32>>,
    /// Look ahead instead: the FPDU before is still in the window.
    pub ahead: Signal<In, Bit>,
    /// Word 0 of the next FPDU.
    pub peeked: Signal<In, Bits<32>>,
    pub peek_valid: Signal<In, Bit>,
    /// ULPDU_Length.
    pub ulpdu_length: Signal<Out, Bits<16>>,
    /// It is there.
    pub valid: Signal<Out, Bit>,
    word: Signal<Local, Bits<32>>,
    high_octet: Signal<Local, Bits<8>>,
    low_octet: Signal<Local, Bits<8>>,
}

impl Logic for HeadWord {
    #[kernel]
    fn update(&mut self) {
        self.word.next = self.word_0.val();
        self.valid.next = self.low_valid.val();
        if self.lead.val() {
            self.word.next = self.word_1.val();
            self.valid.next = self.usable.val();
        }
        if !self.low_valid.val() & self.aligned.val() {
            self.valid.next = self.arrives.val();
            self.word.next = self.arriving_0.val();
            if self.lead.val() {
                self.word.next = self.arriving_1.val();
            }
        }
        if self.ahead.val() {
            self.word.next = self.peeked.val();
            self.valid.next = self.peek_valid.val();
        }
        self.high_octet.next = self.word.val().get_bits::<8>(0);
        self.low_octet.next = self.word.val().get_bits::<8>(8);
        self.ulpdu_length.next = (bit_cast::<16, 8>(self.high_octet.val()) << 8)
            | bit_cast::<16, 8>(self.low_octet.val());
    }
}
