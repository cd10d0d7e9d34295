//! A peer that sends what a test says.
use rnic_tcp::{
    Connection, Flags, Head, Options, Output, Record, Segment, SeqNumber, Settings, State,
};

/// ISS of the connection under test, and of the peer.
pub const ISS: u32 = u32::MAX - 99;
pub const IRS: u32 = 7_000;
/// Window that the peer announces.
pub const PEER_WINDOW: u16 = 10_000;
/// Window of the connection under test.
pub const WINDOW: u32 = 65_535;

pub const ACK: Flags = Flags {
    ack: true,
    syn: false,
    fin: false,
    rst: false,
    psh: false,
};
pub const RST: Flags = Flags { rst: true, ..ACK };
pub const FIN: Flags = Flags { fin: true, ..ACK };
pub const SYN: Flags = Flags {
    syn: true,
    ack: false,
    ..ACK
};
pub const SYN_ACK: Flags = Flags { syn: true, ..ACK };
pub const NONE: Flags = Flags { ack: false, ..ACK };

/// The peer's first octet, and that of the connection under test, have offset 0.
pub fn head(flags: Flags, seq: i64, ack: i64) -> Head {
    Head {
        seq: SeqNumber((i64::from(IRS) + 1 + seq) as u32),
        ack: SeqNumber((i64::from(ISS) + 1 + ack) as u32),
        flags,
        window: PEER_WINDOW,
        options: Options::default(),
    }
}

pub struct Scripted {
    pub tcp: Connection,
    pub now_us: u64,
}

impl Scripted {
    pub fn new() -> Self {
        let now_us = 1_000_000;
        let tcp = Connection::connect(Settings::default(), SeqNumber(ISS), now_us);
        let tcp = tcp.expect("settings are in range");
        let mut scripted = Self { tcp, now_us };
        assert_eq!(scripted.segments().len(), 1, "its SYN");
        scripted
    }

    pub fn established() -> Self {
        let mut scripted = Self::new();
        let mut syn_ack = head(SYN_ACK, -1, 0);
        syn_ack.options = Options {
            mss: Some(1_000),
            sack_permitted: true,
            ..Options::default()
        };
        assert_eq!(
            scripted.give(&syn_ack, &[]).len(),
            1,
            "the last of the handshake"
        );
        assert_eq!(scripted.tcp.state(), State::Established);
        scripted
    }

    pub fn outputs(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(output) = self.tcp.poll(self.now_us) {
            outputs.push(output);
            assert!(outputs.len() < 5_000);
        }
        outputs
    }

    pub fn segments(&mut self) -> Vec<Head> {
        let segment = |output| match output {
            Output::Segment(outgoing) => Some(outgoing.head),
            _ => None,
        };
        self.outputs().into_iter().filter_map(segment).collect()
    }

    /// Give it a segment; what it sends then, 500 us later if nothing at once.
    pub fn give(&mut self, head: &Head, payload: &[u8]) -> Vec<Head> {
        let head = *head;
        self.tcp.on_segment(&Segment { head, payload }, self.now_us);
        self.segments()
    }

    pub fn push(&mut self, count: u64, octets: u32) {
        for id in 0..count {
            self.tcp.push(Record { id, octets }).expect("room");
        }
        self.segments();
    }
}
