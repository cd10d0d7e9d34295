//! RDMAP opcodes and untagged queues (RFC 5040 section 4.2).

use core::fmt;

/// Queue number of the Send family (RDMAP-003).
pub const QN_SEND: u32 = 0;
/// Queue number of Read Requests.
pub const QN_READ_REQUEST: u32 = 1;
/// Queue number of Terminates.
pub const QN_TERMINATE: u32 = 2;

/// An RDMAP opcode (RDMAP-002).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opcode {
    /// RDMA Write, tagged.
    RdmaWrite,
    /// RDMA Read Request, untagged on QN 1.
    ReadRequest,
    /// RDMA Read Response, tagged.
    ReadResponse,
    /// Send, untagged on QN 0.
    Send,
    /// Send with Invalidate, untagged on QN 0.
    SendInvalidate,
    /// Send with Solicited Event, untagged on QN 0.
    SendSolicited,
    /// Send with Solicited Event and Invalidate, untagged on QN 0.
    SendSolicitedInvalidate,
    /// Terminate, untagged on QN 2.
    Terminate,
    /// An opcode RFC 5040 reserves.
    Reserved(u8),
}

impl Opcode {
    /// Every opcode that has a meaning, by number.
    pub const ALL: [Self; 8] = [
        Self::RdmaWrite,
        Self::ReadRequest,
        Self::ReadResponse,
        Self::Send,
        Self::SendInvalidate,
        Self::SendSolicited,
        Self::SendSolicitedInvalidate,
        Self::Terminate,
    ];

    /// The untagged queue of its messages; `None` for tagged and reserved opcodes (RDMAP-003).
    pub const fn qn(self) -> Option<u32> {
        match self {
            Self::Send
            | Self::SendInvalidate
            | Self::SendSolicited
            | Self::SendSolicitedInvalidate => Some(QN_SEND),
            Self::ReadRequest => Some(QN_READ_REQUEST),
            Self::Terminate => Some(QN_TERMINATE),
            Self::RdmaWrite | Self::ReadResponse | Self::Reserved(_) => None,
        }
    }

    /// Whether the message carries an STag to invalidate (RDMAP-006).
    pub const fn invalidates(self) -> bool {
        matches!(self, Self::SendInvalidate | Self::SendSolicitedInvalidate)
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RdmaWrite => "rdma_write",
            Self::ReadRequest => "read_request",
            Self::ReadResponse => "read_response",
            Self::Send => "send",
            Self::SendInvalidate => "send_invalidate",
            Self::SendSolicited => "send_se",
            Self::SendSolicitedInvalidate => "send_se_invalidate",
            Self::Terminate => "terminate",
            Self::Reserved(_) => "reserved",
        }
    }
}

impl From<u8> for Opcode {
    fn from(number: u8) -> Self {
        let known = Self::ALL.get(usize::from(number)).copied();
        known.unwrap_or(Self::Reserved(number))
    }
}

impl From<Opcode> for u8 {
    fn from(opcode: Opcode) -> Self {
        match opcode {
            Opcode::RdmaWrite => 0,
            Opcode::ReadRequest => 1,
            Opcode::ReadResponse => 2,
            Opcode::Send => 3,
            Opcode::SendInvalidate => 4,
            Opcode::SendSolicited => 5,
            Opcode::SendSolicitedInvalidate => 6,
            Opcode::Terminate => 7,
            Opcode::Reserved(number) => number,
        }
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserved(number) => write!(f, "reserved_{number}"),
            known => f.write_str(known.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RDMAP-002: numbers and opcodes are one to one, reserved ones included.
    #[test]
    fn every_number_is_one_opcode() {
        for number in 0..16 {
            let opcode = Opcode::from(number);
            assert_eq!(u8::from(opcode), number);
            assert_eq!(matches!(opcode, Opcode::Reserved(_)), number > 7);
        }
    }

    /// RDMAP-003: the queue of each opcode.
    #[test]
    fn opcodes_belong_to_their_queue() {
        let queues = Opcode::ALL.map(Opcode::qn);
        let send = Some(QN_SEND);
        let expected = [None, Some(1), None, send, send, send, send, Some(2)];
        assert_eq!(queues, expected);
        assert_eq!(Opcode::from(9).qn(), None);
    }
}
