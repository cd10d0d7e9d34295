//! Builds with fewer connections and regions: the same driver, the same results.

use indicatif::ProgressBar;
use rnic_abi::sizes::Sizes;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{ConnectionId, DriverError, RegionConfig};
use rnic_model::Room;
use rnic_sim::SimulationConfig;
use rnic_testbench::play::dut::Dut;
use rnic_testbench::play::rtl::{Rtl, RtlOptions};
use rnic_testbench::play::{play, Options};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use std::path::Path;

/// Connections, and regions, of the smallest build.
const SMALLEST: usize = Sizes::SMALLEST.connections();
/// What a short run leaves out: a core of its own is built for it.
const SMALL_BUILD: &str = "a core with fewer connections";
const ADDRESS: u64 = 0x80_0000_0000;
const OCTETS: usize = 64;
const DOMAIN: u16 = 3;
const WINDOW: u32 = 1 << 20;

/// Open to `connection` alone.
fn region(number: usize, connection: ConnectionId) -> RegionConfig {
    RegionConfig {
        stag: (number as u32 + 1) << 8,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: DOMAIN,
        connection: Some(connection),
        tagged_offset: 0,
        octets: OCTETS as u64,
        address: ADDRESS + (number * OCTETS) as u64,
    }
}

fn builder(number: usize) -> FrameBuilder {
    let source = Endpoint::host(1, 10_000 + number as u16);
    FrameBuilder::new(source, Endpoint::host(2, 4420))
}

/// All connections and regions of the smallest build, each with octets of its own: an index that
/// lost a bit would put them elsewhere.
#[test]
fn each_connection_of_a_small_build_has_its_own_entries() {
    if rnic_effort::is_left_out(SMALL_BUILD) {
        return;
    }
    let rtl = Rtl::new(&RtlOptions {
        simulation: SimulationConfig {
            sizes: Sizes::SMALLEST,
            ..SimulationConfig::default()
        },
        ..RtlOptions::default()
    });
    let mut rtl = rtl.expect("the core is there");
    rtl.map("regions", ADDRESS, SMALLEST * OCTETS);
    let stream = StreamConfig::default();
    for number in 0..SMALLEST {
        let opened = rtl.open(&builder(number).connection(&stream, WINDOW, DOMAIN));
        let connection = opened.unwrap_or_else(|error| panic!("connection {number}: {error}"));
        let registered = rtl.register(&region(number, connection));
        registered.unwrap_or_else(|error| panic!("region {number}: {error}"));
    }
    let one_more = rtl.open(&builder(SMALLEST).connection(&stream, WINDOW, DOMAIN));
    let limit = SMALLEST;
    let what = "connection";
    assert_eq!(one_more, Err(DriverError::Exhausted { what, limit }));

    let octets = |number: usize| [number as u8 ^ 0x5a; OCTETS];
    for number in 0..SMALLEST {
        let mut sender = Sender::new(stream);
        sender.rdma_write((number as u32 + 1) << 8, 0, &octets(number));
        let segment = builder(number).segment(sender.sequence(0), 1, FLAG_ACK, sender.stream());
        rtl.push(&segment, Room::Enough);
    }
    rtl.settle();
    for number in 0..SMALLEST {
        let address = ADDRESS + (number * OCTETS) as u64;
        assert_eq!(rtl.read(address, OCTETS), octets(number), "{number}");
    }
}

#[test]
fn a_small_build_plays_a_capture_as_the_largest_does() {
    if rnic_effort::is_left_out(SMALL_BUILD) {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/mk-loss.pcap");
    let capture = rnic_capture::read(&path).expect("the project's captures are whole");
    let flows = rnic_capture::flows(&capture, None);
    let reports = [Sizes::SMALLEST, Sizes::LARGEST].map(|sizes| {
        let options = Options {
            sizes,
            ..Options::default()
        };
        let report = play(&capture, &flows, &options, &ProgressBar::hidden()).expect("it plays");
        assert_eq!(report.mismatches, 0, "{:#?}", report.differences);
        serde_json::to_string(&report.flows).expect("reports are plain data")
    });
    assert_eq!(reports[0], reports[1]);
}
