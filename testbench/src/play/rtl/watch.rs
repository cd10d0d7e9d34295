//! Observes what the device does with a frame for which it may have no room.
//!
//! ```text
//!  few pages? -- wait --> frame -> front end -> verdict -> state of the connection -> Room
//!                                     |            |
//!                                 drop_no_page   none: not a segment of a connection
//! ```
//!
//! How much room there is depends on the cycle, so the model gets it from here. In: a frame. Out:
//! [`Room`]. A watched frame takes some 300 cycles more.

use super::Rtl;
use crate::play::dut::{Dut, StreamState};
use rnic_abi::counters::Counter;
use rnic_abi::events::{SegmentTrace, SegmentVerdict};
use rnic_abi::limits::frame_pages;
use rnic_capture::segment::Segment;
use rnic_driver::ConnectionId;
use rnic_model::{Room, Taken};

/// Pages that still count as free but are on their way from the pool to the next frames, or will
/// be taken by the frame before, which is in and not yet stored.
const PAGES_UNDER_WAY: u32 = 4 + 40;
/// Cycles after which a stored frame has its verdict: TCP has looked its connection up, gone along
/// all of its ranges and asked the stream manager twice.
const VERDICT_CYCLES: u64 = 500;
/// Cycles in which a frame that is in has come through the front end, so that its drop is counted.
const FRONT_END_CYCLES: usize = 100;
/// Cycles from a segment's verdict until all of its connection's state can be read.
const STATE_CYCLES: usize = 100;

impl Rtl {
    /// Is so little of packet memory left that `frame` may be refused for lack of room?
    /// What is on its way out has had time to leave.
    pub(super) fn is_short_after_waiting(&mut self, frame: &[u8]) -> bool {
        let enough = self.short_pages + frame_pages(frame.len()) + PAGES_UNDER_WAY;
        let mut simulation = self.simulation.borrow_mut();
        !self.patience.wait(&mut simulation, enough)
    }

    /// Send a frame, and see whether there was room for it. Only if little is left (`is_short`) it
    /// may be accepted in part for that reason.
    pub(super) fn send_watched(&mut self, frame: &[u8], is_short: bool) -> Room {
        if self.has_unwatched {
            self.take_verdicts(None);
        }
        self.send(frame);
        self.simulation.borrow_mut().run(FRONT_END_CYCLES);
        let no_page = self.device.counter(Counter::DropNoPage);
        let no_page = no_page.expect("the simulated device is not removed");
        if no_page != self.no_page_reported {
            self.no_page_reported = no_page;
            return Room::NoPage;
        }
        let Some(trace) = self.verdict_on(frame) else {
            return Room::Enough;
        };
        self.simulation.borrow_mut().run(STATE_CYCLES);
        let connection = ConnectionId(trace.connection);
        if trace.verdict == SegmentVerdict::NoRange as u8 {
            Room::NoRange
        } else if trace.verdict == SegmentVerdict::NoRoom as u8 {
            match self.device.tcp_state(connection) {
                Ok(tcp) if tcp.ranges == 0 => Room::GivenUp,
                _ => Room::Short,
            }
        } else if is_short {
            let state = self.state(connection);
            state.map_or(Room::Enough, |state| Room::UpTo(taken(&state, &trace)))
        } else {
            Room::Enough
        }
    }

    /// The verdict on the frame just sent, if it gets one. No other frame waits for its own.
    fn verdict_on(&mut self, frame: &[u8]) -> Option<SegmentTrace> {
        let sent = Segment::of_frame(frame).filter(|segment| !segment.payload.is_empty())?;
        let sent = Some((sent.sequence, sent.payload.len() as u16));
        loop {
            let found = self.take_verdicts(sent);
            // The stream manager, which TCP asks, may be long with what it is at.
            if found.is_some() || self.simulation.borrow().is_idle() {
                self.has_unwatched = false;
                return found;
            }
        }
    }

    /// Wait until every stored frame has its verdict, or the segment `(SEG.SEQ, octets)` has, and
    /// keep what comes; that segment's.
    fn take_verdicts(&mut self, segment: Option<(u32, u16)>) -> Option<SegmentTrace> {
        let mut simulation = self.simulation.borrow_mut();
        let mut start = simulation.now();
        while simulation.now() - start < VERDICT_CYCLES {
            simulation.step();
            if simulation.stored_frames() > 0 && !simulation.is_idle() {
                start = simulation.now();
            }
            while let Some(trace) = simulation.next_segment() {
                self.segments.push(trace);
                if segment == Some((trace.seg_seq, trace.seg_len)) {
                    return Some(trace);
                }
            }
        }
        None
    }
}

/// What TCP has made of the segment of `trace`, as its connection's `state` then shows.
fn taken(state: &StreamState, trace: &SegmentTrace) -> Taken {
    let ranges = state.ranges.iter();
    Taken {
        rcv_nxt: state.rcv_nxt,
        verdict: trace.verdict,
        ooo_octets: ranges.map(|r| r.right.wrapping_sub(r.left)).sum(),
        fin_seen: state.fin_seen,
    }
}
