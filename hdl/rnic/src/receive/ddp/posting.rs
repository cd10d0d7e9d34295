//! Posting port: a doorbell of the driver becomes an entry of the pool, then a tail.
//!
//! ```text
//! POST_0, 1, 2 --> [ words ] ------------------------------------> entry
//! POST --> [ queue ] -> Ask --(granted)--> Fetch -> Weigh -> Decide --> Pool --> Tail --> Idle
//!                                                     ^        |
//!          first, log2, tail, expected of the queue --+        +--> Idle, counted as refused
//! ```
//!
//! | latency    | 6 cycles, `granted` to the write of the tail; 4 to a refusal                |
//! | throughput | one post at a time: [`AccessHold`] keeps accesses of BAR0 waiting meanwhile |
//! | units      | doublewords of BAR0; pool entries; MSNs modulo 2^16                         |
//! | source     | `rnic_abi::registers::POST`, `rnic_abi::tables::QUEUE`                      |
//!
//! From `granted` to `done` no record is in the checks, and the memories of the queues are the
//! port's ([`super::tables`]). The pool entry is `first + (tail mod entries)`, written before the
//! tail that makes it the buffer of a message. A queue with `tail - expected` of `entries` posted
//! is full: what is at its tail is the buffer of the message expected next.
//!
//! [`AccessHold`]: crate::bus::csr::access_hold::AccessHold
use super::types::{Buffer, PostWrite, QueueNow, QueueShape};
use rnic_abi::registers as map;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(
    map::POST_1 == map::POST_0 + 4
        && map::POST_2 == map::POST_0 + 8
        && map::POST == map::POST_0 + 12
        && map::POST_0 % 16 == 0
        && map::POST_OFFSET_SHIFT == 16,
    "bits 9:2 of a doubleword's address are those of POST_0, 1:0 the register"
);

/// State of the post at hand, and what it waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PostState {
    /// A doorbell.
    Idle,
    /// A gap between records.
    Ask,
    /// The memories of the queues: they are addressed since `granted`.
    Fetch,
    /// Nothing: they are read.
    Weigh,
    /// Nothing: there is an entry, or not.
    Decide,
    /// Nothing: the pool entry is written.
    Pool,
    /// Nothing: the tail is written.
    Tail,
}

/// Posting port.
#[derive(LogicBlock, Init)]
pub struct PostingPort {
    pub clock: Signal<In, Clock>,
    /// Synchronous: a post that has not written its tail is gone, and the words are 0.
    pub reset: Signal<In, Bit>,
    /// The access of BAR0 at hand: doubleword, data, one cycle to write.
    pub address: Signal<In, Bits<10>>,
    pub data: Signal<In, Bits<32>>,
    pub write: Signal<In, Bit>,
    /// A post is under way: no access comes.
    pub busy: Signal<Out, Bit>,
    /// It needs the memories of the queues, until `done`.
    pub wants: Signal<Out, Bit>,
    /// They are the port's.
    pub granted: Signal<In, Bit>,
    /// One cycle: not any more from the next one on.
    pub done: Signal<Out, Bit>,
    /// What the queue of `writes` holds, two cycles after its address.
    pub queue_now: Signal<In, QueueNow>,
    /// The queue, and what is written.
    pub writes: Signal<Out, PostWrite>,
    /// One cycle: a post is refused, its queue is closed.
    pub closed: Signal<Out, Bit>,
    /// One cycle: a post is refused, its queue is full.
    pub full: Signal<Out, Bit>,
    state: DFF<PostState>,
    words: [DFF<Bits<32>>; 3],
    queue: DFF<Bits<12>>,
    offset_high: DFF<Bits<3>>,
    // Of the queue.
    is_open: DFF<Bit>,
    first: DFF<Bits<11>>,
    mask: DFF<Bits<11>>,
    tail: DFF<Bits<16>>,
    posted: DFF<Bits<16>>,
    // Of the post.
    entry: DFF<Bits<11>>,
    next_tail: DFF<Bits<16>>,
    space: Signal<Local, Bits<8>>,
    register: Signal<Local, Bits<2>>,
    is_mine: Signal<Local, Bit>,
    rings: Signal<Local, Bit>,
    shape: Signal<Local, QueueShape>,
    entries_log2: Signal<Local, Bits<4>>,
    tail_low: Signal<Local, Bits<11>>,
    place: Signal<Local, Bits<11>>,
    beyond: Signal<Local, Bits<16>>,
    is_full: Signal<Local, Bit>,
    buffer: Signal<Local, Buffer>,
    #[constant(LiteralType::from(map::POST_0 / 16))]
    port_space: Constant<Bits<8>>,
    #[constant(1)]
    one: Constant<Bits<16>>,
}

impl Logic for PostingPort {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, queue, offset_high, is_open, first, mask, tail, posted, entry);
        registers!(clock; next_tail);
        self.space.next = self.address.val().get_bits::<8>(2);
        self.register.next = self.address.val().get_bits::<2>(0);
        self.is_mine.next = self.write.val() & (self.space.val() == self.port_space.val());
        self.rings.next = self.is_mine.val() & (self.register.val() == 3);
        for i in 0..3 {
            self.words[i].clock.next = self.clock.val();
            self.words[i].d.next = self.words[i].q.val();
            if self.is_mine.val() & (self.register.val().index() == i) {
                self.words[i].d.next = self.data.val();
            }
        }

        // Weigh: what is in the queue.
        self.shape.next = self.queue_now.val().shape;
        self.entries_log2.next = self.shape.val().entries_log2;
        match self.entries_log2.val().index() {
            0 => self.mask.d.next = 0x0.into(),
            1 => self.mask.d.next = 0x1.into(),
            2 => self.mask.d.next = 0x3.into(),
            3 => self.mask.d.next = 0x7.into(),
            4 => self.mask.d.next = 0xf.into(),
            5 => self.mask.d.next = 0x1f.into(),
            6 => self.mask.d.next = 0x3f.into(),
            7 => self.mask.d.next = 0x7f.into(),
            8 => self.mask.d.next = 0xff.into(),
            9 => self.mask.d.next = 0x1ff.into(),
            10 => self.mask.d.next = 0x3ff.into(),
            _ => self.mask.d.next = 0x7ff.into(),
        }
        self.is_open.d.next = self.shape.val().is_open;
        self.first.d.next = self.shape.val().first;
        self.tail.d.next = self.queue_now.val().tail;
        self.posted.d.next = self.queue_now.val().tail - self.queue_now.val().expected;

        // Decide: `posted` of `mask + 1` entries.
        self.tail_low.next = self.tail.q.val().get_bits::<11>(0);
        self.place.next = self.tail_low.val() & self.mask.q.val();
        self.entry.d.next = self.entry.q.val();
        self.next_tail.d.next = self.next_tail.q.val();
        self.beyond.next = self.posted.q.val() & !bit_cast::<16, 11>(self.mask.q.val());
        self.is_full.next = self.beyond.val().any();

        self.buffer.next.address = bit_cast::<64, 32>(self.words[0].q.val())
            | (bit_cast::<64, 32>(self.words[1].q.val()) << 32);
        self.buffer.next.octets = self.words[2].q.val();
        self.buffer.next.to_high = self.offset_high.q.val();
        self.writes.next.queue = self.queue.q.val();
        self.writes.next.entry = self.entry.q.val();
        self.writes.next.buffer = self.buffer.val();
        self.writes.next.tail_msn = self.next_tail.q.val();
        self.writes.next.pool = self.state.q.val() == PostState::Pool;
        self.writes.next.tail = self.state.q.val() == PostState::Tail;

        self.busy.next = self.state.q.val() != PostState::Idle;
        self.wants.next = self.state.q.val() == PostState::Ask;
        self.done.next = false;
        self.closed.next = false;
        self.full.next = false;
        match self.state.q.val() {
            PostState::Idle => {
                if self.rings.val() {
                    self.queue.d.next = self.data.val().get_bits::<12>(0);
                    self.offset_high.d.next = self.data.val().get_bits::<3>(16);
                    self.state.d.next = PostState::Ask;
                }
            }
            PostState::Ask => {
                if self.granted.val() {
                    self.state.d.next = PostState::Fetch;
                }
            }
            PostState::Fetch => self.state.d.next = PostState::Weigh,
            PostState::Weigh => self.state.d.next = PostState::Decide,
            PostState::Decide => {
                self.entry.d.next = self.first.q.val() + self.place.val();
                self.next_tail.d.next = self.tail.q.val() + self.one.val();
                if self.is_open.q.val() & !self.is_full.val() {
                    self.state.d.next = PostState::Pool;
                } else {
                    self.closed.next = !self.is_open.q.val();
                    self.full.next = self.is_open.q.val();
                    self.done.next = true;
                    self.state.d.next = PostState::Idle;
                }
            }
            PostState::Pool => self.state.d.next = PostState::Tail,
            PostState::Tail => {
                self.done.next = true;
                self.state.d.next = PostState::Idle;
            }
            _ => self.state.d.next = PostState::Idle,
        }
        if self.reset.val() {
            self.state.d.next = PostState::Idle;
            for i in 0..3 {
                self.words[i].d.next = 0.into();
            }
        }
    }
}

#[cfg(test)]
mod tests;
