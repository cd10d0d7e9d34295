//! A connection of the stranger's: octets both ways, and its ends.

use super::Shared;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, State};
use std::sync::Arc;

/// A connection, as the thread has it.
#[derive(Default)]
pub struct Kept {
    /// Octets that TCP has no room for yet.
    pub outgoing: Vec<u8>,
    /// All octets that came.
    pub received: Vec<u8>,
    /// Octets are taken from TCP as they come.
    pub is_reading: bool,
    /// A FIN follows `outgoing`.
    pub is_closing: bool,
    /// How the other side has ended first.
    pub end: Option<End>,
}

impl Kept {
    /// Octets both ways; says whether there were some.
    pub fn exchange(&mut self, socket: &mut Socket<'_>) -> bool {
        let mut has_moved = false;
        let ended = match socket.state() {
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait => Some(End::Fin),
            State::Closed => Some(End::Reset),
            _ => None,
        };
        self.end = self.end.or(ended);
        while self.is_reading && socket.can_recv() {
            let taken = socket.recv(|octets| (octets.len(), octets.to_vec()));
            self.received.extend(taken.expect("it can be read"));
            has_moved = true;
        }
        if !self.outgoing.is_empty() && socket.can_send() {
            let count = socket.send_slice(&self.outgoing).expect("it can be sent");
            self.outgoing.drain(..count);
            has_moved |= count > 0;
        }
        if self.is_closing && self.outgoing.is_empty() {
            self.is_closing = false;
            socket.close();
            has_moved = true;
        }
        has_moved
    }
}

/// How a connection has ended on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Fin,
    Reset,
}

/// A connection of the stranger's.
pub struct Conn {
    pub(super) shared: Arc<Shared>,
    pub(super) handle: SocketHandle,
}

impl Conn {
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Kept, &mut Socket<'static>) -> T) -> T {
        self.shared.change(|inner| {
            let kept = inner.kept.get_mut(&self.handle).expect("it is there");
            change(kept, inner.sockets.get_mut(self.handle))
        })
    }

    pub(super) fn wait_for<T>(
        &self,
        what: &str,
        mut look: impl FnMut(&mut Kept, &mut Socket<'static>) -> Option<T>,
    ) -> T {
        self.shared.wait_for(what, |inner| {
            let kept = inner.kept.get_mut(&self.handle).expect("it is there");
            look(kept, inner.sockets.get_mut(self.handle))
        })
    }

    pub fn wait_connected(&self) {
        self.wait_for("a connection", |_, socket| socket.may_send().then_some(()));
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

    /// Send a FIN behind everything.
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
    pub fn wait_octets(&self, count: usize) -> Vec<u8> {
        self.wait_for("octets", |kept, _| {
            (kept.received.len() >= count).then(|| kept.received.clone())
        })
    }

    /// How the other side has ended, as soon as it has.
    pub fn wait_end(&self) -> End {
        self.wait_for("an end", |kept, _| kept.end)
    }

    /// Everything that was sent is acknowledged.
    pub fn wait_acknowledged(&self) {
        self.wait_for("acknowledgements", |kept, socket| {
            (kept.outgoing.is_empty() && socket.send_queue() == 0).then_some(())
        });
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
