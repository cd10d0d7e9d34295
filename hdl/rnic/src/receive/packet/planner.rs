//! Turns read jobs into segments, the part of a job in one page each, by walking frames and pages.
//!
//! ```text
//! job --> [ job, run, page registers ] --> segment --> streamer
//!            |        ^    |       ^
//!            |  next[page] |   frame_link[slot], frame_table[next slot]
//!            +--> started (FIFO of 8)
//! ```
//!
//! | enters     | `ReadJob`s; copies of the page links, frame links and frame entries        |
//! | leaves     | segments in order, the last of a job flagged; `started` once per job       |
//! | latency    | 1 cycle `job_valid` to `segment_valid`; 3 more per link followed to the    |
//! |            | page of `offset`: links lead to the next page and eight pages on          |
//! | throughput | 3 cycles per page; 6 cycles from one run of one page to the next; 2 cycles |
//! |            | for a job of one page                                                      |
//! | units      | octets; a run is the octets of a job in one frame                          |
//!
//! The tables of a job's frames must have been written by the cycle in which the job is taken, and
//! hold until it is done. A job begins in the page that it names, which need not be the first one
//! that its frame was stored in. At most 7 jobs are between `begun` and `job_left`, so that a tag
//! (3 bits) means one job. A job that is killed ends with a segment of no octets.
use super::types::{FrameEntry, Segment};
use crate::common::fifo::Fifo;
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::ReadJob;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What the planner does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlannerState {
    /// No job.
    Idle,
    /// The page at hand is skipped or becomes a segment; its link is being read.
    Page,
    /// The link is being read.
    Read,
    /// The link is there.
    Step,
    /// The next frame's entry is being read.
    Follow,
}

/// Planner of the packet reader.
#[derive(LogicBlock, Init)]
pub struct Planner {
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
    /// The next part of a job.
    pub segment: Signal<Out, Segment>,
    pub segment_valid: Signal<Out, Bit>,
    pub segment_ready: Signal<In, Bit>,
    /// A job begins; one cycle.
    pub begun: Signal<Out, Bit>,
    /// Its tag.
    pub begun_tag: Signal<Out, Bits<3>>,
    /// Killed jobs, one bit per tag.
    pub killed: Signal<In, Bits<8>>,
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
    // The job at hand is killed.
    cut: DFF<Bit>,
    // Slot of the frame.
    slot: DFF<Bits<10>>,
    // Cycles that `slot` has been there, up to 5: its entry's successor is in `entry` then.
    age: DFF<Bits<3>>,
    entry: DFF<FrameEntry>,
    // The run: pages of the frame it begins and ends in, and the octets there.
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
    part: Signal<Local, Segment>,
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
        // The successor's entry is read all the time; it counts once `age` says so.
        self.entry.d.next = self.frame_table.read_data.val();

        // What is next: a job, or the next frame of this one.
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

        // Its run: where it begins and ends, and what remains after it.
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
        self.cut.d.next = self.killed.val().get_bit(self.tag.q.val().index());

        // The page at hand. `index` is a multiple of eight until the group of eight is right.
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
