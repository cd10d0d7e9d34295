//! Small captures, each of a situation that users of packet tools report in public: what is played
//! of it, and what is said. `cases.json` has the right result of each, found by a dissector of its
//! own.
//!
//! | group | captures |
//! |---|---|
//! | another format | `cooked`, `raw-ip`, `two-links`, `fcs-length`, `obsolete-blocks`, `secrets-2mib`, `base.pcap.zst`, `big-endian-ns`, `two-sections` |
//! | not whole | `cut`, `cut-stranger`, `caplen-above-len`, `unknown-interface` |
//! | the sender's card had yet to do it | `offload-checksums`, `super-frame` |
//! | seen twice, of which the good copy counts | `twice-*` |
//! | TCP | `stray-syn`, `ports-reused`, `fast-open`, `simultaneous-open-wrap`, `keep-alive-octets`, `syn-after-data`, `mid-connection`, `gap` |
//! | nothing, or less, is played | `rejected`, `vxlan`, `terminate` |
use indicatif::ProgressBar;
use rnic_capture::{ReadOptions, StartupOverride};
use rnic_testbench::play::{play, summary, DutKind, Options, Report};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What must come of a capture.
#[derive(Debug, Deserialize)]
struct Case {
    file: String,
    /// Words that the report or the refusal has.
    words: Vec<String>,
    /// Something is played.
    flows: bool,
    /// First sequence number of full operation, for a capture that begins later.
    start: Option<u32>,
    /// The file is not used at all.
    #[serde(default)]
    refused: bool,
    regions: Option<Vec<Region>>,
    receives: Option<Vec<Receive>>,
}

/// Host, STag, base, octets, SHA-256.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Region(String, String, String, u64, String);

/// Host, queue, MSN, octets, SHA-256.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Receive(String, u32, u32, u32, String);

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(folder().join("cases.json")).expect("it is committed");
    serde_json::from_str(&text).expect("its shape is that of `Case`")
}

/// What `rnic play --dut model` reports of a capture, or the words of its refusal.
fn played(file: &str, read: &ReadOptions) -> Result<Report, String> {
    let opened = rnic_capture::open(&folder().join(file), read);
    let opened = opened.map_err(|error| error.to_string())?;
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let report = play(
        &opened.capture,
        &opened.flows,
        &options,
        &ProgressBar::hidden(),
    );
    Ok(Report {
        notes: opened.notes,
        causes: opened.causes,
        ..report.expect("the model plays what was opened")
    })
}

fn host(end: &str) -> String {
    let end: SocketAddr = end.parse().expect("an address of the report");
    end.ip().to_string()
}

fn check(case: &Case) {
    let startup = |start| StartupOverride {
        markers: false,
        crc: true,
        start,
    };
    let read = ReadOptions {
        startups: case.start.map(startup).into_iter().collect(),
        ..ReadOptions::default()
    };
    let (said, report) = match played(&case.file, &read) {
        Ok(report) => {
            let said = summary::text(&report) + &summary::nothing_played(&report);
            (said, Some(report))
        }
        Err(error) => (error, None),
    };
    assert_eq!(report.is_none(), case.refused, "{}: {said}", case.file);
    for words in &case.words {
        assert!(said.contains(words), "{}: no {words} in {said}", case.file);
    }
    let Some(report) = report else { return };
    assert_eq!(!report.flows.is_empty(), case.flows, "{}", case.file);
    let (mut regions, mut receives) = (Vec::new(), Vec::new());
    for flow in &report.flows {
        let host = host(&flow.dst);
        for region in flow.regions.iter().filter(|region| region.length > 0) {
            regions.push(Region(
                host.clone(),
                region.stag.clone(),
                region.base.clone(),
                region.length,
                region.sha256.clone().expect("it is small"),
            ));
        }
        for receive in &flow.receives {
            receives.push(Receive(
                host.clone(),
                receive.qn,
                receive.msn,
                receive.length,
                receive.sha256.clone().expect("it is small"),
            ));
        }
    }
    regions.sort();
    receives.sort();
    if let Some(expected) = &case.regions {
        assert_eq!(&regions, expected, "{}", case.file);
    }
    if let Some(expected) = &case.receives {
        assert_eq!(&receives, expected, "{}", case.file);
    }
}

#[test]
fn each_capture_is_played_or_explained() {
    let cases = cases();
    let files = std::fs::read_dir(folder()).expect("it is committed");
    let captures = files.filter(|file| {
        let name = file.as_ref().expect("readable").file_name();
        name.to_string_lossy().contains(".pcap")
    });
    assert_eq!(cases.len(), captures.count(), "a capture without a case");
    cases.iter().for_each(check);
}

/// What was repaired is not, if it is not wanted: the device drops the segments, and says so.
#[test]
fn as_captured_nothing_is_repaired() {
    let read = ReadOptions {
        as_captured: true,
        ..ReadOptions::default()
    };
    let report = played("super-frame.pcap", &read).expect("it is played");
    assert_eq!(report.counters["drop_frame_too_long"], 1);
    assert_eq!(report.notes[0].kind, "too_long");
    let report = played("offload-checksums.pcap", &read).expect("it is played");
    assert_eq!(report.flows.len(), 0);
    let kinds: Vec<&str> = report.causes.iter().map(|cause| cause.kind).collect();
    assert_eq!(kinds, ["one_direction", "bad_checksum"]);
}

/// `--only-flow`: the same octets as with all flows, under the same number, and no other frame.
#[test]
fn one_flow_alone_has_what_it_has_among_others() {
    let all = played("ports-reused.pcap", &ReadOptions::default()).expect("it is played");
    for flow in &all.flows {
        let read = ReadOptions {
            only_flow: Some(flow.id),
            ..ReadOptions::default()
        };
        let alone = played("ports-reused.pcap", &read).expect("it is played");
        assert!(alone.frames < all.frames);
        let [own] = &alone.flows[..] else {
            panic!("flow {}: {} flows", flow.id, alone.flows.len());
        };
        let own = serde_json::to_value(own).expect("a report is JSON");
        assert_eq!(own, serde_json::to_value(flow).expect("as above"));
    }
    let beyond = ReadOptions {
        only_flow: Some(all.flows.len()),
        ..ReadOptions::default()
    };
    let refused = played("ports-reused.pcap", &beyond).expect_err("there is none");
    assert!(
        refused.contains(&format!("has {} flows", all.flows.len())),
        "{refused}"
    );
}

/// A sequence number that no connection has, and one whose connection has its start-up frames.
#[test]
fn what_mpa_names_must_be_there() {
    let start = |start| ReadOptions {
        startups: vec![StartupOverride {
            markers: false,
            crc: true,
            start,
        }],
        ..ReadOptions::default()
    };
    let refused = played("mid-connection.pcap", &start(5)).expect_err("it is nowhere");
    assert!(
        refused.contains("10.7.0.2:40001 > 10.7.0.1:7174: 1181"),
        "{refused}"
    );
    let ignored = played("base.pcap", &start(1_381_849_984)).expect("it is played");
    assert_eq!(ignored.notes[0].kind, "option_ignored");
    assert_eq!(ignored.flows.len(), 2);
}
