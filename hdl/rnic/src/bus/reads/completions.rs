//! Completion check: which completions are what is due next for an open tag?
//!
//! ```text
//! header --> [1] fields --> [2] what is due --> [3] compare --> checked: CompletionBeats
//!                                 ^  |               |
//!         spans, progress, owed --+  +<-- advance ---+
//! ```
//!
//! | a completion for an open tag                                 | effect                      |
//! |--------------------------------------------------------------|-----------------------------|
//! | is what is due: Lower Address, Byte Count, Length, its end   | the tag advances            |
//! | ... and sound                                                | its octets are written      |
//! | ... and poisoned                                             | the tag fails               |
//! | has a status other than successful                           | the tag fails and is over   |
//! | is anything else                                             | the tag fails               |
//!
//! | latency    | 3 cycles, beat to `checked_*`                                               |
//! | throughput | one beat a cycle; no backpressure: each tag has its place                   |
//! | units      | octets, doublewords                                                         |
//! | source     | PCI Express Base Specification, sections 2.2.9, 2.3.1.1 and 2.3.2           |
//!
//! A completion is due exactly once and in order (section 2.4.1): it begins where the one before
//! ended, its Byte Count is what is missing, and it ends with the request or at a multiple of 64
//! octets. One that is not due moves nothing on, so a tag is over only when fitting completions
//! have brought every octet of it. Headers other than those of completions are ignored.
//! Right after the header of the same tag two things may be due, so [`due`] compares with both.
//!
//! `reset` is not an input: completions come for tags from before it, and the stream may be in the
//! middle of a packet.
pub mod due;

use super::types::*;
use crate::bus::pcie::completion::{COMPLETION, COMPLETION_DATA, STATUS_SUCCESS};
use crate::common::lut_ram::LutRam;
use due::{DueCompare, DueCompletion};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Completion status: completer abort (CA).
pub const STATUS_ABORT: u64 = 4;

/// Stage 1: the fields of a completion's header.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletionFields {
    /// The packet is a completion.
    pub completion: Bit,
    /// There is a payload.
    pub with_data: Bit,
    /// The payload is known to be wrong.
    pub poisoned: Bit,
    /// Length in doublewords; 0 stands for 1024.
    pub length: Bits<10>,
    /// Octets missing, this completion included; 0 stands for 4096.
    pub byte_count: Bits<12>,
    /// Completion status.
    pub status: Bits<3>,
    /// Low bits of the address of the first octet.
    pub lower_address: Bits<7>,
    pub tag: Bits<8>,
    pub requester: Bits<16>,
}

/// Check to beats: a completion, valid with its first beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CheckedCompletion {
    /// It is for an open tag.
    pub accepted: Bit,
    pub tag: Bits<6>,
    /// It is what is due.
    pub fits: Bit,
    /// No further one is due.
    pub over: Bit,
    pub poisoned: Bit,
    /// Its status is not successful.
    pub refused: Bit,
    /// Its status is Completer Abort.
    pub aborted: Bit,
    /// Doubleword of the tag's place where its payload begins.
    pub dword: Bits<7>,
    /// Doublewords of payload, by its header.
    pub payload: Bits<11>,
}

/// Completion check for beats of `L` doublewords and `T = 2^A` tags.
#[derive(LogicBlock, Init)]
#[init(
    assert!(T == 1 << A && A <= 6, "CompletionCheck: T = {T} must be 2^A, A = {A} at most 6");
)]
pub struct CompletionCheck<const L: usize, const A: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    /// The link is down: no completion from before comes.
    pub link_reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// Packets for this function: see [`crate::bus::pcie`].
    pub completion_header: Signal<In, Bits<128>>,
    pub completion_keep: Signal<In, Bits<L>>,
    pub completion_last: Signal<In, Bit>,
    pub completion_valid: Signal<In, Bit>,
    /// A request leaves: its tag, of which no completion is due, and its octets.
    pub issue: Signal<In, Bit>,
    pub issue_tag: Signal<In, Bits<6>>,
    pub span: Signal<In, ReadSpan>,
    pub checked: Signal<Out, CheckedCompletion>,
    /// The beat of three cycles ago.
    pub checked_first: Signal<Out, Bit>,
    pub checked_keep: Signal<Out, Bits<L>>,
    pub checked_last: Signal<Out, Bit>,
    pub checked_valid: Signal<Out, Bit>,
    /// One cycle for each completion without an open tag.
    pub unexpected: Signal<Out, Bit>,
    spans: LutRam<ReadSpan, A>,
    // The next doubleword due, once a completion has come.
    progress: LutRam<Bits<7>, A>,
    begun: DFF<Bits<T>>,
    owed: DFF<Bits<T>>,
    in_packet: DFF<Bit>,
    fields: DFF<CompletionFields>,
    due: DFF<DueCompletion>,
    passing: DFF<CheckedCompletion>,
    // Of each stage: the beat.
    first: [DFF<Bit>; 3],
    last: [DFF<Bit>; 3],
    keep: [DFF<Bits<L>>; 3],
    valid: [DFF<Bit>; 3],
    // The header of the beat before did not move its tag on, or was the last one due.
    misfit: DFF<Bit>,
    closed: DFF<Bit>,
    is_unexpected: DFF<Bit>,
    format: Signal<Local, Bits<8>>,
    tag: Signal<Local, Bits<8>>,
    place: Signal<Local, Bits<A>>,
    stored_first: Signal<Local, Bits<9>>,
    stored_last: Signal<Local, Bits<9>>,
    position: Signal<Local, Bits<9>>,
    behind: Signal<Local, Bits<9>>,
    next_due: Signal<Local, DueCompletion>,
    next_dword: Signal<Local, Bits<7>>,
    next_octet: Signal<Local, Bits<2>>,
    header_passes: Signal<Local, Bit>,
    now: Signal<Local, DueCompletion>,
    // What is due by the tables, and what is due right after the header of the beat before.
    stored: DueCompare,
    chained: DueCompare,
    is_chained: Signal<Local, Bit>,
    more_dwords: Signal<Local, Bits<10>>,
    dword: Signal<Local, Bits<7>>,
    advanced: Signal<Local, Bits<7>>,
    good_status: Signal<Local, Bit>,
    reaches: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    advances: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    now_tag: Signal<Local, Bits<6>>,
    now_place: Signal<Local, Bits<A>>,
    new_tag: Signal<Local, Bits<6>>,
    new_place: Signal<Local, Bits<A>>,
    begun_next: Signal<Local, Bits<T>>,
    owed_next: Signal<Local, Bits<T>>,
    #[constant(1)]
    one_dword: Constant<Bits<10>>,
    #[constant(1)]
    one_octet: Constant<Bits<12>>,
    #[constant(1)]
    one_more: Constant<Bits<11>>,
    #[constant(COMPLETION_DATA)]
    with_data: Constant<Bits<8>>,
    #[constant(COMPLETION)]
    without_data: Constant<Bits<8>>,
    #[constant(STATUS_SUCCESS)]
    success: Constant<Bits<3>>,
    #[constant(STATUS_ABORT)]
    abort: Constant<Bits<3>>,
}

impl<const L: usize, const A: usize, const T: usize> Logic for CompletionCheck<L, A, T> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; begun, owed, in_packet, fields, due, passing, misfit, closed);
        registers!(clock; is_unexpected);
        self.spans.clock.next = self.clock.val();
        self.progress.clock.next = self.clock.val();
        for stage in 0..3 {
            self.first[stage].clock.next = self.clock.val();
            self.last[stage].clock.next = self.clock.val();
            self.keep[stage].clock.next = self.clock.val();
            self.valid[stage].clock.next = self.clock.val();
        }

        // Stage 1: fields of the header.
        if self.completion_valid.val() {
            self.in_packet.d.next = !self.completion_last.val();
        }
        self.first[0].d.next = !self.in_packet.q.val();
        self.last[0].d.next = self.completion_last.val();
        self.keep[0].d.next = self.completion_keep.val();
        self.valid[0].d.next = self.completion_valid.val() & !self.link_reset.val();
        for stage in 1..3 {
            self.first[stage].d.next = self.first[stage - 1].q.val();
            self.last[stage].d.next = self.last[stage - 1].q.val();
            self.keep[stage].d.next = self.keep[stage - 1].q.val();
            self.valid[stage].d.next = self.valid[stage - 1].q.val() & !self.link_reset.val();
        }
        self.format.next = self.completion_header.val().get_bits::<8>(24);
        self.fields.d.next.completion = (self.format.val() == self.with_data.val())
            | (self.format.val() == self.without_data.val());
        self.fields.d.next.with_data = self.format.val().get_bit(6);
        self.fields.d.next.poisoned = self.completion_header.val().get_bit(14);
        self.fields.d.next.length = self.completion_header.val().get_bits::<10>(0);
        self.fields.d.next.byte_count = self.completion_header.val().get_bits::<12>(32);
        self.fields.d.next.status = self.completion_header.val().get_bits::<3>(45);
        self.fields.d.next.lower_address = self.completion_header.val().get_bits::<7>(64);
        self.fields.d.next.tag = self.completion_header.val().get_bits::<8>(72);
        self.fields.d.next.requester = self.completion_header.val().get_bits::<16>(80);

        // Where the header in stage 3 is due, and where it ends.
        self.now.next = self.due.q.val();
        self.header_passes.next = self.valid[1].q.val() & self.first[1].q.val();
        self.more_dwords.next = self.now.val().more_dwords;
        self.stored.completion.next = self.now.val();
        self.stored.dword.next = self.now.val().dword;
        self.stored.octet.next = self.now.val().octet;
        self.stored.due_dwords.next = self.now.val().due_dwords;
        self.stored.due_octets.next = self.now.val().due_octets;
        self.chained.completion.next = self.now.val();
        self.chained.dword.next = self.now.val().behind_dword;
        self.chained.octet.next = 0.into();
        self.chained.due_dwords.next = self.now.val().behind_dwords;
        self.chained.due_octets.next = self.now.val().behind_octets;
        // `misfit` comes late: it chooses between two results.
        self.is_chained.next = self.now.val().follows & !self.misfit.q.val();
        self.dword.next = self.now.val().dword;
        self.advanced.next = self.stored.advanced.val();
        self.fits.next = self.stored.fits.val();
        self.reaches.next = self.stored.reaches.val();
        if self.is_chained.val() {
            self.dword.next = self.now.val().behind_dword;
            self.advanced.next = self.chained.advanced.val();
            self.fits.next = self.chained.fits.val();
            self.reaches.next = self.chained.reaches.val();
        }

        // Stage 2: what is due for this tag. Right after another header of the same tag that
        // depends on whether that one fits, which is known one stage later.
        self.tag.next = self.fields.q.val().tag;
        self.place.next = self.tag.val().get_bits::<A>(0);
        self.spans.read_address.next = self.place.val();
        self.progress.read_address.next = self.place.val();
        self.stored_first.next = self.spans.read_data.val().first;
        self.stored_last.next = self.spans.read_data.val().last;
        self.next_dword.next = self.stored_first.val().get_bits::<7>(2);
        self.next_octet.next = self.stored_first.val().get_bits::<2>(0);
        if self.begun.q.val().get_bit(self.place.val().index()) {
            self.next_dword.next = self.progress.read_data.val();
            self.next_octet.next = 0.into();
        }
        self.position.next = (bit_cast::<9, 7>(self.next_dword.val()) << 2)
            | bit_cast::<9, 2>(self.next_octet.val());
        self.next_due.next.completion = self.fields.q.val().completion;
        self.next_due.next.with_data = self.fields.q.val().with_data;
        self.next_due.next.poisoned = self.fields.q.val().poisoned;
        self.next_due.next.more_dwords = self.fields.q.val().length - self.one_dword.val();
        self.next_due.next.more_octets = self.fields.q.val().byte_count - self.one_octet.val();
        self.next_due.next.status = self.fields.q.val().status;
        self.next_due.next.lower_address = self.fields.q.val().lower_address;
        self.next_due.next.tag = bit_cast::<6, A>(self.place.val());
        self.next_due.next.ours = self.fields.q.val().completion
            & (self.fields.q.val().requester == self.device_id.val())
            & (self.tag.val() == bit_cast::<8, A>(self.place.val()));
        self.next_due.next.owed = self.owed.q.val().get_bit(self.place.val().index());
        self.next_due.next.dword = self.next_dword.val();
        self.next_due.next.octet = self.next_octet.val();
        self.next_due.next.due_dwords =
            self.stored_last.val().get_bits::<7>(2) - self.next_dword.val();
        self.next_due.next.due_octets = self.stored_last.val() - self.position.val();
        self.behind.next = bit_cast::<9, 7>(self.advanced.val()) << 2;
        self.next_due.next.follows = (self.header_passes.val() & self.now.val().ours)
            & (self.now.val().tag == bit_cast::<6, A>(self.place.val()));
        self.next_due.next.behind_dword = self.advanced.val();
        self.next_due.next.behind_dwords =
            self.stored_last.val().get_bits::<7>(2) - self.advanced.val();
        self.next_due.next.behind_octets = self.stored_last.val() - self.behind.val();
        self.due.d.next = self.next_due.val();

        // Stage 3: is it what is due?
        self.good_status.next = self.now.val().status == self.success.val();
        self.accepts.next = (self.header_passes.val() & self.now.val().ours)
            & (self.now.val().owed & !(self.now.val().follows & self.closed.q.val()));
        self.advances.next = self.accepts.val() & self.fits.val();
        self.closes.next =
            self.accepts.val() & (!self.good_status.val() | (self.fits.val() & self.reaches.val()));
        self.misfit.d.next = !self.advances.val();
        self.closed.d.next = self.closes.val();
        self.is_unexpected.d.next =
            (self.header_passes.val() & self.now.val().completion) & !self.accepts.val();
        self.passing.d.next.accepted = self.accepts.val();
        self.passing.d.next.tag = self.now.val().tag;
        self.passing.d.next.fits = self.fits.val();
        self.passing.d.next.over = self.closes.val();
        self.passing.d.next.poisoned = self.now.val().poisoned;
        self.passing.d.next.refused = !self.good_status.val();
        self.passing.d.next.aborted = self.now.val().status == self.abort.val();
        self.passing.d.next.dword = self.dword.val();
        self.passing.d.next.payload = 0.into();
        if self.now.val().with_data {
            self.passing.d.next.payload =
                bit_cast::<11, 10>(self.more_dwords.val()) + self.one_more.val();
        }

        // The tables. A tag is issued only while none of it is due.
        self.now_tag.next = self.now.val().tag;
        self.now_place.next = self.now_tag.val().get_bits::<A>(0);
        self.new_tag.next = self.issue_tag.val();
        self.new_place.next = self.new_tag.val().get_bits::<A>(0);
        self.progress.write_enable.next = self.advances.val();
        self.progress.write_address.next = self.now_place.val();
        self.progress.write_data.next = self.advanced.val();
        self.spans.write_enable.next = self.issue.val();
        self.spans.write_address.next = self.new_place.val();
        self.spans.write_data.next = self.span.val();
        self.begun_next.next = self.begun.q.val();
        self.owed_next.next = self.owed.q.val();
        if self.advances.val() {
            self.begun_next.next =
                (self.begun_next.val()).replace_bit(self.now_place.val().index(), true);
        }
        if self.closes.val() {
            self.owed_next.next =
                (self.owed_next.val()).replace_bit(self.now_place.val().index(), false);
        }
        if self.issue.val() {
            self.begun_next.next =
                (self.begun_next.val()).replace_bit(self.new_place.val().index(), false);
            self.owed_next.next =
                (self.owed_next.val()).replace_bit(self.new_place.val().index(), true);
        }
        self.begun.d.next = self.begun_next.val();
        self.owed.d.next = self.owed_next.val();

        self.checked.next = self.passing.q.val();
        self.checked_first.next = self.first[2].q.val();
        self.checked_last.next = self.last[2].q.val();
        self.checked_keep.next = self.keep[2].q.val();
        self.checked_valid.next = self.valid[2].q.val();
        self.unexpected.next = self.is_unexpected.q.val();
        if self.link_reset.val() {
            self.owed.d.next = 0.into();
            self.in_packet.d.next = false;
            self.is_unexpected.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
