//! Writer: advances the heads of the rings, and writes statuses and reports to software.
//!
//! ```text
//! frame_end --> Idle --(no status)--------------------------------> Passes   due: report of a ring
//!                |                                                   ^              |
//!                +--(status)--> Low --> High --> Head --> Send ------+              |
//!                +-----------------------------> Head --> Send <--------------------+
//! ```
//!
//! | latency    | 4 cycles from `frame_end_valid` to `tlp_valid` of its status, or of its      |
//! |            | report if it has none                                                        |
//! | throughput | a frame in 2 cycles without status; a report in 3 cycles, a status in 6      |
//! | units      | units of 32 octets                                                           |
//! | source     | `rnic_abi::transmit_ring`                                                    |
//!
//! A head passes a frame with a status when the status has left, so no report passes the frame
//! before. Ends of frames of a ring that settles only count: nothing is written. A ring whose TLP
//! is under way, or whose head is about to pass, is `writing`. All heads pass from a register: much
//! follows from it, far away.
use super::types::*;
use crate::bus::pcie::WriteHeader;
use rnic_abi::transmit_ring as abi;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(abi::UNIT_OCTETS == 32 && abi::STATUS_WORD == 7 && abi::STOPPED == 1);
const _: () = assert!(abi::REPORT_OCTETS == 16 && abi::STATUS_REFUSED == 1);

/// What is written.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum WriterState {
    Idle,
    Low,
    High,
    Head,
    Send,
    Passes,
}

/// A report, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct ReportWords {
    head: Bits<32>,
    given_up: Bits<32>,
    stopped: Bit,
    unused: Bits<31>,
    word_3: Bits<32>,
}

/// Writer of TLPs of `D` bits, `L = D / 32`.
#[derive(LogicBlock, Init)]
pub struct StatusWriter<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// The next frame of its ring is over.
    pub frame_end: Signal<In, FrameEnd>,
    pub frame_end_valid: Signal<In, Bit>,
    pub frame_end_ready: Signal<Out, Bit>,
    // Each ring, as it is.
    pub control_base: Signal<In, Bits<64>>,
    pub control_report: Signal<In, Bits<64>>,
    pub control_set_up: Signal<In, Bit>,
    pub control_units_log2: Signal<In, Bits<5>>,
    pub control_head: Signal<In, Bits<32>>,
    pub control_given_up: Signal<In, Bits<32>>,
    pub control_stopped: Signal<In, Bit>,
    pub control_stops: Signal<In, Bit>,
    pub control_settles: Signal<In, Bit>,
    pub bulk_base: Signal<In, Bits<64>>,
    pub bulk_report: Signal<In, Bits<64>>,
    pub bulk_set_up: Signal<In, Bit>,
    pub bulk_units_log2: Signal<In, Bits<5>>,
    pub bulk_head: Signal<In, Bits<32>>,
    pub bulk_given_up: Signal<In, Bits<32>>,
    pub bulk_stopped: Signal<In, Bit>,
    pub bulk_stops: Signal<In, Bit>,
    pub bulk_settles: Signal<In, Bit>,
    /// A TLP of this ring is under way, or its head is about to pass.
    pub control_writing: Signal<Out, Bit>,
    pub bulk_writing: Signal<Out, Bit>,
    /// One cycle: the head of this ring passes `pass_units`.
    pub control_passes: Signal<Out, Bit>,
    pub bulk_passes: Signal<Out, Bit>,
    pub pass_units: Signal<Out, Bits<4>>,
    /// With it: the frame was given up, ...
    pub gave_up: Signal<Out, Bit>,
    /// ... as its head was refused. One cycle.
    pub refused: Signal<Out, Bit>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    write_header: WriteHeader,
    state: DFF<WriterState>,
    // `Send`: the mux is far away.
    sends: DFF<Bit>,
    is_status: DFF<Bit>,
    ring: DFF<Bit>,
    control_due: DFF<Bit>,
    bulk_due: DFF<Bit>,
    // Bits of a unit's index that count.
    control_mask: DFF<Bits<16>>,
    bulk_mask: DFF<Bits<16>>,
    base: DFF<Bits<64>>,
    offset: DFF<Bits<32>>,
    low_sum: DFF<Bits<33>>,
    address: DFF<Bits<64>>,
    words: DFF<Bits<128>>,
    keep: DFF<Bits<L>>,
    header: DFF<Bits<128>>,
    end_ring: Signal<Local, Bit>,
    end_settles: Signal<Local, Bit>,
    ring_settles: Signal<Local, Bit>,
    has_status: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    passes_control: Signal<Local, Bit>,
    passes_bulk: Signal<Local, Bit>,
    chosen: Signal<Local, Bit>,
    chosen_base: Signal<Local, Bits<64>>,
    chosen_report: Signal<Local, Bits<64>>,
    chosen_head: Signal<Local, Bits<32>>,
    chosen_mask: Signal<Local, Bits<16>>,
    index: Signal<Local, Bits<16>>,
    unit: Signal<Local, Bits<32>>,
    base_low: Signal<Local, Bits<32>>,
    base_high: Signal<Local, Bits<32>>,
    carry: Signal<Local, Bits<32>>,
    high_sum: Signal<Local, Bits<32>>,
    low_word: Signal<Local, Bits<32>>,
    report: Signal<Local, ReportWords>,
    above_control: Signal<Local, Bits<16>>,
    above_bulk: Signal<Local, Bits<16>>,
    #[constant(0xffff)]
    all_units: Constant<Bits<16>>,
    #[constant(4 * abi::STATUS_WORD as LiteralType)]
    status_offset: Constant<Bits<32>>,
}

impl<const D: usize, const L: usize> Logic for StatusWriter<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, sends, is_status, ring, control_due, bulk_due, control_mask);
        registers!(clock; bulk_mask, base, offset, low_sum, address, words, keep, header);
        self.above_control.next = self.all_units.val() << self.control_units_log2.val();
        self.above_bulk.next = self.all_units.val() << self.bulk_units_log2.val();
        if self.control_set_up.val() {
            self.control_mask.d.next = !self.above_control.val();
        }
        if self.bulk_set_up.val() {
            self.bulk_mask.d.next = !self.above_bulk.val();
        }

        // What is next: the end of a frame, or a report, that of the control ring first.
        self.end_ring.next = self.frame_end.val().ring;
        self.end_settles.next = self.control_settles.val();
        if self.end_ring.val() {
            self.end_settles.next = self.bulk_settles.val();
        }
        self.has_status.next = self.frame_end.val().status.any() & !self.end_settles.val();
        // The same of the frame that passes.
        self.ring_settles.next = self.control_settles.val();
        if self.ring.q.val() {
            self.ring_settles.next = self.bulk_settles.val();
        }
        self.chosen.next = !self.control_due.q.val();
        if self.frame_end_valid.val() {
            self.chosen.next = self.end_ring.val();
        }
        self.chosen_base.next = self.control_base.val();
        self.chosen_head.next = self.control_head.val();
        self.chosen_mask.next = self.control_mask.q.val();
        self.chosen_report.next = self.control_report.val();
        self.report.next.head = self.control_head.val();
        self.report.next.given_up = self.control_given_up.val();
        self.report.next.stopped = self.control_stopped.val();
        if self.chosen.val() {
            self.chosen_base.next = self.bulk_base.val();
            self.chosen_head.next = self.bulk_head.val();
            self.chosen_mask.next = self.bulk_mask.q.val();
            self.chosen_report.next = self.bulk_report.val();
            self.report.next.head = self.bulk_head.val();
            self.report.next.given_up = self.bulk_given_up.val();
            self.report.next.stopped = self.bulk_stopped.val();
        }
        self.report.next.unused = 0.into();
        self.report.next.word_3 = 0.into();
        self.index.next = self.chosen_head.val().get_bits::<16>(0);
        self.index.next = self.index.val() & self.chosen_mask.val();
        self.unit.next = bit_cast::<32, 16>(self.index.val()) << 5;

        // Address of a status.
        self.base_low.next = self.base.q.val().get_bits::<32>(0);
        self.base_high.next = self.base.q.val().get_bits::<32>(32);
        self.low_sum.d.next =
            bit_cast::<33, 32>(self.base_low.val()) + bit_cast::<33, 32>(self.offset.q.val());
        self.carry.next = 0.into();
        if self.low_sum.q.val().get_bit(32) {
            self.carry.next = 1.into();
        }
        self.high_sum.next = self.base_high.val() + self.carry.val();
        self.low_word.next = self.low_sum.q.val().get_bits::<32>(0);

        self.write_header.address.next = self.address.q.val();
        self.write_header.device_id.next = self.device_id.val();
        self.write_header.first_be.next = 15.into();
        self.write_header.last_be.next = 15.into();
        self.write_header.length.next = 4.into();
        if self.is_status.q.val() {
            self.write_header.last_be.next = 0.into();
            self.write_header.length.next = 1.into();
        }
        self.tlp_data.next = bit_cast::<D, 128>(self.words.q.val());
        self.tlp_keep.next = self.keep.q.val();
        self.tlp_header.next = self.header.q.val();
        self.tlp_last.next = true;
        self.tlp_valid.next = self.sends.q.val();

        self.passes.next = false;
        self.gives_up.next = false;
        match self.state.q.val() {
            WriterState::Idle => {
                self.ring.d.next = self.chosen.val();
                self.base.d.next = self.chosen_base.val();
                self.address.d.next = self.chosen_report.val();
                self.offset.d.next = self.unit.val() | self.status_offset.val();
                self.is_status.d.next = self.frame_end_valid.val() & self.has_status.val();
                self.words.d.next = self.report.val().into();
                self.keep.d.next = 15.into();
                if self.frame_end_valid.val() {
                    self.words.d.next = bit_cast::<128, 2>(self.frame_end.val().status);
                    self.keep.d.next = 1.into();
                    self.state.d.next = WriterState::Passes;
                    if self.has_status.val() {
                        self.state.d.next = WriterState::Low;
                    }
                } else if self.control_due.q.val() {
                    self.control_due.d.next = false;
                    self.state.d.next = WriterState::Head;
                } else if self.bulk_due.q.val() {
                    self.bulk_due.d.next = false;
                    self.state.d.next = WriterState::Head;
                }
            }
            WriterState::Low => self.state.d.next = WriterState::High,
            WriterState::High => {
                self.address.d.next = bit_cast::<64, 32>(self.low_word.val())
                    | (bit_cast::<64, 32>(self.high_sum.val()) << 32);
                self.state.d.next = WriterState::Head;
            }
            WriterState::Head => {
                self.sends.d.next = true;
                self.state.d.next = WriterState::Send;
            }
            WriterState::Send => {
                if self.tlp_ready.val() {
                    self.sends.d.next = false;
                    self.state.d.next = WriterState::Idle;
                    if self.is_status.q.val() {
                        self.state.d.next = WriterState::Passes;
                    }
                }
            }
            WriterState::Passes => {
                self.passes.next = true;
                self.gives_up.next = self.is_status.q.val() & !self.ring_settles.val();
                self.state.d.next = WriterState::Idle;
            }
            _ => {}
        }
        if self.state.q.val() == WriterState::Head {
            self.header.d.next = self.write_header.header.val();
        }
        self.frame_end_ready.next = self.passes.val();
        self.passes_control.next = self.passes.val() & !self.ring.q.val();
        self.passes_bulk.next = self.passes.val() & self.ring.q.val();
        self.control_passes.next = self.passes_control.val();
        self.bulk_passes.next = self.passes_bulk.val();
        self.pass_units.next = self.frame_end.val().units;
        self.gave_up.next = self.gives_up.val();
        self.refused.next = self.gives_up.val() & (self.frame_end.val().status == 1);
        self.control_writing.next = (self.state.q.val() != WriterState::Idle) & !self.ring.q.val();
        self.bulk_writing.next = (self.state.q.val() != WriterState::Idle) & self.ring.q.val();

        if self.passes_control.val() | self.control_stops.val() {
            self.control_due.d.next = true;
        }
        if self.passes_bulk.val() | self.bulk_stops.val() {
            self.bulk_due.d.next = true;
        }
        if self.control_set_up.val() | self.control_settles.val() {
            self.control_due.d.next = false;
        }
        if self.bulk_set_up.val() | self.bulk_settles.val() {
            self.bulk_due.d.next = false;
        }
        if self.reset.val() {
            self.sends.d.next = false;
            self.state.d.next = WriterState::Idle;
            self.control_due.d.next = false;
            self.bulk_due.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
