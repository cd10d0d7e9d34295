//! Connections that come and go: thousands in turn on a device of 1,024, so that each entry of each
//! table is used several times, each closed with half an FPDU queued and octets beyond a gap.
//! Nothing is lost of pages, table entries and ranges, and the last one is served as the first was.
//! And what was bound to one is not its successor's.

use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_abi::limits::{CONNECTIONS, RANGES, RANGES_PER_CONNECTION};
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{ConnectionId, RegionConfig};
use rnic_model::Room;
use rnic_testbench::play::dut::{Dut, Observation};
use rnic_testbench::play::rtl::{Rtl, RtlOptions};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use std::collections::{HashSet, VecDeque};

/// Connections before the last one: nearly three turns of the table, and a hundred.
const CHURN: [usize; 2] = [3_000, 100_000];
const STAG: u32 = 0x0012_3456;
const ADDRESS: u64 = 0x80_0000_0000;
const WRITE_OCTETS: usize = 100;
const DOMAIN: u16 = 3;
const WINDOW: u32 = 1 << 20;

/// An open connection and the end that sends to it.
struct Peer {
    connection: ConnectionId,
    builder: FrameBuilder,
    sender: Sender,
}

struct Bench {
    rtl: Rtl,
    open: VecDeque<Peer>,
}

/// Open to all connections.
fn region() -> RegionConfig {
    RegionConfig {
        stag: STAG,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: DOMAIN,
        connection: None,
        tagged_offset: 0,
        octets: WRITE_OCTETS as u64,
        address: ADDRESS,
    }
}

impl Bench {
    fn new() -> Self {
        let rtl = Rtl::new(&RtlOptions::default());
        let mut rtl = rtl.expect("the core is there");
        rtl.map("region", ADDRESS, WRITE_OCTETS);
        rtl.register(&region()).expect("there is room");
        let open = VecDeque::new();
        Self { rtl, open }
    }

    /// Open connection `number`. Half of them have markers, so that octets beyond a gap open
    /// spans that are read; all numbers have addresses and ports of their own.
    fn open(&mut self, number: usize) {
        let stream = StreamConfig {
            markers: number % 2 == 0,
            sequence_start: (number as u32).wrapping_mul(0x9e37_79b9),
            ..StreamConfig::default()
        };
        let [_, high, middle, low] = (number as u32).to_be_bytes();
        let source = Endpoint {
            mac: [2, 0, 0, 0, 0, 1],
            address: ([10, high, middle, low], 40_000).into(),
        };
        let builder = FrameBuilder::new(source, Endpoint::host(2, 4420));
        let config = builder.connection(&stream, WINDOW, DOMAIN);
        let connection = self.rtl.open(&config);
        self.open.push_back(Peer {
            connection: connection.unwrap_or_else(|error| panic!("connection {number}: {error}")),
            builder,
            sender: Sender::new(stream),
        });
    }

    /// A Write of the newest connection: what the device says of it, and the cycles it takes.
    fn write(&mut self, number: usize) -> (Observation, u64) {
        let seen = self.write_to(STAG, number);
        let data = [number as u8 + 1; WRITE_OCTETS];
        assert_eq!(self.rtl.read(ADDRESS, WRITE_OCTETS), data, "{number}");
        seen
    }

    fn write_to(&mut self, stag: u32, number: usize) -> (Observation, u64) {
        let peer = self.open.back_mut().expect("one is open");
        let written = peer.sender.stream().len();
        let data = [number as u8 + 1; WRITE_OCTETS];
        peer.sender.rdma_write(stag, 0, &data);
        let frame = peer.segment(written, peer.sender.stream().len());
        let start = self.rtl.cycles();
        self.rtl.push(&frame, Room::Enough);
        self.rtl.settle();
        let cycles = self.rtl.cycles() - start;
        (self.rtl.observe(), cycles)
    }

    /// Close the oldest connection, with `gaps` ranges after half an FPDU.
    fn close(&mut self, gaps: usize) {
        let mut peer = self.open.pop_front().expect("one is open");
        let start = peer.sender.stream().len();
        peer.sender.rdma_write(STAG, 0, &[0xff; WRITE_OCTETS]);
        for _ in 0..gaps {
            peer.sender.rdma_write(STAG, 0, &[0xff; WRITE_OCTETS]);
        }
        let mut frames = vec![peer.segment(start, start + WRITE_OCTETS / 2)];
        for fpdu in &peer.sender.fpdus()[peer.sender.fpdus().len() - gaps..] {
            // Not whole, and not at its start either: it has to wait.
            frames.push(peer.segment(fpdu.octets.start + 8, fpdu.octets.end - 8));
        }
        for frame in &frames {
            self.rtl.push(frame, Room::Enough);
        }
        self.rtl.close(peer.connection).expect("it was open");
        self.rtl.observe();
    }

    fn refused(&mut self) -> Vec<(&'static str, u32)> {
        let counters = self.rtl.counters().into_iter();
        let named = counters.map(|(counter, value)| (counter.name(), value));
        let is_loss = |name: &str| name.starts_with("drop_") || name.starts_with("refuse_");
        named
            .filter(|(name, value)| is_loss(name) && *value > 0)
            .collect()
    }
}

impl Peer {
    fn segment(&self, start: usize, end: usize) -> Vec<u8> {
        let sequence = self.sender.sequence(start);
        let octets = &self.sender.stream()[start..end];
        self.builder.segment(sequence, 1, FLAG_ACK, octets)
    }
}

#[test]
fn thousands_of_connections_in_turn_leave_nothing_behind() {
    let [short, long] = CHURN;
    let churn = rnic_effort::count("connections in turn", short, long);
    let mut bench = Bench::new();
    let mut used = HashSet::new();
    bench.open(0);
    let first = bench.write(0);
    for number in 1..churn {
        if bench.open.len() == CONNECTIONS {
            bench.close(1);
        }
        bench.open(number);
        used.insert(bench.open.back().expect("it is open").connection);
    }
    assert_eq!(used.len(), CONNECTIONS, "every entry is used");
    while !bench.open.is_empty() {
        bench.close(1);
    }
    bench.rtl.settle();
    assert_eq!(bench.rtl.pages(), 0, "pages held");
    // The last one is as the first: the same verdicts, in as many cycles.
    bench.open(churn);
    let last = bench.write(churn);
    assert_eq!(last.1, first.1, "cycles of a Write");
    let verdicts = |seen: &Observation| {
        let segments = seen.segments.iter().map(|trace| trace.verdict);
        let fpdus = seen
            .fpdus
            .iter()
            .map(|trace| (trace.error, trace.placed_octets));
        (segments.collect::<Vec<_>>(), fpdus.collect::<Vec<_>>())
    };
    assert_eq!(verdicts(&last.0), verdicts(&first.0));
    assert_eq!(verdicts(&last.0), (vec![0], vec![(0, WRITE_OCTETS as u16)]));
    bench.close(0);
    // All ranges and all entries are there at one time.
    let full = RANGES / RANGES_PER_CONNECTION;
    (0..CONNECTIONS).for_each(|number| bench.open(number));
    for _ in 0..full {
        bench.close(RANGES_PER_CONNECTION);
    }
    assert_eq!(bench.refused(), []);
    let fpdus = bench.rtl.counters().into_iter();
    let fpdus = fpdus.filter(|(counter, _)| *counter == Counter::Fpdus);
    assert_eq!(fpdus.map(|(_, value)| value).sum::<u32>(), 2);
    assert_eq!(bench.rtl.violations(), Vec::<String>::new());
}

/// DDP-048: what is bound to a connection goes with it. The next one has the same id and Protection
/// Domain, and both STags mean nothing to it.
#[test]
fn what_was_bound_to_a_closed_connection_is_not_its_successors() {
    let mut bench = Bench::new();
    let bound = [0x0065_4321, 0x0076_5432];
    bench.open(0);
    let connection = bench.open[0].connection;
    for stag in bound {
        let config = RegionConfig {
            stag,
            connection: Some(connection),
            ..region()
        };
        bench.rtl.register(&config).expect("there is room");
        let (seen, _) = bench.write_to(stag, 0);
        assert_eq!(
            seen.fpdus[0].error, 0,
            "{stag:#x} is open to its connection"
        );
    }
    bench.close(0);
    for (number, stag) in (1..).zip(bound) {
        bench.open(number);
        assert_eq!(bench.open[0].connection, connection);
        let before = bench.rtl.read(ADDRESS, WRITE_OCTETS);
        let (seen, _) = bench.write_to(stag, number);
        let errors: Vec<u8> = seen.fpdus.iter().map(|trace| trace.error).collect();
        assert_eq!(errors, [StreamError::DdpStag as u8], "{stag:#x}");
        assert_eq!(bench.rtl.read(ADDRESS, WRITE_OCTETS), before, "{stag:#x}");
        bench.close(0);
    }
    assert_eq!(bench.rtl.violations(), Vec::<String>::new());
}
