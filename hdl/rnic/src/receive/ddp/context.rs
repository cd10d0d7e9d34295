//! Stream contexts: what a connection's DDP stream is like, and how it stands.
//!
//! ```text
//!  connection --> [ profile RAM, state RAM ] --> pd, version, in_error, is_first
//!                        cycle 0,1                        cycle 2
//! ```
//!
//! | latency    | 2 cycles, `connection` to all outputs |
//! | throughput | one context per cycle                 |
//! | units      | see `rnic_abi::tables::DDP`           |
//!
//! The profile is written by the driver alone; the state is set by the driver's write (no error,
//! first FPDU still to come) and by the engine after each FPDU. A context written in the cycle in
//! which it is read is undefined: both writers keep apart from the engine's read.
// LogicStruct derives accessors without documentation.
use super::tables::TableWrites;
use crate::common::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// What the driver says of a stream.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StreamProfile {
    /// Protection Domain.
    pub pd: Bits<16>,
    /// Expected DDP and RDMAP version.
    pub version: Bit,
}

/// How a stream stands.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StreamState {
    /// The stream has stopped, with an error or with the peer's Terminate.
    pub in_error: Bit,
    /// No FPDU has come yet.
    pub is_first: Bit,
}

/// Profile and state of every connection.
#[derive(LogicBlock, Default)]
pub struct StreamContext {
    pub clock: Signal<In, Clock>,
    /// Cycle 0: connection.
    pub connection: Signal<In, Bits<10>>,
    /// Cycle 2: its profile.
    pub profile: Signal<Out, StreamProfile>,
    /// Cycle 2: its state.
    pub state: Signal<Out, StreamState>,
    pub writes: Signal<In, TableWrites>,
    /// High for each cycle in which an FPDU leaves its mark; never together with a table write.
    pub mark: Signal<In, Bit>,
    /// Connection of that FPDU.
    pub mark_connection: Signal<In, Bits<10>>,
    /// The FPDU is the connection's last one: refused, or a Terminate.
    pub mark_error: Signal<In, Bit>,
    profiles: SdpRam<StreamProfile, 10>,
    states: SdpRam<StreamState, 10>,
    index: Signal<Local, Bits<16>>,
    start_connection: Signal<Local, Bits<10>>,
    new_state: Signal<Local, StreamState>,
}

impl Logic for StreamContext {
    #[kernel]
    fn update(&mut self) {
        self.index.next = self.writes.val().index;
        self.start_connection.next = self.index.val().get_bits::<10>(0);
        wire!(self => self.profiles; clock, connection as read_address);
        self.profiles.write_enable.next = self.writes.val().context;
        self.profiles.write_address.next = self.start_connection.val();
        self.profiles.write_data.next = self.writes.val().profile;
        wire!(self => self.states; clock, connection as read_address);
        self.states.write_enable.next = self.writes.val().context | self.mark.val();
        self.states.write_address.next = self.start_connection.val();
        self.new_state.next.in_error = false;
        self.new_state.next.is_first = true;
        if self.mark.val() {
            self.states.write_address.next = self.mark_connection.val();
            self.new_state.next.in_error = self.mark_error.val();
            self.new_state.next.is_first = false;
        }
        self.states.write_data.next = self.new_state.val();
        self.profile.next = self.profiles.read_data.val();
        self.state.next = self.states.read_data.val();
    }
}

#[cfg(test)]
mod tests;
