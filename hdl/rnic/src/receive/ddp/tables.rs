//! Table port: turns table operations of the driver into writes of the memories of ddp and stag,
//! and gives the posting port its turns.
//!
//! ```text
//!  table_request, table_valid --> [ wait for a gap ] --> [ one write ] ------------> table_done
//!                               hold                   |   \-- region read --> table_data
//!                                                      |   \-- free_records -/
//!                                                      v
//!                           strobe and entry for each memory, restart
//!  post_wants --> [ wait for a gap ] --> post_granted, restart --> (post_done)
//! ```
//!
//! | latency    | a write: 3 cycles in an idle room, at most 15 in a busy one; a read: 2 more |
//! |            | (a record that waits for its verdict goes back in front: 1 cycle)           |
//! | throughput | one operation at a time                                                     |
//! | units      | index and words as in `rnic_abi::tables`                                    |
//!
//! Operations are atomic between records: the write happens while no record is between its first
//! read of a stateful memory and its last write (`may_run`), and `restart` makes the record in
//! front repeat its lookups. A record whose command waits for its receiver has finished its
//! lookups, and one that waits for its verdict goes back (see [`super::sequencer`]): a host that
//! takes no TLP cannot delay a table operation here, only the fence after it. `may_start` lets a
//! waiting record pass between two operations.
//!
//! A post has its turn in the same gap, for as long as it needs the memories of the queues. An
//! operation that is there goes first: it was begun before the post.
use super::types::{Buffer, QueueShape, StreamProfile, TableWrites};
use crate::bus::csr::tables::OPERATION_READ_ON;
use crate::messages::TableRequest;
use crate::receive::stag::{RegionEntry, StagEntry};
use rnic_abi::tables::{DDP, QUEUE, QUEUE_TAIL, READ, RECEIVE_POOL, RECORDS, REGION, STAG, WRITE};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// State of the operation at hand, and what it waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum TableState {
    /// An operation on a table of this room.
    Idle,
    /// A gap between records.
    Pending,
    /// Nothing: sets the strobes, or addresses the region memory.
    Execute,
    /// The region memory, first cycle.
    Fetch,
    /// The region memory, second cycle.
    Capture,
    /// Nothing: the strobes are high, and the operation is done.
    Done,
    /// A gap between records, for a post.
    Queued,
    /// The posting port.
    Lent,
}

/// Table bus of the room.
#[derive(LogicBlock, Init)]
pub struct TablePort {
    pub clock: Signal<In, Clock>,
    /// Synchronous; every memory is written with the entry that `table_request` shows: in reset it
    /// counts the index with zero data.
    pub reset: Signal<In, Bit>,
    /// Table bus: the operation, stable until `table_done`; `table_data` is zero otherwise.
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    pub table_data: Signal<Out, Bits<128>>,
    /// An operation may stop the records.
    pub may_start: Signal<In, Bit>,
    /// No record is between `take` and `commit`.
    pub may_run: Signal<In, Bit>,
    /// No record may be taken.
    pub hold: Signal<Out, Bit>,
    /// The record in front repeats its lookups from the next cycle on.
    pub restart: Signal<Out, Bit>,
    /// The write of this cycle.
    pub writes: Signal<Out, TableWrites>,
    /// Reads the region at `writes.index`.
    pub read_region: Signal<Out, Bit>,
    /// The region at that index, two cycles later.
    pub read_entry: Signal<In, RegionEntry>,
    pub read_valid: Signal<In, Bit>,
    /// Records that may still be stored.
    pub free_records: Signal<In, Bits<10>>,
    /// The posting port needs the memories of the queues, has them, and gives them back: see
    /// [`PostingPort`](super::posting::PostingPort).
    pub post_wants: Signal<In, Bit>,
    pub post_granted: Signal<Out, Bit>,
    pub post_done: Signal<In, Bit>,
    state: DFF<TableState>,
    // In state Execute.
    reads_region: DFF<Bit>,
    data: DFF<Bits<128>>,
    is_write: DFF<Bit>,
    is_read: DFF<Bit>,
    is_read_on: DFF<Bit>,
    is_context: DFF<Bit>,
    is_queue: DFF<Bit>,
    is_tail: DFF<Bit>,
    is_buffer: DFF<Bit>,
    is_stag: DFF<Bit>,
    is_region: DFF<Bit>,
    is_records: DFF<Bit>,
    write_context: DFF<Bit>,
    write_queue: DFF<Bit>,
    write_tail: DFF<Bit>,
    write_pool: DFF<Bit>,
    write_stag: DFF<Bit>,
    write_region: DFF<Bit>,
    words: Signal<Local, Bits<320>>,
    number: Signal<Local, Bits<4>>,
    is_mine: Signal<Local, Bit>,
    strobe: Signal<Local, Bit>,
    profile: Signal<Local, StreamProfile>,
    shape: Signal<Local, QueueShape>,
    buffer: Signal<Local, Buffer>,
    stag_entry: Signal<Local, StagEntry>,
    region_entry: Signal<Local, RegionEntry>,
    fetched: Signal<Local, Bits<128>>,
    fetched_on: Signal<Local, Bits<128>>,
    #[constant(LiteralType::from(WRITE))]
    operation_write: Constant<Bits<2>>,
    #[constant(LiteralType::from(READ))]
    operation_read: Constant<Bits<2>>,
    #[constant(LiteralType::from(OPERATION_READ_ON))]
    operation_read_on: Constant<Bits<2>>,
    #[constant(LiteralType::from(DDP))]
    table_context: Constant<Bits<4>>,
    #[constant(LiteralType::from(QUEUE))]
    table_queue: Constant<Bits<4>>,
    #[constant(LiteralType::from(QUEUE_TAIL))]
    table_tail: Constant<Bits<4>>,
    #[constant(LiteralType::from(RECEIVE_POOL))]
    table_pool: Constant<Bits<4>>,
    #[constant(LiteralType::from(STAG))]
    table_stag: Constant<Bits<4>>,
    #[constant(LiteralType::from(REGION))]
    table_region: Constant<Bits<4>>,
    #[constant(LiteralType::from(RECORDS))]
    table_records: Constant<Bits<4>>,
}

impl Logic for TablePort {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, data, is_write, is_read, is_context, is_queue, is_tail);
        registers!(clock; is_buffer, is_stag, is_region, is_records, reads_region, is_read_on);
        registers!(clock; write_context, write_queue, write_tail, write_pool);
        registers!(clock; write_stag, write_region);
        // The request is stable: decode it one cycle before its use.
        self.number.next = self.table_request.val().table;
        self.is_write.d.next = self.table_request.val().operation == self.operation_write.val();
        self.is_read.d.next = self.table_request.val().operation == self.operation_read.val();
        self.is_read_on.d.next = self.table_request.val().operation == self.operation_read_on.val();
        self.is_context.d.next = self.number.val() == self.table_context.val();
        self.is_queue.d.next = self.number.val() == self.table_queue.val();
        self.is_tail.d.next = self.number.val() == self.table_tail.val();
        self.is_buffer.d.next = self.number.val() == self.table_pool.val();
        self.is_stag.d.next = self.number.val() == self.table_stag.val();
        self.is_region.d.next = self.number.val() == self.table_region.val();
        self.is_records.d.next = self.number.val() == self.table_records.val();
        self.is_mine.next = ((self.number.val() >= self.table_context.val())
            & (self.number.val() <= self.table_region.val()))
            | (self.number.val() == self.table_records.val());

        self.table_done.next = false;
        self.hold.next = true;
        self.restart.next = false;
        self.post_granted.next = false;
        self.read_region.next = self.reads_region.q.val();
        self.reads_region.d.next = false;
        self.strobe.next = false;
        self.data.d.next = 0.into();
        self.fetched.next = bit_cast::<128, 5>(self.read_entry.val().rights)
            | (bit_cast::<128, 8>(self.read_entry.val().stag_key) << 8)
            | (bit_cast::<128, 1>(self.read_valid.val().into()) << 31)
            | (bit_cast::<128, 16>(self.read_entry.val().pd) << 32)
            | (bit_cast::<128, 10>(self.read_entry.val().connection) << 48)
            | (bit_cast::<128, 64>(self.read_entry.val().base) << 64);
        self.fetched_on.next = bit_cast::<128, 48>(self.read_entry.val().octets)
            | (bit_cast::<128, 64>(self.read_entry.val().bus_offset) << 64);
        match self.state.q.val() {
            TableState::Idle => {
                self.hold.next = false;
                if self.table_valid.val() & self.is_mine.val() & self.may_start.val() {
                    self.state.d.next = TableState::Pending;
                } else if self.post_wants.val() & self.may_start.val() {
                    self.state.d.next = TableState::Queued;
                }
            }
            TableState::Pending => {
                if self.may_run.val() {
                    self.reads_region.d.next = true;
                    self.state.d.next = TableState::Execute;
                }
            }
            TableState::Execute => {
                self.strobe.next = self.is_write.q.val();
                self.state.d.next = TableState::Done;
                if (self.is_read.q.val() | self.is_read_on.q.val()) & self.is_region.q.val() {
                    self.state.d.next = TableState::Fetch;
                } else if self.is_read.q.val() & self.is_records.q.val() {
                    self.data.d.next = bit_cast::<128, 10>(self.free_records.val());
                }
            }
            TableState::Fetch => self.state.d.next = TableState::Capture,
            TableState::Capture => {
                self.data.d.next = self.fetched.val();
                if self.is_read_on.q.val() {
                    self.data.d.next = self.fetched_on.val();
                }
                self.state.d.next = TableState::Done;
            }
            TableState::Done => {
                self.table_done.next = true;
                self.restart.next = true;
                self.state.d.next = TableState::Idle;
            }
            TableState::Queued => {
                if self.may_run.val() {
                    self.state.d.next = TableState::Lent;
                }
            }
            TableState::Lent => {
                self.post_granted.next = true;
                self.restart.next = true;
                if self.post_done.val() {
                    self.state.d.next = TableState::Idle;
                }
            }
            _ => self.state.d.next = TableState::Idle,
        }
        self.table_data.next = self.data.q.val();

        self.words.next = self.table_request.val().data;
        self.profile.next.pd = self.words.val().get_bits::<16>(0);
        self.profile.next.version = self.words.val().get_bit(16);
        self.writes.next.completion_queue = self.words.val().get_bits::<4>(17);
        self.shape.next.is_open = self.words.val().get_bit(31);
        self.shape.next.entries_log2 = self.words.val().get_bits::<4>(16);
        self.shape.next.first = self.words.val().get_bits::<11>(0);
        self.buffer.next.address = self.words.val().get_bits::<64>(0);
        self.buffer.next.octets = self.words.val().get_bits::<32>(64);
        self.buffer.next.to_high = self.words.val().get_bits::<3>(96);
        self.stag_entry.next.valid = self.words.val().get_bit(31);
        self.stag_entry.next.region = self.words.val().get_bits::<10>(0);
        self.stag_entry.next.stag_index = self.words.val().get_bits::<24>(32);
        self.region_entry.next.stag_key = self.words.val().get_bits::<8>(8);
        self.region_entry.next.rights = self.words.val().get_bits::<5>(0);
        self.region_entry.next.pd = self.words.val().get_bits::<16>(32);
        self.region_entry.next.connection = self.words.val().get_bits::<10>(48);
        self.region_entry.next.base = self.words.val().get_bits::<64>(64);
        self.region_entry.next.octets = self.words.val().get_bits::<48>(128);
        self.region_entry.next.bus_offset = self.words.val().get_bits::<64>(192);

        self.writes.next.index = self.table_request.val().index;
        self.write_context.d.next = self.strobe.val() & self.is_context.q.val();
        self.writes.next.context = self.write_context.q.val();
        self.writes.next.profile = self.profile.val();
        self.write_queue.d.next = self.strobe.val() & self.is_queue.q.val();
        self.writes.next.queue = self.write_queue.q.val();
        self.writes.next.shape = self.shape.val();
        self.writes.next.first_msn = self.words.val().get_bits::<32>(32);
        // A queue that is set up is empty: its tail is the first MSN it expects.
        self.write_tail.d.next = self.strobe.val() & (self.is_queue.q.val() | self.is_tail.q.val());
        self.writes.next.tail = self.write_tail.q.val();
        self.writes.next.tail_msn = self.words.val().get_bits::<16>(0);
        if self.is_queue.q.val() {
            self.writes.next.tail_msn = self.words.val().get_bits::<16>(32);
        }
        self.write_pool.d.next = self.strobe.val() & self.is_buffer.q.val();
        self.writes.next.pool = self.write_pool.q.val();
        self.writes.next.buffer = self.buffer.val();
        self.write_stag.d.next = self.strobe.val() & self.is_stag.q.val();
        self.writes.next.stag = self.write_stag.q.val();
        self.writes.next.stag_entry = self.stag_entry.val();
        self.write_region.d.next = self.strobe.val() & self.is_region.q.val();
        self.writes.next.region = self.write_region.q.val();
        self.writes.next.region_entry = self.region_entry.val();
        self.writes.next.region_valid = self.words.val().get_bit(31);
        if self.reset.val() {
            self.state.d.next = TableState::Idle;
            self.reads_region.d.next = false;
            self.write_context.d.next = true;
            self.write_queue.d.next = true;
            self.write_tail.d.next = true;
            self.write_pool.d.next = true;
            self.write_stag.d.next = true;
            self.write_region.d.next = true;
        }
    }
}

#[cfg(test)]
mod tests;
