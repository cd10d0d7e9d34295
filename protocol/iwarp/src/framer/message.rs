//! Messages cut into ULPDUs: a DDP header and a part of the payload each (RFC 5041 section 5).
//!
//! ```text
//!  message   |----------------- payload -----------------|
//!  ULPDUs    | header | part |   | header | part |   | header, L | part |     each <= MULPDU
//! ```
//!
//! A message is cut as it leaves, so a MULPDU that changes is used from the next segment on.

use super::pieces::{Octets, Pieces, HEAD_OCTETS_MAX};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::{Opcode, QN_READ_REQUEST, QN_SEND, QN_TERMINATE};
use rnic_wire::ddp::read_request::{ReadRequestRepr, READ_REQUEST_OCTETS};
use rnic_wire::ddp::tagged::{self, TaggedRepr};
use rnic_wire::ddp::untagged::{self, UntaggedRepr};
use rnic_wire::mpa::fpdu::{MULPDU_MIN, ULPDU_OCTETS_MAX};

/// Octets of the longest Terminate: its own six, an untagged header, a Read Request.
pub const TERMINATE_OCTETS_MAX: usize = 6 + untagged::HEADER_OCTETS + READ_REQUEST_OCTETS;

/// What one FPDU carries: octets by value, then a part of memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ulpdu {
    /// DDP header, and what follows it by value.
    pub(crate) head: Octets<HEAD_OCTETS_MAX>,
    /// Payload by reference.
    pub(crate) payload: Pieces,
    /// The payload may change before the peer acknowledges it: it is copied when it first leaves.
    pub(crate) snapshot: bool,
}

impl Ulpdu {
    /// No octet: the ULPDU of a ready-to-receive message (MPA2-005).
    pub(crate) fn empty() -> Self {
        Self {
            head: Octets::of(&[]),
            payload: Pieces::NONE,
            snapshot: false,
        }
    }

    /// Its length in octets.
    pub fn octets(&self) -> usize {
        self.head.as_slice().len() + self.payload.octets() as usize
    }
}

/// Octets of payload that a ULPDU takes along after `front` octets by value, of `left`.
fn octets_by_reference(front: usize, left: u64, mulpdu: usize) -> u64 {
    let mulpdu = mulpdu.clamp(MULPDU_MIN, ULPDU_OCTETS_MAX);
    left.min(mulpdu.saturating_sub(front) as u64)
}

/// Octets of the first ULPDU of a message that begins with `front` octets by value, its DDP header
/// included, and has `payload` octets by reference: what [`Message::next_octets`] says of one that
/// has been made.
pub(crate) fn first_octets(front: usize, payload: u64, mulpdu: usize) -> usize {
    front + octets_by_reference(front, payload, mulpdu) as usize
}

/// Where a message goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Target {
    Tagged {
        stag: u32,
        to: u64,
    },
    Untagged {
        invalidate_stag: u32,
        qn: u32,
        msn: u32,
    },
}

/// A message of less than 2^32 octets (DDP-017), and how much of it has left.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Message {
    version: u8,
    opcode: Opcode,
    target: Target,
    /// Payload by value, of messages that are one segment.
    inline: Octets<TERMINATE_OCTETS_MAX>,
    payload: Pieces,
    snapshot: bool,
    sent_octets: u64,
    done: bool,
}

impl Message {
    fn new(version: u8, opcode: Opcode, target: Target) -> Self {
        Self {
            version,
            opcode,
            target,
            inline: Octets::of(&[]),
            payload: Pieces::NONE,
            snapshot: false,
            sent_octets: 0,
            done: false,
        }
    }

    /// An RDMA Write.
    pub fn write(version: u8, stag: u32, to: u64, payload: Pieces) -> Self {
        Self {
            payload,
            ..Self::new(version, Opcode::RdmaWrite, Target::Tagged { stag, to })
        }
    }

    /// A Read Response. `snapshot`: its octets are copied when they first leave.
    pub fn read_response(version: u8, stag: u32, to: u64, payload: Pieces, snapshot: bool) -> Self {
        Self {
            payload,
            snapshot,
            ..Self::new(version, Opcode::ReadResponse, Target::Tagged { stag, to })
        }
    }

    /// A Send of one of the four kinds (RDMAP-002, RDMAP-006).
    pub fn send(
        version: u8,
        msn: u32,
        solicited: bool,
        invalidate_stag: Option<u32>,
        payload: Pieces,
    ) -> Self {
        let opcode = match (solicited, invalidate_stag) {
            (false, None) => Opcode::Send,
            (false, Some(_)) => Opcode::SendInvalidate,
            (true, None) => Opcode::SendSolicited,
            (true, Some(_)) => Opcode::SendSolicitedInvalidate,
        };
        let target = Target::Untagged {
            invalidate_stag: invalidate_stag.unwrap_or(0),
            qn: QN_SEND,
            msn,
        };
        Self {
            payload,
            ..Self::new(version, opcode, target)
        }
    }

    /// A Read Request (RDMAP-007).
    pub fn read_request(version: u8, msn: u32, request: &ReadRequestRepr) -> Self {
        Self::by_value(
            version,
            Opcode::ReadRequest,
            QN_READ_REQUEST,
            msn,
            &request.octets(),
        )
    }

    /// The Terminate: the one message of queue 2 (RDMAP-020), of at most 52 octets.
    pub fn terminate(version: u8, payload: &[u8]) -> Self {
        let payload = &payload[..payload.len().min(TERMINATE_OCTETS_MAX)];
        Self::by_value(version, Opcode::Terminate, QN_TERMINATE, 1, payload)
    }

    fn by_value(version: u8, opcode: Opcode, qn: u32, msn: u32, payload: &[u8]) -> Self {
        let target = Target::Untagged {
            invalidate_stag: 0,
            qn,
            msn,
        };
        Self {
            inline: Octets::of(&[payload]),
            ..Self::new(version, opcode, target)
        }
    }

    /// Its opcode.
    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Octets of the payload, whether or not they have left.
    pub fn octets(&self) -> u64 {
        self.inline.as_slice().len() as u64 + self.payload.octets()
    }

    /// All of it has left.
    pub fn is_done(&self) -> bool {
        self.done
    }

    fn header_octets(&self) -> usize {
        match self.target {
            Target::Tagged { .. } => tagged::HEADER_OCTETS,
            Target::Untagged { .. } => untagged::HEADER_OCTETS,
        }
    }

    /// Octets of the next ULPDU's payload, by value and by reference.
    fn next_payload(&self, mulpdu: usize) -> (usize, u64) {
        let by_value = self.inline.as_slice().len();
        let left = self.payload.octets() - self.sent_octets;
        let octets = octets_by_reference(self.header_octets() + by_value, left, mulpdu);
        (by_value, octets)
    }

    /// Octets of the next ULPDU, if there is one.
    pub fn next_octets(&self, mulpdu: usize) -> Option<usize> {
        let (by_value, by_reference) = self.next_payload(mulpdu);
        (!self.done).then_some(self.header_octets() + by_value + by_reference as usize)
    }

    /// Whether the next ULPDU is the last one.
    pub fn next_is_last(&self, mulpdu: usize) -> bool {
        let (_, octets) = self.next_payload(mulpdu);
        !self.done && self.sent_octets + octets == self.payload.octets()
    }

    /// The next ULPDU, if there is one. A `mulpdu` below 128 counts as 128, so that each takes
    /// payload along as long as there is any, and one above 64,768 as that (MPA-032, MPA-033).
    pub fn next(&mut self, mulpdu: usize) -> Option<Ulpdu> {
        if self.done {
            return None;
        }
        let (_, octets) = self.next_payload(mulpdu);
        // L on the last segment and on no other; a message of no octets is one segment (DDP-006,
        // DDP-018).
        let last = self.next_is_last(mulpdu);
        let control = ControlRepr::new(self.version, self.opcode, last);
        let inline = self.inline.as_slice();
        let head = match self.target {
            Target::Tagged { stag, to } => {
                let to = to.wrapping_add(self.sent_octets);
                let repr = TaggedRepr { control, stag, to };
                Octets::of(&[&repr.octets(), inline])
            }
            Target::Untagged {
                invalidate_stag,
                qn,
                msn,
            } => {
                let repr = UntaggedRepr {
                    control,
                    invalidate_stag,
                    qn,
                    msn,
                    mo: self.sent_octets as u32,
                };
                Octets::of(&[&repr.octets(), inline])
            }
        };
        let payload = self.payload.part(self.sent_octets, octets);
        self.sent_octets += octets;
        self.done = last;
        Some(Ulpdu {
            head,
            payload,
            snapshot: self.snapshot,
        })
    }
}
