//! What the peer's thread and those who call it share, behind one lock.

use crate::kept::Kept;
use crate::port::{Port, Reader};
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::Socket;
use smoltcp::time::Instant as StackInstant;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The stack and its connections.
pub(crate) struct Inner {
    pub interface: Interface,
    pub sockets: SocketSet<'static>,
    pub port: Port,
    pub kept: BTreeMap<SocketHandle, Kept>,
    pub begun: Instant,
    pub has_ended: bool,
    pub last_port: u16,
}

impl Inner {
    /// Let TCP do what it can.
    pub fn turn(&mut self) {
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

/// The lock, and who waits.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Debug for Shared {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("Shared")
    }
}

impl Shared {
    pub fn new(inner: Inner) -> Self {
        Self {
            inner: Mutex::new(inner),
            changed: Condvar::new(),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("its thread does not panic")
    }

    /// The same where nothing may be asserted any more.
    pub fn lock_anyway(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Change something, and do at once what follows.
    pub fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.lock();
        let changed = change(&mut inner);
        inner.turn();
        self.changed.notify_all();
        changed
    }

    /// Wait until `look` finds something, or this time is over.
    pub fn wait_within<T>(
        &self,
        patience: Duration,
        mut look: impl FnMut(&mut Inner) -> Option<T>,
    ) -> Option<T> {
        let end = Instant::now() + patience;
        let mut inner = self.lock();
        loop {
            if let Some(found) = look(&mut inner) {
                return Some(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(inner, left);
            inner = waited.expect("its thread does not panic").0;
        }
    }

    /// What its thread does.
    pub fn run(&self, mut reader: Reader) {
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
