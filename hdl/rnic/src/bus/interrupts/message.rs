//! Sends the message of a vector: a memory write of one doubleword.
//!
//! ```text
//! Idle --(chosen)--> Low --> High --> Data --> Head --> Send --> Idle
//!                     \------ entry_data -----/
//! ```
//!
//! | latency    | 5 cycles, `chosen_valid` to the message on offer                 |
//! | throughput | a message in 6 cycles                                            |
//! | source     | PCI Express Base Specification, sections 6.1.4, 7.7.2            |
use crate::bus::pcie::WriteHeader;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// State of the message at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum MessageState {
    /// Waits for a vector.
    Idle,
    /// Reads the low half of the address.
    Low,
    /// Reads its high half.
    High,
    /// Reads the data.
    Data,
    /// One cycle for the header.
    Head,
    /// Waits for the mux to take the message.
    Send,
}

/// Message writer of width `D`, `L = D / 32`.
#[derive(LogicBlock, Init)]
pub struct MessageWriter<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; drops the message at hand.
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// The vector whose message is due; `take` for one cycle begins it.
    pub chosen: Signal<In, Bits<3>>,
    pub chosen_valid: Signal<In, Bit>,
    pub take: Signal<Out, Bit>,
    /// Doubleword of the table to read, and what it is in the same cycle.
    pub entry_address: Signal<Out, Bits<5>>,
    pub entry_data: Signal<In, Bits<32>>,
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    write_header: WriteHeader,
    state: DFF<MessageState>,
    vector: DFF<Bits<3>>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    data: DFF<Bits<32>>,
    header: DFF<Bits<128>>,
    word: Signal<Local, Bits<5>>,
}

impl<const D: usize, const L: usize> Logic for MessageWriter<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, vector, low, high, data, header);
        self.word.next = 0.into();
        if self.state.q.val() == MessageState::High {
            self.word.next = 1.into();
        }
        if self.state.q.val() == MessageState::Data {
            self.word.next = 2.into();
        }
        self.entry_address.next = (bit_cast::<5, 3>(self.vector.q.val()) << 2) | self.word.val();
        self.write_header.address.next =
            bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        self.write_header.device_id.next = self.device_id.val();
        self.write_header.length.next = 1.into();
        self.write_header.first_be.next = 15.into();
        self.write_header.last_be.next = 0.into();
        self.tlp_data.next = bit_cast::<D, 32>(self.data.q.val());
        self.tlp_keep.next = 1.into();
        self.tlp_last.next = true;
        self.tlp_valid.next = self.state.q.val() == MessageState::Send;
        self.tlp_header.next = self.header.q.val();
        self.take.next = false;
        match self.state.q.val() {
            MessageState::Idle => {
                self.vector.d.next = self.chosen.val();
                if self.chosen_valid.val() {
                    self.take.next = true;
                    self.state.d.next = MessageState::Low;
                }
            }
            MessageState::Low => {
                self.low.d.next = self.entry_data.val();
                self.state.d.next = MessageState::High;
            }
            MessageState::High => {
                self.high.d.next = self.entry_data.val();
                self.state.d.next = MessageState::Data;
            }
            MessageState::Data => {
                self.data.d.next = self.entry_data.val();
                self.state.d.next = MessageState::Head;
            }
            MessageState::Head => {
                self.header.d.next = self.write_header.header.val();
                self.state.d.next = MessageState::Send;
            }
            MessageState::Send => {
                if self.tlp_ready.val() {
                    self.state.d.next = MessageState::Idle;
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = MessageState::Idle;
        }
    }
}
