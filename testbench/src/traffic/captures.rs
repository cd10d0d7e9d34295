//! Captures that no available sender can make, octet for octet from a seed.
//!
//! `cargo run -p rnic-testbench --example make_captures` writes them into `testbench/captures`; a
//! test holds the committed files against what this module gives.

use crate::traffic::conversation::{startup_frame, Conversation, Side};
use crate::traffic::cutter::Cutter;
use crate::traffic::frame::{Endpoint, FrameBuilder, TcpOptions};
use crate::traffic::sender::{Sender, SentFpdu, StreamConfig};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_capture::pcap::capture_file;
use rnic_wire::mpa::fpdu::ULPDU_OCTETS_MAX;
use std::collections::VecDeque;
use std::net::IpAddr;

/// A generated capture.
#[derive(Copy, Clone, Debug)]
pub struct Generated {
    /// Name of its file.
    pub file: &'static str,
    /// Makes the file's octets.
    pub make: fn() -> Vec<u8>,
}

/// Every generated capture.
pub const GENERATED: &[Generated] = &[Generated {
    file: "gen-large-fpdus.pcap",
    make: large_fpdus,
}];

const SEED: u64 = 0x0064_768f_9d00;
/// Segments of one side after which the other acknowledges.
const SEGMENTS_TO_ACKNOWLEDGE: usize = 8;
const SIDES: [Side; 2] = [Side::Initiator, Side::Responder];

/// How one connection is made up.
struct Plan {
    addresses: [IpAddr; 2],
    vlan: Vec<u16>,
    options: TcpOptions,
    mtu: usize,
    cutter: Cutter,
    revision: u8,
    /// The responder asks for markers.
    markers: bool,
    /// Only messages that fit a segment.
    small: bool,
    initial_sequence: [u32; 2],
}

/// A connection while its segments go out.
struct Run {
    conversation: Conversation,
    /// By side: payloads that wait, each with whether an FPDU ends in it.
    waiting: [VecDeque<(Vec<u8>, bool)>; 2],
    unacknowledged: [usize; 2],
    small: bool,
}

/// Connections with FPDUs of 64 KiB, with markers towards the responder and without towards the
/// initiator, and one with small messages whose segments fall between theirs. One large FPDU is
/// under way at a time, so that a receiver needs buffers for one.
fn large_fpdus() -> Vec<u8> {
    let mut generator = ChaCha8Rng::seed_from_u64(SEED);
    let mut frames = Vec::new();
    let mut runs: Vec<Run> = Vec::new();
    for (number, plan) in plans().iter().enumerate() {
        let mut run = open(number, plan, &mut generator);
        frames.append(&mut run.conversation.take_frames());
        // A responder sends no FPDU before it has received one (START-014).
        while !send(&mut run, Side::Initiator, &mut frames) {}
        runs.push(run);
    }
    while let Some(large) = pick(&runs, false, &mut generator) {
        // One FPDU to its end, with segments of the small connection between its own.
        loop {
            let ended = send(&mut runs[large.0], large.1, &mut frames);
            if generator.random_bool(0.3) {
                if let Some(small) = pick(&runs, true, &mut generator) {
                    send(&mut runs[small.0], small.1, &mut frames);
                }
            }
            if ended {
                break;
            }
        }
    }
    while let Some(small) = pick(&runs, true, &mut generator) {
        send(&mut runs[small.0], small.1, &mut frames);
    }
    for run in &mut runs {
        run.conversation.close();
        frames.append(&mut run.conversation.take_frames());
    }
    capture_file(&frames)
}

fn plans() -> Vec<Plan> {
    let v4 = |net: u8| [1, 2].map(|host| IpAddr::from([10, 77, net, host]));
    let v6 = [1, 2].map(|host| IpAddr::from([0xfd77, 0, 0, 0, 0, 0, 0, host]));
    let plain = Plan {
        addresses: v4(0),
        vlan: Vec::new(),
        options: TcpOptions::None,
        mtu: 1500,
        cutter: Cutter::Full,
        revision: 1,
        markers: true,
        small: false,
        // Sequence numbers of both sides go through zero in the middle of an FPDU.
        initial_sequence: [u32::MAX - 90_000, u32::MAX - 60_000],
    };
    vec![
        Plan {
            options: TcpOptions::Timestamps(1000, 2000),
            ..copy(&plain)
        },
        Plan {
            addresses: v6,
            vlan: vec![77],
            mtu: 9000,
            cutter: Cutter::Chopped,
            revision: 2,
            initial_sequence: [0, 0x8000_0000],
            ..copy(&plain)
        },
        Plan {
            addresses: v4(2),
            vlan: vec![7, 77],
            cutter: Cutter::Aligned,
            revision: 0,
            initial_sequence: [0x7fff_0000, 12345],
            ..copy(&plain)
        },
        Plan {
            addresses: v4(3),
            cutter: Cutter::Packed,
            markers: false,
            small: true,
            initial_sequence: [1, 2],
            ..plain
        },
    ]
}

fn copy(plan: &Plan) -> Plan {
    Plan {
        vlan: plan.vlan.clone(),
        ..*plan
    }
}

/// Handshake, start-up and the payloads that wait for their turn.
fn open(number: usize, plan: &Plan, generator: &mut ChaCha8Rng) -> Run {
    let endpoint = |side: usize, port: u16| Endpoint {
        mac: [0x02, 0, 0, 0, number as u8, side as u8 + 1],
        address: (plan.addresses[side], port).into(),
    };
    let ends = [endpoint(0, 40_000 + number as u16), endpoint(1, 4420)];
    let builders = [0, 1].map(|side| FrameBuilder {
        vlan: plan.vlan.clone(),
        options: plan.options,
        ..FrameBuilder::new(ends[side], ends[1 - side])
    });
    let mss = builders[0].mss(plan.mtu);
    let mut conversation = Conversation::open(builders, plan.initial_sequence);
    for side in SIDES {
        let mut private_data = vec![0; generator.random_range(0..64)];
        generator.fill_bytes(&mut private_data);
        let markers = plan.markers && side == Side::Responder;
        let frame = startup_frame(side, markers, true, plan.revision, &private_data);
        conversation.startup(side, &frame);
    }
    let waiting = SIDES.map(|side| {
        let mut sender = Sender::new(StreamConfig {
            markers: plan.markers && side == Side::Initiator,
            crc: true,
            version: plan.revision.min(1),
            sequence_start: conversation.next_sequence(side),
            mulpdu: if plan.small { 1024 } else { ULPDU_OCTETS_MAX },
        });
        if plan.revision == 2 && side == Side::Initiator {
            sender.zero_length_fpdu();
        }
        // One device may play every side: each has a stag_index of its own.
        let stag = 0x5bd2_001b | (number as u32) << 12 | (side as u32) << 8;
        let opening = messages(&mut sender, stag, plan.small, generator);
        let fpdus = sender.fpdus();
        let mut segments = plan.cutter.cut(&fpdus[..opening], mss, generator);
        segments.extend(plan.cutter.cut(&fpdus[opening..], mss, generator));
        let payload = |segment: std::ops::Range<usize>| {
            let ends =
                |fpdu: &SentFpdu| segment.start < fpdu.octets.end && fpdu.octets.end <= segment.end;
            (
                sender.stream()[segment.clone()].to_vec(),
                fpdus.iter().any(ends),
            )
        };
        segments.into_iter().map(payload).collect()
    });
    Run {
        conversation,
        waiting,
        unacknowledged: [0; 2],
        small: plan.small,
    }
}

/// The messages of one side; the FPDUs that open the stream.
fn messages(sender: &mut Sender, stag: u32, small: bool, generator: &mut ChaCha8Rng) -> usize {
    let mut data = |octets: usize| {
        let mut data = vec![0; octets];
        generator.fill_bytes(&mut data);
        data
    };
    sender.send(&data(16));
    let opening = sender.fpdus().len();
    // At an odd offset, and across 2^32.
    let to = 0xffff_8003;
    if small {
        for message in 0..60 {
            sender.send(&data(message * 17));
            sender.rdma_write(stag, to + message as u64 * 600, &data(600 - message));
        }
        return opening;
    }
    sender.rdma_write(stag, to, &data(ULPDU_OCTETS_MAX - 14 + 40_001));
    sender.send_solicited(&data(ULPDU_OCTETS_MAX - 18));
    sender.rdma_write(stag, to + 7, &data(9));
    sender.rdma_write(stag, to + 150_000, &data(9216 - 13));
    sender.send(&[]);
    opening
}

/// A side of a run of the asked-for kind that has segments left.
fn pick(runs: &[Run], small: bool, generator: &mut ChaCha8Rng) -> Option<(usize, Side)> {
    let mut left = Vec::new();
    for (number, run) in runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.small == small)
    {
        let waits = |side: &Side| !run.waiting[*side as usize].is_empty();
        left.extend(SIDES.into_iter().filter(waits).map(|side| (number, side)));
    }
    (!left.is_empty()).then(|| left[generator.random_range(0..left.len())])
}

/// Send the next segment of a side; true if an FPDU ends in it or nothing is left.
fn send(run: &mut Run, side: Side, frames: &mut Vec<Vec<u8>>) -> bool {
    let own = side as usize;
    let Some((payload, ended)) = run.waiting[own].pop_front() else {
        return true;
    };
    run.conversation.segment(side, &payload);
    run.unacknowledged[own] += 1;
    if run.unacknowledged[own] == SEGMENTS_TO_ACKNOWLEDGE {
        run.unacknowledged[own] = 0;
        run.conversation.acknowledge(side.peer());
    }
    frames.append(&mut run.conversation.take_frames());
    ended
}
