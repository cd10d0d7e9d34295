//! A peer of one connection: its segments, and what it makes of ours. Written from the RFCs; its
//! retransmission knows no time.

use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};

pub const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
pub const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const PEER: [u8; 4] = [192, 0, 2, 2];
pub const OWN: [u8; 4] = [192, 0, 2, 1];
pub const PORT: u16 = 7_174;
/// A Request of revision 1: no CRC, no markers, no Private Data.
const REQUEST: &[u8; 20] = b"MPA ID Req Frame\x00\x01\x00\x00";
const REPLY: &[u8; 20] = b"MPA ID Rep Frame\x00\x01\x00\x00";
/// Octets of either.
const START_UP: u32 = 20;

/// Which end of the connection the peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It connects, and sends the Request.
    Initiator,
    /// It is connected to, and sends the Reply.
    Responder,
}

/// The message of FPDU number `number`, from 1.
pub fn message(number: usize) -> Vec<u8> {
    vec![number as u8; 8 + number]
}

/// A Send of one segment: MPA, DDP and RDMAP headers, the message, PAD and a CRC field of 0.
fn fpdu(number: usize) -> Vec<u8> {
    let message = message(number);
    let ulpdu_octets = 18 + message.len() as u16;
    let mut fpdu = ulpdu_octets.to_be_bytes().to_vec();
    // L and version 1; RDMAP version 1, Send; no STag; queue 0, MSN, offset 0.
    fpdu.extend_from_slice(&[0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0]);
    fpdu.extend_from_slice(&(number as u32).to_be_bytes());
    fpdu.extend_from_slice(&[0; 4]);
    fpdu.extend_from_slice(&message);
    fpdu.resize(fpdu.len().next_multiple_of(4) + 4, 0);
    fpdu
}

/// One end of a connection.
pub struct Peer {
    role: Role,
    port: u16,
    /// Ours, once it is known.
    own_port: u16,
    iss: u32,
    /// Payloads of its segments, and the number of the first octet of each.
    segments: Vec<(u32, Vec<u8>)>,
    /// What we have acknowledged of them.
    una: u32,
    rcv_nxt: u32,
    /// Octets of ours that have come in order.
    heard: u32,
    pub is_reset: bool,
    is_connected: bool,
}

impl Peer {
    /// A peer that will send its start-up frame and `segments - 1` FPDUs, a segment each.
    pub fn new(role: Role, port: u16, iss: u32, segments: usize) -> Self {
        let payloads = (0..segments).map(|number| match (number, role) {
            (0, Role::Initiator) => REQUEST.to_vec(),
            (0, Role::Responder) => REPLY.to_vec(),
            (number, _) => fpdu(number),
        });
        let mut next = iss.wrapping_add(1);
        let segments = payloads.map(|payload| {
            let first = next;
            next = next.wrapping_add(payload.len() as u32);
            (first, payload)
        });
        Self {
            role,
            port,
            own_port: PORT,
            iss,
            segments: segments.collect(),
            una: iss.wrapping_add(1),
            rcv_nxt: 0,
            heard: 0,
            is_reset: false,
            is_connected: false,
        }
    }

    fn frame(&self, seq: u32, payload: &[u8], is_syn: bool) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2(PEER_MAC, OWN_MAC)
            .ipv4(PEER, OWN, 64)
            .tcp(self.port, self.own_port, seq, u16::MAX);
        let builder = match (is_syn, self.role) {
            (true, Role::Initiator) => builder.syn(),
            (true, Role::Responder) => builder.syn().ack(self.rcv_nxt),
            (false, _) => builder.ack(self.rcv_nxt).psh(),
        };
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).expect("it fits");
        frame
    }

    pub fn syn(&self) -> Vec<u8> {
        self.frame(self.iss, &[], true)
    }

    pub fn bare_ack(&self) -> Vec<u8> {
        self.frame(self.una, &[], false)
    }

    /// Segment number `number`, as it is sent at any time.
    pub fn segment(&self, number: usize) -> Vec<u8> {
        let (seq, payload) = &self.segments[number];
        self.frame(*seq, payload, false)
    }

    /// How many of its segments it may have sent by what it has heard: a Request at once, a Reply
    /// after the Request; FPDUs after the Reply, or after our first FPDU (START-014).
    fn allowed(&self) -> usize {
        match self.role {
            Role::Initiator if self.heard < START_UP => 1,
            Role::Responder if self.heard < START_UP => 0,
            Role::Responder if self.heard == START_UP => 1,
            _ => self.segments.len(),
        }
    }

    /// It has our start-up frame whole.
    pub fn is_started(&self) -> bool {
        self.heard >= START_UP
    }

    /// Segments that it may send and that are not acknowledged whole.
    pub fn unacknowledged(&self) -> Vec<Vec<u8>> {
        let is_open = |(seq, payload): &(u32, Vec<u8>)| {
            let end = seq.wrapping_add(payload.len() as u32);
            (end.wrapping_sub(self.una) as i32) > 0
        };
        let open = self.segments.iter().enumerate();
        open.take(self.allowed())
            .filter(|(_, segment)| is_open(segment))
            .map(|(number, _)| self.segment(number))
            .collect()
    }

    /// All its octets are acknowledged.
    pub fn is_done(&self) -> bool {
        self.allowed() == self.segments.len() && self.unacknowledged().is_empty()
    }

    /// Take a frame of ours; what is answered to it.
    pub fn take(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let packet = SlicedPacket::from_ethernet(frame).expect("what is sent is whole");
        let Some(TransportSlice::Tcp(tcp)) = packet.transport else {
            return None;
        };
        if tcp.destination_port() != self.port {
            return None;
        }
        if tcp.rst() {
            self.is_reset = true;
            return None;
        }
        if tcp.syn() && !self.is_connected {
            self.is_connected = true;
            self.own_port = tcp.source_port();
            self.rcv_nxt = tcp.sequence_number().wrapping_add(1);
            return Some(match self.role {
                Role::Initiator => self.bare_ack(),
                Role::Responder => self.syn(),
            });
        }
        let ack = tcp.acknowledgment_number();
        if (ack.wrapping_sub(self.una) as i32) > 0 {
            self.una = ack;
        }
        let payload = tcp.payload();
        if payload.is_empty() {
            return None;
        }
        if tcp.sequence_number() == self.rcv_nxt {
            self.rcv_nxt = self.rcv_nxt.wrapping_add(payload.len() as u32);
            self.heard += payload.len() as u32;
        }
        Some(self.bare_ack())
    }
}
