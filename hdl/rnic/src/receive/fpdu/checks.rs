//! Marker check, and the records and verdicts of FPDUs.
//!
//! The marker check verifies that each marker of an FPDU points back to the FPDU's start.
//!
//! ```text
//! marker --> [ parts of the compare ] --> [ bad, until the next FPDU ]
//! ```
//!
//! FPDUPTR is octets 2 and 3 of the marker, most significant first, its two low bits taken as zero
//! (MPA-008, MPA-012); octets 0 and 1 are ignored. A leading marker must be 0 (MPA-010). A
//! marker i words after ULPDU_Length must be 4 i modulo 2^16; in an FPDU that opens with a marker
//! the distance from that marker is accepted too (MPA-011).
//!
//! | latency    | 2 cycles, `marker_valid` to `bad` and `found`                                |
//! | throughput | one marker per cycle                                                         |
//! | units      | distances in words of 4 octets                                               |
use crate::messages::{FpduInfo, FpduKind, FpduRecord, FpduVerdict};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Compares the markers of an FPDU with their positions.
#[derive(LogicBlock, Init)]
pub struct MarkerCheck {
    pub clock: Signal<In, Clock>,
    /// A first beat of an FPDU: its markers are counted from here on.
    pub opens: Signal<In, Bit>,
    /// With `opens`: words before its first marker; 0: it opens with one.
    pub distance: Signal<In, Bits<7>>,
    /// A marker of this FPDU; the first one may come with `opens`.
    pub marker_valid: Signal<In, Bit>,
    /// The marker, octet 0 in bits 7:0.
    pub marker: Signal<In, Bits<32>>,
    /// A marker of the FPDU is wrong.
    pub bad: Signal<Out, Bit>,
    /// The FPDU has a marker.
    pub found: Signal<Out, Bit>,
    // Groups of 128 words between the first marker and the next one, and one group less.
    groups: DFF<Bits<7>>,
    groups_before: DFF<Bits<7>>,
    distance_kept: DFF<Bits<7>>,
    distance_now: Signal<Local, Bits<7>>,
    groups_now: Signal<Local, Bits<7>>,
    groups_before_now: Signal<Local, Bits<7>>,
    upper_octet: Signal<Local, Bits<8>>,
    lower_part: Signal<Local, Bits<6>>,
    pointer: Signal<Local, Bits<14>>,
    pointer_groups: Signal<Local, Bits<7>>,
    pointer_words: Signal<Local, Bits<7>>,
    // The FPDU opened with a marker, and this one is a later one.
    behind_lead: DFF<Bit>,
    opened: DFF<Bit>,
    seen: DFF<Bit>,
    groups_agree: DFF<Bit>,
    words_agree: DFF<Bit>,
    lead_groups_agree: DFF<Bit>,
    lead_words_agree: DFF<Bit>,
    is_behind_lead: DFF<Bit>,
    wrong: DFF<Bit>,
    any: DFF<Bit>,
    #[constant(1)]
    one: Constant<Bits<7>>,
    #[constant(127)]
    last_word: Constant<Bits<7>>,
}

impl Logic for MarkerCheck {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; groups, groups_before, distance_kept, behind_lead, opened, seen);
        registers!(clock; groups_agree, words_agree, lead_groups_agree, lead_words_agree);
        registers!(clock; is_behind_lead, wrong, any);
        self.distance_now.next = self.distance_kept.q.val();
        self.groups_now.next = self.groups.q.val();
        self.groups_before_now.next = self.groups_before.q.val();
        if self.opens.val() {
            self.distance_now.next = self.distance.val();
            self.groups_now.next = 0.into();
            // No marker of the FPDU precedes its first one: this value is not accepted below.
            self.groups_before_now.next = self.last_word.val();
        }
        self.distance_kept.d.next = self.distance_now.val();
        self.groups.d.next = self.groups_now.val();
        self.groups_before.d.next = self.groups_before_now.val();
        self.upper_octet.next = self.marker.val().get_bits::<8>(16);
        self.lower_part.next = self.marker.val().get_bits::<6>(26);
        self.pointer.next = (bit_cast::<14, 8>(self.upper_octet.val()) << 6)
            | bit_cast::<14, 6>(self.lower_part.val());
        self.pointer_groups.next = self.pointer.val().get_bits::<7>(7);
        self.pointer_words.next = self.pointer.val().get_bits::<7>(0);

        // Step 1: compare the parts.
        self.opened.d.next = self.opens.val();
        self.seen.d.next = self.marker_valid.val();
        self.groups_agree.d.next = self.pointer_groups.val() == self.groups_now.val();
        self.words_agree.d.next = self.pointer_words.val() == self.distance_now.val();
        self.lead_groups_agree.d.next = self.pointer_groups.val() == self.groups_before_now.val();
        self.lead_words_agree.d.next = self.pointer_words.val() == self.last_word.val();
        self.is_behind_lead.d.next = self.behind_lead.q.val() & !self.opens.val();
        if self.opens.val() {
            self.behind_lead.d.next = self.marker_valid.val() & !self.distance.val().any();
        }
        if self.marker_valid.val() {
            self.groups.d.next = self.groups_now.val() + self.one.val();
            self.groups_before.d.next = self.groups_now.val();
        }

        // Step 2: one wrong marker makes the FPDU bad.
        if self.opened.q.val() {
            self.wrong.d.next = false;
            self.any.d.next = false;
        }
        if self.seen.q.val() {
            self.any.d.next = true;
        }
        if self.seen.q.val()
            & !(self.groups_agree.q.val() & self.words_agree.q.val())
            & !(self.is_behind_lead.q.val()
                & self.lead_groups_agree.q.val()
                & self.lead_words_agree.q.val())
        {
            self.wrong.d.next = true;
        }
        self.bad.next = self.wrong.q.val();
        self.found.next = self.any.q.val();
    }
}

/// Makes the two messages to DDP per FPDU: its record and its verdict; `2^LG` words a beat.
///
/// ```text
/// first beat --> [ info ] --> [ sequence_end, beats ] --+--> record
/// header (3 cycles after the beat with the fifth word) -/
/// CRC verdict, markers (4 cycles after the last beat) --> [ verdict ] --> verdict
/// ```
///
/// | latency    | `record` with `header_valid`; `verdict` 5 cycles after the last beat          |
/// | throughput | one FPDU in 4 cycles: 3 cycles between a last beat and the next first one     |
/// | units      | octets; `beats` of 2^LG words of 4 octets                                     |
///
/// A record does not wait for its FPDU's end: DDP looks its tables up while the FPDU passes, and
/// the placement buffer, which holds less than a long FPDU, can be emptied meanwhile.
/// An `FpduKind::Place` was checked in its first pass, and a host frame is not checked: only the
/// other three kinds get a verdict.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (2..=4).contains(&LG),
        "RecordMaker: LG = {LG}; a beat of 2^LG words must have 4 to 16 of them"
    );
    let lanes: LiteralType = 1 << LG;
)]
pub struct RecordMaker<const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The first beat of an FPDU is taken.
    pub begins: Signal<In, Bit>,
    /// The FPDU; holds from the first beat to the last.
    pub info: Signal<In, FpduInfo>,
    /// First five words of the FPDU.
    pub header: Signal<In, Bits<160>>,
    /// One cycle per FPDU, two or more after `begins`, 4 at most after its last beat: `header` is
    /// valid.
    pub header_valid: Signal<In, Bit>,
    /// CRC32C verdict, 4 cycles after the last beat.
    pub crc_valid: Signal<In, Bit>,
    /// With `crc_valid`: CRC32C is right.
    pub crc_good: Signal<In, Bit>,
    /// With `crc_valid`: a marker is wrong.
    pub marker_bad: Signal<In, Bit>,
    /// With `crc_valid`: there is a marker.
    pub marker_found: Signal<In, Bit>,
    /// The record.
    pub record: Signal<Out, FpduRecord>,
    pub record_valid: Signal<Out, Bit>,
    /// The verdict.
    pub verdict: Signal<Out, FpduVerdict>,
    pub verdict_valid: Signal<Out, Bit>,
    kept: DFF<FpduInfo>,
    // The record without the header, and its verdict.
    half: DFF<FpduRecord>,
    judged: DFF<Bit>,
    judged_crc: DFF<Bit>,
    judged_markers: DFF<Bit>,
    held_verdict: DFF<FpduVerdict>,
    has_verdict: DFF<Bit>,
    whole: Signal<Local, FpduRecord>,
    wire_octets: Signal<Local, Bits<18>>,
    length: Signal<Local, Bits<16>>,
    round: Signal<Local, Bits<20>>,
    rounded: Signal<Local, Bits<20>>,
    /// ceil(octets / beat).
    #[constant(4 * lanes - 1)]
    host_round: Constant<Bits<20>>,
    /// The same of the FPDU's floor((octets + 9) / 4) words.
    #[constant(4 * lanes + 5)]
    fpdu_round: Constant<Bits<20>>,
}

impl<const LG: usize> Logic for RecordMaker<LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; kept, half, judged, judged_crc, judged_markers);
        registers!(clock; held_verdict, has_verdict);
        // The record: two steps after the first beat, and held for 5 after the last one.
        if self.begins.val() {
            self.kept.d.next = self.info.val();
        }
        self.wire_octets.next = self.kept.q.val().wire_octets;
        self.length.next = self.kept.q.val().ulpdu_length;
        self.round.next = self.fpdu_round.val();
        if self.kept.q.val().kind == FpduKind::Host {
            self.round.next = self.host_round.val();
        }
        self.rounded.next = bit_cast::<20, 16>(self.length.val()) + self.round.val();
        self.half.d.next.kind = self.kept.q.val().kind;
        self.half.d.next.connection = self.kept.q.val().connection;
        self.half.d.next.span = self.kept.q.val().span;
        self.half.d.next.unproven = self.kept.q.val().unproven;
        self.half.d.next.sequence = self.kept.q.val().sequence;
        self.half.d.next.sequence_end =
            self.kept.q.val().sequence + bit_cast::<32, 18>(self.wire_octets.val());
        self.half.d.next.ulpdu_length = self.kept.q.val().ulpdu_length;
        for shift in (LG + 2)..(LG + 3) {
            self.half.d.next.beats = self.rounded.val().get_bits::<13>(shift);
        }
        if self.kept.q.val().kind == FpduKind::Check {
            self.half.d.next.beats = 0.into();
        }
        self.half.d.next.head_page = self.kept.q.val().head_page;
        self.half.d.next.tail_page = self.kept.q.val().tail_page;
        self.whole.next = self.half.q.val();
        self.whole.next.header = self.header.val();
        self.record.next = self.whole.val();
        self.record_valid.next = self.header_valid.val();

        // The verdict.
        self.judged.d.next = (self.kept.q.val().kind == FpduKind::Normal)
            | (self.kept.q.val().kind == FpduKind::Check)
            | (self.kept.q.val().kind == FpduKind::OutOfOrder);
        self.judged_crc.d.next = self.kept.q.val().crc;
        self.judged_markers.d.next = self.kept.q.val().markers;
        self.held_verdict.d.next.crc_good = self.crc_good.val() | !self.judged_crc.q.val();
        self.held_verdict.d.next.marker_good =
            !self.marker_bad.val() | !self.judged_markers.q.val();
        self.held_verdict.d.next.marker_seen =
            self.marker_found.val() & self.judged_markers.q.val();
        self.has_verdict.d.next = self.crc_valid.val() & self.judged.q.val();
        self.verdict.next = self.held_verdict.q.val();
        self.verdict_valid.next = self.has_verdict.q.val();
        if self.reset.val() {
            self.has_verdict.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
