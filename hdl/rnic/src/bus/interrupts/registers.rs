//! Registers of interrupts: BAR0 from the MSI-X table on.
//!
//! ```text
//! address, data, write --+--> [ table: 2 LutRam ] --> value; entry_data <-- entry_address
//!                        +--> [ masks ] ------------> value, masked
//!                        +--> [ hold-offs, routes ] -> value, hold_off, *_routes
//! pending -----------------------------------------> value
//! ```
//!
//! | latency    | 1 cycle, `write` to an output; 1 cycle, `address` to `value`                  |
//! | throughput | one access in 2 cycles                                                        |
//! | units      | doublewords of BAR0; `entry_address` doublewords of the table                 |
//! | source     | `rnic_abi::interrupts`                                                        |
use crate::common::lut_ram::LutRam;
use rnic_abi::interrupts as map;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = {
    assert!(
        map::TABLE == 0x800 && map::VECTORS == 8 && map::ENTRY_OCTETS == 16,
        "bits 9:5 of a doubleword's address are 16"
    );
    assert!(
        map::PENDING == 0x880,
        "bits 9:3 of a doubleword's address are 68, 2:0 are 0"
    );
    assert!(
        map::HOLD_OFF == 0x8c0,
        "bits 9:3 of a doubleword's address are 70"
    );
    assert!(
        map::QUEUE_ROUTES_LOW == 0x8e0
            && map::QUEUE_ROUTES_HIGH == map::QUEUE_ROUTES_LOW + 4
            && map::RING_ROUTES == map::QUEUE_ROUTES_LOW + 8,
        "bits 9:3 of a doubleword's address are 71"
    );
    assert!(map::CONTROL_MASKED == 1 && map::HOLD_OFF_MAX == 0x3ff);
};

/// Registers of interrupts.
#[derive(LogicBlock, Init)]
pub struct InterruptRegisters {
    pub clock: Signal<In, Clock>,
    /// Every vector is masked, every other register is zero; the table is written zero in 32 cycles
    /// of it.
    pub clear: Signal<In, Bit>,
    /// Doubleword of BAR0 that is accessed.
    pub address: Signal<In, Bits<10>>,
    /// One cycle: `data` is written to `address`.
    pub write: Signal<In, Bit>,
    pub data: Signal<In, Bits<32>>,
    /// What `address` reads as; zero if it is none of these registers.
    pub value: Signal<Out, Bits<32>>,
    /// Pending bits.
    pub pending: Signal<In, Bits<8>>,
    /// By vector: it is masked.
    pub masked: [Signal<Out, Bit>; 8],
    /// By vector: ticks.
    pub hold_off: [Signal<Out, Bits<10>>; 8],
    pub queue_routes: Signal<Out, Bits<64>>,
    pub ring_routes: Signal<Out, Bits<12>>,
    /// Doubleword of the table to read, and what it is in the same cycle.
    pub entry_address: Signal<In, Bits<5>>,
    pub entry_data: Signal<Out, Bits<32>>,
    // Two copies, for two readers.
    entries: LutRam<Bits<32>, 5>,
    shown: LutRam<Bits<32>, 5>,
    masks: [DFF<Bit>; 8],
    ticks: [DFF<Bits<10>>; 8],
    routes_low: DFF<Bits<32>>,
    routes_high: DFF<Bits<32>>,
    rings: DFF<Bits<12>>,
    read: DFF<Bits<32>>,
    // Doubleword of the table that `clear` writes next.
    sweep: DFF<Bits<5>>,
    table_write: Signal<Local, Bit>,
    table_place: Signal<Local, Bits<5>>,
    table_data: Signal<Local, Bits<32>>,
    space: Signal<Local, Bits<7>>,
    register: Signal<Local, Bits<3>>,
    place: Signal<Local, Bits<5>>,
    vector: Signal<Local, Bits<3>>,
    in_table: Signal<Local, Bit>,
    is_control: Signal<Local, Bit>,
    is_tick_count: Signal<Local, Bit>,
    tick_count: Signal<Local, Bits<10>>,
    #[constant(1)]
    one: Constant<Bits<5>>,
    #[constant(0xffff_fffc)]
    address_mask: Constant<Bits<32>>,
    #[constant(LiteralType::from(map::TABLE >> 7))]
    table_space: Constant<Bits<5>>,
    #[constant(LiteralType::from(map::PENDING >> 5))]
    pending_space: Constant<Bits<7>>,
    #[constant(LiteralType::from(map::HOLD_OFF >> 5))]
    hold_off_space: Constant<Bits<7>>,
    #[constant(LiteralType::from(map::QUEUE_ROUTES_LOW >> 5))]
    routes_space: Constant<Bits<7>>,
    #[constants(|vector| vector as LiteralType)]
    number: [Constant<Bits<3>>; 8],
}

impl Logic for InterruptRegisters {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; routes_low, routes_high, rings, read, sweep);
        wire!(self => self.entries; clock);
        wire!(self => self.shown; clock);
        self.space.next = self.address.val().get_bits::<7>(3);
        self.register.next = self.address.val().get_bits::<3>(0);
        self.place.next = self.address.val().get_bits::<5>(0);
        self.vector.next = self.address.val().get_bits::<3>(2);
        self.in_table.next = self.address.val().get_bits::<5>(5) == self.table_space.val();
        self.is_control.next = self.in_table.val() & self.address.val().get_bits::<2>(0).all();
        self.is_tick_count.next = !self.data.val().get_bits::<22>(10).any();

        self.table_write.next = self.write.val() & self.in_table.val();
        self.table_place.next = self.place.val();
        self.table_data.next = self.data.val();
        // An address is that of a doubleword: its bits 1:0 are 0 (PCI Express Base Specification,
        // section 7.7.2.6), whatever is written.
        if !self.place.val().get_bits::<2>(0).any() {
            self.table_data.next = self.data.val() & self.address_mask.val();
        }
        if self.clear.val() {
            self.table_write.next = true;
            self.table_place.next = self.sweep.q.val();
            self.table_data.next = 0.into();
            self.sweep.d.next = self.sweep.q.val() + self.one.val();
        }
        self.entries.write_enable.next = self.table_write.val();
        self.entries.write_address.next = self.table_place.val();
        self.entries.write_data.next = self.table_data.val();
        self.entries.read_address.next = self.entry_address.val();
        self.entry_data.next = self.entries.read_data.val();
        self.shown.write_enable.next = self.table_write.val();
        self.shown.write_address.next = self.table_place.val();
        self.shown.write_data.next = self.table_data.val();
        self.shown.read_address.next = self.place.val();

        self.read.d.next = 0.into();
        if self.in_table.val() & !self.is_control.val() {
            self.read.d.next = self.shown.read_data.val();
        }
        if (self.space.val() == self.pending_space.val()) & !self.register.val().any() {
            self.read.d.next = bit_cast::<32, 8>(self.pending.val());
        }
        if self.space.val() == self.routes_space.val() {
            if self.register.val() == 0 {
                self.read.d.next = self.routes_low.q.val();
                if self.write.val() {
                    self.routes_low.d.next = self.data.val();
                }
            } else if self.register.val() == 1 {
                self.read.d.next = self.routes_high.q.val();
                if self.write.val() {
                    self.routes_high.d.next = self.data.val();
                }
            } else if self.register.val() == 2 {
                self.read.d.next = bit_cast::<32, 12>(self.rings.q.val());
                if self.write.val() {
                    self.rings.d.next = self.data.val().get_bits::<12>(0);
                }
            }
        }
        self.tick_count.next = 0.into();
        for v in 0..8 {
            self.masks[v].clock.next = self.clock.val();
            self.masks[v].d.next = self.masks[v].q.val();
            self.ticks[v].clock.next = self.clock.val();
            self.ticks[v].d.next = self.ticks[v].q.val();
            if self.is_control.val() & (self.vector.val() == self.number[v].val()) {
                self.read.d.next = 0.into();
                if self.masks[v].q.val() {
                    self.read.d.next = 1.into();
                }
                if self.write.val() {
                    self.masks[v].d.next = self.data.val().get_bit(0);
                }
            }
            if (self.space.val() == self.hold_off_space.val())
                & (self.register.val() == self.number[v].val())
            {
                self.tick_count.next = self.ticks[v].q.val();
                if self.write.val() & self.is_tick_count.val() {
                    self.ticks[v].d.next = self.data.val().get_bits::<10>(0);
                }
            }
            self.masked[v].next = self.masks[v].q.val();
            self.hold_off[v].next = self.ticks[v].q.val();
            if self.clear.val() {
                self.masks[v].d.next = true;
                self.ticks[v].d.next = 0.into();
            }
        }
        if self.space.val() == self.hold_off_space.val() {
            self.read.d.next = bit_cast::<32, 10>(self.tick_count.val());
        }
        self.value.next = self.read.q.val();
        self.queue_routes.next = bit_cast::<64, 32>(self.routes_low.q.val())
            | (bit_cast::<64, 32>(self.routes_high.q.val()) << 32);
        self.ring_routes.next = self.rings.q.val();
        if self.clear.val() {
            self.routes_low.d.next = 0.into();
            self.routes_high.d.next = 0.into();
            self.rings.d.next = 0.into();
        }
    }
}
