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
use rust_hdl::prelude::*;

/// Packet reader for words of `2^O` octets, `2^B` a page.
#[derive(LogicBlock)]
pub struct PacketReader<const B: usize, const O: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets all jobs.
    pub reset: Signal<In, Bit>,
    /// The next job.
    pub job: Signal<In, ReadJob>,
    /// `job` counts.
    pub job_valid: Signal<In, Bit>,
    /// `job` is taken.
    pub job_ready: Signal<Out, Bit>,
    /// A job that has begun.
    pub started: Signal<Out, ReadJob>,
    /// Its tag: jobs count from 0, modulo 8.
    pub started_tag: Signal<Out, Bits<3>>,
    /// `started` counts.
    pub started_valid: Signal<Out, Bit>,
    /// `started` is taken.
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
    /// Its accepted octets.
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
    one: Constant<Bits<8>>,
}

impl<const B: usize, const O: usize> Default for PacketReader<B, O> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            started: Default::default(),
            started_tag: Default::default(),
            started_valid: Default::default(),
            started_ready: Default::default(),
            job_left: Default::default(),
            kill: Default::default(),
            kill_tag: Default::default(),
            link_write: Default::default(),
            link_page: Default::default(),
            link_next: Default::default(),
            jump_write: Default::default(),
            jump_page: Default::default(),
            frame_table_write: Default::default(),
            frame_table_index: Default::default(),
            frame_table_data: Default::default(),
            frame_link_write: Default::default(),
            frame_link_index: Default::default(),
            frame_link_next: Default::default(),
            hold: Default::default(),
            read_page: Default::default(),
            read_word: Default::default(),
            beat_valid: Default::default(),
            beat_first: Default::default(),
            beat_octets: Default::default(),
            beat_last: Default::default(),
            planner: Default::default(),
            slice: Default::default(),
            streamer: Default::default(),
            live: Default::default(),
            killed: Default::default(),
            born: Default::default(),
            gone: Default::default(),
            hit: Default::default(),
            one: Constant::new(1u64.into()),
        }
    }
}

impl<const B: usize, const O: usize> Logic for PacketReader<B, O> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, live, killed);
        self.planner.clock.next = self.clock.val();
        self.planner.reset.next = self.reset.val();
        self.slice.clock.next = self.clock.val();
        self.slice.reset.next = self.reset.val();
        self.streamer.clock.next = self.clock.val();
        self.streamer.reset.next = self.reset.val();

        self.planner.job.next = self.job.val();
        self.planner.job_valid.next = self.job_valid.val();
        self.job_ready.next = self.planner.job_ready.val();
        self.started.next = self.planner.started.val();
        self.started_tag.next = self.planner.started_tag.val();
        self.started_valid.next = self.planner.started_valid.val();
        self.planner.started_ready.next = self.started_ready.val();
        self.planner.job_left.next = self.job_left.val();
        self.planner.link_write.next = self.link_write.val();
        self.planner.link_page.next = self.link_page.val();
        self.planner.link_next.next = self.link_next.val();
        self.planner.jump_write.next = self.jump_write.val();
        self.planner.jump_page.next = self.jump_page.val();
        self.planner.frame_table_write.next = self.frame_table_write.val();
        self.planner.frame_table_index.next = self.frame_table_index.val();
        self.planner.frame_table_data.next = self.frame_table_data.val();
        self.planner.frame_link_write.next = self.frame_link_write.val();
        self.planner.frame_link_index.next = self.frame_link_index.val();
        self.planner.frame_link_next.next = self.frame_link_next.val();
        self.planner.killed.next = self.killed.q.val();

        self.slice.s_data.next = self.planner.segment.val();
        self.slice.s_valid.next = self.planner.segment_valid.val();
        self.planner.segment_ready.next = self.slice.s_ready.val();
        self.streamer.segment.next = self.slice.m_data.val();
        self.streamer.segment_valid.next = self.slice.m_valid.val();
        self.slice.m_ready.next = self.streamer.segment_ready.val();
        self.streamer.killed.next = self.killed.q.val();
        self.streamer.hold.next = self.hold.val();
        self.read_page.next = self.streamer.read_page.val();
        self.read_word.next = self.streamer.read_word.val();
        self.beat_valid.next = self.streamer.beat_valid.val();
        self.beat_first.next = self.streamer.beat_first.val();
        self.beat_octets.next = self.streamer.beat_octets.val();
        self.beat_last.next = self.streamer.beat_last.val();

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
