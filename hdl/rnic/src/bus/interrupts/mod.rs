//! Interrupts: MSI-X with eight vectors, their table, pending bits, masks and hold-offs.
//!
//! ```text
//! entries, slots, events, statuses --> RaiseRoutes --> Vectors --> MessageWriter --> tlp
//!                                          ^ routes       ^ masks, hold-offs  | entry
//! register access <--> InterruptRegisters -+--------------+-------------------+
//! ```
//!
//! | latency    | 10 cycles from the last beat of what is reported to its message on offer      |
//! | throughput | a message in 6 cycles                                                         |
//! | units      | beats of `D` bits; ticks                                                      |
//! | source     | PCI Express Base Specification, sections 6.1.4, 7.7.2; `rnic_abi::interrupts` |
//!
//! A vector is raised when the TLP mux has taken the octets that the interrupt is about, so the
//! message follows them on the stream. A vector that is masked while its message is on its way to
//! the mux still sends it. The mux lets messages go first, so this message leaves before the
//! answer to any read that software makes after the masking write.

pub mod registers;
pub mod routes;
pub mod vectors;
pub mod message;

use message::MessageWriter;
use registers::InterruptRegisters;
use rnic_macros::{kernel, Init};
use routes::RaiseRoutes;
use rust_hdl::prelude::*;
use vectors::Vectors;

/// The room at D = 128.
pub type InterruptRoom128 = InterruptRoom<128, 4>;
/// The room at D = 512.
pub type InterruptRoom512 = InterruptRoom<512, 16>;

/// Interrupt room of width `D`, `L = D / 32`.
#[derive(LogicBlock, Init)]
pub struct InterruptRoom<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous: nothing is pending, no source has a route, every vector is masked.
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// One cycle each microsecond.
    pub tick: Signal<In, Bit>,
    /// MSI-X Enable and Function Mask of configuration space.
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    /// Register access: doubleword of BAR0, data, one cycle to write; what it reads as, a cycle
    /// later.
    pub address: Signal<In, Bits<10>>,
    pub data: Signal<In, Bits<32>>,
    pub write: Signal<In, Bit>,
    pub value: Signal<Out, Bits<32>>,
    /// One cycle: the mux took an entry of completion queue `entry_queue`, or a slot header.
    pub entry_written: Signal<In, Bit>,
    pub entry_queue: Signal<In, Bits<4>>,
    pub slot_written: Signal<In, Bit>,
    /// Event TLPs, as they go to the mux.
    pub event_tlp_last: Signal<In, Bit>,
    pub event_tlp_valid: Signal<In, Bit>,
    pub event_tlp_ready: Signal<In, Bit>,
    /// Status TLPs, as they go to the mux.
    pub status_tlp_last: Signal<In, Bit>,
    pub status_tlp_valid: Signal<In, Bit>,
    pub status_tlp_ready: Signal<In, Bit>,
    /// Messages.
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    registers: InterruptRegisters,
    routes: RaiseRoutes,
    vectors: Vectors,
    message: MessageWriter<D, L>,
}

impl<const D: usize, const L: usize> Logic for InterruptRoom<D, L> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.registers; clock, reset as clear, address, data, write);
        wire!(self.registers => self; value);
        self.registers.pending.next = self.vectors.pending.val();

        wire!(self => self.routes; clock, reset, entry_written, entry_queue, slot_written);
        self.routes.event_written.next =
            self.event_tlp_last.val() & self.event_tlp_valid.val() & self.event_tlp_ready.val();
        self.routes.status_written.next =
            self.status_tlp_last.val() & self.status_tlp_valid.val() & self.status_tlp_ready.val();
        wire!(self.registers => self.routes; queue_routes, ring_routes);

        wire!(self => self.vectors; clock, reset, tick);
        wire!(self => self.vectors; msix_enable as enable, msix_mask as function_mask);
        self.vectors.raises.next = self.routes.raises.val();
        for v in 0..8 {
            self.vectors.masked[v].next = self.registers.masked[v].val();
            self.vectors.hold_off[v].next = self.registers.hold_off[v].val();
        }
        self.vectors.take.next = self.message.take.val();

        wire!(self => self.message; clock, reset, device_id);
        wire!(self.vectors => self.message; chosen, chosen_valid);
        self.registers.entry_address.next = self.message.entry_address.val();
        self.message.entry_data.next = self.registers.entry_data.val();
        tlps!(self.message => self; tlp);
    }
}

#[cfg(test)]
mod tests;
