//! Events: what a TCP sender in software needs to know, pushed to a ring in host memory.
//!
//! ```text
//! report (tcp) --------+                           +-- [ ids, 1,024 ] <--+
//!                      +--> [ pending events ] ----+ push                |
//! first_fpdu (ddp) ----+         |  ^              |                     |
//!                                |  +----- take ---|---------------------+
//!                                v taken           v
//!                          [ writer ] --> event TLP (pcie)
//!                           ^      |
//!                  context (tcp) <-+ read
//! ```
//!
//! | source               | message             | an event is raised                           |
//! |----------------------|---------------------|----------------------------------------------|
//! | tcp: decided segment | `ConnectionReport`  | at once; if octets came in order and nothing |
//! |                      |                     | else happened, as `EVENT_DELAY_LOG2` says    |
//! | ddp: accepted FPDU   | connection          | at once, if it is the stream's first one     |
//! | driver: context      | `ConnectionReport`, | no: what was reported of an earlier          |
//! | written              | `begins`            | connection of that number is dropped         |
//!
//! Events coalesce: a connection has at most one pending, and its number is at most once among the
//! ids, which therefore never overflow. Reasons are joined by OR, SEG.ACK is the highest of the
//! segments that joined; all other fields are those of the context when the event is composed. A
//! full ring, and one that is off, holds up the writer alone.
//!
//! | latency    | 17 cycles, `report_valid` to `tlp_valid`, if acceptance is idle            |
//! | throughput | an event in 11 cycles (10 at D = 512), and while `tlp_ready`               |
//! | units      | `rnic_abi::event_ring`, `rnic_abi::registers`                              |
//! | memory     | 8 block RAMs (ECP5): 7 of entries, 1 of ids                                |
//!
//! Reset empties entries and ids; see [`pending`].
pub mod pending;
pub mod writer;

use crate::common::block_fifo::BlockFifo;
use crate::messages::{ConnectionReport, ReportedContext};
use pending::PendingEvents;
use rnic_macros::kernel;
use rust_hdl::prelude::*;
use writer::EventWriter;

/// The room at D = 128.
pub type EventRoom128 = EventRoom<128, 4>;
/// The room at D = 512.
pub type EventRoom512 = EventRoom<512, 16>;

/// Event room of width `D`, `L = D / 32`.
#[derive(LogicBlock, Default)]
pub struct EventRoom<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    pub report: Signal<In, ConnectionReport>,
    pub report_valid: Signal<In, Bit>,
    pub first_fpdu: Signal<In, Bits<10>>,
    pub first_fpdu_valid: Signal<In, Bit>,
    /// Asks TCP for the context of `read_connection`, until `read_taken`.
    pub read: Signal<Out, Bit>,
    pub read_connection: Signal<Out, Bits<10>>,
    pub read_taken: Signal<In, Bit>,
    pub reported: Signal<In, ReportedContext>,
    pub reported_valid: Signal<In, Bit>,
    // Registers of the event ring: see `rnic_abi::registers`.
    pub event_base: Signal<In, Bits<64>>,
    pub event_entries_log2: Signal<In, Bits<5>>,
    pub event_consumer: Signal<In, Bits<32>>,
    pub event_delay_log2: Signal<In, Bits<5>>,
    pub event_producer: Signal<Out, Bits<32>>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    pending: PendingEvents,
    ids: BlockFifo<Bits<10>, 10, 11>,
    writer: EventWriter<D, L>,
}

impl<const D: usize, const L: usize> Logic for EventRoom<D, L> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.{pending, ids, writer}; clock);
        wire!(self => self.{pending, ids, writer}; reset);
        wire!(self => self.pending; report, report_valid, first_fpdu, first_fpdu_valid);
        self.pending.delay_log2.next = self.event_delay_log2.val();
        wire!(self.pending => self.ids; push as write, push_connection as data_in);
        self.pending.take.next = !self.ids.empty.val() & self.writer.ready.val();
        self.pending.take_connection.next = self.ids.data_out.val();
        self.ids.read.next = self.pending.taking.val();

        self.writer.starts.next = self.pending.taking.val();
        self.writer.connection.next = self.ids.data_out.val();
        self.writer.begins.next = self.report_valid.val() & self.report.val().begins;
        self.writer.begins_connection.next = self.report.val().connection;
        wire!(self.pending => self.writer; taken, taken_valid);
        wire!(self => self.writer; device_id, event_base as base);
        wire!(self => self.writer; event_entries_log2 as entries_log2, event_consumer as consumer);
        self.event_producer.next = self.writer.producer.val();
        wire!(self.writer => self; read, read_connection);
        wire!(self => self.writer; read_taken, reported, reported_valid);
        tlps!(self.writer => self; tlp);
    }
}

#[cfg(test)]
mod tests;
