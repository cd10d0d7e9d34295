//! The player of the self-test: steps through the script, word by word.
//!
//! ```text
//!            +--> Offer (request) --+
//! Fetch 3 --> Execute --> Wait -----+--> next word
//!            +--> Write (report) ---+
//!            +--> Reset (core) -----+
//!            +--> Done
//! ```
//!
//! | latency | [`WORD_CYCLES`](crate::script::WORD_CYCLES) a word, and what it waits for |
//! | units   | words of [`crate::script`], which says what each one means                |
use crate::script::{ADDRESS_BITS, RESET_CYCLES, TIMEOUT_CYCLES, WORD_BITS};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What the player is at.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PlayerState {
    /// The address is at the memory.
    Fetch,
    /// Nothing yet.
    Fetch2,
    /// Nothing yet.
    Fetch3,
    /// The word is there.
    Execute,
    /// A request is offered.
    Offer,
    /// The core has not sent enough.
    Count,
    /// It has; cycles beyond that.
    Delay,
    /// The core is in reset.
    Reset,
    /// The report is written.
    Write,
    /// The script has ended.
    Done,
}

/// Player of the script.
#[derive(LogicBlock, Init)]
pub struct Player {
    pub clock: Signal<In, Clock>,
    /// Power-up, or the self-test runs again: from the first word on.
    pub reset: Signal<In, Bit>,
    pub address: Signal<Out, Bits<ADDRESS_BITS>>,
    /// The word addressed two cycles ago.
    pub word: Signal<In, Bits<WORD_BITS>>,
    /// To the core.
    pub core_reset: Signal<Out, Bit>,
    pub header: Signal<Out, Bits<128>>,
    pub data: Signal<Out, Bits<128>>,
    pub frame_data: Signal<Out, Bits<64>>,
    pub last: Signal<Out, Bit>,
    pub keep: Signal<Out, Bits<4>>,
    pub octets: Signal<Out, Bits<7>>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub frame_valid: Signal<Out, Bit>,
    /// A bit of the first frame's last beat, or of the first signature that is expected, is wrong:
    /// the self-test must fail.
    pub spoil_frame: Signal<In, Bit>,
    pub spoil_signature: Signal<In, Bit>,
    /// What the core has sent, and its signatures.
    pub tlps: Signal<In, Bits<16>>,
    pub reads: Signal<In, Bits<16>>,
    pub tlps_signature: Signal<In, Bits<32>>,
    pub reads_signature: Signal<In, Bits<32>>,
    pub answer: Signal<In, Bits<32>>,
    /// To the report.
    pub report_word: Signal<Out, Bits<64>>,
    pub report_is_value: Signal<Out, Bit>,
    pub report_write: Signal<Out, Bit>,
    pub report_busy: Signal<In, Bit>,
    /// The script has ended.
    pub done: Signal<Out, Bit>,
    /// Every expectation so far has held.
    pub good: Signal<Out, Bit>,
    /// Those of the last four scenes, the last one in bit 0.
    pub scenes: Signal<Out, Bits<4>>,
    state: DFF<PlayerState>,
    place: DFF<Bits<ADDRESS_BITS>>,
    header_low: DFF<Bits<64>>,
    header_high: DFF<Bits<64>>,
    payload_high: DFF<Bits<64>>,
    cycles: DFF<Bits<32>>,
    all_held: DFF<Bit>,
    // The core has not sent in time what a word of this scene waited for.
    late: DFF<Bit>,
    // No frame has ended yet, and nothing was expected.
    first_frame: DFF<Bit>,
    first_expect: DFF<Bit>,
    held: DFF<Bits<4>>,
    operation: Signal<Local, Bits<4>>,
    flags: Signal<Local, Bits<4>>,
    low: Signal<Local, Bits<64>>,
    dwords: Signal<Local, Bits<3>>,
    expected: Signal<Local, Bits<64>>,
    holds: Signal<Local, Bit>,
    says: Signal<Local, Bit>,
    next: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<ADDRESS_BITS>>,
    #[constant(1)]
    one_cycle: Constant<Bits<32>>,
    #[constant(1)]
    one_bit: Constant<Bits<64>>,
    #[constant(1)]
    one_octet: Constant<Bits<7>>,
    #[constant(RESET_CYCLES as u64 - 1)]
    reset_last: Constant<Bits<32>>,
    #[constant(TIMEOUT_CYCLES as u64 - 1)]
    timeout_last: Constant<Bits<32>>,
}

impl Logic for Player {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, place, header_low, header_high, payload_high);
        registers!(clock; cycles, all_held, late, held, first_frame, first_expect);
        self.operation.next = self.word.val().get_bits::<4>(64);
        self.flags.next = self.word.val().get_bits::<4>(68);
        self.low.next = self.word.val().get_bits::<64>(0);
        self.address.next = self.place.q.val();

        // To the core.
        self.header.next = bit_cast::<128, 64>(self.header_low.q.val())
            | (bit_cast::<128, 64>(self.header_high.q.val()) << 64);
        self.data.next = bit_cast::<128, 64>(self.low.val())
            | (bit_cast::<128, 64>(self.payload_high.q.val()) << 64);
        self.last.next = self.flags.val().get_bit(3);
        self.frame_data.next = self.low.val();
        if self.spoil_frame.val() & self.first_frame.q.val() & self.flags.val().get_bit(3) {
            self.frame_data.next = self.low.val() ^ self.one_bit.val();
        }
        self.dwords.next = self.flags.val().get_bits::<3>(0);
        self.octets.next = bit_cast::<7, 3>(self.dwords.val()) + self.one_octet.val();
        self.keep.next = 0.into();
        match self.dwords.val().index() {
            1 => self.keep.next = 1.into(),
            2 => self.keep.next = 3.into(),
            3 => self.keep.next = 7.into(),
            4 => self.keep.next = 15.into(),
            _ => {}
        }
        self.request_valid.next = self.state.q.val() == PlayerState::Offer;
        self.completion_valid.next = false;
        self.frame_valid.next = false;
        self.core_reset.next = self.state.q.val() == PlayerState::Reset;

        // To the report.
        self.report_word.next = self.low.val();
        self.report_is_value.next = false;
        self.report_write.next = false;
        self.says.next = true;
        match self.flags.val().index() {
            1 => self.says.next = self.held.q.val().get_bit(0),
            2 => self.says.next = !self.held.q.val().get_bit(0),
            3 => self.says.next = self.all_held.q.val(),
            4 => self.says.next = !self.all_held.q.val(),
            _ => {}
        }
        self.done.next = self.state.q.val() == PlayerState::Done;
        self.good.next = self.all_held.q.val();
        self.scenes.next = self.held.q.val();
        self.expected.next = self.low.val();
        if self.spoil_signature.val() & self.first_expect.q.val() {
            self.expected.next = self.low.val() ^ self.one_bit.val();
        }
        self.holds.next = (self.expected.val().get_bits::<32>(0) == self.tlps_signature.val())
            & (self.expected.val().get_bits::<32>(32) == self.reads_signature.val())
            & !self.late.q.val();

        self.next.next = false;
        match self.state.q.val() {
            PlayerState::Fetch => {
                self.state.d.next = PlayerState::Fetch2;
            }
            PlayerState::Fetch2 => {
                self.state.d.next = PlayerState::Fetch3;
            }
            PlayerState::Fetch3 => {
                self.state.d.next = PlayerState::Execute;
            }
            PlayerState::Execute => {
                self.cycles.d.next = 0.into();
                // Operations of `crate::script::operation`; the dialect wants them as numbers.
                match self.operation.val().index() {
                    0 => self.state.d.next = PlayerState::Done,
                    1 => {
                        self.header_low.d.next = self.low.val();
                        self.next.next = true;
                    }
                    2 => {
                        self.header_high.d.next = self.low.val();
                        self.next.next = true;
                    }
                    3 => {
                        self.payload_high.d.next = self.low.val();
                        self.next.next = true;
                    }
                    4 => self.state.d.next = PlayerState::Offer,
                    5 => {
                        self.completion_valid.next = true;
                        self.next.next = true;
                    }
                    6 => {
                        self.frame_valid.next = true;
                        if self.flags.val().get_bit(3) {
                            self.first_frame.d.next = false;
                        }
                        self.next.next = true;
                    }
                    7 => self.state.d.next = PlayerState::Count,
                    8 => {
                        self.late.d.next = false;
                        self.state.d.next = PlayerState::Reset;
                    }
                    9 => {
                        self.first_expect.d.next = false;
                        self.held.d.next = self.held.q.val() << 1;
                        if self.holds.val() {
                            self.held.d.next = (self.held.q.val() << 1) | 1;
                        } else {
                            self.all_held.d.next = false;
                        }
                        self.next.next = true;
                    }
                    10 => {
                        self.report_write.next = self.says.val();
                        self.state.d.next = PlayerState::Write;
                    }
                    11 => {
                        self.report_word.next = bit_cast::<64, 32>(self.answer.val());
                        match self.flags.val().index() {
                            1 => {
                                self.report_word.next =
                                    bit_cast::<64, 32>(self.tlps_signature.val())
                            }
                            2 => {
                                self.report_word.next =
                                    bit_cast::<64, 32>(self.reads_signature.val())
                            }
                            _ => {}
                        }
                        self.report_is_value.next = true;
                        self.report_write.next = true;
                        self.state.d.next = PlayerState::Write;
                    }
                    _ => self.next.next = true,
                }
            }
            PlayerState::Offer => {
                self.next.next = self.request_ready.val();
            }
            PlayerState::Count => {
                self.cycles.d.next = self.cycles.q.val() + self.one_cycle.val();
                if ((self.tlps.val() >= self.low.val().get_bits::<16>(48))
                    & (self.reads.val() >= self.low.val().get_bits::<16>(32)))
                    | self.late.q.val()
                {
                    self.cycles.d.next = 0.into();
                    self.state.d.next = PlayerState::Delay;
                } else if self.cycles.q.val() == self.timeout_last.val() {
                    self.late.d.next = true;
                    self.all_held.d.next = false;
                }
            }
            PlayerState::Delay => {
                self.cycles.d.next = self.cycles.q.val() + self.one_cycle.val();
                self.next.next = self.cycles.q.val() == self.low.val().get_bits::<32>(0);
            }
            PlayerState::Reset => {
                self.cycles.d.next = self.cycles.q.val() + self.one_cycle.val();
                self.next.next = self.cycles.q.val() == self.reset_last.val();
            }
            PlayerState::Write => {
                self.next.next = !self.report_busy.val();
            }
            PlayerState::Done => {}
            _ => {}
        }
        if self.next.val() {
            self.place.d.next = self.place.q.val() + self.one.val();
            self.state.d.next = PlayerState::Fetch;
        }
        if self.reset.val() {
            self.place.d.next = 0.into();
            self.all_held.d.next = true;
            self.first_frame.d.next = true;
            self.first_expect.d.next = true;
            self.held.d.next = 0.into();
            self.state.d.next = PlayerState::Fetch;
        }
    }
}

#[cfg(test)]
mod tests;
