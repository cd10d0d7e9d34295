//! Completion queue entries (CQEs) and slot headers: one TLP each, after the octets they announce.
//!
//! ```text
//! request --> [FIFO 16] --+
//! payload_done --> count -+--> writer --> one TLP (32 octets to the CQ, 16 to a host slot)
//!      cq_base, entries, consumer --^
//!
//! Idle --(request, payload done, entry free)--> Head --> Send --> Idle
//! ```
//!
//! A request waits for its `payload_done`: by then the TLP mux has taken the TLPs with its octets,
//! so the CQE follows them on the stream. A CQE also waits while the queue is full or off; this
//! blocks the requests behind it, and in the end placement. Nothing is dropped here.
//!
//! | latency    | 5 cycles, `payload_done` to the first beat                              |
//! | throughput | an entry in 4 cycles                                                    |
//! | units      | entries of 32 octets; `cq_producer`, `cq_consumer` count modulo 2^32    |
//! | counts     | `Completions`: an entry's TLP was taken; `HostFrames`: a slot header's  |
//! | source     | `rnic_abi::cqe`, `rnic_abi::host_ring`                                  |
//!
//! The registers of the queue may change only while it is off; `cq_consumer` may at any time: a
//! stale value only makes the queue look fuller than it is.
use crate::bus::pcie::WriteHeader;
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What to write after the octets of a command.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CqeRequest {
    /// A slot header of the host ring ([`SlotHeaderWords`]) instead of a completion queue entry.
    pub host: Bit,
    /// Words 0 to 6 of the entry, word 0 in bits 31:0.
    pub words: Bits<224>,
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
    pub unused: Bits<96>,
}

/// Cycles until address, phase and `is_full` follow the number of the next entry, but for the one
/// that `is_settled` takes.
const SETTLE_CYCLES: LiteralType = 2;

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
    /// Synchronous; drops the requests; the next entry is number 0.
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    pub request: Signal<In, CqeRequest>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    /// One cycle: the mux took the last beat before one more request.
    pub payload_done: Signal<In, Bit>,
    /// Completion queue: bus address, a multiple of 4096.
    pub cq_base: Signal<In, Bits<64>>,
    /// Completion queue: log2 of the entries, 1..=16; 0: off.
    pub cq_entries_log2: Signal<In, Bits<5>>,
    /// Completion queue: entries consumed.
    pub cq_consumer: Signal<In, Bits<32>>,
    /// Completion queue: entries written.
    pub cq_producer: Signal<Out, Bits<32>>,
    /// Host ring: slots filled.
    pub host_ring_producer: Signal<Out, Bits<32>>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    /// One cycle for each entry written.
    pub entry_written: Signal<Out, Bit>,
    /// One cycle for each slot header written.
    pub slot_written: Signal<Out, Bit>,
    requests: Fifo<CqeRequest, 4, 5>,
    write_header: WriteHeader,
    state: DFF<WriterState>,
    done_count: DFF<Bits<7>>,
    // `done_count` is not 0.
    is_done: DFF<Bit>,
    settle: DFF<Bits<3>>,
    // `settle` was 0 and no new computation has begun.
    is_settled: DFF<Bit>,
    number: DFF<Bits<32>>,
    written: DFF<Bits<32>>,
    slots_written: DFF<Bits<32>>,
    index_mask: DFF<Bits<16>>,
    offset: DFF<Bits<32>>,
    low_sum: DFF<Bits<33>>,
    high_sum: DFF<Bits<32>>,
    distance: DFF<Bits<32>>,
    is_full: DFF<Bit>,
    phase: DFF<Bit>,
    host: DFF<Bit>,
    address: DFF<Bits<64>>,
    words: DFF<Bits<256>>,
    header: DFF<Bits<128>>,
    second: DFF<Bit>,
    mask: Signal<Local, Bits<16>>,
    index: Signal<Local, Bits<16>>,
    rounds: Signal<Local, Bits<32>>,
    carry: Signal<Local, Bits<32>>,
    low_word: Signal<Local, Bits<32>>,
    base_low: Signal<Local, Bits<32>>,
    base_high: Signal<Local, Bits<32>>,
    head: Signal<Local, CqeRequest>,
    head_words: Signal<Local, Bits<224>>,
    word_7: Signal<Local, Bits<32>>,
    slot_word_0: Signal<Local, Bits<32>>,
    slot_word_3: Signal<Local, Bits<32>>,
    start: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    wide: Signal<Local, Bits<640>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
    #[constant(1)]
    one_done: Constant<Bits<7>>,
    #[constant(0xffff)]
    all_entries: Constant<Bits<16>>,
    #[constant(SETTLE_CYCLES)]
    settle_cycles: Constant<Bits<3>>,
    #[constant(SETTLE_CYCLES + 2)]
    off_settle_cycles: Constant<Bits<3>>,
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
        registers!(clock;
            state, done_count, is_done, settle, is_settled, number, written, slots_written);
        registers!(clock; index_mask, offset, low_sum, high_sum, distance, is_full, phase);
        registers!(clock; host, address, words, header, second);
        wire!(self => self.requests; clock, reset, request as data_in, request_valid as write);
        self.request_ready.next = !self.requests.full.val();

        // Address of the next CQE, and whether there is room for it.
        self.mask.next = self.all_entries.val() << self.cq_entries_log2.val();
        self.index_mask.d.next = !self.mask.val();
        self.index.next = self.number.q.val().get_bits::<16>(0);
        self.index.next = self.index.val() & self.index_mask.q.val();
        self.offset.d.next = bit_cast::<32, 16>(self.index.val()) << 5;
        self.base_low.next = self.cq_base.val().get_bits::<32>(0);
        self.base_high.next = self.cq_base.val().get_bits::<32>(32);
        self.low_sum.d.next =
            bit_cast::<33, 32>(self.base_low.val()) + bit_cast::<33, 32>(self.offset.q.val());
        self.carry.next = 0.into();
        if self.low_sum.q.val().get_bit(32) {
            self.carry.next = 1.into();
        }
        self.high_sum.d.next = self.base_high.val() + self.carry.val();
        self.low_word.next = self.low_sum.q.val().get_bits::<32>(0);
        self.distance.d.next = self.number.q.val() - self.cq_consumer.val();
        self.rounds.next = self.distance.q.val() >> self.cq_entries_log2.val();
        self.is_full.d.next = self.rounds.val().any() | !self.cq_entries_log2.val().any();
        self.phase.d.next = !self
            .number
            .q
            .val()
            .get_bit(self.cq_entries_log2.val().index());
        self.word_7.next = self.number.q.val().replace_bit(31, self.phase.q.val());
        self.is_settled.d.next = !self.settle.q.val().any();
        if self.settle.q.val().any() {
            self.settle.d.next = self.settle.q.val() - 1;
        }
        if !self.cq_entries_log2.val().any() {
            self.is_settled.d.next = false;
            // After it is switched on, all stages have to follow.
            self.settle.d.next = self.off_settle_cycles.val();
        }

        self.head.next = self.requests.data_out.val();
        self.head_words.next = self.head.val().words;
        self.slot_word_0.next = self.head_words.val().get_bits::<32>(0);
        self.slot_word_3.next = self.head_words.val().get_bits::<32>(96);
        self.start.next = !self.requests.empty.val()
            & self.is_done.q.val()
            & self.is_settled.q.val()
            & (self.head.val().host | !self.is_full.q.val())
            & (self.state.q.val() == WriterState::Idle);
        self.requests.read.next = self.start.val();
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

        match self.state.q.val() {
            // Waits for a request whose octets have left, and for a free entry.
            WriterState::Idle => {
                self.host.d.next = self.head.val().host;
                self.second.d.next = false;
                self.address.d.next = bit_cast::<64, 32>(self.low_word.val())
                    | (bit_cast::<64, 32>(self.high_sum.q.val()) << 32);
                self.words.d.next = bit_cast::<256, 224>(self.head_words.val())
                    | (bit_cast::<256, 32>(self.word_7.val()) << 224);
                if self.head.val().host {
                    // Octets, two zero words, phase and number.
                    self.address.d.next = self.head_words.val().get_bits::<64>(32);
                    self.words.d.next = bit_cast::<256, 32>(self.slot_word_0.val())
                        | (bit_cast::<256, 32>(self.slot_word_3.val()) << 96);
                }
                if self.start.val() {
                    self.state.d.next = WriterState::Head;
                    if !self.head.val().host {
                        self.number.d.next = self.number.q.val() + self.one.val();
                        self.settle.d.next = self.settle_cycles.val();
                        self.is_settled.d.next = false;
                    }
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
        if self.entry_written.val() {
            self.written.d.next = self.written.q.val() + self.one.val();
        }
        if self.slot_written.val() {
            self.slots_written.d.next = self.slots_written.q.val() + self.one.val();
        }
        self.cq_producer.next = self.written.q.val();
        self.host_ring_producer.next = self.slots_written.q.val();
        if self.reset.val() {
            self.state.d.next = WriterState::Idle;
            self.done_count.d.next = 0.into();
            self.is_done.d.next = false;
            self.is_settled.d.next = false;
            self.settle.d.next = self.settle_cycles.val();
            self.number.d.next = 0.into();
            self.written.d.next = 0.into();
            self.slots_written.d.next = 0.into();
        }
    }
}
