//! Record maker: what DDP must know of an FPDU, once it has passed and the verdicts are there.
//!
//! ```text
//! first beat --> [ info ] --> [ sequence_end, beats ] --\
//! trigger beat --> 1 --> 2 --> 3 --> 4 --> 5 ------------+--> [ register slice ] --> record
//! CRC verdict (4 cycles), header (5), markers (4) ------/
//! ```
//!
//! | latency    | 6 cycles, trigger beat to `record_valid`                                      |
//! | throughput | one FPDU in 4 cycles: 3 cycles between a last beat and the next first one     |
//! | units      | octets; `beats` of 2^LG words of 4 octets                                     |
//!
//! The trigger beat is the last one; for `FPDU_HOST` the first and for `FPDU_PLACE` the fourth, so
//! that the placement buffer, which holds less than these, can be emptied while they pass.
use crate::common::skid::Skid;
use crate::messages::{FpduInfo, FpduRecord, FPDU_CHECK, FPDU_HOST, FPDU_PLACE};
use rust_hdl::prelude::*;

/// Makes FPDU records; `2^LG` words a beat.
#[derive(LogicBlock)]
pub struct RecordMaker<const LG: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; drops the records inside.
    pub reset: Signal<In, Bit>,
    /// A beat is taken.
    pub taken: Signal<In, Bit>,
    /// It is the first one of its FPDU.
    pub first: Signal<In, Bit>,
    /// It is the last one of its FPDU.
    pub last: Signal<In, Bit>,
    /// The FPDU; holds from the first beat to the last.
    pub info: Signal<In, FpduInfo>,
    /// First five words of the FPDU, 5 cycles after the trigger beat.
    pub header: Signal<In, Bits<160>>,
    /// CRC32C verdict, 4 cycles after the last beat.
    pub crc_valid: Signal<In, Bit>,
    /// With `crc_valid`: CRC32C is right.
    pub crc_good: Signal<In, Bit>,
    /// A marker is wrong, 5 cycles after the last beat.
    pub marker_bad: Signal<In, Bit>,
    /// The record.
    pub record: Signal<Out, FpduRecord>,
    /// `record` is offered.
    pub record_valid: Signal<Out, Bit>,
    /// It is taken at this clock edge.
    pub record_ready: Signal<In, Bit>,
    slice: Skid<FpduRecord>,
    kept: DFF<FpduInfo>,
    // The record but for header and verdicts, and whether these count.
    half: DFF<FpduRecord>,
    judged_crc: DFF<Bit>,
    judged_markers: DFF<Bit>,
    // Beats of this FPDU before this one, 4 for more.
    index: DFF<Bits<3>>,
    index_now: Signal<Local, Bits<3>>,
    trigger: Signal<Local, Bit>,
    trigger_1: DFF<Bit>,
    trigger_2: DFF<Bit>,
    trigger_3: DFF<Bit>,
    trigger_4: DFF<Bit>,
    trigger_5: DFF<Bit>,
    crc_kept: DFF<Bit>,
    whole: Signal<Local, FpduRecord>,
    wire_octets: Signal<Local, Bits<18>>,
    length: Signal<Local, Bits<16>>,
    round: Signal<Local, Bits<20>>,
    rounded: Signal<Local, Bits<20>>,
    host: Constant<Bits<2>>,
    place: Constant<Bits<2>>,
    check: Constant<Bits<2>>,
    one: Constant<Bits<3>>,
    fourth: Constant<Bits<3>>,
    host_round: Constant<Bits<20>>,
    fpdu_round: Constant<Bits<20>>,
}

impl<const LG: usize> Default for RecordMaker<LG> {
    fn default() -> Self {
        assert!(
            (2..=4).contains(&LG),
            "RecordMaker: LG = {LG}; a beat of 2^LG words must have 4 to 16 of them"
        );
        let lanes = 1u64 << LG;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            taken: Default::default(),
            first: Default::default(),
            last: Default::default(),
            info: Default::default(),
            header: Default::default(),
            crc_valid: Default::default(),
            crc_good: Default::default(),
            marker_bad: Default::default(),
            record: Default::default(),
            record_valid: Default::default(),
            record_ready: Default::default(),
            slice: Default::default(),
            kept: Default::default(),
            half: Default::default(),
            judged_crc: Default::default(),
            judged_markers: Default::default(),
            index: Default::default(),
            index_now: Default::default(),
            trigger: Default::default(),
            trigger_1: Default::default(),
            trigger_2: Default::default(),
            trigger_3: Default::default(),
            trigger_4: Default::default(),
            trigger_5: Default::default(),
            crc_kept: Default::default(),
            whole: Default::default(),
            wire_octets: Default::default(),
            length: Default::default(),
            round: Default::default(),
            rounded: Default::default(),
            host: Constant::new(FPDU_HOST.into()),
            place: Constant::new(FPDU_PLACE.into()),
            check: Constant::new(FPDU_CHECK.into()),
            one: Constant::new(1u64.into()),
            fourth: Constant::new(3u64.into()),
            // ceil(octets / beat), and the same of the FPDU's floor((octets + 9) / 4) words.
            host_round: Constant::new((4 * lanes - 1).into()),
            fpdu_round: Constant::new((4 * lanes + 5).into()),
        }
    }
}

impl<const LG: usize> Logic for RecordMaker<LG> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            kept,
            half,
            judged_crc,
            judged_markers,
            index,
            crc_kept
        );
        dff_setup!(self, clock, trigger_1, trigger_2, trigger_3, trigger_4, trigger_5);
        // Which beat is the trigger?
        self.index_now.next = self.index.q.val();
        if self.first.val() {
            self.index_now.next = 0.into();
        }
        if self.taken.val() {
            self.index.d.next = self.index_now.val();
            if !self.index_now.val().get_bit(2) {
                self.index.d.next = self.index_now.val() + self.one.val();
            }
        }
        self.trigger.next = self.taken.val() & self.last.val();
        if self.info.val().kind == self.host.val() {
            self.trigger.next = self.taken.val() & self.first.val();
        } else if self.info.val().kind == self.place.val() {
            self.trigger.next = self.taken.val()
                & ((self.index_now.val() == self.fourth.val())
                    | (self.last.val() & (self.index_now.val() < self.fourth.val())));
        }
        self.trigger_1.d.next = self.trigger.val();
        self.trigger_2.d.next = self.trigger_1.q.val();
        self.trigger_3.d.next = self.trigger_2.q.val();
        self.trigger_4.d.next = self.trigger_3.q.val();
        self.trigger_5.d.next = self.trigger_4.q.val();

        // What needs no verdict: two steps after the first beat, kept for 5 after the last one.
        if self.taken.val() & self.first.val() {
            self.kept.d.next = self.info.val();
        }
        self.wire_octets.next = self.kept.q.val().wire_octets;
        self.length.next = self.kept.q.val().ulpdu_length;
        self.round.next = self.fpdu_round.val();
        if self.kept.q.val().kind == self.host.val() {
            self.round.next = self.host_round.val();
        }
        self.rounded.next = bit_cast::<20, 16>(self.length.val()) + self.round.val();
        self.half.d.next.kind = self.kept.q.val().kind;
        self.half.d.next.connection = self.kept.q.val().connection;
        self.half.d.next.sequence = self.kept.q.val().sequence;
        self.half.d.next.sequence_end =
            self.kept.q.val().sequence + bit_cast::<32, 18>(self.wire_octets.val());
        self.half.d.next.ulpdu_length = self.kept.q.val().ulpdu_length;
        for shift in (LG + 2)..(LG + 3) {
            self.half.d.next.beats = self.rounded.val().get_bits::<13>(shift);
        }
        if self.kept.q.val().kind == self.check.val() {
            self.half.d.next.beats = 0.into();
        }
        self.half.d.next.head_page = self.kept.q.val().head_page;
        self.half.d.next.tail_page = self.kept.q.val().tail_page;
        self.judged_crc.d.next = self.kept.q.val().crc
            & (self.kept.q.val().kind != self.place.val())
            & (self.kept.q.val().kind != self.host.val());
        self.judged_markers.d.next = self.kept.q.val().markers
            & (self.kept.q.val().kind != self.place.val())
            & (self.kept.q.val().kind != self.host.val());

        // The rest.
        if self.crc_valid.val() {
            self.crc_kept.d.next = self.crc_good.val();
        }
        self.whole.next = self.half.q.val();
        self.whole.next.header = self.header.val();
        self.whole.next.crc_good = self.crc_kept.q.val() | !self.judged_crc.q.val();
        self.whole.next.marker_good = !self.marker_bad.val() | !self.judged_markers.q.val();
        self.slice.clock.next = self.clock.val();
        self.slice.reset.next = self.reset.val();
        self.slice.s_data.next = self.whole.val();
        self.slice.s_valid.next = self.trigger_5.q.val();
        self.record.next = self.slice.m_data.val();
        self.record_valid.next = self.slice.m_valid.val();
        self.slice.m_ready.next = self.record_ready.val();
        if self.reset.val() {
            self.trigger_1.d.next = false;
            self.trigger_2.d.next = false;
            self.trigger_3.d.next = false;
            self.trigger_4.d.next = false;
            self.trigger_5.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::FPDU_NORMAL;
    use crate::testkit::{settle, tick};

    /// Sends `beats` beats of an FPDU of `kind` and gives the cycle, counted from the first beat,
    /// in which its record is first offered, and the record.
    fn record_of(kind: u64, beats: usize, good: bool) -> (usize, FpduRecord) {
        let mut uut = RecordMaker::<2>::default();
        uut.connect_all();
        uut.info.next = FpduInfo {
            kind: kind.into(),
            connection: 7u64.into(),
            sequence: 0xffff_fff0u64.into(),
            ulpdu_length: 9300u64.into(),
            wire_octets: 9380u64.into(),
            markers: true,
            crc: true,
            ..Default::default()
        };
        uut.marker_bad.next = !good;
        settle(&mut uut);
        for cycle in 0..beats + 20 {
            uut.taken.next = cycle < beats;
            uut.first.next = cycle == 0;
            uut.last.next = cycle + 1 == beats;
            uut.crc_valid.next = cycle == beats + 3;
            uut.crc_good.next = good;
            settle(&mut uut);
            if uut.record_valid.val() {
                return (cycle, uut.record.val());
            }
            tick(&mut uut, |uut| &mut uut.clock);
        }
        panic!("no record of kind {kind}, {beats} beats");
    }

    #[test]
    fn the_record_comes_six_cycles_after_the_beat_that_its_kind_waits_for() {
        for beats in [1, 2, 3, 4, 5, 30] {
            assert_eq!(record_of(FPDU_NORMAL, beats, true).0, beats - 1 + 6);
            assert_eq!(record_of(FPDU_CHECK, beats, true).0, beats - 1 + 6);
            assert_eq!(record_of(FPDU_HOST, beats, true).0, 6);
            assert_eq!(record_of(FPDU_PLACE, beats, true).0, beats.min(4) - 1 + 6);
        }
    }

    #[test]
    fn verdicts_count_for_what_is_checked_and_beats_for_what_is_placed() {
        for (kind, judged, beats) in [
            (FPDU_NORMAL, true, (9300 + 9) / 4),
            (FPDU_CHECK, true, 0),
            (FPDU_PLACE, false, (9300 + 9) / 4),
            (FPDU_HOST, false, 9300usize.div_ceil(4)),
        ] {
            for good in [false, true] {
                let (_, record) = record_of(kind, 6, good);
                assert_eq!(record.crc_good, good || !judged, "kind {kind}");
                assert_eq!(record.marker_good, good || !judged, "kind {kind}");
                assert_eq!(record.beats.to_u64() as usize, usize::div_ceil(beats, 4));
                let end = 0xffff_fff0u32.wrapping_add(9380);
                assert_eq!(record.sequence_end.to_u64() as u32, end);
            }
        }
    }
}
