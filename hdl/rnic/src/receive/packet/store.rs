//! Writes arriving frames into pages. Once its verdict is known, a frame is handed on, or its pages
//! are released.
//!
//! ```text
//! store_* ---> gather W to D ---> memory_* (one word per D/W beats)
//!                  |  page by page: alloc_*, links: link_* (to the next), jump_* (eight on)
//! frame_info ---> { head, tail, failed? } ---> [ kept, key hash ] ---> stored (FIFO of 16)
//!                                         \--> refused (FrameVerdict::Drop or failed)
//! ```
//!
//! | enters     | frames in beats of W bits, never stalled; one `FrameInfo` per frame, after its |
//! |            | `store_last` and not after the next frame's                                    |
//! | leaves     | words of D bits, page links, `StoredFrame`s, chains of refused frames          |
//! | latency    | 1 cycle beat to memory write; 2 cycles `frame_info` to `stored_valid`          |
//! | throughput | one beat per cycle; one `FrameInfo` per cycle                                  |
//! | units      | pages of 256 octets                                                            |
//!
//! A frame fails as a whole if it needs a page and none is free, if the pool's release queue has no
//! space for another chain (sampled on the first beat, so that a page taken can be released in any
//! case), or if `stored` is full. A failed frame takes and writes no further page.
use super::key_hash::KeyHash;
use crate::common::fifo::Fifo;
use crate::messages::{
    ConnectionKey, FrameInfo, FrameVerdict, PageChain, SegmentInfo, StoredFrame, KEY_HASH_BITS,
};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Frame writer: W bits a beat in, D bits a word out, `2^B` words a page.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == W || D == 2 * W,
        "PacketStore: D = {D} must be W or 2 W, W = {W}"
    );
    assert!(
        (D / 8) << B == rnic_abi::limits::PAGE_OCTETS,
        "PacketStore: 2^B = {} words of D = {D} bits are not a page",
        1 << B
    );
)]
pub struct PacketStore<const W: usize, const D: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards the arriving frame and the stored frames not yet taken.
    pub reset: Signal<In, Bit>,
    // From the front end.
    pub store_data: Signal<In, Bits<W>>,
    pub store_valid: Signal<In, Bit>,
    pub store_last: Signal<In, Bit>,
    pub frame_info: Signal<In, FrameInfo>,
    pub frame_info_valid: Signal<In, Bit>,
    // The page that the pool offers.
    pub alloc_page: Signal<In, Bits<9>>,
    pub alloc_valid: Signal<In, Bit>,
    /// Takes the offered page.
    pub alloc_take: Signal<Out, Bit>,
    // Page links: `next[link_page] = link_next`, and for pages eight apart
    // `jump[jump_page] = link_next`.
    pub link_write: Signal<Out, Bit>,
    pub link_page: Signal<Out, Bits<9>>,
    pub link_next: Signal<Out, Bits<9>>,
    pub jump_write: Signal<Out, Bit>,
    pub jump_page: Signal<Out, Bits<9>>,
    /// Pages to release; always accepted.
    pub refused: Signal<Out, PageChain>,
    pub refused_valid: Signal<Out, Bit>,
    /// The release queue has space for the chains of the frames in flight and of one more.
    pub release_room: Signal<In, Bit>,
    // To packet memory.
    pub memory_write: Signal<Out, Bit>,
    pub memory_page: Signal<Out, Bits<9>>,
    pub memory_word: Signal<Out, Bits<B>>,
    pub memory_data: Signal<Out, Bits<D>>,
    pub stored: Signal<Out, StoredFrame>,
    pub stored_valid: Signal<Out, Bit>,
    pub stored_ready: Signal<In, Bit>,
    /// A frame without `FrameVerdict::Drop` failed; one cycle.
    pub count_no_page: Signal<Out, Bit>,
    /// Stored frames in the FIFO, of 16.
    pub waiting: Signal<Out, Bits<5>>,
    queue: Fifo<StoredFrame, 4, 5>,
    hash: KeyHash,
    // The next beat is not a frame's first.
    in_frame: DFF<Bit>,
    // The next beat goes to the current page.
    page_open: DFF<Bit>,
    // The next beat is the upper half of a word.
    upper: DFF<Bit>,
    failed: DFF<Bit>,
    has_pages: DFF<Bit>,
    head: DFF<Bits<9>>,
    current: DFF<Bits<9>>,
    word: DFF<Bits<B>>,
    gathered: DFF<Bits<D>>,
    write: DFF<Bit>,
    write_page: DFF<Bits<9>>,
    write_word: DFF<Bits<B>>,
    link: DFF<Bit>,
    link_from: DFF<Bits<9>>,
    link_to: DFF<Bits<9>>,
    // The last eight pages taken, latest first, and how many of them are the frame's.
    past: [DFF<Bits<9>>; 8],
    taken: DFF<Bits<4>>,
    jump: DFF<Bit>,
    jump_from: DFF<Bits<9>>,
    // The frame that ended last.
    ended: DFF<PageChain>,
    ended_failed: DFF<Bit>,
    ended_has_pages: DFF<Bit>,
    released: DFF<PageChain>,
    released_valid: DFF<Bit>,
    counted: DFF<Bit>,
    // A register before the queue. The front end is placed far away and has no output register:
    // `frame_info` includes the last step of the checksums.
    kept_info: DFF<FrameInfo>,
    kept_pages: DFF<PageChain>,
    keeps: DFF<Bit>,
    opens: Signal<Local, Bit>,
    granted: Signal<Local, Bit>,
    fails: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    page_now: Signal<Local, Bits<9>>,
    head_now: Signal<Local, Bits<9>>,
    word_done: Signal<Local, Bit>,
    beat: Signal<Local, Bits<D>>,
    dropped: Signal<Local, Bit>,
    // With the frame in the register, the queue is full.
    no_place: Signal<Local, Bit>,
    kept: Signal<Local, Bit>,
    info: Signal<Local, FrameInfo>,
    segment: Signal<Local, SegmentInfo>,
    key: Signal<Local, ConnectionKey>,
    key_hash: Signal<Local, Bits<32>>,
    frame: Signal<Local, StoredFrame>,
    #[init(Constant::new(D != W))]
    two_beats: Constant<Bit>,
    #[constant((D - W) as LiteralType)]
    half: Constant<Bits<10>>,
    #[constant(1)]
    one_word: Constant<Bits<B>>,
    #[constant(1)]
    one_page: Constant<Bits<4>>,
}

impl<const W: usize, const D: usize, const B: usize> Logic for PacketStore<W, D, B> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; in_frame, page_open, upper, failed, has_pages, head, current);
        registers!(clock; word, gathered, write, write_page, write_word);
        registers!(clock; link, link_from, link_to, ended, ended_failed, ended_has_pages);
        registers!(clock; released, released_valid, counted);
        registers!(clock; taken, jump, jump_from, kept_info, kept_pages, keeps);
        wire!(self => self.queue; clock, reset);
        wire!(self => self.hash; clock);

        // A page for this beat.
        self.opens.next = self.store_valid.val() & !self.page_open.q.val();
        self.granted.next =
            self.alloc_valid.val() & (self.in_frame.q.val() | self.release_room.val());
        self.fails.next = self.failed.q.val() | (self.opens.val() & !self.granted.val());
        self.take.next = self.opens.val() & self.granted.val() & !self.failed.q.val();
        self.alloc_take.next = self.take.val();
        self.page_now.next = self.current.q.val();
        if self.take.val() {
            self.page_now.next = self.alloc_page.val();
        }
        self.head_now.next = self.head.q.val();
        if !self.in_frame.q.val() {
            self.head_now.next = self.page_now.val();
        }
        self.word_done.next = self.upper.q.val() | self.store_last.val() | !self.two_beats.val();

        // The beat, its page and word, and the links.
        self.beat.next = bit_cast::<D, W>(self.store_data.val());
        self.write.d.next = self.store_valid.val() & self.word_done.val() & !self.fails.val();
        self.link.d.next = self.take.val() & self.in_frame.q.val();
        self.link_from.d.next = self.current.q.val();
        self.link_to.d.next = self.alloc_page.val();
        for i in 0..8 {
            self.past[i].clock.next = self.clock.val();
            self.past[i].d.next = self.past[i].q.val();
        }
        self.jump.d.next = self.take.val() & self.in_frame.q.val() & self.taken.q.val().get_bit(3);
        self.jump_from.d.next = self.past[7].q.val();
        if self.take.val() {
            self.past[0].d.next = self.alloc_page.val();
            for i in 1..8 {
                self.past[i].d.next = self.past[i - 1].q.val();
            }
            if !self.in_frame.q.val() {
                self.taken.d.next = self.one_page.val();
            } else if !self.taken.q.val().get_bit(3) {
                self.taken.d.next = self.taken.q.val() + self.one_page.val();
            }
        }
        if self.store_valid.val() {
            self.gathered.d.next = self.beat.val();
            if self.upper.q.val() {
                self.gathered.d.next = (self.beat.val() << self.half.val()) | self.gathered.q.val();
            }
            self.write_page.d.next = self.page_now.val();
            self.write_word.d.next = self.word.q.val();
            self.current.d.next = self.page_now.val();
            self.head.d.next = self.head_now.val();
            self.has_pages.d.next = self.has_pages.q.val() | self.take.val();
            self.failed.d.next = self.fails.val();
            self.in_frame.d.next = true;
            self.upper.d.next = !self.word_done.val();
            self.page_open.d.next = true;
            if self.word_done.val() {
                self.word.d.next = self.word.q.val() + self.one_word.val();
                self.page_open.d.next = !self.word.q.val().all();
            }
            if self.store_last.val() {
                self.ended.d.next.head_page = self.head_now.val();
                self.ended.d.next.tail_page = self.page_now.val();
                self.ended_failed.d.next = self.fails.val();
                self.ended_has_pages.d.next = self.has_pages.q.val() | self.take.val();
                self.has_pages.d.next = false;
                self.failed.d.next = false;
                self.in_frame.d.next = false;
                self.page_open.d.next = false;
                self.word.d.next = 0.into();
            }
        }

        // The frame that ended: keep it or release its pages.
        self.info.next = self.frame_info.val();
        self.segment.next = self.info.val().segment;
        self.dropped.next = self.segment.val().verdict == FrameVerdict::Drop;
        self.no_place.next =
            self.queue.full.val() | (self.queue.almost_full.val() & self.keeps.q.val());
        self.kept.next = !self.dropped.val() & !self.ended_failed.q.val() & !self.no_place.val();
        self.released.d.next = self.ended.q.val();
        self.released_valid.d.next =
            self.frame_info_valid.val() & !self.kept.val() & self.ended_has_pages.q.val();
        self.counted.d.next = self.frame_info_valid.val() & !self.kept.val() & !self.dropped.val();
        self.key.next = self.info.val().key;
        self.hash.key.next = self.key.val().into();
        self.kept_info.d.next = self.info.val();
        self.kept_pages.d.next = self.ended.q.val();
        self.keeps.d.next = self.frame_info_valid.val() & self.kept.val();
        self.key_hash.next = self.hash.hash.val();
        self.frame.next.info = self.kept_info.q.val();
        self.frame.next.key_hash = self.key_hash.val().get_bits::<KEY_HASH_BITS>(0);
        self.frame.next.pages = self.kept_pages.q.val();
        self.queue.data_in.next = self.frame.val();
        self.queue.write.next = self.keeps.q.val();
        self.queue.read.next = self.stored_ready.val();
        self.stored.next = self.queue.data_out.val();
        self.stored_valid.next = !self.queue.empty.val();

        self.memory_write.next = self.write.q.val();
        self.memory_page.next = self.write_page.q.val();
        self.memory_word.next = self.write_word.q.val();
        self.memory_data.next = self.gathered.q.val();
        self.link_write.next = self.link.q.val();
        self.link_page.next = self.link_from.q.val();
        self.link_next.next = self.link_to.q.val();
        self.jump_write.next = self.jump.q.val();
        self.jump_page.next = self.jump_from.q.val();
        self.refused.next = self.released.q.val();
        self.refused_valid.next = self.released_valid.q.val();
        self.count_no_page.next = self.counted.q.val();
        self.waiting.next = self.queue.fill.val();

        if self.reset.val() {
            self.in_frame.d.next = false;
            self.page_open.d.next = false;
            self.upper.d.next = false;
            self.failed.d.next = false;
            self.has_pages.d.next = false;
            self.word.d.next = 0.into();
            self.write.d.next = false;
            self.link.d.next = false;
            self.jump.d.next = false;
            self.released_valid.d.next = false;
            self.counted.d.next = false;
            self.keeps.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
