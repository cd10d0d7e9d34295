//! The splitter's output register: beats cut off at the FPDU's end, and what is known of the FPDU.
//!
//! | latency    | 1 cycle                                                                     |
//! | throughput | one beat per cycle                                                          |
//! | units      | a beat is D bits, 2^LG words of 4 octets; `wire_octets` in octets           |
use super::job_queue::StartedJob;
use crate::messages::{FpduInfo, FPDU_CHECK, FPDU_EARLY, FPDU_HOST, FPDU_NORMAL, FPDU_PLACE};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Output register for beats of `D = 32 * 2^LG` bits.
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
    #[constant(FPDU_NORMAL)]
    fpdu_normal: Constant<Bits<3>>,
    #[constant(FPDU_CHECK)]
    fpdu_check: Constant<Bits<3>>,
    #[constant(FPDU_PLACE)]
    fpdu_place: Constant<Bits<3>>,
    #[constant(FPDU_HOST)]
    fpdu_host: Constant<Bits<3>>,
    #[constant(FPDU_EARLY)]
    fpdu_early: Constant<Bits<3>>,
}

impl<const D: usize, const LG: usize> Logic for BeatOutput<D, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; out_data, out_first, out_last, out_tail, out_valid, out_info);
        self.wire_octets.next = bit_cast::<18, 15>(self.words.val()) << 2;
        self.info.next.kind = self.fpdu_normal.val();
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
            self.info.next.kind = self.fpdu_host.val();
            self.info.next.wire_octets = self.job.val().octets;
        } else if self.place.val() {
            self.info.next.kind = self.fpdu_place.val();
        } else if self.check.val() {
            self.info.next.kind = self.fpdu_check.val();
        } else if self.job.val().early {
            self.info.next.kind = self.fpdu_early.val();
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
