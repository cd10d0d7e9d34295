//! Marker check: does each marker of an FPDU point back to the FPDU's start?
//!
//! ```text
//! marker --> [ parts of the compare ] --> [ bad, until the next FPDU ]
//! ```
//!
//! FPDUPTR is octets 2 and 3 of the marker, most significant first, its two low bits taken as zero
//! (MPA-008, MPA-012); octets 0 and 1 are not looked at. A leading marker must be 0 (MPA-010). A
//! marker i words after ULPDU_Length must be 4 i modulo 2^16; in an FPDU that opens with a marker
//! the distance from that marker is accepted too (MPA-011).
//!
//! | latency    | 2 cycles, `marker_valid` to `bad` and `found`                                |
//! | throughput | one marker per cycle                                                         |
//! | units      | distances in words of 4 octets                                               |
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Compares the markers of an FPDU with where they stand.
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
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            groups,
            groups_before,
            distance_kept,
            behind_lead,
            opened,
            seen
        );
        dff_setup!(
            self,
            clock,
            groups_agree,
            words_agree,
            lead_groups_agree,
            lead_words_agree
        );
        dff_setup!(self, clock, is_behind_lead, wrong, any);
        self.distance_now.next = self.distance_kept.q.val();
        self.groups_now.next = self.groups.q.val();
        self.groups_before_now.next = self.groups_before.q.val();
        if self.opens.val() {
            self.distance_now.next = self.distance.val();
            self.groups_now.next = 0.into();
            // Nothing lies before the first marker: its other value is not accepted below.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{settle, tick, Random};

    /// Puts an FPDU's markers through, `wrong` of them with another pointer; is it bad?
    fn bad(uut: &mut MarkerCheck, distance: u64, pointers: &[u16], random: &mut Random) -> bool {
        for (index, pointer) in pointers.iter().enumerate() {
            // The first beat holds the first marker or none.
            let apart = index == 0 && distance > 3;
            uut.opens.next = index == 0;
            uut.distance.next = distance.into();
            uut.marker_valid.next = !apart;
            let octets = pointer.to_be_bytes();
            let low_bits = random.below(4) as u8;
            let marker = u32::from_le_bytes([
                random.below(256) as u8,
                random.below(256) as u8,
                octets[0],
                octets[1] | low_bits,
            ]);
            uut.marker.next = u64::from(marker).into();
            if apart {
                tick(uut, |uut| &mut uut.clock);
                uut.opens.next = false;
                uut.distance.next = random.below(128).into();
                uut.marker_valid.next = true;
            }
            tick(uut, |uut| &mut uut.clock);
        }
        uut.opens.next = false;
        uut.marker_valid.next = false;
        tick(uut, |uut| &mut uut.clock);
        assert_eq!(uut.found.val(), !pointers.is_empty());
        uut.bad.val()
    }

    #[test]
    fn mpa_008_mpa_010_mpa_011_mpa_012_pointers_of_130_markers_modulo_two_to_the_sixteenth() {
        let mut random = Random::from_environment();
        let mut uut = MarkerCheck::default();
        uut.connect_all();
        settle(&mut uut);
        for distance in [0u64, 1, 3, 4, 64, 127] {
            for lead in [4u16, 0] {
                // From ULPDU_Length: 4 octets less behind a leading marker.
                let less = if distance == 0 { lead } else { 0 };
                let right: Vec<u16> = (0..130u64)
                    .map(|index| (4 * distance + 512 * index) as u16)
                    .map(|at| if at == 0 { 0 } else { at.wrapping_sub(less) })
                    .collect();
                // The 129th marker stands 2^16 octets behind the first one: both of its values.
                let count = if distance == 0 { 128 } else { 130 };
                assert!(
                    !bad(&mut uut, distance, &right[..count], &mut random),
                    "{distance}"
                );
                for at in [0usize, 1, 2, 64, 127] {
                    for change in [4u16, 8, 512, 0x8000] {
                        let mut wrong = right.clone();
                        wrong[at] ^= change;
                        let other = distance == 0
                            && at > 0
                            && [0, 4].contains(&((512 * at) as u16).wrapping_sub(wrong[at]));
                        assert_eq!(
                            bad(&mut uut, distance, &wrong[..count], &mut random),
                            !other,
                            "distance {distance}, marker {at}, change {change}, {random}"
                        );
                    }
                }
            }
        }
        let mut wrapped = vec![0u16];
        wrapped.extend((1..=128u64).map(|index| (512 * index) as u16));
        assert!(!bad(&mut uut, 0, &wrapped, &mut random), "0 at 2^16");
        wrapped[128] = 0xfffc;
        assert!(!bad(&mut uut, 0, &wrapped, &mut random), "0xfffc at 2^16");
        wrapped[0] = 0xfffc;
        assert!(
            bad(&mut uut, 0, &wrapped, &mut random),
            "a leading marker is 0"
        );
    }
}
