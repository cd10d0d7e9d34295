//! The peer: its interface on a wire, and its connections.

use crate::conn::{Conn, PATIENCE};
use crate::frame::MTU_OCTETS;
use crate::kept::Kept;
use crate::port::{Faults, Port};
use crate::shared::{Inner, Shared};
use crate::wiretap::Segment;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Its MAC, unless it is given another one.
pub const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// Octets of what TCP holds to be read.
const RECEIVE_OCTETS: usize = 65_535;
/// Octets of what TCP holds to be sent.
const SEND_OCTETS: usize = 1 << 18;
/// Ports of its own begin after this one.
const PORT_BEFORE: u16 = 40_000;
/// How many first ports there are.
const FIRST_PORTS: u64 = 20_000;
/// The seed, unless it is given another one; its first port is the first of all.
const SEED: u64 = 0;

/// Who it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its MAC.
    pub mac: [u8; 6],
    /// Its only address.
    pub address: IpAddr,
    /// Bits of the prefix of its link.
    pub bits: u8,
    /// Its sequence numbers and its first port come from this one: a target that remembers earlier
    /// connections is met with others.
    pub seed: u64,
}

impl Identity {
    /// Its MAC is [`MAC`].
    pub fn new(address: IpAddr, bits: u8) -> Self {
        Self {
            mac: MAC,
            address,
            bits,
            seed: SEED,
        }
    }
}

/// Why it cannot join a wire.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The socket.
    #[error("the wire's socket: {0}")]
    Socket(#[from] io::Error),
}

/// The peer.
#[derive(Debug)]
pub struct Stranger {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Its address.
    pub address: IpAddr,
}

impl Stranger {
    /// At the port of a hub, as 192.0.2.9.
    ///
    /// # Panics
    /// Nobody listens.
    pub fn join(path: &Path) -> Self {
        let socket = UnixStream::connect(path).expect("the hub listens");
        let identity = Identity::new([192, 0, 2, 9].into(), 24);
        Self::begin(socket, identity).expect("a socket")
    }

    /// On a wire whose frames come and go as those of `-netdev stream` of QEMU.
    ///
    /// # Errors
    /// The socket is none.
    pub fn begin(wire: UnixStream, identity: Identity) -> Result<Self, JoinError> {
        let (mut port, reader) = Port::join(wire)?;
        let mac = HardwareAddress::Ethernet(EthernetAddress(identity.mac));
        let mut config = Config::new(mac);
        config.random_seed = identity.seed;
        let mut interface = Interface::new(config, &mut port, StackInstant::ZERO);
        interface.update_ip_addrs(|addresses| {
            let cidr = IpCidr::new(IpAddress::from(identity.address), identity.bits);
            addresses.push(cidr).expect("the first");
        });
        let shared = Arc::new(Shared::new(Inner {
            interface,
            sockets: SocketSet::new(Vec::new()),
            port,
            kept: BTreeMap::new(),
            begun: Instant::now(),
            has_ended: false,
            last_port: PORT_BEFORE + (identity.seed % FIRST_PORTS) as u16,
        }));
        let running = Arc::clone(&shared);
        Ok(Self {
            shared,
            thread: Some(thread::spawn(move || running.run(reader))),
            address: identity.address,
        })
    }

    fn conn(&self, open: impl FnOnce(&mut Socket<'static>, &mut Interface, u16)) -> Conn {
        let handle = self.shared.change(|inner| {
            let buffer = |octets| SocketBuffer::new(vec![0; octets]);
            let mut socket = Socket::new(buffer(RECEIVE_OCTETS), buffer(SEND_OCTETS));
            socket.set_nagle_enabled(false);
            socket.set_ack_delay(None);
            inner.last_port = inner.last_port.checked_add(1).unwrap_or(PORT_BEFORE + 1);
            open(&mut socket, &mut inner.interface, inner.last_port);
            let handle = inner.sockets.add(socket);
            let kept = Kept {
                is_reading: true,
                ..Kept::default()
            };
            inner.kept.insert(handle, kept);
            handle
        });
        Conn {
            shared: Arc::clone(&self.shared),
            handle,
        }
    }

    /// Begin to open a connection.
    pub fn dial(&self, peer: SocketAddr) -> Conn {
        self.conn(|socket, interface, port| {
            let opened = socket.connect(interface.context(), peer, port);
            opened.expect("it can be tried");
        })
    }

    /// Open a connection, and wait until it is there.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub fn connect(&self, peer: SocketAddr) -> Conn {
        let conn = self.dial(peer);
        conn.wait_connected();
        conn
    }

    /// Wait for one connection to a port of its own, which [`Conn::own_port`] tells.
    pub fn listen(&self) -> Conn {
        self.conn(|socket, _, port| socket.listen(port).expect("a port"))
    }

    /// Wait for one connection to this port.
    pub fn listen_on(&self, port: u16) -> Conn {
        self.conn(|socket, _, _| socket.listen(port).expect("a port"))
    }

    /// Send a frame that no TCP has made.
    pub fn inject(&self, frame: Vec<u8>) {
        self.shared.change(|inner| inner.port.send(frame));
    }

    /// Neither hear nor say anything, or do again.
    pub fn set_silent(&self, is_silent: bool) {
        self.shared.change(|inner| inner.port.is_silent = is_silent);
    }

    /// What becomes of the next segments with octets.
    pub fn set_faults(&self, faults: Faults) {
        self.shared.change(|inner| inner.port.set_faults(faults));
    }

    /// A link on the way takes packets of `octets` octets, and longer ones are reported as those of
    /// a link of `reported` octets.
    pub fn set_path(&self, octets: usize, reported: u16) {
        self.shared.change(|inner| {
            inner.port.path_octets = octets.min(MTU_OCTETS);
            inner.port.reported_octets = reported;
        });
    }

    /// How many frames have come.
    pub fn mark(&self) -> usize {
        self.shared.lock().port.seen.len()
    }

    /// Segments to one of its ports that have come since a mark.
    pub fn heard(&self, mark: usize, port: u16) -> Vec<Segment> {
        let frames = self.shared.lock().port.seen[mark..].to_vec();
        let segments = frames.iter().filter_map(|frame| Segment::read(frame));
        segments
            .filter(|segment| segment.to.port() == port)
            .collect()
    }

    /// Whether a FIN has come to one of its ports: an RST right after it hides it from TCP.
    pub fn has_heard_fin(&self, port: u16) -> bool {
        let inner = self.shared.lock();
        let mut segments = inner
            .port
            .seen
            .iter()
            .filter_map(|frame| Segment::read_unsummed(frame));
        segments.any(|segment| segment.to.port() == port && segment.is_fin)
    }

    /// The last frame that has left with a segment of one of its ports.
    ///
    /// # Panics
    /// There is none.
    pub fn last_sent(&self, port: u16) -> Vec<u8> {
        let frame = self.last_frame(port);
        frame.expect("there is one")
    }

    /// The last frame that has left with a segment of one of its ports, if there is one.
    pub fn last_frame(&self, port: u16) -> Option<Vec<u8>> {
        let inner = self.shared.lock();
        let is_of_port = |frame: &&Vec<u8>| {
            Segment::read_unsummed(frame).is_some_and(|segment| segment.from.port() == port)
        };
        inner.port.sent.iter().rev().find(is_of_port).cloned()
    }

    /// Forget the frames that came and left: marks are of no use any more.
    pub fn forget_frames(&self) {
        self.shared.change(|inner| {
            inner.port.seen.clear();
            inner.port.sent.clear();
        });
    }

    /// The first segment that has come since a mark and is as `wanted`, and its frame.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub fn wait_segment(
        &self,
        mark: usize,
        wanted: impl Fn(&Segment) -> bool,
    ) -> (Segment, Vec<u8>) {
        let found = self.segment_within(PATIENCE, mark, wanted);
        found.expect("the stranger has waited for a segment")
    }

    /// The first segment since a mark that is as `wanted`, if it comes in this time.
    pub fn segment_within(
        &self,
        patience: Duration,
        mark: usize,
        wanted: impl Fn(&Segment) -> bool,
    ) -> Option<(Segment, Vec<u8>)> {
        self.shared.wait_within(patience, |inner| {
            inner.port.seen[mark..].iter().find_map(|frame| {
                let segment = Segment::read(frame).filter(&wanted)?;
                Some((segment, frame.clone()))
            })
        })
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.shared.lock_anyway().has_ended = true;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
