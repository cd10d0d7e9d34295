//! Connections of a host: an interface, TCP, MPA and queue pairs over one device.
//!
//! ```text
//!  Endpoint --connect--> Stream --queue_pair--> QueuePair --start--> in full operation
//!     |                    ^  \--request--> ConnectionRequest --queue_pair--> QueuePair --accept
//!     +--listen--> Listener/                                \--reject--> Stream
//! ```
//!
//! | file         | what                                                         |
//! |--------------|--------------------------------------------------------------|
//! | `notice`     | files and threads that wait                                  |
//! | `records`    | octets that may have to be sent again                        |
//! | `wire`       | segments and frames on the rings                             |
//! | `pair`       | what a queue pair has of the device                          |
//! | `live`       | a connection                                                 |
//! | `starting`   | MPA's start-up, and the switch to the device                 |
//! | `engine`     | all connections, and what moves them                         |
//! | `arriving`   | results, events, completions, frames                         |
//! | `shared`     | the lock, the thread, the clock                              |
//! | `handle`     | what every handle of a connection is                         |
//!
//! An endpoint has a thread of its own: acknowledgements, retransmission and Read Responses do not
//! wait for an application that computes. It sleeps until an interrupt or a deadline. Calls do at
//! once what follows from them, under the same lock.

mod notice;
mod records;
mod error;
mod wire;
mod pair;
mod live;
mod starting;
mod engine;
mod arriving;
mod shared;
mod handle;
mod queue_pair;
mod request;
mod stream;
mod listener;

pub use error::EndpointError;
pub use listener::Listener;
pub use live::PairEvent;
pub use queue_pair::{PairOptions, QueuePair, SendOperation, WorkCompletion, WorkKind};
pub use request::ConnectionRequest;
pub use stream::Stream;
pub use wire::EndpointCounts;

use super::completion_queue::CompletionQueue;
use super::context::Context;
use super::ledger::Object;
use crate::bus::PciFunction;
use crate::device::config::Config;
use crate::device::error::DriverError;
use crate::device::interrupts::InterruptSource;
use crate::stack::{Ends, Interface, InterfaceCounts, Settings};
use engine::{initial_sequence, random, Engine, Listening};
use handle::Handle;
use live::Live;
use notice::Notice;
use rnic_tcp::{Connection, ListenerSettings};
use shared::Shared;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Ports of connections that this host opens (RFC 6335 section 6).
const EPHEMERAL_FIRST: u16 = 49_152;
/// Ports that are tried.
const EPHEMERAL: u16 = u16::MAX - EPHEMERAL_FIRST;
/// Entries of the completion queue of all connections: whatever they can cause fits.
const COMPLETION_ENTRIES_LOG2: u32 = 12;

/// What an endpoint is told when it is made.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// Addresses, gateways, MTU.
    pub interface: Settings,
    /// TCP of all its connections; the largest segment is what the MTU leaves.
    pub tcp: rnic_tcp::Settings,
}

impl EndpointSettings {
    /// An interface with TCP's default settings.
    pub fn new(interface: Settings) -> Self {
        let has_v6 = interface
            .addresses
            .iter()
            .any(|prefix| prefix.address.is_ipv6());
        let headers = if has_v6 { 60 } else { 40 };
        let emss_octets = interface.mtu_octets.saturating_sub(headers);
        let tcp = rnic_tcp::Settings {
            emss_octets: emss_octets.max(rnic_tcp::settings::EMSS_OCTETS_MIN),
            ..rnic_tcp::Settings::default()
        };
        Self { interface, tcp }
    }
}

/// Connections over a device. While there is one, the frames of the host path, the events and the
/// results of transmission are its own: the context's calls for these find nothing.
///
/// Dropped, its connections are reset; a reset that the network loses is not sent again.
#[derive(Debug)]
pub struct Endpoint {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    context: Context,
    /// Its entries are polled by the thread.
    _queue: CompletionQueue,
    vector: u8,
    id: u64,
}

impl Endpoint {
    /// A device for connections: both transmit rings, and events without a delay, which belongs to
    /// the peers' clocks and not to the device's cycles where it is simulated.
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
    /// [`EndpointError::Interface`], [`EndpointError::Tcp`], [`EndpointError::System`];
    /// [`EndpointError::Device`]: the context has an endpoint, no transmit ring
    /// ([`Endpoint::device_config`] has both), or no vector or queue is left.
    pub fn start(context: &Context, settings: &EndpointSettings) -> Result<Self, EndpointError> {
        settings.tcp.check()?;
        let interface = Interface::new(settings.interface.clone())?;
        let system = |what| move |source| EndpointError::System { what, source };
        let wake = Notice::new().map_err(system("a file"))?;
        let queue = context.completion_queue(COMPLETION_ENTRIES_LOG2)?;
        let core = context.core();
        let (function, vector, id) = claim(context)?;
        let engine = Engine::new(Arc::clone(core), interface, queue.number(), settings.tcp);
        let shared = Arc::new(Shared::new(Arc::clone(core), engine, wake));
        let mut endpoint = Self {
            shared: Arc::clone(&shared),
            thread: None,
            context: context.clone(),
            _queue: queue,
            vector,
            id,
        };
        // What fails is undone when `endpoint` is dropped.
        endpoint.route(Some(vector))?;
        let run = move || shared.run(&function, vector);
        let thread = thread::Builder::new().name("rnic endpoint".to_owned());
        endpoint.thread = Some(thread.spawn(run).map_err(system("a thread"))?);
        Ok(endpoint)
    }

    /// Have everything that an endpoint polls raise `vector`, or nothing.
    fn route(&self, vector: Option<u8>) -> Result<(), DriverError> {
        let mut ledger = self.context.core().lock();
        let sources = [
            InterruptSource::HostFrame,
            InterruptSource::Event,
            InterruptSource::Completion(self._queue.number()),
        ];
        sources
            .into_iter()
            .try_for_each(|source| ledger.device().route_interrupt(source, vector))
    }

    /// Open a connection to `peer`, and wait until it is there.
    ///
    /// # Errors
    /// [`EndpointError::Lost`] if the peer refuses it or does not answer in time
    /// ([`rnic_tcp::TimeOut::Syn`]); [`EndpointError::NoAddress`], [`EndpointError::NoPort`],
    /// [`EndpointError::Unroutable`], [`EndpointError::System`], [`EndpointError::Ended`].
    pub fn connect(&self, peer: SocketAddr) -> Result<Stream, EndpointError> {
        self.connect_with(peer, |_| {})
    }

    /// As [`Endpoint::connect`], with TCP set otherwise.
    ///
    /// # Errors
    /// As there, and [`EndpointError::Tcp`].
    pub fn connect_with(
        &self,
        peer: SocketAddr,
        set: impl FnOnce(&mut rnic_tcp::Settings),
    ) -> Result<Stream, EndpointError> {
        let notice = Notice::new().map_err(|source| EndpointError::System {
            what: "a file for a connection",
            source,
        })?;
        let handle = self.shared.change(|engine, now| {
            let own = engine.interface.settings().source_for(peer.ip());
            let own = own.ok_or(EndpointError::NoAddress(peer.ip()))?;
            // It asks for the next hop, if that is not known.
            engine.interface.header(peer.ip(), now)?;
            let offset = random() as u16;
            let ports = (0..EPHEMERAL)
                .map(|tried| EPHEMERAL_FIRST + offset.wrapping_add(tried) % EPHEMERAL);
            let mut ends = ports.map(|port| Ends {
                own: (own, port).into(),
                peer,
            });
            let free = ends.find(|ends| !engine.by_ends.contains_key(ends));
            let ends = free.ok_or(EndpointError::NoPort(peer))?;
            let mut settings = engine.tcp;
            set(&mut settings);
            let tcp = Connection::connect(settings, initial_sequence(), now)?;
            let live = Live::new(ends, tcp, Arc::new(notice));
            Ok(Handle::enter(&self.shared, engine, live))
        })?;
        let stream = Stream { handle };
        stream.wait_connected()?;
        Ok(stream)
    }

    /// Listen on one of the interface's addresses.
    ///
    /// # Errors
    /// [`EndpointError::NotOwn`], [`EndpointError::Listening`], [`EndpointError::Tcp`],
    /// [`EndpointError::System`], [`EndpointError::Ended`].
    pub fn listen(&self, own: SocketAddr) -> Result<Listener, EndpointError> {
        let settings = ListenerSettings::default();
        self.listen_with(own, settings)
    }

    /// As [`Endpoint::listen`], with limits of its own; TCP is that of the endpoint.
    ///
    /// # Errors
    /// As there.
    pub fn listen_with(
        &self,
        own: SocketAddr,
        settings: ListenerSettings,
    ) -> Result<Listener, EndpointError> {
        let notice = Notice::new().map_err(|source| EndpointError::System {
            what: "a file for a listener",
            source,
        })?;
        let notice = Arc::new(notice);
        self.shared.change(|engine, _| {
            if !engine.interface.settings().is_own(own.ip()) {
                return Err(EndpointError::NotOwn(own.ip()));
            }
            let mut listeners = engine.listeners.iter();
            if listeners.any(|listening| listening.own == own) {
                return Err(EndpointError::Listening(own));
            }
            let settings = ListenerSettings {
                connection: engine.tcp,
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

/// A vector of the device, and that it has an endpoint.
fn claim(context: &Context) -> Result<(PciFunction, u8, u64), DriverError> {
    let mut ledger = context.core().lock();
    let is_endpoint = |object: &Object| matches!(object, Object::Endpoint);
    if ledger.handles.values().any(is_endpoint) {
        return Err(DriverError::InUse {
            what: "the device's host path".to_owned(),
            by: Object::Endpoint.to_string(),
        });
    }
    let function = ledger.view().function().clone();
    let vectors = function.vectors();
    let mut free = (0..vectors as u8).filter(|vector| !ledger.vectors.contains(vector));
    let vector = free.next().ok_or(DriverError::Exhausted {
        what: "interrupt vector",
        limit: vectors,
    })?;
    ledger.vectors.insert(vector);
    let id = ledger.add_handle(Object::Endpoint);
    Ok((function, vector, id))
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
        // A device that is gone raises nothing.
        let _ = self.route(None);
        let mut ledger = self.context.core().lock();
        ledger.handles.remove(&self.id);
        ledger.vectors.remove(&self.vector);
    }
}
