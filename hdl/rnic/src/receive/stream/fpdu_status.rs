//! What TCP's reserve needs to know of FPDUs: the other half of admission near the end of memory.
//!
//! ```text
//! query, current ------> [ FpduStatus ] --> status            (one per query, to tcp/reserve)
//! job_done ------------> [ need >= 4096 octets ] --> long_fpdu, long_connection
//! ```
//!
//! | latency    | 1 cycle                                                                     |
//! | throughput | one query and one ended job per cycle                                       |
//! | units      | octets; `LONG_FPDU_OCTETS` of `rnic_abi::registers` is a power of two       |
//!
//! A query is an event of the stream manager, handled in order with accepted octets: its answer
//! covers all octets before it. docs/adr/0013 has the rules that use it.
use super::types::StreamContext;
use crate::messages::{FpduStatus, JobDone};
use rnic_abi::registers::LONG_FPDU_OCTETS;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

const _: () = assert!(
    LONG_FPDU_OCTETS == 1 << 12,
    "long FPDUs are recognised by bits 17:12 of the octets needed"
);

/// Answers the queries of the reserve, and reports streams with long FPDUs.
#[derive(LogicBlock, Default)]
pub struct FpduStatusReport {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The current event is a query about the connection of context `current`.
    pub query: Signal<In, Bit>,
    pub current: Signal<In, StreamContext>,
    pub status: Signal<Out, FpduStatus>,
    pub status_valid: Signal<Out, Bit>,
    /// Ended jobs as they arrive, taken or not.
    pub job_done: Signal<In, JobDone>,
    pub job_done_valid: Signal<In, Bit>,
    /// A job ended at an FPDU of at least `LONG_FPDU_OCTETS` that is not whole or not placed yet;
    /// one cycle or more.
    pub long_fpdu: Signal<Out, Bit>,
    pub long_connection: Signal<Out, Bits<10>>,
    answer: DFF<FpduStatus>,
    answered: DFF<Bit>,
    long: DFF<Bit>,
    long_of: DFF<Bits<10>>,
    available: Signal<Local, Bits<18>>,
    needed: Signal<Local, Bits<18>>,
}

impl Logic for FpduStatusReport {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; answer, answered, long, long_of);
        self.available.next = self.current.val().avail;
        // With spans after the stream its end is known soon. A stopped stream keeps its spans.
        self.answer.d.next.busy =
            self.current.val().busy | (self.current.val().has_next & !self.current.val().stopped);
        self.answer.d.next.empty = !self.available.val().any();
        // Eight octets include ULPDU_Length, with a leading marker or without.
        self.answer.d.next.known = self.available.val().get_bits::<15>(3).any();
        self.answer.d.next.missing = self.current.val().missing;
        self.answered.d.next = self.query.val() & !self.reset.val();
        self.status.next = self.answer.q.val();
        self.status_valid.next = self.answered.q.val();

        self.needed.next = self.job_done.val().need;
        self.long.d.next = self.job_done_valid.val()
            & self.needed.val().get_bits::<6>(12).any()
            & !self.reset.val();
        self.long_of.d.next = self.job_done.val().connection;
        self.long_fpdu.next = self.long.q.val();
        self.long_connection.next = self.long_of.q.val();
    }
}

#[cfg(test)]
mod tests;
