//! A connection with an application that sends records, gets them back, and closes.
use crate::packet::{emit, parse, Ends};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_tcp::{
    Connection, Event, Output, Piece, Record, Segment, SeqNumber, Settings, Statistics,
};

/// Octet `at` of the stream.
pub fn octet(at: u64) -> u8 {
    ((at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
}

pub struct Endpoint {
    ends: Ends,
    settings: Settings,
    iss: SeqNumber,
    tcp: Option<Connection>,
    random: ChaCha8Rng,
    /// Packets lost each way, in a million.
    loss: u32,
    /// Where each record begins; the last is where all end.
    begins: Vec<u64>,
    pushed: usize,
    acked: u64,
    received: u64,
    pub events: Vec<Event>,
}

impl Endpoint {
    /// `records` of different lengths, over a link with a loss and a seed; the end listens until it
    /// is told to connect.
    pub fn new(ends: Ends, settings: Settings, iss: u32, records: u64, link: (u32, u64)) -> Self {
        let (loss, seed) = link;
        let mut begins = vec![0];
        for index in 0..records {
            let octets = 1 + index * 37 % 1_460;
            begins.push(begins[index as usize] + octets);
        }
        Self {
            ends,
            settings,
            iss: SeqNumber(iss),
            tcp: None,
            random: ChaCha8Rng::seed_from_u64(seed),
            loss,
            begins,
            pushed: 0,
            acked: 0,
            received: 0,
            events: Vec::new(),
        }
    }

    pub fn connect(&mut self, now_us: u64) {
        let tcp = Connection::connect(self.settings, self.iss, now_us);
        self.tcp = Some(tcp.expect("settings are in range"));
    }

    fn octets(&self) -> u64 {
        self.begins[self.begins.len() - 1]
    }

    fn is_lost(&mut self) -> bool {
        self.random.random_range(0..1_000_000) < self.loss
    }

    pub fn arrive(&mut self, packet: &[u8], now_us: u64) {
        let Some((port, head, payload)) = parse(self.ends.own, packet) else {
            return;
        };
        if self.is_lost() {
            return;
        }
        let segment = Segment {
            head,
            payload: &payload,
        };
        match &mut self.tcp {
            Some(tcp) => tcp.on_segment(&segment, now_us),
            None => {
                self.ends.peer.1 = port;
                let accepted = Connection::accept(self.settings, &segment, self.iss, now_us);
                self.tcp = accepted.expect("settings are in range");
            }
        }
    }

    fn run_application(&mut self) {
        let Some(tcp) = &mut self.tcp else {
            return;
        };
        while self.pushed + 1 < self.begins.len() {
            let octets = self.begins[self.pushed + 1] - self.begins[self.pushed];
            let record = Record {
                id: self.pushed as u64,
                octets: octets as u32,
            };
            if tcp.push(record).is_err() {
                break;
            }
            self.pushed += 1;
        }
        let mut octets = [0; 4_096];
        loop {
            let count = tcp.read(&mut octets);
            for &found in &octets[..count] {
                assert_eq!(found, octet(self.received), "octet {}", self.received);
                self.received += 1;
            }
            if count == 0 {
                break;
            }
        }
        if self.received == self.begins[self.begins.len() - 1] {
            tcp.close();
        }
    }

    fn payload(&self, piece: Piece) -> Vec<u8> {
        let begin = self.begins[piece.id as usize] + u64::from(piece.offset_octets);
        (begin..begin + u64::from(piece.octets))
            .map(octet)
            .collect()
    }

    /// The packets that leave.
    pub fn pump(&mut self, now_us: u64) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        loop {
            self.run_application();
            let Some(tcp) = &mut self.tcp else {
                return packets;
            };
            match tcp.poll(now_us) {
                None => return packets,
                Some(Output::Event(event)) => self.events.push(event),
                Some(Output::Acked(id)) => {
                    assert_eq!(id, self.acked, "once and in order");
                    self.acked += 1;
                }
                Some(Output::Segment(outgoing)) => {
                    let payload = outgoing.piece.map(|piece| self.payload(piece));
                    let payload = payload.unwrap_or_default();
                    if !self.is_lost() {
                        packets.push(emit(&self.ends, &outgoing.head, &payload));
                    }
                }
            }
        }
    }

    pub fn deadline_us(&self) -> Option<u64> {
        self.tcp.as_ref()?.deadline_us()
    }

    pub fn statistics(&self) -> Statistics {
        self.tcp.as_ref().expect("connected").statistics()
    }

    /// It has ended, well or not.
    pub fn is_over(&self) -> bool {
        let is_end = |event: &Event| matches!(event, Event::Closed | Event::Lost(_));
        self.events.last().is_some_and(is_end)
    }

    /// Everything was sent, acknowledged and came back, and both ends closed.
    pub fn verify(&self, what: &str) {
        assert_eq!(
            self.events.last(),
            Some(&Event::Closed),
            "{what}: {:?}",
            self.events
        );
        assert_eq!(self.received, self.octets(), "{what}");
        assert_eq!(self.acked as usize, self.begins.len() - 1, "{what}");
    }

    /// A line for the report.
    pub fn report(&self, what: &str, time_us: u64) -> String {
        let Statistics { sent, srtt_us, .. } = self.statistics();
        format!(
            "{what}: {} octets there and back in {} ms, {} segments sent again, {} time-outs, \
             smoothed round trip {} us",
            self.received,
            time_us / 1_000,
            sent.retransmitted_segments,
            sent.time_outs,
            srtt_us.unwrap_or(0)
        )
    }
}
