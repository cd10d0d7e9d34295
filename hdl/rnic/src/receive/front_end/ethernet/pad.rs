//! Puts two octets in front of the frame, cuts it at the greatest length, counts its octets.
//!
//! ```text
//! in   | d0 d1 ... d7 | d8 ...  d15 |
//! out  | 00 00 d0..d5 | d6 ...  d13 | d14 d15 |     W = 64
//! ```
//!
//! | latency    | 1 cycle; the beat that the pad adds comes one later              |
//! | throughput | one beat per cycle; none may come in the cycle after a last beat |
//! |            | that spills (`Intake` sees to it)                                |
//! | units      | `frame_octets` counts octets of the frame, without pad           |
//!
//! A frame of more than 9216 octets is stored up to the beat with its octets 9215 and 9216; its
//! `end` comes with its true last beat, because only that tells whether the MAC marked it bad.
use super::beat::{FrameControl, RawBeat};
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Pad, cut and count for beats of `W` bits.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        matches!(W, 64 | 128 | 512),
        "PadShift: W = {W} is none of 64, 128, 512"
    );
    let limit = MAX_FRAME_OCTETS / (W / 8);
    assert!(
        limit * (W / 8) == MAX_FRAME_OCTETS,
        "PadShift: the longest frame is no whole number of beats"
    );
)]
pub struct PadShift<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub beat_valid: Signal<In, Bit>,
    pub beat: Signal<In, RawBeat>,
    /// Its octets.
    pub beat_data: Signal<In, Bits<W>>,
    pub control: Signal<Out, FrameControl>,
    /// Its octets.
    pub data: Signal<Out, Bits<W>>,
    held_control: DFF<FrameControl>,
    held_data: DFF<Bits<W>>,
    // The two octets that had no room.
    carry: DFF<Bits<16>>,
    // They get a beat of their own in this cycle.
    spilling: DFF<Bit>,
    // The frame was cut in an earlier beat.
    beyond: DFF<Bit>,
    // The next beat is the one to cut at.
    at_limit: DFF<Bit>,
    next_beat: DFF<Bits<11>>,
    next_row: DFF<Bits<4>>,
    // Number and octets of the newest beat that is not beyond the cut.
    last_beat: DFF<Bits<11>>,
    last_octets: DFF<Bits<7>>,
    beat_number: Signal<Local, Bits<11>>,
    row: Signal<Local, Bits<4>>,
    sent: Signal<Local, FrameControl>,
    full_octets: Signal<Local, Bits<14>>,
    carried: Signal<Local, Bits<16>>,
    top: Signal<Local, Bits<16>>,
    incoming: Signal<Local, Bits<W>>,
    shifted: Signal<Local, Bits<W>>,
    beyond_now: Signal<Local, Bit>,
    cutting: Signal<Local, Bit>,
    spills: Signal<Local, Bit>,
    #[constant(1)]
    one_beat: Constant<Bits<11>>,
    #[constant(1)]
    one_row: Constant<Bits<4>>,
    #[constant(15)]
    last_row: Constant<Bits<4>>,
    #[constant(limit as LiteralType - 1)]
    before_limit: Constant<Bits<11>>,
    #[constant(LiteralType::from((W / 8).trailing_zeros()))]
    octets_shift: Constant<Bits<3>>,
}

impl<const W: usize> Logic for PadShift<W> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_control, held_data, carry, spilling, beyond);
        registers!(clock; at_limit, next_beat, next_row, last_beat, last_octets);
        self.data.next = self.held_data.q.val();
        // All beats but the last are full.
        self.full_octets.next =
            bit_cast::<14, 11>(self.last_beat.q.val()) << self.octets_shift.val();
        self.sent.next = self.held_control.q.val();
        self.sent.next.frame_octets =
            self.full_octets.val() + bit_cast::<14, 7>(self.last_octets.q.val());
        self.control.next = self.sent.val();
        self.incoming.next = self.beat_data.val();
        for width in W..(W + 1) {
            self.top.next = self.incoming.val().get_bits::<16>(width - 16);
        }
        self.shifted.next = self.incoming.val() << 16;

        self.beat_number.next = self.next_beat.q.val();
        self.row.next = self.next_row.q.val();
        self.carried.next = self.carry.q.val();
        self.beyond_now.next = self.beyond.q.val();
        self.cutting.next = self.at_limit.q.val() & !self.beyond.q.val();
        if self.beat.val().first & !self.spilling.q.val() {
            self.beat_number.next = 0.into();
            self.row.next = 0.into();
            self.carried.next = 0.into();
            self.beyond_now.next = false;
            self.cutting.next = false;
        }
        self.spills.next = self.beat.val().spills & !self.cutting.val() & !self.beyond_now.val();

        // Without a beat only `valid` and `end` count, so nothing else waits for `beat_valid`.
        if self.spilling.q.val() {
            // The frame ends with the octets that the pad pushed out; the rest is as it was.
            self.held_data.d.next = bit_cast::<W, 16>(self.carry.q.val());
            self.held_control.d.next.valid = true;
            self.held_control.d.next.first = false;
            self.held_control.d.next.store_last = true;
            self.held_control.d.next.end = true;
        } else {
            self.held_data.d.next = self.shifted.val() | bit_cast::<W, 16>(self.carried.val());
            self.held_control.d.next.valid = self.beat_valid.val() & !self.beyond_now.val();
            self.held_control.d.next.first = self.beat.val().first;
            self.held_control.d.next.store_last =
                self.cutting.val() | (self.beat.val().last & !self.spills.val());
            self.held_control.d.next.end =
                self.beat_valid.val() & self.beat.val().last & !self.spills.val();
            self.held_control.d.next.disabled = self.beat.val().disabled;
            self.held_control.d.next.mac_error = self.beat.val().error;
            self.held_control.d.next.too_long = self.cutting.val() | self.beyond_now.val();
        }
        self.held_control.d.next.beat = self.beat_number.val();
        self.held_control.d.next.row = self.row.val();
        self.spilling.d.next = self.beat_valid.val() & self.spills.val();
        if self.beat_valid.val() {
            self.carry.d.next = self.top.val();
            self.beyond.d.next = self.beyond_now.val() | self.cutting.val();
            if !self.beyond_now.val() {
                self.last_beat.d.next = self.beat_number.val();
                self.last_octets.d.next = self.beat.val().octets;
            }
            self.next_beat.d.next = self.beat_number.val() + self.one_beat.val();
            self.at_limit.d.next = self.beat_number.val() == self.before_limit.val();
            if self.row.val() != self.last_row.val() {
                self.next_row.d.next = self.row.val() + self.one_row.val();
            } else {
                self.next_row.d.next = self.last_row.val();
            }
        }
        if self.reset.val() {
            self.held_control.d.next.valid = false;
            self.held_control.d.next.end = false;
            self.spilling.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
