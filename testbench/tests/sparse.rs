//! Regions and messages that lie far apart, and more STags and connections than the device has:
//! what is played takes memory for what is written, and entries for what is in use.
use indicatif::ProgressBar;
use rnic_abi::limits::{CONNECTIONS, REGIONS};
use rnic_capture::Capture;
use rnic_testbench::play::{play, DutKind, FlowReport, Options, PlayError, Report};
use rnic_testbench::traffic::conversation::{startup_frame, Conversation, Side};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder};
use rnic_testbench::traffic::sender::{Sender, StreamConfig};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::untagged::UntaggedRepr;
use sha2::{Digest, Sha256};

const STAG: u32 = 0x0004_4000;
const GIB: u64 = 1 << 30;

/// An open connection, of number `number`.
fn conversation(number: u16) -> Conversation {
    let ends = [Endpoint::host(1, 10_000 + number), Endpoint::host(2, 4420)];
    let builders = [0, 1].map(|side| FrameBuilder::new(ends[side], ends[1 - side]));
    let mut conversation = Conversation::open(builders, [7, 8]);
    for side in [Side::Initiator, Side::Responder] {
        conversation.startup(side, &startup_frame(side, false, true, 1, &[]));
    }
    conversation
}

/// Send the FPDUs of `fill`, each in a segment of its own.
fn send(conversation: &mut Conversation, fill: impl FnOnce(&mut Sender)) {
    let mut sender = Sender::new(StreamConfig {
        sequence_start: conversation.next_sequence(Side::Initiator),
        ..StreamConfig::default()
    });
    fill(&mut sender);
    for fpdu in sender.fpdus() {
        conversation.segment(Side::Initiator, &sender.stream()[fpdu.octets.clone()]);
    }
}

fn capture(fill: impl FnOnce(&mut Sender)) -> Capture {
    let mut conversation = conversation(0);
    send(&mut conversation, fill);
    conversation.close();
    Capture::new("sparse.pcap", conversation.take_frames())
}

fn try_play(capture: &Capture, dut: DutKind) -> Result<Report, PlayError> {
    let options = Options {
        dut,
        ..Options::default()
    };
    let flows = rnic_capture::flows(capture, None);
    play(capture, &flows, &options, &ProgressBar::hidden())
}

/// The first flow, played by the model and by hardware and model; both report the same.
fn played(capture: &Capture) -> FlowReport {
    let reports = [DutKind::Model, DutKind::Both].map(|dut| {
        let report = try_play(capture, dut).expect("it is played");
        assert_eq!(report.mismatches, 0, "{:?}", report.differences);
        let [flow, _] = report.flows.try_into().expect("two flows");
        serde_json::to_value::<&FlowReport>(&flow).map(|value| (flow, value))
    });
    let [model, both] = reports.map(|report| report.expect("a report is JSON"));
    let facts = ["regions", "receives", "placed_octets", "error"];
    facts
        .iter()
        .for_each(|fact| assert_eq!(model.1[fact], both.1[fact], "{fact}"));
    both.0
}

fn hash(octets: &[u8]) -> String {
    let digest = Sha256::digest(octets);
    digest.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// What is reported of a region.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    octets: u64,
    /// Offset and length of each range.
    written: Vec<(u64, u64)>,
    has_hash: bool,
}

impl Shape {
    fn new(octets: u64, written: &[(u64, u64)], has_hash: bool) -> Self {
        let written = written.to_vec();
        Self {
            octets,
            written,
            has_hash,
        }
    }
}

fn shapes(flow: &FlowReport) -> Vec<Shape> {
    let regions = flow.regions.iter().map(|region| Shape {
        octets: region.length,
        written: region
            .written
            .iter()
            .map(|range| (range.offset, range.length))
            .collect(),
        has_hash: region.sha256.is_some(),
    });
    regions.collect()
}

/// As far apart as a region may reach: 2^40 octets, and one octet more, which is refused.
#[test]
fn writes_far_apart_take_memory_for_what_they_write() {
    for (distance, is_in) in [
        (3 * GIB, true),
        (6 * GIB, true),
        ((1 << 40) - 1000, true),
        ((1 << 40) - 999, false),
    ] {
        let flow = played(&capture(|sender| {
            sender.rdma_write(STAG, 0x1000, &[1; 1000]);
            sender.rdma_write(STAG, 0x1000 + distance, &[2; 1000]);
        }));
        let expected = match is_in {
            true => Shape::new(distance + 1000, &[(0, 1000), (distance, 1000)], false),
            false => Shape::new(1000, &[(0, 1000)], true),
        };
        assert_eq!(shapes(&flow), [expected]);
        assert_eq!(flow.error.is_none(), is_in, "{:?}", flow.error);
        assert_eq!(flow.regions[0].written[0].sha256, hash(&[1; 1000]));
    }
}

/// The hash of a region is that of all its octets, up to a gibibyte.
#[test]
fn a_region_of_a_gibibyte_has_a_hash_and_a_longer_one_has_none() {
    for (octets, has_hash) in [(1 << 20, true), (GIB, true), (GIB + 1, false)] {
        let flow = played(&capture(|sender| {
            sender.rdma_write(STAG, 5, &[1; 10]);
            sender.rdma_write(STAG, 5 + octets - 10, &[2; 10]);
        }));
        let ends = [(0, 10), (octets - 10, 10)];
        assert_eq!(shapes(&flow), [Shape::new(octets, &ends, has_hash)]);
        if octets == 1 << 20 {
            let mut image = vec![0; 1 << 20];
            image[..10].fill(1);
            image[(1 << 20) - 10..].fill(2);
            assert_eq!(flow.regions[0].sha256, Some(hash(&image)));
        }
    }
}

/// Forty regions of a gibibyte: what was written has its hashes, all octets of the first two.
#[test]
fn many_large_regions_are_played() {
    let flow = played(&capture(|sender| {
        for region in 0..40 {
            let stag = STAG + (region << 8);
            sender.rdma_write(stag, 0, &[3; 100]);
            sender.rdma_write(stag, GIB - 100, &[4; 100]);
        }
    }));
    let ends = [(0, 100), (GIB - 100, 100)];
    let expected: Vec<Shape> = (0..40)
        .map(|place| Shape::new(GIB, &ends, place < 2))
        .collect();
    assert_eq!(shapes(&flow), expected);
    assert_eq!(flow.placed_octets, 40 * 200);
}

/// A message that has only its last octets, which begin near 2^32.
#[test]
fn a_message_offset_near_its_end_takes_memory_for_its_octets() {
    for offset in [0, 1 << 20, u32::MAX - 100] {
        let flow = played(&capture(|sender| {
            let header = UntaggedRepr {
                control: ControlRepr::new(1, Opcode::Send, true),
                invalidate_stag: 0,
                qn: 0,
                msn: 1,
                mo: offset,
            };
            sender.untagged_segment(&header, &[5; 100]);
        }));
        let [message] = &flow.receives[..] else {
            panic!("{:?}", flow.error);
        };
        assert_eq!(message.length, offset + 100);
        assert_eq!(message.sha256.is_some(), offset <= 1 << 20);
    }
}

/// One STag after the other: entries are freed when they have no later use.
#[test]
fn more_stags_than_entries_are_played_one_after_another() {
    let stags = REGIONS as u32 + 3;
    let flow = played(&capture(|sender| {
        for region in 0..stags {
            sender.rdma_write(region << 8, 0, &[6; 8]);
        }
    }));
    assert_eq!(flow.regions.len(), stags as usize);
    assert!(flow
        .regions
        .iter()
        .all(|region| region.sha256 == Some(hash(&[6; 8]))));
}

/// As many at one time as there are entries; one more is refused with what to do.
#[test]
fn more_stags_than_entries_at_one_time_are_refused_with_advice() {
    for (stags, is_played) in [(REGIONS as u32, true), (REGIONS as u32 + 1, false)] {
        let capture = capture(|sender| {
            for region in (0..stags).chain(0..stags) {
                sender.rdma_write(region << 8, u64::from(region), &[6; 8]);
            }
        });
        match try_play(&capture, DutKind::Rtl) {
            Ok(report) => {
                assert!(is_played, "{stags} at one time");
                assert_eq!(report.flows[0].error.is_none(), is_played);
            }
            Err(error) => {
                let words = error.to_string();
                assert!(!is_played && words.contains("--only-flow"), "{words}");
            }
        }
    }
}

/// Connections that end before others begin, and one more at one time than there are.
#[test]
fn more_connections_than_there_are_follow_each_other() {
    let count = CONNECTIONS as u16 / 2 + 2;
    let mut frames = Vec::new();
    for number in 0..count {
        let mut conversation = conversation(number);
        send(&mut conversation, |sender| {
            sender.rdma_write(STAG, 0, &[7; 9])
        });
        conversation.close();
        frames.extend(conversation.take_frames());
    }
    let capture = Capture::new("connections.pcap", frames);
    let report = try_play(&capture, DutKind::Model).expect("it is played");
    assert_eq!(report.flows.len(), 2 * usize::from(count));
    let placed = report.flows.iter().filter(|flow| flow.placed_octets == 9);
    assert_eq!(placed.count(), usize::from(count));
    // All of them open at one time, and all for one host.
    let mut open: Vec<Conversation> = (0..=CONNECTIONS as u16).map(conversation).collect();
    let last = open.len() - 1;
    for conversation in open.iter_mut() {
        send(conversation, |sender| sender.rdma_write(STAG, 0, &[7; 9]));
    }
    for conversation in &mut open[..last] {
        send(conversation, |sender| sender.rdma_write(STAG, 9, &[7; 9]));
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (number, conversation) in open.iter_mut().enumerate() {
        let mut frames = conversation.take_frames();
        let late = frames.split_off(frames.len() - usize::from(number < last));
        first.extend(frames);
        second.extend(late);
    }
    let capture = Capture::new("too-many.pcap", [first, second].concat());
    let refused = try_play(&capture, DutKind::Model).expect_err("one too many");
    let words = refused.to_string();
    assert!(
        words.contains("no free connection: 1024") && words.contains("--only-flow"),
        "{words}"
    );
}
