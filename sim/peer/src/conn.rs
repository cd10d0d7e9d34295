//! A connection of the peer's: octets both ways, and its ends.

use crate::kept::{End, Kept};
use crate::shared::Shared;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, State};
use std::sync::Arc;
use std::time::Duration;

/// What takes longer has not come, in tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A connection of the peer's; it is reset when it is dropped.
#[derive(Debug)]
pub struct Conn {
    pub(crate) shared: Arc<Shared>,
    pub(crate) handle: SocketHandle,
}

impl Conn {
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Kept, &mut Socket<'static>) -> T) -> T {
        self.shared.change(|inner| {
            let kept = inner.kept.get_mut(&self.handle).expect("it is there");
            change(kept, inner.sockets.get_mut(self.handle))
        })
    }

    pub(crate) fn within<T>(
        &self,
        patience: Duration,
        mut look: impl FnMut(&mut Kept, &mut Socket<'static>) -> Option<T>,
    ) -> Option<T> {
        self.shared.wait_within(patience, |inner| {
            let kept = inner.kept.get_mut(&self.handle).expect("it is there");
            look(kept, inner.sockets.get_mut(self.handle))
        })
    }

    /// As [`Conn::within`], for tests.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub(crate) fn wait_for<T>(
        &self,
        what: &str,
        look: impl FnMut(&mut Kept, &mut Socket<'static>) -> Option<T>,
    ) -> T {
        let found = self.within(PATIENCE, look);
        found.unwrap_or_else(|| panic!("the stranger has waited for {what}"))
    }

    /// Wait until it is open.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub fn wait_connected(&self) {
        self.wait_for("a connection", |_, socket| socket.may_send().then_some(()));
    }

    /// Whether it is open after this time: `Some(false)`, it has been refused; `None`, nobody has
    /// answered.
    pub fn connected_within(&self, patience: Duration) -> Option<bool> {
        self.within(patience, |_, socket| match socket.state() {
            State::Closed => Some(false),
            _ => socket.may_send().then_some(true),
        })
    }

    /// Its port.
    pub fn own_port(&self) -> u16 {
        self.change(|_, socket| match socket.local_endpoint() {
            Some(endpoint) => endpoint.port,
            None => socket.listen_endpoint().port,
        })
    }

    /// Send octets, at once as far as the window allows.
    pub fn send(&self, octets: &[u8]) {
        self.change(|kept, _| kept.outgoing.extend_from_slice(octets));
    }

    /// Send octets in segments of one each.
    pub fn send_singly(&self, octets: &[u8]) {
        octets.chunks(1).for_each(|octet| self.send(octet));
    }

    /// Send a FIN after everything.
    pub fn close(&self) {
        self.change(|kept, _| kept.is_closing = true);
    }

    /// Send an RST.
    pub fn abort(&self) {
        self.change(|_, socket| socket.abort());
    }

    /// Take octets from TCP, or leave them there until its window is full.
    pub fn set_reading(&self, is_reading: bool) {
        self.change(|kept, _| kept.is_reading = is_reading);
    }

    /// All octets that have come.
    pub fn received(&self) -> Vec<u8> {
        self.change(|kept, _| kept.received.clone())
    }

    /// All octets, once there are `count`.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub fn wait_octets(&self, count: usize) -> Vec<u8> {
        self.wait_for("octets", |kept, _| {
            (kept.received.len() >= count).then(|| kept.received.clone())
        })
    }

    /// How the other side has ended, as soon as it has.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub fn wait_end(&self) -> End {
        self.wait_for("an end", |kept, _| kept.end)
    }

    /// How the other side has ended, if it does in this time.
    pub fn end_within(&self, patience: Duration) -> Option<End> {
        self.within(patience, |kept, _| kept.end)
    }

    /// Everything that was sent is acknowledged.
    ///
    /// # Panics
    /// It takes longer than a minute.
    pub fn wait_acknowledged(&self) {
        self.wait_for("acknowledgements", |kept, socket| {
            (kept.outgoing.is_empty() && socket.send_queue() == 0).then_some(())
        });
    }

    /// Whether everything that was sent is acknowledged in this time.
    pub fn acknowledged_within(&self, patience: Duration) -> bool {
        let done = self.within(patience, |kept, socket| {
            (kept.outgoing.is_empty() && socket.send_queue() == 0).then_some(())
        });
        done.is_some()
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        let mut inner = self.shared.lock_anyway();
        inner.sockets.get_mut::<Socket>(self.handle).abort();
        inner.turn();
        inner.kept.remove(&self.handle);
        inner.sockets.remove(self.handle);
    }
}
