//! The packet room: store, pool, memory, reader and joiner, and the wires between them.
//!
//! | enters     | frames (W), verdicts, released chains, jobs, kills, frame tables   |
//! | leaves     | stored frames, page links, started jobs, joined beats (D)          |
//! | latency    | 9 cycles `job` taken to first `joined_valid`                       |
//! | throughput | one beat in and one beat out per cycle                             |
//! | units      | octets, pages of 256 octets                                        |
//!
//! No logic here. The contract is in the room's door, `packet/mod.rs`.
use super::memory::PacketMemory;
use super::pool::PagePool;
use super::reader::PacketReader;
use super::store::PacketStore;
use super::types::FrameEntry;
use crate::messages::{FrameInfo, PageChain, ReadJob, StoredFrame};
use crate::mpa::joiner::Joiner;
use rust_hdl::prelude::*;

/// Packet room for W = 64, D = 128.
pub type Packet64 = Packet<64, 128, 13, 4, 4, 2>;
/// Packet room for W = 128, D = 128.
pub type Packet128 = Packet<128, 128, 13, 4, 4, 2>;
/// Packet room for W = 512, D = 512.
pub type Packet512 = Packet<512, 512, 11, 2, 6, 3>;

/// W bits a beat in, D out; words of `2^O` octets, `2^B` a page, `2^A` in all; `H = O/2`.
#[derive(LogicBlock, Default)]
pub struct Packet<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets all frames and jobs, and frees every page.
    pub reset: Signal<In, Bit>,
    /// A beat of the stored frame, lane 0 first.
    pub store_data: Signal<In, Bits<W>>,
    /// `store_data` and `store_last` count.
    pub store_valid: Signal<In, Bit>,
    /// Last beat of its frame.
    pub store_last: Signal<In, Bit>,
    /// What was read of the frame that ended last.
    pub frame_info: Signal<In, FrameInfo>,
    /// `frame_info` counts.
    pub frame_info_valid: Signal<In, Bit>,
    /// The oldest stored frame.
    pub stored: Signal<Out, StoredFrame>,
    /// `stored` counts.
    pub stored_valid: Signal<Out, Bit>,
    /// `stored` is taken.
    pub stored_ready: Signal<In, Bit>,
    /// A frame was dropped for lack of room; one cycle.
    pub count_no_page: Signal<Out, Bit>,
    /// Stored frames that wait for TCP, of 16.
    pub stored_frames: Signal<Out, Bits<5>>,
    /// Pages that nobody owns.
    pub free_pages: Signal<Out, Bits<10>>,
    /// Chain given back by TCP.
    pub release0: Signal<In, PageChain>,
    /// `release0` counts.
    pub release0_valid: Signal<In, Bit>,
    /// `release0` is taken.
    pub release0_ready: Signal<Out, Bit>,
    /// Chain given back by the stream manager.
    pub release1: Signal<In, PageChain>,
    /// `release1` counts.
    pub release1_valid: Signal<In, Bit>,
    /// `release1` is taken.
    pub release1_ready: Signal<Out, Bit>,
    /// Chain given back by the host path.
    pub release2: Signal<In, PageChain>,
    /// `release2` counts.
    pub release2_valid: Signal<In, Bit>,
    /// `release2` is taken.
    pub release2_ready: Signal<Out, Bit>,
    /// Chain given back by nobody yet.
    pub release3: Signal<In, PageChain>,
    /// `release3` counts.
    pub release3_valid: Signal<In, Bit>,
    /// `release3` is taken.
    pub release3_ready: Signal<Out, Bit>,
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
    /// Ends the job `kill_tag` early; one cycle.
    pub kill: Signal<In, Bit>,
    /// The job to end.
    pub kill_tag: Signal<In, Bits<3>>,
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
    /// `next[link_page] = link_next`: the store links two pages of a frame.
    pub link_write: Signal<Out, Bit>,
    /// A page in use.
    pub link_page: Signal<Out, Bits<9>>,
    /// The page after it.
    pub link_next: Signal<Out, Bits<9>>,
    /// `jump[jump_page] = link_next`: the store links two pages eight apart.
    pub jump_write: Signal<Out, Bit>,
    /// A page in use.
    pub jump_page: Signal<Out, Bits<9>>,
    /// Octets of a job.
    pub joined_data: Signal<Out, Bits<D>>,
    /// How many, from lane 0 on.
    pub joined_octets: Signal<Out, Bits<7>>,
    /// First beat of its job.
    pub joined_first: Signal<Out, Bit>,
    /// Last beat of its job.
    pub joined_last: Signal<Out, Bit>,
    /// `joined_*` counts.
    pub joined_valid: Signal<Out, Bit>,
    /// The beat is taken.
    pub joined_ready: Signal<In, Bit>,
    store: PacketStore<W, D, B>,
    pool: PagePool,
    memory: PacketMemory<D, A, B>,
    reader: PacketReader<B, O>,
    joiner: Joiner<D, O, H>,
}

impl<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    > Logic for Packet<W, D, A, B, O, H>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.store.clock.next = self.clock.val();
        self.store.reset.next = self.reset.val();
        self.pool.clock.next = self.clock.val();
        self.pool.reset.next = self.reset.val();
        self.memory.clock.next = self.clock.val();
        self.reader.clock.next = self.clock.val();
        self.reader.reset.next = self.reset.val();
        self.joiner.clock.next = self.clock.val();
        self.joiner.reset.next = self.reset.val();

        // Frames in.
        self.store.store_data.next = self.store_data.val();
        self.store.store_valid.next = self.store_valid.val();
        self.store.store_last.next = self.store_last.val();
        self.store.frame_info.next = self.frame_info.val();
        self.store.frame_info_valid.next = self.frame_info_valid.val();
        self.store.stored_ready.next = self.stored_ready.val();
        self.stored.next = self.store.stored.val();
        self.stored_valid.next = self.store.stored_valid.val();
        self.count_no_page.next = self.store.count_no_page.val();

        // Pages.
        self.store.alloc_page.next = self.pool.alloc_page.val();
        self.store.alloc_valid.next = self.pool.alloc_valid.val();
        self.pool.alloc_take.next = self.store.alloc_take.val();
        self.store.release_room.next = self.pool.own_release_room.val();
        self.pool.own_release.next = self.store.refused.val();
        self.pool.own_release_valid.next = self.store.refused_valid.val();
        self.pool.link_write.next = self.store.link_write.val();
        self.pool.link_page.next = self.store.link_page.val();
        self.pool.link_next.next = self.store.link_next.val();
        self.reader.link_write.next = self.store.link_write.val();
        self.reader.link_page.next = self.store.link_page.val();
        self.reader.link_next.next = self.store.link_next.val();
        self.reader.jump_write.next = self.store.jump_write.val();
        self.reader.jump_page.next = self.store.jump_page.val();
        self.link_write.next = self.store.link_write.val();
        self.link_page.next = self.store.link_page.val();
        self.link_next.next = self.store.link_next.val();
        self.jump_write.next = self.store.jump_write.val();
        self.jump_page.next = self.store.jump_page.val();
        self.pool.release0.next = self.release0.val();
        self.pool.release0_valid.next = self.release0_valid.val();
        self.release0_ready.next = self.pool.release0_ready.val();
        self.pool.release1.next = self.release1.val();
        self.pool.release1_valid.next = self.release1_valid.val();
        self.release1_ready.next = self.pool.release1_ready.val();
        self.pool.release2.next = self.release2.val();
        self.pool.release2_valid.next = self.release2_valid.val();
        self.release2_ready.next = self.pool.release2_ready.val();
        self.pool.release3.next = self.release3.val();
        self.pool.release3_valid.next = self.release3_valid.val();
        self.release3_ready.next = self.pool.release3_ready.val();
        self.free_pages.next = self.pool.free_pages.val();
        self.stored_frames.next = self.store.waiting.val();

        // Memory.
        self.memory.write_enable.next = self.store.memory_write.val();
        self.memory.write_page.next = self.store.memory_page.val();
        self.memory.write_word.next = self.store.memory_word.val();
        self.memory.write_data.next = self.store.memory_data.val();
        self.memory.read_page.next = self.reader.read_page.val();
        self.memory.read_word.next = self.reader.read_word.val();

        // Jobs.
        self.reader.job.next = self.job.val();
        self.reader.job_valid.next = self.job_valid.val();
        self.job_ready.next = self.reader.job_ready.val();
        self.started.next = self.reader.started.val();
        self.started_tag.next = self.reader.started_tag.val();
        self.started_valid.next = self.reader.started_valid.val();
        self.reader.started_ready.next = self.started_ready.val();
        self.reader.kill.next = self.kill.val();
        self.reader.kill_tag.next = self.kill_tag.val();
        self.reader.frame_table_write.next = self.frame_table_write.val();
        self.reader.frame_table_index.next = self.frame_table_index.val();
        self.reader.frame_table_data.next = self.frame_table_data.val();
        self.reader.frame_link_write.next = self.frame_link_write.val();
        self.reader.frame_link_index.next = self.frame_link_index.val();
        self.reader.frame_link_next.next = self.frame_link_next.val();
        self.reader.job_left.next = self.joiner.job_left.val();
        self.reader.hold.next = self.joiner.almost_full.val();

        // Octets out.
        self.joiner.beat_valid.next = self.reader.beat_valid.val();
        self.joiner.beat_first.next = self.reader.beat_first.val();
        self.joiner.beat_octets.next = self.reader.beat_octets.val();
        self.joiner.beat_last.next = self.reader.beat_last.val();
        self.joiner.beat_data.next = self.memory.read_data.val();
        self.joined_data.next = self.joiner.joined_data.val();
        self.joined_octets.next = self.joiner.joined_octets.val();
        self.joined_first.next = self.joiner.joined_first.val();
        self.joined_last.next = self.joiner.joined_last.val();
        self.joined_valid.next = self.joiner.joined_valid.val();
        self.joiner.joined_ready.next = self.joined_ready.val();
    }
}
