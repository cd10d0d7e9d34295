//! Heads: decodes the next frame's units, refuses what cannot be sent, asks for the rest.
//!
//! ```text
//! Idle --> Fetch --> Head --> Elements --> Check --> Decide --> Issue --+
//!  ^                                         |         |  |  command    |
//!  +---- units are missing ------------------+         |  +--> job      |
//!  +---- refused; a control frame first ---------------+                |
//!  +---------------------------------------------------------------------+
//! ```
//!
//! | latency    | 9 cycles from a frame's last unit to its first command, n more for n > 1     |
//! |            | elements                                                                     |
//! | throughput | a frame of n elements in 8 + 2 n cycles                                      |
//! | units      | octets; words of `2^O` octets of the store                                   |
//! | source     | `rnic_abi::transmit_ring`: which heads are refused                           |
//!
//! All lengths are added up before anything is read, so a frame that is refused takes no room. One
//! that is not waits for room for all of it; its octets can then always be taken. A bulk frame that
//! waits gives way to a control frame. Pieces of the buffer are read ahead: those after the
//! frame's last element are garbage, and are ignored.
//!
//! That a ring settles is seen a cycle late. A frame that begins in this cycle ends like one that
//! began before the set-up: the ring settles until it is over.
use super::head_check::HeadCheck;
use super::types::*;
use crate::bus::reads::types::ReadCommand;
use crate::common::lut_ram::LutRam;
use rnic_abi::transmit_ring as abi;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(abi::ELEMENTS_SHIFT == 16 && abi::ELEMENTS_MAX == 8);
const _: () = assert!(abi::INSERT_CHECKSUM == 1 << 20 && abi::INSERT_CRC == 1 << 21);

/// What is done with the frame at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum HeadState {
    Idle,
    Fetch,
    Head,
    Elements,
    Check,
    Decide,
    Issue,
}

/// An element, as it is kept until it is read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct Element {
    address: Bits<64>,
    octets: Bits<14>,
}

/// Decoder of heads, for a store of words of `2^O` octets.
#[derive(LogicBlock, Init)]
pub struct HeadDecoder<const O: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Units of each ring in the buffer, and the place of the first one.
    pub control_buffered: Signal<In, Bits<8>>,
    pub control_slot: Signal<In, Bits<7>>,
    pub control_settles: Signal<In, Bit>,
    pub bulk_buffered: Signal<In, Bits<8>>,
    pub bulk_slot: Signal<In, Bits<7>>,
    pub bulk_settles: Signal<In, Bit>,
    /// A head of this ring is at hand, or may be in the buffer.
    pub control_deciding: Signal<Out, Bit>,
    pub bulk_deciding: Signal<Out, Bit>,
    /// One cycle: the next `take_units` units of this ring are a frame's that begins.
    pub control_take: Signal<Out, Bit>,
    pub bulk_take: Signal<Out, Bit>,
    pub take_units: Signal<Out, Bits<4>>,
    /// Half of a unit, and what is in it two cycles later: see `UnitBuffer`.
    pub read_address: Signal<Out, Bits<9>>,
    pub piece: Signal<In, Bits<96>>,
    /// Free words of the store, less those that were promised; and those promised in this cycle.
    pub free: Signal<In, Bits<12>>,
    pub reserve: Signal<Out, Bits<12>>,
    /// With `job_room`, one cycle.
    pub job: Signal<Out, FrameJob>,
    pub job_valid: Signal<Out, Bit>,
    /// Once there is room, it stays until the next job takes it.
    pub job_room: Signal<In, Bit>,
    /// The reads of a frame: one run.
    pub command: Signal<Out, ReadCommand>,
    pub command_valid: Signal<Out, Bit>,
    pub command_ready: Signal<In, Bit>,
    elements: LutRam<Element, 4>,
    state: DFF<HeadState>,
    second: DFF<Bit>,
    ring: DFF<Bit>,
    address: DFF<Bits<8>>,
    // Words 0 to 2 of the head.
    head: DFF<Bits<96>>,
    // Units that the next frame of each ring is known to need.
    control_need: DFF<Bits<4>>,
    bulk_need: DFF<Bits<4>>,
    // Units that were in the buffer before the first element's address was.
    seen: DFF<Bits<8>>,
    index: DFF<Bits<4>>,
    total: DFF<Bits<19>>,
    is_empty: DFF<Bit>,
    check: HeadCheck<O>,
    fits: DFF<Bit>,
    // Room for a job, and whether a ring settles, as of the cycle before.
    has_room: DFF<Bit>,
    is_control_settling: DFF<Bit>,
    is_bulk_settling: DFF<Bit>,
    whole_address: Signal<Local, Bits<9>>,
    count: Signal<Local, Bits<4>>,
    control_ready: Signal<Local, Bit>,
    bulk_ready: Signal<Local, Bit>,
    slot: Signal<Local, Bits<7>>,
    first_address: Signal<Local, Bits<8>>,
    buffered: Signal<Local, Bits<8>>,
    settles: Signal<Local, Bit>,
    element: Signal<Local, Element>,
    length: Signal<Local, Bits<16>>,
    is_last: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    yields: Signal<Local, Bit>,
    index_next: Signal<Local, Bits<4>>,
    #[constant(1)]
    one: Constant<Bits<4>>,
    #[constant(1)]
    one_half: Constant<Bits<8>>,
    #[constant(2)]
    one_unit: Constant<Bits<8>>,
}

impl<const O: usize> Logic for HeadDecoder<O> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, second, ring, address, head, control_need, bulk_need, index);
        registers!(clock; total, is_empty, seen, fits, has_room);
        registers!(clock; is_control_settling, is_bulk_settling);
        wire!(self => self.{elements, check}; clock);
        self.whole_address.next = bit_cast::<9, 8>(self.address.q.val());
        self.read_address.next = self.whole_address.val().replace_bit(8, self.ring.q.val());
        self.count.next = self.head.q.val().get_bits::<4>(16);

        // Which ring: control first.
        self.control_ready.next = self.control_buffered.val().any()
            & (bit_cast::<8, 4>(self.control_need.q.val()) <= self.control_buffered.val());
        self.bulk_ready.next = self.bulk_buffered.val().any()
            & (bit_cast::<8, 4>(self.bulk_need.q.val()) <= self.bulk_buffered.val());
        self.slot.next = self.bulk_slot.val();
        if self.control_ready.val() {
            self.slot.next = self.control_slot.val();
        }
        self.first_address.next = bit_cast::<8, 7>(self.slot.val()) << 1;
        self.buffered.next = self.control_buffered.val();
        self.is_control_settling.d.next = self.control_settles.val();
        self.is_bulk_settling.d.next = self.bulk_settles.val();
        self.settles.next = self.is_control_settling.q.val();
        if self.ring.q.val() {
            self.buffered.next = self.bulk_buffered.val();
            self.settles.next = self.is_bulk_settling.q.val();
        }
        self.control_deciding.next = ((self.state.q.val() != HeadState::Idle) & !self.ring.q.val())
            | self.control_ready.val();
        self.bulk_deciding.next =
            ((self.state.q.val() != HeadState::Idle) & self.ring.q.val()) | self.bulk_ready.val();

        // Elements come one a cycle, and are added up and kept.
        self.length.next = self.piece.val().get_bits::<16>(64);
        self.element.next.address = self.piece.val().get_bits::<64>(0);
        self.element.next.octets = self.piece.val().get_bits::<14>(64);
        self.elements.write_enable.next = self.state.q.val() == HeadState::Elements;
        self.elements.write_address.next = self.index.q.val();
        self.elements.write_data.next = self.element.val();
        self.elements.read_address.next = self.index.q.val();
        self.index_next.next = self.index.q.val() + self.one.val();
        self.is_last.next = self.index_next.val() == self.count.val();

        self.check.head.next = self.head.q.val();
        self.check.total.next = self.total.q.val();
        self.check.is_empty.next = self.is_empty.q.val();
        self.check.seen.next = self.seen.q.val();
        self.fits.d.next = self.check.need.val() <= self.free.val();
        self.has_room.d.next = self.job_room.val();

        // The job, and the command at hand.
        self.job.next.ring = self.ring.q.val();
        self.job.next.units = self.check.units.val();
        self.job.next.refused = self.check.refused.val();
        self.job.next.octets = self.head.q.val().get_bits::<14>(0);
        self.job.next.has_checksum = self.head.q.val().get_bit(20);
        self.job.next.sum_start = self.head.q.val().get_bits::<14>(32);
        self.job.next.checksum_place = self.head.q.val().get_bits::<14>(48);
        self.job.next.has_crc = self.head.q.val().get_bit(21);
        self.job.next.crc_first = self.head.q.val().get_bits::<14>(64);
        self.job.next.crc_place = self.check.crc_place.val();
        self.take_units.next = self.check.units.val();
        self.command.next.address = self.elements.read_data.val().address;
        self.command.next.octets = self.elements.read_data.val().octets;
        self.command.next.more = !self.is_last.val();
        self.command.next.cookie = 0.into();
        self.command_valid.next = self.state.q.val() == HeadState::Issue;

        self.address.d.next = self.address.q.val() + self.one_half.val();
        self.takes.next = false;
        self.reserve.next = 0.into();
        self.yields.next = self.ring.q.val() & self.control_ready.val();
        match self.state.q.val() {
            HeadState::Idle => {
                self.ring.d.next = !self.control_ready.val();
                self.address.d.next = self.first_address.val();
                self.second.d.next = false;
                if self.control_ready.val() | self.bulk_ready.val() {
                    self.state.d.next = HeadState::Fetch;
                }
            }
            // Two cycles until the head is here; the elements begin one unit after it.
            HeadState::Fetch => {
                self.seen.d.next = self.buffered.val();
                self.second.d.next = true;
                if !self.second.q.val() {
                    self.address.d.next = self.address.q.val() + self.one_unit.val();
                }
                if self.second.q.val() {
                    self.state.d.next = HeadState::Head;
                }
            }
            HeadState::Head => {
                self.head.d.next = self.piece.val();
                self.index.d.next = 0.into();
                self.total.d.next = 0.into();
                self.is_empty.d.next = false;
                self.state.d.next = HeadState::Elements;
            }
            HeadState::Elements => {
                self.index.d.next = self.index_next.val();
                self.total.d.next = self.total.q.val() + bit_cast::<19, 16>(self.length.val());
                self.is_empty.d.next = self.is_empty.q.val() | !self.length.val().any();
                if self.is_last.val() | !self.count.val().any() {
                    self.state.d.next = HeadState::Check;
                }
            }
            HeadState::Check => {
                self.index.d.next = 0.into();
                self.state.d.next = HeadState::Decide;
            }
            HeadState::Decide => {
                if self.settles.val() | self.yields.val() {
                    self.state.d.next = HeadState::Idle;
                }
                if self.check.is_short.val() {
                    self.state.d.next = HeadState::Idle;
                } else if !self.settles.val() & self.has_room.q.val() {
                    if self.check.refused.val() {
                        self.takes.next = true;
                        self.state.d.next = HeadState::Idle;
                    } else if self.fits.q.val() {
                        self.takes.next = true;
                        self.reserve.next = self.check.need.val();
                        self.state.d.next = HeadState::Issue;
                    }
                }
            }
            HeadState::Issue => {
                if self.command_ready.val() {
                    self.index.d.next = self.index_next.val();
                    if self.is_last.val() {
                        self.state.d.next = HeadState::Idle;
                    }
                }
            }
            _ => {}
        }
        self.job_valid.next = self.takes.val();
        self.control_take.next = self.takes.val() & !self.ring.q.val();
        self.bulk_take.next = self.takes.val() & self.ring.q.val();

        // A frame whose units are not all here is examined again when they are.
        if (self.state.q.val() == HeadState::Decide) & self.check.is_short.val() {
            if self.ring.q.val() {
                self.bulk_need.d.next = self.check.units.val();
            } else {
                self.control_need.d.next = self.check.units.val();
            }
        }
        if (self.takes.val() & !self.ring.q.val()) | self.is_control_settling.q.val() {
            self.control_need.d.next = 1.into();
        }
        if (self.takes.val() & self.ring.q.val()) | self.is_bulk_settling.q.val() {
            self.bulk_need.d.next = 1.into();
        }
        if self.reset.val() {
            self.state.d.next = HeadState::Idle;
            self.control_need.d.next = 1.into();
            self.bulk_need.d.next = 1.into();
        }
    }
}

#[cfg(test)]
mod tests;
