//! Store of frames: words are written as they come, and read only when their frame is whole.
//!
//! ```text
//!      read         whole         write
//!        |--- frames --|-- a frame --|           commit: whole = write; rollback: write = whole
//!        v
//! [ SdpRam, 2^A words ] --> [ Fifo, 8 words ] --> data_out
//! ```
//!
//! | latency    | 5 cycles from `commit` to `empty` low                                        |
//! | throughput | a word in and a word out each cycle                                          |
//! | units      | words of `D` bits                                                            |
//! | memory     | 16 KiB at D = 128: 8 block RAMs (ECP5)                                       |
//!
//! There is no `full`: the words of a frame are promised before they are asked for. `free` counts
//! those that are neither taken nor promised; it begins at one less than there are, so that equal
//! pointers mean that no whole frame is here.
use crate::common::fifo::Fifo;
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Store of `2^A` words of `D` bits.
#[derive(LogicBlock, Init)]
#[init(
    assert!(A < 12, "FrameStore: words are counted in 12 bits");
)]
pub struct FrameStore<const D: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub data_in: Signal<In, Bits<D>>,
    /// With the last `write` of a frame, or after it: its words may be read.
    pub commit: Signal<In, Bit>,
    /// In place of `commit`: they are given up.
    pub rollback: Signal<In, Bit>,
    /// Words that are neither taken nor promised; follows its causes in 2 cycles.
    pub free: Signal<Out, Bits<12>>,
    /// Promises so many; at most `free`, of which this is not taken off before the next cycle.
    pub reserve: Signal<In, Bits<12>>,
    /// So many promised words were not written, or were given up.
    pub refund: Signal<In, Bits<12>>,
    pub read: Signal<In, Bit>,
    pub data_out: Signal<Out, Bits<D>>,
    pub empty: Signal<Out, Bit>,
    memory: SdpRam<Bits<D>, A>,
    prefetched: Fifo<Bits<D>, 3, 4>,
    write_pointer: DFF<Bits<A>>,
    whole_pointer: DFF<Bits<A>>,
    read_pointer: DFF<Bits<A>>,
    waits: DFF<Bit>,
    fetched_1: DFF<Bit>,
    fetched_2: DFF<Bit>,
    // Places of the prefetch FIFO that are claimed.
    claimed: DFF<Bits<4>>,
    // Words taken or promised, and those to take off.
    used: DFF<Bits<12>>,
    returned: DFF<Bits<12>>,
    freed: Signal<Local, Bits<12>>,
    fetch: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    write_next: Signal<Local, Bits<A>>,
    read_next: Signal<Local, Bits<A>>,
    #[constant(1)]
    one: Constant<Bits<A>>,
    #[constant(1)]
    one_place: Constant<Bits<4>>,
    #[constant(8)]
    all_places: Constant<Bits<4>>,
    #[constant((1 << A) - 1 as LiteralType)]
    all_words: Constant<Bits<12>>,
}

impl<const D: usize, const A: usize> Logic for FrameStore<D, A> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; write_pointer, whole_pointer, read_pointer, waits, fetched_1, fetched_2);
        registers!(clock; claimed, used, returned);
        wire!(self => self.{memory, prefetched}; clock);
        wire!(self => self.prefetched; reset, read);
        self.data_out.next = self.prefetched.data_out.val();
        self.empty.next = self.prefetched.empty.val();

        self.memory.write_enable.next = self.write.val();
        self.memory.write_address.next = self.write_pointer.q.val();
        self.memory.write_data.next = self.data_in.val();
        self.write_next.next = self.write_pointer.q.val();
        if self.write.val() {
            self.write_next.next = self.write_pointer.q.val() + self.one.val();
        }
        self.write_pointer.d.next = self.write_next.val();
        if self.commit.val() {
            self.whole_pointer.d.next = self.write_next.val();
        }
        if self.rollback.val() {
            self.write_pointer.d.next = self.whole_pointer.q.val();
        }

        // A word of a whole frame is fetched when the prefetch FIFO has a place for it.
        self.fetch.next = self.waits.q.val() & (self.claimed.q.val() != self.all_places.val());
        self.memory.read_address.next = self.read_pointer.q.val();
        self.read_next.next = self.read_pointer.q.val();
        if self.fetch.val() {
            self.read_next.next = self.read_pointer.q.val() + self.one.val();
        }
        self.read_pointer.d.next = self.read_next.val();
        self.waits.d.next = self.read_next.val() != self.whole_pointer.q.val();
        self.fetched_1.d.next = self.fetch.val();
        self.fetched_2.d.next = self.fetched_1.q.val();
        self.prefetched.write.next = self.fetched_2.q.val();
        self.prefetched.data_in.next = self.memory.read_data.val();
        self.taken.next = self.read.val() & !self.prefetched.empty.val();
        if self.fetch.val() & !self.taken.val() {
            self.claimed.d.next = self.claimed.q.val() + self.one_place.val();
        }
        if self.taken.val() & !self.fetch.val() {
            self.claimed.d.next = self.claimed.q.val() - self.one_place.val();
        }

        self.freed.next = 0.into();
        if self.fetch.val() {
            self.freed.next = 1.into();
        }
        self.returned.d.next = self.freed.val() + self.refund.val();
        self.used.d.next = (self.used.q.val() + self.reserve.val()) - self.returned.q.val();
        self.free.next = self.all_words.val() - self.used.q.val();
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.whole_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.waits.d.next = false;
            self.fetched_1.d.next = false;
            self.fetched_2.d.next = false;
            self.claimed.d.next = 0.into();
            self.used.d.next = 0.into();
            self.returned.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
