//! Choices that change the octets on the wire but not what is delivered.

use crate::rig::{everything_is_delivered, made, path};
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::{Faults, Field, Interleave, IpFamily, Markers, Mix, Workload};
use rnic_wire::ddp::rdmap::Opcode;

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
fn a_stream_starts_where_the_description_says() {
    for start in [0, 1, 0x7fff_ffff, u32::MAX] {
        let workload = Workload {
            sequence_start: Some(start),
            ..Workload::default()
        };
        let name = format!("gen-start-{start}.pcap");
        everything_is_delivered(&name, &workload);
        let capture = rnic_capture::read(&path(&name)).expect("a sound capture");
        let flows = rnic_capture::flows(&capture, None);
        assert!(flows.iter().all(|flow| flow.sequence_start == start));
    }
}
