//! Registers of the completion queues: BAR0 from `CQ_BASE_LOW` on, `CQ_STRIDE` octets a queue.
//!
//! ```text
//! address, data, write --> [ RAM: base, entries, consumer ] --+--> value
//!         \--> cq_write, to ddp and placement                 |
//! cq_report, from ddp --+--> [ RAM: producers ] --------------+
//!                       \--> overflow, one bit a queue
//! ```
//!
//! | latency    | 1 cycle, `write` to `cq_write`; 1 cycle, `address` to `value`            |
//! | throughput | one access in 2 cycles                                                   |
//! | units      | doublewords of BAR0                                                      |
//! | source     | `rnic_abi::registers`                                                    |
//!
//! The rooms that use a register keep their own copy of it, so that no wire crosses the device
//! while they work: ddp the sizes and consumers, placement the sizes and bases. The RAMs have no
//! reset: while `clear` is high all of them, here and there, are written with zeros, one register a
//! cycle, 64 in all. A reset lasts longer (`bus::reset`).
use crate::common::lut_ram::LutRam;
use crate::messages::{CqReport, CqWrite};
use rnic_abi::limits::COMPLETION_QUEUES;
use rnic_abi::registers as map;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = {
    assert!(
        COMPLETION_QUEUES == 16 && map::CQ_STRIDE == 32 && map::CQ_BASE_LOW == 0x200,
        "bits 9:7 of a doubleword's address are 1, 6:3 the queue, 2:0 the register"
    );
    assert!(
        map::CQ_BASE_HIGH == map::CQ_BASE_LOW + 4
            && map::CQ_ENTRIES_LOG2 == map::CQ_BASE_LOW + 8
            && map::CQ_CONSUMER == map::CQ_BASE_LOW + 12
            && map::CQ_PRODUCER == map::CQ_BASE_LOW + 16,
        "the order of the registers in the RAM"
    );
};

/// Registers of all completion queues.
#[derive(LogicBlock, Init)]
pub struct CompletionQueueRegisters {
    pub clock: Signal<In, Clock>,
    /// The rooms are in reset: every register is cleared.
    pub clear: Signal<In, Bit>,
    /// Doubleword of BAR0 that is accessed.
    pub address: Signal<In, Bits<10>>,
    /// One cycle: `data` is written to `address`; both are there a cycle before too.
    pub write: Signal<In, Bit>,
    pub data: Signal<In, Bits<32>>,
    /// What `address` reads as; zero if it is none of these registers.
    pub value: Signal<Out, Bits<32>>,
    pub cq_write: Signal<Out, CqWrite>,
    pub cq_report: Signal<In, CqReport>,
    /// `CQ_OVERFLOW`.
    pub overflow: Signal<Out, Bits<16>>,
    // Word `queue << 2 | register`.
    memory: LutRam<Bits<32>, 6>,
    producers: LutRam<Bits<31>, 4>,
    swept: DFF<Bits<6>>,
    // `data` is a size; compared a cycle before the write.
    is_size: DFF<Bit>,
    held: DFF<CqWrite>,
    read: DFF<Bits<32>>,
    overflowed: DFF<Bits<16>>,
    number: Signal<Local, Bits<4>>,
    lost_in: Signal<Local, Bits<4>>,
    set_up: Signal<Local, Bits<4>>,
    register: Signal<Local, Bits<3>>,
    kind: Signal<Local, Bits<2>>,
    place: Signal<Local, Bits<6>>,
    is_here: Signal<Local, Bit>,
    is_allowed: Signal<Local, Bit>,
    stores: Signal<Local, Bit>,
    stored: Signal<Local, Bits<32>>,
    #[constant(LiteralType::from(map::CQ_BASE_LOW / 512))]
    space: Constant<Bits<3>>,
    #[constant(LiteralType::from(!0xfffu32))]
    page_mask: Constant<Bits<32>>,
    #[constant(16)]
    entries_log2_max: Constant<Bits<32>>,
    #[constant(1)]
    one: Constant<Bits<6>>,
}

impl Logic for CompletionQueueRegisters {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; swept, is_size, held, read, overflowed);
        wire!(self => self.{memory, producers}; clock);
        self.is_here.next = self.address.val().get_bits::<3>(7) == self.space.val();
        self.number.next = self.address.val().get_bits::<4>(3);
        self.register.next = self.address.val().get_bits::<3>(0);
        self.kind.next = self.register.val().get_bits::<2>(0);
        self.stored.next = self.data.val();
        self.is_allowed.next = !self.register.val().get_bit(2);
        if self.kind.val() == 0 {
            self.stored.next = self.data.val() & self.page_mask.val();
        }
        self.is_size.d.next = self.data.val() <= self.entries_log2_max.val();
        if (self.kind.val() == 2) & !self.is_size.q.val() {
            self.is_allowed.next = false;
        }
        self.stores.next = self.write.val() & self.is_here.val() & self.is_allowed.val();
        self.swept.d.next = self.swept.q.val() + self.one.val();
        if self.clear.val() {
            self.number.next = self.swept.q.val().get_bits::<4>(2);
            self.kind.next = self.swept.q.val().get_bits::<2>(0);
            self.stored.next = 0.into();
            self.stores.next = true;
        }
        self.place.next =
            (bit_cast::<6, 4>(self.number.val()) << 2) | bit_cast::<6, 2>(self.kind.val());
        self.memory.write_enable.next = self.stores.val();
        self.memory.write_address.next = self.place.val();
        self.memory.write_data.next = self.stored.val();
        self.held.d.next.queue = self.number.val();
        self.held.d.next.value = self.stored.val();
        self.held.d.next.base_low = self.stores.val() & (self.kind.val() == 0);
        self.held.d.next.base_high = self.stores.val() & (self.kind.val() == 1);
        self.held.d.next.entries_log2 = self.stores.val() & (self.kind.val() == 2);
        self.held.d.next.consumer = self.stores.val() & (self.kind.val() == 3);
        self.cq_write.next = self.held.q.val();

        self.producers.write_enable.next = self.cq_report.val().numbered;
        self.producers.write_address.next = self.cq_report.val().queue;
        self.producers.write_data.next = self.cq_report.val().entries;
        self.lost_in.next = self.cq_report.val().queue;
        self.set_up.next = self.held.q.val().queue;
        if self.cq_report.val().lost {
            self.overflowed.d.next = self
                .overflowed
                .q
                .val()
                .replace_bit(self.lost_in.val().index(), true);
        }
        if self.held.q.val().entries_log2 {
            self.overflowed.d.next = self
                .overflowed
                .q
                .val()
                .replace_bit(self.set_up.val().index(), false);
        }
        self.overflow.next = self.overflowed.q.val();

        // Reads are answered during a reset too.
        self.memory.read_address.next = (bit_cast::<6, 4>(self.address.val().get_bits::<4>(3))
            << 2)
            | bit_cast::<6, 2>(self.address.val().get_bits::<2>(0));
        self.producers.read_address.next = self.address.val().get_bits::<4>(3);
        self.read.d.next = 0.into();
        if self.is_here.val() & !self.register.val().get_bit(2) {
            self.read.d.next = self.memory.read_data.val();
        } else if self.is_here.val() & (self.register.val() == 4) {
            self.read.d.next = bit_cast::<32, 31>(self.producers.read_data.val());
        }
        self.value.next = self.read.q.val();
        if self.clear.val() {
            self.overflowed.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
