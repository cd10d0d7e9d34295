//! MPA's FPDU half: the octets of a job become FPDUs that are whole, checked and free of markers.
//!
//! ```text
//! joined, --> [ Splitter ] -- beats --> [ MarkerRemover ] --> [ WordPacker ] --> [ BlockFifo ]
//! started       |   ^    \                  | marker             | header         placement
//! cancel,    <----+   |     \            [ MarkerCheck ]           |
//! job_done      [ FpduGate ]               |                    |
//!                          \--> [ Crc32cStream ] --> [ RecordMaker ] --> record, verdict
//! ```
//!
//! | enters | leaves |
//! |---|---|
//! | octets of a job from packet memory | one `FpduRecord` per whole FPDU and host frame |
//! | | one `FpduVerdict` per FPDU that is checked: not `FpduKind::Place`, not a host frame |
//! | | its words in `record.beats` beats of the placement stream (not for `FpduKind::Check`) |
//!
//! The words of an FPDU run from ULPDU_Length to the CRC, those of a host frame from its first
//! octet, both from lane 0 of a new beat on.
//!
//! | latency    | first joined beat to first FPDU beat 5 cycles (host frame: 3, its length is   |
//! |            | known); the FPDU beat with the fifth word to record 3; the last FPDU beat to  |
//! |            | verdict 5; an FPDU beat to the same words in the placement stream 8           |
//! | throughput | one beat per cycle; 3 or 4 idle cycles between FPDUs                          |
//! | units      | a beat is D bits, L = 2^LG words of 4 octets                                  |
//! | buffer     | 2^A beats, more than an FPDU of `SINGLE_PASS_ULPDU_OCTETS`                    |
//! | ECP5-5G -8 | 210 MHz at 128 bits, out of context: 3203 LUT4, 3139 registers, 8 block RAMs  |
//! |            | (with a register slice for records here, since removed; not measured again)   |
//!
//! The fifth word, without markers, leaves in the second placed beat of 128 bits, which is complete
//! with the second FPDU beat, or with the third if a marker comes before its end; of 512 bits it
//! leaves in the first. A record of fewer words follows 3 cycles after the last beat; 4 if that
//! beat flushes.
//!
//! Errors found here travel in the verdict and in the record (`ulpdu_length`). DDP acts on them and
//! counts them (`refuse_mpa_crc`, `refuse_mpa_marker`, `refuse_mpa_zero_length`), so that a
//! connection's errors are decided in one place. Nothing is dropped here.
//!
//! Sources: RFC 5044, and the older draft where MPA-011 names it.
pub mod splitter;
pub mod split_control;
pub mod window;
pub mod length;
pub mod marker_remover;
pub mod checks;

use crate::common::block_fifo::BlockFifo;
use crate::common::crc32c::Crc32cStream;
use crate::messages::{FpduInfo, FpduKind, FpduRecord, FpduVerdict, JobDone, ReadJob};
use checks::{MarkerCheck, RecordMaker};
use marker_remover::{MarkerRemover, WordPacker};
use rnic_abi::limits::SINGLE_PASS_ULPDU_OCTETS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;
use splitter::Splitter;

/// Beats that may still arrive after the placement buffer reports `crowded`.
const ON_THE_WAY_BEATS: usize = 12;

/// The room for beats of 128 bits.
pub type FpduRoom128 = FpduRoom<128, 256, 2, 10, 11>;
/// The room for beats of 512 bits.
pub type FpduRoom512 = FpduRoom<512, 1024, 4, 8, 9>;

/// Splitter, marker removal, checks and placement buffer for beats of `D` bits; `P = 2 D`,
/// `D = 32 * 2^LG`, placement buffer of `2^A` beats, `F = A + 1`.
#[derive(LogicBlock, Init)]
#[init(
    // ULPDU_Length, ULPDU, PAD and CRC, and the beats in flight.
    let beats = (SINGLE_PASS_ULPDU_OCTETS + 9).div_ceil(D / 8) + ON_THE_WAY_BEATS;
    assert!(
        beats <= 1 << A,
        "FpduRoom: a placement buffer of 2^{A} beats of {D} bits must hold {beats}"
    );
)]
pub struct FpduRoom<const D: usize, const P: usize, const LG: usize, const A: usize, const F: usize>
{
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards every job, beat and record.
    pub reset: Signal<In, Bit>,
    /// Beat of the joined stream.
    pub joined_data: Signal<In, Bits<D>>,
    /// Last beat of a job.
    pub joined_last: Signal<In, Bit>,
    pub joined_valid: Signal<In, Bit>,
    pub joined_ready: Signal<Out, Bit>,
    /// A job whose octets come in the joined stream, in this order.
    pub started: Signal<In, ReadJob>,
    /// The reader's number of that job.
    pub started_tag: Signal<In, Bits<3>>,
    pub started_valid: Signal<In, Bit>,
    pub started_ready: Signal<Out, Bit>,
    /// For one cycle: job `cancel_tag` needs no more beats.
    pub cancel: Signal<Out, Bit>,
    /// The reader's number of that job.
    pub cancel_tag: Signal<Out, Bits<3>>,
    pub job_done: Signal<Out, JobDone>,
    pub job_done_valid: Signal<Out, Bit>,
    pub job_done_ready: Signal<In, Bit>,
    /// Beat of the placement buffer: FPDUs from ULPDU_Length on, without markers, each from a new
    /// beat on; and host frames.
    pub placement_data: Signal<Out, Bits<D>>,
    pub placement_valid: Signal<Out, Bit>,
    pub placement_ready: Signal<In, Bit>,
    /// An FPDU is passing.
    pub record: Signal<Out, FpduRecord>,
    pub record_valid: Signal<Out, Bit>,
    /// Two records more can be taken.
    pub record_room: Signal<In, Bit>,
    /// An FPDU has passed.
    pub verdict: Signal<Out, FpduVerdict>,
    pub verdict_valid: Signal<Out, Bit>,
    /// For one cycle: an FPDU begins, its record will follow.
    pub begun: Signal<Out, Bit>,
    splitter: Splitter<D, P, LG>,
    gate: FpduGate,
    remover: MarkerRemover<D, LG>,
    packer: WordPacker<D, P, LG>,
    crc32c: Crc32cStream<D>,
    markers: MarkerCheck,
    maker: RecordMaker<LG>,
    #[init(BlockFifo::new(ON_THE_WAY_BEATS))]
    buffer: BlockFifo<Bits<D>, A, F>,
    taken: Signal<Local, Bit>,
    info: Signal<Local, FpduInfo>,
}

impl<const D: usize, const P: usize, const LG: usize, const A: usize, const F: usize> Logic
    for FpduRoom<D, P, LG, A, F>
{
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.splitter; clock, reset);
        wire!(self => self.gate; clock, reset);
        wire!(self => self.remover; clock, reset);
        wire!(self => self.packer; clock, reset);
        wire!(self => self.crc32c; clock, reset);
        self.markers.clock.next = self.clock.val();
        wire!(self => self.maker; clock, reset);
        wire!(self => self.buffer; clock, reset);

        wire!(self => self.splitter; joined_data, joined_last, joined_valid);
        self.joined_ready.next = self.splitter.joined_ready.val();
        wire!(self => self.splitter; started, started_tag, started_valid);
        wire!(self.splitter => self; started_ready, begun, cancel, cancel_tag);
        stream!(self.splitter => self; job_done);

        wire!(self.splitter => self.gate; fpdu_valid as valid, fpdu_last as last);
        self.gate.crowded.next = self.buffer.almost_full.val();
        self.gate.record_room.next = self.record_room.val();
        self.splitter.fpdu_ready.next = self.gate.open.val();
        self.taken.next = self.splitter.fpdu_valid.val() & self.gate.open.val();
        self.info.next = self.splitter.fpdu_info.val();

        self.crc32c.valid.next = self.taken.val();
        wire!(self.splitter => self.crc32c;
            fpdu_data as data, fpdu_first as first, fpdu_last as last);
        self.crc32c.tail_zero_words.next = bit_cast::<4, LG>(self.splitter.fpdu_tail_words.val());

        self.remover.beat_valid.next = self.taken.val();
        wire!(self.splitter => self.remover;
            fpdu_data as beat_data, fpdu_first as beat_first, fpdu_last as beat_last,
            fpdu_tail_words as beat_tail_words);
        self.remover.phase.next = self.info.val().phase;
        self.remover.markers.next = self.info.val().markers;
        self.remover.check.next = self.info.val().kind == FpduKind::Check;
        self.markers.opens.next = self.remover.closed_valid.val() & self.remover.closed_first.val();
        wire!(self.remover => self.markers; marker_distance as distance, marker_valid, marker);

        wire!(self.remover => self.packer;
            closed_valid, closed_data, closed_words, marker_valid as short, closed_first,
            closed_last, closed_check);
        wire!(self.packer => self.buffer; placed_valid as write, placed_data as data_in);
        self.buffer.read.next = self.placement_ready.val();
        self.placement_data.next = self.buffer.data_out.val();
        self.placement_valid.next = !self.buffer.empty.val();

        self.maker.begins.next = self.taken.val() & self.splitter.fpdu_first.val();
        self.maker.info.next = self.info.val();
        wire!(self.packer => self.maker; header, header_valid);
        wire!(self.crc32c => self.maker; verdict_valid as crc_valid, verdict_good as crc_good);
        wire!(self.markers => self.maker; bad as marker_bad, found as marker_found);
        wire!(self.maker => self; record, record_valid, verdict, verdict_valid);
    }
}

/// Gates the splitter's beats on buffer and record space.
///
/// | latency    | 1 cycle, every input to `open`, which is a register              |
/// | throughput | one beat per cycle in an FPDU; 3 idle cycles after its last beat |
///
/// The pause keeps an FPDU's flushed beat, its verdict and its record apart from the next one's. It
/// also makes `record_room` safe: when an FPDU begins, at most the record of the one before it is
/// not counted yet, so room for two records suffices. Inside an FPDU only the placement buffer can
/// close the gate.
#[derive(LogicBlock, Default)]
pub struct FpduGate {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat is offered.
    pub valid: Signal<In, Bit>,
    /// It is the last one of its FPDU.
    pub last: Signal<In, Bit>,
    /// The placement buffer is nearly full: room only for the beats in flight.
    pub crowded: Signal<In, Bit>,
    /// Two records more can be taken.
    pub record_room: Signal<In, Bit>,
    /// Beats are taken in this cycle.
    pub open: Signal<Out, Bit>,
    gate: DFF<Bit>,
    in_fpdu: DFF<Bit>,
    closed_1: DFF<Bit>,
    closed_2: DFF<Bit>,
    taken: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
}

impl Logic for FpduGate {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; gate, in_fpdu, closed_1, closed_2);
        self.taken.next = self.valid.val() & self.gate.q.val();
        self.closes.next = self.taken.val() & self.last.val();
        if self.taken.val() {
            self.in_fpdu.d.next = !self.last.val();
        }
        self.closed_1.d.next = self.closes.val();
        self.closed_2.d.next = self.closed_1.q.val();
        self.gate.d.next = !self.closes.val()
            & !self.closed_1.q.val()
            & !self.closed_2.q.val()
            & !self.crowded.val()
            & (self.taken.val() | self.in_fpdu.q.val() | self.record_room.val());
        if self.reset.val() {
            self.gate.d.next = false;
            self.in_fpdu.d.next = false;
            self.closed_1.d.next = false;
            self.closed_2.d.next = false;
        }
        self.open.next = self.gate.q.val();
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
