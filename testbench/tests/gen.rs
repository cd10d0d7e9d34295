//! `rnic gen`: captures from a described workload are what was asked for, the model finds in them
//! what was said, and an independent dissector reads them.
//!
//! The contents come from the generator's own list of messages, never from the capture; the model
//! reads the capture alone.

use rnic_testbench::capture;
use rnic_testbench::play::report::FlowReport;
use rnic_testbench::play::{play, DutKind, Options, Report};
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::connection::Direction;
use rnic_testbench::workload::{
    generate, Faults, Field, Generation, Interleave, IpFamily, Markers, Mix, Resend, Workload,
};
use rnic_wire::ddp::rdmap::Opcode;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

fn hex_sha256(octets: &[u8]) -> String {
    Sha256::digest(octets)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn made(workload: &Workload) -> Generation {
    generate(workload).unwrap_or_else(|error| panic!("{workload:?}: {error}"))
}

/// The model's report of the file, which is written as `name` and read as `rnic play` reads it.
fn play_alone(name: &str, generation: &Generation) -> Report {
    let path = path(name);
    std::fs::write(&path, &generation.file).expect("cargo's folder for tests is writable");
    let capture = capture::read(&path).expect("a sound capture");
    let flows = capture::flows(&capture, None);
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let progress = indicatif::ProgressBar::hidden();
    let report = play(&capture, &flows, &options, &progress);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(report.mismatches, 0, "{name}: {:?}", report.told);
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
type Untagged = (u32, String, usize, String);

fn said(direction: &Direction) -> Vec<Untagged> {
    let untagged = direction.messages.iter().filter_map(|message| {
        let (opcode, data) = (message.opcode.name().to_owned(), &message.data);
        Some((message.msn?, opcode, data.len(), hex_sha256(data)))
    });
    untagged.collect()
}

fn heard(flow: &FlowReport) -> Vec<Untagged> {
    let messages = flow.receives.iter().map(|message| {
        let (opcode, sha256) = (message.opcode.clone(), message.sha256.clone());
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
        (region.stag.clone(), (region.length, region.sha256.clone()))
    };
    regions.map(line).collect()
}

/// Every message of every direction is delivered with the right content.
fn everything_is_delivered(name: &str, workload: &Workload) -> (Generation, Report) {
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
fn a_beginning_is_delivered(name: &str, workload: &Workload) -> Report {
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

#[test]
fn a_seed_is_the_whole_of_a_capture() {
    let faults = Faults {
        loss: 0.1,
        reorder: 0.1,
        duplicate: 0.1,
        resegment: 0.1,
        overlap: 0.1,
        errors: [(Field::Tcp, 0.1), (Field::Data, 0.02)].into(),
        ..Faults::default()
    };
    let workload = Workload {
        connections: 3,
        cutter: Cutter::Chopped,
        faults,
        ..Workload::default()
    };
    let again = workload.clone();
    let other = Workload {
        seed: 2,
        ..workload.clone()
    };
    assert!(made(&workload).file == made(&again).file);
    assert!(made(&workload).file != made(&other).file);
}

/// Contents draw from a generator of their own: a fault leaves the messages as they are.
#[test]
fn faults_leave_what_is_said() {
    let plain = Workload::default();
    let mut lossy = plain.clone();
    lossy.faults.loss = 0.5;
    assert_eq!(made(&plain).directions, made(&lossy).directions);
}

/// MPA-013, MPA-043: every choice that changes the octets on the wire but not what is delivered.
#[test]
fn the_model_delivers_every_message() {
    let plain = Workload::default();
    let workloads = [
        ("gen-plain.pcap", plain.clone()),
        (
            "gen-markers.pcap",
            Workload {
                markers: Markers::Both,
                ..plain.clone()
            },
        ),
        (
            "gen-one-way-markers.pcap",
            Workload {
                markers: Markers::Initiator,
                revision: 2,
                ..plain.clone()
            },
        ),
        (
            "gen-no-crc.pcap",
            Workload {
                crc: false,
                revision: 0,
                ..plain.clone()
            },
        ),
        (
            "gen-v6-vlan.pcap",
            Workload {
                ip: IpFamily::V6,
                vlan: vec![7, 77],
                timestamps: true,
                ..plain.clone()
            },
        ),
        (
            "gen-packed.pcap",
            Workload {
                cutter: Cutter::Packed,
                messages: 200,
                sizes: 0..=60,
                ..plain.clone()
            },
        ),
        (
            "gen-wrap.pcap",
            Workload {
                sequence_start: Some(u32::MAX - 999),
                cutter: Cutter::Chopped,
                markers: Markers::Responder,
                ..plain.clone()
            },
        ),
        (
            "gen-many.pcap",
            Workload {
                connections: 64,
                ip: IpFamily::Both,
                messages: 6,
                ..plain.clone()
            },
        ),
        (
            "gen-small-mulpdu.pcap",
            Workload {
                mulpdu: Some(128),
                cutter: Cutter::Full,
                ..plain
            },
        ),
    ];
    for (name, workload) in workloads {
        everything_is_delivered(name, &workload);
    }
}

/// MPA-032: the longest FPDU, in segments of jumbo frames.
#[test]
fn the_longest_fpdu_is_delivered() {
    let workload = Workload {
        mulpdu: Some(64_768),
        sizes: 64_754..=64_754,
        mix: Mix([(Opcode::RdmaWrite, 1)].into()),
        connections: 2,
        interleave: Interleave::Fpdu,
        messages: 3,
        mtu: 9000,
        cutter: Cutter::Full,
        ..Workload::default()
    };
    let (generation, _) = everything_is_delivered("gen-longest.pcap", &workload);
    // An opening Send, then one FPDU a message.
    assert!(generation
        .directions
        .iter()
        .all(|direction| direction.fpdus == 4));
}

/// The sequence number asked for is that of the first octet of full operation.
#[test]
fn a_stream_starts_where_it_is_told() {
    for start in [0, 1, 0x7fff_ffff, u32::MAX] {
        let workload = Workload {
            sequence_start: Some(start),
            ..Workload::default()
        };
        let name = format!("gen-start-{start}.pcap");
        everything_is_delivered(&name, &workload);
        let capture = capture::read(&path(&name)).expect("a sound capture");
        let flows = capture::flows(&capture, None);
        assert!(flows.iter().all(|flow| flow.sequence_start == start));
    }
}

/// MPA-046: cut at any octet, sent twice, over borders - in order, so nothing may be missing.
#[test]
fn faults_that_lose_nothing_change_nothing() {
    let faults = Faults {
        resegment: 0.5,
        overlap: 0.3,
        duplicate: 0.3,
        ..Faults::default()
    };
    let workload = Workload {
        faults,
        markers: Markers::Both,
        connections: 4,
        ..Workload::default()
    };
    let (generation, report) = everything_is_delivered("gen-in-order.pcap", &workload);
    let injected = &generation.summary.faults;
    let sum = |count: fn(&FlowReport) -> u64| report.flows.iter().map(count).sum::<u64>();
    assert!(injected.resegment > 0);
    assert!(injected.overlap > 0 && sum(|flow| flow.retransmit_trimmed) > 0);
    assert!(injected.duplicate > 0 && sum(|flow| flow.duplicate) >= injected.duplicate);
    assert_eq!(sum(|flow| flow.out_of_order), 0);
}

/// All from the gap on is sent again: a receiver that keeps nothing ahead of a gap gets all.
#[test]
fn after_loss_and_reordering_all_is_sent_again() {
    let faults = Faults {
        loss: 0.05,
        reorder: 0.1,
        errors: [
            (Field::Ip, 0.05),
            (Field::Tcp, 0.05),
            (Field::Payload, 0.05),
        ]
        .into(),
        resend: Resend::All,
        ..Faults::default()
    };
    let workload = Workload {
        faults,
        connections: 3,
        messages: 60,
        ..Workload::default()
    };
    let (generation, report) = everything_is_delivered("gen-resend-all.pcap", &workload);
    let injected = &generation.summary.faults;
    assert!(injected.loss > 0 && injected.reorder > 0 && injected.resent > 0);
    for field in [Field::Ip, Field::Tcp, Field::Payload] {
        assert!(injected.errors[&field] > 0, "{field:?}");
    }
    assert!(report.flows.iter().any(|flow| flow.out_of_order > 0));
    // A wrong port is another connection's, a wrong data offset is no header: the rest is seen by
    // the checksum, and every wrong payload is.
    let (tcp, payload) = (
        injected.errors[&Field::Tcp],
        injected.errors[&Field::Payload],
    );
    let checksums = u64::from(report.counters["drop_tcp_checksum"]);
    assert!(
        (payload + 1..=payload + tcp).contains(&checksums),
        "{checksums}"
    );
    let headers = ["drop_ip_checksum", "drop_ip_malformed"];
    let headers: u32 = headers.iter().map(|name| report.counters[name]).sum();
    assert_eq!(u64::from(headers), injected.errors[&Field::Ip]);
}

/// Only what was lost is sent again: in order, the model finds the beginning; a reader that keeps
/// what is ahead of a gap finds all.
#[test]
fn what_was_lost_is_sent_again_once() {
    let mut workload = Workload {
        connections: 4,
        messages: 40,
        ..Workload::default()
    };
    workload.faults.loss = 0.1;
    workload.faults.reorder = 0.1;
    let report = a_beginning_is_delivered("gen-lost.pcap", &workload);
    assert!(report.flows.iter().any(|flow| flow.out_of_order > 0));
    let generation = made(&workload);
    let faults = &generation.summary.faults;
    assert_eq!(faults.resent, faults.loss);
    // Learning puts the whole stream together.
    let capture = capture::read(&path("gen-lost.pcap")).expect("a sound capture");
    let flows = capture::flows(&capture, None);
    let learned: usize = flows.iter().map(|flow| flow.messages.len()).sum();
    let said: usize = generation.directions.iter().map(|d| said(d).len()).sum();
    assert_eq!(learned, said);
    workload.faults.resend = Resend::Never;
    a_beginning_is_delivered("gen-never.pcap", &workload);
    assert_eq!(made(&workload).summary.faults.resent, 0);
}

/// A wrong bit that TCP does not see stops the flow at its FPDU; nothing false is placed.
#[test]
fn a_wrong_bit_in_an_fpdu_stops_its_flow() {
    let fields = [
        Field::Length,
        Field::Header,
        Field::Data,
        Field::Crc,
        Field::Marker,
    ];
    for field in fields {
        let mut workload = Workload {
            markers: Markers::Both,
            messages: 40,
            ..Workload::default()
        };
        workload.faults.errors.insert(field, 0.1);
        let name = format!("gen-error-{}.pcap", field.name());
        let report = a_beginning_is_delivered(&name, &workload);
        assert!(
            made(&workload).summary.faults.errors[&field] > 0,
            "{field:?}"
        );
        let stopped = report.flows.iter().filter(|flow| flow.error.is_some());
        let layers: Vec<_> = stopped
            .flat_map(|flow| &flow.error)
            .map(|e| e.layer)
            .collect();
        assert!(!layers.is_empty(), "{field:?}: no flow notices");
        assert!(
            layers.iter().all(|layer| *layer == "mpa"),
            "{field:?}: {layers:?}"
        );
    }
}

/// What cannot be made is refused in one line that names the option, and nothing is written.
#[test]
fn bad_values_are_refused_and_nothing_is_written() {
    let refused: [&[&str]; 21] = [
        &["--loss", "1.5"],
        &["--loss", "-0.1"],
        &["--loss", "NaN"],
        &["--duplicate", "2"],
        &["--reorder", "2"],
        &["--resegment", "2"],
        &["--overlap", "2"],
        &["--error", "tcp=2"],
        &["--error", "colour=0.1"],
        &["--mulpdu", "127"],
        &["--mulpdu", "64769"],
        &["--connections", "0"],
        &["--connections", "65"],
        &["--sizes", "9..3"],
        &["--vlan", "4095"],
        &["--revision", "3"],
        &["--mtu", "100"],
        &["--mix", "send=0"],
        &["--messages", "99999999999"],
        &["--error", "length=0.1", "--no-crc"],
        &["--error", "marker=0.1"],
    ];
    for (number, options) in refused.iter().enumerate() {
        let out = path(&format!("gen-refused-{number}.pcap"));
        let output = rnic_gen(&out, options);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(options[0]), "{options:?}: {said}");
        assert!(!said.contains("panicked"), "{options:?}: {said}");
        assert!(!out.exists(), "{options:?} wrote a file");
    }
}

/// The command writes what the library makes, and says what is in it.
#[test]
fn the_command_writes_the_capture_and_counts_it() {
    let out = path("gen-command.pcap");
    let options = [
        "--connections",
        "2",
        "--loss",
        "0.2",
        "--seed",
        "9",
        "--json",
        "-",
    ];
    let output = rnic_gen(&out, &options);
    assert_eq!(output.status.code(), Some(0));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    let mut workload = Workload {
        connections: 2,
        seed: 9,
        ..Workload::default()
    };
    workload.faults.loss = 0.2;
    let generation = made(&workload);
    assert!(std::fs::read(&out).expect("it was written") == generation.file);
    let summary = serde_json::to_value(&generation.summary).expect("numbers by name");
    for (name, value) in summary.as_object().expect("an object") {
        assert_eq!(&told[name], value, "{name}");
    }
    assert!(told["faults"]["loss"].as_u64() > Some(0));
}

fn rnic_gen(out: &std::path::Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rnic"));
    command.arg("gen").arg("--out").arg(out).args(options);
    command.output().expect("cargo has built it")
}

/// tshark, which shares nothing with this repository, finds every FPDU, and no wrong CRC.
///
/// tshark 4.0 loses its way where a marker lies between two FPDUs (it takes it for the end of the
/// earlier one, against RFC 5044 section 4.3) and behind segments of a few octets, so these
/// workloads have neither.
#[test]
fn an_independent_dissector_reads_it() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let plain = Workload {
        connections: 2,
        ..Workload::default()
    };
    let lossy = Faults {
        loss: 0.05,
        reorder: 0.05,
        ..Faults::default()
    };
    let workloads = [
        ("gen-tshark-plain.pcap", plain.clone()),
        (
            "gen-tshark-markers.pcap",
            Workload {
                markers: Markers::Both,
                messages: 8,
                seed: 2,
                ..plain.clone()
            },
        ),
        (
            "gen-tshark-v6.pcap",
            Workload {
                ip: IpFamily::V6,
                vlan: vec![5],
                sequence_start: Some(0xffff_f000),
                ..plain.clone()
            },
        ),
        (
            "gen-tshark-packed.pcap",
            Workload {
                cutter: Cutter::Packed,
                ..plain.clone()
            },
        ),
        (
            "gen-tshark-lossy.pcap",
            Workload {
                faults: lossy,
                connections: 4,
                ..plain.clone()
            },
        ),
        (
            "gen-tshark-full.pcap",
            Workload {
                cutter: Cutter::Full,
                ..plain
            },
        ),
    ];
    for (name, workload) in workloads {
        let generation = made(&workload);
        let path = path(name);
        std::fs::write(&path, &generation.file).expect("cargo's folder for tests is writable");
        let output = Command::new("tshark")
            .arg("-r")
            .arg(&path)
            .args(["-o", "tcp.reassemble_out_of_order:TRUE", "-V"])
            .output()
            .expect("it was there just now");
        let text = String::from_utf8_lossy(&output.stdout);
        let count = |words: &str| text.matches(words).count();
        assert_eq!(count("ULPDU length:"), generation.summary.fpdus, "{name}");
        assert_eq!(count("(Good CRC32)"), generation.summary.fpdus, "{name}");
        assert_eq!(count("(Bad CRC32"), 0, "{name}");
    }
}
