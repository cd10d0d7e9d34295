//! Joins the octets of a job, read in ranges of any alignment, into one run of full beats.
//!
//! ```text
//! beat_* --> fill, rotation, what is written (control, one step ahead of the data)
//!                |            |          |
//! beat_data --> rotate by  --> rotate --> merge with the --> queue (16) --> joined_*
//!               2^H lanes      1 lane     octets left over
//! ```
//!
//! | enters     | words of memory and which of their octets count; `beat_data` is one cycle      |
//! |            | later than `beat_valid`; after `beat_last` one cycle without a beat            |
//! | leaves     | beats of D/8 octets, the first in lane 0; only a job's last may hold fewer;    |
//! |            | lanes beyond `joined_octets` are undefined                                     |
//! | latency    | 4 cycles `beat_data` to `joined_valid` when the beat fills up, or is the last  |
//! | throughput | one beat per cycle                                                             |
//! | units      | octets                                                                         |
//!
//! `almost_full` is high while seven places or fewer are free: the reader, which then starts no
//! beat, has at most seven on their way. A job gives at least one beat. `joined_octets` is
//! 0 in the last beat of a job without octets, and may be in that of a job that was killed.
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What goes with the data of a beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct JoinedNote {
    /// Octets that count, from lane 0 on.
    pub octets: Bits<7>,
    /// First beat of its job.
    pub first: Bit,
    /// Last beat of its job.
    pub last: Bit,
}

/// Joiner for words of `D/8 = 2^O` octets; `H = O/2`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(D == 8 << O, "Joiner: D = {D} must be 8 * 2^O = {}", 8 << O);
    assert!(O == 2 * H, "Joiner: H = {H} must be half of O = {O}");
)]
pub struct Joiner<const D: usize, const O: usize, const H: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat; its data is there in the next cycle.
    pub beat_valid: Signal<In, Bit>,
    /// Lane of the first octet that counts.
    pub beat_first: Signal<In, Bits<O>>,
    /// Octets that count; 0 only with `beat_last`.
    pub beat_octets: Signal<In, Bits<7>>,
    /// The job ends with this beat.
    pub beat_last: Signal<In, Bit>,
    /// The word of the beat announced in the cycle before.
    pub beat_data: Signal<In, Bits<D>>,
    /// Start no further beat.
    pub almost_full: Signal<Out, Bit>,
    /// Octets of a job.
    pub joined_data: Signal<Out, Bits<D>>,
    /// How many, from lane 0 on; D/8 but for the last beat, 0 only in a last one (see the head of
    /// the file).
    pub joined_octets: Signal<Out, Bits<7>>,
    /// First beat of its job.
    pub joined_first: Signal<Out, Bit>,
    /// Last beat of its job.
    pub joined_last: Signal<Out, Bit>,
    pub joined_valid: Signal<Out, Bit>,
    pub joined_ready: Signal<In, Bit>,
    /// A job's last beat was taken in the cycle before.
    pub job_left: Signal<Out, Bit>,
    #[init(Fifo::new(7))]
    words: Fifo<Bits<D>, 4, 5>,
    #[init(Fifo::new(7))]
    notes: Fifo<JoinedNote, 4, 5>,
    // Octets left over from earlier beats of the job, not yet written.
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
    // Rotation by 2^i lanes: so many bits down, and the rest up.
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

        // Stage 1: how the beat fits behind what is left over. In the cycle after a job's last
        // beat, octets that beat had no room for become a beat of their own: `flush`.
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

        // Stage 2: what is written; rotation by multiples of 2^H lanes.
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

        // Stage 3: rotation by single lanes; which lanes are left over from before.
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
