//! Commands to the read engine: units of either ring, and the reads of frames.
//!
//! ```text
//! control units --0--+
//! bulk units    --1--+--> [ register ] --> read_command
//! frame         --2--+        +--> order
//! ```
//!
//! | latency    | 1 cycle                                                                      |
//! | throughput | a command a cycle                                                            |
//! | units      | reads: one command, or several of which all but the last have `more`         |
//!
//! Nothing comes between the commands of a frame, as the engine answers them with one run. They wait
//! only for the engine, since the store has room for all of them.
use super::types::ReadKind;
use crate::bus::reads::types::ReadCommand;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Arbiter of the three sources of commands.
#[derive(LogicBlock, Default)]
pub struct Commands {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Units; may be withdrawn.
    pub control: Signal<In, ReadCommand>,
    pub control_valid: Signal<In, Bit>,
    pub control_ready: Signal<Out, Bit>,
    pub bulk: Signal<In, ReadCommand>,
    pub bulk_valid: Signal<In, Bit>,
    pub bulk_ready: Signal<Out, Bit>,
    pub frame: Signal<In, ReadCommand>,
    pub frame_valid: Signal<In, Bit>,
    pub frame_ready: Signal<Out, Bit>,
    /// There is room for another `order`.
    pub order_room: Signal<In, Bit>,
    /// One cycle: a read begins.
    pub order: Signal<Out, ReadKind>,
    pub order_valid: Signal<Out, Bit>,
    pub read_command: Signal<Out, ReadCommand>,
    pub read_command_valid: Signal<Out, Bit>,
    pub read_command_ready: Signal<In, Bit>,
    command: DFF<ReadCommand>,
    valid: DFF<Bit>,
    // The last command had `more`.
    in_frame: DFF<Bit>,
    moves: Signal<Local, Bit>,
    may_begin: Signal<Local, Bit>,
    takes_control: Signal<Local, Bit>,
    takes_bulk: Signal<Local, Bit>,
    takes_frame: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
}

impl Logic for Commands {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; command, valid, in_frame);
        self.read_command.next = self.command.q.val();
        self.read_command_valid.next = self.valid.q.val();
        self.moves.next = !self.valid.q.val() | self.read_command_ready.val();

        self.may_begin.next = self.moves.val() & !self.in_frame.q.val() & self.order_room.val();
        self.takes_control.next = self.control_valid.val() & self.may_begin.val();
        self.takes_bulk.next =
            self.bulk_valid.val() & self.may_begin.val() & !self.control_valid.val();
        self.takes_frame.next = (self.frame_valid.val() & self.moves.val())
            & (self.in_frame.q.val()
                | (self.order_room.val() & !self.control_valid.val() & !self.bulk_valid.val()));
        self.control_ready.next = self.takes_control.val();
        self.bulk_ready.next = self.takes_bulk.val();
        self.frame_ready.next = self.takes_frame.val();
        self.begins.next = self.takes_control.val()
            | self.takes_bulk.val()
            | (self.takes_frame.val() & !self.in_frame.q.val());
        self.order_valid.next = self.begins.val();
        self.order.next.units = !self.takes_frame.val();
        self.order.next.ring = self.takes_bulk.val();
        if self.moves.val() {
            self.valid.d.next = self.begins.val() | self.takes_frame.val();
            self.command.d.next = self.frame.val();
            if self.takes_control.val() {
                self.command.d.next = self.control.val();
            }
            if self.takes_bulk.val() {
                self.command.d.next = self.bulk.val();
            }
        }
        if self.takes_frame.val() {
            self.in_frame.d.next = self.frame.val().more;
        }
        if self.reset.val() {
            self.valid.d.next = false;
            self.in_frame.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
