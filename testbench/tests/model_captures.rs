//! The model alone over every capture finds what `captures/facts.toml` says.
//!
//! The facts come from a reader of their own (`captures/facts.py`). Of a flow with loss the model
//! must find all that was sent, though a capture does not answer: what came ahead of a gap is never
//! sent again. A receiver that dropped it would find no more than the facts under `in_order`.
use rnic_testbench::play::report::FlowReport;
use rnic_testbench::play::{play, DutKind, Options, Report};
use rnic_testbench::traffic::captures::{Generated, GENERATED};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Deserialize)]
struct Facts {
    capture: Vec<CaptureFacts>,
}

#[derive(Deserialize)]
struct CaptureFacts {
    file: String,
    sha256: String,
    frames: usize,
    connections: usize,
    flow: Vec<FlowFacts>,
}

#[derive(Deserialize)]
struct FlowFacts {
    source: String,
    destination: String,
    revision: u8,
    markers: bool,
    crc: bool,
    #[serde(flatten)]
    whole: Content,
    /// What there is for a receiver that drops what is ahead of a gap, where that is less.
    in_order: Option<Content>,
}

/// What the FPDUs of a flow amount to.
#[derive(Deserialize, Debug, PartialEq, Eq)]
struct Content {
    fpdus: u64,
    opcodes: BTreeMap<String, u64>,
    messages: usize,
    messages_sha256: String,
    #[serde(default)]
    region: Vec<RegionFacts>,
}

#[derive(Deserialize, Debug, PartialEq, Eq)]
struct RegionFacts {
    stag: String,
    base: String,
    octets: u64,
    sha256: String,
}

impl Content {
    fn of(flow: &FlowReport) -> Self {
        let opcodes = serde_json::to_value(flow.opcodes).expect("numbers by name");
        let mut opcodes: BTreeMap<String, u64> =
            serde_json::from_value(opcodes).expect("numbers by name");
        opcodes.retain(|_, &mut count| count > 0);
        let lines = flow.receives.iter().map(|message| {
            let (qn, msn, length) = (message.qn, message.msn, message.length);
            let sha256 = message.sha256.as_ref().expect("it is short");
            format!("{qn} {msn} {} {length} {sha256}\n", message.opcode)
        });
        let regions = flow.regions.iter().map(|region| RegionFacts {
            stag: region.stag.clone(),
            base: region.base.clone(),
            octets: region.length,
            sha256: region.sha256.clone().expect("it is small"),
        });
        Self {
            fpdus: flow.fpdus,
            opcodes,
            messages: flow.receives.len(),
            messages_sha256: hex_sha256(lines.collect::<String>().as_bytes()),
            region: regions.collect(),
        }
    }
}

fn hex_sha256(octets: &[u8]) -> String {
    Sha256::digest(octets)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures")
}

fn facts() -> Vec<CaptureFacts> {
    let text = std::fs::read_to_string(directory().join("facts.toml")).expect("facts.toml");
    let facts: Facts = toml::from_str(&text).expect("facts.toml is as facts.py prints it");
    facts.capture
}

fn play_alone(file: &str) -> Report {
    let capture =
        rnic_capture::read(&directory().join(file)).expect("committed captures are readable");
    let flows = rnic_capture::flows(&capture, None);
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let report = play(
        &capture,
        &flows,
        &options,
        &indicatif::ProgressBar::hidden(),
    );
    report.unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn check(file: &str) {
    let facts = facts();
    let facts = facts
        .iter()
        .find(|facts| facts.file == file)
        .expect("every capture has facts");
    let report = play_alone(file);
    assert_eq!(report.frames, facts.frames, "{file}");
    assert_eq!(report.flows.len(), 2 * facts.connections, "{file}");
    assert_eq!(report.flows.len(), facts.flow.len(), "{file}");
    assert_eq!(report.mismatches, 0, "{file}: {:?}", report.differences);
    for facts in &facts.flow {
        let name = format!("{file}: {} > {}", facts.source, facts.destination);
        let mut same = report
            .flows
            .iter()
            .filter(|flow| (&flow.src, &flow.dst) == (&facts.source, &facts.destination));
        let (flow, other) = (same.next().expect(&name), same.next());
        assert!(other.is_none(), "{name}: found twice");
        let startup = (flow.mpa.revision, flow.mpa.markers, flow.mpa.crc);
        assert_eq!(
            startup,
            (facts.revision, facts.markers, facts.crc),
            "{name}"
        );
        assert!(flow.error.is_none(), "{name}: {:?}", flow.error);
        assert_eq!(flow.crc_errors, 0, "{name}");
        // RDMAP-011: each Read Response is the answer to a Read Request of the other direction.
        assert_eq!(flow.reads_without_request, 0, "{name}");
        assert_eq!(
            flow.reads > 0,
            facts.whole.opcodes.contains_key("read_response"),
            "{name}"
        );
        let lossy = facts.in_order.is_some();
        assert_eq!(
            flow.out_of_order > 0,
            lossy,
            "{name}: segments ahead of a gap"
        );
        assert_eq!(Content::of(flow), facts.whole, "{name}");
    }
}

macro_rules! captures {
    ($($(#[$attribute:meta])* fn $test:ident() { $file:literal })*) => {
        const TESTED: &[&str] = &[$($file),*];
        $($(#[$attribute])* fn $test() { check($file); })*
    };
}

captures! {
    /// MPA-013, MPA-015, MPA-047, START-023: markers in both directions, one FPDU to a segment.
    #[test]
    fn aligned_with_markers() { "mk-aligned.pcap" }

    /// MPA-046, MPA-050: the same, cut at any octet.
    #[test]
    fn chopped_with_markers() { "mk-chopped.pcap" }

    /// DDP-009: revision 0, whose segments have version 0.
    #[test]
    fn revision_0() { "mk-rev0.pcap" }

    /// MPA-046: IPv6 below a VLAN tag, full segments without regard to FPDUs.
    #[test]
    fn ipv6_in_a_vlan() { "mk-v6-vlan.pcap" }

    /// MPA-038, MPA-052, DDP-023: loss, repetition with other borders, late segments; every message
    /// is delivered once, in order.
    #[test]
    fn loss_with_markers() { "mk-loss.pcap" }

    /// RDMAP-007, RDMAP-010: reads and writes of a foreign stack.
    #[test]
    fn rping() { "rping-v4-crc.pcap" }

    /// MPA-006, START-028: the same without CRC, its field sent as zero.
    #[test]
    fn rping_without_crc() { "rping-v4-nocrc.pcap" }

    /// DDP-014, DDP-025: Sends of 2 to 65536 octets on 16 connections.
    #[test]
    fn sends() { "send-bw-1500.pcap" }

    /// DDP-043: RDMA Writes of 2 to 65536 octets on 16 connections.
    #[test]
    fn writes() { "write-bw-1500.pcap" }

    /// MPA-038, MPA-052, DDP-023, RDMAP-015: a lossy link.
    #[test]
    fn lossy_link() { "netem-write-bw.pcap" }

    /// The same with Sends: segments beyond a gap find no room at times, and are sent again.
    #[test]
    fn lossy_link_with_sends() { "netem-send-bw.pcap" }

    /// Eight connections that write to one region.
    #[test]
    fn eight_queue_pairs() { "q8-write-bw.pcap" }

    /// RDMAP-006: NFS, with Sends with Invalidate.
    #[test]
    fn nfs() { "nfs-v3.pcap" }

    /// RDMAP-002, DDP-018, DDP-019: every operation, with lengths about the borders of segments.
    #[test]
    fn operations() { "ops-v4-crc.pcap" }

    /// MPA-043, MPA-048, MPA-051: many small FPDUs in a segment.
    #[test]
    fn small_sends_packed() { "nagle-send-bw.pcap" }

    /// RDMAP-007, RDMAP-008, RDMAP-010: this project's client and siw's server.
    #[test]
    fn live_client() { "live-client.pcap" }

    /// MPA2-002, RDMAP-008: its server, with a Read of no octets as ready-to-receive message.
    #[test]
    fn live_server_read() { "live-server-read.pcap" }

    /// MPA-038, MPA-052, DDP-023: the same with frames that are lost on the way.
    #[test]
    fn live_server_loss() { "live-server-loss.pcap" }

    /// MPA-005, MPA-013, MPA2-006: FPDUs of 64 KiB with and without markers.
    #[test]
    fn large_fpdus() { "gen-large-fpdus.pcap" }
}

/// No capture is left out, and no facts are left over.
#[test]
fn every_capture_has_facts_and_a_test() {
    let entries = std::fs::read_dir(directory()).expect("testbench/captures");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names: BTreeSet<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".pcap"))
        .collect();
    assert_eq!(names, TESTED.iter().map(ToString::to_string).collect());
    assert_eq!(names, facts().into_iter().map(|facts| facts.file).collect());
}

/// The files are the ones the facts were read from.
#[test]
fn captures_are_unchanged() {
    for facts in facts() {
        let octets = std::fs::read(directory().join(&facts.file)).expect("a committed capture");
        let file = &facts.file;
        assert_eq!(
            hex_sha256(&octets),
            facts.sha256,
            "{file}: print the facts anew"
        );
    }
}

/// Facts about loss are about loss: less than the whole, and more than nothing.
#[test]
fn lossy_flows_give_a_part() {
    let mut lossy = 0;
    for flow in facts().iter().flat_map(|capture| &capture.flow) {
        if let Some(part) = &flow.in_order {
            assert!(
                (1..flow.whole.fpdus).contains(&part.fpdus),
                "{}",
                flow.source
            );
            lossy += 1;
        }
    }
    assert_eq!(
        lossy, 5,
        "both directions of mk-loss, the writes of netem-write-bw, the Sends of netem-send-bw, \
         what live-server-loss has of the server"
    );
}

/// The generated captures are what their program gives.
#[test]
fn generated_captures_are_reproducible() {
    for Generated { file, make } in GENERATED {
        let committed = std::fs::read(directory().join(file)).expect("a committed capture");
        assert!(
            make() == committed,
            "{file} differs; run: cargo run -p rnic-testbench --example make_captures"
        );
    }
}
