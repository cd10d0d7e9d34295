//! What a frame is before its connection's context counts.
//!
//! | latency    | 1 cycle, `classify` to all that leaves, which holds                           |
//! | throughput | one frame per cycle                                                         |
//! | units      | octets                                                                      |
//!
//! The tests come in the order of the room's door ([`super`]).
use super::accept::{COUNTS, COUNT_CHECKSUM, COUNT_CONTROL, COUNT_PURE_ACK};
use super::records::WaitingFrame;
use crate::messages::VERDICT_TCP;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The first rows of the acceptance table.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FrameClass {
    /// Not TCP, or of no connection.
    Foreign,
    /// TCP checksum wrong.
    BadChecksum,
    /// SYN, RST, URG, or FIN without payload.
    Control,
    /// No payload.
    PureAck,
    /// Payload.
    Data,
}

/// Finds the class of one frame.
#[derive(LogicBlock, Init)]
#[init(
    let pulse = |bit: usize| Constant::new((1 as LiteralType).wrapping_shl(bit as u32).into());
)]
pub struct FrameClassifier {
    pub clock: Signal<In, Clock>,
    pub frame: Signal<In, WaitingFrame>,
    /// A connection has its key.
    pub connected: Signal<In, Bit>,
    /// Take both.
    pub classify: Signal<In, Bit>,
    /// It is `Data`.
    pub is_data: Signal<Out, Bit>,
    /// Its SEG.ACK and SEG.WND are kept: it is `Data` or `PureAck`.
    pub is_kept: Signal<Out, Bit>,
    /// It goes to the host.
    pub to_host: Signal<Out, Bit>,
    /// What it counts as, but for data: see `accept::COUNT_CHECKSUM` and the following.
    pub counts: Signal<Out, Bits<COUNTS>>,
    found: DFF<FrameClass>,
    data: DFF<Bit>,
    flags: Signal<Local, Bits<6>>,
    empty: Signal<Local, Bit>,
    #[constant(VERDICT_TCP)]
    verdict_tcp: Constant<Bits<2>>,
    #[init(pulse(COUNT_CHECKSUM))]
    count_checksum: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_PURE_ACK))]
    count_pure_ack: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_CONTROL))]
    count_control: Constant<Bits<COUNTS>>,
}

impl Logic for FrameClassifier {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; found, data);
        self.flags.next = self.frame.val().flags;
        self.empty.next = self.frame.val().payload_octets == 0;
        self.is_data.next = self.data.q.val();
        self.is_kept.next = self.data.q.val() | (self.found.q.val() == FrameClass::PureAck);
        self.to_host.next = (self.found.q.val() == FrameClass::Foreign)
            | (self.found.q.val() == FrameClass::Control);
        self.counts.next = 0.into();
        match self.found.q.val() {
            FrameClass::BadChecksum => self.counts.next = self.count_checksum.val(),
            FrameClass::Control => self.counts.next = self.count_control.val(),
            FrameClass::PureAck => self.counts.next = self.count_pure_ack.val(),
            _ => {}
        }
        if self.classify.val() {
            self.data.d.next = false;
            if (self.frame.val().verdict != self.verdict_tcp.val()) | !self.connected.val() {
                self.found.d.next = FrameClass::Foreign;
            } else if !self.frame.val().checksum_good {
                self.found.d.next = FrameClass::BadChecksum;
            } else if self.flags.val().get_bit(1)
                | self.flags.val().get_bit(2)
                | self.flags.val().get_bit(5)
                | (self.flags.val().get_bit(0) & self.empty.val())
            {
                self.found.d.next = FrameClass::Control;
            } else if self.empty.val() {
                self.found.d.next = FrameClass::PureAck;
            } else {
                self.found.d.next = FrameClass::Data;
                self.data.d.next = true;
            }
        }
    }
}

#[cfg(test)]
mod tests;
