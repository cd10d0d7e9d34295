//! The three messages of acceptance, each in its register slice.
//!
//! ```text
//! frame, judged octets --+--> accepted ------> MPA
//! walk, question --------+
//! frame --------------------> host_frame ----> host path
//!       \------------------> page_release --> pool
//! ```
//!
//! | latency    | 1 cycle, a `send_*` to the message's valid                                  |
//! | throughput | one message of each kind per cycle                                          |
//! | units      | octets from the start of the stored frame; page numbers                    |
//!
//! Where there is room for a message there still is in the next cycle, as nobody else sends.
use super::records::WaitingFrame;
use crate::common::skid::Skid;
use crate::messages::{Accepted, HostFrame, PageChain};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Forms the messages and holds them until they are taken.
#[derive(LogicBlock, Default)]
pub struct AcceptanceOutputs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The frame that is decided on.
    pub frame: Signal<In, WaitingFrame>,
    /// Its connection.
    pub connection: Signal<In, Bits<10>>,
    /// The first accepted octet, if they are one run in order.
    pub offset: Signal<In, Bits<14>>,
    /// Their number.
    pub octets: Signal<In, Bits<14>>,
    /// Another run, or one that is purged.
    pub walked: Signal<In, Accepted>,
    /// The run in order is the one to send.
    pub is_run: Signal<In, Bit>,
    /// The question about connection `subject` is; if neither, `walked`.
    pub is_question: Signal<In, Bit>,
    /// See `is_question`.
    pub subject: Signal<In, Bits<10>>,
    /// Sends octets, or the question, to MPA.
    pub send_accepted: Signal<In, Bit>,
    /// Sends the frame to the host.
    pub send_host: Signal<In, Bit>,
    /// Gives the frame back.
    pub send_release: Signal<In, Bit>,
    /// `accepted` has room for one.
    pub accepted_room: Signal<Out, Bit>,
    /// Each of the three has.
    pub room: Signal<Out, Bit>,
    pub accepted: Signal<Out, Accepted>,
    pub accepted_valid: Signal<Out, Bit>,
    pub accepted_ready: Signal<In, Bit>,
    pub host_frame: Signal<Out, HostFrame>,
    pub host_frame_valid: Signal<Out, Bit>,
    pub host_frame_ready: Signal<In, Bit>,
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    accepted_out: Skid<Accepted>,
    host_out: Skid<HostFrame>,
    release_out: Skid<PageChain>,
    message: Signal<Local, Accepted>,
    host_message: Signal<Local, HostFrame>,
    chain: Signal<Local, PageChain>,
}

impl Logic for AcceptanceOutputs {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.accepted_out; clock, reset);
        wire!(self => self.host_out; clock, reset);
        wire!(self => self.release_out; clock, reset);
        wire!(self.accepted_out => self; m_data as accepted, m_valid as accepted_valid);
        self.accepted_out.m_ready.next = self.accepted_ready.val();
        wire!(self.host_out => self; m_data as host_frame, m_valid as host_frame_valid);
        self.host_out.m_ready.next = self.host_frame_ready.val();
        wire!(self.release_out => self; m_data as page_release, m_valid as page_release_valid);
        self.release_out.m_ready.next = self.page_release_ready.val();
        self.accepted_room.next = self.accepted_out.s_ready.val();
        self.room.next = self.accepted_out.s_ready.val()
            & self.host_out.s_ready.val()
            & self.release_out.s_ready.val();

        self.message.next.connection = self.connection.val();
        self.message.next.head_page = self.frame.val().head_page;
        self.message.next.tail_page = self.frame.val().tail_page;
        self.message.next.offset = self.offset.val();
        self.message.next.octets = self.octets.val();
        self.message.next.sequence = 0.into();
        self.message.next.early = false;
        self.message.next.has_left = false;
        self.message.next.left = 0.into();
        self.message.next.has_right = false;
        self.message.next.right = 0.into();
        self.message.next.shared = false;
        self.message.next.first = true;
        self.message.next.last = true;
        self.message.next.purges = false;
        self.message.next.asks = false;
        if !self.is_run.val() & !self.is_question.val() {
            self.message.next = self.walked.val();
        }
        if self.is_question.val() {
            self.message.next.connection = self.subject.val();
            self.message.next.asks = true;
        }
        wire!(self => self.accepted_out; message as s_data, send_accepted as s_valid);
        self.host_message.next.head_page = self.frame.val().head_page;
        self.host_message.next.tail_page = self.frame.val().tail_page;
        self.host_message.next.frame_octets = self.frame.val().frame_octets;
        wire!(self => self.host_out; host_message as s_data, send_host as s_valid);
        self.chain.next.head_page = self.frame.val().head_page;
        self.chain.next.tail_page = self.frame.val().tail_page;
        wire!(self => self.release_out; chain as s_data, send_release as s_valid);
    }
}

#[cfg(test)]
mod tests;
