//! A peer that is written from the specifications alone, and may do whatever it likes: TCP of
//! another make, MPA, DDP and RDMAP octet by octet.
//!
//! ```text
//!  test --octets--> Conn --> smoltcp --> Port --frames--> hub --> the device that is judged
//!    ^                          ^                           |
//!    +---- octets, FIN, RST ----+-------- a thread <--------+
//! ```
//!
//! | file      | what                                    |
//! |-----------|-----------------------------------------|
//! | `port`    | frames, and a record of them            |
//! | `wiretap` | segments of the record, and forged ones |
//! | `icmp`    | reports of packets that are too big     |
//! | `mpa`     | start-up frames, FPDUs, markers, CRC32C |
//! | `ddp`     | headers, Read Requests, Terminates      |
//! | `conn`    | a connection                            |
//! | `talk`    | a connection in full operation          |

mod conn;
pub mod ddp;
pub mod icmp;
pub mod mpa;
mod port;
mod talk;
pub mod wiretap;

pub use conn::{Conn, End};
pub use talk::Talk;

use conn::Kept;
use port::{Port, Reader};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wiretap::Segment;

/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);
/// Its MAC.
pub const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// Octets of what TCP holds to be read.
const RECEIVE_OCTETS: usize = 65_535;
/// Octets of what TCP holds to be sent.
const SEND_OCTETS: usize = 1 << 18;

struct Inner {
    interface: Interface,
    sockets: SocketSet<'static>,
    port: Port,
    kept: BTreeMap<SocketHandle, Kept>,
    begun: Instant,
    has_ended: bool,
    last_port: u16,
}

impl Inner {
    /// Let TCP do what it can.
    fn turn(&mut self) {
        loop {
            let now = StackInstant::from_micros(self.begun.elapsed().as_micros() as i64);
            self.interface.poll(now, &mut self.port, &mut self.sockets);
            let mut has_moved = false;
            for (&handle, kept) in &mut self.kept {
                let socket = self.sockets.get_mut::<Socket>(handle);
                has_moved |= kept.exchange(socket);
            }
            if !has_moved {
                return;
            }
        }
    }
}

struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("its thread does not panic")
    }

    /// The same where nothing may be asserted any more.
    fn lock_anyway(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Change something, and do at once what follows.
    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.lock();
        let changed = change(&mut inner);
        inner.turn();
        self.changed.notify_all();
        changed
    }

    /// Wait until `look` finds something; `what` is said otherwise.
    fn wait_for<T>(&self, what: &str, mut look: impl FnMut(&mut Inner) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        let mut inner = self.lock();
        loop {
            if let Some(found) = look(&mut inner) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the stranger has waited for {what}");
            let waited = self.changed.wait_timeout(inner, left);
            inner = waited.expect("its thread does not panic").0;
        }
    }

    /// What its thread does.
    fn run(&self, mut reader: Reader) {
        while let Some(frames) = reader.read() {
            let mut inner = self.lock();
            if inner.has_ended {
                return;
            }
            for frame in frames {
                inner.port.take(frame);
            }
            inner.turn();
            drop(inner);
            self.changed.notify_all();
        }
    }
}

/// The peer.
pub struct Stranger {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    pub address: IpAddr,
}

impl Stranger {
    /// At the port of a hub.
    pub fn join(path: &Path) -> Self {
        let (mut port, reader) = Port::join(path);
        let address = IpAddr::from([192, 0, 2, 9]);
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(MAC)));
        config.random_seed = 9;
        let mut interface = Interface::new(config, &mut port, StackInstant::ZERO);
        interface.update_ip_addrs(|addresses| {
            let cidr = IpCidr::new(IpAddress::from(address), 24);
            addresses.push(cidr).expect("the first");
        });
        let inner = Inner {
            interface,
            sockets: SocketSet::new(Vec::new()),
            port,
            kept: BTreeMap::new(),
            begun: Instant::now(),
            has_ended: false,
            last_port: 40_000,
        };
        let shared = Arc::new(Shared {
            inner: Mutex::new(inner),
            changed: Condvar::new(),
        });
        let running = Arc::clone(&shared);
        Self {
            shared,
            thread: Some(thread::spawn(move || running.run(reader))),
            address,
        }
    }

    fn conn(&self, open: impl FnOnce(&mut Socket<'static>, &mut Interface, u16)) -> Conn {
        let handle = self.shared.change(|inner| {
            let buffer = |octets| SocketBuffer::new(vec![0; octets]);
            let mut socket = Socket::new(buffer(RECEIVE_OCTETS), buffer(SEND_OCTETS));
            socket.set_nagle_enabled(false);
            socket.set_ack_delay(None);
            inner.last_port += 1;
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

    /// Open a connection, and wait until it is there.
    pub fn connect(&self, peer: SocketAddr) -> Conn {
        let conn = self.conn(|socket, interface, port| {
            let opened = socket.connect(interface.context(), peer, port);
            opened.expect("it can be tried");
        });
        conn.wait_connected();
        conn
    }

    /// Wait for one connection to a port of its own, which [`Conn::own_port`] tells.
    pub fn listen(&self) -> Conn {
        self.conn(|socket, _, port| socket.listen(port).expect("a port"))
    }

    /// Send a frame that no TCP has made.
    pub fn inject(&self, frame: Vec<u8>) {
        self.shared.change(|inner| inner.port.send(frame));
    }

    /// Neither hear nor say anything, or do again.
    pub fn set_silent(&self, is_silent: bool) {
        self.shared.change(|inner| inner.port.is_silent = is_silent);
    }

    /// A link on the way takes packets of `octets` octets, and longer ones are reported as those of
    /// a link of `reported` octets.
    pub fn set_path(&self, octets: usize, reported: u16) {
        self.shared.change(|inner| {
            inner.port.path_octets = octets;
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

    /// The last frame that has left with a segment of one of its ports.
    pub fn last_sent(&self, port: u16) -> Vec<u8> {
        let inner = self.shared.lock();
        let is_of_port = |frame: &&Vec<u8>| {
            Segment::read(frame).is_some_and(|segment| segment.from.port() == port)
        };
        let frame = inner.port.sent.iter().rev().find(is_of_port);
        frame.expect("there is one").clone()
    }

    /// The first segment that has come since a mark and is as `wanted`, and its frame.
    pub fn wait_segment(
        &self,
        mark: usize,
        wanted: impl Fn(&Segment) -> bool,
    ) -> (Segment, Vec<u8>) {
        self.shared.wait_for("a segment", |inner| {
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
