//! Takes beats out of the placement buffer and decides, cycle by cycle, what the aligner makes.
//!
//! ```text
//!  plan:   take `primes` beats, then emit the TLP's beats; after the last TLP drain the rest
//!
//!  input beats    | b0 | b1 | b2 | b3 | b4 | b5 |        b5: padding
//!  taken          prime  emit emit emit emit drain
//!  TLP beats            |..........|.....|
//! ```
//!
//! | latency    | `plan_valid` to first decision: 1 cycle                                 |
//! | throughput | one beat per cycle, no bubble between TLPs or commands                  |
//! | units      | beats                                                                   |
//!
//! Exactly `PlaceCommand::beats` beats are taken for a command. The pages of a frame go back when
//! its last beat is taken. `room` may fall one cycle late: the output keeps a place for that.
use super::plan::{BeatSide, TlpPlan};
use crate::messages::PageChain;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Beat mover; `L` is the number of lanes of a beat.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        L == 4 || L == 16,
        "Mover: L = {L} lanes; a beat has 4 or 16"
    );
)]
pub struct Mover<const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The oldest plan.
    pub plan: Signal<In, TlpPlan>,
    pub plan_valid: Signal<In, Bit>,
    /// The plan is taken.
    pub plan_take: Signal<Out, Bit>,
    pub beat_valid: Signal<In, Bit>,
    /// It is taken: it becomes the aligner's older beat.
    pub beat_take: Signal<Out, Bit>,
    /// The output has room for a beat.
    pub room: Signal<In, Bit>,
    /// `side` and `rotation` count: the aligner makes a beat, or an empty one with marks.
    pub emit: Signal<Out, Bit>,
    /// Marks of that beat.
    pub side: Signal<Out, BeatSide>,
    /// Octets in front of its window in the older beat, less one.
    pub rotation: Signal<Out, Bits<6>>,
    /// Pages to give back, for one cycle with `pages_valid`.
    pub pages: Signal<Out, PageChain>,
    pub pages_valid: Signal<Out, Bit>,
    /// A page chain can be taken.
    pub pages_room: Signal<In, Bit>,
    current: DFF<TlpPlan>,
    current_valid: DFF<Bit>,
    // The step at hand: a beat to take first, another after it, the TLP's last beat, a beat to
    // throw away; whether it takes an input beat; whether it is the plan's last. Set one cycle
    // ahead.
    priming: DFF<Bit>,
    second_prime: DFF<Bit>,
    last_beat: DFF<Bit>,
    draining: DFF<Bit>,
    needs: DFF<Bit>,
    ends: DFF<Bit>,
    more_beats: DFF<Bits<5>>,
    drain: DFF<Bits<13>>,
    // There is a plan, and the output has room.
    ready: DFF<Bit>,
    valid_after: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    finish: Signal<Local, Bit>,
    #[constant(1)]
    one_beat: Constant<Bits<5>>,
    #[constant(2)]
    two_beats: Constant<Bits<13>>,
    #[constant(2)]
    two_primes: Constant<Bits<2>>,
    #[constant(L as LiteralType - 1)]
    top_lane: Constant<Bits<4>>,
}

impl<const L: usize> Logic for Mover<L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; current, current_valid, priming, second_prime, last_beat);
        registers!(clock; draining, needs, ends, more_beats, drain, ready);
        self.go.next = self.ready.q.val() & (self.beat_valid.val() | !self.needs.q.val());
        self.beat_take.next = self.go.val() & self.needs.q.val();
        self.finish.next = self.go.val() & self.ends.q.val();

        self.emit.next = self.go.val() & !self.priming.q.val() & !self.draining.q.val();
        if !self.current.q.val().writes {
            // Nothing to send, but the marks are passed on at the end.
            self.emit.next = self.finish.val();
        }
        self.rotation.next = self.current.q.val().rotation;
        self.side.next.present = self.current.q.val().writes;
        self.side.next.last = self.last_beat.q.val();
        self.side.next.last_lane = self.top_lane.val();
        self.side.next.complete = false;
        self.side.next.closes = false;
        if self.last_beat.q.val() {
            self.side.next.last_lane = self.current.q.val().last_lane;
            self.side.next.complete = self.current.q.val().complete & self.current.q.val().closes;
            self.side.next.closes = self.current.q.val().closes;
        }
        self.pages.next.head_page = self.current.q.val().head_page;
        self.pages.next.tail_page = self.current.q.val().tail_page;
        self.pages_valid.next =
            self.finish.val() & self.current.q.val().closes & self.current.q.val().release_pages;

        if self.go.val() {
            if self.priming.q.val() {
                self.second_prime.d.next = false;
                if !self.second_prime.q.val() {
                    self.priming.d.next = false;
                    self.needs.d.next = self.current.q.val().needs_emit;
                    self.ends.d.next = self.current.q.val().ends_emit;
                }
            } else if self.draining.q.val() {
                self.drain.d.next = self.drain.q.val() - 1;
                self.ends.d.next = self.drain.q.val() == self.two_beats.val();
            } else if self.last_beat.q.val() {
                self.draining.d.next = true;
                self.needs.d.next = true;
                self.ends.d.next = self.current.q.val().drain_one;
            } else {
                self.more_beats.d.next = self.more_beats.q.val() - 1;
                self.last_beat.d.next = self.more_beats.q.val() == self.one_beat.val();
                self.needs.d.next = (self.more_beats.q.val() != self.one_beat.val())
                    | self.current.q.val().last_needs_next;
                self.ends.d.next = (self.more_beats.q.val() == self.one_beat.val())
                    & self.current.q.val().ends_at_last;
            }
        }

        // The next plan follows at once.
        self.plan_take.next = false;
        self.valid_after.next = self.current_valid.q.val();
        if self.finish.val() | !self.current_valid.q.val() {
            self.plan_take.next = self.plan_valid.val();
            self.valid_after.next = self.plan_valid.val();
            self.current.d.next = self.plan.val();
            self.priming.d.next = self.plan.val().primes != 0;
            self.second_prime.d.next = self.plan.val().primes == self.two_primes.val();
            self.last_beat.d.next = self.plan.val().single;
            self.draining.d.next = !self.plan.val().writes;
            self.needs.d.next = self.plan.val().needs_first;
            self.ends.d.next = self.plan.val().ends_first;
            self.more_beats.d.next = self.plan.val().more_beats;
            self.drain.d.next = self.plan.val().drain;
        }
        if self.reset.val() {
            self.valid_after.next = false;
        }
        self.current_valid.d.next = self.valid_after.val();
        self.ready.d.next = self.valid_after.val() & self.room.val() & self.pages_room.val();
    }
}
