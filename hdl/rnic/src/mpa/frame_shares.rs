//! What keeps the pages of frames that hold several runs of accepted octets.
//!
//! ```text
//! page, opens, closes, keeps, drops --> [ count +- 1 ] --> [ RAM ] --> gone, last
//!                        front_page, front_leaves --^          |
//!                                    ^-------------------------+
//! ```
//!
//! | enters     | each run of such a frame, queued or not; each of them that is consumed      |
//! | leaves     | whether the frame's pages go back with it                                   |
//! | latency    | `page` to `gone`, `front_page` to `last`: 3 cycles                          |
//! | throughput | a count per 3 cycles                                                        |
//! | units      | runs, at most 17 of a frame                                                 |
//!
//! Counted under the frame's last page: one for each run queued, and one until the last run has
//! come. All ports of the RAM come from registers, so a count is written in the cycle after the one
//! that looked at it.
use crate::common::ram::SdpRam;
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Counts of shared frames.
#[derive(LogicBlock, Init)]
pub struct FrameShares {
    pub clock: Signal<In, Clock>,
    /// Synchronous; a count on its way is not written.
    pub reset: Signal<In, Bit>,
    /// Last page of the frame that comes; holds for three cycles before `keeps` or `drops`.
    pub page: Signal<In, Bits<9>>,
    /// It is the first run of its frame.
    pub opens: Signal<In, Bit>,
    /// It is the last run of its frame.
    pub closes: Signal<In, Bit>,
    /// The run is queued.
    pub keeps: Signal<In, Bit>,
    /// The run is not wanted.
    pub drops: Signal<In, Bit>,
    /// With `drops`: nothing keeps the frame's pages.
    pub gone: Signal<Out, Bit>,
    /// The frame at the front of a queue is looked at, not the one that comes.
    pub looks: Signal<In, Bit>,
    /// Its last page; holds for three cycles before `last` counts.
    pub front_page: Signal<In, Bits<9>>,
    /// A run of it is consumed.
    pub front_leaves: Signal<In, Bit>,
    /// Nothing else keeps its pages.
    pub last: Signal<Out, Bit>,
    counts: SdpRam<Bits<5>, 9>,
    read_page: DFF<Bits<9>>,
    writes: DFF<Bit>,
    written_page: DFF<Bits<9>>,
    written: DFF<Bits<5>>,
    count_before: Signal<Local, Bits<5>>,
    count_after: Signal<Local, Bits<5>>,
    #[constant(1)]
    one: Constant<Bits<5>>,
}

impl Logic for FrameShares {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, read_page, writes, written_page, written);
        self.counts.clock.next = self.clock.val();
        self.count_before.next = self.counts.read_data.val();
        if self.opens.val() {
            self.count_before.next = self.one.val();
        }
        self.count_after.next = self.count_before.val();
        if self.keeps.val() & !self.closes.val() {
            self.count_after.next = self.count_before.val() + self.one.val();
        } else if !self.keeps.val() & self.closes.val() {
            self.count_after.next = self.count_before.val() - self.one.val();
        }
        self.gone.next = self.closes.val() & !self.count_after.val().any();
        self.last.next = self.counts.read_data.val() == self.one.val();

        self.read_page.d.next = self.page.val();
        self.written_page.d.next = self.page.val();
        self.written.d.next = self.count_after.val();
        self.writes.d.next = self.keeps.val() | self.drops.val();
        if self.looks.val() {
            self.read_page.d.next = self.front_page.val();
            self.written_page.d.next = self.front_page.val();
        }
        if self.front_leaves.val() {
            self.written.d.next = self.counts.read_data.val() - self.one.val();
            self.writes.d.next = true;
        }
        self.counts.read_address.next = self.read_page.q.val();
        self.counts.write_enable.next = self.writes.q.val();
        self.counts.write_address.next = self.written_page.q.val();
        self.counts.write_data.next = self.written.q.val();
        if self.reset.val() {
            self.writes.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{lockstep, Random};

    /// What comes next of a frame: a run of it, or the end of one that was queued.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Step {
        Run {
            opens: bool,
            closes: bool,
            kept: bool,
        },
        Leave,
    }

    /// A frame with runs still to come, and runs queued.
    #[derive(Clone, Copy, Debug, Default)]
    struct Frame {
        to_come: u64,
        queued: u64,
    }

    fn step(frame: &mut Frame, random: &mut Random) -> Step {
        if frame.queued > 0 && (frame.to_come == 0 || random.chance(1, 3)) {
            frame.queued -= 1;
            return Step::Leave;
        }
        let opens = frame.to_come == 0;
        if opens {
            frame.to_come = 2 + random.below(16);
        }
        frame.to_come -= 1;
        let kept = random.chance(1, 2);
        frame.queued += u64::from(kept);
        Step::Run {
            opens,
            closes: frame.to_come == 0,
            kept,
        }
    }

    #[test]
    fn lockstep_with_verilog_and_the_last_one_gives_the_pages_back() {
        let mut frames = [Frame::default(); 6];
        let (mut at, mut now, mut cycle) = (0, Step::Leave, 0);
        let mut seen = [0usize; 4];
        lockstep(
            "frame_shares",
            FrameShares::default(),
            12_000,
            |uut| &mut uut.clock,
            |uut, random| {
                (uut.keeps.next, uut.drops.next) = (false, false);
                (uut.front_leaves.next, uut.looks.next) = (false, false);
                if cycle % 4 == 0 {
                    at = random.below(6) as usize;
                    now = step(&mut frames[at], random);
                }
                let done = cycle % 4 == 3;
                match now {
                    Step::Run {
                        opens,
                        closes,
                        kept,
                    } => {
                        uut.page.next = (at as u64).into();
                        (uut.opens.next, uut.closes.next) = (opens, closes);
                        (uut.keeps.next, uut.drops.next) = (done && kept, done && !kept);
                        rnic_hdl_tools::testkit::settle(uut);
                        if done && !kept {
                            let gone = closes && frames[at].queued == 0;
                            assert_eq!(uut.gone.val(), gone, "{random}");
                            seen[usize::from(gone)] += 1;
                        }
                    }
                    Step::Leave => {
                        uut.looks.next = true;
                        uut.front_page.next = (at as u64).into();
                        uut.front_leaves.next = done;
                        if done {
                            let last = frames[at].queued + u64::from(frames[at].to_come > 0) == 0;
                            assert_eq!(uut.last.val(), last, "{random}");
                            seen[2 + usize::from(last)] += 1;
                        }
                    }
                }
                cycle += 1;
            },
        );
        assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
    }
}
