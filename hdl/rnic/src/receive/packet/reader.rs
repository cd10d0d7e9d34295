//! The packet reader: serves read jobs in order, one at a time.
//!
//! ```text
//! job --> planner --segments--> [register slice] --> streamer --> memory address, beat_*
//!            ^                                          ^
//!            +------------- killed, per tag ------------+
//! ```
//!
//! | enters     | `ReadJob`s; page links, frame links and frame entries (own copies); `kill`     |
//! | leaves     | memory addresses; for each word which octets count; `started` once per job     |
//! | latency    | 3 cycles `job_valid` to `read_page`, and 3 more per link followed to `offset`       |
//! | throughput | one word per cycle; jobs of one page: 2 cycles, or their words and one more;   |
//! |            | 6 cycles from a run of one page to the next run                                |
//! | units      | octets, pages of 256 octets, words of `2^O` octets                             |
//!
//! `kill` with the tag of a job that has begun and whose last beat is not yet on its way ends it
//! early: with a beat of no octets, flagged last. Any other kill is ignored. No more than seven
//! jobs are between `started` and `job_left`, so a kill finds its job or none.
use super::planner::Planner;
use super::streamer::Streamer;
pub use super::types::FrameEntry;
use super::types::Segment;
use crate::common::skid::Skid;
use crate::messages::ReadJob;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Packet reader for words of `2^O` octets, `2^B` a page.
#[derive(LogicBlock, Init)]
pub struct PacketReader<const B: usize, const O: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub started: Signal<Out, ReadJob>,
    /// Its tag: jobs count from 0, modulo 8.
    pub started_tag: Signal<Out, Bits<3>>,
    pub started_valid: Signal<Out, Bit>,
    pub started_ready: Signal<In, Bit>,
    /// The last octets of the oldest job have left the joiner; one cycle.
    pub job_left: Signal<In, Bit>,
    /// Ends the job `kill_tag` early; one cycle.
    pub kill: Signal<In, Bit>,
    /// The job to end.
    pub kill_tag: Signal<In, Bits<3>>,
    /// `next[link_page] = link_next`: copy of the store's page links.
    pub link_write: Signal<In, Bit>,
    /// A page in use.
    pub link_page: Signal<In, Bits<9>>,
    /// The page after it.
    pub link_next: Signal<In, Bits<9>>,
    /// `jump[jump_page] = link_next`: copy of the store's links eight pages on.
    pub jump_write: Signal<In, Bit>,
    /// A page in use.
    pub jump_page: Signal<In, Bits<9>>,
    /// Writes the frame table.
    pub frame_table_write: Signal<In, Bit>,
    /// Slot of the frame.
    pub frame_table_index: Signal<In, Bits<10>>,
    pub frame_table_data: Signal<In, FrameEntry>,
    /// Writes the frame links.
    pub frame_link_write: Signal<In, Bit>,
    /// Slot of a frame.
    pub frame_link_index: Signal<In, Bits<10>>,
    /// Slot of the stream's next frame.
    pub frame_link_next: Signal<In, Bits<10>>,
    /// Start no further beat: seven more, begun before, must still find room downstream.
    pub hold: Signal<In, Bit>,
    /// Page to read.
    pub read_page: Signal<Out, Bits<9>>,
    /// Word of it.
    pub read_word: Signal<Out, Bits<B>>,
    /// A beat: its data leaves the memory in the next cycle.
    pub beat_valid: Signal<Out, Bit>,
    /// Lane of the first octet that counts.
    pub beat_first: Signal<Out, Bits<O>>,
    /// Octets that count, 0 to `2^O`; 0 only with `beat_last`.
    pub beat_octets: Signal<Out, Bits<7>>,
    /// The job ends with this beat; no beat follows in the next cycle.
    pub beat_last: Signal<Out, Bit>,
    planner: Planner,
    slice: Skid<Segment>,
    streamer: Streamer<B, O>,
    // Jobs begun whose last beat is not on its way, and those of them that are killed, by tag.
    live: DFF<Bits<8>>,
    killed: DFF<Bits<8>>,
    born: Signal<Local, Bits<8>>,
    gone: Signal<Local, Bits<8>>,
    hit: Signal<Local, Bits<8>>,
    #[constant(1)]
    one: Constant<Bits<8>>,
}

impl<const B: usize, const O: usize> Logic for PacketReader<B, O> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; live, killed);
        wire!(self => self.planner; clock, reset);
        wire!(self => self.slice; clock, reset);
        wire!(self => self.streamer; clock, reset);

        stream!(self => self.planner; job);
        wire!(self.planner => self; started, started_tag, started_valid);
        wire!(self => self.planner;
            started_ready, job_left, link_write, link_page, link_next, jump_write, jump_page,
            frame_table_write, frame_table_index, frame_table_data, frame_link_write,
            frame_link_index, frame_link_next);
        self.planner.killed.next = self.killed.q.val();

        wire!(self.planner => self.slice; segment as s_data, segment_valid as s_valid);
        self.planner.segment_ready.next = self.slice.s_ready.val();
        wire!(self.slice => self.streamer; m_data as segment, m_valid as segment_valid);
        self.slice.m_ready.next = self.streamer.segment_ready.val();
        self.streamer.killed.next = self.killed.q.val();
        self.streamer.hold.next = self.hold.val();
        wire!(self.streamer => self;
            read_page, read_word, beat_valid, beat_first, beat_octets, beat_last);

        // Who lives, who is killed.
        self.born.next = 0.into();
        if self.planner.begun.val() {
            self.born.next = self.one.val() << self.planner.begun_tag.val();
        }
        self.gone.next = 0.into();
        if self.streamer.finish.val() {
            self.gone.next = self.one.val() << self.streamer.finish_tag.val();
        }
        self.hit.next = 0.into();
        if self.kill.val() {
            self.hit.next = self.one.val() << self.kill_tag.val();
        }
        self.live.d.next = (self.live.q.val() | self.born.val()) & !self.gone.val();
        self.killed.d.next =
            (self.killed.q.val() | (self.hit.val() & self.live.q.val())) & !self.gone.val();
        if self.reset.val() {
            self.live.d.next = 0.into();
            self.killed.d.next = 0.into();
        }
    }
}
