//! Table operations on contexts and ranges: write, read and release.
//!
//! ```text
//! Wait --(grant)--> Address --> Fetch --> Load --> Act --+--> Wait
//!                                                        |
//!                  RELEASE of a connection with ranges   +--> Purge --> Clear --> Drain
//! ```
//!
//! | latency    | `grant` to `table_done` 5 cycles; a release 3 a range more, and until MPA       |
//! |            | has taken the purges                                                            |
//! | throughput | one operation at a time, between two frames                                     |
//! | units      | see `rnic_abi::tables`                                                          |
//! | tables     | `TCP` (write, read, release), `TCP_WINDOW` (write), `OUT_OF_ORDER`, `RANGE` and |
//! |            | `IN_USE` (read); any other operation on them completes without effect           |
//!
//! A release is done only when MPA has taken every purge: a following release of the connection in
//! table `MPA` finds no message of it in flight.
#![allow(clippy::collapsible_match)] // Match guards do not translate.
use super::context::TcpContext;
use super::ranges::list::OutOfOrderRange;
use super::ranges::PoolsInUse;
use crate::messages::TableRequest;
use rnic_abi::tables;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// States of a table operation.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum TablesState {
    /// Waits for the grant.
    Wait,
    /// Contexts and ranges are addressed.
    Address,
    /// Their RAMs read.
    Fetch,
    /// They have read; `current` is valid in the next cycle.
    Load,
    /// Executes the operation, or begins a release.
    Act,
    /// Waits for the walk along the ranges.
    Purge,
    /// Writes the context without ranges.
    Clear,
    /// Waits until MPA has taken the last purge.
    Drain,
}

/// Words of `TCP`, from the lowest.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct ContextWords {
    rcv_nxt: Bits<32>,
    window: Bits<32>,
    seg_ack: Bits<32>,
    seg_wnd: Bits<16>,
    fin: Bit,
    ranges: Bits<5>,
    first_range: Bits<8>,
    unused: Bits<2>,
}

/// Words of `OUT_OF_ORDER`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct OutOfOrderWords {
    first_range: Bits<8>,
    ranges: Bits<8>,
    last_range: Bits<16>,
    pages: Bits<32>,
    answers: Bits<64>,
}

/// Words of `RANGE`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct RangeWords {
    left: Bits<32>,
    right: Bits<32>,
    following: Bits<8>,
    has_following: Bits<24>,
    pages: Bits<32>,
}

/// Words of `IN_USE`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct InUseWords {
    ranges: Bits<16>,
    fragments: Bits<16>,
    spans: Bits<96>,
}

/// Executes the operations of the table bus.
#[derive(LogicBlock, Init)]
#[init(
    let table = |number: u32| Constant::new(LiteralType::from(number).into());
    let operation = |number: u32| Constant::new(LiteralType::from(number).into());
)]
pub struct TcpTables {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    pub table_data: Signal<Out, Bits<128>>,
    /// There is an operation on one of the tables, a cycle after its request.
    pub wants: Signal<Out, Bit>,
    /// Contexts and ranges are reserved for this block; stays high until `finished`.
    pub grant: Signal<In, Bit>,
    /// In the last cycle that needs the grant.
    pub finished: Signal<Out, Bit>,
    /// Context to read or write.
    pub connection: Signal<Out, Bits<10>>,
    /// The context, three cycles after `connection`.
    pub current: Signal<In, TcpContext>,
    /// Stores `written`.
    pub write: Signal<Out, Bit>,
    pub written: Signal<Out, TcpContext>,
    /// `reset` two cycles later: `written` is what the request has, zero while reset lasts.
    pub sweeps: Signal<Out, Bit>,
    /// Reads range `peek_number` instead of the context's first one.
    pub peek: Signal<Out, Bit>,
    pub peek_number: Signal<Out, Bits<8>>,
    /// The range, three cycles after `peek`.
    pub range: Signal<In, OutOfOrderRange>,
    /// Begins to purge the context's ranges; one cycle.
    pub purge: Signal<Out, Bit>,
    /// They are purged.
    pub purged: Signal<In, Bit>,
    /// The context of `connection` is written: a connection begins.
    pub begins: Signal<Out, Bit>,
    /// MPA has not taken the last message.
    pub message_waits: Signal<In, Bit>,
    pub in_use: Signal<In, PoolsInUse>,
    state: DFF<TablesState>,
    // `reset` two cycles later: the sweep passes each entry several times, so what is written in
    // the first two cycles does not stay. Synthesis makes one register of all that are `reset` a
    // cycle later, wherever they are; the second one is near.
    resets: DFF<Bit>,
    in_sweep: DFF<Bit>,
    done: DFF<Bit>,
    // The request comes from far away, and frames wait for `wants`.
    wanted: DFF<Bit>,
    data: DFF<Bits<128>>,
    is_tcp: DFF<Bit>,
    is_window: DFF<Bit>,
    is_ooo: DFF<Bit>,
    is_range: DFF<Bit>,
    is_use: DFF<Bit>,
    is_write: DFF<Bit>,
    is_read: DFF<Bit>,
    is_release: DFF<Bit>,
    request_index: Signal<Local, Bits<16>>,
    request_data: Signal<Local, Bits<320>>,
    context_words: Signal<Local, ContextWords>,
    ooo_words: Signal<Local, OutOfOrderWords>,
    range_words: Signal<Local, RangeWords>,
    use_words: Signal<Local, InUseWords>,
    ours: Signal<Local, Bit>,
    acts: Signal<Local, Bit>,
    answers: Signal<Local, Bit>,
    range_count: Signal<Local, Bits<5>>,
    #[init(table(tables::TCP))]
    table_tcp: Constant<Bits<4>>,
    #[init(table(tables::TCP_WINDOW))]
    table_window: Constant<Bits<4>>,
    #[init(table(tables::OUT_OF_ORDER))]
    table_ooo: Constant<Bits<4>>,
    #[init(table(tables::RANGE))]
    table_range: Constant<Bits<4>>,
    #[init(table(tables::IN_USE))]
    table_use: Constant<Bits<4>>,
    #[init(operation(tables::WRITE))]
    operation_write: Constant<Bits<2>>,
    #[init(operation(tables::READ))]
    operation_read: Constant<Bits<2>>,
    #[init(operation(tables::RELEASE))]
    operation_release: Constant<Bits<2>>,
}

impl Logic for TcpTables {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, done, wanted, data, is_tcp, is_ooo, is_range);
        registers!(clock; is_window, is_use, is_write, is_read, is_release, resets, in_sweep);
        self.resets.d.next = self.reset.val();
        self.in_sweep.d.next = self.resets.q.val();
        self.sweeps.next = self.in_sweep.q.val();
        self.table_done.next = self.done.q.val();
        self.table_data.next = self.data.q.val();
        self.is_tcp.d.next = self.table_request.val().table == self.table_tcp.val();
        self.is_window.d.next = self.table_request.val().table == self.table_window.val();
        self.is_ooo.d.next = self.table_request.val().table == self.table_ooo.val();
        self.is_range.d.next = self.table_request.val().table == self.table_range.val();
        self.is_use.d.next = self.table_request.val().table == self.table_use.val();
        self.is_write.d.next = self.table_request.val().operation == self.operation_write.val();
        self.is_read.d.next = self.table_request.val().operation == self.operation_read.val();
        self.is_release.d.next = self.table_request.val().operation == self.operation_release.val();
        self.ours.next = (self.table_request.val().table == self.table_tcp.val())
            | (self.table_request.val().table == self.table_window.val())
            | (self.table_request.val().table == self.table_ooo.val())
            | (self.table_request.val().table == self.table_range.val())
            | (self.table_request.val().table == self.table_use.val());
        self.wanted.d.next =
            self.table_valid.val() & self.ours.val() & !self.done.q.val() & !self.grant.val();
        self.wants.next = self.wanted.q.val();
        self.request_index.next = self.table_request.val().index;
        self.request_data.next = self.table_request.val().data;
        self.connection.next = self.request_index.val().get_bits::<10>(0);
        self.peek.next = self.is_range.q.val() & (self.state.q.val() != TablesState::Wait);
        self.peek_number.next = self.request_index.val().get_bits::<8>(0);

        // The entries as the driver reads them.
        self.use_words.next.ranges = bit_cast::<16, 9>(self.in_use.val().ranges);
        self.use_words.next.fragments = bit_cast::<16, 7>(self.in_use.val().fragments);
        self.use_words.next.spans = bit_cast::<96, 10>(self.in_use.val().spans);
        self.context_words.next.rcv_nxt = self.current.val().rcv_nxt;
        self.context_words.next.window = self.current.val().window;
        self.context_words.next.seg_ack = self.current.val().seg_ack;
        self.context_words.next.seg_wnd = self.current.val().seg_wnd;
        self.context_words.next.fin = self.current.val().fin;
        self.context_words.next.ranges = self.current.val().ranges;
        self.context_words.next.first_range = self.current.val().first_range;
        self.context_words.next.unused = 0.into();
        self.ooo_words.next.first_range = self.current.val().first_range;
        self.ooo_words.next.ranges = bit_cast::<8, 5>(self.current.val().ranges);
        self.ooo_words.next.last_range = bit_cast::<16, 8>(self.current.val().last_range);
        self.ooo_words.next.pages = bit_cast::<32, 10>(self.current.val().ooo_pages);
        self.ooo_words.next.answers = bit_cast::<64, 8>(self.current.val().answers);
        self.range_words.next.left = self.range.val().left;
        self.range_words.next.right = self.range.val().right;
        self.range_words.next.following = self.range.val().following;
        self.range_words.next.has_following = 0.into();
        if self.range.val().has_following {
            self.range_words.next.has_following = 1.into();
        }
        self.range_words.next.pages = bit_cast::<32, 10>(self.range.val().pages);

        // A context that is written or released has no ranges; nor has one whose ranges the reserve
        // discards, between operations: the request's registers keep the last one. In reset the
        // request has zero data, so the whole context is zero.
        self.acts.next = self.state.q.val() == TablesState::Act;
        self.written.next = self.current.val();
        if self.acts.val() & self.is_window.q.val() & !self.in_sweep.q.val() {
            self.written.next.window = self.request_data.val().get_bits::<32>(0);
        } else {
            self.written.next.ranges = 0.into();
            self.written.next.first_range = 0.into();
            self.written.next.last_range = 0.into();
            self.written.next.ooo_pages = 0.into();
            if self.acts.val() | self.in_sweep.q.val() {
                self.written.next.rcv_nxt = self.request_data.val().get_bits::<32>(0);
                self.written.next.window = self.request_data.val().get_bits::<32>(32);
                self.written.next.seg_ack = self.request_data.val().get_bits::<32>(64);
                self.written.next.seg_wnd = self.request_data.val().get_bits::<16>(96);
                self.written.next.fin = self.request_data.val().get_bit(112);
                self.written.next.fin_sequence = self.request_data.val().get_bits::<32>(0);
                self.written.next.answers = 0.into();
                self.written.next.repeats = 0.into();
            }
        }
        self.write.next = false;
        self.begins.next = false;
        self.purge.next = false;
        self.answers.next = false;
        self.range_count.next = self.current.val().ranges;

        match self.state.q.val() {
            TablesState::Wait => {
                if self.grant.val() {
                    self.state.d.next = TablesState::Address;
                }
            }
            TablesState::Address => self.state.d.next = TablesState::Fetch,
            TablesState::Fetch => self.state.d.next = TablesState::Load,
            TablesState::Load => self.state.d.next = TablesState::Act,
            TablesState::Act => {
                self.begins.next = self.is_tcp.q.val() & self.is_write.q.val();
                self.write.next =
                    self.begins.val() | (self.is_window.q.val() & self.is_write.q.val());
                if self.is_tcp.q.val() & self.is_release.q.val() & self.range_count.val().any() {
                    self.purge.next = true;
                    self.state.d.next = TablesState::Purge;
                } else {
                    self.answers.next = true;
                }
            }
            TablesState::Purge => {
                if self.purged.val() {
                    self.state.d.next = TablesState::Clear;
                }
            }
            TablesState::Clear => {
                self.write.next = true;
                self.state.d.next = TablesState::Drain;
            }
            TablesState::Drain => self.answers.next = !self.message_waits.val(),
            _ => {}
        }
        self.finished.next = self.answers.val();
        self.done.d.next = self.answers.val();
        if self.answers.val() {
            self.state.d.next = TablesState::Wait;
        }
        // A read is answered in Act, whatever the context and MPA say, which come late.
        self.data.d.next = 0.into();
        if self.acts.val() & self.is_read.q.val() {
            if self.is_tcp.q.val() {
                self.data.d.next = self.context_words.val().into();
            } else if self.is_ooo.q.val() {
                self.data.d.next = self.ooo_words.val().into();
            } else if self.is_range.q.val() {
                self.data.d.next = self.range_words.val().into();
            } else if self.is_use.q.val() {
                self.data.d.next = self.use_words.val().into();
            }
        }
        if self.reset.val() {
            self.state.d.next = TablesState::Wait;
            self.done.d.next = false;
            self.wanted.d.next = false;
            self.data.d.next = 0.into();
        }
    }
}
