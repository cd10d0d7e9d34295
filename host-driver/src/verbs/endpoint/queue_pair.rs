//! A queue pair, from its start to its end.

use super::error::EndpointError;
use super::handle::Handle;
use super::live::{Outcome, PairEvent, Startup};
use super::notice::end_of;
use super::pair::{Depths, Resources};
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::ids::ConnectionId;
use crate::verbs::memory::Memory;
use crate::verbs::region::{MemoryRegion, RegionOptions};
use crate::verbs::window::{MemoryWindow, WindowOptions};
use crate::verbs::ProtectionDomain;
use rnic_iwarp::queue_pair::Limits;
use rnic_iwarp::startup::{self, Initiator};
use rnic_tcp::{State, Statistics};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

/// How much a queue pair takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairOptions {
    /// Sends, Writes and Reads that are posted and have not completed, at most.
    pub sends: usize,
    /// Receives that are posted and have not completed, at most. All connections of a device share
    /// 2,048 receives, Read Requests and Reads; each queue takes a power of two of them.
    pub receives: u32,
    /// Octets of Read Responses that are copied and not acknowledged.
    pub snapshot_octets: u64,
}

impl Default for PairOptions {
    fn default() -> Self {
        Self {
            sends: 64,
            receives: 16,
            snapshot_octets: 256 * 1024,
        }
    }
}

/// A queue pair of a connection. Until it is started it takes receives alone. Dropped, the
/// connection is reset; what was posted is given back when the device has no access any more.
///
/// Octets of Sends and Writes are to be left as they are until they complete, which is when the
/// peer has acknowledged them: they may be sent again.
///
/// ```no_run
/// use rnic_driver::verbs::endpoint::{EndpointError, QueuePair, SendOperation, Status};
/// use rnic_driver::verbs::MemoryRegion;
///
/// /// Writes a region to where the peer has said, and waits until it has it.
/// fn write(
///     pair: &QueuePair,
///     region: &MemoryRegion,
///     (stag, to): (u32, u64),
/// ) -> Result<bool, EndpointError> {
///     let payload = [region.part(0..region.octets())?];
///     let operation = SendOperation::Write { payload: &payload, stag, to };
///     pair.post_send(1, &operation)?;
///     let done = pair.wait_completion(None)?;
///     Ok(done.status == Status::Success)
/// }
/// ```
#[derive(Debug)]
pub struct QueuePair<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    pub(super) handle: Handle<B, D>,
    startup: startup::Settings,
}

impl<B: Bar, D: Dma> QueuePair<B, D> {
    pub(super) fn reserve(
        handle: Handle<B, D>,
        domain: &ProtectionDomain<B, D>,
        startup: &startup::Settings,
        options: &PairOptions,
    ) -> Result<Self, EndpointError> {
        domain.expect_of(&handle.shared.core)?;
        let depths = Depths {
            receives: options.receives,
            ird: startup.ird,
            ord: startup.ord,
        };
        let limits = Limits {
            sends: options.sends,
            receives: options.receives as usize,
            snapshot_octets: options.snapshot_octets,
            copy_responses: true,
        };
        let domain = domain.number();
        handle.shared.change(|engine, _| {
            let core = Arc::clone(&engine.core);
            let mut ledger = core.lock();
            let queue = engine.queue;
            let live = engine.lives.get_mut(&handle.key);
            let live = live.ok_or(EndpointError::Ended)?;
            let ends = live.ends;
            let resources = Resources::reserve(&mut ledger, &ends, domain, queue, &depths)?;
            let number = resources.number;
            (live.resources, live.limits) = (Some(resources), limits);
            engine.set_number(number, Some(handle.key));
            Ok(())
        })?;
        Ok(Self {
            handle,
            startup: *startup,
        })
    }

    /// This end's address.
    pub fn local_addr(&self) -> SocketAddr {
        self.handle.own
    }

    /// The peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.handle.peer
    }

    /// Send the Request, with this Private Data, and wait for the Reply. Returns the peer's Private
    /// Data.
    ///
    /// # Errors
    /// [`EndpointError::State`], as [`QueuePair::begin`]; [`EndpointError::Rejected`], after which
    /// it can be a stream again; otherwise the connection ends: [`EndpointError::StartupFailed`],
    /// [`EndpointError::Lost`], [`EndpointError::Switch`], [`EndpointError::Startup`],
    /// [`EndpointError::Device`], [`EndpointError::Ended`].
    pub fn start(&self, private_data: &[u8]) -> Result<Vec<u8>, EndpointError> {
        self.begin(private_data)?;
        self.agreed(self.handle.wait_for_outcome()?)
    }

    /// Send the Request, and do not wait for the Reply: [`QueuePair::poll_started`].
    ///
    /// # Errors
    /// [`EndpointError::State`]: MPA has begun, or the peer has sent octets that nobody has read;
    /// [`QueuePair::into_stream`] reads them. [`EndpointError::Startup`], [`EndpointError::Ended`].
    pub fn begin(&self, private_data: &[u8]) -> Result<(), EndpointError> {
        let peer = self.handle.peer;
        self.handle.change(|live, wire| {
            if live.startup.is_some() || live.pair.is_some() {
                let state = "has begun MPA already";
                return Err(EndpointError::State { peer, state });
            }
            // They were sent before the Request, so they are no Reply (START-036).
            if live.tcp.readable_octets() > 0 {
                let state = "has octets that nobody has read";
                return Err(EndpointError::State { peer, state });
            }
            let machine = Initiator::new(self.startup, private_data, wire.now)?;
            live.begin_startup(Startup::Initiator(machine), wire.now);
            Ok(())
        })
    }

    /// The peer's Private Data, once its Reply has come.
    ///
    /// # Errors
    /// As [`QueuePair::start`].
    pub fn poll_started(&self) -> Result<Option<Vec<u8>>, EndpointError> {
        match self.handle.poll_outcome()? {
            Some(outcome) => self.agreed(outcome).map(Some),
            None => Ok(None),
        }
    }

    fn agreed(&self, outcome: Outcome) -> Result<Vec<u8>, EndpointError> {
        match outcome {
            Outcome::Agreed(private_data) => Ok(private_data),
            other => Err(self.handle.error_of(other)),
        }
    }

    /// Accept the peer's Request, with this Private Data. This end may send when the peer's first
    /// FPDU has come: [`PairEvent::Established`].
    ///
    /// # Errors
    /// [`EndpointError::State`] without a Request, [`EndpointError::Answer`],
    /// [`EndpointError::Switch`], [`EndpointError::Device`], [`EndpointError::Ended`].
    pub fn accept(&self, private_data: &[u8]) -> Result<(), EndpointError> {
        self.handle
            .change(|live, wire| live.accept(private_data, wire))
    }

    /// Open a part of a region of the same domain to this connection alone; the window closes with
    /// it.
    ///
    /// # Errors
    /// [`EndpointError::Device`], as [`Connection::bind`](super::super::Connection::bind);
    /// [`EndpointError::State`] after the end, [`EndpointError::Ended`].
    pub fn bind(
        &self,
        region: &MemoryRegion<B, D>,
        options: &WindowOptions,
    ) -> Result<MemoryWindow<B, D>, EndpointError> {
        let (number, _) = self.reserved()?;
        let core = &self.handle.shared.core;
        Ok(MemoryWindow::bind(core, number, region, options)?)
    }

    /// Register memory that this connection alone may reach; the region ends with it.
    ///
    /// # Errors
    /// [`EndpointError::Device`], as
    /// [`ProtectionDomain::register`](super::super::ProtectionDomain::register), with the memory
    /// freed; [`EndpointError::State`] after the end, [`EndpointError::Ended`].
    pub fn register(
        &self,
        memory: Memory<B, D>,
        options: &RegionOptions,
    ) -> Result<MemoryRegion<B, D>, EndpointError> {
        let (number, domain) = self.reserved()?;
        let core = &self.handle.shared.core;
        let registered = MemoryRegion::register(core, domain, Some(number), memory, options);
        registered.map_err(|refused| refused.error.into())
    }

    /// The device's number of the connection, and its domain.
    fn reserved(&self) -> Result<(ConnectionId, u16), EndpointError> {
        let peer = self.handle.peer;
        self.handle.view(|live| {
            let resources = live.resources.as_ref();
            let state = "has ended";
            resources
                .map(|resources| (resources.number, resources.reservation.protection_domain))
                .ok_or(EndpointError::State { peer, state })
        })?
    }

    /// Wait until there is a completion, unless they are shared, or an event.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], [`EndpointError::Ended`].
    pub fn wait(&self, timeout: Option<Duration>) -> Result<(), EndpointError> {
        self.handle.wait_for(end_of(timeout), |live| {
            let has_some = live.has_own_completions() || !live.inbox.events.is_empty();
            has_some.then_some(())
        })
    }

    /// The next event, if there is one.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn poll_event(&self) -> Result<Option<PairEvent>, EndpointError> {
        self.handle.view(|live| {
            let polled = live.inbox.events.pop_front();
            if polled.is_none() && !live.has_own_completions() {
                self.handle.notice.take();
            }
            polled
        })
    }

    /// The next event, as soon as there is one.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], [`EndpointError::Ended`].
    pub fn wait_event(&self, timeout: Option<Duration>) -> Result<PairEvent, EndpointError> {
        let notice = &self.handle.notice;
        notice.wait_for(end_of(timeout), || self.poll_event())
    }

    /// End gracefully: what is posted is sent, then this half closes. [`PairEvent::Closed`] follows
    /// when the peer has closed, too, and everything is acknowledged.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn disconnect(&self) -> Result<(), EndpointError> {
        self.handle.change(|live, _| {
            match &mut live.pair {
                Some(pair) => pair.machine.close(),
                None => live.tcp.abort(),
            }
            Ok(())
        })
    }

    /// End at once: the peer gets an RST, and everything posted is flushed.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn abort(&self) -> Result<(), EndpointError> {
        self.handle.change(|live, _| {
            live.abort();
            Ok(())
        })
    }

    /// Why the connection has ended, if it has: TCP's reason, or that the peer has closed.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn end_reason(&self) -> Result<Option<EndpointError>, EndpointError> {
        self.handle.view(|live| {
            let has_ended = live.tcp.state() == State::Closed;
            has_ended.then(|| live.why_ended())
        })
    }

    /// TCP at this moment.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn statistics(&self) -> Result<Statistics, EndpointError> {
        self.handle.statistics()
    }
}

impl<B: Bar, D: Dma> AsFd for QueuePair<B, D> {
    /// Readable from a completion or an event on until both were polled to the end; of a pair that
    /// shares its completions, from an event on.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.notice.as_fd()
    }
}
