//! Packet memory: arriving frames are written into pages; octets of accepted frames are read back
//! as jobs, each one run of full beats.
//!
//! ```text
//! store_*, frame_info --> store --> memory --> (words read) --> joiner --> joined_*
//!                           |  ^                  ^
//!                  stored <-+  +-- pool           +-- reader <-- job, cancel, frame tables
//!                                   ^--- release*
//! ```
//!
//! 512 pages of 256 octets. A frame takes whole pages, from its first beat on; `next[page]` links
//! them. The owner of a frame (head and tail page) owns its pages, and releases each of them once,
//! in one chain or in several, first pages first. Until then its octets stay where they are. After
//! a partial release a frame is read from its first remaining page. A frame is named by its last
//! page, so the link to the next frame stays valid.
//!
//! | dropped                                        | counted                         |
//! |------------------------------------------------|---------------------------------|
//! | `FrameVerdict::Drop`                           | no (the front end counts)       |
//! | no free page, or the release queue nearly full | `count_no_page`: `drop_no_page` |
//! | 16 stored frames are queued                    | `count_no_page`: `drop_no_page` |
//!
//! | path                                     | cycles                                |
//! |------------------------------------------|---------------------------------------|
//! | `frame_info` to `stored_valid`           | 2                                     |
//! | `job` taken to first `joined_valid`      | 9, 10 if the first word is partial    |
//! | ... for each link followed to `offset`   | 3; a link leads one or eight pages on |
//! | page to page within a run                | 0                                     |
//! | run to run of one job                    | 0 to 6                                |
//! | job to job                               | 1 to 2                                |
//! | release of a page until it is free again | 4, and 3 per page before it           |
//!
//! One beat per cycle in (W bits) and out (D bits). Units: octets, pages of 256 octets.
//!
//! Synthesis of [`Packet64`] (yosys, nextpnr, seed 1, out of context, ECP5-5G -8): 2,235 LUT4,
//! 2,457 registers, 203 DPR16X4, 67 DP16KD; 198 MHz. The limit is the multiplexer after the packet
//! memory, which yosys builds of blocks of 2,048 words.
pub mod key_hash;
pub mod store;
pub mod pool;
pub mod reader;
pub mod joiner;

use crate::common::ram::SdpRam;
use crate::messages::{FrameInfo, PageChain, ReadJob, StoredFrame};
use joiner::Joiner;
use pool::PagePool;
use reader::{FrameEntry, PacketReader};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;
use store::PacketStore;

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
    /// Synchronous; discards all frames and jobs, and frees every page.
    pub reset: Signal<In, Bit>,
    // Beats of the stored frame, see `FrontEnd`.
    pub store_data: Signal<In, Bits<W>>,
    pub store_valid: Signal<In, Bit>,
    pub store_last: Signal<In, Bit>,
    pub frame_info: Signal<In, FrameInfo>,
    pub frame_info_valid: Signal<In, Bit>,
    pub stored: Signal<Out, StoredFrame>,
    pub stored_valid: Signal<Out, Bit>,
    pub stored_ready: Signal<In, Bit>,
    /// A frame was dropped for lack of space; one cycle.
    pub count_no_page: Signal<Out, Bit>,
    /// Stored frames that TCP has not taken, of 16.
    pub stored_frames: Signal<Out, Bits<5>>,
    /// Pages without owner.
    pub free_pages: Signal<Out, Bits<10>>,
    /// From TCP.
    pub release0: Signal<In, PageChain>,
    pub release0_valid: Signal<In, Bit>,
    pub release0_ready: Signal<Out, Bit>,
    /// From the stream manager.
    pub release1: Signal<In, PageChain>,
    pub release1_valid: Signal<In, Bit>,
    pub release1_ready: Signal<Out, Bit>,
    /// From the host path.
    pub release2: Signal<In, PageChain>,
    pub release2_valid: Signal<In, Bit>,
    pub release2_ready: Signal<Out, Bit>,
    /// Unused so far.
    pub release3: Signal<In, PageChain>,
    pub release3_valid: Signal<In, Bit>,
    pub release3_ready: Signal<Out, Bit>,
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub started: Signal<Out, ReadJob>,
    /// Tag of `started`: jobs count from 0, modulo 8.
    pub started_tag: Signal<Out, Bits<3>>,
    pub started_valid: Signal<Out, Bit>,
    pub started_ready: Signal<In, Bit>,
    /// Cancels the job `cancel_tag`; one cycle.
    pub cancel: Signal<In, Bit>,
    pub cancel_tag: Signal<In, Bits<3>>,
    // Frame table: `FrameEntry` by slot.
    pub frame_table_write: Signal<In, Bit>,
    pub frame_table_index: Signal<In, Bits<10>>,
    pub frame_table_data: Signal<In, FrameEntry>,
    // Frame links: slot of the stream's next frame, by slot.
    pub frame_link_write: Signal<In, Bit>,
    pub frame_link_index: Signal<In, Bits<10>>,
    pub frame_link_next: Signal<In, Bits<10>>,
    // Page links, as the store writes them: `next[link_page] = link_next`, and for pages eight
    // apart `jump[jump_page] = link_next`.
    pub link_write: Signal<Out, Bit>,
    pub link_page: Signal<Out, Bits<9>>,
    pub link_next: Signal<Out, Bits<9>>,
    pub jump_write: Signal<Out, Bit>,
    pub jump_page: Signal<Out, Bits<9>>,
    // Octets of a job, see `Joiner`.
    pub joined_data: Signal<Out, Bits<D>>,
    pub joined_octets: Signal<Out, Bits<7>>,
    pub joined_first: Signal<Out, Bit>,
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
            started_ready, cancel, cancel_tag, frame_table_write, frame_table_index,
            frame_table_data, frame_link_write, frame_link_index, frame_link_next);
        wire!(self.joiner => self.reader; job_left, almost_full as hold);

        // Octets out.
        wire!(self.reader => self.joiner; beat_valid, beat_first, beat_octets, beat_last);
        self.joiner.beat_data.next = self.memory.read_data.val();
        wire!(self.joiner => self;
            joined_data, joined_octets, joined_first, joined_last, joined_valid);
        self.joiner.joined_ready.next = self.joined_ready.val();
    }
}

/// Packet memory: 512 pages of 256 octets, words of D bits, `2^B` a page; `A = 9 + B`.
///
/// | latency    | 2 cycles, `read_page` and `read_word` to `read_data`             |
/// | throughput | one write and one read per cycle                                 |
///
/// No word is read in the cycle in which it is written: a frame is read only after it was handed
/// on. (A cancelled job may still read such a word; the result is discarded.)
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        A == 9 + B,
        "PacketMemory: A = {A} must be 9 + B = {}",
        9 + B
    );
    assert!(
        (D / 8) << B == rnic_abi::limits::PAGE_OCTETS,
        "PacketMemory: 2^B = {} words of D = {D} bits are not a page",
        1 << B
    );
)]
pub struct PacketMemory<const D: usize, const A: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_page: Signal<In, Bits<9>>,
    pub write_word: Signal<In, Bits<B>>,
    pub write_data: Signal<In, Bits<D>>,
    pub read_page: Signal<In, Bits<9>>,
    pub read_word: Signal<In, Bits<B>>,
    /// The word addressed two cycles ago.
    pub read_data: Signal<Out, Bits<D>>,
    words: SdpRam<Bits<D>, A>,
    #[constant(B as LiteralType)]
    page_shift: Constant<Bits<4>>,
}

impl<const D: usize, const A: usize, const B: usize> Logic for PacketMemory<D, A, B> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.words; clock, write_enable);
        self.words.write_address.next = (bit_cast::<A, 9>(self.write_page.val())
            << self.page_shift.val())
            | bit_cast::<A, B>(self.write_word.val());
        self.words.write_data.next = self.write_data.val();
        self.words.read_address.next = (bit_cast::<A, 9>(self.read_page.val())
            << self.page_shift.val())
            | bit_cast::<A, B>(self.read_word.val());
        self.read_data.next = self.words.read_data.val();
    }
}

#[cfg(test)]
mod tests;
