//! Host receive ring: address and header of the next slot, and whether a frame may take it.
//!
//! ```text
//! number -> index -> address low -> address high --> address
//!        -> distance to consumer -> compare -------> full
//! octets -> with header -> compare ----------------> too_long
//! ```
//!
//! | latency    | [`LATENCY_CYCLES`] from a change of `octets` or `take` to all outputs     |
//! | throughput | one frame in [`LATENCY_CYCLES`]                                           |
//! | units      | octets; `number` counts slots modulo 2^32                                 |
//! | source     | `rnic_abi::host_ring`                                                     |
//!
//! The registers may change only while the ring is off; `consumer` may at any time: a stale value
//! only makes the ring look fuller than it is. The ring counts as off for 8 cycles after it is
//! switched on, until all stages follow its registers.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Cycles after which every output follows its inputs.
pub const LATENCY_CYCLES: LiteralType = 4;

/// Slot arithmetic of the host receive ring.
#[derive(LogicBlock, Init)]
#[init(
    let header = rnic_abi::host_ring::SLOT_HEADER_OCTETS as LiteralType;
)]
pub struct HostSlot {
    pub clock: Signal<In, Clock>,
    /// Synchronous; the next slot is number 0.
    pub reset: Signal<In, Bit>,
    /// Octets of the frame.
    pub octets: Signal<In, Bits<16>>,
    /// The slot is used; the next one follows.
    pub take: Signal<In, Bit>,
    /// Bus address of the ring, a multiple of 4096.
    pub base: Signal<In, Bits<64>>,
    /// log2 of the slots, 1..=16; 0: off.
    pub slots_log2: Signal<In, Bits<5>>,
    /// log2 of the octets of a slot, 7..=14.
    pub slot_octets_log2: Signal<In, Bits<4>>,
    /// Slots the driver has consumed.
    pub consumer: Signal<In, Bits<32>>,
    /// Bus address of the slot.
    pub address: Signal<Out, Bits<64>>,
    /// Phase and number: word 3 of the slot's header.
    pub word_3: Signal<Out, Bits<32>>,
    /// Frame and header are longer than a slot.
    pub too_long: Signal<Out, Bit>,
    /// No slot is free, or the ring is off.
    pub full: Signal<Out, Bit>,
    number: DFF<Bits<32>>,
    index_mask: DFF<Bits<16>>,
    offset: DFF<Bits<32>>,
    low_sum: DFF<Bits<33>>,
    high_sum: DFF<Bits<32>>,
    distance: DFF<Bits<32>>,
    is_full: DFF<Bit>,
    // Cycles since the ring was switched on; stops at 7.
    on_cycles: DFF<Bits<3>>,
    with_header: DFF<Bits<17>>,
    is_too_long: DFF<Bit>,
    phase: DFF<Bit>,
    mask: Signal<Local, Bits<16>>,
    index: Signal<Local, Bits<16>>,
    rounds: Signal<Local, Bits<32>>,
    slots: Signal<Local, Bits<17>>,
    carry: Signal<Local, Bits<32>>,
    low_word: Signal<Local, Bits<32>>,
    base_low: Signal<Local, Bits<32>>,
    base_high: Signal<Local, Bits<32>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
    #[constant(0xffff)]
    all_slots: Constant<Bits<16>>,
    #[constant(header - 1)]
    header_octets_less_one: Constant<Bits<17>>,
}

impl Logic for HostSlot {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; number, index_mask, offset, low_sum, high_sum, phase);
        registers!(clock; distance, is_full, on_cycles, with_header, is_too_long);
        // Address: base + (number mod slots) * slot octets.
        self.mask.next = self.all_slots.val() << self.slots_log2.val();
        self.index_mask.d.next = !self.mask.val();
        self.index.next = self.number.q.val().get_bits::<16>(0);
        self.index.next = self.index.val() & self.index_mask.q.val();
        self.offset.d.next = bit_cast::<32, 16>(self.index.val()) << self.slot_octets_log2.val();
        self.base_low.next = self.base.val().get_bits::<32>(0);
        self.base_high.next = self.base.val().get_bits::<32>(32);
        self.low_sum.d.next =
            bit_cast::<33, 32>(self.base_low.val()) + bit_cast::<33, 32>(self.offset.q.val());
        self.carry.next = 0.into();
        if self.low_sum.q.val().get_bit(32) {
            self.carry.next = 1.into();
        }
        self.high_sum.d.next = self.base_high.val() + self.carry.val();
        self.low_word.next = self.low_sum.q.val().get_bits::<32>(0);
        self.address.next = bit_cast::<64, 32>(self.low_word.val())
            | (bit_cast::<64, 32>(self.high_sum.q.val()) << 32);

        // The phase is 1 on the first pass and turns at each wrap.
        self.phase.d.next = !self.number.q.val().get_bit(self.slots_log2.val().index());
        self.word_3.next = self.number.q.val().replace_bit(31, self.phase.q.val());

        self.distance.d.next = self.number.q.val() - self.consumer.val();
        self.rounds.next = self.distance.q.val() >> self.slots_log2.val();
        self.is_full.d.next = self.rounds.val().any();
        self.full.next = self.is_full.q.val() | !self.on_cycles.q.val().all();
        if !self.on_cycles.q.val().all() {
            self.on_cycles.d.next = self.on_cycles.q.val() + 1;
        }
        if !self.slots_log2.val().any() {
            self.on_cycles.d.next = 0.into();
        }

        // Too long if header and octets, less one, still reach 2^slot_octets_log2.
        self.with_header.d.next =
            bit_cast::<17, 16>(self.octets.val()) + self.header_octets_less_one.val();
        self.slots.next = self.with_header.q.val() >> self.slot_octets_log2.val();
        self.is_too_long.d.next = self.slots.val().any();
        self.too_long.next = self.is_too_long.q.val();

        if self.take.val() {
            self.number.d.next = self.number.q.val() + self.one.val();
        }
        if self.reset.val() {
            self.number.d.next = 0.into();
            self.on_cycles.d.next = 0.into();
        }
    }
}
