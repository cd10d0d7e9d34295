//! Intake: takes beats from the MAC, which cannot wait, and writes the *stored frame*: two zero
//! octets, then the frame, so that all that follows the Ethernet header is aligned to words of four
//! octets. Word i of the stored frame is in lane i % L of beat i / L.
//!
//! ```text
//! frame_* --> Intake ------------------> PadShift --------------------> control, data
//!             spaces frames; a FIFO      pad, cut at 9216 octets,
//!             of 16 beats                octets and beats counted
//! ```
//!
//! | latency    | 1 cycle from the MAC's beat to the stored one, while the FIFO is empty        |
//! | throughput | one beat per cycle inside a frame                                             |
//! | units      | `frame_octets` of a beat: 1 to W/8, W/8 unless last; of a frame: without pad  |
//! | source     | IEEE 802.3 clause 3 (frame) and 4.4.2 (inter-packet gap)                      |
//!
//! # Spacing
//!
//! A stored frame of n beats takes n cycles, one more if its last beat has no room for the pad, and
//! at least two. The FIFO absorbs a backlog of about six cycles. Frames that keep Ethernet's gap of
//! 20 octets (preamble and inter-packet gap) reduce it again: at W = 64 and 128 with each frame, at
//! W = 512 whenever frames come no faster than one in two cycles. A frame that comes even sooner
//! violates IEEE 802.3: it is refused whole, counted as `drop_mac_error`, and changes no state.
//!
//! # Reset
//!
//! The wire does not stop for a reset: a frame of which any beat arrived in reset is not seen, and
//! its rest after the reset is no frame.
use crate::common::fifo::Fifo;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Buffered beats from which on a further frame is refused.
const CROWDED_BEATS: u64 = 6;

/// Accompanies a beat as the MAC gave it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct MacBeat {
    /// Valid octets of the beat.
    pub octets: Bits<7>,
    /// First beat of the frame.
    pub first: Bit,
    /// Last beat of the frame.
    pub last: Bit,
    /// With `last`: the MAC marked the frame bad.
    pub error: Bit,
    /// The device was off when the frame began.
    pub disabled: Bit,
    /// With `last`: the pad pushes octets of this beat into an additional beat.
    pub spills: Bit,
    /// Frame and stored frame have one beat.
    pub short: Bit,
}

/// Accompanies a beat of the stored frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameControl {
    /// The beat belongs to the stored frame.
    pub valid: Bit,
    /// First beat (with `valid`).
    pub first: Bit,
    /// Last beat (with `valid`).
    pub store_last: Bit,
    /// The frame has ended and the fields below are final. May be set without `valid`.
    pub end: Bit,
    /// Number of the beat, 15 from the 16th on: no header reaches that far.
    pub row: Bits<4>,
    /// Number of the beat in the stored frame.
    pub beat: Bits<11>,
    /// Octets of the frame so far, without pad; of a longer frame only that they exceed 9216.
    pub frame_octets: Bits<14>,
    /// The device was off when the frame began.
    pub disabled: Bit,
    /// The MAC marked the frame bad.
    pub mac_error: Bit,
    /// The frame has more than 9216 octets.
    pub too_long: Bit,
}

/// Elastic buffer for beats of `W` bits.
///
/// | latency    | 0 cycles while it is empty; a beat that is buffered: at least 2        |
/// | throughput | one beat per cycle inside a frame                                      |
/// | ensures    | no beat in the cycle after a last beat that spills; two stored frames  |
/// |            | end at least two cycles apart                                          |
/// | overrun    | a frame that begins while six beats or more are buffered is refused    |
/// |            | whole                                                                  |
///
/// A delay begins only at the first beat of a frame: one cycle a frame on average, and one more if
/// the buffer was empty. The fill thus grows by at most one beat a frame, and once by two: six
/// beats at the start of a frame cannot become more than sixteen by its end. A buffered beat passes
/// a register before the FIFO, as the FIFO's flags are on the critical path.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        matches!(W, 64 | 128 | 512),
        "Intake: W = {W} is none of 64, 128, 512"
    );
)]
pub struct Intake<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The reset pin: nothing is known of the frame on the wire.
    pub wire_reset: Signal<In, Bit>,
    /// The device is on; sampled with a frame's first beat.
    pub enable: Signal<In, Bit>,
    // From the MAC, see `FrontEnd`.
    pub frame_data: Signal<In, Bits<W>>,
    pub frame_octets: Signal<In, Bits<7>>,
    pub frame_last: Signal<In, Bit>,
    pub frame_error: Signal<In, Bit>,
    pub frame_valid: Signal<In, Bit>,
    // Spaced beats.
    pub beat_valid: Signal<Out, Bit>,
    pub beat: Signal<Out, MacBeat>,
    pub beat_data: Signal<Out, Bits<W>>,
    // Refused frames.
    /// A refused frame is still to be counted.
    pub overrun: Signal<Out, Bit>,
    /// It is counted in this cycle.
    pub overrun_counted: Signal<In, Bit>,
    // The buffer; both FIFOs hold the same beats.
    waiting_data: Fifo<Bits<W>, 4, 5>,
    waiting_beats: Fifo<MacBeat, 4, 5>,
    // The register before the buffer.
    pushed: DFF<Bit>,
    pushed_data: DFF<Bits<W>>,
    pushed_beat: DFF<MacBeat>,
    has_beats: DFF<Bit>,
    crowded: DFF<Bit>,
    // The arriving frame.
    in_frame: DFF<Bit>,
    // Some of it arrived in reset.
    cut: DFF<Bit>,
    disabled: DFF<Bit>,
    refused: DFF<Bit>,
    overruns: DFF<Bits<6>>,
    // For two cycles, for one cycle no stored frame may end.
    cooling_two: DFF<Bit>,
    cooling_one: DFF<Bit>,
    first: Signal<Local, Bit>,
    disabled_now: Signal<Local, Bit>,
    refused_now: Signal<Local, Bit>,
    spills: Signal<Local, Bit>,
    arriving: Signal<Local, MacBeat>,
    arrives: Signal<Local, Bit>,
    head: Signal<Local, MacBeat>,
    take: Signal<Local, Bit>,
    arriving_holds: Signal<Local, Bit>,
    waiting_holds: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    add_overrun: Signal<Local, Bit>,
    #[constant(W as LiteralType / 8 - 2)]
    room_for_pad: Constant<Bits<7>>,
    #[constant(1)]
    one: Constant<Bits<5>>,
    #[constant(CROWDED_BEATS)]
    crowded_beats: Constant<Bits<5>>,
    #[constant(1)]
    one_overrun: Constant<Bits<6>>,
}

impl<const W: usize> Logic for Intake<W> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; pushed, pushed_data, pushed_beat, has_beats, crowded);
        registers!(clock; in_frame, cut, disabled, refused, overruns);
        registers!(clock; cooling_two, cooling_one);
        self.waiting_data.clock.next = self.clock.val();
        self.waiting_beats.clock.next = self.clock.val();
        self.waiting_data.reset.next = self.reset.val();
        self.waiting_beats.reset.next = self.reset.val();

        // Arrival. The first beat decides for the whole frame whether it is refused or disabled.
        self.first.next = !self.in_frame.q.val();
        self.disabled_now.next = self.disabled.q.val();
        self.refused_now.next = self.refused.q.val();
        if self.first.val() {
            self.disabled_now.next = !self.enable.val();
            self.refused_now.next = self.crowded.q.val();
        }
        if self.frame_valid.val() {
            self.in_frame.d.next = !self.frame_last.val();
            self.cut.d.next = self.cut.q.val() & !self.frame_last.val();
            self.disabled.d.next = self.disabled_now.val();
            self.refused.d.next = self.refused_now.val();
        }
        self.spills.next =
            self.frame_last.val() & (self.frame_octets.val() > self.room_for_pad.val());
        self.arriving.next.octets = self.frame_octets.val();
        self.arriving.next.first = self.first.val();
        self.arriving.next.last = self.frame_last.val();
        self.arriving.next.error = self.frame_error.val() & self.frame_last.val();
        self.arriving.next.disabled = self.disabled_now.val();
        self.arriving.next.spills = self.spills.val();
        self.arriving.next.short = self.first.val() & self.frame_last.val() & !self.spills.val();
        self.arrives.next = self.frame_valid.val() & !self.refused_now.val() & !self.cut.q.val();

        // A first beat is delayed while it would follow too closely. `frame_octets` is on the
        // critical path, so any arriving frame of one beat counts as short.
        self.arriving_holds.next = self.first.val()
            & (self.cooling_two.q.val() | (self.cooling_one.q.val() & self.frame_last.val()));
        self.waiting_holds.next = self.waiting_beats.data_out.val().first
            & (self.cooling_two.q.val()
                | (self.cooling_one.q.val() & self.waiting_beats.data_out.val().short));

        // The oldest beat: from the buffer, or the arriving one.
        self.head.next = self.arriving.val();
        self.beat_data.next = self.frame_data.val();
        self.take.next = self.arrives.val() & !self.arriving_holds.val();
        if self.has_beats.q.val() {
            self.head.next = self.waiting_beats.data_out.val();
            self.beat_data.next = self.waiting_data.data_out.val();
            self.take.next = !self.waiting_beats.empty.val() & !self.waiting_holds.val();
        }
        self.beat.next = self.head.val();
        self.beat_valid.next = self.take.val();
        self.cooling_two.d.next = false;
        self.cooling_one.d.next = self.cooling_two.q.val();
        if self.take.val() & self.head.val().last {
            self.cooling_two.d.next = self.head.val().spills;
            self.cooling_one.d.next = !self.head.val().spills;
        }

        // The buffer.
        self.push.next = self.arrives.val() & (self.has_beats.q.val() | self.arriving_holds.val());
        self.pop.next = self.has_beats.q.val() & self.take.val();
        self.pushed.d.next = self.push.val();
        self.pushed_data.d.next = self.frame_data.val();
        self.pushed_beat.d.next = self.arriving.val();
        self.waiting_data.write.next = self.pushed.q.val();
        self.waiting_data.data_in.next = self.pushed_data.q.val();
        self.waiting_data.read.next = self.pop.val();
        self.waiting_beats.write.next = self.pushed.q.val();
        self.waiting_beats.data_in.next = self.pushed_beat.q.val();
        self.waiting_beats.read.next = self.pop.val();
        self.crowded.d.next = self.waiting_beats.fill.val() >= self.crowded_beats.val();
        if self.push.val() {
            self.has_beats.d.next = true;
        } else if self.pop.val() {
            self.has_beats.d.next =
                self.pushed.q.val() | (self.waiting_beats.fill.val() != self.one.val());
        }

        // A refused frame is counted in a cycle that counts no other.
        self.overrun.next = self.overruns.q.val().any();
        self.add_overrun.next =
            self.frame_valid.val() & self.frame_last.val() & self.refused_now.val();
        if self.add_overrun.val() & !self.overrun_counted.val() {
            self.overruns.d.next = self.overruns.q.val() + self.one_overrun.val();
        }
        if self.overrun_counted.val() & !self.add_overrun.val() {
            self.overruns.d.next = self.overruns.q.val() - self.one_overrun.val();
        }
        if self.reset.val() {
            self.pushed.d.next = false;
            self.has_beats.d.next = false;
            self.crowded.d.next = false;
            self.refused.d.next = false;
            self.cut.d.next = self.in_frame.q.val();
            if self.frame_valid.val() {
                self.cut.d.next = !self.frame_last.val();
            }
            self.overruns.d.next = 0.into();
            self.cooling_two.d.next = false;
            self.cooling_one.d.next = false;
        }
        if self.wire_reset.val() {
            self.in_frame.d.next = false;
            self.cut.d.next = false;
        }
    }
}

/// Pad, cut and count for beats of `W` bits.
///
/// ```text
/// in   | d0 d1 ... d7 | d8 ...  d15 |
/// out  | 00 00 d0..d5 | d6 ...  d13 | d14 d15 |     W = 64
/// ```
///
/// | latency    | 1 cycle; 2 for the beat that the pad adds                                  |
/// | throughput | one beat per cycle, none after a last beat that spills (see [`Intake`])    |
///
/// A frame of more than 9216 octets is stored up to the beat with its octets 9215 and 9216. Its
/// `end` is set at its true last beat, because the MAC reports a bad FCS only there.
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
    pub beat: Signal<In, MacBeat>,
    pub beat_data: Signal<In, Bits<W>>,
    pub control: Signal<Out, FrameControl>,
    pub data: Signal<Out, Bits<W>>,
    held_control: DFF<FrameControl>,
    held_data: DFF<Bits<W>>,
    // The two octets that the pad pushed out of the last beat.
    carry: DFF<Bits<16>>,
    // `carry` gets a beat of its own in this cycle.
    spilling: DFF<Bit>,
    // The frame was cut in an earlier beat.
    beyond: DFF<Bit>,
    // The next beat is the one to cut at.
    at_limit: DFF<Bit>,
    next_beat: DFF<Bits<11>>,
    next_row: DFF<Bits<4>>,
    // Number and octets of the last beat before the cut.
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
        // All beats but the last one are full.
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

        // `valid` and `end` qualify all else, so only they depend on `beat_valid`, which is late.
        if self.spilling.q.val() {
            // The beat that the pad adds: all other fields keep the values of the last beat.
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
