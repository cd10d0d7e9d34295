//! Requests of a queue pair as they are posted, and their completions.

use super::error::{EndpointError, Unposted};
use super::live::Live;
use super::notice::end_of;
use super::queue_pair::QueuePair;
use super::wire::Wire;
use super::work::{work, SendOperation, WorkCompletion};
use crate::bus::Access;
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::verbs::frames::Part;
use crate::verbs::ledger::{Core, Ledger};
use crate::verbs::memory::Memory;
use rnic_iwarp::queue_pair::{Completion, Kind, PostError, Status};
use rnic_wire::ddp::rdmap::QN_SEND;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

impl<B: Bar, D: Dma> QueuePair<B, D> {
    /// Post memory for the peer's next Send. When the peer has closed, or the connection has
    /// failed, it completes at once, flushed, and the completion has the memory.
    ///
    /// # Errors
    /// [`EndpointError::Post`] if as many are posted as can be, [`EndpointError::State`] after the
    /// end, [`EndpointError::Device`], [`EndpointError::Ended`]. The memory is freed.
    pub fn post_receive(&self, id: u64, memory: Memory<B, D>) -> Result<(), EndpointError> {
        memory.expect_receivable(&self.handle.shared.core)?;
        let place = memory.place();
        let buffer = DmaBuffer {
            address: place.address,
            octets: place.octets,
        };
        let mut memory = Some(memory);
        let posted = self.handle.change(|live, wire| {
            let held = memory.as_ref().map_or(0, Memory::id);
            live.post_receive(id, (held, buffer), false, wire.ledger)?;
            if let Some(memory) = memory.take() {
                memory.hand_over(wire.ledger);
            }
            Ok(())
        });
        // What is not posted is freed here, when nobody has the ledger.
        drop(memory);
        posted
    }

    /// Post parts of regions for the peer's next Sends, in this order: the lock is taken once for
    /// all. The octets stay the region's, which is to be read when the message has come; its
    /// completion has no memory. Those before one that cannot be posted are.
    ///
    /// # Errors
    /// [`Unposted`]: how many are posted, and why the next one is not, as
    /// [`QueuePair::post_receive`].
    pub fn post_receives(&self, receives: &[(u64, Part<'_>)]) -> Result<(), Unposted> {
        let core = &self.handle.shared.core;
        let mut posted = 0;
        let ended = self.handle.change(|live, wire| {
            for (id, part) in receives {
                live.post_part(*id, part, core, wire.ledger)?;
                posted += 1;
            }
            Ok(())
        });
        ended.map_err(|error| Unposted { posted, error })
    }

    /// Post an operation; it leaves after those posted before it.
    ///
    /// # Errors
    /// [`EndpointError::Post`], [`EndpointError::State`] before it is started,
    /// [`EndpointError::Device`], [`EndpointError::Ended`].
    pub fn post_send(
        &self,
        id: u64,
        operation: &SendOperation<'_, B, D>,
    ) -> Result<(), EndpointError> {
        let peer = self.handle.peer;
        let core = &self.handle.shared.core;
        self.handle
            .change(|live, wire| live.post_send(id, operation, core, peer, wire))
    }

    /// Post operations, which leave in this order: the lock is taken, and the device told of their
    /// frames, once for all. Those before one that cannot be posted are.
    ///
    /// # Errors
    /// [`Unposted`]: how many are posted, and why the next one is not, as [`QueuePair::post_send`].
    ///
    /// ```no_run
    /// use rnic_driver::verbs::endpoint::{EndpointError, QueuePair, SendOperation, Unposted};
    /// use rnic_driver::verbs::MemoryRegion;
    ///
    /// /// Writes a region to where the peer has said, then sends its first octet.
    /// fn write_and_tell(
    ///     pair: &QueuePair,
    ///     region: &MemoryRegion,
    ///     (stag, to): (u32, u64),
    /// ) -> Result<(), EndpointError> {
    ///     let all = [region.part(0..region.octets())?];
    ///     let first = [region.part(0..1)?];
    ///     let write = SendOperation::Write { payload: &all, stag, to };
    ///     let send = SendOperation::send(&first);
    ///     let posted = pair.post_sends(&[(1, write), (2, send)]);
    ///     posted.map_err(|Unposted { error, .. }| error)
    /// }
    /// ```
    pub fn post_sends(&self, requests: &[(u64, SendOperation<'_, B, D>)]) -> Result<(), Unposted> {
        let peer = self.handle.peer;
        let core = &self.handle.shared.core;
        let mut posted = 0;
        let ended = self.handle.change(|live, wire| {
            for (id, operation) in requests {
                live.post_send(*id, operation, core, peer, wire)?;
                posted += 1;
            }
            Ok(())
        });
        ended.map_err(|error| Unposted { posted, error })
    }

    /// The next completion, if there is one.
    ///
    /// # Errors
    /// [`EndpointError::Ended`]; [`EndpointError::State`] of a pair that shares its completions
    /// ([`SharedCompletions`](super::SharedCompletions)).
    pub fn poll_completion(&self) -> Result<Option<WorkCompletion<B, D>>, EndpointError> {
        let polled = self.handle.view(|live| {
            if live.collected.is_some() {
                let (peer, state) = (live.ends.peer, "shares its completions");
                return Err(EndpointError::State { peer, state });
            }
            let polled = live.inbox.completions.pop_front();
            if polled.is_none() && live.inbox.events.is_empty() {
                // Under the lock under which it is raised.
                self.handle.notice.take();
            }
            Ok(polled)
        })??;
        let core = &self.handle.shared.core;
        Ok(polled.map(|completed| WorkCompletion::of(core, completed)))
    }

    /// The next completion, as soon as there is one.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`]; those of [`QueuePair::poll_completion`].
    pub fn wait_completion(
        &self,
        timeout: Option<Duration>,
    ) -> Result<WorkCompletion<B, D>, EndpointError> {
        let notice = &self.handle.notice;
        notice.wait_for(end_of(timeout), || self.poll_completion())
    }
}

impl Live {
    /// Take an operation in, and hold its memory until it completes.
    fn post_send<B: Bar, D: Dma>(
        &mut self,
        id: u64,
        operation: &SendOperation<'_, B, D>,
        core: &Arc<Core<B, D>>,
        peer: SocketAddr,
        wire: &mut Wire<'_, B, D>,
    ) -> Result<(), EndpointError> {
        let Some(pair) = &mut self.pair else {
            let state = "has not been started";
            return Err(EndpointError::State { peer, state });
        };
        let (work, held) = work(id, operation, core, peer, wire)?;
        let posted = pair.machine.post_send(work);
        posted.map_err(|error| EndpointError::Post { peer, error })?;
        for &memory in held.memory.numbers() {
            wire.ledger.hold_memory(memory);
        }
        if let Some(region) = held.region {
            wire.ledger.hold_region(region);
        }
        self.sends.push_back(held);
        Ok(())
    }

    /// Post a part of a region, which the device needs until the message has come.
    fn post_part<B: Bar, D: Dma>(
        &mut self,
        id: u64,
        part: &Part<'_>,
        core: &Arc<Core<B, D>>,
        ledger: &mut Ledger<B, D>,
    ) -> Result<(), EndpointError> {
        let place = part.of(core);
        let (memory, buffer) = place.ok_or(DriverError::OtherContext { what: "memory" })?;
        if ledger.place(memory).access == Access::Read {
            let what = "a received message";
            return Err(DriverError::ReadOnly { what }.into());
        }
        ledger.hold_memory(memory);
        let posted = self.post_receive(id, (memory, buffer), true, ledger);
        // A device that is gone may have it.
        if posted
            .as_ref()
            .is_err_and(|error| !matches!(error, EndpointError::Device(DriverError::Gone)))
        {
            ledger.release_memory(memory);
        }
        posted
    }

    /// Post a buffer in the memory `memory`, whose hold is the connection's if this succeeds.
    fn post_receive<B: Bar, D: Dma>(
        &mut self,
        id: u64,
        (memory, buffer): (u64, DmaBuffer),
        is_lent: bool,
        ledger: &mut Ledger<B, D>,
    ) -> Result<(), EndpointError> {
        let (peer, state) = (self.ends.peer, "has ended");
        let resources = self.resources.as_ref();
        let number = resources.map(|resources| resources.number);
        let number = number.ok_or(EndpointError::State { peer, state })?;
        if !self.take_receive(id)? {
            // Nothing will arrive.
            self.flush_receive(id, (!is_lent).then_some(memory));
            if is_lent {
                ledger.release_memory(memory);
            }
            return Ok(());
        }
        let posted = ledger.device().post_receive(number, QN_SEND, buffer)?;
        ledger.note_posted(number, (QN_SEND, posted.msn), memory);
        self.lent.push_back(is_lent);
        Ok(())
    }

    /// Take a receive in; `false`: it is flushed, as nothing will arrive.
    fn take_receive(&mut self, id: u64) -> Result<bool, EndpointError> {
        let peer = self.ends.peer;
        let taken = match &mut self.pair {
            Some(pair) => pair.machine.post_receive(id),
            None if self.early_receives.len() >= self.limits.receives => {
                Err(PostError::Full(self.limits.receives))
            }
            None => {
                self.early_receives.push(id);
                Ok(())
            }
        };
        match taken {
            Ok(()) => Ok(true),
            Err(PostError::HalfClosed | PostError::Closed) => Ok(false),
            Err(error) => Err(EndpointError::Post { peer, error }),
        }
    }

    /// A receive has completed, flushed; the memory goes back with the completion.
    fn flush_receive(&mut self, id: u64, memory: Option<u64>) {
        let completion = Completion {
            id,
            kind: Kind::Receive(None),
            status: Status::Flushed,
        };
        self.inbox.completions.push_back((completion, memory));
        self.tell_completed(1);
    }
}
