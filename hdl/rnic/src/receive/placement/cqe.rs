//! Completion queue entries (CQEs) and slot headers: one TLP each, after the octets they announce.
//!
//! ```text
//! cq_write --> [ RAMs: bases, sizes ]
//! request --> [FIFO 16] --+--> number mod entries --> base + 32 * that --> address
//! payload_done --> count -+--> writer --> one TLP (32 octets to a CQ, 16 to a host slot)
//!
//! Idle --(request, payload done, address known)--> Head --> Send --> Idle
//! ```
//!
//! A request waits for its `payload_done`: by then the TLP mux has taken the TLPs with its octets,
//! so the CQE follows them on the stream. It waits for nothing else: its number, which ddp has
//! given it ([`crate::receive::ddp::completion_queues`]), is that of a free entry. Nothing is
//! dropped here.
//!
//! | latency    | 5 cycles, `payload_done` to the first beat                              |
//! | throughput | an entry in 4 cycles                                                    |
//! | units      | entries of 32 octets                                                    |
//! | counts     | `Completions`: an entry's TLP was taken; `HostFrames`: a slot header's  |
//! | source     | `rnic_abi::cqe`, `rnic_abi::host_ring`                                  |
//!
//! Base and size of a queue may change only while no connection uses it.
use crate::bus::pcie::WriteHeader;
use crate::common::fifo::Fifo;
use crate::common::lut_ram::LutRam;
use crate::messages::CqWrite;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What to write after the octets of a command.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CqeRequest {
    /// A slot header of the host ring ([`SlotHeaderWords`]) instead of a completion queue entry.
    pub host: Bit,
    /// Completion queue of the entry.
    pub queue: Bits<4>,
    /// The entry, word 0 in bits 31:0.
    pub words: Bits<256>,
}

/// [`CqeRequest::words`] for a slot header.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotHeaderWords {
    /// Octets of the frame.
    pub octets: Bits<32>,
    /// Bus address of the slot.
    pub address: Bits<64>,
    /// Phase and number of the slot.
    pub word_3: Bits<32>,
    /// Zero.
    pub unused: Bits<128>,
}

/// Cycles until the address follows the request in front.
const ADDRESS_CYCLES: LiteralType = 3;

/// State of the request at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum WriterState {
    Idle,
    Head,
    Send,
}

/// CQE writer of width `D`, `L = D / 32`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (D == 128 || D == 512) && D == 32 * L,
        "CqeWriter: D = {D} must be 128 or 512, and 32 L = {}",
        32 * L
    );
    let lanes = rnic_abi::cqe::CQE_OCTETS / 4;
    let lanes = lanes.min(L) as u32;
)]
pub struct CqeWriter<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; drops the requests.
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    pub request: Signal<In, CqeRequest>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    /// One cycle: the mux took the last beat before one more request.
    pub payload_done: Signal<In, Bit>,
    /// Registers of the queues.
    pub cq_write: Signal<In, CqWrite>,
    /// Host ring: slots filled.
    pub host_ring_producer: Signal<Out, Bits<32>>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    /// One cycle for each entry written, with its queue.
    pub entry_written: Signal<Out, Bit>,
    pub entry_queue: Signal<Out, Bits<4>>,
    /// One cycle for each slot header written.
    pub slot_written: Signal<Out, Bit>,
    requests: Fifo<CqeRequest, 4, 5>,
    bases_low: LutRam<Bits<32>, 4>,
    bases_high: LutRam<Bits<32>, 4>,
    sizes: LutRam<Bits<5>, 4>,
    write_header: WriteHeader,
    state: DFF<WriterState>,
    done_count: DFF<Bits<7>>,
    // `done_count` is not 0.
    is_done: DFF<Bit>,
    // Cycles of the request in front, up to `ADDRESS_CYCLES`.
    age: DFF<Bits<2>>,
    slots_written: DFF<Bits<32>>,
    base_low: DFF<Bits<32>>,
    base_high: DFF<Bits<32>>,
    index_mask: DFF<Bits<16>>,
    low_sum: DFF<Bits<33>>,
    high_sum: DFF<Bits<32>>,
    host: DFF<Bit>,
    queue: DFF<Bits<4>>,
    address: DFF<Bits<64>>,
    words: DFF<Bits<256>>,
    header: DFF<Bits<128>>,
    second: DFF<Bit>,
    value: Signal<Local, Bits<32>>,
    mask: Signal<Local, Bits<16>>,
    index: Signal<Local, Bits<16>>,
    offset: Signal<Local, Bits<33>>,
    carry: Signal<Local, Bits<32>>,
    low_word: Signal<Local, Bits<32>>,
    head: Signal<Local, CqeRequest>,
    head_words: Signal<Local, Bits<256>>,
    slot_word_0: Signal<Local, Bits<32>>,
    slot_word_3: Signal<Local, Bits<32>>,
    start: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    wide: Signal<Local, Bits<640>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
    #[constant(1)]
    one_done: Constant<Bits<7>>,
    #[constant(1)]
    one_cycle: Constant<Bits<2>>,
    #[constant(0xffff)]
    all_entries: Constant<Bits<16>>,
    #[constant(ADDRESS_CYCLES)]
    address_cycles: Constant<Bits<2>>,
    // The entry takes one beat.
    #[init(Constant::new(D == 512))]
    single_beat: Constant<Bit>,
    #[constant((1 << lanes) - 1)]
    entry_keep: Constant<Bits<L>>,
    #[constant(0xf)]
    slot_keep: Constant<Bits<L>>,
}

impl<const D: usize, const L: usize> Logic for CqeWriter<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, done_count, is_done, age, slots_written);
        registers!(clock; base_low, base_high, index_mask, low_sum, high_sum);
        registers!(clock; host, queue, address, words, header, second);
        wire!(self => self.{requests, bases_low, bases_high, sizes}; clock);
        wire!(self => self.requests; reset, request as data_in, request_valid as write);
        self.request_ready.next = !self.requests.full.val();

        self.value.next = self.cq_write.val().value;
        self.bases_low.write_enable.next = self.cq_write.val().base_low;
        self.bases_low.write_address.next = self.cq_write.val().queue;
        self.bases_low.write_data.next = self.value.val();
        self.bases_high.write_enable.next = self.cq_write.val().base_high;
        self.bases_high.write_address.next = self.cq_write.val().queue;
        self.bases_high.write_data.next = self.value.val();
        self.sizes.write_enable.next = self.cq_write.val().entries_log2;
        self.sizes.write_address.next = self.cq_write.val().queue;
        self.sizes.write_data.next = self.value.val().get_bits::<5>(0);

        // Address of the CQE in front: base + (number mod entries) * 32, in three cycles.
        self.head.next = self.requests.data_out.val();
        self.head_words.next = self.head.val().words;
        self.bases_low.read_address.next = self.head.val().queue;
        self.bases_high.read_address.next = self.head.val().queue;
        self.sizes.read_address.next = self.head.val().queue;
        self.base_low.d.next = self.bases_low.read_data.val();
        self.base_high.d.next = self.bases_high.read_data.val();
        self.mask.next = self.all_entries.val() << self.sizes.read_data.val();
        self.index_mask.d.next = !self.mask.val();
        self.index.next = self.head_words.val().get_bits::<16>(224);
        self.index.next = self.index.val() & self.index_mask.q.val();
        self.offset.next = bit_cast::<33, 16>(self.index.val()) << 5;
        self.low_sum.d.next = bit_cast::<33, 32>(self.base_low.q.val()) + self.offset.val();
        self.carry.next = 0.into();
        if self.low_sum.q.val().get_bit(32) {
            self.carry.next = 1.into();
        }
        self.high_sum.d.next = self.base_high.q.val() + self.carry.val();
        self.low_word.next = self.low_sum.q.val().get_bits::<32>(0);
        if self.age.q.val() != self.address_cycles.val() {
            self.age.d.next = self.age.q.val() + self.one_cycle.val();
        }

        self.slot_word_0.next = self.head_words.val().get_bits::<32>(0);
        self.slot_word_3.next = self.head_words.val().get_bits::<32>(96);
        self.start.next = !self.requests.empty.val()
            & self.is_done.q.val()
            & (self.age.q.val() == self.address_cycles.val())
            & (self.state.q.val() == WriterState::Idle);
        self.requests.read.next = self.start.val();
        if self.start.val() | self.requests.empty.val() {
            self.age.d.next = 0.into();
        }
        if self.payload_done.val() & !self.start.val() {
            self.done_count.d.next = self.done_count.q.val() + self.one_done.val();
            self.is_done.d.next = true;
        }
        if self.start.val() & !self.payload_done.val() {
            self.done_count.d.next = self.done_count.q.val() - self.one_done.val();
            self.is_done.d.next = self.done_count.q.val() != self.one_done.val();
        }

        self.write_header.address.next = self.address.q.val();
        self.write_header.device_id.next = self.device_id.val();
        self.write_header.first_be.next = 15.into();
        self.write_header.last_be.next = 15.into();
        self.write_header.length.next = 8.into();
        if self.host.q.val() {
            self.write_header.length.next = 4.into();
        }

        // A slot header, and an entry at D = 512, is one beat.
        self.ends.next = self.host.q.val() | self.single_beat.val() | self.second.q.val();
        self.wide.next = bit_cast::<640, 256>(self.words.q.val());
        self.tlp_data.next = self.wide.val().get_bits::<D>(0);
        if self.second.q.val() {
            self.tlp_data.next = self.wide.val().get_bits::<D>(128);
        }
        self.tlp_keep.next = self.entry_keep.val();
        if self.host.q.val() {
            self.tlp_keep.next = self.slot_keep.val();
        }
        self.tlp_header.next = self.header.q.val();
        self.tlp_last.next = self.ends.val();
        self.tlp_valid.next = false;
        self.entry_written.next = false;
        self.slot_written.next = false;
        self.entry_queue.next = self.queue.q.val();

        match self.state.q.val() {
            // Waits for a request whose octets have left, and for its address.
            WriterState::Idle => {
                self.host.d.next = self.head.val().host;
                self.queue.d.next = self.head.val().queue;
                self.second.d.next = false;
                self.address.d.next = bit_cast::<64, 32>(self.low_word.val())
                    | (bit_cast::<64, 32>(self.high_sum.q.val()) << 32);
                self.words.d.next = self.head_words.val();
                if self.head.val().host {
                    // Octets, two zero words, phase and number.
                    self.address.d.next = self.head_words.val().get_bits::<64>(32);
                    self.words.d.next = bit_cast::<256, 32>(self.slot_word_0.val())
                        | (bit_cast::<256, 32>(self.slot_word_3.val()) << 96);
                }
                if self.start.val() {
                    self.state.d.next = WriterState::Head;
                }
            }
            // One cycle for the header.
            WriterState::Head => {
                self.header.d.next = self.write_header.header.val();
                self.state.d.next = WriterState::Send;
            }
            // Waits for the mux to take the beats.
            WriterState::Send => {
                self.tlp_valid.next = true;
                if self.tlp_ready.val() {
                    self.second.d.next = true;
                    if self.ends.val() {
                        self.state.d.next = WriterState::Idle;
                        self.entry_written.next = !self.host.q.val();
                        self.slot_written.next = self.host.q.val();
                    }
                }
            }
            _ => {}
        }
        if self.slot_written.val() {
            self.slots_written.d.next = self.slots_written.q.val() + self.one.val();
        }
        self.host_ring_producer.next = self.slots_written.q.val();
        if self.reset.val() {
            self.state.d.next = WriterState::Idle;
            self.done_count.d.next = 0.into();
            self.is_done.d.next = false;
            self.age.d.next = 0.into();
            self.slots_written.d.next = 0.into();
        }
    }
}
