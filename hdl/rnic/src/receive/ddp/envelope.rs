//! Envelope: length, versions, queue number and opcode of an FPDU.
//!
//! ```text
//!            cycle 1                 cycle 2
//! segment -> queue open, opcode --> length, versions, cycle 1 --> error, refused
//! ```
//!
//! | latency    | 2 cycles, from cycle 1 to `error`, `refused` in cycle 3                  |
//! | throughput | one FPDU per 2 cycles                                                    |
//! | units      | errors are numbers of `rnic_abi::errors::StreamError`                    |
//! | source     | ARCHITECTURE.md, "ddp, stag": its rows from length to opcode, in order  |
//!
//! `segment` and `is_open` hold still in cycles 1 and 2. The tests of this block need no region and
//! no buffer; what passes them is left to [`super::verdict`].
use super::segment::Segment;
use rnic_abi::errors::StreamError;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The tests between markers and STag or MSN.
#[derive(LogicBlock, Init)]
pub struct EnvelopeCheck {
    pub clock: Signal<In, Clock>,
    pub segment: Signal<In, Segment>,
    /// The queue of an untagged segment is open.
    pub is_open: Signal<In, Bit>,
    /// Cycle 2: the FPDU is the first one of its stream.
    pub is_first: Signal<In, Bit>,
    /// Cycle 2: DDP and RDMAP version that the connection expects.
    pub version: Signal<In, Bit>,
    /// Cycle 3: the first failing test, 0 for none.
    pub error: Signal<Out, Bits<5>>,
    /// Cycle 3: some test fails.
    pub refused: Signal<Out, Bit>,
    form_error: DFF<Bits<5>>,
    held_error: DFF<Bits<5>>,
    held_refused: DFF<Bit>,
    ddp_version: Signal<Local, Bits<2>>,
    rdmap_version: Signal<Local, Bits<2>>,
    form_now: Signal<Local, Bits<5>>,
    header_now: Signal<Local, Bits<5>>,
    #[init(number(StreamError::MpaZeroLength))]
    mpa_zero_length: Constant<Bits<5>>,
    #[init(number(StreamError::DdpShortHeader))]
    ddp_short_header: Constant<Bits<5>>,
    #[init(number(StreamError::DdpTaggedVersion))]
    ddp_tagged_version: Constant<Bits<5>>,
    #[init(number(StreamError::DdpUntaggedVersion))]
    ddp_untagged_version: Constant<Bits<5>>,
    #[init(number(StreamError::RdmapVersion))]
    rdmap_version_error: Constant<Bits<5>>,
    #[init(number(StreamError::RdmapOpcode))]
    rdmap_opcode: Constant<Bits<5>>,
    #[init(number(StreamError::DdpQn))]
    ddp_qn: Constant<Bits<5>>,
}

/// The number of `error`, as a constant of a kernel.
pub(super) fn number(error: StreamError) -> Constant<Bits<5>> {
    Constant::new((error as LiteralType).into())
}

impl Logic for EnvelopeCheck {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; form_error, held_error, held_refused);
        // Cycle 1: what hangs on the header and on tables alone.
        self.form_now.next = 0.into();
        if !self.segment.val().tagged & (self.segment.val().qn_bad | !self.is_open.val()) {
            self.form_now.next = self.ddp_qn.val();
        } else if self.segment.val().opcode_bad {
            self.form_now.next = self.rdmap_opcode.val();
        }
        self.form_error.d.next = self.form_now.val();

        // Cycle 2: length, versions; then cycle 1.
        self.ddp_version.next = self.segment.val().ddp_version;
        self.rdmap_version.next = self.segment.val().rdmap_version;
        self.header_now.next = self.form_error.q.val();
        if self.segment.val().zero_length {
            // RFC 6581 8: valid as the first FPDU of a stream, the ready-to-receive message.
            self.header_now.next = self.mpa_zero_length.val();
            if self.is_first.val() {
                self.header_now.next = 0.into();
            }
        } else if self.segment.val().short {
            self.header_now.next = self.ddp_short_header.val();
        } else if self.ddp_version.val().get_bit(1)
            | (self.ddp_version.val().get_bit(0) ^ self.version.val())
        {
            self.header_now.next = self.ddp_untagged_version.val();
            if self.segment.val().tagged {
                self.header_now.next = self.ddp_tagged_version.val();
            }
        } else if self.rdmap_version.val().get_bit(1)
            | (self.rdmap_version.val().get_bit(0) ^ self.version.val())
        {
            self.header_now.next = self.rdmap_version_error.val();
        }
        self.held_error.d.next = self.header_now.val();
        self.held_refused.d.next = self.header_now.val().any();
        self.error.next = self.held_error.q.val();
        self.refused.next = self.held_refused.q.val();
    }
}

#[cfg(test)]
mod tests;
