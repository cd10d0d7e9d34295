//! The page pool: allocates pages one by one; walks released chains and frees their pages.
//!
//! ```text
//!                  +---------------------+
//! initialiser ---->| free pages (512)    |--> prefetch (8) --> alloc_*
//! releaser ------->|                     |
//!    ^  ^          +---------------------+
//!    |  +-- next[page] <-- link_* (written by the store)
//!    +-- release queues: own_release (16), release0..3 (8 each)
//! ```
//!
//! | latency    | 6 cycles from a released page to `alloc_valid`, if no page was free         |
//! | throughput | one page per cycle out; releaser: 3 cycles per page, a chain of one page 2; |
//! |            | the queues are served round-robin                                           |
//! | units      | pages; `free_pages` counts all pages without owner, prefetched ones too     |
//!
//! After reset the pages 0 to 511 become free, one per cycle; only then chains are walked.
use crate::common::fifo::Fifo;
use crate::common::ram::SdpRam;
use crate::messages::PageChain;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// States of the releaser.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReleaserState {
    /// Frees all pages after reset.
    Initialise,
    /// No chain.
    Idle,
    /// The current page becomes free; its link is being read.
    Free,
    /// The link is being read.
    Read,
    /// The link has been read.
    Step,
}

/// Page pool with releaser; its users of `release*`: see [`Packet`](super::Packet).
#[derive(LogicBlock, Init)]
pub struct PagePool {
    pub clock: Signal<In, Clock>,
    /// Synchronous; frees every page.
    pub reset: Signal<In, Bit>,
    // The page offered next.
    pub alloc_page: Signal<Out, Bits<9>>,
    pub alloc_valid: Signal<Out, Bit>,
    /// Takes the offered page.
    pub alloc_take: Signal<In, Bit>,
    // `next[link_page] = link_next`, from the store.
    pub link_write: Signal<In, Bit>,
    pub link_page: Signal<In, Bits<9>>,
    pub link_next: Signal<In, Bits<9>>,
    /// From the store, which cannot wait.
    pub own_release: Signal<In, PageChain>,
    pub own_release_valid: Signal<In, Bit>,
    /// `own_release` has space for at least five more chains.
    pub own_release_room: Signal<Out, Bit>,
    pub release0: Signal<In, PageChain>,
    pub release0_valid: Signal<In, Bit>,
    pub release0_ready: Signal<Out, Bit>,
    pub release1: Signal<In, PageChain>,
    pub release1_valid: Signal<In, Bit>,
    pub release1_ready: Signal<Out, Bit>,
    pub release2: Signal<In, PageChain>,
    pub release2_valid: Signal<In, Bit>,
    pub release2_ready: Signal<Out, Bit>,
    pub release3: Signal<In, PageChain>,
    pub release3_valid: Signal<In, Bit>,
    pub release3_ready: Signal<Out, Bit>,
    pub free_pages: Signal<Out, Bits<10>>,
    free: SdpRam<Bits<9>, 9>,
    prefetch: Fifo<Bits<9>, 3, 4>,
    next: SdpRam<Bits<9>, 9>,
    #[init(Fifo::new(4))]
    own: Fifo<PageChain, 4, 5>,
    queue: [Fifo<PageChain, 3, 4>; 4],
    // Free list: pointers of ten bits, whose top bit distinguishes full from empty.
    write_pointer: DFF<Bits<10>>,
    read_pointer: DFF<Bits<10>>,
    fetching: DFF<Bit>,
    fetched: DFF<Bit>,
    // Pages read from the free list and not yet allocated, 0..=8.
    ahead: DFF<Bits<4>>,
    count: DFF<Bits<10>>,
    // A register before the free list.
    pushed: DFF<Bits<9>>,
    pushed_valid: DFF<Bit>,
    // Arbiter: the queue chosen, one-hot; the queues with priority next time.
    chosen: DFF<Bits<5>>,
    favoured: DFF<Bits<5>>,
    candidate: DFF<PageChain>,
    candidate_valid: DFF<Bit>,
    state: DFF<ReleaserState>,
    page: DFF<Bits<9>>,
    tail: DFF<Bits<9>>,
    waiting: Signal<Local, Bits<5>>,
    first: Signal<Local, Bits<5>>,
    pick: Signal<Local, Bits<5>>,
    found: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    chain: Signal<Local, PageChain>,
    next_chain: Signal<Local, PageChain>,
    issue: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    #[constant(1)]
    one_pointer: Constant<Bits<10>>,
    #[constant(1)]
    one_page: Constant<Bits<9>>,
    #[constant(1)]
    one_ahead: Constant<Bits<4>>,
    #[constant(1)]
    one_queue: Constant<Bits<5>>,
    #[constant(31)]
    all_queues: Constant<Bits<5>>,
}

impl Logic for PagePool {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; write_pointer, read_pointer, fetching, fetched, ahead, count);
        registers!(clock; pushed, pushed_valid, chosen, favoured, candidate);
        registers!(clock; candidate_valid, state, page, tail);
        wire!(self => self.{free, next, prefetch}; clock);
        self.prefetch.reset.next = self.reset.val();
        wire!(self => self.own; clock, reset);
        for i in 0..4 {
            self.queue[i].clock.next = self.clock.val();
            self.queue[i].reset.next = self.reset.val();
        }

        // Queues of chains.
        wire!(self => self.own; own_release as data_in, own_release_valid as write);
        self.own_release_room.next = !self.own.almost_full.val();
        self.queue[0].data_in.next = self.release0.val();
        self.queue[0].write.next = self.release0_valid.val();
        self.release0_ready.next = !self.queue[0].full.val();
        self.queue[1].data_in.next = self.release1.val();
        self.queue[1].write.next = self.release1_valid.val();
        self.release1_ready.next = !self.queue[1].full.val();
        self.queue[2].data_in.next = self.release2.val();
        self.queue[2].write.next = self.release2_valid.val();
        self.release2_ready.next = !self.queue[2].full.val();
        self.queue[3].data_in.next = self.release3.val();
        self.queue[3].write.next = self.release3_valid.val();
        self.release3_ready.next = !self.queue[3].full.val();

        // Arbiter: choose in one cycle, fetch the chain in the next.
        self.waiting.next = 0.into();
        for i in 0..4 {
            if !self.queue[i].empty.val() {
                self.waiting.next = self.waiting.val().replace_bit(i, true);
            }
        }
        if !self.own.empty.val() {
            self.waiting.next = self.waiting.val().replace_bit(4, true);
        }
        self.first.next = self.waiting.val() & self.favoured.q.val();
        if !self.first.val().any() {
            self.first.next = self.waiting.val();
        }
        self.pick.next = 0.into();
        self.found.next = false;
        for i in 0..5 {
            if self.first.val().get_bit(i) & !self.found.val() {
                self.pick.next = self.pick.val().replace_bit(i, true);
                self.found.next = true;
            }
        }
        self.load.next = self.chosen.q.val().any() & !self.candidate_valid.q.val();
        if !self.chosen.q.val().any() {
            self.chosen.d.next = self.pick.val();
        }
        self.chain.next = self.own.data_out.val();
        for i in 0..4 {
            self.queue[i].read.next = self.load.val() & self.chosen.q.val().get_bit(i);
            if self.chosen.q.val().get_bit(i) {
                self.chain.next = self.queue[i].data_out.val();
            }
        }
        self.own.read.next = self.load.val() & self.chosen.q.val().get_bit(4);
        if self.load.val() {
            self.candidate.d.next = self.chain.val();
            self.candidate_valid.d.next = true;
            self.chosen.d.next = 0.into();
            // Round-robin: next time the queues after the chosen one have priority.
            self.favoured.d.next = self.all_queues.val()
                ^ (self.chosen.q.val() | (self.chosen.q.val() - self.one_queue.val()));
        }

        // Releaser.
        wire!(self => self.next;
            link_write as write_enable, link_page as write_address, link_next as write_data);
        self.next.read_address.next = self.page.q.val();
        self.next_chain.next = self.candidate.q.val();
        self.push.next = false;
        match self.state.q.val() {
            ReleaserState::Initialise => {
                self.push.next = true;
                self.page.d.next = self.page.q.val() + self.one_page.val();
                if self.page.q.val().all() {
                    self.state.d.next = ReleaserState::Idle;
                }
            }
            ReleaserState::Idle => {
                if self.candidate_valid.q.val() {
                    self.page.d.next = self.next_chain.val().head_page;
                    self.tail.d.next = self.next_chain.val().tail_page;
                    self.candidate_valid.d.next = false;
                    self.state.d.next = ReleaserState::Free;
                }
            }
            ReleaserState::Free => {
                self.push.next = true;
                self.state.d.next = ReleaserState::Read;
                if self.page.q.val() == self.tail.q.val() {
                    self.state.d.next = ReleaserState::Idle;
                }
            }
            ReleaserState::Read => self.state.d.next = ReleaserState::Step,
            ReleaserState::Step => {
                self.page.d.next = self.next.read_data.val();
                self.state.d.next = ReleaserState::Free;
            }
        }
        self.pushed.d.next = self.page.q.val();
        self.pushed_valid.d.next = self.push.val();

        // Free list.
        self.free.write_enable.next = self.pushed_valid.q.val();
        self.free.write_address.next = self.write_pointer.q.val().get_bits::<9>(0);
        self.free.write_data.next = self.pushed.q.val();
        if self.pushed_valid.q.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + self.one_pointer.val();
        }
        self.issue.next = (self.write_pointer.q.val() != self.read_pointer.q.val())
            & !self.ahead.q.val().get_bit(3);
        self.free.read_address.next = self.read_pointer.q.val().get_bits::<9>(0);
        if self.issue.val() {
            self.read_pointer.d.next = self.read_pointer.q.val() + self.one_pointer.val();
        }
        self.fetching.d.next = self.issue.val();
        self.fetched.d.next = self.fetching.q.val();
        self.prefetch.write.next = self.fetched.q.val();
        self.prefetch.data_in.next = self.free.read_data.val();
        self.prefetch.read.next = self.alloc_take.val();
        self.alloc_page.next = self.prefetch.data_out.val();
        self.alloc_valid.next = !self.prefetch.empty.val();
        if self.issue.val() & !self.alloc_take.val() {
            self.ahead.d.next = self.ahead.q.val() + self.one_ahead.val();
        }
        if self.alloc_take.val() & !self.issue.val() {
            self.ahead.d.next = self.ahead.q.val() - self.one_ahead.val();
        }
        if self.pushed_valid.q.val() & !self.alloc_take.val() {
            self.count.d.next = self.count.q.val() + self.one_pointer.val();
        }
        if self.alloc_take.val() & !self.pushed_valid.q.val() {
            self.count.d.next = self.count.q.val() - self.one_pointer.val();
        }
        self.free_pages.next = self.count.q.val();

        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.fetching.d.next = false;
            self.fetched.d.next = false;
            self.ahead.d.next = 0.into();
            self.count.d.next = 0.into();
            self.pushed_valid.d.next = false;
            self.chosen.d.next = 0.into();
            self.favoured.d.next = 0.into();
            self.candidate_valid.d.next = false;
            self.page.d.next = 0.into();
            self.state.d.next = ReleaserState::Initialise;
        }
    }
}

#[cfg(test)]
mod tests;
