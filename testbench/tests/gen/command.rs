//! The command line of `rnic gen`: what it writes, and what it refuses.

use crate::rig::{made, path};
use rnic_testbench::workload::Workload;
use std::process::{Command, Output};

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
    // An existing capture is kept.
    let _ = std::fs::remove_file(&out);
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
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
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
        assert_eq!(&report[name], value, "{name}");
    }
    assert!(report["faults"]["loss"].as_u64() > Some(0));
}

fn rnic_gen(out: &std::path::Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rnic"));
    command.arg("gen").arg("--out").arg(out).args(options);
    command.output().expect("cargo has built it")
}
