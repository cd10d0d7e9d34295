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
use crate::receive::packet::joiner::Joiner;
use rnic_macros::kernel;
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
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets all frames and jobs, and frees every page.
    pub reset: Signal<In, Bit>,
    /// A beat of the stored frame, lane 0 first.
    pub store_data: Signal<In, Bits<W>>,
    pub store_valid: Signal<In, Bit>,
    /// Last beat of its frame.
    pub store_last: Signal<In, Bit>,
    pub frame_info: Signal<In, FrameInfo>,
    pub frame_info_valid: Signal<In, Bit>,
    pub stored: Signal<Out, StoredFrame>,
    pub stored_valid: Signal<Out, Bit>,
    pub stored_ready: Signal<In, Bit>,
    /// A frame was dropped for lack of room; one cycle.
    pub count_no_page: Signal<Out, Bit>,
    /// Stored frames that wait for TCP, of 16.
    pub stored_frames: Signal<Out, Bits<5>>,
    /// Pages that nobody owns.
    pub free_pages: Signal<Out, Bits<10>>,
    /// Chain given back by TCP.
    pub release0: Signal<In, PageChain>,
    pub release0_valid: Signal<In, Bit>,
    pub release0_ready: Signal<Out, Bit>,
    /// Chain given back by the stream manager.
    pub release1: Signal<In, PageChain>,
    pub release1_valid: Signal<In, Bit>,
    pub release1_ready: Signal<Out, Bit>,
    /// Chain given back by the host path.
    pub release2: Signal<In, PageChain>,
    pub release2_valid: Signal<In, Bit>,
    pub release2_ready: Signal<Out, Bit>,
    /// Chain given back by nobody yet.
    pub release3: Signal<In, PageChain>,
    pub release3_valid: Signal<In, Bit>,
    pub release3_ready: Signal<Out, Bit>,
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub started: Signal<Out, ReadJob>,
    /// Its tag: jobs count from 0, modulo 8.
    pub started_tag: Signal<Out, Bits<3>>,
    pub started_valid: Signal<Out, Bit>,
    pub started_ready: Signal<In, Bit>,
    /// Ends the job `kill_tag` early; one cycle.
    pub kill: Signal<In, Bit>,
    /// The job to end.
    pub kill_tag: Signal<In, Bits<3>>,
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
    pub joined_valid: Signal<Out, Bit>,
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
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.store; clock, reset);
        wire!(self => self.pool; clock, reset);
        self.memory.clock.next = self.clock.val();
        wire!(self => self.reader; clock, reset);
        wire!(self => self.joiner; clock, reset);

        // Frames in.
        wire!(self => self.store;
            store_data, store_valid, store_last, frame_info, frame_info_valid, stored_ready);
        wire!(self.store => self; stored, stored_valid, count_no_page);

        // Pages.
        wire!(self.pool => self.store; alloc_page, alloc_valid);
        self.pool.alloc_take.next = self.store.alloc_take.val();
        self.store.release_room.next = self.pool.own_release_room.val();
        wire!(self.store => self.pool;
            refused as own_release, refused_valid as own_release_valid, link_write, link_page,
            link_next);
        wire!(self.store => self.reader; link_write, link_page, link_next, jump_write, jump_page);
        wire!(self.store => self; link_write, link_page, link_next, jump_write, jump_page);
        stream!(self => self.pool; release0, release1, release2, release3);
        self.free_pages.next = self.pool.free_pages.val();
        self.stored_frames.next = self.store.waiting.val();

        // Memory.
        wire!(self.store => self.memory;
            memory_write as write_enable, memory_page as write_page, memory_word as write_word,
            memory_data as write_data);
        wire!(self.reader => self.memory; read_page, read_word);

        // Jobs.
        stream!(self => self.reader; job);
        wire!(self.reader => self; started, started_tag, started_valid);
        wire!(self => self.reader;
            started_ready, kill, kill_tag, frame_table_write, frame_table_index, frame_table_data,
            frame_link_write, frame_link_index, frame_link_next);
        wire!(self.joiner => self.reader; job_left, almost_full as hold);

        // Octets out.
        wire!(self.reader => self.joiner; beat_valid, beat_first, beat_octets, beat_last);
        self.joiner.beat_data.next = self.memory.read_data.val();
        wire!(self.joiner => self;
            joined_data, joined_octets, joined_first, joined_last, joined_valid);
        self.joiner.joined_ready.next = self.joined_ready.val();
    }
}
