//! Tag table: who owns each tag, and when may it be used again?
//!
//! ```text
//!          issue                  retire (the walker is done with its place)
//!   free --------> open, owned ----------------> open: quarantine ---+
//!    ^                |                                              | over
//!    |                | over (no further completion is due)          |
//!    |                v                                              |
//!    +------------- owned: to be read ------> free <-----------------+
//!                              retire
//! ```
//!
//! | latency    | 1 cycle for each event; 2 from `issue` to the next `free_valid`             |
//! | throughput | one event of each kind a cycle                                              |
//! | units      | ticks                                                                       |
//! | source     | PCI Express Base Specification, sections 2.2.6.2 (tags) and 2.8 (time-out)  |
//!
//! A tag is free when both ends have let go of it: the walker, and the completer, which has
//! answered every octet or refused the request. So no completion can be mistaken for that of a
//! later read, whatever comes late: a tag of which a completion is still due stays out of use, in
//! *quarantine*, until it has come. `reset` takes the tags from the walker and leaves open ones in
//! quarantine. `link_reset` frees all, as no earlier completion passes a link that went down
//! (section 2.9.1).
//!
//! While every tag is in quarantine, nothing here can free one; after a time-out of that, `starved`
//! lets the requester refuse commands.
use super::types::*;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Tags that are left without Extended Tag Field Enable: five bits.
const SHORT_TAG_BITS: usize = 5;

/// Tag table of `T = 2^A` tags.
#[derive(LogicBlock, Init)]
#[init(
    assert!(T == 1 << A && A <= 6, "TagTable: T = {T} must be 2^A, A = {A} at most 6");
)]
pub struct TagTable<const A: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The link is down: no completion from before comes.
    pub link_reset: Signal<In, Bit>,
    /// Extended Tag Field Enable: tags from 32 on may be used.
    pub extended_tags: Signal<In, Bit>,
    /// One cycle for each tick.
    pub tick: Signal<In, Bit>,
    /// Ticks after which the oldest request is given up.
    pub timeout_ticks: Signal<In, Bits<16>>,
    /// Ticks counted so far.
    pub now: Signal<Out, Bits<16>>,
    /// The tag that `issue` takes; stable until then.
    pub free_tag: Signal<Out, Bits<6>>,
    pub free_valid: Signal<Out, Bit>,
    /// Every tag has been in quarantine for the length of a time-out.
    pub starved: Signal<Out, Bit>,
    /// Takes `free_tag`; only while `free_valid`.
    pub issue: Signal<In, Bit>,
    pub report: Signal<In, CompletionReport>,
    pub report_valid: Signal<In, Bit>,
    /// The tag of the report was in quarantine.
    pub late: Signal<Out, Bit>,
    /// A tag, and its state in this cycle: a completion is due; its octets are not all good.
    pub head_tag: Signal<In, Bits<6>>,
    pub head_open: Signal<Out, Bit>,
    pub head_failed: Signal<Out, Bit>,
    /// The walker is done with the place of this tag.
    pub retire: Signal<In, Bit>,
    pub retire_tag: Signal<In, Bits<6>>,
    /// No completion is due.
    pub idle: Signal<Out, Bit>,
    open: DFF<Bits<T>>,
    owned: DFF<Bits<T>>,
    failed: DFF<Bits<T>>,
    // The next tag to be issued, once it was found free.
    candidate: DFF<Bits<A>>,
    found: DFF<Bit>,
    ticks: DFF<Bits<16>>,
    starving_ticks: DFF<Bits<16>>,
    starves: DFF<Bit>,
    reported: Signal<Local, Bits<A>>,
    retired: Signal<Local, Bits<A>>,
    head: Signal<Local, Bits<A>>,
    report_tag: Signal<Local, Bits<6>>,
    open_next: Signal<Local, Bits<T>>,
    owned_next: Signal<Local, Bits<T>>,
    failed_next: Signal<Local, Bits<T>>,
    candidate_next: Signal<Local, Bits<A>>,
    unusable: Signal<Local, Bits<T>>,
    all_open: Signal<Local, Bits<T>>,
    #[constant(1)]
    one_tag: Constant<Bits<A>>,
    #[constant(1)]
    one_tick: Constant<Bits<16>>,
    #[constant(if A > SHORT_TAG_BITS { !0 << (1 << SHORT_TAG_BITS) } else { 0 })]
    long_tags: Constant<Bits<T>>,
}

impl<const A: usize, const T: usize> Logic for TagTable<A, T> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; open, owned, failed, candidate, found, ticks, starving_ticks, starves);
        self.now.next = self.ticks.q.val();
        self.report_tag.next = self.report.val().tag;
        self.reported.next = self.report_tag.val().get_bits::<A>(0);
        self.retired.next = self.retire_tag.val().get_bits::<A>(0);
        self.head.next = self.head_tag.val().get_bits::<A>(0);
        self.head_open.next = self.open.q.val().get_bit(self.head.val().index());
        self.head_failed.next = self.failed.q.val().get_bit(self.head.val().index());
        self.late.next =
            self.report_valid.val() & !self.owned.q.val().get_bit(self.reported.val().index());
        self.idle.next = !self.open.q.val().any();

        self.open_next.next = self.open.q.val();
        self.owned_next.next = self.owned.q.val();
        self.failed_next.next = self.failed.q.val();
        if self.report_valid.val() & self.report.val().over {
            self.open_next.next = self
                .open_next
                .val()
                .replace_bit(self.reported.val().index(), false);
        }
        if self.report_valid.val() & self.report.val().failed {
            self.failed_next.next = self
                .failed_next
                .val()
                .replace_bit(self.reported.val().index(), true);
        }
        if self.retire.val() {
            self.owned_next.next = self
                .owned_next
                .val()
                .replace_bit(self.retired.val().index(), false);
        }

        // The next tag in a round; those in quarantine are passed over, one a cycle.
        self.free_tag.next = bit_cast::<6, A>(self.candidate.q.val());
        self.free_valid.next = self.found.q.val();
        self.candidate_next.next = self.candidate.q.val() + self.one_tag.val();
        for long_bit in SHORT_TAG_BITS..A {
            if !self.extended_tags.val() {
                self.candidate_next.next = self.candidate_next.val().replace_bit(long_bit, false);
            }
        }
        if self.found.q.val() {
            if self.issue.val() {
                self.open_next.next = self
                    .open_next
                    .val()
                    .replace_bit(self.candidate.q.val().index(), true);
                self.owned_next.next = self
                    .owned_next
                    .val()
                    .replace_bit(self.candidate.q.val().index(), true);
                self.failed_next.next = self
                    .failed_next
                    .val()
                    .replace_bit(self.candidate.q.val().index(), false);
                self.candidate.d.next = self.candidate_next.val();
                self.found.d.next = false;
            }
        } else if self.open.q.val().get_bit(self.candidate.q.val().index())
            | self.owned.q.val().get_bit(self.candidate.q.val().index())
        {
            self.candidate.d.next = self.candidate_next.val();
        } else {
            self.found.d.next = true;
        }
        self.open.d.next = self.open_next.val();
        self.owned.d.next = self.owned_next.val();
        self.failed.d.next = self.failed_next.val();

        // Time, and how long nothing here can free a tag.
        self.unusable.next = 0.into();
        if !self.extended_tags.val() {
            self.unusable.next = self.long_tags.val();
        }
        self.all_open.next = self.open.q.val() | self.unusable.val();
        self.starved.next = self.starves.q.val();
        if self.tick.val() {
            self.ticks.d.next = self.ticks.q.val() + self.one_tick.val();
            self.starving_ticks.d.next = self.starving_ticks.q.val() + self.one_tick.val();
            self.starves.d.next =
                self.starves.q.val() | (self.starving_ticks.q.val() >= self.timeout_ticks.val());
        }
        if self.owned.q.val().any() | !self.all_open.val().all() {
            self.starving_ticks.d.next = 0.into();
            self.starves.d.next = false;
        }

        if self.reset.val() {
            self.owned.d.next = 0.into();
        }
        if self.link_reset.val() {
            self.open.d.next = 0.into();
            self.owned.d.next = 0.into();
            self.found.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
