//! From page reads to full beats: reads the words, and joins the octets of a job, of any alignment,
//! into one run.
//!
//! ```text
//! page reads --> Streamer --addresses--> packet memory --words--> Joiner --> joined_*
//!                        \---- valid octets (beat_*) -----------^
//! ```
//!
//! | latency    | 7 cycles page read to `joined_valid`; 8 if the first word does not fill a beat  |
//! | throughput | one beat per cycle                                                              |
//! | units      | octets; lanes of one octet, the first in bits 7:0                               |
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Planner to streamer: the octets of a job in one page.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PageRead {
    /// The page.
    pub page: Bits<9>,
    /// First octet, from the start of the page.
    pub first_octet: Bits<8>,
    /// Last octet (not one past it), from the start of the page.
    pub last_octet: Bits<8>,
    /// No octets; only `job_last` is valid.
    pub nothing: Bit,
    /// The job ends with this page read.
    pub job_last: Bit,
}

/// Reads the words of page reads, one per cycle; `B + O` must be 8.
///
/// ```text
/// segment --> word counter --> read_page, read_word --> (memory: data 2 cycles later)
///                         \--> first, octets, last  --> beat_* (1 cycle before the data)
/// ```
///
/// | latency    | 1 cycle `segment_valid` to `read_page`, 2 to `beat_valid`, 3 to the data    |
/// | throughput | one word per cycle, across pages too; one idle cycle after a job's last     |
/// | units      | words of `2^O` octets, `2^B` a page                                         |
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        B + O == 8,
        "Streamer: 2^B words (B = {B}) of 2^O octets (O = {O}) are not a page"
    );
)]
pub struct Streamer<const B: usize, const O: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub segment: Signal<In, PageRead>,
    pub segment_valid: Signal<In, Bit>,
    pub segment_ready: Signal<Out, Bit>,
    /// Cancelled jobs, one bit per tag.
    pub cancelled: Signal<In, Bits<8>>,
    /// The last beat of job `finish_tag` entered the pipeline; one cycle.
    pub finish: Signal<Out, Bit>,
    pub finish_tag: Signal<Out, Bits<3>>,
    /// Start no further beat; up to seven beats are then still in the pipeline.
    pub hold: Signal<In, Bit>,
    pub read_page: Signal<Out, Bits<9>>,
    pub read_word: Signal<Out, Bits<B>>,
    /// A beat: its data leaves the memory in the next cycle.
    pub beat_valid: Signal<Out, Bit>,
    /// Lane of the first valid octet.
    pub beat_first: Signal<Out, Bits<O>>,
    /// Valid octets, 0 to `2^O`; 0 only with `beat_last`.
    pub beat_octets: Signal<Out, Bits<7>>,
    /// The job ends with this beat.
    pub beat_last: Signal<Out, Bit>,
    // Some words of the page read have been read.
    running: DFF<Bit>,
    word: DFF<Bits<B>>,
    // The cycle after a job's last beat stays empty: the joiner may need it for left-over octets.
    gap: DFF<Bit>,
    tag: DFF<Bits<3>>,
    // The current job is cancelled; one cycle after `cancelled`, in time for a job's first beat.
    skip_job: DFF<Bit>,
    page_address: DFF<Bits<9>>,
    word_address: DFF<Bits<B>>,
    start: DFF<Bits<O>>,
    stop: DFF<Bits<O>>,
    nothing: DFF<Bit>,
    valid: DFF<Bit>,
    last: DFF<Bit>,
    first_q2: DFF<Bits<O>>,
    octets_q2: DFF<Bits<7>>,
    valid_q2: DFF<Bit>,
    last_q2: DFF<Bit>,
    part: Signal<Local, PageRead>,
    first_octet: Signal<Local, Bits<8>>,
    last_octet: Signal<Local, Bits<8>>,
    first_word: Signal<Local, Bits<B>>,
    last_word: Signal<Local, Bits<B>>,
    word_now: Signal<Local, Bits<B>>,
    at_last: Signal<Local, Bit>,
    skipped: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    #[constant(1)]
    one_word: Constant<Bits<B>>,
    #[constant(1)]
    one_tag: Constant<Bits<3>>,
    #[constant(1)]
    one_octet: Constant<Bits<7>>,
    #[constant((1 << O) - 1 as LiteralType)]
    last_lane: Constant<Bits<O>>,
}

impl<const B: usize, const O: usize> Logic for Streamer<B, O> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; running, word, gap, tag, page_address, word_address, start, stop);
        registers!(clock; nothing, valid, last, first_q2, octets_q2, valid_q2, last_q2);
        registers!(clock; skip_job);

        // Position in the page read.
        self.part.next = self.segment.val();
        self.first_octet.next = self.part.val().first_octet;
        self.last_octet.next = self.part.val().last_octet;
        for lane_bits in O..(O + 1) {
            self.first_word.next = self.first_octet.val().get_bits::<B>(lane_bits);
            self.last_word.next = self.last_octet.val().get_bits::<B>(lane_bits);
        }
        self.word_now.next = self.first_word.val();
        if self.running.q.val() {
            self.word_now.next = self.word.q.val();
        }
        self.at_last.next = self.word_now.val() == self.last_word.val();

        // A page read without octets, or of a cancelled job, is skipped. The job's last one becomes
        // a beat without octets, because each job must end with a last beat.
        self.skip_job.d.next = self.cancelled.val().get_bit(self.tag.q.val().index());
        self.skipped.next = self.part.val().nothing | self.skip_job.q.val();
        self.go.next = self.segment_valid.val() & !self.hold.val() & !self.gap.q.val();
        self.finishes.next = self.skipped.val() | self.at_last.val();
        self.ends.next = self.go.val() & self.finishes.val() & self.part.val().job_last;
        self.segment_ready.next = self.go.val() & self.finishes.val();
        self.finish.next = self.ends.val();
        self.finish_tag.next = self.tag.q.val();
        self.gap.d.next = self.ends.val();
        if self.ends.val() {
            self.tag.d.next = self.tag.q.val() + self.one_tag.val();
        }
        if self.go.val() {
            self.running.d.next = !self.finishes.val();
        }
        self.word.d.next = self.word.q.val();
        if self.go.val() {
            self.word.d.next = self.word_now.val() + self.one_word.val();
        }

        // Address, and first and last valid lane.
        self.page_address.d.next = self.part.val().page;
        self.word_address.d.next = self.word_now.val();
        self.start.d.next = self.first_octet.val().get_bits::<O>(0);
        if self.running.q.val() {
            self.start.d.next = 0.into();
        }
        self.stop.d.next = self.last_lane.val();
        if self.at_last.val() {
            self.stop.d.next = self.last_octet.val().get_bits::<O>(0);
        }
        self.nothing.d.next = self.skipped.val();
        self.valid.d.next = self.go.val() & (!self.skipped.val() | self.part.val().job_last);
        self.last.d.next = self.ends.val();
        self.read_page.next = self.page_address.q.val();
        self.read_word.next = self.word_address.q.val();

        // One cycle later: number of octets.
        self.valid_q2.d.next = self.valid.q.val();
        self.last_q2.d.next = self.last.q.val();
        self.first_q2.d.next = self.start.q.val();
        self.octets_q2.d.next = (bit_cast::<7, O>(self.stop.q.val())
            - bit_cast::<7, O>(self.start.q.val()))
            + self.one_octet.val();
        if self.nothing.q.val() {
            self.octets_q2.d.next = 0.into();
        }
        self.beat_valid.next = self.valid_q2.q.val();
        self.beat_last.next = self.last_q2.q.val();
        self.beat_first.next = self.first_q2.q.val();
        self.beat_octets.next = self.octets_q2.q.val();

        if self.reset.val() {
            self.running.d.next = false;
            self.gap.d.next = false;
            self.tag.d.next = 0.into();
            self.valid.d.next = false;
            self.valid_q2.d.next = false;
        }
    }
}

/// Accompanies the data of a beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct JoinedNote {
    /// Valid octets, from lane 0 on.
    pub octets: Bits<7>,
    /// First beat of its job.
    pub first: Bit,
    /// Last beat of its job.
    pub last: Bit,
}

/// Packs octet ranges of any alignment into full beats, for words of `D/8 = 2^O` octets; `H = O/2`.
///
/// ```text
/// beat_* --> fill, rotation, what is written (control, one stage ahead of the data)
///                |            |          |
/// beat_data --> rotate by  --> rotate --> merge with the --> FIFO (16) --> joined_*
///               2^H lanes      1 lane     left-over octets
/// ```
///
/// | latency    | 4 cycles `beat_data` to `joined_valid` if the beat fills up, or is the last |
/// | throughput | one beat per cycle                                                          |
///
/// Beats have D/8 octets, the first in lane 0; only a job's last beat may have fewer. Lanes beyond
/// `joined_octets` are undefined. A job gives at least one beat. `joined_octets` is 0 in the last
/// beat of a job without octets, and may be 0 in that of a cancelled job.
#[derive(LogicBlock, Init)]
#[init(
    assert!(D == 8 << O, "Joiner: D = {D} must be 8 * 2^O = {}", 8 << O);
    assert!(O == 2 * H, "Joiner: H = {H} must be half of O = {O}");
)]
pub struct Joiner<const D: usize, const O: usize, const H: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // From `Streamer`; no beat in the cycle after `beat_last`.
    pub beat_valid: Signal<In, Bit>,
    pub beat_first: Signal<In, Bits<O>>,
    pub beat_octets: Signal<In, Bits<7>>,
    pub beat_last: Signal<In, Bit>,
    /// The word of the previous cycle's `beat_valid`.
    pub beat_data: Signal<In, Bits<D>>,
    /// At most seven entries are free, which the beats in the pipeline may need.
    pub almost_full: Signal<Out, Bit>,
    pub joined_data: Signal<Out, Bits<D>>,
    /// Valid octets, from lane 0 on.
    pub joined_octets: Signal<Out, Bits<7>>,
    /// First beat of its job.
    pub joined_first: Signal<Out, Bit>,
    /// Last beat of its job.
    pub joined_last: Signal<Out, Bit>,
    pub joined_valid: Signal<Out, Bit>,
    pub joined_ready: Signal<In, Bit>,
    /// A job's last beat was taken in the previous cycle.
    pub job_left: Signal<Out, Bit>,
    #[init(Fifo::new(7))]
    words: Fifo<Bits<D>, 4, 5>,
    #[init(Fifo::new(7))]
    notes: Fifo<JoinedNote, 4, 5>,
    // Octets of earlier beats of the job that are not yet written.
    fill: DFF<Bits<O>>,
    // Stage 1: sums.
    active: DFF<Bit>,
    ends: DFF<Bit>,
    closing: DFF<Bit>,
    fill_q: DFF<Bits<O>>,
    sum: DFF<Bits<7>>,
    turn: DFF<Bits<O>>,
    // Stage 2: first rotation.
    write_q2: DFF<Bit>,
    beat_q2: DFF<Bit>,
    wraps_q2: DFF<Bit>,
    note_q2: DFF<JoinedNote>,
    fill_q2: DFF<Bits<O>>,
    turn_q2: DFF<Bits<H>>,
    data_q2: DFF<Bits<D>>,
    job_open: DFF<Bit>,
    // Stage 3: second rotation.
    write_q3: DFF<Bit>,
    beat_q3: DFF<Bit>,
    wraps_q3: DFF<Bit>,
    note_q3: DFF<JoinedNote>,
    mask: DFF<Bits<D>>,
    data_q3: DFF<Bits<D>>,
    left_over: DFF<Bits<D>>,
    left: DFF<Bit>,
    over: Signal<Local, Bit>,
    flush: Signal<Local, Bit>,
    octets: Signal<Local, Bits<7>>,
    total: Signal<Local, Bits<7>>,
    full: Signal<Local, Bit>,
    sum_low: Signal<Local, Bits<O>>,
    note: Signal<Local, JoinedNote>,
    writes: Signal<Local, Bit>,
    coarse: Signal<Local, Bits<H>>,
    coarse_data: Signal<Local, Bits<D>>,
    fine_data: Signal<Local, Bits<D>>,
    fill_bits: Signal<Local, Bits<10>>,
    merged: Signal<Local, Bits<D>>,
    head: Signal<Local, JoinedNote>,
    // Rotation by 2^i lanes: bits down, and the remaining bits up.
    #[constants(|i| (8 << i) as LiteralType)]
    down: [Constant<Bits<10>>; O],
    #[constants(|i| (D - (8 << i)) as LiteralType)]
    up: [Constant<Bits<10>>; O],
    #[constant(1 << O as LiteralType)]
    all_lanes: Constant<Bits<7>>,
    #[init(Constant::new(!Bits::<D>::default()))]
    ones: Constant<Bits<D>>,
}

impl<const D: usize, const O: usize, const H: usize> Logic for Joiner<D, O, H> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; fill, active, ends, closing, fill_q, sum, turn);
        registers!(clock; write_q2, beat_q2, wraps_q2, note_q2, fill_q2, turn_q2, data_q2);
        registers!(clock; job_open, write_q3, beat_q3, wraps_q3, note_q3, mask, data_q3);
        registers!(clock; left_over, left);
        wire!(self => self.words; clock, reset);
        wire!(self => self.notes; clock, reset);

        // Stage 1: append the beat to the left-over octets. Octets of a job's last beat that do not
        // fit become a beat of their own in the next cycle: `flush`.
        self.sum_low.next = self.sum.q.val().get_bits::<O>(0);
        for lane_bits in O..(O + 1) {
            self.full.next = self.sum.q.val().get_bit(lane_bits);
        }
        self.over.next = self.full.val() & self.sum_low.val().any();
        self.flush.next = self.closing.q.val() & self.over.val();
        self.octets.next = 0.into();
        if self.beat_valid.val() {
            self.octets.next = self.beat_octets.val();
        }
        self.total.next = bit_cast::<7, O>(self.fill.q.val()) + self.octets.val();
        self.fill.d.next = self.total.val().get_bits::<O>(0);
        if self.closing.q.val() {
            self.fill.d.next = 0.into();
        }
        self.closing.d.next = self.beat_valid.val() & self.beat_last.val();
        self.active.d.next = self.beat_valid.val() | self.flush.val();
        self.ends.d.next = (self.beat_valid.val() & self.beat_last.val()) | self.closing.q.val();
        self.fill_q.d.next = self.fill.q.val();
        self.sum.d.next = self.total.val();
        self.turn.d.next = self.beat_first.val() - self.fill.q.val();

        // Stage 2: is a beat complete? Rotation by multiples of 2^H lanes.
        self.writes.next = self.active.q.val() & (self.full.val() | self.ends.q.val());
        self.note.next.last = self.ends.q.val() & !self.over.val();
        self.note.next.first = !self.job_open.q.val();
        self.note.next.octets = self.sum.q.val();
        if self.full.val() {
            self.note.next.octets = self.all_lanes.val();
        }
        if self.writes.val() {
            self.job_open.d.next = !self.note.val().last;
        }
        self.write_q2.d.next = self.writes.val();
        self.beat_q2.d.next = self.active.q.val();
        self.wraps_q2.d.next = self.full.val();
        self.note_q2.d.next = self.note.val();
        self.fill_q2.d.next = self.fill_q.q.val();
        self.turn_q2.d.next = self.turn.q.val().get_bits::<H>(0);
        for half in H..(H + 1) {
            self.coarse.next = self.turn.q.val().get_bits::<H>(half);
        }
        self.coarse_data.next = self.beat_data.val();
        for half in H..(H + 1) {
            for i in 0..H {
                if self.coarse.val().get_bit(i) {
                    self.coarse_data.next = (self.coarse_data.val() >> self.down[i + half].val())
                        | (self.coarse_data.val() << self.up[i + half].val());
                }
            }
        }
        self.data_q2.d.next = self.coarse_data.val();

        // Stage 3: rotation by single lanes; mask of the left-over lanes.
        self.fine_data.next = self.data_q2.q.val();
        for i in 0..H {
            if self.turn_q2.q.val().get_bit(i) {
                self.fine_data.next = (self.fine_data.val() >> self.down[i].val())
                    | (self.fine_data.val() << self.up[i].val());
            }
        }
        self.data_q3.d.next = self.fine_data.val();
        self.fill_bits.next = bit_cast::<10, O>(self.fill_q2.q.val()) << 3;
        self.mask.d.next = self.ones.val() << self.fill_bits.val();
        self.write_q3.d.next = self.write_q2.q.val();
        self.beat_q3.d.next = self.beat_q2.q.val();
        self.wraps_q3.d.next = self.wraps_q2.q.val();
        self.note_q3.d.next = self.note_q2.q.val();

        // Stage 4: merge and write.
        self.merged.next = (self.data_q3.q.val() & self.mask.q.val())
            | (self.left_over.q.val() & !self.mask.q.val());
        if self.beat_q3.q.val() {
            self.left_over.d.next = self.merged.val();
            if self.wraps_q3.q.val() {
                self.left_over.d.next = self.data_q3.q.val();
            }
        }
        self.words.data_in.next = self.merged.val();
        self.words.write.next = self.write_q3.q.val();
        self.notes.data_in.next = self.note_q3.q.val();
        self.notes.write.next = self.write_q3.q.val();

        self.head.next = self.notes.data_out.val();
        self.words.read.next = self.joined_ready.val();
        self.notes.read.next = self.joined_ready.val();
        self.almost_full.next = self.notes.almost_full.val();
        self.joined_data.next = self.words.data_out.val();
        self.joined_octets.next = self.head.val().octets;
        self.joined_first.next = self.head.val().first;
        self.joined_last.next = self.head.val().last;
        self.joined_valid.next = !self.notes.empty.val();
        self.left.d.next = self.joined_ready.val() & !self.notes.empty.val() & self.head.val().last;
        self.job_left.next = self.left.q.val();

        if self.reset.val() {
            self.fill.d.next = 0.into();
            self.active.d.next = false;
            self.closing.d.next = false;
            self.write_q2.d.next = false;
            self.write_q3.d.next = false;
            self.job_open.d.next = false;
            self.left.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
