//! Which words of the window an FPDU takes, beat by beat, and where the next one begins.
//!
//! | latency    | none to `wraps`; 1 cycle to every other output                             |
//! | throughput | one beat per cycle                                                         |
//! | units      | words of 4 octets, 2^LG a beat; beats                                      |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Extent of an FPDU in the window; `2^LG` words a beat.
#[derive(LogicBlock, Init)]
pub struct FpduSpan<const LG: usize> {
    pub clock: Signal<In, Clock>,
    /// A job begins, in lane 0.
    pub clear: Signal<In, Bit>,
    /// A beat is handed on.
    pub send: Signal<In, Bit>,
    /// It is the first one of its FPDU.
    pub opens: Signal<In, Bit>,
    /// It is the last one of its FPDU.
    pub ends: Signal<In, Bit>,
    /// Words of the FPDU; hold from its first beat to its last.
    pub words: Signal<In, Bits<15>>,
    /// Beats of the FPDU, likewise.
    pub beats: Signal<In, Bits<15>>,
    /// Word of the window at which the FPDU's beats begin.
    pub offset: Signal<Out, Bits<LG>>,
    /// `offset` is 0.
    pub aligned: Signal<Out, Bit>,
    /// After the FPDU's last beat the low beat of the window is used up.
    pub wraps: Signal<Out, Bit>,
    /// Word at which the next FPDU begins; from the second beat of this one on.
    pub next_offset: Signal<Out, Bits<LG>>,
    /// It begins in the high beat of the window, likewise.
    pub next_wraps: Signal<Out, Bit>,
    /// The next beat is the FPDU's last; from its second beat on.
    pub final_next: Signal<Out, Bit>,
    start: DFF<Bits<LG>>,
    next_start: DFF<Bits<LG>>,
    wraps_late: DFF<Bit>,
    beats_left: DFF<Bits<15>>,
    is_final: DFF<Bit>,
    start_sum: Signal<Local, Bits<LG>>,
    wraps_now: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<15>>,
    #[constant(2)]
    two: Constant<Bits<15>>,
}

impl<const LG: usize> Logic for FpduSpan<LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; start, next_start, wraps_late, beats_left, is_final);
        // A last beat holds 1 to 2^LG words: the sum leaves the low beat behind unless it grew.
        self.start_sum.next = self.start.q.val() + self.words.val().get_bits::<LG>(0);
        self.wraps_now.next = self.start_sum.val() <= self.start.q.val();
        self.next_start.d.next = self.start_sum.val();
        self.wraps_late.d.next = self.wraps_now.val();
        if self.send.val() {
            self.beats_left.d.next = self.beats_left.q.val() - self.one.val();
            self.is_final.d.next = self.beats_left.q.val() == self.two.val();
            if self.opens.val() {
                self.beats_left.d.next = self.beats.val() - self.one.val();
                self.is_final.d.next = self.beats.val() == self.two.val();
            }
            if self.ends.val() {
                self.start.d.next = self.start_sum.val();
            }
        }
        if self.clear.val() {
            self.start.d.next = 0.into();
        }
        self.offset.next = self.start.q.val();
        self.aligned.next = !self.start.q.val().any();
        self.wraps.next = self.wraps_now.val();
        self.next_offset.next = self.next_start.q.val();
        self.next_wraps.next = self.wraps_late.q.val();
        self.final_next.next = self.is_final.q.val();
    }
}
