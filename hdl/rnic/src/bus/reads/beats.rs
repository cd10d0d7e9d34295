//! Completion beats: where does each beat go, and how did its packet end?
//!
//! ```text
//!                       +--> write_*: the store
//! checked_* --> [1] place, doublewords left --> [2] report: the tag table
//! ```
//!
//! | latency    | 1 cycle, `checked_valid` to `write_valid`; 2 to `report_valid`              |
//! | throughput | one beat a cycle                                                            |
//! | units      | doublewords                                                                 |
//!
//! Beats are counted by the Length of their header. A beat that does not agree with it (too many
//! doublewords, too few, an end too early or too late) is not written, nor is what follows in its
//! packet, and the tag fails. Whatever Length says, octets stay in the place of their tag.
use super::completions::CheckedCompletion;
use super::types::*;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Completion beats of `L` doublewords.
#[derive(LogicBlock, Init)]
#[init(
    assert!(L == 4 || L == 16, "CompletionBeats: L = {L} lanes; a beat has 4 or 16");
)]
pub struct CompletionBeats<const L: usize> {
    pub clock: Signal<In, Clock>,
    /// The link is down: the packet does not go on.
    pub link_reset: Signal<In, Bit>,
    pub checked: Signal<In, CheckedCompletion>,
    pub checked_first: Signal<In, Bit>,
    pub checked_keep: Signal<In, Bits<L>>,
    pub checked_last: Signal<In, Bit>,
    pub checked_valid: Signal<In, Bit>,
    /// Lane 0 of the beat goes to this doubleword of the tag's place, the others after it.
    pub write_valid: Signal<Out, Bit>,
    pub write_tag: Signal<Out, Bits<6>>,
    pub write_dword: Signal<Out, Bits<7>>,
    pub write_lanes: Signal<Out, Bits<L>>,
    /// A completion of an open tag has ended.
    pub report: Signal<Out, CompletionReport>,
    pub report_valid: Signal<Out, Bit>,
    /// Why it failed: one of these for one cycle with `report_valid`.
    pub unsupported: Signal<Out, Bit>,
    pub aborted: Signal<Out, Bit>,
    pub poisoned: Signal<Out, Bit>,
    pub malformed: Signal<Out, Bit>,
    passing: DFF<CheckedCompletion>,
    // Place of the beat's lane 0, and doublewords of the packet from there on.
    dword: DFF<Bits<7>>,
    count: DFF<Bits<11>>,
    first: DFF<Bit>,
    last: DFF<Bit>,
    keep: DFF<Bits<L>>,
    valid: DFF<Bit>,
    // A beat of the packet did not agree with Length.
    broken: DFF<Bit>,
    reported: DFF<CompletionReport>,
    reported_valid: DFF<Bit>,
    is_unsupported: DFF<Bit>,
    is_aborted: DFF<Bit>,
    is_poisoned: DFF<Bit>,
    is_malformed: DFF<Bit>,
    now: Signal<Local, CheckedCompletion>,
    lanes: Signal<Local, Bits<L>>,
    ends: Signal<Local, Bit>,
    breaks: Signal<Local, Bit>,
    misfits: Signal<Local, Bit>,
    reports: Signal<Local, Bit>,
    #[constant(L as LiteralType)]
    all_lanes: Constant<Bits<11>>,
    #[constant(L as LiteralType)]
    next_beat: Constant<Bits<7>>,
    #[constants(|lane| lane as LiteralType)]
    lane_number: [Constant<Bits<11>>; L],
}

impl<const L: usize> Logic for CompletionBeats<L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; passing, dword, count, first, last, keep, valid, broken);
        registers!(clock; reported, reported_valid, is_unsupported, is_aborted);
        registers!(clock; is_poisoned, is_malformed);

        // Stage 1: where the beat belongs in its packet.
        self.valid.d.next = self.checked_valid.val();
        self.first.d.next = self.checked_first.val();
        self.last.d.next = self.checked_last.val();
        self.keep.d.next = self.checked_keep.val();
        if self.checked_valid.val() {
            self.dword.d.next = self.dword.q.val() + self.next_beat.val();
            self.count.d.next = self.count.q.val() - self.all_lanes.val();
            if self.checked_first.val() {
                self.passing.d.next = self.checked.val();
                self.dword.d.next = self.checked.val().dword;
                self.count.d.next = self.checked.val().payload;
            }
        }

        // Stage 2: does it agree with Length? The count is ignored once one did not.
        self.now.next = self.passing.q.val();
        self.lanes.next = 0.into();
        for lane in 0..L {
            self.lanes.next = self
                .lanes
                .val()
                .replace_bit(lane, self.count.q.val() > self.lane_number[lane].val());
        }
        self.ends.next = self.count.q.val() <= self.all_lanes.val();
        self.breaks.next = (self.broken.q.val() & !self.first.q.val())
            | (self.lanes.val() != self.keep.q.val())
            | (self.ends.val() != self.last.q.val());
        if self.valid.q.val() {
            self.broken.d.next = self.breaks.val();
        }
        self.write_valid.next = (self.valid.q.val() & !self.breaks.val())
            & ((self.now.val().accepted & self.now.val().fits) & !self.now.val().poisoned);
        self.write_tag.next = self.now.val().tag;
        self.write_dword.next = self.dword.q.val();
        self.write_lanes.next = self.lanes.val();

        self.reports.next = (self.valid.q.val() & self.last.q.val()) & self.now.val().accepted;
        self.misfits.next = !self.now.val().fits | self.breaks.val();
        self.reported_valid.d.next = self.reports.val();
        self.reported.d.next.tag = self.now.val().tag;
        self.reported.d.next.over = self.now.val().over;
        self.reported.d.next.failed =
            self.now.val().refused | self.misfits.val() | self.now.val().poisoned;
        self.is_unsupported.d.next =
            self.reports.val() & (self.now.val().refused & !self.now.val().aborted);
        self.is_aborted.d.next = self.reports.val() & self.now.val().aborted;
        self.is_malformed.d.next =
            self.reports.val() & (!self.now.val().refused & self.misfits.val());
        self.is_poisoned.d.next = self.reports.val()
            & ((!self.now.val().refused & !self.misfits.val()) & self.now.val().poisoned);

        self.report.next = self.reported.q.val();
        self.report_valid.next = self.reported_valid.q.val();
        self.unsupported.next = self.is_unsupported.q.val();
        self.aborted.next = self.is_aborted.q.val();
        self.poisoned.next = self.is_poisoned.q.val();
        self.malformed.next = self.is_malformed.q.val();
        if self.link_reset.val() {
            self.valid.d.next = false;
            self.reported_valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
