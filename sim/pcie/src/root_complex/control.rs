//! The link's side of a root complex: credits, stalls, faults, resets.
//!
//! ```text
//!   ready(direction, class)?  =  no stall now  and  credits for the largest packet
//!   admits(direction, tlp)?   =  no stall now  and  credits for this packet
//! ```

use super::{Faults, RootComplex};
use crate::check::Direction;
use crate::choices::Choices;
use crate::flow_control::{Credits, FlowClass, FlowControl, Stall};
use crate::reset::Reset;
use crate::tlp::Tlp;

impl RootComplex {
    /// Counts credits in `direction` from now on. Upstream, a packet sent without is flagged and
    /// discarded; downstream, none is sent without.
    pub fn set_flow_control(&mut self, direction: Direction, flow: FlowControl) {
        self.monitor.set_flow_control(direction, flow);
    }

    /// The receiver of `direction` lets go of the buffers of `tlp`, for flow control that does not
    /// do so by itself. Downstream the receiver is the device.
    pub fn release_credits(&mut self, now: u64, direction: Direction, tlp: &Tlp) {
        let header = &tlp.header;
        let (class, credits) = (FlowClass::of(header), Credits::of(header));
        self.monitor.release_credits(now, direction, class, credits);
    }

    /// Stalls `direction` as `stall` says.
    pub fn set_stall(&mut self, direction: Direction, stall: Stall) {
        self.stalls[direction as usize] = stall;
    }

    /// The stalls of `direction`, to block a class or to let it go.
    pub fn stall_mut(&mut self, direction: Direction) -> &mut Stall {
        &mut self.stalls[direction as usize]
    }

    /// Whether any packet of `class` may be sent in `direction` at `now`: the ready that a
    /// co-simulation drives in this cycle. Without flow control and stalls, always.
    pub fn ready(&mut self, now: u64, direction: Direction, class: FlowClass) -> bool {
        self.monitor.advance(now);
        let flow = self.monitor.flow_control(direction);
        !self.stalls[direction as usize].stalls(now, class)
            && flow.is_none_or(|flow| flow.ready(class))
    }

    /// Whether `tlp` may be sent in `direction` at `now`.
    pub fn admits(&mut self, now: u64, direction: Direction, tlp: &Tlp) -> bool {
        self.monitor.advance(now);
        let flow = self.monitor.flow_control(direction);
        !self.stalls[direction as usize].stalls(now, FlowClass::of(&tlp.header))
            && flow.is_none_or(|flow| flow.admits(&tlp.header))
    }

    /// Takes every choice from `choices` from now on, instead of from the settings' seed.
    pub fn set_choices(&mut self, choices: Box<dyn Choices>) {
        self.choices = choices;
    }

    /// The faults that reads met.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The faults that reads are to meet.
    pub fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Resets the link or the function at its other end: everything in flight is dropped, and each
    /// transfer under way fails with [`TransferError::Reset`](crate::TransferError::Reset).
    ///
    /// Returns the packets that were on their way down, so that a test can show what one of them
    /// would do after the reset. From here on, an earlier completion is flagged as
    /// [`Violation::CompletionAfterReset`](crate::Violation::CompletionAfterReset). Interrupts that
    /// have arrived stay.
    pub fn reset(&mut self, reset: Reset) -> Vec<Tlp> {
        let queued = self.queue.drain().map(|outgoing| outgoing.tlp);
        let dropped = queued.chain(self.answers.drain()).collect();
        self.requester.reset();
        self.monitor.reset();
        if reset == Reset::Link {
            self.monitor.reset_flow_control();
        }
        dropped
    }
}
