//! Registers of the transmit rings and of reads: BAR0 from `TX_BASE_LOW` on.
//!
//! ```text
//! address, data, write --> [ registers of each ring ] --+--> base, report, units_log2, set_up, tail
//!                          [ reads, loopback ] ---------+--> max_read_request, timeout_ticks, ...
//! heads ------------------------------------------------+--> value
//! ```
//!
//! | latency    | 1 cycle, `write` to an output; 1 cycle, `address` to `value`                  |
//! | throughput | one access in 2 cycles                                                        |
//! | units      | doublewords of BAR0                                                           |
//! | source     | `rnic_abi::registers`, `rnic_abi::transmit_ring`                              |
//!
//! `set_up` and `tail_valid` are high for one cycle, with the value beside them.
use rnic_abi::registers as map;
use rnic_abi::transmit_ring::{RINGS, UNITS_LOG2_MAX, UNITS_LOG2_MIN};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = {
    assert!(
        RINGS == 2 && map::TX_STRIDE == 32 && map::TX_BASE_LOW == 0x0a0,
        "bits 9:3 of a doubleword's address are 5 and 6, 2:0 the register"
    );
    assert!(
        map::TX_BASE_HIGH == map::TX_BASE_LOW + 4
            && map::TX_UNITS_LOG2 == map::TX_BASE_LOW + 8
            && map::TX_TAIL == map::TX_BASE_LOW + 12
            && map::TX_HEAD == map::TX_BASE_LOW + 16
            && map::TX_REPORT_LOW == map::TX_BASE_LOW + 20
            && map::TX_REPORT_HIGH == map::TX_BASE_LOW + 24,
        "the order of a ring's registers"
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
    /// One cycle: `data` is written to `address`.
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
    base_low: [DFF<Bits<32>>; 2],
    base_high: [DFF<Bits<32>>; 2],
    units: [DFF<Bits<5>>; 2],
    doorbell: [DFF<Bits<32>>; 2],
    report_low: [DFF<Bits<32>>; 2],
    report_high: [DFF<Bits<32>>; 2],
    sets_up: [DFF<Bit>; 2],
    rings: [DFF<Bit>; 2],
    request: DFF<Bits<3>>,
    timeout: DFF<Bits<16>>,
    control: DFF<Bits<2>>,
    read: DFF<Bits<32>>,
    space: Signal<Local, Bits<7>>,
    register: Signal<Local, Bits<3>>,
    units_allowed: Signal<Local, Bit>,
    #[constants(|ring| LiteralType::from(map::TX_BASE_LOW / 32) + ring as LiteralType)]
    ring_space: [Constant<Bits<7>>; 2],
    #[constant(LiteralType::from(map::READ_MAX_REQUEST / 32))]
    common_space: Constant<Bits<7>>,
    #[constant(LiteralType::from(!0xfffu32))]
    page_mask: Constant<Bits<32>>,
    #[constant(LiteralType::from(!0x3fu32))]
    line_mask: Constant<Bits<32>>,
    #[constant(LiteralType::from(UNITS_LOG2_MIN))]
    units_log2_min: Constant<Bits<32>>,
    #[constant(LiteralType::from(UNITS_LOG2_MAX))]
    units_log2_max: Constant<Bits<32>>,
    #[constant(5)]
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
        self.units_allowed.next = !self.data.val().any()
            | ((self.data.val() >= self.units_log2_min.val())
                & (self.data.val() <= self.units_log2_max.val()));
        self.read.d.next = 0.into();
        for r in 0..2 {
            self.base_low[r].clock.next = self.clock.val();
            self.base_low[r].d.next = self.base_low[r].q.val();
            self.base_high[r].clock.next = self.clock.val();
            self.base_high[r].d.next = self.base_high[r].q.val();
            self.units[r].clock.next = self.clock.val();
            self.units[r].d.next = self.units[r].q.val();
            self.doorbell[r].clock.next = self.clock.val();
            self.doorbell[r].d.next = self.doorbell[r].q.val();
            self.report_low[r].clock.next = self.clock.val();
            self.report_low[r].d.next = self.report_low[r].q.val();
            self.report_high[r].clock.next = self.clock.val();
            self.report_high[r].d.next = self.report_high[r].q.val();
            self.sets_up[r].clock.next = self.clock.val();
            self.sets_up[r].d.next = false;
            self.rings[r].clock.next = self.clock.val();
            self.rings[r].d.next = false;
            if self.space.val() == self.ring_space[r].val() {
                if self.register.val() == 0 {
                    self.read.d.next = self.base_low[r].q.val();
                    if self.write.val() {
                        self.base_low[r].d.next = self.data.val() & self.page_mask.val();
                    }
                } else if self.register.val() == 1 {
                    self.read.d.next = self.base_high[r].q.val();
                    if self.write.val() {
                        self.base_high[r].d.next = self.data.val();
                    }
                } else if self.register.val() == 2 {
                    self.read.d.next = bit_cast::<32, 5>(self.units[r].q.val());
                    if self.write.val() & self.units_allowed.val() {
                        self.units[r].d.next = self.data.val().get_bits::<5>(0);
                        self.doorbell[r].d.next = 0.into();
                        self.sets_up[r].d.next = true;
                    }
                } else if self.register.val() == 3 {
                    self.read.d.next = self.doorbell[r].q.val();
                    if self.write.val() {
                        self.doorbell[r].d.next = self.data.val();
                        self.rings[r].d.next = true;
                    }
                } else if self.register.val() == 4 {
                    self.read.d.next = self.head[r].val();
                } else if self.register.val() == 5 {
                    self.read.d.next = self.report_low[r].q.val();
                    if self.write.val() {
                        self.report_low[r].d.next = self.data.val() & self.line_mask.val();
                    }
                } else if self.register.val() == 6 {
                    self.read.d.next = self.report_high[r].q.val();
                    if self.write.val() {
                        self.report_high[r].d.next = self.data.val();
                    }
                }
            }
            self.base[r].next = bit_cast::<64, 32>(self.base_low[r].q.val())
                | (bit_cast::<64, 32>(self.base_high[r].q.val()) << 32);
            self.report[r].next = bit_cast::<64, 32>(self.report_low[r].q.val())
                | (bit_cast::<64, 32>(self.report_high[r].q.val()) << 32);
            self.units_log2[r].next = self.units[r].q.val();
            self.set_up[r].next = self.sets_up[r].q.val();
            self.tail[r].next = self.doorbell[r].q.val();
            self.tail_valid[r].next = self.rings[r].q.val();
            if self.clear.val() {
                self.base_low[r].d.next = 0.into();
                self.base_high[r].d.next = 0.into();
                self.units[r].d.next = 0.into();
                self.doorbell[r].d.next = 0.into();
                self.report_low[r].d.next = 0.into();
                self.report_high[r].d.next = 0.into();
                self.sets_up[r].d.next = false;
                self.rings[r].d.next = false;
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
