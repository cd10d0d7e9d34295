//! Both ends of a stream of messages (data, valid, ready): a driver, a monitor, and their pace.
//!
//! Call each once per cycle, before the clock edge. A driver and a monitor read `ready` and
//! `valid` as they are before this cycle's inputs settle, so the block's handshake must come from
//! registers; where it does not, set the ports by [`StreamDriver::offer`], settle, and then call
//! [`StreamDriver::advance`].
use super::Random;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use std::fmt::Debug;

/// In which cycles an end of a stream is willing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// In every cycle.
    Always,
    /// In no cycle.
    Never,
    /// In the first cycle of every so many.
    Every(u64),
    /// At random, in so many of so many cycles.
    Chance(u64, u64),
}

impl Pace {
    /// At random, in `hits` of 8 cycles; 0 is never and 8 always.
    pub const fn of_8(hits: u64) -> Self {
        Self::Chance(hits, 8)
    }

    /// Whether to go in the cycle of this number.
    pub fn goes(self, cycle: u64, random: &mut Random) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Every(cycles) => cycle % cycles == 0,
            Self::Chance(hits, of) => random.chance(hits, of),
        }
    }
}

/// The sending end: a queue of messages, each offered at its pace and held until it is taken.
#[derive(Clone, Debug)]
pub struct StreamDriver<M> {
    /// When a waiting message is offered.
    pub pace: Pace,
    queue: VecDeque<M>,
    offering: bool,
    cycle: u64,
    taken: Vec<u64>,
}

impl<M> StreamDriver<M> {
    /// A driver without messages.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            queue: VecDeque::new(),
            offering: false,
            cycle: 0,
            taken: Vec::new(),
        }
    }

    /// Queues `message` after the others.
    pub fn push(&mut self, message: M) {
        self.queue.push_back(message);
    }

    /// Messages that are not taken yet, the next one first.
    pub fn waiting(&self) -> &VecDeque<M> {
        &self.queue
    }

    /// The same, to change; the first message may be on offer, and then it must stay as it is.
    pub fn waiting_mut(&mut self) -> &mut VecDeque<M> {
        &mut self.queue
    }

    /// No message waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// A message is on offer that was not taken.
    pub fn is_offering(&self) -> bool {
        self.offering
    }

    /// The cycle in which each message was taken, counted in calls of this driver.
    pub fn taken(&self) -> &[u64] {
        &self.taken
    }

    /// Drops every message, as a reset of the block does.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.offering = false;
    }

    /// What to offer in this cycle: a message that was not taken is offered again.
    pub fn offer(&mut self, random: &mut Random) -> Option<&M> {
        let waits = !self.queue.is_empty();
        self.offering = waits && (self.offering || self.pace.goes(self.cycle, random));
        self.queue.front().filter(|_| self.offering)
    }

    /// [`StreamDriver::drive`] of messages that the test knows more about than the port carries.
    pub fn drive_as<T: Synth>(
        &mut self,
        on_port: impl Fn(&M) -> T,
        data: &mut Signal<In, T>,
        valid: &mut Signal<In, Bit>,
        ready: &Signal<Out, Bit>,
        random: &mut Random,
    ) -> Option<M> {
        let offered = self.offer(random).map(on_port);
        valid.next = offered.is_some();
        if let Some(message) = offered {
            data.next = message;
        }
        self.advance(ready.val())
    }

    /// Ends the cycle; returns the message that was offered in it if the block took it.
    pub fn advance(&mut self, ready: bool) -> Option<M> {
        self.cycle += 1;
        if !(self.offering && ready) {
            return None;
        }
        self.offering = false;
        self.taken.push(self.cycle - 1);
        self.queue.pop_front()
    }
}

impl<M: Synth> StreamDriver<M> {
    /// Sets the ports of this cycle; returns the message that is taken in it.
    pub fn drive(
        &mut self,
        data: &mut Signal<In, M>,
        valid: &mut Signal<In, Bit>,
        ready: &Signal<Out, Bit>,
        random: &mut Random,
    ) -> Option<M> {
        self.drive_as(|message| *message, data, valid, ready, random)
    }
}

impl<M> Default for StreamDriver<M> {
    fn default() -> Self {
        Self::new(Pace::Always)
    }
}

impl<M> Extend<M> for StreamDriver<M> {
    fn extend<I: IntoIterator<Item = M>>(&mut self, messages: I) {
        self.queue.extend(messages);
    }
}

/// The receiving end: ready at its pace, collects what comes and checks that an offered message
/// stays until it is taken.
#[derive(Clone, Debug)]
pub struct StreamMonitor<T> {
    /// When a message may be taken.
    pub pace: Pace,
    held: Option<T>,
    cycle: u64,
    taken: Vec<(u64, T)>,
}

impl<T: Clone + Debug + PartialEq> StreamMonitor<T> {
    /// A monitor that has seen nothing.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            held: None,
            cycle: 0,
            taken: Vec::new(),
        }
    }

    /// Each message taken and its cycle, counted in calls of this monitor.
    pub fn taken(&self) -> &[(u64, T)] {
        &self.taken
    }

    /// Forgets the message on offer, which a reset of the block may withdraw.
    pub fn reset(&mut self) {
        self.held = None;
    }

    /// One cycle of a stream whose message is on several ports, put together in `offered`.
    ///
    /// # Panics
    /// When the message of the cycle before, which was not taken, has changed or is gone.
    pub fn observe(
        &mut self,
        offered: Option<T>,
        ready: &mut Signal<In, Bit>,
        random: &mut Random,
    ) -> Option<T> {
        let cycle = self.cycle;
        self.cycle += 1;
        if let Some(held) = self.held.take() {
            assert_eq!(
                offered,
                Some(held),
                "cycle {cycle} of this stream: a message changed before it was taken"
            );
        }
        ready.next = self.pace.goes(cycle, random);
        if !ready.next {
            self.held = offered;
            return None;
        }
        self.taken
            .extend(offered.clone().map(|message| (cycle, message)));
        offered
    }

    /// [`StreamMonitor::observe`] of a stream that must bring `expected`: the message on offer is
    /// the first of it, and is removed when it is taken.
    ///
    /// # Panics
    /// Also when another message is on offer, or one too many.
    pub fn check(
        &mut self,
        offered: Option<T>,
        expected: &mut VecDeque<T>,
        ready: &mut Signal<In, Bit>,
        random: &mut Random,
    ) -> Option<T> {
        if offered.is_some() {
            assert_eq!(offered.as_ref(), expected.front(), "the next message");
        }
        self.observe(offered, ready, random)?;
        expected.pop_front()
    }
}

impl<T: Clone + Debug + PartialEq> Default for StreamMonitor<T> {
    fn default() -> Self {
        Self::new(Pace::Always)
    }
}

impl<T: Synth> StreamMonitor<T> {
    /// One cycle: sets `ready` and returns the message that is taken in it.
    ///
    /// # Panics
    /// As [`StreamMonitor::observe`] does.
    pub fn watch(
        &mut self,
        data: &Signal<Out, T>,
        valid: &Signal<Out, Bit>,
        ready: &mut Signal<In, Bit>,
        random: &mut Random,
    ) -> Option<T> {
        self.observe(valid.val().then(|| data.val()), ready, random)
    }
}

#[cfg(test)]
mod tests;
