//! Registers of one transmit ring.
//!
//! ```text
//! register, data, write --> [ base, report, units_log2, tail ] --> set_up, tail_valid
//! head ---------------------------------------------------------> value
//! ```
//!
//! | latency    | 1 cycle, `write` to an output; `value` in the cycle of `register`             |
//! | throughput | one access a cycle                                                            |
//! | units      | doublewords of BAR0                                                           |
//! | source     | `rnic_abi::registers`, `rnic_abi::transmit_ring`                              |
//!
//! `set_up` and `tail_valid` are high for one cycle, with the value beside them.
use rnic_abi::registers as map;
use rnic_abi::transmit_ring::{UNITS_LOG2_MAX, UNITS_LOG2_MIN};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(
    map::TX_BASE_HIGH == map::TX_BASE_LOW + 4
        && map::TX_UNITS_LOG2 == map::TX_BASE_LOW + 8
        && map::TX_TAIL == map::TX_BASE_LOW + 12
        && map::TX_HEAD == map::TX_BASE_LOW + 16
        && map::TX_REPORT_LOW == map::TX_BASE_LOW + 20
        && map::TX_REPORT_HIGH == map::TX_BASE_LOW + 24,
    "the order of a ring's registers"
);

/// Registers of a transmit ring.
#[derive(LogicBlock, Init)]
pub struct RingRegisters {
    pub clock: Signal<In, Clock>,
    /// Every register gets its first value.
    pub clear: Signal<In, Bit>,
    /// Doubleword of the ring's registers that is accessed.
    pub register: Signal<In, Bits<3>>,
    /// One cycle: `data` is written to `register`; `data` is there a cycle before too.
    pub write: Signal<In, Bit>,
    pub data: Signal<In, Bits<32>>,
    /// What `register` reads as.
    pub value: Signal<Out, Bits<32>>,
    /// Units passed.
    pub head: Signal<In, Bits<32>>,
    /// `TX_BASE_HIGH`, `TX_BASE_LOW`.
    pub base: Signal<Out, Bits<64>>,
    /// `TX_REPORT_HIGH`, `TX_REPORT_LOW`.
    pub report: Signal<Out, Bits<64>>,
    pub units_log2: Signal<Out, Bits<5>>,
    pub set_up: Signal<Out, Bit>,
    pub tail: Signal<Out, Bits<32>>,
    pub tail_valid: Signal<Out, Bit>,
    base_low: DFF<Bits<32>>,
    base_high: DFF<Bits<32>>,
    units: DFF<Bits<5>>,
    doorbell: DFF<Bits<32>>,
    report_low: DFF<Bits<32>>,
    report_high: DFF<Bits<32>>,
    sets_up: DFF<Bit>,
    rings: DFF<Bit>,
    // `data` is a size; compared a cycle before the write.
    is_size: DFF<Bit>,
    #[constant(LiteralType::from(!0xfffu32))]
    page_mask: Constant<Bits<32>>,
    #[constant(LiteralType::from(!0x3fu32))]
    line_mask: Constant<Bits<32>>,
    #[constant(LiteralType::from(UNITS_LOG2_MIN))]
    units_log2_min: Constant<Bits<32>>,
    #[constant(LiteralType::from(UNITS_LOG2_MAX))]
    units_log2_max: Constant<Bits<32>>,
}

impl Logic for RingRegisters {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; base_low, base_high, units, doorbell, report_low, report_high);
        registers!(clock; sets_up, rings, is_size);
        self.is_size.d.next = !self.data.val().any()
            | ((self.data.val() >= self.units_log2_min.val())
                & (self.data.val() <= self.units_log2_max.val()));
        self.sets_up.d.next = false;
        self.rings.d.next = false;
        self.value.next = 0.into();
        if self.register.val() == 0 {
            self.value.next = self.base_low.q.val();
            if self.write.val() {
                self.base_low.d.next = self.data.val() & self.page_mask.val();
            }
        } else if self.register.val() == 1 {
            self.value.next = self.base_high.q.val();
            if self.write.val() {
                self.base_high.d.next = self.data.val();
            }
        } else if self.register.val() == 2 {
            self.value.next = bit_cast::<32, 5>(self.units.q.val());
            if self.write.val() & self.is_size.q.val() {
                self.units.d.next = self.data.val().get_bits::<5>(0);
                self.doorbell.d.next = 0.into();
                self.sets_up.d.next = true;
            }
        } else if self.register.val() == 3 {
            self.value.next = self.doorbell.q.val();
            if self.write.val() {
                self.doorbell.d.next = self.data.val();
                self.rings.d.next = true;
            }
        } else if self.register.val() == 4 {
            self.value.next = self.head.val();
        } else if self.register.val() == 5 {
            self.value.next = self.report_low.q.val();
            if self.write.val() {
                self.report_low.d.next = self.data.val() & self.line_mask.val();
            }
        } else if self.register.val() == 6 {
            self.value.next = self.report_high.q.val();
            if self.write.val() {
                self.report_high.d.next = self.data.val();
            }
        }
        self.base.next = bit_cast::<64, 32>(self.base_low.q.val())
            | (bit_cast::<64, 32>(self.base_high.q.val()) << 32);
        self.report.next = bit_cast::<64, 32>(self.report_low.q.val())
            | (bit_cast::<64, 32>(self.report_high.q.val()) << 32);
        self.units_log2.next = self.units.q.val();
        self.set_up.next = self.sets_up.q.val();
        self.tail.next = self.doorbell.q.val();
        self.tail_valid.next = self.rings.q.val();
        if self.clear.val() {
            self.base_low.d.next = 0.into();
            self.base_high.d.next = 0.into();
            self.units.d.next = 0.into();
            self.doorbell.d.next = 0.into();
            self.report_low.d.next = 0.into();
            self.report_high.d.next = 0.into();
            self.sets_up.d.next = false;
            self.rings.d.next = false;
        }
    }
}
