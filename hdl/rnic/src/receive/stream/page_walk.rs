//! Finds the page of a frame that lies a number of pages on, and the page before it.
//!
//! ```text
//! link_*, jump_* --> [ next[page], jump[page] ]
//!                           ^          |
//! start, first_page, pages -+--[ page, left ]--> done, page, page_before
//! ```
//!
//! | enters     | copies of the page links, one and eight pages on; a page and how far to go   |
//! | leaves     | the page there, and the one before it; both hold until the next `start`      |
//! | latency    | `start` to `done`: 1 cycle, and 2 for each link followed; pages/8 + pages%8  |
//! |            | links, 8 of the ones for the last eight pages of a multiple of eight         |
//! | throughput | one walk at a time; `start` only while `done`                                |
//! | units      | pages                                                                        |
//!
//! The links of the frame must have been written before `start`, and hold until `done`: its pages
//! are in use.
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What the walk does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum WalkState {
    /// Nothing; the result stands.
    Idle,
    /// The link is being read.
    Read,
    /// The link is there.
    Step,
}

/// Walk over the page links of one frame.
#[derive(LogicBlock, Init)]
pub struct PageWalk {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
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
    /// Begins a walk; one cycle, while `done`.
    pub start: Signal<In, Bit>,
    /// Where it begins.
    pub first_page: Signal<In, Bits<9>>,
    /// How far it goes: at least 1, and no further than the frame's last page.
    pub pages: Signal<In, Bits<6>>,
    /// No walk is under way: the pages below count.
    pub done: Signal<Out, Bit>,
    /// The page `pages` pages on.
    pub page: Signal<Out, Bits<9>>,
    /// The page before it.
    pub page_before: Signal<Out, Bits<9>>,
    next: SdpRam<Bits<9>, 9>,
    jump: SdpRam<Bits<9>, 9>,
    state: DFF<WalkState>,
    here: DFF<Bits<9>>,
    previous: DFF<Bits<9>>,
    // Pages still to go, at least 1 while a walk is under way.
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
