//! What each direction said, by the generator's own list, against what the model heard.
use rnic_testbench::play::report::FlowReport;
use rnic_testbench::play::{play, DutKind, Options, Report};
use rnic_testbench::workload::connection::Direction;
use rnic_testbench::workload::{generate, Generation, Workload};
use rnic_wire::ddp::rdmap::Opcode;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn hex_sha256(octets: &[u8]) -> String {
    Sha256::digest(octets)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub fn made(workload: &Workload) -> Generation {
    generate(workload).unwrap_or_else(|error| panic!("{workload:?}: {error}"))
}

/// The model's report of the file, which is written as `name` and read as `rnic play` reads it.
fn play_alone(name: &str, generation: &Generation) -> Report {
    let path = path(name);
    std::fs::write(&path, &generation.file).expect("cargo's folder for tests is writable");
    let capture = rnic_capture::read(&path).expect("a sound capture");
    let flows = rnic_capture::flows(&capture, None);
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let progress = indicatif::ProgressBar::hidden();
    let report = play(&capture, &flows, &options, &progress);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(report.mismatches, 0, "{name}: {:?}", report.differences);
    assert_eq!(report.frames, generation.summary.frames, "{name}");
    assert_eq!(report.flows.len(), generation.directions.len(), "{name}");
    report
}

fn flow<'a>(report: &'a Report, direction: &Direction) -> &'a FlowReport {
    let (source, destination) = (&direction.source, &direction.destination);
    let ends = (source.to_string(), destination.to_string());
    let mut flows = report.flows.iter();
    let same = flows.find(|flow| (&flow.src, &flow.dst) == (&ends.0, &ends.1));
    same.unwrap_or_else(|| panic!("no flow {ends:?}"))
}

/// A message on an untagged queue: MSN, opcode, octets, SHA-256.
pub type Untagged = (u32, String, usize, String);

pub fn said(direction: &Direction) -> Vec<Untagged> {
    let untagged = direction.messages.iter().filter_map(|message| {
        let (opcode, data) = (message.opcode.name().to_owned(), &message.data);
        Some((message.msn?, opcode, data.len(), hex_sha256(data)))
    });
    untagged.collect()
}

fn heard(flow: &FlowReport) -> Vec<Untagged> {
    let messages = flow.receives.iter().map(|message| {
        let (opcode, sha256) = (
            message.opcode.clone(),
            message.sha256.clone().expect("short"),
        );
        (message.msn, opcode, message.length as usize, sha256)
    });
    messages.collect()
}

/// Memory that the tagged messages leave: SHA-256 by STag and length.
fn written(direction: &Direction) -> BTreeMap<String, (u64, String)> {
    let mut images: BTreeMap<u32, (u64, Vec<u8>)> = BTreeMap::new();
    let tagged = direction
        .messages
        .iter()
        .filter(|m| m.msn.is_none() && !m.data.is_empty());
    for message in tagged {
        let (base, image) = images
            .entry(message.stag)
            .or_insert((message.to, Vec::new()));
        let start = usize::try_from(message.to - *base).expect("offsets rise");
        image.resize(start, 0);
        image.extend_from_slice(&message.data);
    }
    let line = |(stag, (_, image)): (u32, (u64, Vec<u8>))| {
        (
            format!("{stag:#010x}"),
            (image.len() as u64, hex_sha256(&image)),
        )
    };
    images.into_iter().map(line).collect()
}

fn placed(flow: &FlowReport) -> BTreeMap<String, (u64, String)> {
    // A region that is only invalidated has no octets.
    let regions = flow.regions.iter().filter(|region| region.length > 0);
    let line = |region: &rnic_testbench::play::report::RegionReport| {
        let sha256 = region.sha256.clone().expect("it is small");
        (region.stag.clone(), (region.length, sha256))
    };
    regions.map(line).collect()
}

/// Every message of every direction is delivered with the right content.
pub fn everything_is_delivered(name: &str, workload: &Workload) -> (Generation, Report) {
    let generation = made(workload);
    let report = play_alone(name, &generation);
    for direction in &generation.directions {
        let flow = flow(&report, direction);
        let place = format!("{name}, {} > {}", flow.src, flow.dst);
        assert!(flow.error.is_none(), "{place}: {:?}", flow.error);
        assert_eq!(flow.fpdus as usize, direction.fpdus, "{place}: FPDUs");
        assert_eq!(heard(flow), said(direction), "{place}: messages");
        assert_eq!(placed(flow), written(direction), "{place}: memory");
        assert_eq!(flow.mpa.crc, workload.crc, "{place}");
        assert_eq!(flow.mpa.revision, workload.revision, "{place}");
    }
    (generation, report)
}

/// What a receiver that takes octets in order only says of a stream with faults is explained: the
/// first messages, with the right content.
pub fn a_beginning_is_delivered(name: &str, workload: &Workload) -> Report {
    let generation = made(workload);
    let report = play_alone(name, &generation);
    for direction in &generation.directions {
        let flow = flow(&report, direction);
        let (heard, said) = (heard(flow), said(direction));
        assert!(heard.len() <= said.len(), "{name}: more than was said");
        // Queues are served apart: compare each.
        for opcode_is_request in [false, true] {
            let of_queue = |messages: &[Untagged]| -> Vec<Untagged> {
                let request = Opcode::ReadRequest.name();
                let same = messages
                    .iter()
                    .filter(|m| (m.1 == request) == opcode_is_request);
                same.cloned().collect()
            };
            let (heard, said) = (of_queue(&heard), of_queue(&said));
            assert_eq!(heard, said[..heard.len()], "{name}");
        }
    }
    report
}
