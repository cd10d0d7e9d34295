//! Register slice for a ready/valid stream: no combinational path passes through.
//!
//! ```text
//! s_valid, s_data --> [ output register ] --> m_valid, m_data
//!        \--> [ spare register ] --^
//! s_ready <-- spare is free (register)        m_ready
//! ```
//!
//! | latency    | 1 cycle, `s_valid` to `m_valid`                                     |
//! | throughput | one word per cycle                                                  |
//! | units      | one word is one `T`                                                 |
//!
//! ECP5-5G -8, 140 bits, out of context, before ADR 34: 563 MHz; 144 LUT4, 282 registers.
//!
//! A word moves when `valid` and `ready` are both high at a clock edge. `m_valid` and `m_data`
//! hold until taken and never depend on `m_ready` in the same cycle; `s_ready` depends on
//! neither input.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Ready/valid register slice for a payload `T`.
#[derive(LogicBlock, Init)]
pub struct Skid<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    /// The offered word.
    pub s_data: Signal<In, T>,
    pub s_ready: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    /// The word offered to the sink.
    pub m_data: Signal<Out, T>,
    pub m_ready: Signal<In, Bit>,
    head: DFF<T>,
    head_valid: DFF<Bit>,
    spare: DFF<T>,
    spare_valid: DFF<Bit>,
    // A word waits for the output register, or comes now.
    offered: Signal<Local, Bit>,
    // The output register's word is not taken.
    stalls: Signal<Local, Bit>,
}

impl<T: Synth> Logic for Skid<T> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; head, head_valid, spare, spare_valid);
        self.s_ready.next = !self.spare_valid.q.val();
        self.m_valid.next = self.head_valid.q.val();
        self.m_data.next = self.head.q.val();
        // The spare register follows the input while it is free; only its flag decides.
        if !self.spare_valid.q.val() {
            self.spare.d.next = self.s_data.val();
        }
        // The output register is free: the spare word is older and goes first.
        if self.m_ready.val() | !self.head_valid.q.val() {
            self.head.d.next = self.s_data.val();
            if self.spare_valid.q.val() {
                self.head.d.next = self.spare.q.val();
            }
        }
        // Written out: under the condition above, the flags would share the enable of all of the
        // output register's bits. A word that `s_ready` promised to take is set aside if the sink
        // stalls.
        self.offered.next = self.spare_valid.q.val() | self.s_valid.val();
        self.stalls.next = self.head_valid.q.val() & !self.m_ready.val();
        self.head_valid.d.next = self.offered.val() | self.stalls.val();
        self.spare_valid.d.next = self.offered.val() & self.stalls.val();
        if self.reset.val() {
            self.head_valid.d.next = false;
            self.spare_valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
