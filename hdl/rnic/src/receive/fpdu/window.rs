//! Window over two joined beats, from any of their words on; and the cursor in the job.
//!
//! ```text
//! joined --> [ spare ] --> [ high ] --> [ low ]        turned: words offset .. offset + L - 1
//!                              \___________\________>  of high ++ low
//! ```
//!
//! | latency    | 1 cycle, `joined_valid` to `low_valid`; none from `offset` to `turned`  |
//! | throughput | one beat per cycle; `joined_ready` is a register's                      |
//! | units      | `offset` in words of 4 octets; a beat is D bits, L = 2^LG words         |
//!
//! `usable`: the words from `offset` on are in the window, up to the end of the job.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Window over the joined stream: `D` bits a beat, `P = 2 D`, `2^LG` words a beat.
#[derive(LogicBlock, Init)]
#[init(
    assert!(P == 2 * D, "BeatWindow: P = {P} must be twice D = {D}");
    assert!(
        D == 32 << LG && LG <= 4,
        "BeatWindow: D = {D} must be 32 * 2^LG with LG = {LG} at most 4"
    );
)]
pub struct BeatWindow<const D: usize, const P: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Beat of the joined stream.
    pub joined_data: Signal<In, Bits<D>>,
    /// It is the last one of its job.
    pub joined_last: Signal<In, Bit>,
    pub joined_valid: Signal<In, Bit>,
    pub joined_ready: Signal<Out, Bit>,
    /// Word at which `turned` begins.
    pub offset: Signal<In, Bits<LG>>,
    /// Drop the low beat at this clock edge; only while `low_valid`.
    pub shift: Signal<In, Bit>,
    /// Word of the low or high beat to peek at.
    pub peek_offset: Signal<In, Bits<LG>>,
    /// Peeks at the high beat.
    pub peek_high: Signal<In, Bit>,
    /// `L` words from `offset` on.
    pub turned: Signal<Out, Bits<D>>,
    /// The word at `peek_offset`.
    pub peeked: Signal<Out, Bits<32>>,
    pub peek_valid: Signal<Out, Bit>,
    pub low_valid: Signal<Out, Bit>,
    /// The low beat is the last one of its job.
    pub low_last: Signal<Out, Bit>,
    /// `turned` is valid, up to the end of the job.
    pub usable: Signal<Out, Bit>,
    low: DFF<Bits<D>>,
    low_is_valid: DFF<Bit>,
    low_is_last: DFF<Bit>,
    high: DFF<Bits<D>>,
    high_is_valid: DFF<Bit>,
    high_is_last: DFF<Bit>,
    spare: DFF<Bits<D>>,
    spare_is_valid: DFF<Bit>,
    spare_is_last: DFF<Bit>,
    take: Signal<Local, Bit>,
    amount: Signal<Local, Bits<9>>,
    peek_amount: Signal<Local, Bits<9>>,
    pair: Signal<Local, Bits<P>>,
    shifted: Signal<Local, Bits<P>>,
    peek_beat: Signal<Local, Bits<D>>,
    peek_shifted: Signal<Local, Bits<D>>,
    #[constant(D as u64)]
    beat_bits: Constant<Bits<10>>,
}

impl<const D: usize, const P: usize, const LG: usize> Logic for BeatWindow<D, P, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; low, low_is_valid, low_is_last);
        registers!(clock; high, high_is_valid, high_is_last);
        registers!(clock; spare, spare_is_valid, spare_is_last);
        self.joined_ready.next = !self.spare_is_valid.q.val();
        self.take.next = self.joined_valid.val() & !self.spare_is_valid.q.val();

        // Each stage loads the one after it, or the arriving beat if that one is empty.
        if self.shift.val() | !self.low_is_valid.q.val() {
            if self.high_is_valid.q.val() {
                self.low.d.next = self.high.q.val();
                self.low_is_last.d.next = self.high_is_last.q.val();
                self.low_is_valid.d.next = true;
            } else {
                self.low.d.next = self.joined_data.val();
                self.low_is_last.d.next = self.joined_last.val();
                self.low_is_valid.d.next = self.take.val();
            }
        }
        if self.shift.val() | !self.high_is_valid.q.val() {
            if self.spare_is_valid.q.val() {
                self.high.d.next = self.spare.q.val();
                self.high_is_last.d.next = self.spare_is_last.q.val();
                self.high_is_valid.d.next = true;
            } else {
                self.high.d.next = self.joined_data.val();
                self.high_is_last.d.next = self.joined_last.val();
                self.high_is_valid.d.next = self.take.val()
                    & ((self.shift.val() & self.high_is_valid.q.val())
                        | (!self.shift.val() & self.low_is_valid.q.val()));
            }
        }
        if !self.spare_is_valid.q.val() {
            self.spare.d.next = self.joined_data.val();
            self.spare_is_last.d.next = self.joined_last.val();
            self.spare_is_valid.d.next =
                self.take.val() & self.high_is_valid.q.val() & !self.shift.val();
        } else if self.shift.val() {
            self.spare_is_valid.d.next = false;
        }
        if self.reset.val() {
            self.low_is_valid.d.next = false;
            self.high_is_valid.d.next = false;
            self.spare_is_valid.d.next = false;
        }

        self.low_valid.next = self.low_is_valid.q.val();
        self.low_last.next = self.low_is_last.q.val();
        self.usable.next =
            self.low_is_valid.q.val() & (self.high_is_valid.q.val() | self.low_is_last.q.val());
        self.amount.next = bit_cast::<9, LG>(self.offset.val()) << 5;
        self.pair.next = bit_cast::<P, D>(self.low.q.val())
            | (bit_cast::<P, D>(self.high.q.val()) << self.beat_bits.val());
        self.shifted.next = self.pair.val() >> self.amount.val();
        self.turned.next = self.shifted.val().get_bits::<D>(0);

        self.peek_beat.next = self.low.q.val();
        self.peek_valid.next = self.low_is_valid.q.val();
        if self.peek_high.val() {
            self.peek_beat.next = self.high.q.val();
            self.peek_valid.next = self.high_is_valid.q.val();
        }
        self.peek_amount.next = bit_cast::<9, LG>(self.peek_offset.val()) << 5;
        self.peek_shifted.next = self.peek_beat.val() >> self.peek_amount.val();
        self.peeked.next = self.peek_shifted.val().get_bits::<32>(0);
    }
}

/// Position of the next FPDU in a job: sequence number, phase, words left, words handed on.
///
/// | latency    | 1 cycle, `load` or `advance` to every output                              |
/// | throughput | one FPDU per cycle                                                        |
/// | units      | words of 4 octets; `sequence` in octets, modulo 2^32                      |
#[derive(LogicBlock, Default)]
pub struct JobCursor {
    pub clock: Signal<In, Clock>,
    /// Takes the four ports below: a job begins.
    pub load: Signal<In, Bit>,
    /// Octets of the job; a partial word at its end is ignored.
    pub octets: Signal<In, Bits<18>>,
    /// Sequence number of its first octet.
    pub first_sequence: Signal<In, Bits<32>>,
    /// Words since the last marker position at its first word.
    pub first_phase: Signal<In, Bits<7>>,
    /// The stream has markers.
    pub markers: Signal<In, Bit>,
    /// An FPDU of `words` is handed on.
    pub advance: Signal<In, Bit>,
    /// Its words on the wire.
    pub words: Signal<In, Bits<15>>,
    /// Sequence number of the next FPDU.
    pub next_sequence: Signal<Out, Bits<32>>,
    /// Words since the last marker position at the next FPDU.
    pub phase: Signal<Out, Bits<7>>,
    /// Whole words from there on.
    pub words_left: Signal<Out, Bits<16>>,
    /// Words of the FPDUs handed on.
    pub consumed: Signal<Out, Bits<16>>,
    /// The next FPDU opens with a marker.
    pub lead: Signal<Out, Bit>,
    /// The job ends before the ULPDU_Length of the next FPDU.
    pub missing: Signal<Out, Bit>,
    /// No FPDU of this job was handed on yet.
    pub first: Signal<Out, Bit>,
    sequence_now: DFF<Bits<32>>,
    phase_now: DFF<Bits<7>>,
    left: DFF<Bits<16>>,
    done: DFF<Bits<16>>,
    marked: DFF<Bit>,
    is_first: DFF<Bit>,
    octet_count: Signal<Local, Bits<32>>,
    word_count: Signal<Local, Bits<16>>,
    group_words: Signal<Local, Bits<7>>,
    leads: Signal<Local, Bit>,
    high_left: Signal<Local, Bits<15>>,
    low_left: Signal<Local, Bit>,
}

impl Logic for JobCursor {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; sequence_now, phase_now, left, done, marked, is_first);
        self.octet_count.next = bit_cast::<32, 15>(self.words.val()) << 2;
        self.word_count.next = bit_cast::<16, 15>(self.words.val());
        // Phases count modulo 128, as markers do.
        self.group_words.next = self.words.val().get_bits::<7>(0);
        if self.advance.val() {
            self.sequence_now.d.next = self.sequence_now.q.val() + self.octet_count.val();
            self.phase_now.d.next = self.phase_now.q.val() + self.group_words.val();
            self.left.d.next = self.left.q.val() - self.word_count.val();
            self.done.d.next = self.done.q.val() + self.word_count.val();
            self.is_first.d.next = false;
        }
        if self.load.val() {
            self.sequence_now.d.next = self.first_sequence.val();
            self.phase_now.d.next = self.first_phase.val();
            self.left.d.next = self.octets.val().get_bits::<16>(2);
            self.done.d.next = 0.into();
            self.marked.d.next = self.markers.val();
            self.is_first.d.next = true;
        }
        self.leads.next = self.marked.q.val() & !self.phase_now.q.val().any();
        self.high_left.next = self.left.q.val().get_bits::<15>(1);
        self.low_left.next = self.left.q.val().get_bit(0);
        self.missing.next = !self.high_left.val().any() & (!self.low_left.val() | self.leads.val());
        self.lead.next = self.leads.val();
        self.next_sequence.next = self.sequence_now.q.val();
        self.phase.next = self.phase_now.q.val();
        self.words_left.next = self.left.q.val();
        self.consumed.next = self.done.q.val();
        self.first.next = self.is_first.q.val();
    }
}
