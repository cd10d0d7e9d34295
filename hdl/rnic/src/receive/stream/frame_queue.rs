//! Frame queue: the accepted frames of every stream in order, and the release of their pages.
//!
//! ```text
//! append, behind, frame --> [ followers ] --> front --> [ compare ] --> page_release
//!                  |                ^                      |  ^
//!                  |  begins, first, amount ---------------+  |
//!                  |                   link_*, jump_* --> [ page walk ]
//!                  +--> frame_table_*, frame_link_*
//! ```
//!
//! | enters     | frames that join a queue; a queue's first frame and its number of consumed  |
//! |            | octets; copies of the page links                                            |
//! | leaves     | the first remaining frame, each page once in a [`PageChain`], and the       |
//! |            | tables by which the packet reader finds the next frame                      |
//! | latency    | `begins` to `done`: 1 cycle, 1 if a frame is passed and not the last one, 2 |
//! |            | for each frame passed and 3 more if it is shared; to release a part of the  |
//! |            | remaining frame, 1 more and 2 for each link followed, 11 links at most      |
//! | throughput | one queue at a time; a frame joins in any cycle                             |
//! | units      | octets; page numbers                                                        |
//!
//! The stream manager stores each queue's first frame and the slot of its last one; a follower is
//! stored under the slot of the frame before it. A wholly consumed frame is released in one chain.
//! Of the first remaining frame the pages before its first octet not consumed are released; its
//! first page is then the one that holds this octet, and its offset counts from there.
//!
//! A frame with several runs of accepted octets is queued once per run, in one queue or in several.
//! The last run consumed releases all its pages ([`FrameShares`]).
use super::types::QueuedFrame;
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::PageChain;
use crate::receive::packet::reader::FrameEntry;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Processing of the first frame.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FrontState {
    /// Compares its octets with those consumed: it is released wholly, in part, or not at all.
    Compare,
    /// In part: finds and releases the pages before its first octet not consumed.
    Trim,
    /// Wholly, but it is shared: the address of its count is at the RAM.
    Count,
    /// The RAM reads.
    CountRead,
    /// The count has been read.
    Share,
    /// The RAM reads the frame after it.
    Link,
    /// That frame becomes the first one.
    Next,
}

/// Queues the frames of all streams, and releases their pages.
#[derive(LogicBlock, Default)]
pub struct FrameQueue {
    pub clock: Signal<In, Clock>,
    /// Synchronous; ends the current operation, the followers stay.
    pub reset: Signal<In, Bit>,
    /// `next[link_page] = link_next`: copy of the store's page links.
    pub link_write: Signal<In, Bit>,
    pub link_page: Signal<In, Bits<9>>,
    pub link_next: Signal<In, Bits<9>>,
    /// `jump[jump_page] = link_next`: copy of the store's links eight pages ahead.
    pub jump_write: Signal<In, Bit>,
    pub jump_page: Signal<In, Bits<9>>,
    /// An accepted frame.
    pub frame: Signal<In, QueuedFrame>,
    /// It joins a queue.
    pub append: Signal<In, Bit>,
    /// It is not the first of its queue.
    pub follows: Signal<In, Bit>,
    /// Slot of the frame before it.
    pub behind: Signal<In, Bits<10>>,
    /// It is the first frame of a span that joins the queue: only its link is new.
    pub links_only: Signal<In, Bit>,
    /// It is the first run of its frame; `frame` holds for three cycles before `append` or
    /// `drop`.
    pub opens: Signal<In, Bit>,
    /// It is the last run of its frame.
    pub closes: Signal<In, Bit>,
    /// It is dropped: all its pages are released once `drop_ready`.
    pub drop: Signal<In, Bit>,
    pub drop_ready: Signal<Out, Bit>,
    /// A fragment is free again: the lower bits of its slot.
    pub slot_free: Signal<Out, Bits<6>>,
    pub slot_free_valid: Signal<Out, Bit>,
    /// Loads `first` and `amount`; aborts the current operation.
    pub begins: Signal<In, Bit>,
    /// First frame of a queue.
    pub first: Signal<In, QueuedFrame>,
    /// Octets consumed from there on.
    pub amount: Signal<In, Bits<18>>,
    /// From the cycle after `begins` on: consumed pages may be released.
    pub go: Signal<In, Bit>,
    /// With `go`: octets of the queue are left after those consumed.
    pub some_left: Signal<In, Bit>,
    /// The last cycle in which `front` changes.
    pub done: Signal<Out, Bit>,
    /// The current first frame; after `done` valid only if octets are left.
    pub front: Signal<Out, QueuedFrame>,
    /// Pages that hold none of the octets left.
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    /// Writes the reader's frame table.
    pub frame_table_write: Signal<Out, Bit>,
    pub frame_table_index: Signal<Out, Bits<10>>,
    pub frame_table_data: Signal<Out, FrameEntry>,
    /// Writes the reader's frame links.
    pub frame_link_write: Signal<Out, Bit>,
    /// Slot of the frame before.
    pub frame_link_index: Signal<Out, Bits<10>>,
    /// Slot of the stream's next frame.
    pub frame_link_next: Signal<Out, Bits<10>>,
    // Under the slot of a queued frame: the frame after it.
    followers: SdpRam<QueuedFrame, 10>,
    shares: FrameShares,
    walk: PageWalk,
    release_out: Skid<PageChain>,
    state: DFF<FrontState>,
    // The first frame was loaded in the cycle before.
    fresh: DFF<Bit>,
    first_frame: DFF<QueuedFrame>,
    // Its octets against those consumed: wholly consumed, the excess, and its remaining octets.
    gone: DFF<Bit>,
    beyond: DFF<Bits<18>>,
    left: DFF<Bits<18>>,
    // Its first octet not consumed, from the start of its first page.
    offset_after: DFF<Bits<14>>,
    table_writing: DFF<Bit>,
    table_index: DFF<Bits<10>>,
    table_entry: DFF<FrameEntry>,
    link_writing: DFF<Bit>,
    link_index: DFF<Bits<10>>,
    compare: Signal<Local, Bit>,
    follower: Signal<Local, QueuedFrame>,
    compared: Signal<Local, QueuedFrame>,
    compared_octets: Signal<Local, Bits<18>>,
    compared_amount: Signal<Local, Bits<18>>,
    amount_low: Signal<Local, Bits<14>>,
    pages_gone: Signal<Local, Bits<6>>,
    offset_in_page: Signal<Local, Bits<8>>,
    left_value: Signal<Local, Bits<18>>,
    left_low: Signal<Local, Bits<14>>,
    chain: Signal<Local, PageChain>,
    shared_front: Signal<Local, Bit>,
    front_slot: Signal<Local, Bits<10>>,
    keeps: Signal<Local, Bit>,
    last_share: Signal<Local, Bit>,
    leaves_front: Signal<Local, Bit>,
}

impl Logic for FrameQueue {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, fresh, first_frame, gone, beyond, left, offset_after);
        registers!(clock; table_writing, table_index, table_entry, link_writing, link_index);
        self.followers.clock.next = self.clock.val();
        wire!(self => self.walk;
            clock, reset, link_write, link_page, link_next, jump_write, jump_page);
        wire!(self => self.release_out; clock, reset);
        wire!(self.release_out => self; m_data as page_release, m_valid as page_release_valid);
        self.release_out.m_ready.next = self.page_release_ready.val();

        // A frame joins: in the reader's tables, and after the last frame.
        self.table_writing.d.next = self.append.val() & !self.links_only.val();
        self.table_index.d.next = self.frame.val().slot;
        self.table_entry.d.next.head_page = self.frame.val().head_page;
        self.table_entry.d.next.offset = self.frame.val().offset;
        self.table_entry.d.next.octets = self.frame.val().octets;
        self.link_writing.d.next = self.append.val() & self.follows.val();
        self.link_index.d.next = self.behind.val();
        self.frame_table_write.next = self.table_writing.q.val();
        self.frame_table_index.next = self.table_index.q.val();
        self.frame_table_data.next = self.table_entry.q.val();
        self.frame_link_write.next = self.link_writing.q.val();
        self.frame_link_index.next = self.link_index.q.val();
        self.frame_link_next.next = self.table_index.q.val();
        self.followers.write_enable.next = self.append.val() & self.follows.val();
        wire!(self => self.followers; behind as write_address, frame as write_data);

        // Shares of a frame: its queued runs, and one more until its last run arrives.
        self.keeps.next = self.append.val() & !self.links_only.val();
        wire!(self => self.shares; clock, reset);
        self.shares.page.next = self.frame.val().tail_page;
        wire!(self => self.shares; opens, closes);
        self.shares.keeps.next = self.frame.val().shared & self.keeps.val();
        self.shares.drops.next =
            self.frame.val().shared & self.drop.val() & self.release_out.s_ready.val();
        self.shares.looks.next = self.go.val() | (self.state.q.val() != FrontState::Compare);
        self.shares.front_page.next = self.first_frame.q.val().tail_page;
        self.shares.front_leaves.next = false;

        // The first frame against the octets consumed; the one after it is looked up meanwhile.
        self.compare.next = self.begins.val() | (self.state.q.val() == FrontState::Next);
        self.follower.next = self.followers.read_data.val();
        self.compared.next = self.follower.val();
        self.compared_amount.next = self.beyond.q.val();
        if self.begins.val() {
            self.compared.next = self.first.val();
            self.compared_amount.next = self.amount.val();
        }
        self.compared_octets.next = bit_cast::<18, 14>(self.compared.val().octets);
        self.amount_low.next = self.compared_amount.val().get_bits::<14>(0);
        // Addresses come from registers: the next follower's, or, a cycle later, that of the frame
        // loaded with `begins`.
        self.fresh.d.next = self.begins.val();
        self.followers.read_address.next = self.first_frame.q.val().slot;
        if self.state.q.val() == FrontState::Next {
            self.followers.read_address.next = self.follower.val().slot;
        }
        if self.compare.val() {
            self.first_frame.d.next = self.compared.val();
            self.gone.d.next = self.compared_amount.val() >= self.compared_octets.val();
            self.beyond.d.next = self.compared_amount.val() - self.compared_octets.val();
            self.left.d.next = self.compared_octets.val() - self.compared_amount.val();
            self.offset_after.d.next = self.compared.val().offset + self.amount_low.val();
        }
        self.pages_gone.next = self.offset_after.q.val().get_bits::<6>(8);
        self.offset_in_page.next = self.offset_after.q.val().get_bits::<8>(0);
        self.left_value.next = self.left.q.val();
        self.left_low.next = self.left_value.val().get_bits::<14>(0);
        self.walk.first_page.next = self.first_frame.q.val().head_page;
        self.walk.pages.next = self.pages_gone.val();

        self.chain.next.head_page = self.first_frame.q.val().head_page;
        self.chain.next.tail_page = self.first_frame.q.val().tail_page;
        if self.drop.val() {
            self.chain.next.head_page = self.frame.val().head_page;
            self.chain.next.tail_page = self.frame.val().tail_page;
        }
        if self.state.q.val() == FrontState::Trim {
            self.chain.next.tail_page = self.walk.page_before.val();
        }
        self.release_out.s_data.next = self.chain.val();
        self.release_out.s_valid.next =
            self.drop.val() & (!self.frame.val().shared | self.shares.gone.val());
        self.drop_ready.next = self.release_out.s_ready.val();
        self.front.next = self.first_frame.q.val();
        self.shared_front.next = self.first_frame.q.val().shared;
        self.front_slot.next = self.first_frame.q.val().slot;
        self.last_share.next = self.shares.last.val();

        self.leaves_front.next = false;
        self.done.next = false;
        self.walk.start.next = false;
        match self.state.q.val() {
            FrontState::Compare => {
                if self.go.val() & self.gone.q.val() & self.shared_front.val() {
                    self.state.d.next = FrontState::Count;
                } else if self.go.val() & self.gone.q.val() {
                    self.release_out.s_valid.next = true;
                    self.leaves_front.next = self.release_out.s_ready.val();
                } else if self.go.val() {
                    self.first_frame.d.next.octets = self.left_low.val();
                    self.first_frame.d.next.offset = bit_cast::<14, 8>(self.offset_in_page.val());
                    self.done.next = !self.pages_gone.val().any();
                    // The pages of a shared frame stay until the last of its runs is consumed.
                    if self.shared_front.val() {
                        self.first_frame.d.next.offset = self.offset_after.q.val();
                        self.done.next = true;
                    } else if self.pages_gone.val().any() {
                        self.walk.start.next = true;
                        self.state.d.next = FrontState::Trim;
                    }
                }
            }
            FrontState::Count => self.state.d.next = FrontState::CountRead,
            FrontState::CountRead => self.state.d.next = FrontState::Share,
            FrontState::Share => {
                self.release_out.s_valid.next = self.last_share.val();
                self.leaves_front.next = !self.last_share.val() | self.release_out.s_ready.val();
                self.shares.front_leaves.next = self.leaves_front.val();
                if self.leaves_front.val() {
                    self.state.d.next = FrontState::Compare;
                }
            }
            FrontState::Trim => {
                self.release_out.s_valid.next = self.walk.done.val();
                if self.walk.done.val() & self.release_out.s_ready.val() {
                    self.first_frame.d.next.head_page = self.walk.page.val();
                    self.done.next = true;
                    self.state.d.next = FrontState::Compare;
                }
            }
            FrontState::Link => self.state.d.next = FrontState::Next,
            FrontState::Next => self.state.d.next = FrontState::Compare,
        }
        self.slot_free.next = self.front_slot.val().get_bits::<6>(0);
        self.slot_free_valid.next = self.leaves_front.val() & self.front_slot.val().get_bit(9);
        if self.leaves_front.val() {
            self.done.next = !self.beyond.q.val().any() & !self.some_left.val();
            if self.beyond.q.val().any() | self.some_left.val() {
                self.state.d.next = FrontState::Next;
                if self.fresh.q.val() {
                    self.state.d.next = FrontState::Link;
                }
            }
        }

        if self.reset.val() {
            self.state.d.next = FrontState::Compare;
            self.table_writing.d.next = false;
            self.link_writing.d.next = false;
        }
    }
}

/// Share counts of frames with several runs of accepted octets.
///
/// ```text
/// page, opens, closes, keeps, drops --> [ count +- 1 ] --> [ RAM ] --> gone, last
///                        front_page, front_leaves --^          |
///                                    ^-------------------------+
/// ```
///
/// | enters     | each run of such a frame, queued or dropped; each run consumed              |
/// | leaves     | whether it releases the frame's pages                                       |
/// | latency    | `page` to `gone`, `front_page` to `last`: 3 cycles                          |
/// | throughput | a count per 3 cycles                                                        |
/// | units      | runs, at most 17 of a frame                                                 |
///
/// The count is stored under the frame's last page: one for each queued run, and one until the last
/// run arrives. All ports of the RAM are registered, so a count is written in the cycle after the
/// one that tests it.
#[derive(LogicBlock, Init)]
pub struct FrameShares {
    pub clock: Signal<In, Clock>,
    /// Synchronous; cancels a pending write.
    pub reset: Signal<In, Bit>,
    /// Last page of the arriving frame; holds for three cycles before `keeps` or `drops`.
    pub page: Signal<In, Bits<9>>,
    /// It is the first run of its frame.
    pub opens: Signal<In, Bit>,
    /// It is the last run of its frame.
    pub closes: Signal<In, Bit>,
    /// The run is queued.
    pub keeps: Signal<In, Bit>,
    /// The run is dropped.
    pub drops: Signal<In, Bit>,
    /// With `drops`: the frame has no other run.
    pub gone: Signal<Out, Bit>,
    /// Reads the count of the frame at the front of a queue, not of the arriving one.
    pub looks: Signal<In, Bit>,
    /// Its last page; holds for three cycles before `last` is valid.
    pub front_page: Signal<In, Bits<9>>,
    /// A run of it is consumed.
    pub front_leaves: Signal<In, Bit>,
    /// It is the last one.
    pub last: Signal<Out, Bit>,
    counts: SdpRam<Bits<5>, 9>,
    read_page: DFF<Bits<9>>,
    writes: DFF<Bit>,
    written_page: DFF<Bits<9>>,
    written: DFF<Bits<5>>,
    count_before: Signal<Local, Bits<5>>,
    count_after: Signal<Local, Bits<5>>,
    #[constant(1)]
    one: Constant<Bits<5>>,
}

impl Logic for FrameShares {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; read_page, writes, written_page, written);
        self.counts.clock.next = self.clock.val();
        self.count_before.next = self.counts.read_data.val();
        if self.opens.val() {
            self.count_before.next = self.one.val();
        }
        self.count_after.next = self.count_before.val();
        if self.keeps.val() & !self.closes.val() {
            self.count_after.next = self.count_before.val() + self.one.val();
        } else if !self.keeps.val() & self.closes.val() {
            self.count_after.next = self.count_before.val() - self.one.val();
        }
        self.gone.next = self.closes.val() & !self.count_after.val().any();
        self.last.next = self.counts.read_data.val() == self.one.val();

        self.read_page.d.next = self.page.val();
        self.written_page.d.next = self.page.val();
        self.written.d.next = self.count_after.val();
        self.writes.d.next = self.keeps.val() | self.drops.val();
        if self.looks.val() {
            self.read_page.d.next = self.front_page.val();
            self.written_page.d.next = self.front_page.val();
        }
        if self.front_leaves.val() {
            self.written.d.next = self.counts.read_data.val() - self.one.val();
            self.writes.d.next = true;
        }
        self.counts.read_address.next = self.read_page.q.val();
        self.counts.write_enable.next = self.writes.q.val();
        self.counts.write_address.next = self.written_page.q.val();
        self.counts.write_data.next = self.written.q.val();
        if self.reset.val() {
            self.writes.d.next = false;
        }
    }
}

/// Step of the walk.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum WalkState {
    /// Idle; the result is valid.
    Idle,
    /// The RAM reads the link.
    Read,
    /// The link has been read.
    Step,
}

/// Finds the page a number of links ahead in a frame, and the page before it.
///
/// ```text
/// link_*, jump_* --> [ next[page], jump[page] ]
///                           ^          |
/// start, first_page, pages -+--[ page, left ]--> done, page, page_before
/// ```
///
/// | enters     | copies of the page links, one and eight pages ahead; a page and a distance   |
/// | leaves     | the page at that distance, and the one before it, until the next `start`     |
/// | latency    | `start` to `done`: 1 cycle, and 2 for each link followed; pages/8 + pages%8  |
/// |            | links, 8 of the ones for the last eight pages of a multiple of eight         |
/// | throughput | one walk at a time; `start` only while `done`                                |
/// | units      | pages                                                                        |
///
/// The frame's links must be written before `start` and stable until `done`: its pages are in use.
#[derive(LogicBlock, Init)]
pub struct PageWalk {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// `next[link_page] = link_next`: copy of the store's page links.
    pub link_write: Signal<In, Bit>,
    pub link_page: Signal<In, Bits<9>>,
    pub link_next: Signal<In, Bits<9>>,
    /// `jump[jump_page] = link_next`: copy of the store's links eight pages ahead.
    pub jump_write: Signal<In, Bit>,
    pub jump_page: Signal<In, Bits<9>>,
    /// Starts a walk; one cycle, while `done`.
    pub start: Signal<In, Bit>,
    /// First page of the walk.
    pub first_page: Signal<In, Bits<9>>,
    /// Links to follow: at least 1, and not past the frame's last page.
    pub pages: Signal<In, Bits<6>>,
    /// No walk is in progress: the pages below are valid.
    pub done: Signal<Out, Bit>,
    /// The page `pages` links ahead.
    pub page: Signal<Out, Bits<9>>,
    /// The page before it.
    pub page_before: Signal<Out, Bits<9>>,
    next: SdpRam<Bits<9>, 9>,
    jump: SdpRam<Bits<9>, 9>,
    state: DFF<WalkState>,
    here: DFF<Bits<9>>,
    previous: DFF<Bits<9>>,
    // Links to follow, at least 1 during a walk.
    left: DFF<Bits<6>>,
    // In state Step: the jump is followed.
    is_far: DFF<Bit>,
    found: Signal<Local, Bits<9>>,
    #[constant(1)]
    one: Constant<Bits<6>>,
    #[constant(8)]
    eight: Constant<Bits<6>>,
}

impl Logic for PageWalk {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, here, previous, left, is_far);
        self.next.clock.next = self.clock.val();
        self.jump.clock.next = self.clock.val();
        wire!(self => self.next;
            link_write as write_enable, link_page as write_address, link_next as write_data);
        wire!(self => self.jump;
            jump_write as write_enable, jump_page as write_address, link_next as write_data);

        // The last step is never a jump, so that it shows the page before the one found.
        self.is_far.d.next = self.left.q.val() > self.eight.val();
        self.found.next = self.next.read_data.val();
        if self.is_far.q.val() {
            self.found.next = self.jump.read_data.val();
        }
        self.next.read_address.next = self.found.val();
        self.jump.read_address.next = self.found.val();
        if self.state.q.val() == WalkState::Idle {
            self.next.read_address.next = self.first_page.val();
            self.jump.read_address.next = self.first_page.val();
        }
        self.done.next = self.state.q.val() == WalkState::Idle;
        self.page.next = self.here.q.val();
        self.page_before.next = self.previous.q.val();

        match self.state.q.val() {
            WalkState::Idle => {
                if self.start.val() {
                    self.here.d.next = self.first_page.val();
                    self.left.d.next = self.pages.val();
                    self.state.d.next = WalkState::Read;
                }
            }
            WalkState::Read => self.state.d.next = WalkState::Step,
            WalkState::Step => {
                self.here.d.next = self.found.val();
                self.previous.d.next = self.here.q.val();
                self.left.d.next = self.left.q.val() - self.one.val();
                self.state.d.next = WalkState::Read;
                if self.is_far.q.val() {
                    self.left.d.next = self.left.q.val() - self.eight.val();
                } else if self.left.q.val() == self.one.val() {
                    self.state.d.next = WalkState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = WalkState::Idle;
        }
    }
}

#[cfg(test)]
mod tests;
