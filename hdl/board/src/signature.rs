//! The signature of what the core sends on one of its streams of TLPs.
//!
//! ```text
//! beat --> [ header | payload ] --> doubleword by doubleword --> [ CRC32C ] --> signature
//! ```
//!
//! | latency    | a beat is taken while no other is worked on; then a cycle for each doubleword |
//! | units      | doublewords, least significant octet first; TLPs are counted at their end     |
//! | source     | CRC32C as of RFC 3720, 12.1                                                   |
use crate::script::FOUR_DWORDS;
use rnic_hdl::parts::StateStep;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Running CRC32C over the doublewords of TLPs.
#[derive(LogicBlock, Init)]
pub struct Signature {
    pub clock: Signal<In, Clock>,
    /// Starts from nothing.
    pub clear: Signal<In, Bit>,
    /// Header doublewords, with the first beat of a TLP.
    pub header: Signal<In, Bits<128>>,
    pub data: Signal<In, Bits<128>>,
    /// One bit for each doubleword of payload that counts, from lane 0 on.
    pub keep: Signal<In, Bits<4>>,
    pub last: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    /// CRC32C of what was taken since `clear`.
    pub signature: Signal<Out, Bits<32>>,
    /// TLPs since `clear` that are in the signature to their end.
    pub count: Signal<Out, Bits<16>>,
    /// First doubleword of the last completion with data.
    pub answer: Signal<Out, Bits<32>>,
    step: StateStep<32>,
    crc: DFF<Bits<32>>,
    tlps: DFF<Bits<16>>,
    kept_answer: DFF<Bits<32>>,
    in_tlp: DFF<Bit>,
    // The beat that is worked on ends a TLP.
    ends: DFF<Bit>,
    rest_header: DFF<Bits<128>>,
    rest_data: DFF<Bits<128>>,
    // Doublewords left of each.
    left_header: DFF<Bits<4>>,
    left_data: DFF<Bits<4>>,
    busy: Signal<Local, Bit>,
    dword: Signal<Local, Bits<32>>,
    #[constant(0xffff_ffff_u64)]
    ones: Constant<Bits<32>>,
    #[constant(u64::from(FOUR_DWORDS))]
    four_dwords: Constant<Bits<32>>,
    #[constant(0x4a)]
    completion_with_data: Constant<Bits<8>>,
    #[constant(1)]
    one: Constant<Bits<16>>,
    #[constant(7)]
    three_left: Constant<Bits<4>>,
    #[constant(15)]
    four_left: Constant<Bits<4>>,
}

impl Logic for Signature {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; crc, tlps, kept_answer, in_tlp, ends);
        registers!(clock; rest_header, rest_data, left_header, left_data);
        self.busy.next = self.left_header.q.val().any() | self.left_data.q.val().any();
        self.ready.next = !self.busy.val();
        self.signature.next = !self.crc.q.val();
        self.count.next = self.tlps.q.val();
        self.answer.next = self.kept_answer.q.val();

        self.dword.next = self.rest_data.q.val().get_bits::<32>(0);
        if self.left_header.q.val().any() {
            self.dword.next = self.rest_header.q.val().get_bits::<32>(0);
        }
        self.step.state.next = self.crc.q.val() ^ self.dword.val();
        if self.busy.val() {
            self.crc.d.next = self.step.stepped.val();
        }
        if self.left_header.q.val().any() {
            self.rest_header.d.next = self.rest_header.q.val() >> 32;
            self.left_header.d.next = self.left_header.q.val() >> 1;
        } else if self.left_data.q.val().any() {
            self.rest_data.d.next = self.rest_data.q.val() >> 32;
            self.left_data.d.next = self.left_data.q.val() >> 1;
        }
        if self.ends.q.val() & !self.busy.val() {
            self.tlps.d.next = self.tlps.q.val() + self.one.val();
            self.ends.d.next = false;
        }
        if self.valid.val() & !self.busy.val() {
            self.rest_header.d.next = self.header.val();
            self.rest_data.d.next = self.data.val();
            self.left_data.d.next = self.keep.val();
            self.in_tlp.d.next = !self.last.val();
            self.ends.d.next = self.last.val();
            if !self.in_tlp.q.val() {
                self.left_header.d.next = self.three_left.val();
                if (self.header.val().get_bits::<32>(0) & self.four_dwords.val()).any() {
                    self.left_header.d.next = self.four_left.val();
                }
                if self.header.val().get_bits::<8>(24) == self.completion_with_data.val() {
                    self.kept_answer.d.next = self.data.val().get_bits::<32>(0);
                }
            }
        }
        if self.clear.val() {
            self.crc.d.next = self.ones.val();
            self.tlps.d.next = 0.into();
            self.in_tlp.d.next = false;
            self.ends.d.next = false;
            self.left_header.d.next = 0.into();
            self.left_data.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
