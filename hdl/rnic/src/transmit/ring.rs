//! One ring: its indices, its doorbell, and the reads of its units.
//!
//! ```text
//!   head (host's again)     next       filled      fetched       tail
//!     |---- jobs ------------|- buffered -|-- reads --|-- to read --|
//!                            v
//! tail_valid --> [ doorbell ] --> tail, or tail_ignored
//! Idle --> Size --> Form --> Offer --> fetch
//! ```
//!
//! | latency    | 8 cycles, `tail_valid` to `fetch_valid`                                      |
//! | throughput | a read of up to 16 units in 4 cycles, 4 under way; the buffer holds 128      |
//! | units      | units of 32 octets                                                           |
//! | source     | `rnic_abi::transmit_ring`                                                    |
//!
//! A read ends where a line of 512 octets ends, so it takes one tag of the read engine, and does not
//! wrap: rings have at least 16 units.
//!
//! `set_up` begins anew at once, but what was asked for before still comes. Until it has, the ring
//! *settles*: it takes doorbells and does nothing else, and what comes is dropped. After a failed
//! read of units what is in the buffer is still used, and what comes is dropped. The ring has
//! *stopped* when the last frame of that is over, so its head is final then.
use super::doorbell::Doorbell;
use super::types::*;
use crate::bus::reads::types::ReadCommand;
use rnic_abi::transmit_ring as abi;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(abi::UNIT_OCTETS == 32 && FETCH_OCTETS == abi::UNIT_OCTETS << 4);
const _: () = assert!(abi::UNITS_LOG2_MIN >= 4 && abi::UNITS_LOG2_MAX <= 16);

/// What is done about the next read.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum FetchState {
    Idle,
    Size,
    Form,
    Offer,
}

/// A transmit ring.
#[derive(LogicBlock, Init)]
#[init(
    let buffer: LiteralType = 1 << BUFFER_UNITS_LOG2;
    let most: LiteralType = FETCH_OCTETS as LiteralType / abi::UNIT_OCTETS as LiteralType;
)]
pub struct TransmitRing {
    pub clock: Signal<In, Clock>,
    /// Synchronous; the ring is off.
    pub reset: Signal<In, Bit>,
    /// Bus address of the ring, a multiple of 4096.
    pub base: Signal<In, Bits<64>>,
    /// With `set_up`: log2 of the units, 4 to 16; any other value: off.
    pub units_log2: Signal<In, Bits<5>>,
    pub set_up: Signal<In, Bit>,
    /// With `tail_valid`: the doorbell's value.
    pub tail: Signal<In, Bits<32>>,
    pub tail_valid: Signal<In, Bit>,
    /// Units that are software's again, modulo 2^32.
    pub head: Signal<Out, Bits<32>>,
    /// Frames given up, modulo 2^32.
    pub given_up: Signal<Out, Bits<32>>,
    pub stopped: Signal<Out, Bit>,
    /// What was asked for before `set_up` is still to come.
    pub settles: Signal<Out, Bit>,
    /// One cycle: a doorbell was not taken.
    pub tail_ignored: Signal<Out, Bit>,
    /// One cycle: the ring stops. Its report is the last one.
    pub stops: Signal<Out, Bit>,
    /// Units to read; withdrawn by `set_up`.
    pub fetch: Signal<Out, ReadCommand>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch_ready: Signal<In, Bit>,
    /// Place in the buffer of the unit that comes next.
    pub fill_slot: Signal<Out, Bits<7>>,
    /// Nothing that comes is kept.
    pub drop: Signal<Out, Bit>,
    /// One cycle: a unit is in its place.
    pub filled: Signal<In, Bit>,
    /// One cycle: a read of units is answered, ...
    pub read_ends: Signal<In, Bit>,
    /// ... not whole.
    pub read_failed: Signal<In, Bit>,
    /// Units in the buffer for the next frames, and the place of the first one.
    pub buffered: Signal<Out, Bits<8>>,
    pub next_slot: Signal<Out, Bits<7>>,
    /// A head of this ring is at hand, or may be in the buffer.
    pub deciding: Signal<In, Bit>,
    /// One cycle: the next `take_units` units are those of a frame that begins.
    pub take: Signal<In, Bit>,
    pub take_units: Signal<In, Bits<4>>,
    /// One cycle: a frame of this ring is over; its units are software's.
    pub passes: Signal<In, Bit>,
    pub pass_units: Signal<In, Bits<4>>,
    pub gave_up: Signal<In, Bit>,
    /// A TLP of this ring is under way.
    pub writing: Signal<In, Bit>,
    fetch_state: DFF<FetchState>,
    doorbell: Doorbell,
    on: DFF<Bit>,
    log2: DFF<Bits<5>>,
    // Units of the ring, and the bits of their index.
    units: DFF<Bits<17>>,
    index_mask: DFF<Bits<16>>,
    settling: DFF<Bit>,
    // A read of units failed; and nothing of the ring is left to do.
    has_failed: DFF<Bit>,
    has_stopped: DFF<Bit>,
    head_index: DFF<Bits<32>>,
    given_up_count: DFF<Bits<32>>,
    // Units asked for: all of them, those that have places in the buffer, and their reads.
    fetched: DFF<Bits<17>>,
    places: DFF<Bits<8>>,
    reads: DFF<Bits<3>>,
    filled_slot: DFF<Bits<7>>,
    taken_slot: DFF<Bits<7>>,
    waiting: DFF<Bits<8>>,
    // Frames between `take` and `passes`.
    jobs: DFF<Bits<6>>,
    // The next read.
    available: DFF<Bits<17>>,
    has_places: DFF<Bit>,
    offset: DFF<Bits<21>>,
    count: DFF<Bits<5>>,
    low_sum: DFF<Bits<33>>,
    high_sum: DFF<Bits<32>>,
    is_valid: Signal<Local, Bit>,
    mask: Signal<Local, Bits<16>>,
    tail_now: Signal<Local, Bits<32>>,
    tail_low: Signal<Local, Bits<17>>,
    index: Signal<Local, Bits<16>>,
    in_line: Signal<Local, Bits<4>>,
    line_rest: Signal<Local, Bits<5>>,
    available_low: Signal<Local, Bits<4>>,
    available_high: Signal<Local, Bits<13>>,
    short: Signal<Local, Bits<5>>,
    base_low: Signal<Local, Bits<32>>,
    base_high: Signal<Local, Bits<32>>,
    carry: Signal<Local, Bits<32>>,
    low_word: Signal<Local, Bits<32>>,
    fetches: Signal<Local, Bit>,
    added_places: Signal<Local, Bits<8>>,
    freed_places: Signal<Local, Bits<8>>,
    added_units: Signal<Local, Bits<8>>,
    added_jobs: Signal<Local, Bits<6>>,
    ended_jobs: Signal<Local, Bits<6>>,
    added_reads: Signal<Local, Bits<3>>,
    ended_reads: Signal<Local, Bits<3>>,
    keeps: Signal<Local, Bit>,
    drops: Signal<Local, Bit>,
    #[constant(1)]
    one_unit: Constant<Bits<17>>,
    #[constant(0xffff)]
    all_units: Constant<Bits<16>>,
    #[constant(most)]
    line_units: Constant<Bits<5>>,
    // With so many places taken or fewer there is room for a read.
    #[constant(buffer - most)]
    most_places: Constant<Bits<8>>,
    #[constant(FETCHES_MAX)]
    most_reads: Constant<Bits<3>>,
    #[constant(abi::UNITS_LOG2_MIN as LiteralType)]
    log2_min: Constant<Bits<5>>,
    #[constant(abi::UNITS_LOG2_MAX as LiteralType)]
    log2_max: Constant<Bits<5>>,
    #[constant(1)]
    one_slot: Constant<Bits<7>>,
    #[constant(1)]
    one_frame: Constant<Bits<32>>,
}

impl Logic for TransmitRing {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; fetch_state, on, log2, units, index_mask, settling, has_failed);
        registers!(clock; has_stopped, head_index, given_up_count, fetched, places, reads, filled_slot);
        registers!(clock; taken_slot, waiting, jobs, available, has_places, offset, count);
        registers!(clock; low_sum, high_sum);
        self.head.next = self.head_index.q.val();
        self.given_up.next = self.given_up_count.q.val();
        self.stopped.next = self.has_stopped.q.val();
        self.settles.next = self.settling.q.val();
        self.fill_slot.next = self.filled_slot.q.val();
        self.drops.next = self.settling.q.val() | self.has_failed.q.val();
        self.drop.next = self.drops.val();
        self.buffered.next = self.waiting.q.val();
        self.next_slot.next = self.taken_slot.q.val();

        // Sizes, and the tail.
        self.units.d.next = self.one_unit.val() << self.log2.q.val();
        self.mask.next = self.all_units.val() << self.log2.q.val();
        self.index_mask.d.next = !self.mask.val();
        wire!(self => self.doorbell; clock, tail, tail_valid);
        self.doorbell.reset.next = self.reset.val() | self.set_up.val();
        self.doorbell.on.next = self.on.q.val();
        self.doorbell.units.next = self.units.q.val();
        self.doorbell.head.next = self.head_index.q.val();
        self.tail_ignored.next = self.doorbell.ignored.val();

        // The next read: as many units as there are up to the end of the line.
        self.tail_now.next = self.doorbell.tail_index.val();
        self.tail_low.next = self.tail_now.val().get_bits::<17>(0);
        self.index.next = self.fetched.q.val().get_bits::<16>(0);
        self.index.next = self.index.val() & self.index_mask.q.val();
        self.in_line.next = self.fetched.q.val().get_bits::<4>(0);
        self.line_rest.next = self.line_units.val() - bit_cast::<5, 4>(self.in_line.val());
        self.available_low.next = self.available.q.val().get_bits::<4>(0);
        self.available_high.next = self.available.q.val().get_bits::<13>(4);
        self.short.next = bit_cast::<5, 4>(self.available_low.val());
        self.base_low.next = self.base.val().get_bits::<32>(0);
        self.base_high.next = self.base.val().get_bits::<32>(32);
        self.carry.next = 0.into();
        if self.low_sum.q.val().get_bit(32) {
            self.carry.next = 1.into();
        }
        self.low_word.next = self.low_sum.q.val().get_bits::<32>(0);
        self.available.d.next = self.tail_low.val() - self.fetched.q.val();
        self.has_places.d.next = self.places.q.val() <= self.most_places.val();
        self.offset.d.next = bit_cast::<21, 16>(self.index.val()) << 5;
        self.low_sum.d.next =
            bit_cast::<33, 32>(self.base_low.val()) + bit_cast::<33, 21>(self.offset.q.val());
        self.high_sum.d.next = self.base_high.val() + self.carry.val();
        self.fetch.next.address = bit_cast::<64, 32>(self.low_word.val())
            | (bit_cast::<64, 32>(self.high_sum.q.val()) << 32);
        self.fetch.next.octets = bit_cast::<14, 5>(self.count.q.val()) << 5;
        self.fetch.next.more = false;
        self.fetch.next.cookie = 0.into();
        self.fetch_valid.next = self.fetch_state.q.val() == FetchState::Offer;
        self.fetches.next = false;
        match self.fetch_state.q.val() {
            // Indices settle in this cycle.
            FetchState::Idle => {
                if self.on.q.val() & !self.settling.q.val() & !self.has_failed.q.val() {
                    self.fetch_state.d.next = FetchState::Size;
                }
            }
            // Is there anything to read, and room for it?
            FetchState::Size => {
                self.count.d.next = self.line_rest.val();
                if !self.available_high.val().any() & (self.short.val() < self.line_rest.val()) {
                    self.count.d.next = self.short.val();
                }
                self.fetch_state.d.next = FetchState::Idle;
                if (self.available.q.val().any() & self.has_places.q.val())
                    & (self.reads.q.val() < self.most_reads.val())
                {
                    self.fetch_state.d.next = FetchState::Form;
                }
            }
            // The address is put together.
            FetchState::Form => self.fetch_state.d.next = FetchState::Offer,
            FetchState::Offer => {
                if self.fetch_ready.val() {
                    self.fetches.next = true;
                    self.fetch_state.d.next = FetchState::Idle;
                }
            }
            _ => {}
        }

        // What is under way.
        self.added_places.next = 0.into();
        self.added_reads.next = 0.into();
        if self.fetches.val() {
            self.added_places.next = bit_cast::<8, 5>(self.count.q.val());
            self.added_reads.next = 1.into();
            self.fetched.d.next = self.fetched.q.val() + bit_cast::<17, 5>(self.count.q.val());
        }
        self.ended_reads.next = 0.into();
        if self.read_ends.val() {
            self.ended_reads.next = 1.into();
        }
        self.reads.d.next = (self.reads.q.val() + self.added_reads.val()) - self.ended_reads.val();
        self.keeps.next = self.filled.val() & !self.drops.val();
        self.added_units.next = 0.into();
        if self.keeps.val() {
            self.added_units.next = 1.into();
            self.filled_slot.d.next = self.filled_slot.q.val() + self.one_slot.val();
        }
        self.freed_places.next = 0.into();
        self.added_jobs.next = 0.into();
        if self.take.val() {
            self.freed_places.next = bit_cast::<8, 4>(self.take_units.val());
            self.added_jobs.next = 1.into();
            self.taken_slot.d.next =
                self.taken_slot.q.val() + bit_cast::<7, 4>(self.take_units.val());
        }
        self.waiting.d.next =
            (self.waiting.q.val() + self.added_units.val()) - self.freed_places.val();
        self.places.d.next =
            (self.places.q.val() + self.added_places.val()) - self.freed_places.val();
        self.ended_jobs.next = 0.into();
        if self.passes.val() {
            self.ended_jobs.next = 1.into();
            if !self.settling.q.val() {
                self.head_index.d.next =
                    self.head_index.q.val() + bit_cast::<32, 4>(self.pass_units.val());
                if self.gave_up.val() {
                    self.given_up_count.d.next = self.given_up_count.q.val() + self.one_frame.val();
                }
            }
        }
        self.jobs.d.next = (self.jobs.q.val() + self.added_jobs.val()) - self.ended_jobs.val();

        // The end of what a set-up left under way; a failed read of units.
        if (self.settling.q.val() & !self.reads.q.val().any())
            & (!self.jobs.q.val().any() & !self.deciding.val() & !self.writing.val())
        {
            self.settling.d.next = false;
        }
        if (self.read_ends.val() & self.read_failed.val()) & !self.drops.val() {
            self.has_failed.d.next = true;
            self.fetch_state.d.next = FetchState::Idle;
        }
        // Its last frame is over: what is left of units is no whole frame.
        self.stops.next = (self.has_failed.q.val() & !self.has_stopped.q.val())
            & (!self.jobs.q.val().any() & !self.deciding.val());
        if self.stops.val() {
            self.has_stopped.d.next = true;
        }
        self.is_valid.next = (self.units_log2.val() >= self.log2_min.val())
            & (self.units_log2.val() <= self.log2_max.val());
        if self.set_up.val() {
            self.on.d.next = self.is_valid.val();
            self.log2.d.next = self.units_log2.val();
            self.settling.d.next = true;
            self.has_failed.d.next = false;
            self.has_stopped.d.next = false;
            self.fetch_state.d.next = FetchState::Idle;
            self.head_index.d.next = 0.into();
            self.given_up_count.d.next = 0.into();
        }
        if self.set_up.val() | self.settling.q.val() {
            self.fetched.d.next = 0.into();
            self.places.d.next = 0.into();
            self.filled_slot.d.next = 0.into();
            self.taken_slot.d.next = 0.into();
            self.waiting.d.next = 0.into();
        }
        if self.reset.val() {
            self.on.d.next = false;
            self.settling.d.next = false;
            self.has_failed.d.next = false;
            self.has_stopped.d.next = false;
            self.fetch_state.d.next = FetchState::Idle;
            self.head_index.d.next = 0.into();
            self.given_up_count.d.next = 0.into();
            self.fetched.d.next = 0.into();
            self.places.d.next = 0.into();
            self.reads.d.next = 0.into();
            self.filled_slot.d.next = 0.into();
            self.taken_slot.d.next = 0.into();
            self.waiting.d.next = 0.into();
            self.jobs.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
