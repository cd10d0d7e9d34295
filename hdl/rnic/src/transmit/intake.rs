//! Intake: the octets of frames into the store, past CRC32C and sum; and how each frame ended.
//!
//! ```text
//! job --> Idle --> Run --+ (last) --> frame_end
//!                   |    +----------> commit, finish_start  or  rollback
//! beat -------------+--> store
//!                   +--> [ lanes ] --> [ StreamSum ] --> sum
//!                             +------> [ MaskOctets ] --> [ Reduce ] --> [ state ] --> crc_state
//! ```
//!
//! | latency    | 3 cycles from a beat to `sum`, 5 to `crc_state`                              |
//! | throughput | a beat a cycle, and one idle cycle for each frame                            |
//! | units      | octets; beats of `D` bits                                                    |
//! | source     | RFC 5044 section 4.4 (CRC32C), RFC 1071                                      |
//!
//! The register of a CRC that is not complemented yet is linear in the octets before it: those
//! before the range count as zeros and leave a zero register zero, and the all-ones start is the
//! same as the range's first four octets complemented. Beats are taken up to that with the last
//! octet of the CRC's place; the finisher takes off the octets after the range. The sum leaves
//! that place out: the finisher adds what will stand there.
//!
//! `sum` stays for 2 cycles, `crc_state` too, until the next frame's first beat shows in them.
use super::lanes::{LaneMask, MaskOctets};
use super::types::*;
use crate::common::crc32c::network::{Reduce, StateStep};
use crate::receive::front_end::ones_sum::StreamSum;
use rnic_abi::transmit_ring as abi;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Intake of width `D`, `K = D / 8 = 2^O` lanes, `H = 14 - O`; the others: see [`StreamSum`].
#[derive(LogicBlock, Init)]
pub struct FrameIntake<
    const D: usize,
    const K: usize,
    const O: usize,
    const H: usize,
    const G: usize,
    const NW: usize,
    const KN: usize,
    const AW: usize,
    const AK: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Frames in the order in which their octets come, or do not.
    pub job: Signal<In, FrameJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    /// What is read for a ring that settles is dropped.
    pub control_settles: Signal<In, Bit>,
    pub bulk_settles: Signal<In, Bit>,
    pub beat_data: Signal<In, Bits<D>>,
    pub beat_last: Signal<In, Bit>,
    /// With `beat_last`: octets are missing.
    pub beat_error: Signal<In, Bit>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    pub store_data: Signal<Out, Bits<D>>,
    pub store_write: Signal<Out, Bit>,
    pub store_commit: Signal<Out, Bit>,
    pub store_rollback: Signal<Out, Bit>,
    /// With `store_rollback`: words that had been promised for the frame; else 0.
    pub refund: Signal<Out, Bits<12>>,
    /// With `frame_end_room`, one cycle.
    pub frame_end: Signal<Out, FrameEnd>,
    pub frame_end_valid: Signal<Out, Bit>,
    /// Once there is room, it stays until the next end of a frame takes it.
    pub frame_end_room: Signal<In, Bit>,
    /// One cycle, with a good frame's last beat; `finish_job` is its job, in the next cycle, too.
    pub finish_start: Signal<Out, Bit>,
    pub finish_job: Signal<Out, FrameJob>,
    /// The finisher can start; this stays until it does.
    pub finish_ready: Signal<In, Bit>,
    pub sum: Signal<Out, Bits<32>>,
    pub crc_state: Signal<Out, Bits<32>>,
    running: DFF<Bit>,
    current: DFF<FrameJob>,
    words: DFF<Bits<12>>,
    is_first: DFF<Bit>,
    // Room for the end of a frame, and for its patch, as of the cycle before, in which none ended.
    may_end: DFF<Bit>,
    sum_from: LaneMask<K, O, H>,
    frame_end_from: LaneMask<K, O, H>,
    crc_from: LaneMask<K, O, H>,
    plain_from: LaneMask<K, O, H>,
    place_from: LaneMask<K, O, H>,
    behind_from: LaneMask<K, O, H>,
    // Stage 1.
    data: DFF<Bits<D>>,
    sum_keep: DFF<Bits<K>>,
    crc_keep: DFF<Bits<K>>,
    crc_flip: DFF<Bits<K>>,
    crc_valid: DFF<Bit>,
    first: DFF<Bit>,
    stream_sum: StreamSum<D, K, G, NW, KN, AW, AK>,
    mask: MaskOctets<D, K>,
    // Stages 2 to 4.
    masked: DFF<Bits<D>>,
    valid_q2: DFF<Bit>,
    valid_q3: DFF<Bit>,
    valid_q4: DFF<Bit>,
    first_q2: DFF<Bit>,
    first_q3: DFF<Bit>,
    first_q4: DFF<Bit>,
    reduce: Reduce<D>,
    state_step: StateStep<D>,
    state: DFF<Bits<32>>,
    ready: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    settles: Signal<Local, Bit>,
    rounded: Signal<Local, Bits<15>>,
    in_place: Signal<Local, Bits<K>>,
    #[constant(4)]
    crc_octets: Constant<Bits<14>>,
    #[constant(K as LiteralType - 1)]
    round_up: Constant<Bits<15>>,
    #[constant(O as LiteralType)]
    word_log2: Constant<Bits<4>>,
    #[constant(abi::STATUS_REFUSED as LiteralType)]
    refused: Constant<Bits<2>>,
    #[constant(abi::STATUS_READ_FAILED as LiteralType)]
    failed: Constant<Bits<2>>,
}

impl<
        const D: usize,
        const K: usize,
        const O: usize,
        const H: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > Logic for FrameIntake<D, K, O, H, G, NW, KN, AW, AK>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; running, current, words, is_first, may_end, data, sum_keep, crc_keep);
        registers!(clock; crc_flip, crc_valid, first, masked, valid_q2, valid_q3, valid_q4);
        registers!(clock; first_q2, first_q3, first_q4, state);
        wire!(self => self.{sum_from, frame_end_from, crc_from, plain_from}; clock);
        wire!(self => self.{place_from, behind_from, stream_sum, reduce}; clock);

        // A frame that is refused has no beats. One that is read ends when there is room for its
        // end.
        self.settles.next = self.control_settles.val();
        if self.current.q.val().ring {
            self.settles.next = self.bulk_settles.val();
        }
        self.ready.next = self.running.q.val() & (!self.beat_last.val() | self.may_end.q.val());
        self.beat_ready.next = self.ready.val();
        self.takes.next = self.beat_valid.val() & self.ready.val();
        self.loads.next = !self.running.q.val() & self.job_valid.val() & self.frame_end_room.val();
        self.job_ready.next = self.loads.val();
        self.frame_end.next.ring = self.current.q.val().ring;
        self.frame_end.next.units = self.current.q.val().units;
        self.frame_end.next.status = 0.into();
        self.frame_end_valid.next = false;
        self.store_commit.next = false;
        self.store_rollback.next = false;
        self.refund.next = 0.into();
        self.finish_start.next = false;
        self.rounded.next = (bit_cast::<15, 14>(self.job.val().octets) + self.round_up.val())
            >> self.word_log2.val();
        if self.loads.val() {
            self.current.d.next = self.job.val();
            self.words.d.next = self.rounded.val().get_bits::<12>(0);
            self.is_first.d.next = true;
            self.running.d.next = !self.job.val().refused;
            if self.job.val().refused {
                self.frame_end.next.ring = self.job.val().ring;
                self.frame_end.next.units = self.job.val().units;
                self.frame_end.next.status = self.refused.val();
                self.frame_end_valid.next = true;
            }
        }
        if self.takes.val() {
            self.is_first.d.next = false;
            if self.beat_last.val() {
                self.running.d.next = false;
                self.frame_end_valid.next = true;
                if self.beat_error.val() | self.settles.val() {
                    self.frame_end.next.status = self.failed.val();
                    self.store_rollback.next = true;
                    self.refund.next = self.words.q.val();
                } else {
                    self.store_commit.next = true;
                    self.finish_start.next = true;
                }
            }
        }
        self.may_end.d.next =
            self.frame_end_room.val() & self.finish_ready.val() & !self.frame_end_valid.val();
        self.store_data.next = self.beat_data.val();
        self.store_write.next = self.takes.val();
        self.finish_job.next = self.current.q.val();

        // Which octets count.
        wire!(self => self.{sum_from, frame_end_from, crc_from, plain_from}; loads as load);
        wire!(self => self.{place_from, behind_from}; loads as load);
        wire!(self => self.{sum_from, frame_end_from, crc_from, plain_from}; takes as step);
        wire!(self => self.{place_from, behind_from}; takes as step);
        self.sum_from.place.next = self.job.val().sum_start;
        self.frame_end_from.place.next = self.job.val().octets;
        self.crc_from.place.next = self.job.val().crc_first;
        self.plain_from.place.next = self.job.val().crc_first + self.crc_octets.val();
        self.place_from.place.next = self.job.val().crc_place;
        self.behind_from.place.next = self.job.val().crc_place + self.crc_octets.val();
        self.in_place.next = 0.into();
        self.crc_valid.d.next = false;
        if self.current.q.val().has_crc {
            self.in_place.next = self.place_from.mask.val() & !self.behind_from.mask.val();
            self.crc_valid.d.next = self.takes.val() & !self.behind_from.mask.val().get_bit(0);
        }
        self.sum_keep.d.next = 0.into();
        if self.takes.val() {
            self.sum_keep.d.next =
                (self.sum_from.mask.val() & !self.frame_end_from.mask.val()) & !self.in_place.val();
        }
        self.crc_keep.d.next = self.crc_from.mask.val() & !self.place_from.mask.val();
        self.crc_flip.d.next = self.crc_from.mask.val() & !self.plain_from.mask.val();
        self.data.d.next = self.beat_data.val();
        self.first.d.next = self.takes.val() & self.is_first.q.val();

        // Sum.
        self.stream_sum.data.next = self.data.q.val();
        self.stream_sum.keep.next = self.sum_keep.q.val();
        self.stream_sum.first.next = self.first.q.val();
        self.sum.next = self.stream_sum.total.val();

        // CRC32C, from zero.
        self.mask.data.next = self.data.q.val();
        self.mask.keep.next = self.crc_keep.q.val();
        self.mask.flip.next = self.crc_flip.q.val();
        self.masked.d.next = self.mask.masked.val();
        self.reduce.data.next = self.masked.q.val();
        self.reduce.first.next = false;
        self.valid_q2.d.next = self.crc_valid.q.val();
        self.valid_q3.d.next = self.valid_q2.q.val();
        self.valid_q4.d.next = self.valid_q3.q.val();
        self.first_q2.d.next = self.first.q.val();
        self.first_q3.d.next = self.first_q2.q.val();
        self.first_q4.d.next = self.first_q3.q.val();
        self.state_step.state.next = self.state.q.val();
        if self.valid_q4.q.val() {
            self.state.d.next = self.state_step.stepped.val() ^ self.reduce.reduced.val();
            if self.first_q4.q.val() {
                self.state.d.next = self.reduce.reduced.val();
            }
        }
        self.crc_state.next = self.state.q.val();
        if self.reset.val() {
            self.running.d.next = false;
            self.may_end.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
