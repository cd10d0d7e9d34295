//! Queues of a connection: from QN, MSN and MO to an address in a receive buffer, or an error; and
//! the oldest outstanding read.
//!
//! ```text
//!    in front              |            checks, from `take` on
//!  queue --> [ pool ] -----|--> [ pool: MO, length ] --> mo_bad, too_long, address   (cycle 3)
//!            is_open, entry|--> [ order: MSN       ] --> behind, not_posted, gap     (cycle 4)
//! ```
//!
//! | latency    | 4 cycles from a new `queue` to `take` at least; then 3 and 4                 |
//! | throughput | one segment per 5 cycles                                                     |
//! | units      | octets; `queue` is `connection << 2 or qn`; of a tagged segment qn is 3      |
//! | source     | RFC 5041 section 7.1; `rnic_abi::tables::QUEUE`                              |
//!
//! A table entry read in the cycle in which it is written is undefined (see `SdpRam`): table writes
//! restart the lookups, and so do posts, which read and write these memories between records; an
//! advanced MSN is written before the next `take`. A tagged segment has
//! no MSN: its lookups in front use the expected one of queue 3, so what a Read Response writes
//! restarts them too.
use super::types::{Buffer, DdpSegment, PostWrite, QueueNow, QueueShape, TableWrites};
use crate::common::build::sizes;
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Queues of a connection: joins [`BufferPool`] and [`QueueOrder`].
#[derive(LogicBlock, Init)]
pub struct UntaggedQueues {
    pub clock: Signal<In, Clock>,
    /// In front: queue; stable until `take`.
    pub queue: Signal<In, Bits<12>>,
    /// In front: the segment; its MSN is valid two cycles after `queue`.
    pub front_segment: Signal<In, DdpSegment>,
    /// Cycle 0 of the checks.
    pub take: Signal<In, Bit>,
    /// From cycle 1 on: the segment taken.
    pub segment: Signal<In, DdpSegment>,
    /// From cycle 1 on: its queue is open; pool entry of its buffer.
    pub is_open: Signal<Out, Bit>,
    pub entry: Signal<Out, Bits<11>>,
    /// Cycle 3: see [`BufferPool`].
    pub mo_bad: Signal<Out, Bit>,
    pub too_long: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<64>>,
    /// Cycle 4: see [`QueueOrder`].
    pub behind: Signal<Out, Bit>,
    pub not_posted: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    /// Cycle 4: nothing is posted on the queue.
    pub empty: Signal<Out, Bit>,
    /// Cycle 1 to 5: the entry of the pool; of a tagged segment the oldest outstanding read.
    pub head: Signal<Out, Buffer>,
    /// The message is complete: the queue expects the next MSN. Never together with a table write.
    pub advance: Signal<In, Bit>,
    /// Stores `moved_head` in the entry. Never together with a table write.
    pub moves: Signal<In, Bit>,
    pub moved_head: Signal<In, Buffer>,
    pub writes: Signal<In, TableWrites>,
    /// A post has the memories: what `post` names is read instead of `queue`, and written. Never
    /// together with a table write, `advance` or `moves`.
    pub post_granted: Signal<In, Bit>,
    pub post: Signal<In, PostWrite>,
    /// Two cycles after `post`: its queue.
    pub queue_now: Signal<Out, QueueNow>,
    pool: BufferPool,
    order: QueueOrder,
    held_queue: DFF<Bits<12>>,
    held_open: DFF<Bit>,
    held_entry: DFF<Bits<11>>,
    held_msn: DFF<Bits<32>>,
    next_msn: DFF<Bits<32>>,
    msn: Signal<Local, Bits<32>>,
    index: Signal<Local, Bits<16>>,
    looked_up: Signal<Local, Bits<12>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
}

impl Logic for UntaggedQueues {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_queue, held_open, held_entry, held_msn, next_msn);
        wire!(self => self.{pool, order}; clock);
        self.looked_up.next = self.queue.val();
        if self.post_granted.val() {
            self.looked_up.next = self.post.val().queue;
        }
        self.pool.queue.next = self.looked_up.val();
        self.order.queue.next = self.looked_up.val();
        self.queue_now.next.shape = self.pool.shape_now.val();
        self.queue_now.next.tail = self.order.tail_now.val();
        self.queue_now.next.expected = self.order.expected_low_now.val();
        // No segment carries the number of a read: the oldest one is expected.
        self.msn.next = self.front_segment.val().msn;
        if self.front_segment.val().tagged {
            self.msn.next = self.order.expected_msn.val();
        }
        self.pool.msn.next = self.msn.val();
        if self.take.val() {
            self.held_queue.d.next = self.queue.val();
            self.held_open.d.next = self.pool.is_open.val();
            self.held_entry.d.next = self.pool.entry.val();
            self.held_msn.d.next = self.msn.val();
        }
        self.is_open.next = self.held_open.q.val();
        self.entry.next = self.held_entry.q.val();
        self.pool.mo.next = self.segment.val().mo;
        self.pool.mo_end.next = self.segment.val().mo_end;
        self.pool.has_payload.next = self.segment.val().has_payload;
        self.order.msn.next = self.segment.val().msn;
        wire!(self.pool => self; mo_bad, too_long, address);
        wire!(self.order => self; behind, not_posted, gap, empty);
        self.head.next = self.pool.stored.val();

        self.index.next = self.writes.val().index;
        self.pool.write_shape.next = self.writes.val().queue;
        self.pool.shape_queue.next = self.index.val().get_bits::<12>(0);
        self.pool.shape.next = self.writes.val().shape;
        self.pool.write_buffer.next =
            self.writes.val().pool | self.moves.val() | self.post.val().pool;
        self.pool.buffer_entry.next = self.index.val().get_bits::<11>(0);
        self.pool.buffer.next = self.writes.val().buffer;
        if self.moves.val() {
            self.pool.buffer_entry.next = self.held_entry.q.val();
            self.pool.buffer.next = self.moved_head.val();
        }
        if self.post.val().pool {
            self.pool.buffer_entry.next = self.post.val().entry;
            self.pool.buffer.next = self.post.val().buffer;
        }
        self.order.write_tail.next = self.writes.val().tail | self.post.val().tail;
        self.order.tail_queue.next = self.index.val().get_bits::<12>(0);
        self.order.tail.next = self.writes.val().tail_msn;
        if self.post.val().tail {
            self.order.tail_queue.next = self.post.val().queue;
            self.order.tail.next = self.post.val().tail_msn;
        }
        // A message completes only with the expected MSN, so the next one is its successor.
        self.next_msn.d.next = self.held_msn.q.val() + self.one.val();
        self.order.write_msn.next = self.writes.val().queue | self.advance.val();
        self.order.msn_queue.next = self.index.val().get_bits::<12>(0);
        self.order.next_msn.next = self.writes.val().first_msn;
        if self.advance.val() {
            self.order.msn_queue.next = self.held_queue.q.val();
            self.order.next_msn.next = self.next_msn.q.val();
        }
    }
}

/// Receive buffers: from a queue and an MSN to a pool entry, and the checks against its size.
///
/// ```text
///  queue --> [ queue RAM ] --> first + msn mod entries --> [ pool RAM ] --> compare --> mo_bad,
///              cycle 0,1   ^ msn       cycle 2         |      cycle 3,4  ^ mo           too_long,
///                          |                           +--> entry        | cycle 5      address
/// ```
///
/// | latency    | `queue` to `is_open`, `entry`: 3 cycles; to `mo_bad`, `too_long`, `address`: 6 |
/// | throughput | one buffer per cycle                                                           |
/// | source     | RFC 5041 section 7.1 untagged (1), (3), (4)                                    |
///
/// `msn` enters two cycles after `queue`, the offsets five cycles after it. [`QueueOrder`] tests
/// whether the buffer is posted.
#[derive(LogicBlock, Init)]
pub struct BufferPool {
    pub clock: Signal<In, Clock>,
    pub queue: Signal<In, Bits<12>>,
    /// Cycle 2: MSN received.
    pub msn: Signal<In, Bits<32>>,
    /// Cycle 2: the entries of the queue.
    pub shape_now: Signal<Out, QueueShape>,
    /// Cycle 3: the queue is open.
    pub is_open: Signal<Out, Bit>,
    /// Cycle 3: pool entry of the buffer.
    pub entry: Signal<Out, Bits<11>>,
    /// Cycle 5: MO, and MO plus payload.
    pub mo: Signal<In, Bits<32>>,
    pub mo_end: Signal<In, Bits<33>>,
    /// Cycle 5: there is payload.
    pub has_payload: Signal<In, Bit>,
    /// Cycle 6: MO is not in the buffer (nor, without payload, at its end).
    pub mo_bad: Signal<Out, Bit>,
    /// Cycle 6: the payload ends beyond the buffer.
    pub too_long: Signal<Out, Bit>,
    /// Cycle 6: bus address of the octet at MO.
    pub address: Signal<Out, Bits<64>>,
    /// Cycle 5: the entry itself.
    pub stored: Signal<Out, Buffer>,
    /// Stores `shape` of `shape_queue`.
    pub write_shape: Signal<In, Bit>,
    pub shape_queue: Signal<In, Bits<12>>,
    pub shape: Signal<In, QueueShape>,
    /// Stores `buffer` in `buffer_entry`.
    pub write_buffer: Signal<In, Bit>,
    pub buffer_entry: Signal<In, Bits<11>>,
    pub buffer: Signal<In, Buffer>,
    #[init(SdpRam::of_words(sizes().queues()))]
    shapes: SdpRam<QueueShape, 12>,
    buffers: SdpRam<Buffer, 11>,
    held_open: DFF<Bit>,
    held_entry: DFF<Bits<11>>,
    mo_at_end: DFF<Bit>,
    mo_beyond: DFF<Bit>,
    end_beyond: DFF<Bit>,
    with_payload: DFF<Bit>,
    held_address: DFF<Bits<64>>,
    msn_word: Signal<Local, Bits<32>>,
    msn_low: Signal<Local, Bits<11>>,
    entries_log2: Signal<Local, Bits<4>>,
    mask: Signal<Local, Bits<11>>,
    place: Signal<Local, Bits<11>>,
}

impl Logic for BufferPool {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_open, held_entry, mo_at_end, mo_beyond);
        registers!(clock; end_beyond, with_payload, held_address);
        wire!(self => self.shapes;
            clock, queue as read_address, write_shape as write_enable, shape_queue as write_address,
            shape as write_data);

        self.shape_now.next = self.shapes.read_data.val();

        // Cycle 2: entry first + (msn mod 2^entries_log2).
        self.entries_log2.next = self.shapes.read_data.val().entries_log2;
        match self.entries_log2.val().index() {
            0 => self.mask.next = 0x0.into(),
            1 => self.mask.next = 0x1.into(),
            2 => self.mask.next = 0x3.into(),
            3 => self.mask.next = 0x7.into(),
            4 => self.mask.next = 0xf.into(),
            5 => self.mask.next = 0x1f.into(),
            6 => self.mask.next = 0x3f.into(),
            7 => self.mask.next = 0x7f.into(),
            8 => self.mask.next = 0xff.into(),
            9 => self.mask.next = 0x1ff.into(),
            10 => self.mask.next = 0x3ff.into(),
            _ => self.mask.next = 0x7ff.into(),
        }
        self.msn_word.next = self.msn.val();
        self.msn_low.next = self.msn_word.val().get_bits::<11>(0);
        self.place.next = self.msn_low.val() & self.mask.val();
        self.held_entry.d.next = self.shapes.read_data.val().first + self.place.val();
        self.held_open.d.next = self.shapes.read_data.val().is_open;
        self.is_open.next = self.held_open.q.val();
        self.entry.next = self.held_entry.q.val();

        self.buffers.clock.next = self.clock.val();
        self.buffers.read_address.next = self.held_entry.q.val();
        wire!(self => self.buffers;
            write_buffer as write_enable, buffer_entry as write_address, buffer as write_data);

        self.stored.next = self.buffers.read_data.val();

        // Cycle 5. RFC 5041 7.1: MO and the last octet are inside the buffer. Without payload MO
        // may equal its length.
        self.mo_at_end.d.next = self.mo.val() == self.buffers.read_data.val().octets;
        self.mo_beyond.d.next = self.mo.val() > self.buffers.read_data.val().octets;
        self.end_beyond.d.next =
            self.mo_end.val() > bit_cast::<33, 32>(self.buffers.read_data.val().octets);
        self.with_payload.d.next = self.has_payload.val();
        self.held_address.d.next =
            self.buffers.read_data.val().address + bit_cast::<64, 32>(self.mo.val());

        self.mo_bad.next =
            self.mo_beyond.q.val() | (self.mo_at_end.q.val() & self.with_payload.q.val());
        self.too_long.next = self.end_beyond.q.val();
        self.address.next = self.held_address.q.val();
    }
}

/// Order of a queue: is this MSN the expected one, and is its buffer posted?
///
/// ```text
///  queue --> [ MSN RAM, tail RAM ] --> distance, posted --> compare --> behind, not_posted, gap
///                  cycle 0,1       ^ msn   cycle 2           cycle 3
/// ```
///
/// | latency    | 4 cycles, `queue` to the answers                      |
/// | throughput | one MSN per cycle                                     |
/// | units      | MSNs count messages modulo 2^32                       |
/// | source     | RFC 5041 section 7.1 untagged (2), (5)                |
///
/// `msn` enters two cycles after `queue`. In an ordered stream only the buffer of the expected MSN
/// fits.
#[derive(LogicBlock, Init)]
pub struct QueueOrder {
    pub clock: Signal<In, Clock>,
    pub queue: Signal<In, Bits<12>>,
    /// Cycle 2: MSN received.
    pub msn: Signal<In, Bits<32>>,
    /// Cycle 4: the MSN is before the expected one (half of the number circle).
    pub behind: Signal<Out, Bit>,
    /// Cycle 4: no buffer is posted for it (meaningful only if not `behind`).
    pub not_posted: Signal<Out, Bit>,
    /// Cycle 4: it is not the expected one.
    pub gap: Signal<Out, Bit>,
    /// Cycle 4: nothing is posted.
    pub empty: Signal<Out, Bit>,
    /// Cycle 2: the MSN expected; its low half, and that of the MSN after the last posted one.
    pub expected_msn: Signal<Out, Bits<32>>,
    pub expected_low_now: Signal<Out, Bits<16>>,
    pub tail_now: Signal<Out, Bits<16>>,
    /// Stores `next_msn` as the expected one of `msn_queue`.
    pub write_msn: Signal<In, Bit>,
    pub msn_queue: Signal<In, Bits<12>>,
    pub next_msn: Signal<In, Bits<32>>,
    /// Stores `tail`, the low half of the MSN after the last posted one, of `tail_queue`.
    pub write_tail: Signal<In, Bit>,
    pub tail_queue: Signal<In, Bits<12>>,
    pub tail: Signal<In, Bits<16>>,
    #[init(SdpRam::of_words(sizes().queues()))]
    expected: SdpRam<Bits<32>, 12>,
    #[init(SdpRam::of_words(sizes().queues()))]
    tails: SdpRam<Bits<16>, 12>,
    // MSNs from the expected one to this one, modulo 2^32: bit 31 means before it.
    distance: DFF<Bits<32>>,
    // Buffers posted and not consumed.
    posted: DFF<Bits<16>>,
    is_behind: DFF<Bit>,
    is_not_posted: DFF<Bit>,
    is_gap: DFF<Bit>,
    is_empty: DFF<Bit>,
    expected_now: Signal<Local, Bits<32>>,
    expected_low: Signal<Local, Bits<16>>,
    distance_now: Signal<Local, Bits<32>>,
    distance_high: Signal<Local, Bits<16>>,
    distance_low: Signal<Local, Bits<16>>,
}

impl Logic for QueueOrder {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; distance, posted, is_behind, is_not_posted, is_gap, is_empty);
        wire!(self => self.expected;
            clock, queue as read_address, write_msn as write_enable, msn_queue as write_address,
            next_msn as write_data);
        wire!(self => self.tails;
            clock, queue as read_address, write_tail as write_enable, tail_queue as write_address,
            tail as write_data);

        // Cycle 2.
        self.expected_now.next = self.expected.read_data.val();
        self.expected_msn.next = self.expected_now.val();
        self.expected_low.next = self.expected_now.val().get_bits::<16>(0);
        self.expected_low_now.next = self.expected_low.val();
        self.tail_now.next = self.tails.read_data.val();
        self.distance.d.next = self.msn.val() - self.expected_now.val();
        self.posted.d.next = self.tails.read_data.val() - self.expected_low.val();

        // Cycle 3.
        self.distance_now.next = self.distance.q.val();
        self.distance_high.next = self.distance_now.val().get_bits::<16>(16);
        self.distance_low.next = self.distance_now.val().get_bits::<16>(0);
        self.is_behind.d.next = self.distance_now.val().get_bit(31);
        self.is_not_posted.d.next =
            self.distance_high.val().any() | (self.distance_low.val() >= self.posted.q.val());
        self.is_gap.d.next = self.distance_now.val().any();
        self.behind.next = self.is_behind.q.val();
        self.not_posted.next = self.is_not_posted.q.val();
        self.gap.next = self.is_gap.q.val();
        self.is_empty.d.next = !self.posted.q.val().any();
        self.empty.next = self.is_empty.q.val();
    }
}

#[cfg(test)]
mod tests {
    mod pool;
    mod queue;
}
