//! Table bus: the engine that runs one table operation at a time, and the relay before each
//! room with tables.
//!
//! ```text
//! Idle --(command)--> Request --(done)--> Idle
//!                        |--(done, may revoke memory)--> Fence --(fence_done)--> Idle
//!                        `--(done, half of a region)--> Between --> Request
//!
//! engine: request, valid --> [ relay ] --> room_request, room_valid
//! engine: done, data     <-- [ relay ] <-- room_done, room_data
//! ```
//!
//! | latency    | command to `table_valid`: 1 cycle, relay: 1 cycle each way; busy until    |
//! |            | the owner's `table_done`                                                  |
//! | throughput | one operation at a time                                                   |
//! | units      | words of 32 bits                                                          |
//! | source     | `rnic_abi::tables`                                                        |
use crate::messages::TableRequest;
use rnic_abi::registers::TABLE_UNFENCED;
use rnic_abi::tables;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(TABLE_UNFENCED == 1 << 26);

/// Operation between engine and rooms: words 4 to 7 of the entry that was read. No command has it.
pub const OPERATION_READ_ON: u32 = 0;

/// The table data as words, word 0 in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct TableWords {
    word_0: Bits<32>,
    word_1: Bits<32>,
    word_2: Bits<32>,
    word_3: Bits<32>,
    word_4: Bits<32>,
    word_5: Bits<32>,
    word_6: Bits<32>,
    word_7: Bits<32>,
    word_8: Bits<32>,
    word_9: Bits<32>,
}

/// State of the operation at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum TableState {
    Idle,
    Request,
    Between,
    Fence,
}

/// Table engine: one table operation at a time, from `TABLE_COMMAND` to its end.
///
/// A write to `QUEUE`, `STAG` or `REGION` may revoke memory from the device: the engine stays busy
/// until every TLP of the commands that placement had taken before has left, so that a read of
/// `TABLE_COMMAND` that says "done" is answered after them; but with `TABLE_UNFENCED`. An operation
/// or a table that does not exist is not started. A command, or data, written while an operation
/// runs is ignored.
///
/// A region has eight words and an answer four: a read of one takes a second request, for
/// `OPERATION_READ_ON`, whose answer are words 4 to 7. A peer's invalidation between the two
/// changes a bit of the first alone.
///
/// A reset clears the data: the next owner of the device reads nothing of the one before.
#[derive(LogicBlock, Init)]
#[init(
    let number = |number: u32| LiteralType::from(number);
)]
pub struct TableEngine {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle: `write_data` is a command.
    pub command_write: Signal<In, Bit>,
    /// One cycle, one bit a word: `write_data` is that word of the table data.
    pub word_write: Signal<In, Bits<10>>,
    /// Command or word.
    pub write_data: Signal<In, Bits<32>>,
    /// An operation runs.
    pub busy: Signal<Out, Bit>,
    /// It is short ([`tables::is_short`]): every access waits for its end.
    pub short: Signal<Out, Bit>,
    /// The table data, word 0 in bits 31:0.
    pub words: Signal<Out, Bits<320>>,
    /// Table bus and fence: see [`super::Csr`].
    pub table_request: Signal<Out, TableRequest>,
    pub table_valid: Signal<Out, Bit>,
    pub table_done: Signal<In, Bit>,
    pub table_data: Signal<In, Bits<128>>,
    pub fence: Signal<Out, Bit>,
    pub fence_done: Signal<In, Bit>,
    state: DFF<TableState>,
    operation: DFF<Bits<2>>,
    table_number: DFF<Bits<4>>,
    index: DFF<Bits<16>>,
    data: [DFF<Bits<32>>; 10],
    // The rooms' answer, one cycle late.
    is_done: DFF<Bit>,
    answer: DFF<Bits<128>>,
    // Words 0 to 3 of a region are there.
    reads_on: DFF<Bit>,
    is_unfenced: DFF<Bit>,
    is_short: DFF<Bit>,
    is_region_read: Signal<Local, Bit>,
    joined: Signal<Local, TableWords>,
    all_words: Signal<Local, Bits<320>>,
    requested: Signal<Local, Bits<2>>,
    requested_table: Signal<Local, Bits<4>>,
    exists: Signal<Local, Bit>,
    fences: Signal<Local, Bit>,
    revokes: Signal<Local, Bit>,
    #[constant(number(tables::LOOKUP))]
    first_table: Constant<Bits<4>>,
    #[constant(number(tables::LAST))]
    last_table: Constant<Bits<4>>,
    #[constant(number(tables::WRITE))]
    operation_write: Constant<Bits<2>>,
    #[constant(number(tables::READ))]
    operation_read: Constant<Bits<2>>,
    #[constant(number(OPERATION_READ_ON))]
    operation_read_on: Constant<Bits<2>>,
    #[constant(number(tables::RELEASE))]
    operation_release: Constant<Bits<2>>,
    #[constant(number(tables::DDP))]
    ddp: Constant<Bits<4>>,
    #[constant(number(tables::RECORDS))]
    records: Constant<Bits<4>>,
    #[constant(number(tables::QUEUE))]
    queue: Constant<Bits<4>>,
    #[constant(number(tables::STAG))]
    stag: Constant<Bits<4>>,
    #[constant(number(tables::REGION))]
    region: Constant<Bits<4>>,
}

impl Logic for TableEngine {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, operation, table_number, index, is_done, answer, reads_on);
        registers!(clock; is_unfenced, is_short);
        self.is_done.d.next = self.table_done.val();
        self.answer.d.next = self.table_data.val();
        self.busy.next = self.state.q.val() != TableState::Idle;
        self.short.next = self.is_short.q.val();
        self.table_valid.next = self.state.q.val() == TableState::Request;
        self.fence.next = false;

        for i in 0..10 {
            self.data[i].clock.next = self.clock.val();
            self.data[i].d.next = self.data[i].q.val();
            if self.word_write.val().get_bit(i) & (self.state.q.val() == TableState::Idle) {
                self.data[i].d.next = self.write_data.val();
            }
        }
        self.joined.next.word_0 = self.data[0].q.val();
        self.joined.next.word_1 = self.data[1].q.val();
        self.joined.next.word_2 = self.data[2].q.val();
        self.joined.next.word_3 = self.data[3].q.val();
        self.joined.next.word_4 = self.data[4].q.val();
        self.joined.next.word_5 = self.data[5].q.val();
        self.joined.next.word_6 = self.data[6].q.val();
        self.joined.next.word_7 = self.data[7].q.val();
        self.joined.next.word_8 = self.data[8].q.val();
        self.joined.next.word_9 = self.data[9].q.val();
        self.all_words.next = self.joined.val().into();
        self.words.next = self.all_words.val();
        self.table_request.next.operation = self.operation.q.val();
        if self.reads_on.q.val() {
            self.table_request.next.operation = self.operation_read_on.val();
        }
        self.table_request.next.table = self.table_number.q.val();
        self.table_request.next.index = self.index.q.val();
        self.table_request.next.data = self.all_words.val();

        self.requested.next = self.write_data.val().get_bits::<2>(24);
        self.requested_table.next = self.write_data.val().get_bits::<4>(16);
        self.exists.next = self.requested.val().any()
            & (self.requested_table.val() >= self.first_table.val())
            & (self.requested_table.val() <= self.last_table.val());
        self.revokes.next = (self.operation.q.val() == self.operation_write.val())
            & !self.is_unfenced.q.val()
            & ((self.table_number.q.val() == self.queue.val())
                | (self.table_number.q.val() == self.stag.val())
                | (self.table_number.q.val() == self.region.val()));
        // The rooms of the other tables may wait for the host; these are those of ddp.
        self.fences.next = (self.requested.val() == self.operation_write.val())
            & !self.write_data.val().get_bit(26)
            & ((self.requested_table.val() == self.queue.val())
                | (self.requested_table.val() == self.stag.val())
                | (self.requested_table.val() == self.region.val()));

        self.is_region_read.next = (self.operation.q.val() == self.operation_read.val())
            & (self.table_number.q.val() == self.region.val());

        match self.state.q.val() {
            // Waits for a command.
            TableState::Idle => {
                if self.command_write.val() {
                    self.operation.d.next = self.requested.val();
                    self.table_number.d.next = self.requested_table.val();
                    self.index.d.next = self.write_data.val().get_bits::<16>(0);
                    self.is_unfenced.d.next = self.write_data.val().get_bit(26);
                    if self.exists.val() {
                        self.state.d.next = TableState::Request;
                        self.is_short.d.next = !self.fences.val()
                            & (self.requested.val() != self.operation_release.val())
                            & (((self.requested_table.val() >= self.ddp.val())
                                & (self.requested_table.val() <= self.region.val()))
                                | (self.requested_table.val() == self.records.val()));
                    }
                }
            }
            // Waits for the owning room.
            TableState::Request => {
                if self.is_done.q.val() {
                    self.state.d.next = TableState::Idle;
                    self.is_short.d.next = false;
                    if self.revokes.val() {
                        self.fence.next = true;
                        self.state.d.next = TableState::Fence;
                    }
                    if self.reads_on.q.val() {
                        for i in 0..4 {
                            self.data[i + 4].d.next = self.answer.q.val().get_bits::<32>(i * 32);
                        }
                        self.reads_on.d.next = false;
                    } else if self.operation.q.val() == self.operation_read.val() {
                        for i in 0..4 {
                            self.data[i].d.next = self.answer.q.val().get_bits::<32>(i * 32);
                        }
                        for i in 4..10 {
                            self.data[i].d.next = 0.into();
                        }
                        if self.is_region_read.val() {
                            self.reads_on.d.next = true;
                            self.is_short.d.next = true;
                            self.state.d.next = TableState::Between;
                        }
                    }
                }
            }
            // The rooms see the request withdrawn.
            TableState::Between => {
                self.state.d.next = TableState::Request;
            }
            // Waits until the commands that placement took before have left.
            TableState::Fence => {
                if self.fence_done.val() {
                    self.state.d.next = TableState::Idle;
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = TableState::Idle;
            self.is_done.d.next = false;
            self.is_short.d.next = false;
            self.reads_on.d.next = false;
            for i in 0..10 {
                self.data[i].d.next = 0.into();
            }
        }
    }
}

/// Table relay: a register slice of the table bus at the entrance of a room; 1 cycle each way.
///
/// In reset `room_request` counts the index, one a cycle, with zero data: from it the room writes
/// its tables empty ([`ResetSequencer`](crate::bus::reset::ResetSequencer)).
///
/// Rooms are placed far from the register file and from each other; a relay keeps the wires between
/// them out of the critical paths of the rooms. A room sees each operation once: after its answer
/// the relay keeps `room_valid` low until the engine has withdrawn the request, which it does for
/// at least a cycle between two operations.
#[derive(LogicBlock, Init)]
pub struct TableRelay {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The operation; holds while `valid`, which lasts until `done` of some room.
    pub request: Signal<In, TableRequest>,
    pub valid: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<128>>,
    /// The operation for the room.
    pub room_request: Signal<Out, TableRequest>,
    pub room_valid: Signal<Out, Bit>,
    /// One cycle: the room has done it.
    pub room_done: Signal<In, Bit>,
    /// With `room_done` what was read; zero at all other times.
    pub room_data: Signal<In, Bits<128>>,
    held: DFF<TableRequest>,
    stands: DFF<Bit>,
    answered: DFF<Bit>,
    told: DFF<Bit>,
    answer: DFF<Bits<128>>,
    #[constant(1)]
    one: Constant<Bits<16>>,
}

impl Logic for TableRelay {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, stands, answered, told, answer);
        // Each relay loads its own registers: if they just followed, synthesis would join those of
        // all relays in one place.
        if !self.stands.q.val() & !self.answered.q.val() {
            self.held.d.next = self.request.val();
        }
        self.stands.d.next = self.valid.val() & !self.answered.q.val();
        self.told.d.next = self.room_done.val();
        self.answer.d.next = self.room_data.val();
        if self.room_done.val() {
            self.stands.d.next = false;
            self.answered.d.next = true;
        }
        if !self.valid.val() {
            self.answered.d.next = false;
        }
        self.room_request.next = self.held.q.val();
        self.room_valid.next = self.stands.q.val();
        self.done.next = self.told.q.val();
        self.data.next = self.answer.q.val();
        if self.reset.val() {
            self.stands.d.next = false;
            self.answered.d.next = false;
            self.told.d.next = false;
            self.answer.d.next = 0.into();
            self.held.d.next.index = self.held.q.val().index + self.one.val();
            self.held.d.next.data = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
