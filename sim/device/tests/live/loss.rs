//! A wire that loses, doubles and reorders: every octet arrives all the same.

use crate::scene::{completion, octets, post_receives, End, Scene};
use crate::wire::Wire;
use indicatif::ProgressBar;
use rnic_capture::ReadOptions;
use rnic_device::hub::{Rate, Settings as Faults};
use rnic_driver::verbs::endpoint::{QueuePair, SendOperation, WorkKind};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::Settings;
use rnic_testbench::play::{self, DutKind, FlowReport, Options};
use std::path::Path;
use std::process::Command;

/// Octets of a message of the Sends.
const MESSAGE: usize = 4096;
/// Octets of a Write or a Read.
const PIECE: usize = 64 * 1024;

fn faults(rate: f64, seed: u64) -> Faults {
    let rate = Rate::new(rate).expect("it is one");
    Faults {
        loss: rate,
        duplicate: rate,
        reorder: rate,
        delay_us: 200,
        megabits: 0,
        seed,
    }
}

/// Writes of all of `text`, then a Send that says so.
fn write(ends: [&End; 2], pairs: [&QueuePair; 2], text: &[u8]) {
    let (source, sink) = (ends[0].region(text), ends[1].region(&vec![0; text.len()]));
    let mut posted = 0;
    let mut done = 0;
    while done < text.len() {
        while posted < text.len() && posted - done < 8 * PIECE {
            let end = text.len().min(posted + PIECE);
            let payload = [source.part(posted..end).expect("inside")];
            let operation = SendOperation::Write {
                payload: &payload,
                stag: sink.stag(),
                to: posted as u64,
            };
            pairs[0]
                .post_send(posted as u64, &operation)
                .expect("posted");
            posted = end;
        }
        let completed = completion(pairs[0]);
        assert_eq!(
            (completed.id, completed.status),
            (done as u64, Status::Success)
        );
        done = text.len().min(done + PIECE);
    }
    let payload = [source.part(0..1).expect("inside")];
    let operation = SendOperation::send(&payload);
    pairs[0].post_send(1, &operation).expect("posted");
    assert_eq!(completion(pairs[0]).kind, WorkKind::Send);
    assert_eq!(completion(pairs[1]).kind, WorkKind::Receive);
    let mut placed = vec![0; text.len()];
    sink.read(0, &mut placed).expect("all of it");
    assert!(placed == text, "Writes");
}

/// Reads of all of `text` by the first end.
fn read(ends: [&End; 2], pairs: [&QueuePair; 2], text: &[u8]) {
    let (sink, source) = (ends[0].region(&vec![0; text.len()]), ends[1].region(text));
    let ranges = (0..text.len()).step_by(PIECE);
    for begin in ranges.clone() {
        let count = PIECE.min(text.len() - begin);
        let operation = SendOperation::Read {
            sink: &sink,
            sink_to: begin as u64,
            source_stag: source.stag(),
            source_to: begin as u64,
            octets: count as u32,
        };
        pairs[0]
            .post_send(begin as u64, &operation)
            .expect("posted");
        if begin >= 8 * PIECE {
            assert_eq!(completion(pairs[0]).kind, WorkKind::Read);
        }
    }
    for _ in 0..ranges.count().min(8) {
        assert_eq!(completion(pairs[0]).status, Status::Success);
    }
    let mut placed = vec![0; text.len()];
    sink.read(0, &mut placed).expect("all of it");
    assert!(placed == text, "Reads");
}

/// Sends of all of `text`.
fn send(ends: [&End; 2], pairs: [&QueuePair; 2], text: &[u8]) {
    let source = ends[0].region(text);
    let mut arrived = Vec::new();
    for begin in (0..text.len()).step_by(MESSAGE) {
        let end = text.len().min(begin + MESSAGE);
        let payload = [source.part(begin..end).expect("inside")];
        let operation = SendOperation::send(&payload);
        pairs[0]
            .post_send(begin as u64, &operation)
            .expect("posted");
        // As many are on their way as there are receives.
        if begin >= 8 * MESSAGE {
            arrived.extend(take(ends[1], pairs[1]));
            assert_eq!(completion(pairs[0]).kind, WorkKind::Send);
        }
    }
    while arrived.len() < text.len() {
        arrived.extend(take(ends[1], pairs[1]));
    }
    assert!(arrived == text, "Sends");
}

/// The next message; its memory is posted again.
fn take(end: &End, pair: &QueuePair) -> Vec<u8> {
    let received = completion(pair);
    assert_eq!(
        (received.kind, received.status),
        (WorkKind::Receive, Status::Success)
    );
    post_receives(end, pair, 1);
    received.message()
}

/// All of `count` octets by Writes, by Reads and by Sends; how many segments came again.
fn transfer(scene: &Scene, settings: &Settings, count: usize) -> u64 {
    let [initiator, responder] = scene.pairs([settings, settings]);
    let (ends, pairs) = (
        [&scene.initiator, &scene.responder],
        [&initiator, &responder],
    );
    let text = octets(count, 3);
    write(ends, pairs, &text);
    read(ends, pairs, &text);
    send(ends, pairs, &text);
    let statistics = initiator.statistics().expect("it is there");
    println!("{statistics:?}");
    statistics.sent.retransmitted_segments
}

fn run(kind: &str, count: usize, rate: f64) -> Scene {
    let mut scene = Scene::with_faults(kind, faults(rate, 7));
    let settings = Settings {
        markers: true,
        ..Settings::default()
    };
    let again = transfer(&scene, &settings, count);
    assert!(again > 0, "nothing was sent again");
    let wire = scene.wire.as_mut().expect("there is one");
    let counts = wire.end();
    println!("{kind}: {counts:?}");
    assert!(counts
        .iter()
        .all(|port| port.lost > 0 && port.duplicated > 0 && port.late > 0));
    let verdict = judge(wire, &[]);
    for (what, least) in [("fpdus", 100), ("markers", 100), ("again", 1), ("lost", 1)] {
        assert!(verdict[what].as_u64() >= Some(least), "{what}: {verdict}");
    }
    scene
}

/// MPA-025, MPA-030: what was on the wire, judged by a script of the test bench that knows nothing
/// of the driver; what was lost, too.
fn judge(wire: &Wire, options: &[&str]) -> serde_json::Value {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = tests.join("../../testbench/vm/live/judge.py");
    let judged = Command::new("python3")
        .arg(script)
        .args([&wire.capture, &wire.dropped])
        .args(options)
        .output();
    let judged = judged.expect("python3 is there");
    let text = String::from_utf8_lossy(&judged.stdout);
    println!("{text}");
    let errors = String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success(), "{text}{errors}");
    serde_json::from_str(&text).expect("JSON")
}

/// A wire that loses nothing, and no markers, which tshark does not read: it finds the FPDUs that
/// the script finds, each with a good CRC, nothing malformed.
fn run_without_loss(kind: &str, count: usize) {
    let mut scene = Scene::with_faults(kind, faults(0.0, 7));
    transfer(&scene, &Settings::default(), count);
    let wire = scene.wire.as_mut().expect("there is one");
    let counts = wire.end();
    assert!(counts.iter().all(|port| port.lost == 0), "{counts:?}");
    let verdict = judge(wire, &["--tshark"]);
    assert_eq!(verdict["markers"], 0, "{verdict}");
    let said = verdict["tshark"].as_str().expect("it is asked");
    if said == "tshark is not there" {
        return rnic_effort::skipped("two devices by another reader", "tshark");
    }
    let fpdus = said.strip_suffix(" FPDUs").map(str::parse);
    assert_eq!(
        fpdus,
        Some(Ok(verdict["fpdus"].as_u64().expect("a number")))
    );
}

/// DDP-022, MPA-044: the receivers of both directions get the delivered frames once more, by what
/// `rnic play --dut both` does. The core and the model show the same, and octets were placed
/// before their turn.
fn play(wire: &Wire) {
    let opened = rnic_capture::open(&wire.capture, &ReadOptions::default());
    let opened = opened.expect("a capture of a hub");
    let options = Options {
        dut: DutKind::Both,
        ..Options::default()
    };
    let (capture, flows) = (&opened.capture, &opened.flows);
    let report = play::play(capture, flows, &options, &ProgressBar::hidden());
    let report = report.expect("it plays");
    let count = |of: fn(&FlowReport) -> u64| report.flows.iter().map(of).sum::<u64>();
    let early = count(|flow| flow.placed_out_of_order_octets);
    let placed = count(|flow| flow.placed_octets);
    println!(
        "{} flows: {placed} octets placed, {early} before their turn",
        report.flows.len()
    );
    assert_eq!(report.flows.len(), 2, "{:?}", opened.causes);
    assert_eq!(report.mismatches, 0, "{:#?}", report.differences);
    assert!(
        early > 0 && placed > early,
        "{placed} octets, {early} of them early"
    );
}

#[test]
fn every_octet_arrives_over_a_wire_with_faults() {
    let count = rnic_effort::count("octets by each operation", 1 << 20, 100_000_000);
    run("model", count, 0.01);
}

#[test]
fn every_octet_arrives_at_the_verilated_core_over_a_wire_with_faults() {
    let count = rnic_effort::count("octets by each operation", 200_000, 1_000_000);
    let scene = run("rtl", count, 0.02);
    play(scene.wire.as_ref().expect("there is one"));
}

#[test]
fn tshark_reads_what_two_devices_say() {
    let count = rnic_effort::count("octets by each operation", 200_000, 1_000_000);
    run_without_loss("model", count);
}

#[test]
fn tshark_reads_what_two_verilated_cores_say() {
    let count = rnic_effort::count("octets by each operation", 50_000, 1_000_000);
    run_without_loss("rtl", count);
}
