//! One end: a connection, its application, and every invariant of what leaves it.
use crate::device::Device;
use crate::link::Wire;
use rnic_tcp::{Connection, Event, Head, Outgoing, Output, Piece, PushError, Record, SeqNumber};
use std::collections::{BTreeMap, VecDeque};

/// Window of the device, in octets.
const DEVICE_WINDOW: u32 = 65_535;

/// Octet `at` of the stream of end `side`.
pub fn octet(side: usize, at: u64) -> u8 {
    let mixed = (at + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(side as u64 * 77);
    (mixed >> 40) as u8
}

pub struct End {
    pub side: usize,
    pub connection: Option<Connection>,
    pub device: Option<Device>,
    /// Records to be pushed once there is room.
    pub waiting: VecDeque<u32>,
    /// Records pushed: where each begins in the stream.
    pushed: Vec<u64>,
    stream_octets: u64,
    pub acked: u64,
    pub events: Vec<Event>,
    pub received: u64,
    /// The application reads.
    pub reads: bool,
    /// Octets of start-up that are still to be read before the receiver goes to the device.
    pub startup_octets: Option<u32>,
    /// Octets are compared, not only counted.
    pub compares: bool,
    /// ISS + 1.
    first: SeqNumber,
    /// Bounds of segments: offset of the stream to octets.
    bounds: BTreeMap<u64, u32>,
    /// Splits that the test expects: path or window smaller than a record.
    pub may_split: bool,
    ack: Option<SeqNumber>,
    /// The furthest right edge that has been announced, and the peer's that has arrived.
    edge: Option<SeqNumber>,
    peer_edge: Option<SeqNumber>,
    pub shift: u8,
    pub segments: u64,
    pub pure_acks: u64,
    pub last: Option<Head>,
}

impl End {
    pub fn new(side: usize, first: SeqNumber) -> Self {
        Self {
            side,
            connection: None,
            device: None,
            waiting: VecDeque::new(),
            pushed: Vec::new(),
            stream_octets: 0,
            acked: 0,
            events: Vec::new(),
            received: 0,
            reads: true,
            startup_octets: None,
            compares: true,
            first,
            bounds: BTreeMap::new(),
            may_split: false,
            ack: None,
            edge: None,
            peer_edge: None,
            shift: 0,
            segments: 0,
            pure_acks: 0,
            last: None,
        }
    }

    pub fn tcp(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("opened")
    }

    /// Octets pushed so far.
    pub fn stream_octets(&self) -> u64 {
        self.stream_octets
    }

    /// Records of `octets`, pushed as there is room.
    pub fn send(&mut self, records: impl IntoIterator<Item = u32>) {
        self.waiting.extend(records);
    }

    /// Push and read, as far as possible.
    pub fn run_application(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        while let Some(&octets) = self.waiting.front() {
            let id = self.pushed.len() as u64;
            match connection.push(Record { id, octets }) {
                Ok(()) => {
                    self.waiting.pop_front();
                    self.pushed.push(self.stream_octets);
                    self.stream_octets += u64::from(octets);
                }
                Err(PushError::Full { .. } | PushError::NotConnected) => break,
                Err(error) => panic!("{error}"),
            }
        }
        self.read();
    }

    /// Read what there is, up to the switch.
    fn read(&mut self) {
        let mut octets = [0; 997];
        while self.reads {
            let most = self.startup_octets.map_or(997, |left| left.min(997)) as usize;
            let count = self.tcp().read(&mut octets[..most]);
            if count == 0 {
                return;
            }
            self.deliver(&octets[..count]);
            if let Some(left) = &mut self.startup_octets {
                *left -= count as u32;
                if *left == 0 {
                    return self.switch();
                }
            }
        }
    }

    /// The start-up frame is whole: the receiver goes to the device.
    fn switch(&mut self) {
        self.startup_octets = None;
        let connection = self.connection.as_mut().expect("it was just read from");
        connection.limit_stream(0).expect("no ACK has left");
        let handover = connection.hand_over(DEVICE_WINDOW).expect("all is read");
        self.device = Some(Device::new(&handover));
    }

    /// Octets reach the application: each once and in order.
    pub fn deliver(&mut self, octets: &[u8]) {
        if !self.compares {
            self.received += octets.len() as u64;
            return;
        }
        for &found in octets {
            let expected = octet(1 - self.side, self.received);
            assert_eq!(found, expected, "octet {} of the stream", self.received);
            self.received += 1;
        }
    }

    /// Poll until nothing is left.
    pub fn poll(&mut self, now_us: u64) -> Vec<Wire> {
        let mut leaving = Vec::new();
        loop {
            self.run_application();
            let Some(connection) = &mut self.connection else {
                return leaving;
            };
            match connection.poll(now_us) {
                None => return leaving,
                Some(Output::Acked(id)) => {
                    assert_eq!(id, self.acked, "once and in order");
                    self.acked += 1;
                }
                Some(Output::Event(event)) => self.events.push(event),
                Some(Output::Segment(outgoing)) => leaving.push(self.leave(&outgoing)),
            }
            assert!(
                leaving.len() < 100_000,
                "no end of segments: {:?}",
                leaving.last()
            );
        }
    }

    /// The invariants of a segment, and its octets.
    fn leave(&mut self, outgoing: &Outgoing) -> Wire {
        self.segments += 1;
        let head = outgoing.head;
        self.last = Some(head);
        if head.flags.ack && !head.flags.rst {
            self.verify_ack(&head);
        }
        let payload = match outgoing.piece {
            None => Vec::new(),
            Some(piece) => self.verify_piece(&head, piece),
        };
        if outgoing.is_control() && !head.flags.syn && !head.flags.rst {
            self.pure_acks += 1;
        }
        Wire { head, payload }
    }

    fn verify_ack(&mut self, head: &Head) {
        if let Some(before) = self.ack {
            assert!(
                !head.ack.is_before(before),
                "acknowledgements grow: {head:?}"
            );
        }
        self.ack = Some(head.ack);
        let shift = if head.flags.syn { 0 } else { self.shift };
        let edge = head.ack + (u32::from(head.window) << shift);
        if let Some(before) = self.edge {
            // RFC 7323 section 2.4: less than one unit, where windows are scaled.
            let back = before.octets_since(edge);
            assert!(
                back < 1 << shift,
                "the right edge moves left by {back}: {head:?}"
            );
        }
        self.edge = Some(self.edge.map_or(edge, |before| before.later(edge)));
    }

    fn verify_piece(&mut self, head: &Head, piece: Piece) -> Vec<u8> {
        let begin = self.pushed[piece.id as usize] + u64::from(piece.offset_octets);
        let in_stream = head.seq.0.wrapping_sub(self.first.0);
        assert_eq!(in_stream, begin as u32, "a record is where it was");
        let is_new = match self.bounds.get(&begin).copied() {
            None => {
                let last = self.bounds.last_key_value();
                let end = last.map_or(0, |(begin, octets)| begin + u64::from(*octets));
                assert_eq!(begin, end, "neither a gap nor other bounds");
                true
            }
            Some(before) if before != piece.octets => {
                assert!(
                    self.may_split && before > piece.octets,
                    "other bounds: {piece:?}"
                );
                let rest = begin + u64::from(piece.octets);
                self.bounds.insert(rest, before - piece.octets);
                false
            }
            Some(_) => false,
        };
        self.bounds.insert(begin, piece.octets);
        let statistics = self.tcp().statistics();
        let alone = statistics.flying_octets == u64::from(piece.octets);
        if is_new {
            let fits = statistics.flying_octets <= statistics.congestion_octets;
            assert!(alone || fits, "{statistics:?}");
        }
        if let Some(edge) = self.peer_edge {
            assert!(
                !(head.seq + piece.octets).is_after(edge),
                "beyond the peer's window"
            );
        }
        if !self.compares {
            return vec![0; piece.octets as usize];
        }
        (begin..begin + u64::from(piece.octets))
            .map(|at| octet(self.side, at))
            .collect()
    }

    /// A segment of the peer arrives.
    pub fn arrive(&mut self, wire: &Wire, peer_shift: u8, now_us: u64) {
        let head = &wire.head;
        if head.flags.ack && !head.flags.rst {
            let shift = if head.flags.syn { 0 } else { peer_shift };
            let edge = head.ack + (u32::from(head.window) << shift);
            self.peer_edge = Some(self.peer_edge.map_or(edge, |before| before.later(edge)));
        }
        if let Some(device) = &mut self.device {
            if !device.on_frame(wire) {
                return;
            }
        }
        self.tcp().on_segment(&wire.segment(), now_us);
    }

    /// All octets that were pushed are acknowledged.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.acked == self.pushed.len() as u64
    }
}
