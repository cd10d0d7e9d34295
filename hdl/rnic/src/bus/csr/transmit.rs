//! Registers of the transmit rings and of reads: BAR0 from `TX_BASE_LOW` on.
//!
//! ```text
//! address, data, write -> [ registers of each ring ] -+-> base, report, units_log2, set_up, tail
//!                         [ reads, loopback ] --------+-> max_read_request, timeout_ticks, ...
//! heads ----------------------------------------------+-> value
//! ```
//!
//! | latency    | 1 cycle, `write` to an output; 1 cycle, `address` to `value`                  |
//! | throughput | one access in 2 cycles                                                        |
//! | units      | doublewords of BAR0                                                           |
//! | source     | `rnic_abi::registers`, `rnic_abi::transmit_ring`                              |
//!
//! `set_up` and `tail_valid` are high for one cycle, with the value beside them.
use super::transmit_ring::RingRegisters;
use rnic_abi::registers as map;
use rnic_abi::transmit_ring::RINGS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = {
    assert!(
        RINGS == 2 && map::TX_STRIDE == 32 && map::TX_BASE_LOW == 0x0a0,
        "bits 9:3 of a doubleword's address are 5 and 6, 2:0 the register"
    );
    assert!(
        map::READ_MAX_REQUEST == 0x0e0
            && map::READ_TIMEOUT == map::READ_MAX_REQUEST + 4
            && map::TX_CONTROL == map::READ_MAX_REQUEST + 8,
        "bits 9:3 of a doubleword's address are 7"
    );
    assert!(map::TX_CONTROL_LOOPBACK == 1 && map::TX_CONTROL_EXTENDED_TAGS == 2);
};

/// Registers of transmit and reads.
#[derive(LogicBlock, Init)]
pub struct TransmitRegisters {
    pub clock: Signal<In, Clock>,
    /// Every register gets its first value.
    pub clear: Signal<In, Bit>,
    /// Doubleword of BAR0 that is accessed.
    pub address: Signal<In, Bits<10>>,
    /// One cycle: `data` is written to `address`; both are there a cycle before too.
    pub write: Signal<In, Bit>,
    pub data: Signal<In, Bits<32>>,
    /// What `address` reads as; zero if it is none of these registers.
    pub value: Signal<Out, Bits<32>>,
    /// By ring: units passed.
    pub head: [Signal<In, Bits<32>>; 2],
    /// `TX_BASE_HIGH`, `TX_BASE_LOW`.
    pub base: [Signal<Out, Bits<64>>; 2],
    /// `TX_REPORT_HIGH`, `TX_REPORT_LOW`.
    pub report: [Signal<Out, Bits<64>>; 2],
    pub units_log2: [Signal<Out, Bits<5>>; 2],
    pub set_up: [Signal<Out, Bit>; 2],
    pub tail: [Signal<Out, Bits<32>>; 2],
    pub tail_valid: [Signal<Out, Bit>; 2],
    /// `READ_MAX_REQUEST`.
    pub max_read_request: Signal<Out, Bits<3>>,
    /// `READ_TIMEOUT`.
    pub timeout_ticks: Signal<Out, Bits<16>>,
    /// `TX_CONTROL_EXTENDED_TAGS`.
    pub extended_tags: Signal<Out, Bit>,
    /// `TX_CONTROL_LOOPBACK`.
    pub loopback: Signal<Out, Bit>,
    rings: [RingRegisters; 2],
    request: DFF<Bits<3>>,
    timeout: DFF<Bits<16>>,
    control: DFF<Bits<2>>,
    read: DFF<Bits<32>>,
    space: Signal<Local, Bits<7>>,
    register: Signal<Local, Bits<3>>,
    #[constants(|ring| LiteralType::from(map::TX_BASE_LOW / 32) + ring as LiteralType)]
    ring_space: [Constant<Bits<7>>; 2],
    #[constant(LiteralType::from(map::READ_MAX_REQUEST / 32))]
    common_space: Constant<Bits<7>>,
    #[constant(LiteralType::from(map::READ_MAX_REQUEST_MAX))]
    request_max: Constant<Bits<32>>,
    #[constant(LiteralType::from(map::READ_MAX_REQUEST_FIRST))]
    request_first: Constant<Bits<3>>,
    #[constant(LiteralType::from(map::READ_TIMEOUT_FIRST))]
    timeout_first: Constant<Bits<16>>,
}

impl Logic for TransmitRegisters {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; request, timeout, control, read);
        self.space.next = self.address.val().get_bits::<7>(3);
        self.register.next = self.address.val().get_bits::<3>(0);
        self.read.d.next = 0.into();
        for r in 0..2 {
            self.rings[r].clock.next = self.clock.val();
            self.rings[r].clear.next = self.clear.val();
            self.rings[r].register.next = self.register.val();
            self.rings[r].data.next = self.data.val();
            self.rings[r].head.next = self.head[r].val();
            self.base[r].next = self.rings[r].base.val();
            self.report[r].next = self.rings[r].report.val();
            self.units_log2[r].next = self.rings[r].units_log2.val();
            self.set_up[r].next = self.rings[r].set_up.val();
            self.tail[r].next = self.rings[r].tail.val();
            self.tail_valid[r].next = self.rings[r].tail_valid.val();
            self.rings[r].write.next = false;
            if self.space.val() == self.ring_space[r].val() {
                self.rings[r].write.next = self.write.val();
                self.read.d.next = self.rings[r].value.val();
            }
        }
        if self.space.val() == self.common_space.val() {
            if self.register.val() == 0 {
                self.read.d.next = bit_cast::<32, 3>(self.request.q.val());
                if self.write.val() & (self.data.val() <= self.request_max.val()) {
                    self.request.d.next = self.data.val().get_bits::<3>(0);
                }
            } else if self.register.val() == 1 {
                self.read.d.next = bit_cast::<32, 16>(self.timeout.q.val());
                if self.write.val() & !self.data.val().get_bits::<16>(16).any() {
                    self.timeout.d.next = self.data.val().get_bits::<16>(0);
                }
            } else if self.register.val() == 2 {
                self.read.d.next = bit_cast::<32, 2>(self.control.q.val());
                if self.write.val() {
                    self.control.d.next = self.data.val().get_bits::<2>(0);
                }
            }
        }
        self.value.next = self.read.q.val();
        self.max_read_request.next = self.request.q.val();
        self.timeout_ticks.next = self.timeout.q.val();
        self.loopback.next = self.control.q.val().get_bit(0);
        self.extended_tags.next = self.control.q.val().get_bit(1);
        if self.clear.val() {
            self.request.d.next = self.request_first.val();
            self.timeout.d.next = self.timeout_first.val();
            self.control.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
