//! Answers of the read engine, each beat to the block that its read was for.
//!
//! ```text
//! read_* --> [ Skid ] --> data, beat_end
//!               |                 order
//!               +--> unit_valid or beat_valid
//! ```
//!
//! | latency    | 1 cycle                    |
//! | throughput | one beat a cycle           |
//! | units      | beats of `D` bits, octets  |
//!
//! The slice keeps what a sink waits for (room for a frame's end, the finisher) out of the read
//! engine, which frees a tag with the word that leaves.
use super::types::{BeatEnd, ReadKind};
use crate::common::skid::Skid;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Demultiplexer of answers: the oldest order says what the beats are.
#[derive(LogicBlock, Init)]
pub struct Answers<const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The oldest read that has not ended.
    pub order: Signal<In, ReadKind>,
    pub order_valid: Signal<In, Bit>,
    /// With the last beat of a read: its order is done.
    pub order_ready: Signal<Out, Bit>,
    pub read_data: Signal<In, Bits<D>>,
    pub read_end: Signal<In, BeatEnd>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    /// The beat, with `unit_valid` or `beat_valid`.
    pub data: Signal<Out, Bits<D>>,
    pub beat_end: Signal<Out, BeatEnd>,
    pub unit_valid: Signal<Out, Bit>,
    pub unit_ready: Signal<In, Bit>,
    pub beat_valid: Signal<Out, Bit>,
    pub beat_ready: Signal<In, Bit>,
    beats: Skid<Bits<D>>,
    ends: Skid<BeatEnd>,
    valid: Signal<Local, Bit>,
    ready: Signal<Local, Bit>,
}

impl<const D: usize> Logic for Answers<D> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.beats; clock, reset);
        wire!(self => self.ends; clock, reset);
        self.beats.s_data.next = self.read_data.val();
        self.ends.s_data.next = self.read_end.val();
        self.beats.s_valid.next = self.read_valid.val();
        self.ends.s_valid.next = self.read_valid.val();
        // Both slices move together.
        self.read_ready.next = self.ends.s_ready.val();

        self.data.next = self.beats.m_data.val();
        self.beat_end.next = self.ends.m_data.val();
        self.valid.next = self.ends.m_valid.val() & self.order_valid.val();
        self.unit_valid.next = self.valid.val() & self.order.val().units;
        self.beat_valid.next = self.valid.val() & !self.order.val().units;
        self.ready.next = self.order_valid.val() & self.beat_ready.val();
        if self.order.val().units {
            self.ready.next = self.order_valid.val() & self.unit_ready.val();
        }
        self.beats.m_ready.next = self.ready.val();
        self.ends.m_ready.next = self.ready.val();
        self.order_ready.next = (self.valid.val() & self.ready.val()) & self.ends.m_data.val().last;
    }
}
