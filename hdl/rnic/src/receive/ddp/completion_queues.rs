//! Completion queues: has the queue of a connection room for one more entry, and which number does
//! that entry get?
//!
//! ```text
//!           cycle 2                        cycle 3                  cycle 4         commit
//! cq -----> numbers, consumers, sizes --> distance >> log2 any --> full --> verdict --> number + 1
//!                                         phase -----------------> word_7
//! ```
//!
//! | latency    | 2 cycles, `cq` to `full`; 1 cycle, `numbers` or `loses` to `cq_report`       |
//! | throughput | one record per 5 cycles; a register write in 4                               |
//! | units      | entries; `number` counts them modulo 2^31, in each queue from its set-up on  |
//! | source     | `rnic_abi::{cqe, registers}`, `docs/adr/0021`                                |
//!
//! An entry has its place before anything of its FPDU is placed, and only while fewer than
//! `entries` numbers of its queue are not consumed. So [`crate::receive::placement::cqe`] never
//! waits for the driver, and overwrites no entry that the driver has not consumed. A consumer that
//! is out of date only makes the queue look fuller than it is; a queue that is off is full.
//!
//! `cq` stands from cycle 2 to the one after, in a record that waits for its verdict until then.
//! The number of the record before is in the RAM by cycle 0 of the next.
use crate::common::lut_ram::LutRam;
use crate::messages::{CqReport, CqWrite};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Room in the completion queues, and the numbers of their entries.
#[derive(LogicBlock, Init)]
pub struct CompletionQueues {
    pub clock: Signal<In, Clock>,
    /// Register writes; each may be followed by the next one after 4 cycles.
    pub cq_write: Signal<In, CqWrite>,
    /// Cycle 2: the queue of the stream.
    pub cq: Signal<In, Bits<4>>,
    /// Cycle 4: this is its last cycle.
    pub decide: Signal<In, Bit>,
    /// Cycle 5: the record's entry gets its number ...
    pub numbers: Signal<In, Bit>,
    /// ... or is lost, as the queue is full.
    pub loses: Signal<In, Bit>,
    /// Cycle 4: no entry has room.
    pub full: Signal<Out, Bit>,
    /// From one cycle after `decide` on: the queue, and word 7 of the entry, phase and number.
    pub entry_queue: Signal<Out, Bits<4>>,
    pub word_7: Signal<Out, Bits<32>>,
    pub cq_report: Signal<Out, CqReport>,
    numbered: LutRam<Bits<31>, 4>,
    consumers: LutRam<Bits<17>, 4>,
    sizes: LutRam<Bits<5>, 4>,
    distance: DFF<Bits<17>>,
    log2_q3: DFF<Bits<5>>,
    number_q3: DFF<Bits<31>>,
    queue_q3: DFF<Bits<4>>,
    is_full: DFF<Bit>,
    phase: DFF<Bit>,
    number_q4: DFF<Bits<31>>,
    queue_q4: DFF<Bits<4>>,
    held_phase: DFF<Bit>,
    held_number: DFF<Bits<31>>,
    held_queue: DFF<Bits<4>>,
    // A queue was set up; its number is not 0 yet.
    empties: DFF<Bit>,
    emptied: DFF<Bits<4>>,
    report: DFF<CqReport>,
    value: Signal<Local, Bits<32>>,
    number: Signal<Local, Bits<31>>,
    rounds: Signal<Local, Bits<17>>,
    now: Signal<Local, CqReport>,
    #[constant(1)]
    one: Constant<Bits<31>>,
}

impl Logic for CompletionQueues {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; distance, log2_q3, number_q3, queue_q3);
        registers!(clock; is_full, phase, number_q4, queue_q4);
        registers!(clock; held_phase, held_number, held_queue, empties, emptied, report);
        wire!(self => self.{numbered, consumers, sizes}; clock);
        self.value.next = self.cq_write.val().value;
        self.consumers.write_enable.next = self.cq_write.val().consumer;
        self.consumers.write_address.next = self.cq_write.val().queue;
        self.consumers.write_data.next = self.value.val().get_bits::<17>(0);
        self.sizes.write_enable.next = self.cq_write.val().entries_log2;
        self.sizes.write_address.next = self.cq_write.val().queue;
        self.sizes.write_data.next = self.value.val().get_bits::<5>(0);

        // Cycle 2.
        self.numbered.read_address.next = self.cq.val();
        self.consumers.read_address.next = self.cq.val();
        self.sizes.read_address.next = self.cq.val();
        self.number.next = self.numbered.read_data.val();
        self.distance.d.next = self.number.val().get_bits::<17>(0) - self.consumers.read_data.val();
        self.log2_q3.d.next = self.sizes.read_data.val();
        self.number_q3.d.next = self.number.val();
        self.queue_q3.d.next = self.cq.val();

        // Cycle 3. The phase is 1 on the first pass and turns at each wrap.
        self.rounds.next = self.distance.q.val() >> self.log2_q3.q.val();
        self.is_full.d.next = self.rounds.val().any() | !self.log2_q3.q.val().any();
        self.phase.d.next = !self.number_q3.q.val().get_bit(self.log2_q3.q.val().index());
        self.number_q4.d.next = self.number_q3.q.val();
        self.queue_q4.d.next = self.queue_q3.q.val();

        // Cycle 4.
        self.full.next = self.is_full.q.val();
        if self.decide.val() {
            self.held_phase.d.next = self.phase.q.val();
            self.held_number.d.next = self.number_q4.q.val();
            self.held_queue.d.next = self.queue_q4.q.val();
        }
        self.entry_queue.next = self.held_queue.q.val();
        self.word_7.next = bit_cast::<32, 31>(self.held_number.q.val());
        self.word_7.next = self.word_7.val().replace_bit(31, self.held_phase.q.val());

        // Cycle 5. The number of a queue that was set up is cleared in a cycle without a record's.
        self.now.next.lost = self.loses.val();
        self.now.next.numbered = self.numbers.val();
        self.now.next.queue = self.held_queue.q.val();
        self.now.next.entries = self.held_number.q.val() + self.one.val();
        if self.empties.q.val() & !self.numbers.val() & !self.loses.val() {
            self.now.next.numbered = true;
            self.now.next.queue = self.emptied.q.val();
            self.now.next.entries = 0.into();
            self.empties.d.next = false;
        }
        if self.cq_write.val().entries_log2 {
            self.empties.d.next = true;
            self.emptied.d.next = self.cq_write.val().queue;
        }
        self.numbered.write_enable.next = self.now.val().numbered;
        self.numbered.write_address.next = self.now.val().queue;
        self.numbered.write_data.next = self.now.val().entries;
        self.report.d.next = self.now.val();
        self.cq_report.next = self.report.q.val();
    }
}

#[cfg(test)]
mod tests;
