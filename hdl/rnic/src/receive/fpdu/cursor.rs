//! Where the splitter stands in a job: sequence number, phase, words left, words handed on.
//!
//! | latency    | 1 cycle, `load` or `advance` to every output                              |
//! | throughput | one FPDU per cycle                                                        |
//! | units      | words of 4 octets; `sequence` in octets, modulo 2^32                      |
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Position of the next FPDU in a job.
#[derive(LogicBlock, Default)]
pub struct JobCursor {
    pub clock: Signal<In, Clock>,
    /// Takes the four ports below: a job begins.
    pub load: Signal<In, Bit>,
    /// Octets of the job; a partial word at its end is not looked at.
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
