//! FPDU splitter: puts the first octet of each FPDU of a job in lane 0, and ends the job at the
//! first FPDU that is not whole.
//!
//! ```text
//! joined --> [ window ] --> turn, blank the tail --> fpdu beats
//!               | first two words      ^
//!               v                      |
//!            ULPDU_Length --> [ length, 3 cycles ] --> hand on, or JobDone and cancel
//!                                ^
//! started --> [ 4 jobs ] --> [ cursor: sequence, phase, words left ]
//! ```
//!
//! | latency    | 5 cycles, first joined beat of a job to the first beat of its FPDU           |
//! | throughput | one beat per cycle; between two FPDUs 3 idle cycles, 4 before an FPDU that   |
//! |            | opens with a marker or follows one of less than three beats; a stream job's  |
//! |            | `JobDone` 2 or 3 cycles after its last beat; 7 idle cycles between two jobs  |
//! | units      | a beat is D bits, L = 2^LG words of 4 octets; lengths in octets              |
//! | source     | RFC 5044 sections 4 and 5 (MPA-001, MPA-013, MPA-042, MPA-043)               |
//!
//! Lengths come from the job alone: the joined stream must hold its octets, at least one beat, the
//! last one marked, and may be cut short after `cancel`. Each FPDU's words beyond its end are zero.
use super::length::{FpduExtent, FpduLength, HeadWord};
use super::split_control::{JobEnd, JobQueue, SplitControl, StartedJob};
use super::window::{BeatWindow, JobCursor};
use crate::messages::{FpduInfo, FpduKind, JobDone, ReadJob};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// FPDU splitter for beats of `D` bits; `P = 2 D`, `D = 32 * 2^LG`.
#[derive(LogicBlock, Default)]
pub struct Splitter<const D: usize, const P: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Beat of the joined stream.
    pub joined_data: Signal<In, Bits<D>>,
    /// It is the last one of its job.
    pub joined_last: Signal<In, Bit>,
    pub joined_valid: Signal<In, Bit>,
    pub joined_ready: Signal<Out, Bit>,
    /// A job whose octets follow in the joined stream, in this order.
    pub started: Signal<In, ReadJob>,
    /// The reader's number of that job.
    pub started_tag: Signal<In, Bits<3>>,
    pub started_valid: Signal<In, Bit>,
    pub started_ready: Signal<Out, Bit>,
    /// For one cycle: job `cancel_tag` needs no more beats.
    pub cancel: Signal<Out, Bit>,
    /// The reader's number of the job.
    pub cancel_tag: Signal<Out, Bits<3>>,
    pub job_done: Signal<Out, JobDone>,
    pub job_done_valid: Signal<Out, Bit>,
    pub job_done_ready: Signal<In, Bit>,
    /// Beat of an FPDU; words beyond its end are zero.
    pub fpdu_data: Signal<Out, Bits<D>>,
    /// First beat of an FPDU.
    pub fpdu_first: Signal<Out, Bit>,
    /// Last beat of an FPDU.
    pub fpdu_last: Signal<Out, Bit>,
    /// With `fpdu_last`: words of this beat beyond the FPDU.
    pub fpdu_tail_words: Signal<Out, Bits<LG>>,
    pub fpdu_valid: Signal<Out, Bit>,
    pub fpdu_ready: Signal<In, Bit>,
    /// The FPDU, valid with its first beat and until the next first one.
    pub fpdu_info: Signal<Out, FpduInfo>,
    /// For one cycle: the first beat of an FPDU or host frame has entered the output register.
    pub begun: Signal<Out, Bit>,

    queue: JobQueue,
    window: BeatWindow<D, P, LG>,
    head: HeadWord,
    length: FpduLength<LG>,
    cursor: JobCursor,
    span: FpduExtent<LG>,
    control: SplitControl,
    out: BeatOutput<D, LG>,
    job_end: JobEnd,
    next_job: Signal<Local, StartedJob>,
    job: Signal<Local, StartedJob>,
    turned: Signal<Local, Bits<D>>,
}

impl<const D: usize, const P: usize, const LG: usize> Logic for Splitter<D, P, LG> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.{queue, window, length, cursor, span, control, out, job_end}; clock);
        wire!(self => self.{queue, window, control, out, job_end}; reset);

        // Jobs.
        wire!(self => self.queue; started, started_tag, started_valid);
        self.started_ready.next = self.queue.started_ready.val();
        self.queue.take.next = self.control.job_take.val();
        wire!(self.queue => self; next_job, job);
        self.control.job_waiting.next = self.queue.waiting.val();
        self.control.job_kind.next = self.next_job.val().kind;
        self.control.job_octets.next = self.next_job.val().octets;
        self.control.ooo.next = self.job.val().ooo;

        // Window, and the head of the next FPDU in it.
        wire!(self => self.window; joined_data, joined_last, joined_valid);
        self.joined_ready.next = self.window.joined_ready.val();
        self.window.offset.next = self.span.offset.val();
        self.window.shift.next = self.control.shift.val();
        wire!(self.span => self.window; next_offset as peek_offset, next_wraps as peek_high);
        self.turned.next = self.window.turned.val();
        wire!(self.window => self.control; low_valid, low_last, usable);
        self.head.lead.next = self.cursor.lead.val();
        self.head.word_0.next = self.turned.val().get_bits::<32>(0);
        self.head.word_1.next = self.turned.val().get_bits::<32>(32);
        wire!(self.window => self.head; low_valid, usable);
        self.head.aligned.next = self.span.aligned.val();
        self.head.arrives.next = self.joined_valid.val() & self.window.joined_ready.val();
        self.head.arriving_0.next = self.joined_data.val().get_bits::<32>(0);
        self.head.arriving_1.next = self.joined_data.val().get_bits::<32>(32);
        self.head.ahead.next = self.control.head_ahead.val();
        wire!(self.window => self.head; peeked, peek_valid);
        wire!(self.head => self.control; ulpdu_length as head_length, valid as head_valid);

        // Length and position.
        wire!(self.control => self.length; ulpdu_length, host);
        self.length.phase.next = self.cursor.phase.val();
        self.length.markers.next = self.job.val().markers;
        self.length.words_left.next = self.cursor.words_left.val();
        wire!(self.control => self.length; sum, divide, decide);
        wire!(self.length => self.control; single, whole, too_long);
        wire!(self.control => self.span; job_take as clear, send, opens, ends);
        wire!(self.length => self.span; words, beats);
        wire!(self.span => self.control; final_next, wraps);
        self.cursor.load.next = self.control.job_take.val();
        self.cursor.octets.next = self.next_job.val().octets;
        self.cursor.first_sequence.next = self.next_job.val().sequence;
        self.cursor.first_phase.next = self.next_job.val().phase;
        self.cursor.markers.next = self.next_job.val().markers;
        self.cursor.advance.next = self.control.advance.val();
        self.cursor.words.next = self.length.words.val();
        wire!(self.cursor => self.control; lead, missing, first);

        // Beats out.
        self.out.send.next = self.control.send.val();
        self.out.data.next = self.turned.val();
        wire!(self.control => self.out; opens, ends);
        self.control.free.next = self.out.free.val();
        self.out.words.next = self.length.words.val();
        self.out.job.next = self.job.val();
        wire!(self.control => self.out; host, place, check);
        self.out.first.next = self.cursor.first.val();
        self.out.ulpdu_length.next = self.control.ulpdu_length.val();
        wire!(self.cursor => self.out; next_sequence as fpdu_sequence, phase);
        wire!(self.out => self; fpdu_data, fpdu_first, fpdu_last, fpdu_tail_words, fpdu_valid);
        self.out.fpdu_ready.next = self.fpdu_ready.val();
        self.fpdu_info.next = self.out.fpdu_info.val();
        self.begun.next = self.control.send.val() & self.control.opens.val();

        // End of a job.
        self.job_end.job.next = self.job.val();
        self.job_end.finish.next = self.control.finish.val();
        self.control.finished.next = self.job_end.finished.val();
        wire!(self.cursor => self.job_end; consumed, lead);
        self.job_end.need_words.next = self.control.need_words.val();
        self.job_end.words.next = self.length.words.val();
        wire!(self.control => self.job_end; place_next, unfit, job_take as begins, advance);
        self.job_end.sequence_end.next = self.cursor.next_sequence.val();
        self.job_end.unread.next = self.control.unread.val();
        stream!(self.job_end => self; job_done);
        wire!(self.job_end => self; cancel, cancel_tag);
    }
}

/// The splitter's output register: beats cut off at the FPDU's end, and the FPDU's properties;
/// `D = 32 * 2^LG`.
///
/// | latency    | 1 cycle                                                                     |
/// | throughput | one beat per cycle                                                          |
/// | units      | a beat is D bits, 2^LG words of 4 octets; `wire_octets` in octets           |
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 << LG,
        "BeatOutput: D = {D} must be 32 * 2^LG with LG = {LG}"
    );
)]
pub struct BeatOutput<const D: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat is taken in; only while `free`.
    pub send: Signal<In, Bit>,
    /// Its octets.
    pub data: Signal<In, Bits<D>>,
    /// It is the first one of its FPDU.
    pub opens: Signal<In, Bit>,
    /// It is the last one of its FPDU.
    pub ends: Signal<In, Bit>,
    /// The register is free, or becomes so.
    pub free: Signal<Out, Bit>,
    /// Words of the FPDU.
    pub words: Signal<In, Bits<15>>,
    pub job: Signal<In, StartedJob>,
    /// The job is a host frame.
    pub host: Signal<In, Bit>,
    /// The FPDU was checked before.
    pub place: Signal<In, Bit>,
    /// The FPDU is to be checked only.
    pub check: Signal<In, Bit>,
    /// No FPDU of the job was handed on yet.
    pub first: Signal<In, Bit>,
    /// ULPDU_Length, or the octets of a host frame.
    pub ulpdu_length: Signal<In, Bits<16>>,
    /// Sequence number of the FPDU.
    pub fpdu_sequence: Signal<In, Bits<32>>,
    /// Words since the last marker position at its first word.
    pub phase: Signal<In, Bits<7>>,
    /// Beat of an FPDU; words beyond its end are zero.
    pub fpdu_data: Signal<Out, Bits<D>>,
    /// First beat of an FPDU.
    pub fpdu_first: Signal<Out, Bit>,
    /// Last beat of an FPDU.
    pub fpdu_last: Signal<Out, Bit>,
    /// With `fpdu_last`: words of this beat beyond the FPDU.
    pub fpdu_tail_words: Signal<Out, Bits<LG>>,
    pub fpdu_valid: Signal<Out, Bit>,
    pub fpdu_ready: Signal<In, Bit>,
    /// The FPDU, from its first beat to the next first one.
    pub fpdu_info: Signal<Out, FpduInfo>,
    out_data: DFF<Bits<D>>,
    out_first: DFF<Bit>,
    out_last: DFF<Bit>,
    out_tail: DFF<Bits<LG>>,
    out_valid: DFF<Bit>,
    out_info: DFF<FpduInfo>,
    info: Signal<Local, FpduInfo>,
    is_free: Signal<Local, Bit>,
    wire_octets: Signal<Local, Bits<18>>,
    used_lanes: Signal<Local, Bits<LG>>,
    amount: Signal<Local, Bits<9>>,
    beyond: Signal<Local, Bits<D>>,
    #[constant(Bits::<D>::mask())]
    ones: Constant<Bits<D>>,
    #[constant(0)]
    no_lanes: Constant<Bits<LG>>,
}

impl<const D: usize, const LG: usize> Logic for BeatOutput<D, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; out_data, out_first, out_last, out_tail, out_valid, out_info);
        self.wire_octets.next = bit_cast::<18, 15>(self.words.val()) << 2;
        self.info.next.kind = FpduKind::Normal;
        self.info.next.connection = self.job.val().connection;
        self.info.next.span = self.job.val().span;
        self.info.next.unproven = !self.job.val().proven & self.first.val();
        self.info.next.sequence = self.fpdu_sequence.val();
        self.info.next.ulpdu_length = self.ulpdu_length.val();
        self.info.next.wire_octets = self.wire_octets.val();
        self.info.next.phase = self.phase.val();
        self.info.next.markers = self.job.val().markers;
        self.info.next.crc = self.job.val().crc;
        self.info.next.head_page = self.job.val().head_page;
        self.info.next.tail_page = self.job.val().tail_page;
        if self.host.val() {
            self.info.next.kind = FpduKind::Host;
            self.info.next.wire_octets = self.job.val().octets;
        } else if self.place.val() {
            self.info.next.kind = FpduKind::Place;
        } else if self.check.val() {
            self.info.next.kind = FpduKind::Check;
        } else if self.job.val().ooo {
            self.info.next.kind = FpduKind::OutOfOrder;
        }

        self.is_free.next = !self.out_valid.q.val() | self.fpdu_ready.val();
        self.free.next = self.is_free.val();
        self.used_lanes.next = self.words.val().get_bits::<LG>(0);
        self.amount.next = bit_cast::<9, LG>(self.used_lanes.val()) << 5;
        self.beyond.next = 0.into();
        if self.ends.val() & self.used_lanes.val().any() {
            self.beyond.next = self.ones.val() << self.amount.val();
        }
        if self.is_free.val() {
            self.out_valid.d.next = self.send.val();
            self.out_data.d.next = self.data.val() & !self.beyond.val();
            self.out_first.d.next = self.opens.val();
            self.out_last.d.next = self.ends.val();
            self.out_tail.d.next = self.no_lanes.val() - self.used_lanes.val();
        }
        if self.send.val() & self.opens.val() {
            self.out_info.d.next = self.info.val();
        }
        if self.reset.val() {
            self.out_valid.d.next = false;
        }
        self.fpdu_data.next = self.out_data.q.val();
        self.fpdu_first.next = self.out_first.q.val();
        self.fpdu_last.next = self.out_last.q.val();
        self.fpdu_tail_words.next = self.out_tail.q.val();
        self.fpdu_valid.next = self.out_valid.q.val();
        self.fpdu_info.next = self.out_info.q.val();
    }
}
