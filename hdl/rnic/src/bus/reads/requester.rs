//! Requester: cuts commands into memory read requests, one tag each.
//!
//! ```text
//!              line (128, 256 or 512 octets)
//!   |--------------|--------------|--------------|
//!          [ first    requests, one per line  last ]
//!
//! command --> [FIFO 16] --> Idle --> Cut --> Form --> Send --> request_header
//!                            ^        ^    a tag,       | issue, span, part
//!                            |        |    room         |
//!                            +--------+-----------------+
//! ```
//!
//! | latency    | 4 cycles, `command_valid` to `request_valid`                                |
//! | throughput | a request in 3 cycles, and 1 more for each command                          |
//! | units      | octets; lines of the maximum read request size, at most 512 octets          |
//! | source     | PCI Express Base Specification, sections 2.2.5, 2.2.7 and 7.5.3.4           |
//!
//! A request stays inside of one line, so it never crosses 4 KiB, never asks for more than the
//! maximum, and lies in one tag's place at its address modulo 512: completions are cut at multiples
//! of 64 octets of that address (section 2.3.1.1), which are whole words of the store.
//!
//! A tag is taken in the cycle in which the request leaves, so the time-out never runs for a
//! request that waits for credits. A command that cannot be read ends in one refused part; what was
//! read of it before is dropped with it.
use super::types::*;
use crate::bus::pcie::MemoryHeader;
use crate::common::fifo::Fifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Fmt and Type of a memory read with three header doublewords (address below 4 GiB).
pub const MEMORY_READ_3: u64 = 0x00;
/// Fmt and Type of a memory read with four header doublewords.
pub const MEMORY_READ_4: u64 = 0x20;

/// State of the command at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum RequesterState {
    Idle,
    Cut,
    Form,
    Send,
}

/// Requester.
#[derive(LogicBlock, Init)]
pub struct Requester {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// Maximum read request size: 128 octets shifted left by this. 6 and 7 (reserved) mean 128.
    pub max_read_request: Signal<In, Bits<3>>,
    /// No request may begin; one that is on offer stays.
    pub hold: Signal<In, Bit>,
    pub command: Signal<In, ReadCommand>,
    pub command_valid: Signal<In, Bit>,
    pub command_ready: Signal<Out, Bit>,
    /// Header of a memory read: see [`crate::bus::pcie`].
    pub request_header: Signal<Out, Bits<128>>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    /// The tag that `issue` takes; stable until then.
    pub free_tag: Signal<In, Bits<6>>,
    pub free_valid: Signal<In, Bit>,
    /// No tag has become free for the length of a time-out.
    pub starved: Signal<In, Bit>,
    /// The request leaves in this cycle, under `free_tag`.
    pub issue: Signal<Out, Bit>,
    /// With `issue`: its octets.
    pub span: Signal<Out, ReadSpan>,
    /// Ticks counted so far.
    pub now: Signal<In, Bits<16>>,
    /// With `part_valid`, one cycle; only after `part_room`.
    pub part: Signal<Out, ReadPart>,
    pub part_valid: Signal<Out, Bit>,
    /// The walker has room for a part.
    pub part_room: Signal<In, Bit>,
    commands: Fifo<ReadCommand, 4, 5>,
    // There was room for two commands in the cycle before, so there is for one.
    has_room: DFF<Bit>,
    state: DFF<RequesterState>,
    // Address of the next octet: its 128-octet unit, with a carry, and the octet in it.
    unit: DFF<Bits<58>>,
    low: DFF<Bits<7>>,
    // Octets of the command from there on, less one.
    rest: DFF<Bits<14>>,
    empty: DFF<Bit>,
    more: DFF<Bit>,
    cookie: DFF<Bits<8>>,
    first: DFF<Bits<9>>,
    last: DFF<Bits<9>>,
    is_last: DFF<Bit>,
    step: DFF<Bits<14>>,
    header: DFF<Bits<128>>,
    // Octets of a line less one, and its units less one.
    line_mask: DFF<Bits<9>>,
    unit_mask: DFF<Bits<58>>,
    address: Signal<Local, Bits<64>>,
    position: Signal<Local, Bits<9>>,
    room: Signal<Local, Bits<9>>,
    wide_room: Signal<Local, Bits<14>>,
    short_rest: Signal<Local, Bits<9>>,
    refuses: Signal<Local, Bit>,
    form: ReadHeader,
    #[constant(1)]
    one: Constant<Bits<14>>,
    #[constant(1)]
    one_unit: Constant<Bits<58>>,
}

impl Logic for Requester {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; has_room, state, unit, low, rest, empty, more, cookie);
        registers!(clock; first, last, is_last, step, header, line_mask, unit_mask);
        wire!(self => self.commands; clock, reset, command as data_in);
        self.has_room.d.next = !self.commands.almost_full.val();
        self.command_ready.next = self.has_room.q.val();
        self.commands.write.next = self.command_valid.val() & self.has_room.q.val();
        self.commands.read.next = self.state.q.val() == RequesterState::Idle;
        self.address.next = self.commands.data_out.val().address;

        // Sizes of a line. `max_read_request` changes only while nothing moves.
        self.line_mask.d.next = 0x7f.into();
        self.unit_mask.d.next = 0.into();
        if self.max_read_request.val() == 1 {
            self.line_mask.d.next = 0xff.into();
            self.unit_mask.d.next = 1.into();
        } else if (self.max_read_request.val() >= 2) & (self.max_read_request.val() < 6) {
            self.line_mask.d.next = 0x1ff.into();
            self.unit_mask.d.next = 3.into();
        }

        // Octets after the next one in its line.
        self.position.next = (bit_cast::<9, 2>(self.unit.q.val().get_bits::<2>(0)) << 7)
            | bit_cast::<9, 7>(self.low.q.val());
        self.room.next = !self.position.val() & self.line_mask.q.val();
        self.wide_room.next = bit_cast::<14, 9>(self.room.val());
        self.short_rest.next = self.rest.q.val().get_bits::<9>(0);

        self.form.unit.next = self.unit.q.val().get_bits::<57>(0);
        self.form.low.next = self.low.q.val();
        self.form.first.next = self.first.q.val();
        self.form.last.next = self.last.q.val();
        self.form.tag.next = self.free_tag.val();
        self.form.device_id.next = self.device_id.val();
        self.refuses.next = self.empty.q.val()
            | self.unit.q.val().get_bit(57)
            | (self.starved.val() & !self.free_valid.val());

        self.request_header.next = self.header.q.val();
        self.request_valid.next = self.state.q.val() == RequesterState::Send;
        self.issue.next = false;
        self.span.next.first = self.first.q.val();
        self.span.next.last = self.last.q.val();
        self.part_valid.next = false;
        self.part.next.tag = self.free_tag.val();
        self.part.next.issued = self.now.val();
        self.part.next.first = self.first.q.val();
        self.part.next.last = self.last.q.val();
        self.part.next.refused = false;
        self.part.next.ends = self.is_last.q.val() & !self.more.q.val();
        self.part.next.cookie = self.cookie.q.val();
        match self.state.q.val() {
            // Waits for a command.
            RequesterState::Idle => {
                self.unit.d.next = bit_cast::<58, 57>(self.address.val().get_bits::<57>(7));
                self.low.d.next = self.address.val().get_bits::<7>(0);
                self.rest.d.next = self.commands.data_out.val().octets - self.one.val();
                self.empty.d.next = self.commands.data_out.val().octets == 0;
                self.more.d.next = self.commands.data_out.val().more;
                self.cookie.d.next = self.commands.data_out.val().cookie;
                if !self.commands.empty.val() {
                    self.state.d.next = RequesterState::Cut;
                }
            }
            // One cycle: where does the request end?
            RequesterState::Cut => {
                self.first.d.next = self.position.val();
                self.last.d.next = self.position.val() | self.line_mask.q.val();
                self.is_last.d.next = false;
                if self.rest.q.val() <= self.wide_room.val() {
                    self.last.d.next = self.position.val() + self.short_rest.val();
                    self.is_last.d.next = true;
                }
                self.step.d.next = self.wide_room.val() + self.one.val();
                self.state.d.next = RequesterState::Form;
            }
            // Waits for room and a tag.
            RequesterState::Form => {
                self.header.d.next = self.form.header.val();
                if self.part_room.val() {
                    if self.refuses.val() {
                        self.part_valid.next = true;
                        self.part.next.refused = true;
                        self.part.next.ends = !self.more.q.val();
                        self.state.d.next = RequesterState::Idle;
                    } else if self.free_valid.val() & !self.hold.val() {
                        self.state.d.next = RequesterState::Send;
                    }
                }
            }
            // Waits until the request is taken.
            RequesterState::Send => {
                if self.request_ready.val() {
                    self.issue.next = true;
                    self.part_valid.next = true;
                    self.unit.d.next =
                        (self.unit.q.val() | self.unit_mask.q.val()) + self.one_unit.val();
                    self.low.d.next = 0.into();
                    self.rest.d.next = self.rest.q.val() - self.step.q.val();
                    self.state.d.next = RequesterState::Cut;
                    if self.is_last.q.val() {
                        self.state.d.next = RequesterState::Idle;
                    }
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = RequesterState::Idle;
        }
    }
}

/// Builds the header of a memory read. Combinational.
///
/// Three doublewords below 4 GiB, four above (section 2.2.4.1). Enabled are the octets from the
/// first to the last one; a single doubleword has its enables in the first field (section 2.2.5).
#[derive(LogicBlock, Init)]
pub struct ReadHeader {
    /// Bus address of the first octet: its 128-octet unit, and the octet in it.
    pub unit: Signal<In, Bits<57>>,
    pub low: Signal<In, Bits<7>>,
    /// As in [`ReadSpan`].
    pub first: Signal<In, Bits<9>>,
    pub last: Signal<In, Bits<9>>,
    pub tag: Signal<In, Bits<6>>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    pub header: Signal<Out, Bits<128>>,
    fields: Signal<Local, MemoryHeader>,
    within_first: Signal<Local, Bits<2>>,
    within_last: Signal<Local, Bits<2>>,
    first_mask: Signal<Local, Bits<4>>,
    last_mask: Signal<Local, Bits<4>>,
    more_dwords: Signal<Local, Bits<10>>,
    place: Signal<Local, Bits<64>>,
    high: Signal<Local, Bits<32>>,
    base: Signal<Local, Bits<32>>,
    #[constant(1)]
    one: Constant<Bits<10>>,
    #[constant(MEMORY_READ_3)]
    short_form: Constant<Bits<8>>,
    #[constant(MEMORY_READ_4)]
    long_form: Constant<Bits<8>>,
}

impl Logic for ReadHeader {
    #[kernel]
    fn update(&mut self) {
        self.within_first.next = self.first.val().get_bits::<2>(0);
        self.within_last.next = self.last.val().get_bits::<2>(0);
        match self.within_first.val().index() {
            0 => self.first_mask.next = 15.into(),
            1 => self.first_mask.next = 14.into(),
            2 => self.first_mask.next = 12.into(),
            _ => self.first_mask.next = 8.into(),
        }
        match self.within_last.val().index() {
            0 => self.last_mask.next = 1.into(),
            1 => self.last_mask.next = 3.into(),
            2 => self.last_mask.next = 7.into(),
            _ => self.last_mask.next = 15.into(),
        }
        self.more_dwords.next = bit_cast::<10, 7>(self.last.val().get_bits::<7>(2))
            - bit_cast::<10, 7>(self.first.val().get_bits::<7>(2));
        self.place.next =
            (bit_cast::<64, 57>(self.unit.val()) << 7) | bit_cast::<64, 7>(self.low.val());
        self.high.next = self.place.val().get_bits::<32>(32);
        self.base.next = self
            .place
            .val()
            .get_bits::<32>(0)
            .replace_bit(0, false)
            .replace_bit(1, false);
        self.fields.next.length = self.more_dwords.val() + self.one.val();
        self.fields.next.attributes = 0.into();
        self.fields.next.first_be = self.first_mask.val();
        self.fields.next.last_be = self.last_mask.val();
        if !self.more_dwords.val().any() {
            self.fields.next.first_be = self.first_mask.val() & self.last_mask.val();
            self.fields.next.last_be = 0.into();
        }
        self.fields.next.tag = bit_cast::<8, 6>(self.tag.val());
        self.fields.next.requester = self.device_id.val();
        self.fields.next.format = self.short_form.val();
        self.fields.next.dword_2 = self.base.val();
        self.fields.next.dword_3 = 0.into();
        if self.high.val().any() {
            self.fields.next.format = self.long_form.val();
            self.fields.next.dword_2 = self.high.val();
            self.fields.next.dword_3 = self.base.val();
        }
        self.header.next = self.fields.val().into();
    }
}

#[cfg(test)]
mod tests;
