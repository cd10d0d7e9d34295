//! Verdict: which test refuses an FPDU first, and what the FPDU gives if none does.
//!
//! ```text
//!               cycle 3                                     cycle 4
//! envelope, --> STag, association, access, wrap;        --> CRC, markers; bounds; --> verdict
//! segment       MO, length, invalidate; read                order of MSN; is a read outstanding?
//!                                                           room in the completion queue?
//! ```
//!
//! | latency    | 5 cycles from `take`, or 1 from the verdict of MPA if that is later        |
//! | throughput | one FPDU per 5 cycles                                                      |
//! | units      | errors are numbers of `rnic_abi::errors::StreamError`                      |
//! | source     | ARCHITECTURE.md, "ddp, stag": the order of tests is the order of its table |
//!
//! An FPDU out of order goes through the same tests, but one that fails is only not placed and has
//! no other effect. A gap in the order of MSNs is no error there; in addition it needs a free slot
//! for its record, a marker that proves its start (if it is `unproven`), no failed FPDU before it
//! in its job, and a ULPDU. A Read Response is never placed out of order: only in order is it known
//! which read it continues (ADR 18).
//!
//! What completes a message or a read, while the completion queue has no room for the entry, is
//! refused (`CqOverflow`). An error that finds no room stops its stream likewise, without an entry.
//!
//! A Terminate stops its stream as an error does, but is delivered and is no error (RFC 5040
//! section 5.6). Queue 2 has no other messages: the envelope check tests that.
use super::types::{DdpSegment, Role, Verdict};
use rnic_abi::errors::StreamError;
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The number of `error`, as a constant of a kernel.
fn number(error: StreamError) -> Constant<Bits<5>> {
    Constant::new((error as LiteralType).into())
}

/// Envelope: the tests of length, versions, QN and opcode, which need no region or buffer.
///
/// ```text
///            cycle 1                 cycle 2
/// segment -> queue open, opcode --> length, versions, cycle 1 --> error, refused
/// ```
///
/// | latency    | 2 cycles, from cycle 1 to `error`, `refused` in cycle 3 |
/// | throughput | one FPDU per 2 cycles                                   |
///
/// `segment` and `is_open` are stable in cycles 1 and 2.
#[derive(LogicBlock, Init)]
pub struct EnvelopeCheck {
    pub clock: Signal<In, Clock>,
    pub segment: Signal<In, DdpSegment>,
    /// The queue of an untagged segment is open.
    pub is_open: Signal<In, Bit>,
    /// Cycle 2: the FPDU is the first one of its stream.
    pub is_first: Signal<In, Bit>,
    /// Cycle 2: DDP and RDMAP version that the connection expects.
    pub version: Signal<In, Bit>,
    /// Cycle 3: the first failing test, 0 for none, and whether there is one.
    pub error: Signal<Out, Bits<5>>,
    pub refused: Signal<Out, Bit>,
    form_error: DFF<Bits<5>>,
    held_error: DFF<Bits<5>>,
    held_refused: DFF<Bit>,
    ddp_version: Signal<Local, Bits<2>>,
    rdmap_version: Signal<Local, Bits<2>>,
    form_now: Signal<Local, Bits<5>>,
    header_now: Signal<Local, Bits<5>>,
    #[init(number(StreamError::MpaLocalCatastrophic))]
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

impl Logic for EnvelopeCheck {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; form_error, held_error, held_refused);
        // Cycle 1: tests that need only header and tables.
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

/// Verdict: the first failing test, and what the FPDU gives if none fails.
///
/// | latency    | `verdict` follows `decide` (cycle 4) by one cycle and then holds |
/// | throughput | one FPDU per 5 cycles                                            |
///
/// `segment` and `role` are stable from cycle 1 to cycle 4; each other input enters in the cycle
/// that its port names. Cycle 4 lasts until `decide`; the inputs of all cycles are stable until
/// then. A later group of tests counts only if every earlier group passed, so the first failing
/// test wins. CRC and markers, first in order, are known last.
#[derive(LogicBlock, Init)]
pub struct VerdictEncode {
    pub clock: Signal<In, Clock>,
    pub segment: Signal<In, DdpSegment>,
    pub role: Signal<In, Role>,
    /// Cycle 2: the connection is in error.
    pub in_error: Signal<In, Bit>,
    /// Cycle 3: result of the envelope check.
    pub envelope_error: Signal<In, Bits<5>>,
    pub envelope_refused: Signal<In, Bit>,
    /// Cycle 3: the STag is unknown, not valid or has another key.
    pub unknown: Signal<In, Bit>,
    /// Cycle 3: the STag is of another Protection Domain or stream.
    pub foreign: Signal<In, Bit>,
    /// Cycle 3: rights of the region.
    pub rights: Signal<In, Bits<5>>,
    /// Cycle 3: MO is not in the buffer.
    pub mo_bad: Signal<In, Bit>,
    /// Cycle 3: the payload ends beyond the buffer.
    pub too_long: Signal<In, Bit>,
    /// Cycle 3: a Read Response that does not continue the oldest outstanding read.
    pub read_differs: Signal<In, Bit>,
    /// Cycle 3: the record of an FPDU out of order can be stored.
    pub has_room: Signal<In, Bit>,
    /// Cycle 3: the FPDU before it in its out-of-order job was not placed.
    pub follows_bad: Signal<In, Bit>,
    /// Cycle 4, with `decide`: CRC32C is good.
    pub crc_good: Signal<In, Bit>,
    /// Cycle 4, with `decide`: every marker is good.
    pub marker_good: Signal<In, Bit>,
    /// Cycle 4, with `decide`: there is a marker.
    pub marker_seen: Signal<In, Bit>,
    /// Cycle 4: the octets are not inside the region.
    pub outside: Signal<In, Bit>,
    /// Cycle 4: the MSN is before the expected one.
    pub behind: Signal<In, Bit>,
    /// Cycle 4: no buffer is posted for the MSN.
    pub not_posted: Signal<In, Bit>,
    /// Cycle 4: the MSN is not the expected one.
    pub gap: Signal<In, Bit>,
    /// Cycle 4: nothing is posted on the queue; of a tagged segment no read is outstanding.
    pub empty: Signal<In, Bit>,
    /// Cycle 4: the completion queue has no room for an entry.
    pub full: Signal<In, Bit>,
    /// Cycle 4: this is its last cycle.
    pub decide: Signal<In, Bit>,
    /// Cycle 2: the FPDU is the first one of its stream.
    pub is_first: Signal<In, Bit>,
    /// Valid from cycle 5 until after the next `decide`.
    pub verdict: Signal<Out, Verdict>,
    /// As `verdict`: the first FPDU of its stream passed all tests. One that is read twice counts
    /// when it is checked.
    pub first_passed: Signal<Out, Bit>,
    stopped: DFF<Bit>,
    stopped_q2: DFF<Bit>,
    first: DFF<Bit>,
    first_q2: DFF<Bit>,
    passed: DFF<Bit>,
    early_error: DFF<Bits<5>>,
    early_refused: DFF<Bit>,
    late_error: DFF<Bits<5>>,
    late_refused: DFF<Bit>,
    may_keep: DFF<Bit>,
    is_response: DFF<Bit>,
    // It completes a message or a read if nothing refuses it.
    needs_entry: DFF<Bit>,
    found: DFF<Verdict>,
    early_now: Signal<Local, Bits<5>>,
    late_now: Signal<Local, Bits<5>>,
    may_write: Signal<Local, Bits<5>>,
    may_sink: Signal<Local, Bits<5>>,
    may_invalidate: Signal<Local, Bits<5>>,
    access_bad: Signal<Local, Bit>,
    // The opcode of a tagged segment is Read Response.
    responds: Signal<Local, Bit>,
    frame_bad: Signal<Local, Bit>,
    is_refused: Signal<Local, Bit>,
    is_live: Signal<Local, Bit>,
    is_accepted: Signal<Local, Bit>,
    is_kept: Signal<Local, Bit>,
    completes: Signal<Local, Bit>,
    overflows: Signal<Local, Bit>,
    is_placed: Signal<Local, Bit>,
    error_now: Signal<Local, Bits<5>>,
    is_event: Signal<Local, Bit>,
    now: Signal<Local, Verdict>,
    #[init(number(StreamError::MpaCrc))]
    mpa_crc: Constant<Bits<5>>,
    #[init(number(StreamError::MpaMarker))]
    mpa_marker: Constant<Bits<5>>,
    #[constant(LiteralType::from(RIGHT_REMOTE_WRITE))]
    remote_write: Constant<Bits<5>>,
    #[constant(LiteralType::from(RIGHT_READ_SINK))]
    read_sink: Constant<Bits<5>>,
    #[constant(LiteralType::from(RIGHT_REMOTE_INVALIDATE))]
    remote_invalidate: Constant<Bits<5>>,
    #[init(number(StreamError::DdpStag))]
    ddp_stag: Constant<Bits<5>>,
    #[init(number(StreamError::DdpAssociation))]
    ddp_association: Constant<Bits<5>>,
    #[init(number(StreamError::RdmapAccess))]
    rdmap_access: Constant<Bits<5>>,
    #[init(number(StreamError::DdpWrap))]
    ddp_wrap: Constant<Bits<5>>,
    #[init(number(StreamError::DdpBounds))]
    ddp_bounds: Constant<Bits<5>>,
    #[init(number(StreamError::DdpNoBuffer))]
    ddp_no_buffer: Constant<Bits<5>>,
    #[init(number(StreamError::DdpMsn))]
    ddp_msn: Constant<Bits<5>>,
    #[init(number(StreamError::DdpMo))]
    ddp_mo: Constant<Bits<5>>,
    #[init(number(StreamError::DdpTooLong))]
    ddp_too_long: Constant<Bits<5>>,
    #[init(number(StreamError::RdmapInvalidate))]
    rdmap_invalidate: Constant<Bits<5>>,
    #[init(number(StreamError::RdmapReadResponse))]
    rdmap_read_response: Constant<Bits<5>>,
    #[init(number(StreamError::CqOverflow))]
    cq_overflow: Constant<Bits<5>>,
    #[constant(2)]
    queue_terminate: Constant<Bits<2>>,
}

impl Logic for VerdictEncode {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; stopped, stopped_q2);
        registers!(clock; early_error, early_refused, late_error, late_refused, may_keep, found);
        registers!(clock; is_response, needs_entry, first, first_q2, passed);

        // Cycle 2.
        self.stopped.d.next = self.in_error.val();
        self.first.d.next = self.is_first.val();

        // Cycle 3: tests of the region of a tagged segment, except for bounds ...
        self.may_write.next = self.rights.val() & self.remote_write.val();
        self.may_sink.next = self.rights.val() & self.read_sink.val();
        self.may_invalidate.next = self.rights.val() & self.remote_invalidate.val();
        self.access_bad.next = !self.may_write.val().any();
        if self.segment.val().opcode != 0 {
            self.access_bad.next = !self.may_sink.val().any();
        }
        self.early_now.next = self.envelope_error.val();
        if !self.envelope_refused.val() & self.segment.val().known & self.segment.val().tagged {
            // RFC 5041 5.2: STag and TO of a segment without payload are not checked.
            if self.segment.val().has_payload {
                if self.unknown.val() {
                    self.early_now.next = self.ddp_stag.val();
                } else if self.foreign.val() {
                    self.early_now.next = self.ddp_association.val();
                } else if self.access_bad.val() {
                    self.early_now.next = self.rdmap_access.val();
                } else if self.segment.val().wraps {
                    self.early_now.next = self.ddp_wrap.val();
                }
            }
        }
        self.early_error.d.next = self.early_now.val();
        self.early_refused.d.next = self.early_now.val().any();
        // ... of an untagged one those after the MSN ...
        self.late_now.next = 0.into();
        self.responds.next = self.segment.val().tagged & (self.segment.val().opcode == 2);
        self.is_response.d.next = self.responds.val();
        if self.segment.val().tagged {
            // RFC 5040 section 5.2.1: a Read Response carries what was asked for; one without
            // payload too, so it is tested where the region is not.
            if self.responds.val() & self.read_differs.val() {
                self.late_now.next = self.rdmap_read_response.val();
            }
        } else if self.mo_bad.val() {
            self.late_now.next = self.ddp_mo.val();
        } else if self.too_long.val() {
            self.late_now.next = self.ddp_too_long.val();
        } else if self.segment.val().invalidates
            & (self.unknown.val() | self.foreign.val() | !self.may_invalidate.val().any())
        {
            self.late_now.next = self.rdmap_invalidate.val();
        }
        self.late_error.d.next = self.late_now.val();
        self.late_refused.d.next = self.late_now.val().any();
        self.stopped_q2.d.next = self.stopped.q.val();
        // Completes an untagged message, or a tagged one of RDMA Read. An FPDU that is only
        // checked, or is out of order, does so later.
        self.completes.next = self.segment.val().known
            & self.segment.val().last
            & (!self.segment.val().tagged | (self.segment.val().opcode == 2));
        self.needs_entry.d.next =
            self.completes.val() & !self.role.val().check & !self.role.val().ooo;
        self.first_q2.d.next = self.first.q.val();
        // ... and of one out of order those without a table.
        self.may_keep.d.next = self.role.val().ooo
            & !self.stopped.q.val()
            & self.segment.val().known
            & self.has_room.val()
            & !self.follows_bad.val()
            & !self.responds.val();

        // Cycle 4: bounds or MSN, then CRC and markers, and what follows from all tests. Room in
        // the completion queue is the last of them: any other error takes its place.
        self.overflows.next = self.needs_entry.q.val() & self.full.val();
        self.error_now.next = self.early_error.q.val();
        self.is_refused.next = self.early_refused.q.val() | self.overflows.val();
        if !self.early_refused.q.val() & self.overflows.val() {
            self.error_now.next = self.cq_overflow.val();
        }
        if !self.early_refused.q.val() & self.segment.val().known {
            if self.segment.val().tagged {
                if self.segment.val().has_payload & self.outside.val() {
                    self.error_now.next = self.ddp_bounds.val();
                    self.is_refused.next = true;
                } else if self.late_refused.q.val() | (self.is_response.q.val() & self.empty.val())
                {
                    self.error_now.next = self.rdmap_read_response.val();
                    self.is_refused.next = true;
                }
            } else {
                self.is_refused.next = self.behind.val()
                    | self.not_posted.val()
                    | (self.gap.val() & !self.role.val().ooo)
                    | self.late_refused.q.val()
                    | self.overflows.val();
                if self.late_refused.q.val() {
                    self.error_now.next = self.late_error.q.val();
                }
                if self.behind.val() {
                    self.error_now.next = self.ddp_msn.val();
                } else if self.not_posted.val() {
                    self.error_now.next = self.ddp_no_buffer.val();
                } else if self.gap.val() {
                    self.error_now.next = self.ddp_msn.val();
                }
            }
        }
        self.frame_bad.next = !self.crc_good.val() | !self.marker_good.val();
        if self.frame_bad.val() {
            self.is_refused.next = true;
            self.error_now.next = self.mpa_crc.val();
            if self.crc_good.val() {
                self.error_now.next = self.mpa_marker.val();
            }
        }
        self.is_live.next = !self.stopped_q2.q.val() & !self.role.val().host & !self.role.val().ooo;
        self.is_accepted.next =
            self.is_live.val() & !self.is_refused.val() & !self.role.val().check;
        self.is_kept.next = self.may_keep.q.val()
            & !self.is_refused.val()
            & (self.marker_seen.val() | !self.role.val().unproven);
        self.is_placed.next = (self.is_accepted.val() | self.is_kept.val())
            & self.segment.val().known
            & self.segment.val().has_payload;
        self.now.next = self.found.q.val();
        self.now.next.error = 0.into();
        if self.is_live.val() {
            self.now.next.error = self.error_now.val();
        }
        self.now.next.refused = self.is_live.val() & self.is_refused.val();
        self.now.next.silent = !self.is_live.val();
        self.now.next.place = self.is_placed.val() & !self.role.val().replayed;
        self.now.next.placed = self.is_placed.val();
        self.now.next.ooo = self.role.val().ooo;
        self.now.next.keep = self.is_kept.val();
        self.now.next.receive =
            self.is_accepted.val() & self.completes.val() & !self.segment.val().tagged;
        self.now.next.stops = (self.is_live.val() & self.is_refused.val())
            | (self.is_accepted.val()
                & self.completes.val()
                & !self.segment.val().tagged
                & (self.segment.val().qn == self.queue_terminate.val()));
        self.now.next.response =
            self.is_accepted.val() & self.completes.val() & self.segment.val().tagged;
        self.now.next.continues = self.is_accepted.val()
            & self.is_response.q.val()
            & self.segment.val().known
            & self.segment.val().has_payload
            & !self.segment.val().last;
        self.now.next.invalidate =
            self.is_accepted.val() & self.segment.val().known & self.segment.val().invalidates;
        self.is_event.next = self.is_live.val() & (self.is_refused.val() | !self.role.val().check);
        self.now.next.event = self.is_event.val();
        self.now.next.count = self.is_event.val() & !self.frame_bad.val();
        // What is accepted and completes something has room in the queue, or it overflows.
        self.now.next.entry = (self.is_live.val() & self.is_refused.val() & !self.full.val())
            | (self.is_accepted.val() & self.completes.val());
        self.now.next.lost = self.is_live.val() & self.is_refused.val() & self.full.val();
        self.now.next.command =
            (!self.role.val().check & !self.role.val().replayed) | self.now.val().entry;
        self.now.next.known = self.segment.val().known & !self.frame_bad.val();
        if self.decide.val() {
            self.found.d.next = self.now.val();
            self.passed.d.next =
                self.is_live.val() & !self.is_refused.val() & self.first_q2.q.val();
        }
        self.first_passed.next = self.passed.q.val();
        self.verdict.next = self.found.q.val();
    }
}

#[cfg(test)]
mod tests {
    mod envelope;
    mod verdict;
}
