//! Out-of-order ranges: which octets of a segment are new, which ranges they touch, and how the
//! ranges of its connection change.
//!
//! ```text
//!                                    +---------- next range ----------+
//!                                    v                                |
//! start, purge --> Idle --> Fetch --> Measure --> Compare --> Decide -+--> Store --> Link --> Done
//!                    |                [ piece ]                 |    ^          (out of order)
//!                    +--> Size --> Tail <-----------------------+    |
//!                  no ranges        +---- the octets after the last range
//! ```
//!
//! | latency    | `start` to `done`: 2 cycles (1 without ranges), 3 a range compared, 2 for   |
//! |            | octets after all touched ranges; for an out-of-order segment that is        |
//! |            | accepted 1 to write its range, 1 more if there is a range before it         |
//! | throughput | one segment at a time                                                       |
//! | units      | octets; distances from rcv_nxt; sequence numbers modulo 2^32                |
//! | source     | RFC 9293 section 3.10.7.4 (SHLD-31): segments beyond rcv_nxt are kept       |
//!
//! `Measure` to `Decide` compare one range, in sequence order: it is before the segment, beyond it,
//! or touches it. New octets before it are sent, then it is merged with the segment. For a
//! connection with 16 ranges these are at most 48 cycles; `Compare` and `Size` also wait until a
//! message can be sent. Whether an out-of-order segment is dropped is decided before its first
//! message: at the first range that it touches, or when there is none.
//!
//! With `purge` each range of the connection is reported to MPA and discarded.
pub mod list;
pub mod budget;

use super::context::{ClippedSegment, QueuedFrame, TcpContext};
use crate::common::free_list::FreeList;
use crate::messages::{Accepted, PageChain, SegmentInfo};
use budget::{Credits, OutOfOrderBudget};
use list::{OutOfOrderRange, RangeCompare, RangeList};
use rnic_abi::events::SegmentVerdict;
use rnic_abi::limits::{FRAGMENTS, RANGES, SPANS};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(
    RANGES == 1 << 8 && FRAGMENTS == 1 << 6 && SPANS == 1 << 9,
    "numbers and credits of `RangeWalk` have 8, 6 and 9 bits"
);

/// Use of the pools that all connections share.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PoolsInUse {
    /// Out-of-order ranges.
    pub ranges: Bits<9>,
    /// Spans of MPA, including those in messages not yet taken.
    pub spans: Bits<10>,
    /// Fragments: runs that are not the last one of their frame.
    pub fragments: Bits<7>,
}

/// States of the walk.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum WalkState {
    /// Waits for a segment or a purge; the list reads the context's first range.
    Idle,
    /// The list reads.
    Fetch,
    /// A range has been read.
    Measure,
    /// It is compared with the segment. Waits for space for a message.
    Compare,
    /// Decides on it.
    Decide,
    /// The octets after all touched ranges are counted. Waits for space for a message.
    Size,
    /// They are sent.
    Tail,
    /// The range that the segment is part of is written.
    Store,
    /// The one before it is linked to it.
    Link,
    /// The result is valid.
    Done,
}

/// Compares a segment with the ranges of its connection, one by one.
#[derive(LogicBlock, Init)]
#[init(
    let verdict = |verdict: SegmentVerdict| Constant::new((verdict as LiteralType).into());
)]
pub struct RangeWalk {
    pub clock: Signal<In, Clock>,
    /// Synchronous; all ranges, charges and credits are free.
    pub reset: Signal<In, Bit>,
    /// A segment: `frame`, `segment`, `connection` and `current` are stable until `done`, frame and
    /// context since two cycles before.
    pub start: Signal<In, Bit>,
    /// Discards all ranges of `current`, which has some; it is stable until `done`, and since one
    /// cycle before.
    pub purge: Signal<In, Bit>,
    pub frame: Signal<In, QueuedFrame>,
    pub segment: Signal<In, ClippedSegment>,
    pub connection: Signal<In, Bits<10>>,
    pub current: Signal<In, TcpContext>,
    /// Register `OUT_OF_ORDER_PAGES`.
    pub ooo_pages: Signal<In, Bits<10>>,
    /// Register `OUT_OF_ORDER_SHARE`.
    pub ooo_share: Signal<In, Bits<10>>,
    /// See `TcpRoom`.
    pub fragment_free: Signal<In, Bit>,
    pub span_free: Signal<In, Bit>,
    /// Table bus: reads range `peek_number`; only while no segment is processed.
    pub peek: Signal<In, Bit>,
    pub peek_number: Signal<In, Bits<8>>,
    /// The range, three cycles later.
    pub range: Signal<Out, OutOfOrderRange>,
    pub message: Signal<Out, Accepted>,
    pub message_valid: Signal<Out, Bit>,
    /// A message can be sent; stays high until one is.
    pub message_ready: Signal<In, Bit>,
    /// The outputs below are valid; one cycle.
    pub done: Signal<Out, Bit>,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: Signal<Out, Bits<3>>,
    /// No octet was accepted.
    pub refused: Signal<Out, Bit>,
    /// Some octets had been received before, or were not taken.
    pub trimmed: Signal<Out, Bit>,
    /// Every octet of the clipped segment is received now.
    pub complete: Signal<Out, Bit>,
    /// The context with its new ranges, pages and rcv_nxt.
    pub result: Signal<Out, TcpContext>,
    /// The range that an accepted out-of-order segment is part of.
    pub changed: Signal<Out, OutOfOrderRange>,
    pub in_use: Signal<Out, PoolsInUse>,
    list: RangeList,
    piece: RangeCompare,
    numbers: FreeList<8, 9>,
    budget: OutOfOrderBudget,
    credits: Credits<6, 7>,
    span_credits: Credits<9, 10>,
    state: DFF<WalkState>,
    purging: DFF<Bit>,
    // `segment.ooo`, registered: it is on the critical path.
    is_ooo: DFF<Bit>,
    cursor: DFF<Bits<32>>,
    // The held range is beyond the segment.
    blocked: DFF<Bit>,
    // A message of this frame was sent.
    sent: DFF<Bit>,
    cut: DFF<Bit>,
    short: DFF<Bit>,
    denied: DFF<Bit>,
    found: DFF<Bits<3>>,
    deciding: Signal<Local, Bit>,
    touches: Signal<Local, Bit>,
    refuses: Signal<Local, Bit>,
    merges: Signal<Local, Bit>,
    ends_here: Signal<Local, Bit>,
    // A touched range ends before the segment does, and there is a fragment for the octets before
    // it.
    goes_on: Signal<Local, Bit>,
    opens: Signal<Local, Bit>,
    tail: Signal<Local, Bit>,
    no_number: Signal<Local, Bit>,
    // New octets before the first touched range open a span in MPA; none is free.
    leads: Signal<Local, Bit>,
    no_span: Signal<Local, Bit>,
    forgets: Signal<Local, Bit>,
    count_now: Signal<Local, Bits<5>>,
    segment_info: Signal<Local, SegmentInfo>,
    pages: Signal<Local, PageChain>,
    draft: Signal<Local, Accepted>,
    #[init(verdict(SegmentVerdict::InOrder))]
    verdict_in_order: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::Trimmed))]
    verdict_trimmed: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::Duplicate))]
    verdict_duplicate: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::OutOfOrder))]
    verdict_out_of_order: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::NoRoom))]
    verdict_no_room: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::NoRange))]
    verdict_no_range: Constant<Bits<3>>,
}

impl Logic for RangeWalk {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, purging, is_ooo, cursor, blocked, sent, cut, short);
        registers!(clock; denied, found);
        wire!(self => self.{list, piece, numbers, budget}; clock);
        wire!(self => self.{credits, span_credits}; clock);
        wire!(self => self.{list, numbers, budget, credits}; reset);

        wire!(self => self.list; current, segment);
        self.list.segment.next.ooo = self.is_ooo.q.val();
        self.list.frame_pages.next = self.budget.frame_pages.val();
        self.list.free_number.next = self.numbers.number.val();
        self.list.idle.next = self.state.q.val() == WalkState::Idle;
        wire!(self => self.list; peek, peek_number);
        self.list.advance.next = self.state.q.val() == WalkState::Measure;
        self.range.next = self.list.range.val();
        self.piece.measure.next = self.state.q.val() == WalkState::Measure;
        self.piece.range.next = self.list.range.val();
        self.piece.rcv_nxt.next = self.current.val().rcv_nxt;
        self.piece.cursor.next = self.cursor.q.val();
        self.piece.edge_distance.next = self.segment.val().right_distance;
        self.piece.origin.next = self.segment.val().origin;
        self.segment_info.next = self.frame.val().segment;
        self.pages.next = self.frame.val().pages;
        self.budget.frame_octets.next = self.segment_info.val().frame_octets;
        self.budget.connection_pages.next = self.current.val().ooo_pages;
        wire!(self => self.budget; ooo_pages, ooo_share);
        self.credits.give.next = self.fragment_free.val();
        wire!(self => self.span_credits; reset, span_free as give);
        self.in_use.next.ranges = self.numbers.used.val();
        self.in_use.next.spans = self.span_credits.used.val();
        self.in_use.next.fragments = self.credits.used.val();

        // Decision on the held range. An out-of-order segment is refused or taken whole, before its
        // first message: at the first range that it touches.
        self.deciding.next = (self.state.q.val() == WalkState::Decide) & !self.purging.q.val();
        self.touches.next =
            self.deciding.val() & !self.piece.behind.val() & !self.piece.beyond.val();
        self.leads.next = self.is_ooo.q.val() & !self.list.touched.val() & self.piece.gap.val();
        self.no_span.next = self.leads.val() & !self.span_credits.available.val();
        self.refuses.next = (self.is_ooo.q.val()
            & !self.list.touched.val()
            & (!self.budget.fits.val() | (!self.piece.gap.val() & !self.piece.ends_inside.val())))
            | self.no_span.val();
        self.merges.next = self.touches.val() & !self.refuses.val();
        self.goes_on.next = self.piece.ends_inside.val() & self.credits.available.val();
        self.ends_here.next =
            !self.piece.ends_inside.val() | (self.piece.gap.val() & !self.credits.available.val());
        self.credits.take.next = self.merges.val() & self.piece.gap.val() & self.goes_on.val();
        // Octets after all touched ranges.
        self.count_now.next = self.current.val().ranges;
        self.no_number.next = self.count_now.val().get_bit(4)
            | !self.numbers.available.val()
            | !self.span_credits.available.val();
        self.opens.next = (self.state.q.val() == WalkState::Tail)
            & self.is_ooo.q.val()
            & !self.list.touched.val()
            & self.budget.fits.val()
            & !self.no_number.val();
        self.tail.next = (self.state.q.val() == WalkState::Tail)
            & (self.opens.val() | self.list.touched.val() | !self.is_ooo.q.val());

        // Updates of the ranges and of the shared pools.
        self.list.skip.next = self.deciding.val() & self.piece.behind.val();
        self.list.touch.next = self.merges.val();
        self.list.gap.next = self.piece.gap.val();
        self.list.open.next = self.opens.val();
        self.list.followed.next = self.blocked.q.val();
        self.list.extend.next = self.tail.val() & !self.opens.val();
        self.list.store.next = self.state.q.val() == WalkState::Store;
        self.list.link.next = self.state.q.val() == WalkState::Link;
        self.numbers.take.next = self.opens.val();
        self.span_credits.take.next = self.opens.val() | (self.merges.val() & self.leads.val());
        // A range ends: in order, part of another one, or purged.
        self.forgets.next = (self.state.q.val() == WalkState::Decide) & self.purging.q.val();
        self.numbers.give.next = self.forgets.val()
            | (self.merges.val() & (!self.is_ooo.q.val() | self.list.touched.val()));
        self.numbers.given.next = self.list.held_index.val();
        self.budget.refund.next = self.forgets.val() | (self.merges.val() & !self.is_ooo.q.val());
        self.budget.refund_pages.next = self.list.held_range.val().pages;
        self.budget.charge.next =
            self.opens.val() | (self.merges.val() & self.is_ooo.q.val() & !self.list.touched.val());

        // The message: octets before the held range, after all ranges, or a range that is purged.
        self.draft.next.connection = self.connection.val();
        self.draft.next.sequence = self.piece.cursor_number.val();
        self.draft.next.head_page = self.pages.val().head_page;
        self.draft.next.tail_page = self.pages.val().tail_page;
        self.draft.next.offset = self.piece.offset.val();
        self.draft.next.octets = self.piece.octets.val();
        self.draft.next.ooo = self.is_ooo.q.val();
        self.draft.next.has_left = self.is_ooo.q.val() & self.list.touched.val();
        self.draft.next.left = self.list.merged_number.val();
        self.draft.next.has_right = true;
        self.draft.next.right = self.list.held_index.val();
        self.draft.next.shared = self.sent.q.val() | self.goes_on.val();
        self.draft.next.first = !self.sent.q.val();
        self.draft.next.last = !self.goes_on.val();
        self.draft.next.purges = self.purging.q.val();
        self.draft.next.queries = false;
        if self.state.q.val() == WalkState::Tail {
            self.draft.next.octets = self.piece.tail_octets.val();
            self.draft.next.has_right = false;
            self.draft.next.shared = self.sent.q.val();
            self.draft.next.last = true;
            if !self.list.touched.val() {
                self.draft.next.left = self.numbers.number.val();
            }
        }
        self.message.next = self.draft.val();
        self.message_valid.next =
            self.tail.val() | self.forgets.val() | (self.merges.val() & self.piece.gap.val());
        if self.message_valid.val() {
            self.sent.d.next = true;
        }
        if self.merges.val() {
            self.cursor.d.next = self.piece.range_end.val();
            if self.piece.overlaps.val() {
                self.cut.d.next = true;
            }
        }

        match self.state.q.val() {
            WalkState::Idle => {
                self.cursor.d.next = self.segment.val().left_distance;
                self.cut.d.next = self.segment.val().trimmed;
                self.blocked.d.next = false;
                self.sent.d.next = false;
                self.short.d.next = false;
                self.denied.d.next = false;
                self.is_ooo.d.next = self.segment.val().ooo;
                self.found.d.next = self.verdict_in_order.val();
                if self.segment.val().ooo {
                    self.found.d.next = self.verdict_out_of_order.val();
                }
                self.purging.d.next = self.purge.val();
                if self.purge.val() | (self.start.val() & self.count_now.val().any()) {
                    self.state.d.next = WalkState::Fetch;
                } else if self.start.val() {
                    self.state.d.next = WalkState::Size;
                }
            }
            WalkState::Fetch => self.state.d.next = WalkState::Measure,
            WalkState::Measure => self.state.d.next = WalkState::Compare,
            WalkState::Compare => {
                if self.message_ready.val() {
                    self.state.d.next = WalkState::Decide;
                }
            }
            WalkState::Decide => {
                self.blocked.d.next = self.piece.beyond.val();
                self.state.d.next = WalkState::Size;
                if self.list.held_range.val().has_following {
                    self.state.d.next = WalkState::Measure;
                } else if self.purging.q.val() {
                    self.state.d.next = WalkState::Done;
                }
                if self.deciding.val() & self.piece.beyond.val() {
                    self.state.d.next = WalkState::Size;
                } else if self.touches.val() & self.refuses.val() {
                    self.denied.d.next = true;
                    self.found.d.next = self.verdict_no_room.val();
                    if self.no_span.val() & self.budget.fits.val() {
                        self.found.d.next = self.verdict_no_range.val();
                    }
                    if !self.piece.gap.val() & !self.piece.ends_inside.val() {
                        self.found.d.next = self.verdict_duplicate.val();
                    }
                    self.state.d.next = WalkState::Done;
                } else if self.touches.val() & self.ends_here.val() {
                    self.short.d.next = self.piece.ends_inside.val();
                    self.state.d.next = WalkState::Done;
                    if self.is_ooo.q.val() {
                        self.state.d.next = WalkState::Store;
                    }
                }
            }
            WalkState::Size => {
                if self.message_ready.val() {
                    self.state.d.next = WalkState::Tail;
                }
            }
            WalkState::Tail => {
                self.state.d.next = WalkState::Done;
                if !self.tail.val() {
                    self.denied.d.next = true;
                    self.found.d.next = self.verdict_no_range.val();
                    if !self.budget.fits.val() {
                        self.found.d.next = self.verdict_no_room.val();
                    }
                } else if self.is_ooo.q.val() {
                    self.state.d.next = WalkState::Store;
                }
            }
            WalkState::Store => {
                self.state.d.next = WalkState::Done;
                if self.list.has_previous.val() {
                    self.state.d.next = WalkState::Link;
                }
            }
            WalkState::Link => self.state.d.next = WalkState::Done,
            WalkState::Done => self.state.d.next = WalkState::Idle,
            _ => {}
        }
        self.done.next = self.state.q.val() == WalkState::Done;
        self.refused.next = self.denied.q.val();
        self.trimmed.next = self.cut.q.val();
        self.complete.next = !self.short.q.val();
        self.verdict.next = self.found.q.val();
        if !self.is_ooo.q.val() & self.cut.q.val() {
            self.verdict.next = self.verdict_trimmed.val();
        }
        self.result.next = self.list.result.val();
        self.changed.next = self.list.merged_range.val();
        if self.reset.val() {
            self.state.d.next = WalkState::Idle;
        }
    }
}
