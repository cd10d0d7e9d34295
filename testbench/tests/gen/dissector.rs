//! tshark, which shares nothing with this repository, reads what is generated.

use crate::rig::{made, path};
use rnic_effort::skipped;
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::{Faults, IpFamily, Markers, Workload};
use std::process::Command;

/// tshark, which shares nothing with this repository, finds every FPDU, and no wrong CRC.
///
/// tshark 4.0 loses its way where a marker lies between two FPDUs (it takes it for the end of the
/// earlier one, against RFC 5044 section 4.3) and after segments of a few octets, so these
/// workloads have neither.
#[test]
fn an_independent_dissector_reads_it() {
    if Command::new("tshark").arg("--version").output().is_err() {
        skipped("an_independent_dissector_reads_it", "tshark");
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
