//! Header decode: octets of a DDP and RDMAP header into a [`Segment`].
//!
//! ```text
//!        word 0             1          2      3       4        (RFC 5041 figures 4, 5)
//! | Length, DDP, RDMAP |  STag    |     TO          |          tagged, 14 octets of ULPDU
//! | Length, DDP, RDMAP | Inv.STag |  QN  |   MSN    |   MO  |  untagged, 18 octets
//!
//! header ---> [ payload, short, opcode ] ---> [ TO, MO + payload ] ---> segment
//!                     cycle 0                       cycle 1
//! ```
//!
//! | latency    | 2 cycles; the inputs hold still from the first of them until `segment` is used |
//! | throughput | one header per 3 cycles                                                        |
//! | units      | lengths and offsets in octets                                                  |
//! | source     | RFC 5041 section 4 (reserved bits are not checked), RFC 5040 section 4.1, 4.3  |
use super::octet_order::OctetOrder;
use super::segment::Segment;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Octets of a tagged DDP header (RFC 5041 4.2).
pub const TAGGED_HEADER_OCTETS: u64 = 14;
/// Octets of an untagged DDP header (RFC 5041 4.3).
pub const UNTAGGED_HEADER_OCTETS: u64 = 18;

/// Decodes the header of one FPDU.
#[derive(LogicBlock, Init)]
pub struct HeaderDecode {
    pub clock: Signal<In, Clock>,
    /// Five words from ULPDU_Length on, octet string.
    pub header: Signal<In, Bits<160>>,
    /// Octets of the ULPDU.
    pub ulpdu_length: Signal<In, Bits<16>>,
    /// The segment, two cycles later.
    pub segment: Signal<Out, Segment>,
    order: OctetOrder<160>,
    number: Signal<Local, Bits<160>>,
    control: Signal<Local, Bits<16>>,
    opcode: Signal<Local, Bits<4>>,
    queue_number: Signal<Local, Bits<32>>,
    high_queue_bits: Signal<Local, Bits<30>>,
    low_queue_bits: Signal<Local, Bits<2>>,
    is_tagged: Signal<Local, Bit>,
    is_send_with_invalidate: Signal<Local, Bit>,
    now: Signal<Local, Segment>,
    decoded: DFF<Segment>,
    summed: DFF<Segment>,
    held: Signal<Local, Segment>,
    to_sum: Signal<Local, Bits<65>>,
    #[constant(TAGGED_HEADER_OCTETS)]
    tagged_header: Constant<Bits<16>>,
    #[constant(UNTAGGED_HEADER_OCTETS)]
    untagged_header: Constant<Bits<16>>,
}

impl Logic for HeaderDecode {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; decoded, summed);
        // Cycle 0: fields, and what hangs on the length and the control octets alone.
        self.order.octets.next = self.header.val();
        self.number.next = self.order.number.val();
        self.control.next = self.number.val().get_bits::<16>(128);
        self.is_tagged.next = self.control.val().get_bit(15);
        self.opcode.next = self.control.val().get_bits::<4>(0);
        self.queue_number.next = self.number.val().get_bits::<32>(64);
        self.high_queue_bits.next = self.queue_number.val().get_bits::<30>(2);
        self.low_queue_bits.next = self.queue_number.val().get_bits::<2>(0);

        self.now.next = self.decoded.q.val();
        self.now.next.zero_length = !self.ulpdu_length.val().any();
        self.now.next.tagged = self.is_tagged.val();
        self.now.next.last = self.control.val().get_bit(14);
        self.now.next.ddp_version = self.control.val().get_bits::<2>(8);
        self.now.next.rdmap_version = self.control.val().get_bits::<2>(6);
        self.now.next.opcode = self.opcode.val();
        self.now.next.qn_bad = self.high_queue_bits.val().any() | self.low_queue_bits.val().all();
        self.now.next.stag = self.number.val().get_bits::<32>(96);
        self.now.next.to = self.number.val().get_bits::<64>(32);
        self.now.next.msn = self.number.val().get_bits::<32>(32);
        self.now.next.mo = self.number.val().get_bits::<32>(0);
        // RDMAP 4.2: 4 Send with Invalidate, 6 Send with Solicited Event and Invalidate.
        self.is_send_with_invalidate.next = (self.opcode.val() == 4) | (self.opcode.val() == 6);
        self.now.next.invalidates = self.is_send_with_invalidate.val()
            & self.control.val().get_bit(14)
            & !self.is_tagged.val();
        // RFC 5040 4.1: Write and Read Response are tagged; Sends use QN 0, Read Request QN 1,
        // Terminate QN 2. Any other pairing is an unexpected opcode.
        self.now.next.opcode_bad = true;
        if self.is_tagged.val() {
            self.now.next.short = self.ulpdu_length.val() < self.tagged_header.val();
            self.now.next.payload = self.ulpdu_length.val() - self.tagged_header.val();
            self.now.next.qn = 0.into();
            if (self.opcode.val() == 0) | (self.opcode.val() == 2) {
                self.now.next.opcode_bad = false;
            }
        } else {
            self.now.next.short = self.ulpdu_length.val() < self.untagged_header.val();
            self.now.next.payload = self.ulpdu_length.val() - self.untagged_header.val();
            self.now.next.qn = self.low_queue_bits.val();
            match self.low_queue_bits.val().index() {
                0 => {
                    if (self.opcode.val() == 3) | (self.opcode.val() == 5) {
                        self.now.next.opcode_bad = false;
                    }
                    if self.is_send_with_invalidate.val() {
                        self.now.next.opcode_bad = false;
                    }
                }
                1 => self.now.next.opcode_bad = self.opcode.val() != 1,
                2 => self.now.next.opcode_bad = self.opcode.val() != 7,
                _ => {}
            }
        }
        self.decoded.d.next = self.now.val();

        // Cycle 1: sums over the payload.
        self.held.next = self.decoded.q.val();
        self.to_sum.next = bit_cast::<65, 64>(self.decoded.q.val().to)
            + bit_cast::<65, 16>(self.decoded.q.val().payload);
        self.held.next.to_end = self.to_sum.val().get_bits::<64>(0);
        self.held.next.wraps = self.to_sum.val().get_bit(64);
        self.held.next.mo_end = bit_cast::<33, 32>(self.decoded.q.val().mo)
            + bit_cast::<33, 16>(self.decoded.q.val().payload);
        self.held.next.has_payload = self.decoded.q.val().payload != 0;
        self.held.next.known = !self.decoded.q.val().zero_length & !self.decoded.q.val().short;
        self.summed.d.next = self.held.val();
        self.segment.next = self.summed.q.val();
    }
}

#[cfg(test)]
mod tests;
