//! Untagged queues: from QN, MSN and MO to a place in a receive buffer, or a refusal.
//!
//! ```text
//!    front                 |            checks, from `take` on
//!  queue --> [ pool ] -----|--> [ pool: MO, length ] --> mo_bad, too_long, address   (cycle 3)
//!            is_open, entry|--> [ order: MSN       ] --> behind, not_posted, gap     (cycle 4)
//! ```
//!
//! | latency    | 4 cycles from a new `queue` to `take` at least; then 3 and 4                 |
//! | throughput | one segment per 5 cycles                                                     |
//! | units      | `queue` is `connection << 2 or qn`; see [`super::pool`] and [`super::queue`] |
use super::pool::BufferPool;
use super::queue::QueueOrder;
use super::segment::Segment;
use super::tables::TableWrites;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Queue state and receive buffers.
#[derive(LogicBlock, Init)]
pub struct UntaggedQueues {
    pub clock: Signal<In, Clock>,
    /// In front: queue; still until `take`.
    pub queue: Signal<In, Bits<12>>,
    /// In front: the segment; its MSN is there two cycles after `queue`.
    pub front_segment: Signal<In, Segment>,
    /// Cycle 0 of the checks.
    pub take: Signal<In, Bit>,
    /// From cycle 1 on: the segment taken.
    pub segment: Signal<In, Segment>,
    /// From cycle 1 on: its queue is open.
    pub is_open: Signal<Out, Bit>,
    /// From cycle 1 on: pool entry of its buffer.
    pub entry: Signal<Out, Bits<11>>,
    /// Cycle 3: MO is not in the buffer.
    pub mo_bad: Signal<Out, Bit>,
    /// Cycle 3: the payload ends beyond the buffer.
    pub too_long: Signal<Out, Bit>,
    /// Cycle 3: bus address of the octet at MO.
    pub address: Signal<Out, Bits<64>>,
    /// Cycle 4: the MSN is before the expected one.
    pub behind: Signal<Out, Bit>,
    /// Cycle 4: no buffer is posted for the MSN.
    pub not_posted: Signal<Out, Bit>,
    /// Cycle 4: the MSN is not the expected one.
    pub gap: Signal<Out, Bit>,
    /// The message is whole: the queue expects the next MSN. Never together with a table write.
    pub advance: Signal<In, Bit>,
    pub writes: Signal<In, TableWrites>,
    pool: BufferPool,
    order: QueueOrder,
    held_queue: DFF<Bits<12>>,
    held_open: DFF<Bit>,
    held_entry: DFF<Bits<11>>,
    next_msn: DFF<Bits<32>>,
    index: Signal<Local, Bits<16>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
}

impl Logic for UntaggedQueues {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_queue, held_open, held_entry, next_msn);
        wire!(self => self.{pool, order}; clock);
        self.pool.queue.next = self.queue.val();
        self.pool.msn.next = self.front_segment.val().msn;
        self.order.queue.next = self.queue.val();
        if self.take.val() {
            self.held_queue.d.next = self.queue.val();
            self.held_open.d.next = self.pool.is_open.val();
            self.held_entry.d.next = self.pool.entry.val();
        }
        self.is_open.next = self.held_open.q.val();
        self.entry.next = self.held_entry.q.val();
        self.pool.mo.next = self.segment.val().mo;
        self.pool.mo_end.next = self.segment.val().mo_end;
        self.pool.has_payload.next = self.segment.val().has_payload;
        self.order.msn.next = self.segment.val().msn;
        wire!(self.pool => self; mo_bad, too_long, address);
        wire!(self.order => self; behind, not_posted, gap);

        self.index.next = self.writes.val().index;
        self.pool.write_shape.next = self.writes.val().queue;
        self.pool.shape_queue.next = self.index.val().get_bits::<12>(0);
        self.pool.shape.next = self.writes.val().shape;
        self.pool.write_buffer.next = self.writes.val().pool;
        self.pool.buffer_entry.next = self.index.val().get_bits::<11>(0);
        self.pool.buffer.next = self.writes.val().buffer;
        self.order.write_tail.next = self.writes.val().tail;
        self.order.tail_queue.next = self.index.val().get_bits::<12>(0);
        self.order.tail.next = self.writes.val().tail_msn;
        // A message completes only with the expected MSN: the next one is this one's successor.
        self.next_msn.d.next = self.segment.val().msn + self.one.val();
        self.order.write_msn.next = self.writes.val().queue | self.advance.val();
        self.order.msn_queue.next = self.index.val().get_bits::<12>(0);
        self.order.next_msn.next = self.writes.val().first_msn;
        if self.advance.val() {
            self.order.msn_queue.next = self.held_queue.q.val();
            self.order.next_msn.next = self.next_msn.q.val();
        }
    }
}
