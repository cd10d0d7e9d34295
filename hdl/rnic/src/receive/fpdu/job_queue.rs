//! Jobs that the reader has started, and the one the splitter works on.
//!
//! | latency    | 2 cycles, `started` into an empty queue to `waiting`; 1, `take` to `job`    |
//! | throughput | one job per cycle                                                           |
//! | depth      | 4 jobs, and the one in work                                                 |
use crate::common::fifo::Fifo;
use crate::messages::{ReadJob, JOB_HOST};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What the splitter keeps of a `ReadJob`, and the reader's number of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StartedJob {
    /// As in `ReadJob`.
    pub kind: Bits<2>,
    /// As in `ReadJob`.
    pub connection: Bits<10>,
    /// As in `ReadJob`.
    pub octets: Bits<18>,
    /// As in `ReadJob`.
    pub sequence: Bits<32>,
    /// As in `ReadJob`.
    pub phase: Bits<7>,
    /// As in `ReadJob`; false for host frames.
    pub markers: Bit,
    /// As in `ReadJob`; false for host frames.
    pub crc: Bit,
    /// As in `ReadJob`.
    pub head_page: Bits<9>,
    /// As in `ReadJob`.
    pub tail_page: Bits<9>,
    /// As in `ReadJob`; false for host frames.
    pub early: Bit,
    /// As in `ReadJob`.
    pub span: Bits<9>,
    /// As in `ReadJob`.
    pub proven: Bit,
    /// The reader's number.
    pub tag: Bits<3>,
}

/// Queue of started jobs.
#[derive(LogicBlock, Init)]
pub struct JobQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A job whose octets will come.
    pub started: Signal<In, ReadJob>,
    /// The reader's number of it.
    pub started_tag: Signal<In, Bits<3>>,
    pub started_valid: Signal<In, Bit>,
    pub started_ready: Signal<Out, Bit>,
    /// A job waits.
    pub waiting: Signal<Out, Bit>,
    /// The job that waits.
    pub next_job: Signal<Out, StartedJob>,
    /// The job that waits is taken into work; only while `waiting`.
    pub take: Signal<In, Bit>,
    /// The job in work.
    pub job: Signal<Out, StartedJob>,
    jobs: Fifo<StartedJob, 2, 3>,
    current: DFF<StartedJob>,
    entry: Signal<Local, StartedJob>,
    #[constant(JOB_HOST)]
    kind_host: Constant<Bits<2>>,
}

impl Logic for JobQueue {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; current);
        wire!(self => self.jobs; clock, reset);
        self.entry.next.kind = self.started.val().kind;
        self.entry.next.connection = self.started.val().connection;
        self.entry.next.octets = self.started.val().octets;
        self.entry.next.sequence = self.started.val().sequence;
        self.entry.next.phase = self.started.val().phase;
        self.entry.next.markers = self.started.val().markers;
        self.entry.next.crc = self.started.val().crc;
        self.entry.next.head_page = self.started.val().head_page;
        self.entry.next.tail_page = self.started.val().tail_page;
        self.entry.next.early = self.started.val().early;
        self.entry.next.span = self.started.val().span;
        self.entry.next.proven = self.started.val().proven;
        self.entry.next.tag = self.started_tag.val();
        if self.started.val().kind == self.kind_host.val() {
            self.entry.next.markers = false;
            self.entry.next.crc = false;
            self.entry.next.early = false;
        }
        wire!(self => self.jobs; started_valid as write, entry as data_in);
        self.started_ready.next = !self.jobs.full.val();
        self.waiting.next = !self.jobs.empty.val();
        self.next_job.next = self.jobs.data_out.val();
        self.jobs.read.next = self.take.val();
        if self.take.val() {
            self.current.d.next = self.jobs.data_out.val();
        }
        self.job.next = self.current.q.val();
    }
}
