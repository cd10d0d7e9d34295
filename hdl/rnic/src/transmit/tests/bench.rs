//! Cycles for each frame, and latency, with the real read engine: printed, and bounded loosely.
use super::engine::SendingNic;
use super::frames::Spec;
use super::rig::{Plan, Rig};
use super::{reset, BASES, BRISK, MIXED};
use crate::bus::reads::tests::completer::{Completer, Fault, Manner};
use crate::transmit::types::count;
use pcie_sim::tlp::CompletionStatus;
use pcie_sim::CompletionSplit;
use rnic_hdl_tools::testkit::{simulate, Pace, Simulation};

/// A host that answers after `latency` cycles.
fn manner(latency: u64) -> Manner {
    Manner {
        latency,
        ..Manner::brisk(10_000)
    }
}

/// Room, engine, rig and host after reset.
fn begin(manner: Manner, log2: u32) -> (Simulation<SendingNic>, Rig, Completer) {
    let mut uut = simulate!(SendingNic::default());
    let mut rig = Rig::untracked(BRISK);
    uut.pulse(|uut| &mut uut.link_reset);
    reset(&mut uut, &mut rig);
    rig.set_up(0, BASES[0], log2);
    rig.set_up(1, BASES[1], log2);
    (uut, rig, Completer::new(manner))
}

fn cycle(uut: &mut Simulation<SendingNic>, rig: &mut Rig, host: &mut Completer) -> Option<u64> {
    let mut random = uut.random.clone();
    host.written = std::mem::take(&mut rig.memory);
    let (pace, bad, bad_unit) = (rig.paces.command, &rig.bad, rig.bad_unit);
    // A request has a fault if an element, or a unit, that cannot be read begins in it.
    let fault = |range: std::ops::Range<u64>| {
        let hit = bad.iter().chain(&bad_unit).any(|bad| range.contains(bad));
        hit.then_some(Fault::Status(CompletionStatus::UnsupportedRequest))
    };
    let now = uut.cycle();
    let taken = uut.serve(host, now, pace, fault, &mut random);
    rig.memory = std::mem::take(&mut host.written);
    rig.drive(&mut **uut, &mut random);
    uut.random = random;
    uut.tick();
    taken
}

/// The elements of a frame: one header, the rest in pages, or all of it in one piece.
fn spec(octets: usize, at: u64) -> Spec {
    if octets <= 66 {
        return Spec::of(&[(at + 5, octets)]);
    }
    let mut elements = vec![(at + 5, 66)];
    let mut left = octets - 66;
    let mut page = at + 0x1000 + 18;
    while left > 0 {
        let here = left.min(0x1000 - (page as usize & 0xfff));
        elements.push((page, here));
        left -= here;
        page += here as u64;
    }
    let mut spec = Spec::of(&elements);
    spec.checksum = Some((34, 50));
    spec.crc = Some((66, octets - 66 - 4));
    spec
}

/// Cycles between the last beats of frames in mid-run, the MAC taking 20 octet times more for each.
fn pace(octets: usize, frames: usize, latency: u64) -> f64 {
    let (mut uut, mut rig, mut host) = begin(manner(latency), 10);
    let mut written = 0;
    let (mut gap, mut seen) = (0u64, 0);
    while rig.sent.len() < frames {
        while written < frames {
            let spec = spec(octets, 0x100_0000 + 0x4000 * written as u64);
            let mut random = uut.random.clone();
            if !rig.put(1, &spec, false, &mut random) {
                break;
            }
            uut.random = random;
            written += 1;
        }
        // A doorbell now and then, as a driver does.
        if uut.cycle() % 64 == 0 && rig.rings[1].tail != rig.rings[1].written {
            let tail = rig.rings[1].written;
            rig.doorbell(1, tail);
        }
        // 20 octets are two and a half cycles.
        rig.set_frame_pace(if gap > 0 { Pace::Never } else { Pace::Always });
        gap = gap.saturating_sub(1);
        cycle(&mut uut, &mut rig, &mut host);
        if rig.sent.len() > seen {
            seen = rig.sent.len();
            // The last beat of a frame takes its octets' time, the gap follows.
            let tail = (octets + 20) as u64 * seen as u64;
            let before = (octets + 20) as u64 * (seen as u64 - 1);
            gap = tail.div_ceil(8) - before.div_ceil(8) - (octets as u64).div_ceil(8);
        }
        assert!(uut.cycle() < 200_000);
    }
    let from = frames / 3;
    let cycles = rig.sent[frames - 1].2 - rig.sent[from].2;
    cycles as f64 / (frames - 1 - from) as f64
}

/// Printed. A frame that never leaves would fail it, and the test of random frames below as well.
#[test]
fn frames_keep_up_with_the_wire() {
    if rnic_effort::is_left_out("figures of a bench") {
        return;
    }
    for latency in [60, 300] {
        println!("read latency {latency} cycles:");
        for (octets, frames) in [(54, 90), (66, 90), (256, 60), (1518, 24), (9018, 12)] {
            let cycles = pace(octets, frames, latency);
            let wire = (octets + 20) as f64 / 8.0;
            println!(
                "  {octets:5} octets: {cycles:7.1} cycles a frame, the wire {wire:7.1}: {:.3}",
                cycles / wire
            );
        }
    }
}

/// From a doorbell to the first beat, in two round trips and so many cycles.
#[test]
fn from_a_doorbell_to_the_first_beat() {
    for (octets, latency) in [(66, 60), (66, 300), (1518, 300)] {
        let (mut uut, mut rig, mut host) = begin(manner(latency), 6);
        for _ in 0..10 {
            cycle(&mut uut, &mut rig, &mut host);
        }
        let mut random = uut.random.clone();
        let spec = spec(octets, 0x100_0000);
        assert!(rig.put(0, &spec, false, &mut random));
        let tail = rig.rings[0].written;
        rig.doorbell(0, tail);
        let start = rig.now + 1;
        while rig.sent.is_empty() {
            cycle(&mut uut, &mut rig, &mut host);
            assert!(uut.cycle() < 10_000);
        }
        let cycles = rig.sent[0].1 - start - 2 * latency;
        println!("{octets} octets, latency {latency}: {cycles} cycles and two round trips");
        // A frame is sent when all of it has arrived and is summed.
        let arrival = octets as u64 / 16;
        assert!(cycles <= 130 + arrival, "{cycles}");
    }
}

/// Random frames of every fate, with completions in any pieces and order.
#[test]
fn random_frames_through_the_read_engine() {
    let manner = Manner {
        split: CompletionSplit::Chosen,
        spread: 120,
        reorders: true,
        begins_of_8: 5,
        goes_on_of_8: 7,
        other_of_64: 4,
        ..manner(20)
    };
    let (mut uut, mut rig, mut host) = begin(manner, 5);
    rig.paces = MIXED;
    cycle(&mut uut, &mut rig, &mut host);
    let mut plan = Plan {
        frames: 50,
        most_octets: 2000,
        refused_of_100: 10,
        failing_of_100: 10,
        pace: (1, 8),
    };
    while plan.frames + rig.outstanding() > 0 {
        let mut random = uut.random.clone();
        rig.produce(&mut plan, &mut random);
        uut.random = random;
        cycle(&mut uut, &mut rig, &mut host);
        assert!(
            uut.cycle() < 200_000,
            "{} frames are left",
            rig.outstanding()
        );
    }
    assert!(rig.counts[count::SENT] > 30);
    assert!(rig.counts[count::FAILED] > 0 && rig.counts[count::REFUSED] > 0);
}
