//! Contexts of the connections: read, and written from registers.
//!
//! ```text
//! connection --> [ RAM ] --+--> stored
//!                  ^       +--> loaded
//! updated --> [ register ]-+      (the register: what was written last, or what is not to be kept)
//! ```
//!
//! | latency    | `connection` to `loaded` and `stored` 2 cycles; `write` to the RAM 1 cycle  |
//! | throughput | one context read and one written per cycle                                  |
//! | units      | see [`super::records`]                                                      |
//!
//! The register forwards: a context that is being written when the next frame of its connection is
//! taken is `loaded` from there, for as long as that frame is at hand.
use super::records::TcpContext;
use crate::common::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// RAM of contexts with a register before it.
#[derive(LogicBlock, Default)]
pub struct ContextStore {
    pub clock: Signal<In, Clock>,
    /// Synchronous; a context in the register is not written.
    pub reset: Signal<In, Bit>,
    /// Context to read; held while it is looked at.
    pub connection: Signal<In, Bits<10>>,
    /// A frame of that connection is taken: is its context in the register?
    pub take: Signal<In, Bit>,
    /// The context of the frame taken.
    pub loaded: Signal<Out, TcpContext>,
    /// The same, never from the register.
    pub stored: Signal<Out, TcpContext>,
    /// A context for the register.
    pub updated: Signal<In, TcpContext>,
    /// The register takes it.
    pub hold: Signal<In, Bit>,
    /// And it goes to the RAM, under `owner`.
    pub write: Signal<In, Bit>,
    /// See `write`.
    pub owner: Signal<In, Bits<10>>,
    /// `loaded` shows the register from now on, until the next frame is taken.
    pub show: Signal<In, Bit>,
    contexts: SdpRam<TcpContext, 10>,
    writing: DFF<Bit>,
    written_connection: DFF<Bits<10>>,
    written: DFF<TcpContext>,
    forwards: DFF<Bit>,
}

impl Logic for ContextStore {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; writing, written_connection, written, forwards);
        wire!(self => self.contexts; clock, connection as read_address);
        wire!(self.contexts => self; read_data as stored, read_data as loaded);
        if self.forwards.q.val() {
            self.loaded.next = self.written.q.val();
        }
        if self.take.val() {
            self.forwards.d.next =
                self.writing.q.val() & (self.written_connection.q.val() == self.connection.val());
        }
        if self.show.val() {
            self.forwards.d.next = true;
        }
        if self.hold.val() {
            self.written.d.next = self.updated.val();
        }
        self.writing.d.next = self.write.val();
        self.written_connection.d.next = self.owner.val();
        self.contexts.write_enable.next = self.writing.q.val();
        self.contexts.write_address.next = self.written_connection.q.val();
        self.contexts.write_data.next = self.written.q.val();
        if self.reset.val() {
            self.writing.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
