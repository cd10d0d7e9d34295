//! Order of an untagged queue: is this MSN the one expected, and is its buffer posted?
//!
//! ```text
//!  queue --> [ MSN RAM, tail RAM ] --> distance, posted --> compare --> behind, not_posted, gap
//!                  cycle 0,1       ^ msn   cycle 2           cycle 3
//! ```
//!
//! | latency    | 4 cycles, `queue` to the answers                                    |
//! | throughput | one question per cycle                                              |
//! | units      | `queue` is `connection << 2 or qn`; MSNs count messages modulo 2^32 |
//! | source     | RFC 5041 section 7.1 untagged (2), (5); `rnic_abi::tables::QUEUE`   |
//!
//! `msn` enters two cycles after `queue`. Exactly one buffer fits an ordered stream: that of the
//! expected MSN. A queue written in the cycle in which it is read is undefined: writers restart
//! readers, and the engine writes an advanced MSN before the next question.
use crate::common::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Expected MSN and posted end of every queue.
#[derive(LogicBlock, Default)]
pub struct QueueOrder {
    pub clock: Signal<In, Clock>,
    /// Cycle 0: queue.
    pub queue: Signal<In, Bits<12>>,
    /// Cycle 2: MSN received.
    pub msn: Signal<In, Bits<32>>,
    /// Cycle 4: the MSN is before the expected one (half of the number circle).
    pub behind: Signal<Out, Bit>,
    /// Cycle 4: no buffer is posted for it (means something only if not `behind`).
    pub not_posted: Signal<Out, Bit>,
    /// Cycle 4: it is not the expected one.
    pub gap: Signal<Out, Bit>,
    /// High for each cycle in which `next_msn` is stored as expected.
    pub write_msn: Signal<In, Bit>,
    /// Queue to write.
    pub msn_queue: Signal<In, Bits<12>>,
    /// MSN to expect.
    pub next_msn: Signal<In, Bits<32>>,
    /// High for each cycle in which `tail` is stored.
    pub write_tail: Signal<In, Bit>,
    /// Queue to write.
    pub tail_queue: Signal<In, Bits<12>>,
    /// Low half of the MSN after the last posted one.
    pub tail: Signal<In, Bits<16>>,
    expected: SdpRam<Bits<32>, 12>,
    tails: SdpRam<Bits<16>, 12>,
    // MSNs from the expected one to this one, modulo 2^32: bit 31 means behind.
    distance: DFF<Bits<32>>,
    // Buffers posted and not consumed.
    posted: DFF<Bits<16>>,
    is_behind: DFF<Bit>,
    is_not_posted: DFF<Bit>,
    is_gap: DFF<Bit>,
    expected_msn: Signal<Local, Bits<32>>,
    expected_low: Signal<Local, Bits<16>>,
    distance_now: Signal<Local, Bits<32>>,
    distance_high: Signal<Local, Bits<16>>,
    distance_low: Signal<Local, Bits<16>>,
}

impl Logic for QueueOrder {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; distance, posted, is_behind, is_not_posted, is_gap);
        wire!(self => self.expected;
            clock, queue as read_address, write_msn as write_enable, msn_queue as write_address,
            next_msn as write_data);
        wire!(self => self.tails;
            clock, queue as read_address, write_tail as write_enable, tail_queue as write_address,
            tail as write_data);

        // Cycle 2.
        self.expected_msn.next = self.expected.read_data.val();
        self.expected_low.next = self.expected_msn.val().get_bits::<16>(0);
        self.distance.d.next = self.msn.val() - self.expected_msn.val();
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
    }
}

#[cfg(test)]
mod tests;
