//! A connection, as the peer's thread has it.

use smoltcp::socket::tcp::{Socket, State};

/// Octets both ways.
#[derive(Debug, Default)]
pub(crate) struct Kept {
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
            let Ok(taken) = socket.recv(|octets| (octets.len(), octets.to_vec())) else {
                break;
            };
            self.received.extend(taken);
            has_moved = true;
        }
        if !self.outgoing.is_empty() && socket.can_send() {
            let count = socket.send_slice(&self.outgoing).unwrap_or(0);
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
    /// A FIN came.
    Fin,
    /// An RST came.
    Reset,
}
