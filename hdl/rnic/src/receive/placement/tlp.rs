//! TLPs: from the segment that a TLP covers to its header and its beats.
//!
//! ```text
//! TlpSegment --> Shaper --> header
//!                  | TlpPlan
//!                  v
//!                Mover: takes beats, emits --> Aligner: window over two beats --> beat, BeatSide
//!                  |
//!                  +--> pages of a host frame whose last beat is taken
//! ```
//!
//! | latency    | 3 cycles for header and plan, 1 to the first decision, 2 for a beat        |
//! | throughput | one segment and one beat per cycle                                         |
//! | units      | octets, doublewords (lanes), beats of `D` bits                             |
//! | source     | PCI Express Base Specification, section 2.2.5                              |
use crate::bus::pcie::WriteHeader;
use crate::messages::PageChain;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Splitter to shaper: the octets of one TLP, or a command that writes nothing.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TlpSegment {
    /// Last segment of the command.
    pub closes: Bit,
    /// There is a TLP; otherwise the beats are discarded.
    pub writes: Bit,
    /// A completion queue entry or slot header follows the command.
    pub complete: Bit,
    /// The pages are released when the beats are taken.
    pub release_pages: Bit,
    /// First page.
    pub head_page: Bits<9>,
    /// Last page.
    pub tail_page: Bits<9>,
    /// Last beats of the command, without payload.
    pub drain: Bits<13>,
    /// Beats to take before the first beat of the TLP, 0 to 2.
    pub primes: Bits<2>,
    /// Octets of the older beat before lane 0 of the TLP, less one.
    pub rotation: Bits<6>,
    /// Bus address of octet 0 of the line, in units of 128 octets.
    pub line: Bits<57>,
    /// First octet of the TLP in its line.
    pub start_octet: Bits<9>,
    /// Last octet of the TLP in its line.
    pub end_octet: Bits<9>,
}

/// Shaper to mover: the beats of one TLP. Fields without a comment are those of [`TlpSegment`].
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TlpPlan {
    pub closes: Bit,
    pub writes: Bit,
    pub complete: Bit,
    pub release_pages: Bit,
    pub head_page: Bits<9>,
    pub tail_page: Bits<9>,
    pub drain: Bits<13>,
    /// `drain` is 1.
    pub drain_one: Bit,
    pub primes: Bits<2>,
    pub rotation: Bits<6>,
    /// Beats of the TLP, less one.
    pub more_beats: Bits<5>,
    /// Lane of the last doubleword in the last beat.
    pub last_lane: Bits<4>,
    /// The last beat holds octets of the newer input beat.
    pub last_needs_next: Bit,
    /// Nothing follows the TLP's last beat: it is not the command's last, or `drain` is 0.
    pub ends_at_last: Bit,
    /// The first decision takes an input beat.
    pub needs_first: Bit,
    /// The first decision is the only one.
    pub ends_first: Bit,
    /// The TLP's first beat takes an input beat.
    pub needs_emit: Bit,
    /// Nothing follows the TLP's first beat.
    pub ends_emit: Bit,
    /// The TLP has one beat.
    pub single: Bit,
}

/// Sideband of each beat, from mover to output.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatSide {
    /// There is a beat; otherwise only `complete` and `closes` count.
    pub present: Bit,
    /// The TLP ends.
    pub last: Bit,
    /// Lane of the last doubleword.
    pub last_lane: Bits<4>,
    /// The CQE or slot header of the command may follow.
    pub complete: Bit,
    /// The command ends.
    pub closes: Bit,
}

/// Shaper: the header of a TLP and the plan of its beats; `D` is the width of a beat.
///
/// | latency    | 3 cycles, `segment_valid` to `plan_valid`                    |
/// | throughput | one segment per cycle; no backpressure                       |
/// | units      | octets, doublewords                                          |
/// | source     | PCI Express Base Specification, section 2.2.5 (byte enables) |
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 128 || D == 512,
        "Shaper: D = {D} bits; a beat has 128 or 512"
    );
    let octets = D as LiteralType / 8;
)]
pub struct Shaper<const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    pub segment: Signal<In, TlpSegment>,
    pub segment_valid: Signal<In, Bit>,
    pub plan: Signal<Out, TlpPlan>,
    pub plan_valid: Signal<Out, Bit>,
    pub header: Signal<Out, Bits<128>>,
    /// With `plan_valid`: there is a TLP, and `header` counts.
    pub header_valid: Signal<Out, Bit>,
    write_header: WriteHeader,
    taken: DFF<TlpSegment>,
    taken_valid: DFF<Bit>,
    span: DFF<Bits<9>>,
    first_mask: DFF<Bits<4>>,
    last_mask: DFF<Bits<4>>,
    shaped: DFF<TlpPlan>,
    shaped_valid: DFF<Bit>,
    shaped_header: DFF<Bits<128>>,
    planned: DFF<TlpPlan>,
    planned_valid: DFF<Bit>,
    planned_header: DFF<Bits<128>>,
    needs_emit: Signal<Local, Bit>,
    ends_emit: Signal<Local, Bit>,
    start: Signal<Local, Bits<9>>,
    start_dword: Signal<Local, Bits<9>>,
    ends: Signal<Local, Bits<9>>,
    within_first: Signal<Local, Bits<2>>,
    within_last: Signal<Local, Bits<2>>,
    tail: Signal<Local, Bits<9>>,
    needed: Signal<Local, Bits<9>>,
    more_dwords: Signal<Local, Bits<10>>,
    lane: Signal<Local, Bits<9>>,
    more_beats: Signal<Local, Bits<9>>,
    place: Signal<Local, Bits<64>>,
    #[constant(octets - 1)]
    beat_mask: Constant<Bits<9>>,
    #[constant(LiteralType::from(octets.ilog2()))]
    beat_log2: Constant<Bits<3>>,
    #[constant(1)]
    one_beat: Constant<Bits<13>>,
}

impl<const D: usize> Logic for Shaper<D> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; taken, taken_valid, span, first_mask, last_mask);
        registers!(clock; shaped, shaped_valid, shaped_header);
        registers!(clock; planned, planned_valid, planned_header);
        // First stage: octets from the start of the first doubleword to the last octet, and the
        // masks of the two outer doublewords.
        self.taken.d.next = self.segment.val();
        self.taken_valid.d.next = self.segment_valid.val();
        self.start.next = self.segment.val().start_octet;
        self.ends.next = self.segment.val().end_octet;
        self.start_dword.next = self.start.val().replace_bit(0, false).replace_bit(1, false);
        self.span.d.next = self.ends.val() - self.start_dword.val();
        self.within_first.next = self.start.val().get_bits::<2>(0);
        self.within_last.next = self.ends.val().get_bits::<2>(0);
        match self.within_first.val().index() {
            0 => self.first_mask.d.next = 15.into(),
            1 => self.first_mask.d.next = 14.into(),
            2 => self.first_mask.d.next = 12.into(),
            _ => self.first_mask.d.next = 8.into(),
        }
        match self.within_last.val().index() {
            0 => self.last_mask.d.next = 1.into(),
            1 => self.last_mask.d.next = 3.into(),
            2 => self.last_mask.d.next = 7.into(),
            _ => self.last_mask.d.next = 15.into(),
        }

        // Second stage: the span in beats.
        self.tail.next = self.span.q.val() & self.beat_mask.val();
        self.lane.next = self.tail.val() >> 2;
        self.more_beats.next = self.span.q.val() >> self.beat_log2.val();
        self.more_dwords.next = bit_cast::<10, 9>(self.span.q.val()) >> 2;
        // The window of the last beat begins at octet rotation + 1 of the older beat, so its octet
        // `tail` is in the newer one if rotation + tail + 1 reaches the beat's size.
        self.needed.next = bit_cast::<9, 6>(self.taken.q.val().rotation) ^ self.beat_mask.val();
        self.needed.next = self.needed.val() & self.beat_mask.val();
        self.shaped.d.next.closes = self.taken.q.val().closes;
        self.shaped.d.next.writes = self.taken.q.val().writes;
        self.shaped.d.next.complete = self.taken.q.val().complete;
        self.shaped.d.next.release_pages = self.taken.q.val().release_pages;
        self.shaped.d.next.head_page = self.taken.q.val().head_page;
        self.shaped.d.next.tail_page = self.taken.q.val().tail_page;
        self.shaped.d.next.drain = self.taken.q.val().drain;
        self.shaped.d.next.drain_one = self.taken.q.val().drain == self.one_beat.val();
        self.shaped.d.next.primes = self.taken.q.val().primes;
        self.shaped.d.next.rotation = self.taken.q.val().rotation;
        self.shaped.d.next.more_beats = self.more_beats.val().get_bits::<5>(0);
        self.shaped.d.next.last_lane = self.lane.val().get_bits::<4>(0);
        self.shaped.d.next.last_needs_next = self.tail.val() >= self.needed.val();
        self.shaped.d.next.single = !self.more_beats.val().any();
        self.shaped.d.next.ends_at_last =
            !self.taken.q.val().closes | (self.taken.q.val().drain == 0);
        // Set in the third stage.
        self.shaped.d.next.needs_first = false;
        self.shaped.d.next.ends_first = false;
        self.shaped.d.next.needs_emit = false;
        self.shaped.d.next.ends_emit = false;
        self.shaped_valid.d.next = self.taken_valid.q.val();

        // Header. Lane 0 is the doubleword of the first octet.
        self.place.next = (bit_cast::<64, 57>(self.taken.q.val().line) << 7)
            | bit_cast::<64, 9>(self.taken.q.val().start_octet);
        self.write_header.address.next = self.place.val();
        self.write_header.length.next = self.more_dwords.val() + 1;
        self.write_header.device_id.next = self.device_id.val();
        self.write_header.first_be.next = self.first_mask.q.val();
        self.write_header.last_be.next = self.last_mask.q.val();
        if !self.more_dwords.val().any() {
            // Section 2.2.5: one doubleword has its enables in the first field, the last is 0.
            self.write_header.first_be.next = self.first_mask.q.val() & self.last_mask.q.val();
            self.write_header.last_be.next = 0.into();
        }
        self.shaped_header.d.next = self.write_header.header.val();

        // Third stage: the first steps of the mover.
        self.needs_emit.next = !self.shaped.q.val().single | self.shaped.q.val().last_needs_next;
        self.ends_emit.next = self.shaped.q.val().single & self.shaped.q.val().ends_at_last;
        self.planned.d.next = self.shaped.q.val();
        self.planned.d.next.needs_emit = self.needs_emit.val();
        self.planned.d.next.ends_emit = self.ends_emit.val();
        self.planned.d.next.needs_first = self.needs_emit.val();
        self.planned.d.next.ends_first = self.ends_emit.val();
        if self.shaped.q.val().primes != 0 {
            self.planned.d.next.needs_first = true;
            self.planned.d.next.ends_first = false;
        }
        if !self.shaped.q.val().writes {
            // Only beats to discard, if any.
            self.planned.d.next.needs_first = !self.shaped.q.val().ends_at_last;
            self.planned.d.next.ends_first =
                self.shaped.q.val().ends_at_last | self.shaped.q.val().drain_one;
        }
        self.planned_header.d.next = self.shaped_header.q.val();
        self.planned_valid.d.next = self.shaped_valid.q.val();

        self.plan.next = self.planned.q.val();
        self.plan_valid.next = self.planned_valid.q.val();
        self.header.next = self.planned_header.q.val();
        self.header_valid.next = self.planned_valid.q.val() & self.planned.q.val().writes;
        if self.reset.val() {
            self.taken_valid.d.next = false;
            self.shaped_valid.d.next = false;
            self.planned_valid.d.next = false;
        }
    }
}

/// Mover: takes beats out of the placement buffer and decides, cycle by cycle, what the aligner
/// makes; `L` is the number of lanes of a beat.
///
/// ```text
///  plan:   take `primes` beats, then emit the beats of the TLP; after the last TLP drain the rest
///
///  input beats    | b0 | b1 | b2 | b3 | b4 | b5 |        b5: padding
///  taken          prime  emit emit emit emit drain
///  TLP beats            |..........|.....|
/// ```
///
/// | latency    | `plan_valid` to first decision: 1 cycle                                 |
/// | throughput | one beat per cycle, no bubble between TLPs or commands                  |
/// | units      | beats                                                                   |
///
/// Exactly `PlaceCommand::beats` beats are taken for a command. The pages of a frame are released
/// when its last beat is taken. `room` may fall one cycle late: the output keeps an entry for that.
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
    /// The oldest plan, taken with `plan_take`.
    pub plan: Signal<In, TlpPlan>,
    pub plan_valid: Signal<In, Bit>,
    pub plan_take: Signal<Out, Bit>,
    pub beat_valid: Signal<In, Bit>,
    /// The beat is taken and becomes the older one of the aligner.
    pub beat_take: Signal<Out, Bit>,
    /// The output has room for a beat.
    pub room: Signal<In, Bit>,
    /// The aligner makes a beat of `side` and `rotation`, or an entry without a beat.
    pub emit: Signal<Out, Bit>,
    pub side: Signal<Out, BeatSide>,
    pub rotation: Signal<Out, Bits<6>>,
    /// Pages to release, for one cycle with `pages_valid`.
    pub pages: Signal<Out, PageChain>,
    pub pages_valid: Signal<Out, Bit>,
    /// A page chain can be taken.
    pub pages_room: Signal<In, Bit>,
    current: DFF<TlpPlan>,
    current_valid: DFF<Bit>,
    // The current step: a beat to take first, another after it, the last beat of the TLP, a beat to
    // discard; whether it takes an input beat; whether it is the last of the plan. Set one cycle
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
        // Of the inputs, not of `go`: one gate to the placement buffer, which is far.
        self.beat_take.next = self.ready.q.val() & self.needs.q.val() & self.beat_valid.val();
        self.finish.next = self.go.val() & self.ends.q.val();

        self.emit.next = self.go.val() & !self.priming.q.val() & !self.draining.q.val();
        if !self.current.q.val().writes {
            // Nothing to send; the entry without a beat leaves at the end.
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

        // The next plan follows without a bubble.
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

/// Aligner: makes a beat of a TLP of two neighbouring beats of the placement buffer; `E = D + 32`,
/// `P = 2 D`.
///
/// ```text
///      older           newer
///  |....|####|####|####|##..|....|      window: begins rotation + 1 octets into the older beat
///        \________________/
///          words, then octets          two stages
/// ```
///
/// | latency    | 2 cycles, `emit` to `valid`              |
/// | throughput | one beat per cycle; no backpressure      |
/// | units      | `rotation` in octets, less one           |
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (D == 128 || D == 512) && E == D + 32 && P == 2 * D,
        "Aligner: D = {D} must be 128 or 512, E = {E} must be D + 32, P = {P} must be 2 D"
    );
)]
pub struct Aligner<const D: usize, const E: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The next beat of the placement buffer.
    pub newer: Signal<In, Bits<D>>,
    /// `newer` becomes the older beat.
    pub take: Signal<In, Bit>,
    /// Makes a beat.
    pub emit: Signal<In, Bit>,
    /// Octets of the older beat before the window, less one.
    pub rotation: Signal<In, Bits<6>>,
    /// Sideband of the beat.
    pub side: Signal<In, BeatSide>,
    /// The beat and its sideband, for one cycle with `valid`.
    pub data: Signal<Out, Bits<D>>,
    pub data_side: Signal<Out, BeatSide>,
    pub valid: Signal<Out, Bit>,
    older: DFF<Bits<D>>,
    words: DFF<Bits<E>>,
    octets: DFF<Bits<D>>,
    word_side: DFF<BeatSide>,
    octet_side: DFF<BeatSide>,
    word_valid: DFF<Bit>,
    octet_valid: DFF<Bit>,
    within_word: DFF<Bits<2>>,
    pair: Signal<Local, Bits<P>>,
    shifted: Signal<Local, Bits<P>>,
    word_shift: Signal<Local, Bits<9>>,
    octet_shift: Signal<Local, Bits<6>>,
    windowed: Signal<Local, Bits<E>>,
    #[constant(D as LiteralType)]
    beat_bits: Constant<Bits<10>>,
}

impl<const D: usize, const E: usize, const P: usize> Logic for Aligner<D, E, P> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; older, words, octets, word_side, octet_side);
        registers!(clock; word_valid, octet_valid, within_word);
        if self.take.val() {
            self.older.d.next = self.newer.val();
        }
        // Words: the first word of the window and the L that follow it.
        self.pair.next = bit_cast::<P, D>(self.older.q.val())
            | (bit_cast::<P, D>(self.newer.val()) << self.beat_bits.val());
        self.word_shift.next = bit_cast::<9, 6>(self.rotation.val() >> 2) << 5;
        self.shifted.next = self.pair.val() >> self.word_shift.val();
        self.words.d.next = self.shifted.val().get_bits::<E>(0);
        self.within_word.d.next = self.rotation.val().get_bits::<2>(0);
        self.word_side.d.next = self.side.val();
        self.word_valid.d.next = self.emit.val();
        // Octets: 1 to 4 more.
        self.octet_shift.next = (bit_cast::<6, 2>(self.within_word.q.val()) << 3) + 8;
        self.windowed.next = self.words.q.val() >> self.octet_shift.val();
        self.octets.d.next = self.windowed.val().get_bits::<D>(0);
        self.octet_side.d.next = self.word_side.q.val();
        self.octet_valid.d.next = self.word_valid.q.val();

        self.data.next = self.octets.q.val();
        self.data_side.next = self.octet_side.q.val();
        self.valid.next = self.octet_valid.q.val();
        if self.reset.val() {
            self.word_valid.d.next = false;
            self.octet_valid.d.next = false;
        }
    }
}
