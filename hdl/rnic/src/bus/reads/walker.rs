//! Walker: answers the reads, in order, from the places of their tags.
//!
//! ```text
//! part --> [FIFO 2^A] --> head --> what became of its tag? --> Idle
//!                                                              |  |
//!                     read_address, beat_* <-- Stream <-- good +  + lost --> Skip --> finish
//! ```
//!
//! | latency    | 4 cycles from a tag that is over to `read_address`; `beat_*` one later      |
//! | throughput | a word a cycle, and one idle cycle after each read                          |
//! | units      | octets, words of `2^O` octets; ticks                                        |
//! | source     | PCI Express Base Specification, section 2.8 (completion time-out)           |
//!
//! A part is good when its tag is over and no completion of it failed. It is lost when one failed,
//! when it was refused, or when its tag is still open later than `timeout_ticks` after the request;
//! that is examined while it is the oldest. The first part that is lost ends its read with an
//! error; the parts of the same read after it are dropped as they come. Octets of a lost part are
//! never read from the store.
use super::types::*;
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What is done with the parts.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum WalkerState {
    Idle,
    Stream,
    Skip,
}

/// Walker for `2^A` tags, words of `2^O` octets; `F = A + 1`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        O + STORE_WORDS_LOG2 == A + 9,
        "PartWalker: 2^{A} places of 512 octets are not 512 words of 2^{O} octets"
    );
)]
pub struct PartWalker<const A: usize, const F: usize, const O: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub part: Signal<In, ReadPart>,
    pub part_valid: Signal<In, Bit>,
    /// There is room for a part.
    pub part_room: Signal<Out, Bit>,
    /// Ticks counted so far.
    pub now: Signal<In, Bits<16>>,
    pub timeout_ticks: Signal<In, Bits<16>>,
    /// The oldest part's tag, and its state in the same cycle.
    pub head_tag: Signal<Out, Bits<6>>,
    pub head_open: Signal<In, Bit>,
    pub head_failed: Signal<In, Bit>,
    /// The place of this tag is not needed any more.
    pub retire: Signal<Out, Bit>,
    pub retire_tag: Signal<Out, Bits<6>>,
    /// Word of the store.
    pub read_address: Signal<Out, Bits<9>>,
    /// The word of the previous cycle's `read_address`, to the joiner, whose data comes one cycle
    /// after this.
    pub beat_valid: Signal<Out, Bit>,
    pub beat_first: Signal<Out, Bits<O>>,
    pub beat_octets: Signal<Out, Bits<7>>,
    pub beat_last: Signal<Out, Bit>,
    /// Start no further word; up to seven beats are then still on their way.
    pub hold: Signal<In, Bit>,
    /// A read ends; one cycle.
    pub finish: Signal<Out, ReadEnd>,
    pub finish_valid: Signal<Out, Bit>,
    /// One cycle for each read that ends because a request was not answered in time.
    pub timed_out: Signal<Out, Bit>,
    /// One cycle for each refused part.
    pub refused: Signal<Out, Bit>,
    parts: Fifo<ReadPart, A, F>,
    state: DFF<WalkerState>,
    // What became of the head, if it was there in the previous cycle and was not taken.
    known: DFF<Bit>,
    good: DFF<Bit>,
    late: DFF<Bit>,
    lost: DFF<Bit>,
    // The part that is read: its next octet, and the last one.
    current: DFF<ReadPart>,
    at: DFF<Bits<9>>,
    // The cycle after a read's last beat stays empty: the joiner may need it.
    gap: DFF<Bit>,
    address: DFF<Bits<9>>,
    start: DFF<Bits<O>>,
    stop: DFF<Bits<O>>,
    nothing: DFF<Bit>,
    valid: DFF<Bit>,
    last: DFF<Bit>,
    start_q2: DFF<Bits<O>>,
    octets_q2: DFF<Bits<7>>,
    valid_q2: DFF<Bit>,
    last_q2: DFF<Bit>,
    head: Signal<Local, ReadPart>,
    head_valid: Signal<Local, Bit>,
    age: Signal<Local, Bits<16>>,
    take: Signal<Local, Bit>,
    may_go: Signal<Local, Bit>,
    word_end: Signal<Local, Bits<9>>,
    part_end: Signal<Local, Bits<9>>,
    at_last: Signal<Local, Bit>,
    base: Signal<Local, Bits<9>>,
    #[constant((1 << O) - 1 as LiteralType)]
    lane_mask: Constant<Bits<9>>,
    #[constant((1 << O) - 1 as LiteralType)]
    last_lane: Constant<Bits<O>>,
    #[constant(O as LiteralType)]
    word_log2: Constant<Bits<4>>,
    #[constant((STORE_WORDS_LOG2 - A) as LiteralType)]
    words_log2: Constant<Bits<4>>,
    #[constant(1)]
    one: Constant<Bits<9>>,
    #[constant(1)]
    one_octet: Constant<Bits<7>>,
}

impl<const A: usize, const F: usize, const O: usize> Logic for PartWalker<A, F, O> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, known, good, late, lost, current, at, gap, address);
        registers!(clock; start, stop, nothing, valid, last);
        registers!(clock; start_q2, octets_q2, valid_q2, last_q2);
        wire!(self => self.parts; clock, reset, part as data_in, part_valid as write);
        self.part_room.next = !self.parts.full.val();
        self.head.next = self.parts.data_out.val();
        self.head_valid.next = !self.parts.empty.val();
        self.head_tag.next = self.head.val().tag;

        // The word at hand ends where the next one begins, or with the part.
        self.word_end.next = self.at.q.val() | self.lane_mask.val();
        self.part_end.next = self.current.q.val().last;
        self.at_last.next = self.word_end.val() == (self.part_end.val() | self.lane_mask.val());
        self.base.next = bit_cast::<9, 6>(self.current.q.val().tag) << self.words_log2.val();
        self.address.d.next = self.base.val() | (self.at.q.val() >> self.word_log2.val());
        self.start.d.next = self.at.q.val().get_bits::<O>(0);
        self.stop.d.next = self.last_lane.val();
        if self.at_last.val() {
            self.stop.d.next = self.part_end.val().get_bits::<O>(0);
        }

        self.may_go.next = !self.hold.val() & !self.gap.q.val();
        self.take.next = false;
        self.retire.next = false;
        self.retire_tag.next = self.head.val().tag;
        self.finish_valid.next = false;
        self.finish.next.cookie = self.head.val().cookie;
        self.finish.next.error = true;
        self.timed_out.next = false;
        self.refused.next = false;
        self.valid.d.next = false;
        self.last.d.next = false;
        self.nothing.d.next = false;
        self.gap.d.next = false;
        match self.state.q.val() {
            // Waits for an answer to the oldest request.
            WalkerState::Idle => {
                if self.known.q.val() & self.good.q.val() {
                    self.take.next = true;
                    self.state.d.next = WalkerState::Stream;
                }
                if (self.known.q.val() & self.lost.q.val()) & self.may_go.val() {
                    self.take.next = true;
                    self.retire.next = !self.head.val().refused;
                    self.timed_out.next = self.late.q.val();
                    self.refused.next = self.head.val().refused;
                    self.valid.d.next = true;
                    self.last.d.next = true;
                    self.nothing.d.next = true;
                    self.gap.d.next = true;
                    self.finish_valid.next = true;
                    if !self.head.val().ends {
                        self.state.d.next = WalkerState::Skip;
                    }
                }
            }
            // A word a cycle; the next good part of the read follows at once.
            WalkerState::Stream => {
                self.retire_tag.next = self.current.q.val().tag;
                self.finish.next.cookie = self.current.q.val().cookie;
                self.finish.next.error = false;
                if self.may_go.val() {
                    self.valid.d.next = true;
                    self.at.d.next = self.word_end.val() + self.one.val();
                    if self.at_last.val() {
                        self.retire.next = true;
                        self.last.d.next = self.current.q.val().ends;
                        self.gap.d.next = self.current.q.val().ends;
                        self.finish_valid.next = self.current.q.val().ends;
                        self.take.next = self.known.q.val() & self.good.q.val();
                        if !(self.known.q.val() & self.good.q.val()) {
                            self.state.d.next = WalkerState::Idle;
                        }
                    }
                }
            }
            // Drops what is left of a read that has failed.
            WalkerState::Skip => {
                self.take.next = self.head_valid.val();
                self.retire.next = self.head_valid.val() & !self.head.val().refused;
                if self.head_valid.val() & self.head.val().ends {
                    self.state.d.next = WalkerState::Idle;
                }
            }
            _ => {}
        }
        self.parts.read.next = self.take.val();

        // What becomes of the head is known in the next cycle.
        self.age.next = self.now.val() - self.head.val().issued;
        self.known.d.next = self.head_valid.val() & !self.take.val();
        self.good.d.next =
            !self.head_open.val() & !self.head_failed.val() & !self.head.val().refused;
        self.late.d.next = (self.head_open.val() & !self.head_failed.val())
            & (!self.head.val().refused & (self.age.val() > self.timeout_ticks.val()));
        self.lost.d.next = self.head_failed.val()
            | self.head.val().refused
            | (self.head_open.val() & (self.age.val() > self.timeout_ticks.val()));
        if (self.take.val() & self.known.q.val()) & self.good.q.val() {
            self.current.d.next = self.head.val();
            self.at.d.next = self.head.val().first;
        }

        // One cycle later: the word is read. Another: number of octets.
        self.read_address.next = self.address.q.val();
        self.valid_q2.d.next = self.valid.q.val();
        self.last_q2.d.next = self.last.q.val();
        self.start_q2.d.next = self.start.q.val();
        self.octets_q2.d.next = (bit_cast::<7, O>(self.stop.q.val())
            - bit_cast::<7, O>(self.start.q.val()))
            + self.one_octet.val();
        if self.nothing.q.val() {
            self.octets_q2.d.next = 0.into();
        }
        self.beat_valid.next = self.valid_q2.q.val();
        self.beat_last.next = self.last_q2.q.val();
        self.beat_first.next = self.start_q2.q.val();
        self.beat_octets.next = self.octets_q2.q.val();

        if self.reset.val() {
            self.state.d.next = WalkerState::Idle;
            self.known.d.next = false;
            self.gap.d.next = false;
            self.valid.d.next = false;
            self.valid_q2.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
