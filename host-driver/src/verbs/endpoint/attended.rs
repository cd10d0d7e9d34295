//! An endpoint with what its user calls, and its thread.

use super::engine::{initial_sequence, random, Engine, Listening};
use super::error::EndpointError;
use super::handle::Handle;
use super::listener::Listener;
use super::live::Live;
use super::loop_file::LoopFile;
use super::notice::Notice;
use super::settings::EndpointSettings;
use super::shared::{Clock, Shared};
use super::sharing::SharedCompletions;
use super::stream::Stream;
use super::wire::EndpointCounts;
use crate::bus::{FunctionBar, FunctionMemory, PciFunction};
use crate::device::access::{Bar, Dma};
use crate::device::config::Config;
use crate::device::error::DriverError;
use crate::device::interrupts::InterruptSource;
use crate::monitor::Monitor;
use crate::stack::{Ends, Interface, InterfaceCounts};
use crate::verbs::completion_queue::CompletionQueue;
use crate::verbs::context::Context;
use crate::verbs::ledger::Object;
use rnic_tcp::{Connection, ListenerSettings};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Ports of connections that this host opens (RFC 6335 section 6).
const EPHEMERAL_FIRST: u16 = 49_152;
/// Between two looks at what is left of connections.
const DRAIN_STEP: Duration = Duration::from_millis(1);
/// Entries of the completion queue of all connections: whatever they can cause fits, as 2,048
/// receives, Read Requests and Reads are posted at most, and an error more of each connection. So
/// the error of a queue that is full, `CqOverflow` (0, 0, 0), is not raised here; the test bench
/// raises it with queues of its own (`testbench/tests/serve/overflow.rs`).
const COMPLETION_ENTRIES_LOG2: u32 = 12;

/// Connections over a device. While there is one, the host path, the events and the transmit rings
/// are its own: the context's calls for these find nothing, and send nothing.
///
/// Dropped, its connections are reset; a reset that the network loses is not sent again.
///
/// ```no_run
/// use rnic_driver::stack::{AddressPrefix, Settings};
/// use rnic_driver::verbs::endpoint::{Endpoint, EndpointSettings};
/// use rnic_driver::verbs::Context;
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Endpoint::device_config())?;
/// let address = AddressPrefix { address: "192.0.2.2".parse()?, bits: 24 };
/// let interface = Settings::new([2, 0, 0, 0, 0, 2], vec![address]);
/// let endpoint = Endpoint::start(&context, &EndpointSettings::new(interface))?;
/// let stream = endpoint.connect("192.0.2.1:7174".parse()?)?;
/// println!("connected from {}", stream.local_addr());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Endpoint<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    pub(super) shared: Arc<Shared<B, D>>,
    context: Context<B, D>,
    queue: CompletionQueue<B, D>,
    thread: Option<JoinHandle<()>>,
    /// That everything it polls raises.
    pub(super) vector: Option<u8>,
    /// For an application that runs it.
    pub(super) file: LoopFile,
    id: u64,
}

impl Endpoint {
    /// A device for connections: both transmit rings, and events without a delay, which would
    /// belong to the device's cycles and not to the peers' clocks where it is simulated.
    pub fn device_config() -> Config {
        Config {
            control_units_log2: 10,
            bulk_units_log2: 12,
            host_slots_log2: 10,
            event_delay_log2: 0,
            ..Config::default()
        }
    }

    /// Begin, on a thread of its own.
    ///
    /// # Errors
    /// [`EndpointError::Interface`], [`EndpointError::Tcp`], [`EndpointError::System`],
    /// [`EndpointError::Monitor`]; [`EndpointError::Device`]: the context has an endpoint, no
    /// transmit ring ([`Endpoint::device_config`] has both), or no vector or queue is left.
    pub fn start(context: &Context, settings: &EndpointSettings) -> Result<Self, EndpointError> {
        let clock = Clock::Running(Instant::now());
        let mut endpoint = Self::make(context, settings, clock)?;
        let function = endpoint.take_vector(settings.hold_off_us)?;
        let shared = Arc::clone(&endpoint.shared);
        let vector = endpoint.vector.unwrap_or_default();
        let path = settings.monitor.as_deref();
        let monitor = path.map(Monitor::bind).transpose()?;
        let run = move || shared.run(&function, vector, monitor);
        let thread = thread::Builder::new().name("rnic endpoint".to_owned());
        let spawned = thread.spawn(run).map_err(|source| EndpointError::System {
            what: "a thread",
            source,
        });
        endpoint.thread = Some(spawned?);
        Ok(endpoint)
    }

    /// Have everything that it polls raise a vector that is free, once in `hold_off_us` at most.
    pub(super) fn take_vector(&mut self, hold_off_us: u32) -> Result<PciFunction, DriverError> {
        let mut ledger = self.context.core().lock();
        let function = ledger.view().function().clone();
        let vectors = function.vectors();
        let mut free = (0..vectors as u8).filter(|vector| !ledger.vectors.contains(vector));
        let vector = free.next().ok_or(DriverError::Exhausted {
            what: "interrupt vector",
            limit: vectors,
        })?;
        ledger.vectors.insert(vector);
        drop(ledger);
        // What fails from here on is undone when `self` is dropped.
        self.vector = Some(vector);
        self.context.set_hold_off(vector, hold_off_us)?;
        self.route(Some(vector))?;
        Ok(function)
    }
}

impl<B: Bar, D: Dma> Endpoint<B, D> {
    pub(super) fn make(
        context: &Context<B, D>,
        settings: &EndpointSettings,
        clock: Clock,
    ) -> Result<Self, EndpointError> {
        settings.tcp.check()?;
        let interface = Interface::new(settings.interface.clone())?;
        let wake = Notice::new("a file")?;
        let file = LoopFile::new()?;
        let queue = context.completion_queue(COMPLETION_ENTRIES_LOG2)?;
        let core = context.core();
        let id = claim(context)?;
        let mut engine = Engine::new(Arc::clone(core), interface, queue.number(), settings.tcp);
        engine.tap.clone_from(&settings.tap);
        Ok(Self {
            shared: Arc::new(Shared::new(Arc::clone(core), engine, wake, clock)),
            context: context.clone(),
            queue,
            thread: None,
            vector: None,
            file,
            id,
        })
    }

    /// Have everything that an endpoint polls raise `vector`, or nothing.
    fn route(&self, vector: Option<u8>) -> Result<(), DriverError> {
        let mut ledger = self.context.core().lock();
        let sources = [
            InterruptSource::HostFrame,
            InterruptSource::Event,
            InterruptSource::Completion(self.queue.number()),
        ];
        sources
            .into_iter()
            .try_for_each(|source| ledger.device().route_interrupt(source, vector))
    }

    /// A place for the completions of several queue pairs.
    ///
    /// # Errors
    /// [`EndpointError::System`] if there is no file left, [`EndpointError::Ended`].
    pub fn shared_completions(&self) -> Result<SharedCompletions<B, D>, EndpointError> {
        SharedCompletions::new(&self.shared)
    }

    /// Open a connection to `peer`, and wait until it is there.
    ///
    /// # Errors
    /// [`EndpointError::Lost`] if the peer refuses it or does not answer in time
    /// ([`rnic_tcp::TimeOut::Syn`]); those of [`Endpoint::open`].
    pub fn connect(&self, peer: SocketAddr) -> Result<Stream<B, D>, EndpointError> {
        self.connect_with(peer, |_| {})
    }

    /// As [`Endpoint::connect`], with TCP set as `set` has it.
    ///
    /// # Errors
    /// As there.
    pub fn connect_with(
        &self,
        peer: SocketAddr,
        set: impl FnOnce(&mut rnic_tcp::Settings),
    ) -> Result<Stream<B, D>, EndpointError> {
        let stream = self.open(peer, set)?;
        stream.wait_connected()?;
        Ok(stream)
    }

    /// Begin to open a connection to `peer`, with TCP set as `set` has it; [`Stream::is_connected`]
    /// says when it is there.
    ///
    /// # Errors
    /// [`EndpointError::Tcp`], [`EndpointError::NoAddress`], [`EndpointError::NoPort`],
    /// [`EndpointError::Unroutable`], [`EndpointError::System`], [`EndpointError::Ended`].
    pub fn open(
        &self,
        peer: SocketAddr,
        set: impl FnOnce(&mut rnic_tcp::Settings),
    ) -> Result<Stream<B, D>, EndpointError> {
        let notice = Notice::new("a file for a connection")?;
        let handle = self.shared.change(|engine, now| {
            let own = engine.interface.settings().source_for(peer.ip());
            let own = own.ok_or(EndpointError::NoAddress(peer.ip()))?;
            // It asks for the next hop, if that is not known.
            engine.interface.header(peer.ip(), now)?;
            let mut ends = ephemeral_ports(random() as u16).map(|port| Ends {
                own: (own, port).into(),
                peer,
            });
            let free = ends.find(|ends| !engine.by_ends.contains_key(ends));
            let ends = free.ok_or(EndpointError::NoPort(peer))?;
            let mut settings = engine.tcp_with(peer.ip());
            set(&mut settings);
            let tcp = Connection::connect(settings, initial_sequence(), now)?;
            let live = Live::new(ends, tcp, Arc::new(notice));
            Ok(Handle::enter(&self.shared, engine, live))
        })?;
        Ok(Stream { handle })
    }

    /// Listen on one of the interface's addresses.
    ///
    /// # Errors
    /// [`EndpointError::NotOwn`], [`EndpointError::Listening`], [`EndpointError::Tcp`],
    /// [`EndpointError::System`], [`EndpointError::Ended`].
    pub fn listen(&self, own: SocketAddr) -> Result<Listener<B, D>, EndpointError> {
        self.listen_with(own, ListenerSettings::default())
    }

    /// As [`Endpoint::listen`], with limits of its own; TCP is that of the endpoint.
    ///
    /// # Errors
    /// As there.
    pub fn listen_with(
        &self,
        own: SocketAddr,
        settings: ListenerSettings,
    ) -> Result<Listener<B, D>, EndpointError> {
        let notice = Arc::new(Notice::new("a file for a listener")?);
        self.shared.change(|engine, _| {
            if !engine.interface.settings().is_own(own.ip()) {
                return Err(EndpointError::NotOwn(own.ip()));
            }
            if engine.listening(own).is_some() {
                return Err(EndpointError::Listening(own));
            }
            let settings = ListenerSettings {
                connection: engine.tcp_with(own.ip()),
                ..settings
            };
            engine.listeners.push(Listening {
                own,
                tcp: rnic_tcp::Listener::new(settings)?,
                notice: Arc::clone(&notice),
            });
            Ok(())
        })?;
        Ok(Listener::new(&self.shared, own, notice))
    }

    /// Wait until every connection has ended, those that were dropped after a graceful close too;
    /// what is in TIME-WAIT has. `false`: not all have within `timeout`.
    pub fn drain(&self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        loop {
            let is_open = self.shared.view(|engine| {
                let mut lives = engine.lives.values();
                lives.any(|live| !live.has_ended())
            });
            if !is_open || Instant::now() >= end {
                return !is_open;
            }
            thread::sleep(DRAIN_STEP);
        }
    }

    /// As [`Monitor::serve`], with what the endpoint does for its connections.
    ///
    /// # Errors
    /// As there.
    pub fn serve_monitor(&self, monitor: &mut Monitor) -> io::Result<()> {
        self.shared.view(|engine| engine.serve_monitor(monitor))
    }

    /// What the endpoint has done.
    pub fn counts(&self) -> EndpointCounts {
        self.shared.view(|engine| engine.counts)
    }

    /// What has become of frames of the host path.
    pub fn interface_counts(&self) -> InterfaceCounts {
        self.shared.view(|engine| engine.interface.counts())
    }

    /// Connections that it has, those in TIME-WAIT included.
    pub fn connections(&self) -> usize {
        self.shared.view(|engine| engine.lives.len())
    }
}

/// All ports of connections that this host opens, from one that `start` says.
fn ephemeral_ports(start: u16) -> impl Iterator<Item = u16> {
    // As many as the bits that the first one does not have can say.
    (EPHEMERAL_FIRST..=u16::MAX).map(move |port| EPHEMERAL_FIRST | port.wrapping_add(start))
}

/// The only endpoint of a context.
fn claim<B: Bar, D: Dma>(context: &Context<B, D>) -> Result<u64, DriverError> {
    let mut ledger = context.core().lock();
    ledger.expect_no_endpoint()?;
    ledger.has_endpoint = true;
    Ok(ledger.add_handle(Object::Endpoint))
}

impl<B: Bar, D: Dma> Drop for Endpoint<B, D> {
    fn drop(&mut self) {
        self.shared.end();
        match self.thread.take() {
            // A thread that has panicked has said so.
            Some(thread) => drop(thread.join()),
            None => self.shared.end_now(),
        }
        // A device that is gone raises nothing.
        let _ = self.route(None);
        if let Some(vector) = self.vector {
            let _ = self.context.set_hold_off(vector, 0);
        }
        let mut ledger = self.context.core().lock();
        ledger.handles.remove(&self.id);
        ledger.has_endpoint = false;
        if let Some(vector) = self.vector {
            ledger.vectors.remove(&vector);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_ephemeral_port_is_tried_once_wherever_the_search_starts() {
        for start in [0, 1, EPHEMERAL_FIRST, u16::MAX] {
            let ports: Vec<u16> = ephemeral_ports(start).collect();
            let distinct: BTreeSet<u16> = ports.iter().copied().collect();
            assert_eq!(ports.len(), 16_384, "{start}");
            assert!(
                distinct.into_iter().eq(EPHEMERAL_FIRST..=u16::MAX),
                "{start}"
            );
        }
    }
}
