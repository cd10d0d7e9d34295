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
use rnic_macros::{kernel, Init};
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
    #[kernel]
    fn update(&mut self) {
        registers!(clock; read_page, writes, written_page, written);
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
mod tests;
