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
use rnic_macros::{kernel, Init};
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
mod tests;
