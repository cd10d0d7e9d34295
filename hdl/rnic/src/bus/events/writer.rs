//! Composes events and writes them to the event ring: one TLP each.
//!
//! ```text
//!                      +-> taken (range, ACK) ------+
//! Idle --(starts)--> Gather                           +--> Range --> Head --> Send --> Settle
//!  ^                   +--> context, as it is now ----+                                   |
//!  +-------------------------(no reasons, or another's)-----------------------------------+
//! ```
//!
//! An event is begun only while the ring has a free entry. Its reasons and its context are asked
//! for in the same cycle. A reason reaches the entry cycles after the context of its segment was
//! written, so the context is never older than a reason.
//!
//! | latency    | 8 cycles, `starts` to the first beat, if the context comes at once        |
//! | throughput | an event in 11 cycles, 10 at D = 512                                      |
//! | units      | entries of 32 octets; `producer`, `consumer` count modulo 2^32            |
//! | source     | `rnic_abi::event_ring`                                                    |
//!
//! The registers of the ring may change only while it is off; `consumer` may at any time: a stale
//! value only makes the ring look fuller than it is.
use super::pending::EventEntry;
use crate::bus::pcie::WriteHeader;
use crate::messages::ReportedContext;
use rnic_abi::event_ring;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(event_ring::EVENT_OCTETS == 32 && event_ring::RANGES_SHIFT == 11);

/// An event, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct EventWords {
    reasons: Bits<9>,
    fin: Bit,
    has_range: Bit,
    ranges: Bits<5>,
    connection: Bits<16>,
    rcv_nxt: Bits<32>,
    seg_ack: Bits<32>,
    seg_wnd: Bits<16>,
    duplicates_due: Bits<8>,
    duplicates_seen: Bits<8>,
    left: Bits<32>,
    right: Bits<32>,
    fin_sequence: Bits<32>,
    word_7: Bits<32>,
}

/// State of the event at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum EventState {
    /// Waits for a pending event.
    Idle,
    /// Waits for its reasons and its context.
    Gather,
    /// Compares its range with rcv_nxt.
    Range,
    /// One cycle for words and header.
    Head,
    /// Waits for the mux to take the beats.
    Send,
    /// The next entry is compared with the consumer.
    Settle,
}

/// Event writer of width `D`, `L = D / 32`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (D == 128 || D == 512) && D == 32 * L,
        "EventWriter: D = {D} must be 128 or 512, and 32 L = {}",
        32 * L
    );
    let lanes = (event_ring::EVENT_OCTETS / 4).min(L) as u32;
)]
pub struct EventWriter<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; the next entry is number 0.
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// Event ring: bus address, a multiple of 4096.
    pub base: Signal<In, Bits<64>>,
    /// Event ring: log2 of the entries, 1..=16; 0: off.
    pub entries_log2: Signal<In, Bits<5>>,
    /// Event ring: entries consumed.
    pub consumer: Signal<In, Bits<32>>,
    /// Event ring: entries written.
    pub producer: Signal<Out, Bits<32>>,
    /// The writer is free, and so is an entry.
    pub ready: Signal<Out, Bit>,
    /// With `ready`: the event of `connection` is taken, and will follow as `taken`.
    pub starts: Signal<In, Bit>,
    pub connection: Signal<In, Bits<10>>,
    /// One cycle: a connection begins under `begins_connection`, its context is written. An event
    /// whose context may come later is dropped.
    pub begins: Signal<In, Bit>,
    pub begins_connection: Signal<In, Bits<10>>,
    pub taken: Signal<In, EventEntry>,
    pub taken_valid: Signal<In, Bit>,
    /// Asks for the context of `read_connection`, until `read_taken`.
    pub read: Signal<Out, Bit>,
    pub read_connection: Signal<Out, Bits<10>>,
    pub read_taken: Signal<In, Bit>,
    pub reported: Signal<In, ReportedContext>,
    pub reported_valid: Signal<In, Bit>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    write_header: WriteHeader,
    state: DFF<EventState>,
    held_connection: DFF<Bits<10>>,
    asks: DFF<Bit>,
    entry: DFF<EventEntry>,
    has_entry: DFF<Bit>,
    right: DFF<Bits<32>>,
    held_context: DFF<ReportedContext>,
    has_context: DFF<Bit>,
    // The connection was another one when the event was taken.
    is_stale: DFF<Bit>,
    // From rcv_nxt to the end of the range.
    reach: DFF<Bits<32>>,
    words: DFF<Bits<256>>,
    header: DFF<Bits<128>>,
    second: DFF<Bit>,
    // The next entry: its number, address and phase, and whether it is free.
    number: DFF<Bits<32>>,
    written: DFF<Bits<32>>,
    index_mask: DFF<Bits<16>>,
    offset: DFF<Bits<32>>,
    low_sum: DFF<Bits<33>>,
    high_sum: DFF<Bits<32>>,
    distance: DFF<Bits<32>>,
    has_room: DFF<Bit>,
    phase: DFF<Bit>,
    mask: Signal<Local, Bits<16>>,
    index: Signal<Local, Bits<16>>,
    rounds: Signal<Local, Bits<32>>,
    carry: Signal<Local, Bits<32>>,
    base_low: Signal<Local, Bits<32>>,
    base_high: Signal<Local, Bits<32>>,
    low_word: Signal<Local, Bits<32>>,
    reach_now: Signal<Local, Bits<32>>,
    range_count: Signal<Local, Bits<5>>,
    has_range: Signal<Local, Bit>,
    reasons: Signal<Local, Bits<9>>,
    composed: Signal<Local, EventWords>,
    ends: Signal<Local, Bit>,
    wide: Signal<Local, Bits<640>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
    #[constant(0xffff)]
    all_entries: Constant<Bits<16>>,
    // An event takes one beat.
    #[init(Constant::new(D == 512))]
    single_beat: Constant<Bit>,
    #[constant((1 << lanes) - 1)]
    keep: Constant<Bits<L>>,
}

impl<const D: usize, const L: usize> Logic for EventWriter<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, held_connection, asks, entry, has_entry, right, held_context);
        registers!(clock; has_context, reach, words, header, second, number, written);
        registers!(clock; index_mask, offset, low_sum, high_sum, distance, has_room, phase);
        registers!(clock; is_stale);

        // Address of the next entry, and whether there is room for it.
        self.mask.next = self.all_entries.val() << self.entries_log2.val();
        self.index_mask.d.next = !self.mask.val();
        self.index.next = self.number.q.val().get_bits::<16>(0);
        self.index.next = self.index.val() & self.index_mask.q.val();
        self.offset.d.next = bit_cast::<32, 16>(self.index.val()) << 5;
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
        self.distance.d.next = self.number.q.val() - self.consumer.val();
        self.rounds.next = self.distance.q.val() >> self.entries_log2.val();
        self.has_room.d.next = !self.rounds.val().any() & self.entries_log2.val().any();
        self.phase.d.next = !self.number.q.val().get_bit(self.entries_log2.val().index());

        // Reasons and range, and the context.
        self.ready.next = (self.state.q.val() == EventState::Idle) & self.has_room.q.val();
        self.read.next = self.asks.q.val();
        self.read_connection.next = self.held_connection.q.val();
        if self.read_taken.val() {
            self.asks.d.next = false;
        }
        if self.taken_valid.val() {
            self.entry.d.next = self.taken.val();
            self.has_entry.d.next = true;
        }
        // A cycle after the entry, which comes late; Range is two after it.
        self.right.d.next = self.entry.q.val().left + bit_cast::<32, 30>(self.entry.q.val().octets);
        if self.reported_valid.val() {
            self.held_context.d.next = self.reported.val();
            self.has_context.d.next = true;
        }
        self.reasons.next = self.entry.q.val().reasons;

        // Ranges end beyond rcv_nxt; one that does not has become in order since it changed. After
        // a purge there is none, until another one changes.
        self.reach.d.next = self.right.q.val() - self.held_context.q.val().rcv_nxt;
        self.reach_now.next = self.reach.q.val();
        self.range_count.next = self.held_context.q.val().ranges;
        self.has_range.next = self.range_count.val().any()
            & !self.reach_now.val().get_bit(31)
            & self.reach_now.val().any();
        self.composed.next.reasons = self.reasons.val();
        self.composed.next.fin = self.held_context.q.val().fin;
        self.composed.next.has_range = self.has_range.val();
        self.composed.next.ranges = self.range_count.val();
        self.composed.next.connection = bit_cast::<16, 10>(self.held_connection.q.val());
        self.composed.next.rcv_nxt = self.held_context.q.val().rcv_nxt;
        // Without an acceptable segment since the last event, those of the context.
        self.composed.next.seg_ack = self.held_context.q.val().seg_ack;
        self.composed.next.seg_wnd = self.held_context.q.val().seg_wnd;
        if self.entry.q.val().acknowledges {
            self.composed.next.seg_ack = self.entry.q.val().seg_ack;
            self.composed.next.seg_wnd = self.entry.q.val().seg_wnd;
        }
        self.composed.next.duplicates_due = self.held_context.q.val().duplicates_due;
        self.composed.next.duplicates_seen = self.held_context.q.val().duplicates_seen;
        self.composed.next.left = 0.into();
        self.composed.next.right = 0.into();
        if self.has_range.val() {
            self.composed.next.left = self.entry.q.val().left;
            self.composed.next.right = self.right.q.val();
        }
        self.composed.next.fin_sequence = 0.into();
        if self.held_context.q.val().fin {
            self.composed.next.fin_sequence = self.held_context.q.val().fin_sequence;
        }
        self.composed.next.word_7 = self.number.q.val().replace_bit(31, self.phase.q.val());

        self.write_header.address.next = bit_cast::<64, 32>(self.low_word.val())
            | (bit_cast::<64, 32>(self.high_sum.q.val()) << 32);
        self.write_header.device_id.next = self.device_id.val();
        self.write_header.first_be.next = 15.into();
        self.write_header.last_be.next = 15.into();
        self.write_header.length.next = 8.into();
        self.ends.next = self.single_beat.val() | self.second.q.val();
        self.wide.next = bit_cast::<640, 256>(self.words.q.val());
        self.tlp_data.next = self.wide.val().get_bits::<D>(0);
        if self.second.q.val() {
            self.tlp_data.next = self.wide.val().get_bits::<D>(128);
        }
        self.tlp_keep.next = self.keep.val();
        self.tlp_header.next = self.header.q.val();
        self.tlp_last.next = self.ends.val();
        self.tlp_valid.next = self.state.q.val() == EventState::Send;

        match self.state.q.val() {
            EventState::Idle => {
                self.has_entry.d.next = false;
                self.has_context.d.next = false;
                self.second.d.next = false;
                self.held_connection.d.next = self.connection.val();
                self.is_stale.d.next =
                    self.begins.val() & (self.begins_connection.val() == self.connection.val());
                if self.starts.val() {
                    self.asks.d.next = true;
                    self.state.d.next = EventState::Gather;
                }
            }
            EventState::Gather => {
                if self.begins.val()
                    & (self.begins_connection.val() == self.held_connection.q.val())
                {
                    self.is_stale.d.next = true;
                }
                if self.has_entry.q.val() & self.has_context.q.val() {
                    self.state.d.next = EventState::Range;
                    if self.is_stale.q.val() | !self.reasons.val().any() {
                        self.state.d.next = EventState::Idle;
                    }
                }
            }
            EventState::Range => self.state.d.next = EventState::Head,
            EventState::Head => {
                self.words.d.next = self.composed.val().into();
                self.header.d.next = self.write_header.header.val();
                self.number.d.next = self.number.q.val() + self.one.val();
                self.state.d.next = EventState::Send;
            }
            EventState::Send => {
                if self.tlp_ready.val() {
                    self.second.d.next = true;
                    if self.ends.val() {
                        self.written.d.next = self.written.q.val() + self.one.val();
                        self.state.d.next = EventState::Settle;
                    }
                }
            }
            EventState::Settle => self.state.d.next = EventState::Idle,
            _ => {}
        }
        self.producer.next = self.written.q.val();
        if self.reset.val() {
            self.state.d.next = EventState::Idle;
            self.asks.d.next = false;
            self.has_room.d.next = false;
            self.number.d.next = 0.into();
            self.written.d.next = 0.into();
        }
    }
}
