//! Register file: decodes BAR0 and holds the registers.
//!
//! ```text
//! bus --> address, data --> one hit bit a register --> write; `access_*` a cycle later
//!  \--> completion queues                          \--> five groups ORed --> read data
//! ```
//!
//! | latency    | a write takes effect after 3 cycles, apart after 4; a read is answered after 4 |
//! | throughput | one access in 4 cycles                                                         |
//! | units      | doublewords; offsets and their meaning: `rnic_abi::registers`                  |
//!
//! Reads of counters go to [`super::counters`] by `counter_read`; registers of the completion
//! queues are those of [`super::completion_queues`].
use super::completion_queues::CompletionQueueRegisters;
use super::read_gather::{ReadGather, READABLE};
use crate::common::build::sizes;
use crate::messages::{CqReport, CqWrite};
use rnic_abi::registers as map;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Offsets of the registers that can be read, in the order of [`ReadGather`]'s values; table data
/// follows.
const OFFSETS: [u32; 24] = [
    map::IDENTITY,
    map::REVISION,
    map::CAPABILITIES,
    map::PACKET_PAGES,
    map::CONTROL,
    map::MAX_PAYLOAD,
    map::FREE_PAGES,
    map::CQ_OVERFLOW,
    map::HOST_RING_BASE_LOW,
    map::HOST_RING_BASE_HIGH,
    map::HOST_RING_SLOTS_LOG2,
    map::HOST_RING_SLOT_OCTETS_LOG2,
    map::HOST_RING_CONSUMER,
    map::HOST_RING_PRODUCER,
    map::OUT_OF_ORDER_PAGES,
    map::OUT_OF_ORDER_SHARE,
    map::IN_ORDER_RESERVE,
    map::EVENT_BASE_LOW,
    map::EVENT_BASE_HIGH,
    map::EVENT_ENTRIES_LOG2,
    map::EVENT_CONSUMER,
    map::EVENT_PRODUCER,
    map::EVENT_DELAY_LOG2,
    map::TABLE_COMMAND,
];

const _: () = {
    assert!(
        map::COUNTERS % 256 == 0,
        "counters are decoded by bits 11:8"
    );
    assert!(map::TABLE_DATA_WORDS == 10, "table data is 320 bits wide");
    assert!(
        READABLE == OFFSETS.len() + map::TABLE_DATA_WORDS,
        "each register that can be read has a value to gather"
    );
    assert!(map::CONTROL_ENABLE == 1 && map::CONTROL_RESET == 2 && map::TABLE_BUSY == 1 << 31);
    assert!(map::IN_ORDER_RESERVE_HOLD_SHIFT == 16 && map::IN_ORDER_RESERVE_LONG_SHIFT == 21);
};

/// Doubleword of BAR0 of readable register `i`.
fn register_dword(i: usize) -> LiteralType {
    let offset = match i.checked_sub(OFFSETS.len()) {
        None => OFFSETS[i],
        Some(word) => map::TABLE_DATA + 4 * word as u32,
    };
    LiteralType::from(offset / 4)
}

/// Register file of a device with frame path `W` and inner path `D`, in bits.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W < 1024 && D < 1024,
        "RegisterFile: CAPABILITIES has 10 bits for each of W = {W} and D = {D}"
    );
    let number = |number: u32| LiteralType::from(number);
)]
pub struct RegisterFile<const W: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; ends the access at hand. Comes with `clear`.
    pub reset: Signal<In, Bit>,
    /// Every register gets its first value; accesses go on.
    pub clear: Signal<In, Bit>,
    /// A reset is under way: `CONTROL_RESET` reads as 1, and writes are ignored.
    pub resetting: Signal<In, Bit>,
    /// One cycle: `CONTROL_RESET` is written.
    pub reset_request: Signal<Out, Bit>,
    pub register_address: Signal<In, Bits<10>>,
    pub register_read: Signal<In, Bit>,
    pub register_write: Signal<In, Bit>,
    pub register_write_data: Signal<In, Bits<32>>,
    pub register_read_data: Signal<Out, Bits<32>>,
    pub register_read_valid: Signal<Out, Bit>,
    /// One cycle: read the counter `counter_index`, which holds.
    pub counter_read: Signal<Out, Bit>,
    pub counter_index: Signal<Out, Bits<6>>,
    pub counter_data: Signal<In, Bits<32>>,
    pub counter_valid: Signal<In, Bit>,
    /// One cycle: `table_write_data` is a table command.
    pub table_command_write: Signal<Out, Bit>,
    /// One cycle, one bit a word: `table_write_data` is table data.
    pub table_word_write: Signal<Out, Bits<10>>,
    /// Value written to a table register.
    pub table_write_data: Signal<Out, Bits<32>>,
    /// A table operation runs.
    pub table_busy: Signal<In, Bit>,
    /// The access at hand, for registers that are apart: doubleword, data, and one cycle to write.
    pub access_address: Signal<Out, Bits<10>>,
    pub access_data: Signal<Out, Bits<32>>,
    pub access_write: Signal<Out, Bit>,
    /// What they read as, one cycle after the address; 0 if it is none of theirs.
    pub apart: Signal<In, Bits<32>>,
    /// Table data.
    pub table_words: Signal<In, Bits<320>>,
    /// Free pages of packet memory.
    pub free_pages: Signal<In, Bits<10>>,
    /// Completion queues: see [`CompletionQueueRegisters`].
    pub cq_report: Signal<In, CqReport>,
    pub cq_write: Signal<Out, CqWrite>,
    /// Host slots filled.
    pub host_ring_producer: Signal<In, Bits<32>>,
    /// `CONTROL_ENABLE`.
    pub enable: Signal<Out, Bit>,
    /// `MAX_PAYLOAD`.
    pub max_payload: Signal<Out, Bits<2>>,
    /// `HOST_RING_BASE_HIGH`, `HOST_RING_BASE_LOW`.
    pub host_ring_base: Signal<Out, Bits<64>>,
    /// `HOST_RING_SLOTS_LOG2`.
    pub host_ring_slots_log2: Signal<Out, Bits<5>>,
    /// `HOST_RING_SLOT_OCTETS_LOG2`.
    pub host_ring_slot_octets_log2: Signal<Out, Bits<4>>,
    /// `HOST_RING_CONSUMER`.
    pub host_ring_consumer: Signal<Out, Bits<32>>,
    /// `OUT_OF_ORDER_PAGES`.
    pub ooo_pages: Signal<Out, Bits<10>>,
    /// `OUT_OF_ORDER_SHARE`.
    pub ooo_share: Signal<Out, Bits<10>>,
    /// A second stream shows a long FPDU; one cycle or more.
    pub reserve_grows: Signal<In, Bit>,
    /// `IN_ORDER_RESERVE`: its pages.
    pub reserve_pages: Signal<Out, Bits<10>>,
    /// `IN_ORDER_RESERVE`: its pages for long FPDUs.
    pub long_pages: Signal<Out, Bits<10>>,
    /// `reserve_grows` was high since `IN_ORDER_RESERVE` was written, and the reserve is on.
    pub reserve_grown: Signal<Out, Bit>,
    /// `IN_ORDER_RESERVE`: log2 of the cycles after which a silent owner loses it.
    pub hold_log2: Signal<Out, Bits<5>>,
    /// Events written.
    pub event_producer: Signal<In, Bits<32>>,
    /// `EVENT_BASE_LOW` and `EVENT_BASE_HIGH`.
    pub event_base: Signal<Out, Bits<64>>,
    /// `EVENT_ENTRIES_LOG2`.
    pub event_entries_log2: Signal<Out, Bits<5>>,
    /// `EVENT_CONSUMER`.
    pub event_consumer: Signal<Out, Bits<32>>,
    /// `EVENT_DELAY_LOG2`.
    pub event_delay_log2: Signal<Out, Bits<5>>,
    address: DFF<Bits<10>>,
    data: DFF<Bits<32>>,
    decode_write: DFF<Bit>,
    decode_read: DFF<Bit>,
    // Of registers that are apart: they are far away, and `address` and `data` have sinks enough.
    far_address: DFF<Bits<10>>,
    far_data: DFF<Bits<32>>,
    far_write: DFF<Bit>,
    // Is `data` in the range of these registers? Compared a cycle before the write.
    payload_allowed: DFF<Bit>,
    entries_allowed: DFF<Bit>,
    slot_octets_allowed: DFF<Bit>,
    ooo_pages_allowed: DFF<Bit>,
    delay_allowed: DFF<Bit>,
    write: DFF<Bit>,
    read: DFF<Bit>,
    gathered: DFF<Bit>,
    hits: DFF<Bits<34>>,
    result: DFF<Bits<32>>,
    result_valid: DFF<Bit>,
    enabled: DFF<Bit>,
    payload_size: DFF<Bits<2>>,
    queues: CompletionQueueRegisters,
    ring_low: DFF<Bits<32>>,
    ring_high: DFF<Bits<32>>,
    ring_slots: DFF<Bits<5>>,
    ring_slot_octets: DFF<Bits<4>>,
    ring_consumed: DFF<Bits<32>>,
    device_pages: DFF<Bits<10>>,
    connection_pages: DFF<Bits<10>>,
    reserve: DFF<Bits<32>>,
    grown: DFF<Bit>,
    event_low: DFF<Bits<32>>,
    event_high: DFF<Bits<32>>,
    event_entries: DFF<Bits<5>>,
    event_consumed: DFF<Bits<32>>,
    event_delay: DFF<Bits<5>>,
    gather: ReadGather,
    hit: Signal<Local, Bits<34>>,
    write_hit: Signal<Local, Bits<34>>,
    writes: Signal<Local, Bit>,
    page_aligned: Signal<Local, Bits<32>>,
    ooo_limited: Signal<Local, Bits<10>>,
    space: Signal<Local, Bits<4>>,
    is_counter: Signal<Local, Bit>,
    #[constants(register_dword)]
    at: [Constant<Bits<10>>; READABLE],
    #[constant(LiteralType::from(map::COUNTERS / 256))]
    counter_space: Constant<Bits<4>>,
    #[constant(number(map::IDENTITY_VALUE))]
    identity: Constant<Bits<32>>,
    #[constant(number(map::REVISION_VALUE))]
    revision: Constant<Bits<32>>,
    #[constant(number(W as u32 | (D as u32) << 16 | sizes().encode()))]
    capabilities: Constant<Bits<32>>,
    #[constant(number(rnic_abi::limits::PAGES as u32))]
    packet_pages: Constant<Bits<32>>,
    #[constant(number(!0xfff))]
    page_mask: Constant<Bits<32>>,
    #[constant(number(map::TABLE_BUSY))]
    busy_bit: Constant<Bits<32>>,
    // Largest and smallest values that are accepted.
    #[constant(2)]
    payload_max: Constant<Bits<32>>,
    #[constant(16)]
    entries_log2_max: Constant<Bits<32>>,
    #[constant(7)]
    slot_octets_log2_min: Constant<Bits<32>>,
    #[constant(14)]
    slot_octets_log2_max: Constant<Bits<32>>,
    #[constant(14)]
    slot_octets_log2_first: Constant<Bits<4>>,
    #[constant(number(map::EVENT_DELAY_LOG2_MIN))]
    delay_log2_min: Constant<Bits<32>>,
    #[constant(number(map::EVENT_DELAY_LOG2_MAX))]
    delay_log2_max: Constant<Bits<32>>,
    #[constant(number(map::OUT_OF_ORDER_PAGES_MAX))]
    ooo_pages_max: Constant<Bits<32>>,
    #[constant(number(map::OUT_OF_ORDER_PAGES_MAX))]
    ooo_pages_first: Constant<Bits<10>>,
    #[constant(number(map::in_order_reserve(0x3ff, 0x3ff, 0x1f)))]
    reserve_mask: Constant<Bits<32>>,
    #[constant(number(map::IN_ORDER_RESERVE_FIRST))]
    reserve_first: Constant<Bits<32>>,
    #[constant(number(map::IN_ORDER_RESERVE_GROWN))]
    grown_bit: Constant<Bits<32>>,
}

impl<const W: usize, const D: usize> Logic for RegisterFile<W, D> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; address, data, decode_write, decode_read);
        registers!(clock; far_address, far_data, far_write, payload_allowed, entries_allowed);
        registers!(clock; slot_octets_allowed, ooo_pages_allowed, delay_allowed);
        registers!(clock; write, read, gathered, hits, result);
        registers!(clock; result_valid, enabled, payload_size);
        registers!(clock; ring_low, ring_high, ring_slots);
        registers!(clock; ring_slot_octets, ring_consumed);
        registers!(clock; device_pages, connection_pages, reserve, grown);
        registers!(clock; event_low, event_high, event_entries, event_consumed, event_delay);

        // First stage: hold the access.
        if self.register_read.val() | self.register_write.val() {
            self.address.d.next = self.register_address.val();
            self.data.d.next = self.register_write_data.val();
        }
        self.decode_write.d.next = self.register_write.val();
        self.decode_read.d.next = self.register_read.val();

        // The completion queues' registers are apart.
        wire!(self => self.queues; clock, clear, cq_report);
        wire!(self.queues => self; cq_write);
        self.queues.address.next = self.address.q.val();
        self.queues.data.next = self.data.q.val();

        // Second stage: which register.
        self.space.next = self.address.q.val().get_bits::<4>(6);
        self.is_counter.next = self.space.val() == self.counter_space.val();
        self.counter_read.next = self.decode_read.q.val() & self.is_counter.val();
        self.counter_index.next = self.address.q.val().get_bits::<6>(0);
        self.hit.next = 0.into();
        for i in 0..READABLE {
            self.hit.next = self
                .hit
                .val()
                .replace_bit(i, self.address.q.val() == self.at[i].val());
        }
        self.hits.d.next = self.hit.val();
        self.write.d.next = self.decode_write.q.val();
        self.read.d.next = self.decode_read.q.val() & !self.is_counter.val();

        self.payload_allowed.d.next = self.data.q.val() <= self.payload_max.val();
        self.entries_allowed.d.next = self.data.q.val() <= self.entries_log2_max.val();
        self.slot_octets_allowed.d.next = (self.data.q.val() >= self.slot_octets_log2_min.val())
            & (self.data.q.val() <= self.slot_octets_log2_max.val());
        self.ooo_pages_allowed.d.next = self.data.q.val() <= self.ooo_pages_max.val();
        self.delay_allowed.d.next = !self.data.q.val().any()
            | ((self.data.q.val() >= self.delay_log2_min.val())
                & (self.data.q.val() <= self.delay_log2_max.val()));

        // Third stage: write, or gather what is read. The order is that of OFFSETS.
        self.gather.value[0].next = self.identity.val();
        self.gather.value[1].next = self.revision.val();
        self.gather.value[2].next = self.capabilities.val();
        self.gather.value[3].next = self.packet_pages.val();
        self.gather.value[4].next = 0.into();
        if self.enabled.q.val() {
            self.gather.value[4].next = 1.into();
        }
        if self.resetting.val() {
            self.gather.value[4].next = 2.into();
        }
        self.gather.value[5].next = bit_cast::<32, 2>(self.payload_size.q.val());
        self.gather.value[6].next = bit_cast::<32, 10>(self.free_pages.val());
        self.gather.value[7].next = bit_cast::<32, 16>(self.queues.overflow.val());
        self.gather.value[8].next = self.ring_low.q.val();
        self.gather.value[9].next = self.ring_high.q.val();
        self.gather.value[10].next = bit_cast::<32, 5>(self.ring_slots.q.val());
        self.gather.value[11].next = bit_cast::<32, 4>(self.ring_slot_octets.q.val());
        self.gather.value[12].next = self.ring_consumed.q.val();
        self.gather.value[13].next = self.host_ring_producer.val();
        self.gather.value[14].next = bit_cast::<32, 10>(self.device_pages.q.val());
        self.gather.value[15].next = bit_cast::<32, 10>(self.connection_pages.q.val());
        self.gather.value[16].next = self.reserve.q.val();
        if self.grown.q.val() {
            self.gather.value[16].next = self.reserve.q.val() | self.grown_bit.val();
        }
        self.gather.value[17].next = self.event_low.q.val();
        self.gather.value[18].next = self.event_high.q.val();
        self.gather.value[19].next = bit_cast::<32, 5>(self.event_entries.q.val());
        self.gather.value[20].next = self.event_consumed.q.val();
        self.gather.value[21].next = self.event_producer.val();
        self.gather.value[22].next = bit_cast::<32, 5>(self.event_delay.q.val());
        self.gather.value[23].next = 0.into();
        if self.table_busy.val() {
            self.gather.value[23].next = self.busy_bit.val();
        }
        for i in 0..10 {
            self.gather.value[i + 24].next = self.table_words.val().get_bits::<32>(i * 32);
        }
        self.gather.clock.next = self.clock.val();
        self.gather.hits.next = self.hits.q.val();
        self.gathered.d.next = self.read.q.val();
        self.write_hit.next = 0.into();
        self.writes.next = self.write.q.val() & !self.resetting.val();
        if self.writes.val() {
            self.write_hit.next = self.hits.q.val();
        }
        self.queues.write.next = self.writes.val();
        self.far_address.d.next = self.address.q.val();
        self.far_data.d.next = self.data.q.val();
        self.far_write.d.next = self.writes.val();
        self.access_address.next = self.far_address.q.val();
        self.access_data.next = self.far_data.q.val();
        self.access_write.next = self.far_write.q.val();
        self.page_aligned.next = self.data.q.val() & self.page_mask.val();
        self.reset_request.next = self.write_hit.val().get_bit(4) & self.data.q.val().get_bit(1);
        if self.write_hit.val().get_bit(4) {
            self.enabled.d.next = self.data.q.val().get_bit(0) & !self.data.q.val().get_bit(1);
        }
        if self.write_hit.val().get_bit(5) & self.payload_allowed.q.val() {
            self.payload_size.d.next = self.data.q.val().get_bits::<2>(0);
        }
        if self.write_hit.val().get_bit(8) {
            self.ring_low.d.next = self.page_aligned.val();
        }
        if self.write_hit.val().get_bit(9) {
            self.ring_high.d.next = self.data.q.val();
        }
        if self.write_hit.val().get_bit(10) & self.entries_allowed.q.val() {
            self.ring_slots.d.next = self.data.q.val().get_bits::<5>(0);
        }
        if self.write_hit.val().get_bit(11) & self.slot_octets_allowed.q.val() {
            self.ring_slot_octets.d.next = self.data.q.val().get_bits::<4>(0);
        }
        if self.write_hit.val().get_bit(12) {
            self.ring_consumed.d.next = self.data.q.val();
        }
        self.ooo_limited.next = self.data.q.val().get_bits::<10>(0);
        if !self.ooo_pages_allowed.q.val() {
            self.ooo_limited.next = self.ooo_pages_first.val();
        }
        if self.write_hit.val().get_bit(14) {
            self.device_pages.d.next = self.ooo_limited.val();
        }
        if self.write_hit.val().get_bit(15) {
            self.connection_pages.d.next = self.ooo_limited.val();
        }
        if self.reserve_grows.val() {
            self.grown.d.next = true;
        }
        if self.write_hit.val().get_bit(16) {
            self.reserve.d.next = self.data.q.val() & self.reserve_mask.val();
            self.grown.d.next = false;
        }
        if self.write_hit.val().get_bit(17) {
            self.event_low.d.next = self.page_aligned.val();
        }
        if self.write_hit.val().get_bit(18) {
            self.event_high.d.next = self.data.q.val();
        }
        if self.write_hit.val().get_bit(19) & self.entries_allowed.q.val() {
            self.event_entries.d.next = self.data.q.val().get_bits::<5>(0);
        }
        if self.write_hit.val().get_bit(20) {
            self.event_consumed.d.next = self.data.q.val();
        }
        if self.write_hit.val().get_bit(22) & self.delay_allowed.q.val() {
            self.event_delay.d.next = self.data.q.val().get_bits::<5>(0);
        }
        self.table_command_write.next = self.write_hit.val().get_bit(23);
        self.table_word_write.next = self.write_hit.val().get_bits::<10>(24);
        self.table_write_data.next = self.data.q.val();

        // Fourth stage: the answer.
        self.result.d.next =
            self.gather.gathered.val() | self.queues.value.val() | self.apart.val();
        self.result_valid.d.next = self.gathered.q.val() | self.counter_valid.val();
        if self.counter_valid.val() {
            self.result.d.next = self.counter_data.val();
        }
        self.register_read_data.next = self.result.q.val();
        self.register_read_valid.next = self.result_valid.q.val();

        self.enable.next = self.enabled.q.val();
        self.max_payload.next = self.payload_size.q.val();
        self.host_ring_base.next = bit_cast::<64, 32>(self.ring_low.q.val())
            | (bit_cast::<64, 32>(self.ring_high.q.val()) << 32);
        self.host_ring_slots_log2.next = self.ring_slots.q.val();
        self.host_ring_slot_octets_log2.next = self.ring_slot_octets.q.val();
        self.host_ring_consumer.next = self.ring_consumed.q.val();
        self.event_base.next = bit_cast::<64, 32>(self.event_low.q.val())
            | (bit_cast::<64, 32>(self.event_high.q.val()) << 32);
        self.event_entries_log2.next = self.event_entries.q.val();
        self.event_consumer.next = self.event_consumed.q.val();
        self.event_delay_log2.next = self.event_delay.q.val();
        self.ooo_pages.next = self.device_pages.q.val();
        self.ooo_share.next = self.connection_pages.q.val();
        self.reserve_pages.next = self.reserve.q.val().get_bits::<10>(0);
        self.hold_log2.next = self.reserve.q.val().get_bits::<5>(16);
        self.long_pages.next = self.reserve.q.val().get_bits::<10>(21);
        self.reserve_grown.next = self.grown.q.val() & self.reserve.q.val().get_bits::<10>(0).any();
        if self.reset.val() {
            self.decode_write.d.next = false;
            self.decode_read.d.next = false;
            self.write.d.next = false;
            self.far_write.d.next = false;
            self.read.d.next = false;
            self.gathered.d.next = false;
            self.result_valid.d.next = false;
        }
        if self.clear.val() {
            self.enabled.d.next = false;
            self.payload_size.d.next = 0.into();
            self.ring_low.d.next = 0.into();
            self.ring_high.d.next = 0.into();
            self.ring_slots.d.next = 0.into();
            self.ring_slot_octets.d.next = self.slot_octets_log2_first.val();
            self.ring_consumed.d.next = 0.into();
            self.device_pages.d.next = self.ooo_pages_first.val();
            self.connection_pages.d.next = self.ooo_pages_first.val();
            self.reserve.d.next = self.reserve_first.val();
            self.grown.d.next = false;
            self.event_low.d.next = 0.into();
            self.event_high.d.next = 0.into();
            self.event_entries.d.next = 0.into();
            self.event_consumed.d.next = 0.into();
            self.event_delay.d.next = 0.into();
        }
    }
}
