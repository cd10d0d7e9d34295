//! Reads the words of segments out of packet memory, one per cycle, and says which octets of each
//! count.
//!
//! ```text
//! segment --> word counter --> read_page, read_word --> (memory: data 2 cycles later)
//!                         \--> first, octets, last  --> beat_* (1 cycle before the data)
//! ```
//!
//! | enters     | segments; `hold` when the joiner's queue fills; killed jobs                    |
//! | leaves     | memory addresses; for each word read, its octets                               |
//! | latency    | 1 cycle `segment_valid` to `read_page`, 2 to `beat_valid`, 3 to the data       |
//! | throughput | one word per cycle, across segments too; one idle cycle after a job's last     |
//! | units      | words of `2^O` octets, `2^B` a page                                            |
use super::types::Segment;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Streamer of the packet reader; `B + O` must be 8.
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
    /// The part of a job to read.
    pub segment: Signal<In, Segment>,
    pub segment_valid: Signal<In, Bit>,
    pub segment_ready: Signal<Out, Bit>,
    /// Killed jobs, one bit per tag.
    pub killed: Signal<In, Bits<8>>,
    /// A job's last beat is on its way; one cycle.
    pub finish: Signal<Out, Bit>,
    /// Tag of the job that streams.
    pub finish_tag: Signal<Out, Bits<3>>,
    /// Start no further beat: seven more, begun before, must still find room downstream.
    pub hold: Signal<In, Bit>,
    /// Page to read.
    pub read_page: Signal<Out, Bits<9>>,
    /// Word of it.
    pub read_word: Signal<Out, Bits<B>>,
    /// A beat: its data leaves the memory in the next cycle.
    pub beat_valid: Signal<Out, Bit>,
    /// Lane of the first octet that counts.
    pub beat_first: Signal<Out, Bits<O>>,
    /// Octets that count, 0 to `2^O`; 0 only with `beat_last`.
    pub beat_octets: Signal<Out, Bits<7>>,
    /// The job ends with this beat.
    pub beat_last: Signal<Out, Bit>,
    // Some words of the segment have been read.
    running: DFF<Bit>,
    word: DFF<Bits<B>>,
    // The cycle after a job's last beat stays empty: the joiner may need it.
    gap: DFF<Bit>,
    tag: DFF<Bits<3>>,
    // The job at hand is killed; one cycle after `killed`, and in time for a job's first beat.
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
    part: Signal<Local, Segment>,
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

        // Where in the segment.
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

        // A segment without octets, or of a killed job, is skipped; as the job's last it becomes a
        // beat of nothing.
        self.skip_job.d.next = self.killed.val().get_bit(self.tag.q.val().index());
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

        // The address, and what counts there.
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

        // One cycle later: how many.
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
