//! Takes beats from the MAC, which cannot wait, and spaces frames for what follows.
//!
//! ```text
//! frame_* --+--------------------------------> beat, beat_data (combinational while empty)
//!           \--> [ 1 ] --> [ Fifo, 16 ] --^
//! ```
//!
//! | latency    | 0 cycles while nothing is held back; a beat that is: 2 at least         |
//! | throughput | one beat per cycle inside a frame                                       |
//! | units      | `frame_octets` counts octets of the beat, W/8 unless `frame_last`       |
//! | ensures    | after a last beat that spills no beat follows in the next cycle; two    |
//! |            | stored frames end at least two cycles apart                             |
//! | overrun    | a frame that begins while six beats or more wait is refused whole       |
//!
//! Beats are held back at a frame's first beat only, one cycle a frame on average, and one more
//! where none waited before, so what waits grows by at most one a frame, and once by two: six beats
//! that wait at the start of a frame cannot become more than sixteen by its end. What waits passes
//! a register first, as the queue's flags are far away.
use super::beat::RawBeat;
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Beats that may wait when a further frame is accepted.
const CROWDED_BEATS: u64 = 6;

/// Elastic entrance for beats of `W` bits.
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
    /// The device is on; looked at with a frame's first beat.
    pub enable: Signal<In, Bit>,
    // Beats of the MAC.
    /// Octet 0 in bits 7:0.
    pub frame_data: Signal<In, Bits<W>>,
    /// Valid octets.
    pub frame_octets: Signal<In, Bits<7>>,
    /// Last beat of the frame.
    pub frame_last: Signal<In, Bit>,
    /// With `frame_last`: the frame is bad.
    pub frame_error: Signal<In, Bit>,
    pub frame_valid: Signal<In, Bit>,
    // Beats in step.
    pub beat_valid: Signal<Out, Bit>,
    pub beat: Signal<Out, RawBeat>,
    /// Its octets.
    pub beat_data: Signal<Out, Bits<W>>,
    // Refused frames.
    /// A refused frame waits to be counted.
    pub overrun: Signal<Out, Bit>,
    /// It is counted in this cycle.
    pub overrun_counted: Signal<In, Bit>,
    // What waits; the two hold the same beats.
    waiting_data: Fifo<Bits<W>, 4, 5>,
    waiting_beats: Fifo<RawBeat, 4, 5>,
    // A beat on its way there.
    pushed: DFF<Bit>,
    pushed_data: DFF<Bits<W>>,
    pushed_beat: DFF<RawBeat>,
    has_beats: DFF<Bit>,
    crowded: DFF<Bit>,
    // State of the frame that arrives.
    in_frame: DFF<Bit>,
    disabled: DFF<Bit>,
    refused: DFF<Bit>,
    overruns: DFF<Bits<6>>,
    // Two cycles, one cycle to go before any frame may end again.
    cooling_two: DFF<Bit>,
    cooling_one: DFF<Bit>,
    first: Signal<Local, Bit>,
    disabled_now: Signal<Local, Bit>,
    refused_now: Signal<Local, Bit>,
    spills: Signal<Local, Bit>,
    arriving: Signal<Local, RawBeat>,
    arrives: Signal<Local, Bit>,
    head: Signal<Local, RawBeat>,
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
        registers!(clock; in_frame, disabled, refused, overruns);
        registers!(clock; cooling_two, cooling_one);
        self.waiting_data.clock.next = self.clock.val();
        self.waiting_beats.clock.next = self.clock.val();
        self.waiting_data.reset.next = self.reset.val();
        self.waiting_beats.reset.next = self.reset.val();

        // What arrives. A frame is refused, and found disabled, as a whole.
        self.first.next = !self.in_frame.q.val();
        self.disabled_now.next = self.disabled.q.val();
        self.refused_now.next = self.refused.q.val();
        if self.first.val() {
            self.disabled_now.next = !self.enable.val();
            self.refused_now.next = self.crowded.q.val();
        }
        if self.frame_valid.val() {
            self.in_frame.d.next = !self.frame_last.val();
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
        self.arrives.next = self.frame_valid.val() & !self.refused_now.val();

        // A first beat is held back while frames cool down. The octets of an arriving beat come
        // late: any frame of one beat counts as short.
        self.arriving_holds.next = self.first.val()
            & (self.cooling_two.q.val() | (self.cooling_one.q.val() & self.frame_last.val()));
        self.waiting_holds.next = self.waiting_beats.data_out.val().first
            & (self.cooling_two.q.val()
                | (self.cooling_one.q.val() & self.waiting_beats.data_out.val().short));

        // The oldest beat: of those that wait, or the one that arrives.
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

        // What waits.
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

        // Refused frames wait for a cycle in which no other frame is counted.
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
            self.in_frame.d.next = false;
            self.refused.d.next = false;
            self.overruns.d.next = 0.into();
            self.cooling_two.d.next = false;
            self.cooling_one.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
