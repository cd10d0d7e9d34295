//! The packet reader: serves read jobs in order, one at a time. It finds the pages of a job.
//!
//! | enters | `ReadJob`s; page links, frame links and frame entries (own copies); `cancel` |
//! | leaves | memory addresses; for each word its valid octets; `started` once per job     |
//!
//! The tables of a job's frames must have been written by the cycle in which the job is taken, and
//! must not change until it is done.
use crate::common::fifo::Fifo;
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::ReadJob;
use crate::receive::packet::joiner::{PageRead, Streamer};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Frame table entry: the accepted octets of a queued frame, by slot.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameEntry {
    /// First page of the frame.
    pub head_page: Bits<9>,
    /// First accepted octet, from the start of the stored frame.
    pub offset: Bits<14>,
    /// Accepted octets.
    pub octets: Bits<14>,
}

/// Packet reader for words of `2^O` octets, `2^B` a page: planner, streamer, and cancelled jobs.
///
/// ```text
/// job --> Planner --page reads--> [register slice] --> Streamer --> memory address, beat_*
///            ^                                            ^
///            +------------- cancelled, by tag ------------+
/// ```
///
/// | latency    | 3 cycles `job_valid` to `read_page`, and 3 more per link followed to     |
/// |            | `offset`                                                                 |
/// | throughput | one word per cycle; jobs of one page: 2 cycles, or their words and one   |
/// |            | more; 6 cycles from a run of one page to the next run                    |
/// | units      | octets, pages of 256 octets, words of `2^O` octets                       |
///
/// `cancel` with the tag of a job that has begun, and whose last beat is not yet in the pipeline,
/// cancels it: the job ends with a beat of no octets, flagged last. Any other `cancel` is ignored.
/// At most seven jobs are between `started` and `job_left`, so a tag (3 bits) names at most one.
#[derive(LogicBlock, Init)]
pub struct PacketReader<const B: usize, const O: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // See `Packet`.
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub started: Signal<Out, ReadJob>,
    pub started_tag: Signal<Out, Bits<3>>,
    pub started_valid: Signal<Out, Bit>,
    pub started_ready: Signal<In, Bit>,
    /// The last beat of the oldest job left the joiner; one cycle.
    pub job_left: Signal<In, Bit>,
    pub cancel: Signal<In, Bit>,
    pub cancel_tag: Signal<In, Bits<3>>,
    pub link_write: Signal<In, Bit>,
    pub link_page: Signal<In, Bits<9>>,
    pub link_next: Signal<In, Bits<9>>,
    pub jump_write: Signal<In, Bit>,
    pub jump_page: Signal<In, Bits<9>>,
    pub frame_table_write: Signal<In, Bit>,
    pub frame_table_index: Signal<In, Bits<10>>,
    pub frame_table_data: Signal<In, FrameEntry>,
    pub frame_link_write: Signal<In, Bit>,
    pub frame_link_index: Signal<In, Bits<10>>,
    pub frame_link_next: Signal<In, Bits<10>>,
    // See `Streamer`.
    pub hold: Signal<In, Bit>,
    pub read_page: Signal<Out, Bits<9>>,
    pub read_word: Signal<Out, Bits<B>>,
    pub beat_valid: Signal<Out, Bit>,
    pub beat_first: Signal<Out, Bits<O>>,
    pub beat_octets: Signal<Out, Bits<7>>,
    pub beat_last: Signal<Out, Bit>,
    planner: Planner,
    slice: Skid<PageRead>,
    streamer: Streamer<B, O>,
    // Jobs begun whose last beat is not yet in the pipeline, and those of them that are cancelled,
    // by tag.
    live: DFF<Bits<8>>,
    cancelled: DFF<Bits<8>>,
    born: Signal<Local, Bits<8>>,
    gone: Signal<Local, Bits<8>>,
    hit: Signal<Local, Bits<8>>,
    #[constant(1)]
    one: Constant<Bits<8>>,
}

impl<const B: usize, const O: usize> Logic for PacketReader<B, O> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; live, cancelled);
        wire!(self => self.planner; clock, reset);
        wire!(self => self.slice; clock, reset);
        wire!(self => self.streamer; clock, reset);

        stream!(self => self.planner; job);
        wire!(self.planner => self; started, started_tag, started_valid);
        wire!(self => self.planner;
            started_ready, job_left, link_write, link_page, link_next, jump_write, jump_page,
            frame_table_write, frame_table_index, frame_table_data, frame_link_write,
            frame_link_index, frame_link_next);
        self.planner.cancelled.next = self.cancelled.q.val();

        wire!(self.planner => self.slice; segment as s_data, segment_valid as s_valid);
        self.planner.segment_ready.next = self.slice.s_ready.val();
        wire!(self.slice => self.streamer; m_data as segment, m_valid as segment_valid);
        self.slice.m_ready.next = self.streamer.segment_ready.val();
        self.streamer.cancelled.next = self.cancelled.q.val();
        self.streamer.hold.next = self.hold.val();
        wire!(self.streamer => self;
            read_page, read_word, beat_valid, beat_first, beat_octets, beat_last);

        self.born.next = 0.into();
        if self.planner.begun.val() {
            self.born.next = self.one.val() << self.planner.begun_tag.val();
        }
        self.gone.next = 0.into();
        if self.streamer.finish.val() {
            self.gone.next = self.one.val() << self.streamer.finish_tag.val();
        }
        self.hit.next = 0.into();
        if self.cancel.val() {
            self.hit.next = self.one.val() << self.cancel_tag.val();
        }
        self.live.d.next = (self.live.q.val() | self.born.val()) & !self.gone.val();
        self.cancelled.d.next =
            (self.cancelled.q.val() | (self.hit.val() & self.live.q.val())) & !self.gone.val();
        if self.reset.val() {
            self.live.d.next = 0.into();
            self.cancelled.d.next = 0.into();
        }
    }
}

/// States of the planner.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlannerState {
    /// No job.
    Idle,
    /// The current page is skipped or becomes a page read; its link is being read.
    Page,
    /// The link is being read.
    Read,
    /// The link has been read.
    Step,
    /// The next frame's entry is being read.
    Follow,
}

/// Cuts read jobs into page reads, by walking frames and pages.
///
/// ```text
/// job --> [ job, run, page registers ] --> segment (a page read) --> Streamer
///            |        ^    |       ^
///            |  next[page] |   frame_link[slot], frame_table[next slot]
///            +--> started (FIFO of 8)
/// ```
///
/// | latency    | 1 cycle `job_valid` to `segment_valid`; 3 more per link followed to the  |
/// |            | page of `offset`                                                         |
/// | throughput | 3 cycles per page; 6 cycles from one run of one page to the next; 2      |
/// |            | cycles for a job of one page                                             |
/// | units      | octets; a run is the octets of a job in one frame                        |
///
/// A job begins in the page that it names, which need not be the first page its frame was stored
/// in. The page links are copies, because the pool's RAM has no read port to spare.
#[derive(LogicBlock, Init)]
pub struct Planner {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub started: Signal<Out, ReadJob>,
    pub started_tag: Signal<Out, Bits<3>>,
    pub started_valid: Signal<Out, Bit>,
    pub started_ready: Signal<In, Bit>,
    /// The last beat of the oldest job left the joiner; one cycle.
    pub job_left: Signal<In, Bit>,
    // Copies of links and entries, see `Packet`.
    pub link_write: Signal<In, Bit>,
    pub link_page: Signal<In, Bits<9>>,
    pub link_next: Signal<In, Bits<9>>,
    pub jump_write: Signal<In, Bit>,
    pub jump_page: Signal<In, Bits<9>>,
    pub frame_table_write: Signal<In, Bit>,
    pub frame_table_index: Signal<In, Bits<10>>,
    pub frame_table_data: Signal<In, FrameEntry>,
    pub frame_link_write: Signal<In, Bit>,
    pub frame_link_index: Signal<In, Bits<10>>,
    pub frame_link_next: Signal<In, Bits<10>>,
    /// The next page read.
    pub segment: Signal<Out, PageRead>,
    pub segment_valid: Signal<Out, Bit>,
    pub segment_ready: Signal<In, Bit>,
    /// A job begins, with tag `begun_tag`; one cycle.
    pub begun: Signal<Out, Bit>,
    pub begun_tag: Signal<Out, Bits<3>>,
    /// Cancelled jobs, one bit per tag.
    pub cancelled: Signal<In, Bits<8>>,
    jobs: Skid<ReadJob>,
    queue: Fifo<ReadJob, 3, 4>,
    next: SdpRam<Bits<9>, 9>,
    jump: SdpRam<Bits<9>, 9>,
    frame_link: SdpRam<Bits<10>, 10>,
    frame_table: SdpRam<FrameEntry, 10>,
    state: DFF<PlannerState>,
    // Jobs between `begun` and `job_left`.
    out: DFF<Bits<3>>,
    next_tag: DFF<Bits<3>>,
    started_count: DFF<Bits<3>>,
    tag: DFF<Bits<3>>,
    // The current job is cancelled.
    cut: DFF<Bit>,
    // Slot of the frame.
    slot: DFF<Bits<10>>,
    // Cycles since `slot` changed, up to 5; then `entry` is the next frame's.
    age: DFF<Bits<3>>,
    entry: DFF<FrameEntry>,
    // The run: first and last page, counted from the start of the frame, and the octets there.
    start_index: DFF<Bits<7>>,
    start_octet: DFF<Bits<8>>,
    end_index: DFF<Bits<7>>,
    end_octet: DFF<Bits<8>>,
    no_octets: DFF<Bit>,
    // Octets of the job after the run.
    more: DFF<Bits<18>>,
    last_run: DFF<Bit>,
    page: DFF<Bits<9>>,
    index: DFF<Bits<7>>,
    // The run begins eight pages on or later: jump.
    far: DFF<Bit>,
    begins: Signal<Local, Bit>,
    follows: Signal<Local, Bit>,
    at_end: Signal<Local, Bit>,
    at_start: Signal<Local, Bit>,
    next_job: Signal<Local, ReadJob>,
    next_entry: Signal<Local, FrameEntry>,
    job_offset: Signal<Local, Bits<15>>,
    job_end: Signal<Local, Bits<15>>,
    job_run: Signal<Local, Bits<18>>,
    entry_offset: Signal<Local, Bits<15>>,
    entry_octets: Signal<Local, Bits<18>>,
    entry_end: Signal<Local, Bits<15>>,
    more_end: Signal<Local, Bits<15>>,
    ends_here: Signal<Local, Bit>,
    run_offset: Signal<Local, Bits<15>>,
    run_end: Signal<Local, Bits<15>>,
    part: Signal<Local, PageRead>,
    #[constant(1)]
    one_tag: Constant<Bits<3>>,
    #[constant(8)]
    eight: Constant<Bits<7>>,
    #[constant(1)]
    one_index: Constant<Bits<7>>,
    #[constant(1)]
    one_octet: Constant<Bits<15>>,
    #[constant(7)]
    all_out: Constant<Bits<3>>,
    #[constant(5)]
    settled: Constant<Bits<3>>,
}

impl Logic for Planner {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, out, next_tag, started_count, tag, cut, slot, age, entry);
        registers!(clock; start_index, start_octet, end_index, end_octet, no_octets);
        registers!(clock; more, last_run, page, index, far);
        wire!(self => self.jobs; clock, reset);
        wire!(self => self.queue; clock, reset);
        wire!(self => self.{next, jump, frame_link, frame_table}; clock);

        wire!(self => self.next;
            link_write as write_enable, link_page as write_address, link_next as write_data);
        self.next.read_address.next = self.page.q.val();
        wire!(self => self.jump;
            jump_write as write_enable, jump_page as write_address, link_next as write_data);
        self.jump.read_address.next = self.page.q.val();
        self.frame_link.write_enable.next = self.frame_link_write.val();
        self.frame_link.write_address.next = self.frame_link_index.val();
        self.frame_link.write_data.next = self.frame_link_next.val();
        self.frame_link.read_address.next = self.slot.q.val();
        self.frame_table.write_enable.next = self.frame_table_write.val();
        self.frame_table.write_address.next = self.frame_table_index.val();
        self.frame_table.write_data.next = self.frame_table_data.val();
        self.frame_table.read_address.next = self.frame_link.read_data.val();

        wire!(self => self.jobs; job as s_data, job_valid as s_valid);
        wire!(self.jobs => self; s_ready as job_ready, m_data as next_job);
        self.next_entry.next = self.entry.q.val();
        // The next frame's entry is read in every cycle, and valid once `age` is `settled`.
        self.entry.d.next = self.frame_table.read_data.val();

        // Next run: of the next job, or in the next frame of the current one.
        self.begins.next = (self.state.q.val() == PlannerState::Idle)
            & self.jobs.m_valid.val()
            & (self.out.q.val() != self.all_out.val())
            & !self.queue.full.val();
        self.follows.next = (self.state.q.val() == PlannerState::Follow)
            & (self.age.q.val() == self.settled.val())
            & !self.cut.q.val();
        self.jobs.m_ready.next = self.begins.val();
        self.begun.next = self.begins.val();
        self.begun_tag.next = self.next_tag.q.val();
        self.queue.write.next = self.begins.val();
        self.queue.data_in.next = self.jobs.m_data.val();
        self.started.next = self.queue.data_out.val();
        self.started_valid.next = !self.queue.empty.val();
        self.queue.read.next = self.started_ready.val();
        self.started_tag.next = self.started_count.q.val();
        if self.started_ready.val() & !self.queue.empty.val() {
            self.started_count.d.next = self.started_count.q.val() + self.one_tag.val();
        }

        // Bounds of the run, and the octets of the job after it.
        self.job_offset.next = bit_cast::<15, 14>(self.next_job.val().offset);
        self.job_end.next = (self.job_offset.val()
            + bit_cast::<15, 14>(self.next_job.val().run_octets))
            - self.one_octet.val();
        self.job_run.next = bit_cast::<18, 14>(self.next_job.val().run_octets);
        self.entry_offset.next = bit_cast::<15, 14>(self.next_entry.val().offset);
        self.entry_octets.next = bit_cast::<18, 14>(self.next_entry.val().octets);
        self.entry_end.next = (self.entry_offset.val()
            + bit_cast::<15, 14>(self.next_entry.val().octets))
            - self.one_octet.val();
        self.more_end.next =
            (self.entry_offset.val() + self.more.q.val().get_bits::<15>(0)) - self.one_octet.val();
        self.ends_here.next = self.entry_octets.val() >= self.more.q.val();
        self.run_offset.next = self.job_offset.val();
        self.run_end.next = self.job_end.val();
        if self.follows.val() {
            self.run_offset.next = self.entry_offset.val();
            self.run_end.next = self.entry_end.val();
            if self.ends_here.val() {
                self.run_end.next = self.more_end.val();
            }
        }
        if self.age.q.val() != self.settled.val() {
            self.age.d.next = self.age.q.val() + self.one_tag.val();
        }
        self.cut.d.next = self.cancelled.val().get_bit(self.tag.q.val().index());

        // The current page. Jumps come first: `index` is a multiple of eight until its group of
        // eight is the one of `start_index`.
        self.far.d.next =
            self.index.q.val().get_bits::<4>(3) < self.start_index.q.val().get_bits::<4>(3);
        self.at_start.next = self.index.q.val() == self.start_index.q.val();
        self.at_end.next = self.index.q.val() == self.end_index.q.val();
        self.part.next.page = self.page.q.val();
        self.part.next.first_octet = 0.into();
        if self.at_start.val() {
            self.part.next.first_octet = self.start_octet.q.val();
        }
        self.part.next.last_octet = 255.into();
        if self.at_end.val() {
            self.part.next.last_octet = self.end_octet.q.val();
        }
        self.part.next.nothing = self.cut.q.val() | self.no_octets.q.val();
        self.part.next.job_last = self.cut.q.val()
            | (self.last_run.q.val() & (self.at_end.val() | self.no_octets.q.val()));
        self.segment.next = self.part.val();
        self.segment_valid.next = false;

        match self.state.q.val() {
            PlannerState::Page => {
                if self.cut.q.val() | self.no_octets.q.val() {
                    self.segment_valid.next = true;
                    if self.segment_ready.val() {
                        self.state.d.next = PlannerState::Follow;
                        if self.cut.q.val() | self.last_run.q.val() {
                            self.state.d.next = PlannerState::Idle;
                        }
                    }
                } else if self.index.q.val() < self.start_index.q.val() {
                    self.state.d.next = PlannerState::Read;
                } else {
                    self.segment_valid.next = true;
                    if self.segment_ready.val() {
                        self.state.d.next = PlannerState::Read;
                        if self.at_end.val() {
                            self.state.d.next = PlannerState::Follow;
                            if self.last_run.q.val() {
                                self.state.d.next = PlannerState::Idle;
                            }
                        }
                    }
                }
            }
            PlannerState::Read => self.state.d.next = PlannerState::Step,
            PlannerState::Step => {
                self.page.d.next = self.next.read_data.val();
                self.index.d.next = self.index.q.val() + self.one_index.val();
                if self.far.q.val() {
                    self.page.d.next = self.jump.read_data.val();
                    self.index.d.next = self.index.q.val() + self.eight.val();
                }
                self.state.d.next = PlannerState::Page;
            }
            _ => {}
        }
        if (self.state.q.val() == PlannerState::Follow) & self.cut.q.val() {
            self.state.d.next = PlannerState::Page;
        }
        if self.begins.val() | self.follows.val() {
            self.state.d.next = PlannerState::Page;
            self.index.d.next = 0.into();
            self.age.d.next = 0.into();
            self.start_index.d.next = self.run_offset.val().get_bits::<7>(8);
            self.start_octet.d.next = self.run_offset.val().get_bits::<8>(0);
            self.end_index.d.next = self.run_end.val().get_bits::<7>(8);
            self.end_octet.d.next = self.run_end.val().get_bits::<8>(0);
        }
        if self.begins.val() {
            self.next_tag.d.next = self.next_tag.q.val() + self.one_tag.val();
            self.tag.d.next = self.next_tag.q.val();
            self.cut.d.next = false;
            self.slot.d.next = self.next_job.val().slot;
            self.page.d.next = self.next_job.val().head_page;
            self.no_octets.d.next = !self.next_job.val().run_octets.any();
            self.more.d.next = self.next_job.val().octets - self.job_run.val();
            self.last_run.d.next = self.next_job.val().octets <= self.job_run.val();
        }
        if self.follows.val() {
            self.slot.d.next = self.frame_link.read_data.val();
            self.page.d.next = self.next_entry.val().head_page;
            self.no_octets.d.next = !self.next_entry.val().octets.any();
            self.more.d.next = self.more.q.val() - self.entry_octets.val();
            self.last_run.d.next = self.ends_here.val();
        }
        if self.begins.val() & !self.job_left.val() {
            self.out.d.next = self.out.q.val() + self.one_tag.val();
        }
        if self.job_left.val() & !self.begins.val() {
            self.out.d.next = self.out.q.val() - self.one_tag.val();
        }
        if self.reset.val() {
            self.state.d.next = PlannerState::Idle;
            self.out.d.next = 0.into();
            self.next_tag.d.next = 0.into();
            self.started_count.d.next = 0.into();
        }
    }
}
