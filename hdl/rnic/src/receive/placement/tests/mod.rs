//! Random commands through placement, PCI Express and registers, compared with plain memory.

mod device;
mod host;
mod script;
mod split;

use crate::messages::PlaceKind;
use device::Device;
use rnic_hdl_tools::testkit::{lockstep, simulate, Pace, Random};
use script::{Script, Settings};

/// Runs `script` until it has finished, natively.
fn run<const D: usize, const L: usize, const E: usize, const P: usize>(
    script: &mut Script,
    random: &mut Random,
) {
    let mut uut = simulate!(Device::<D, L, E, P>::default());
    let limit = 2000 + 200 * script.commands_left() as u64;
    uut.random = random.clone();
    uut.run_until(limit, |uut, random| {
        script.drive(uut, random);
        (!script.finished()).then_some("see the script's state")
    });
    script.conclude();
}

fn run_random<const D: usize, const L: usize, const E: usize, const P: usize>(
    settings: Settings,
    commands: usize,
    label: &str,
) {
    let mut random = Random::from_environment();
    let mut script = Script::new(settings, label.into());
    for _ in 0..commands {
        script.add_random(&mut random, D / 8);
    }
    run::<D, L, E, P>(&mut script, &mut random);
}

#[test]
fn every_mix_of_commands_leaves_memory_as_expected_128() {
    let commands = rnic_effort::count("commands", 60, 120);
    for max_payload in 0..3 {
        let settings = Settings {
            max_payload,
            ..Settings::MIXED
        };
        run_random::<128, 4, 160, 256>(settings, commands, &format!("max_payload {max_payload}"));
    }
}

#[test]
fn every_mix_of_commands_leaves_memory_as_expected_512() {
    for max_payload in 0..3 {
        let settings = Settings {
            max_payload,
            ..Settings::MIXED
        };
        run_random::<512, 16, 544, 1024>(settings, 60, &format!("max_payload {max_payload}"));
    }
}

/// Addresses at each offset in a line, lengths from 1 to 300, no stalls, some CQEs.
fn sweep<const D: usize, const L: usize, const E: usize, const P: usize>(stride: usize) {
    let mut random = Random::from_environment();
    let settings = Settings {
        host_of_8: 0,
        offer: Pace::Always,
        take: Pace::Always,
        table_of_64: 0,
        serve_of_64: 32,
        cq_entries_log2: 4,
        ..Settings::MIXED
    };
    let mut script = Script::new(settings, "sweep".into());
    for address in (0..128u64).step_by(stride) {
        for skip in [4, 5] {
            let count = 1 + random.below(300) as usize;
            let payload = host::octets(&mut random, count);
            let complete = random.chance(1, 4);
            let at = 0x5000 + address + 0x400 * (address + 1);
            script.add(
                &mut random,
                D / 8,
                PlaceKind::Write,
                at,
                payload,
                skip,
                0,
                complete,
            );
        }
    }
    run::<D, L, E, P>(&mut script, &mut random);
}

#[test]
fn every_address_in_a_line_128() {
    sweep::<128, 4, 160, 256>(1);
}

#[test]
fn addresses_in_a_line_512() {
    sweep::<512, 16, 544, 1024>(3);
}

#[test]
fn a_long_payload_is_split_at_every_line() {
    let mut random = Random::from_environment();
    let settings = Settings {
        take: Pace::Always,
        offer: Pace::Always,
        table_of_64: 0,
        ..Settings::MIXED
    };
    let mut script = Script::new(settings, "long".into());
    for count in [4097, 9018] {
        let payload = host::octets(&mut random, count);
        script.add(
            &mut random,
            16,
            PlaceKind::Write,
            0xffff_f003 + count as u64,
            payload,
            5,
            0,
            true,
        );
    }
    run::<128, 4, 160, 256>(&mut script, &mut random);
}

/// Cycles per command without stalls, `count` octets each with a CQE.
fn cycles_a_command<const D: usize, const L: usize, const E: usize, const P: usize>(
    count: usize,
) -> f64 {
    let mut random = Random::from_environment();
    let settings = Settings {
        offer: Pace::Always,
        take: Pace::Always,
        table_of_64: 0,
        serve_of_64: 0,
        cq_entries_log2: 10,
        ..Settings::MIXED
    };
    let mut script = Script::new(settings, "rate".into());
    for i in 0..60u64 {
        let payload = host::octets(&mut random, count);
        let address = 0x1_0000 + 128 * i + random.below(128);
        script.add(
            &mut random,
            D / 8,
            PlaceKind::Write,
            address,
            payload,
            4,
            0,
            true,
        );
    }
    let mut uut = simulate!(Device::<D, L, E, P>::default());
    let (mut from, mut to) = (0, 0);
    while !script.finished() {
        script.drive(&mut uut, &mut random);
        uut.tick();
        // Taken in when the FIFOs are long full, so at the rate at which commands leave.
        match script.commands_left() {
            35 if from == 0 => from = script.cycles,
            5 if to == 0 => to = script.cycles,
            _ => {}
        }
    }
    (to - from) as f64 / 30.0
}

#[test]
fn command_of_70_octets_takes_at_most_ten_cycles() {
    let cycles = cycles_a_command::<128, 4, 160, 256>(70);
    assert!(cycles <= 10.0, "{cycles} cycles");
}

#[test]
fn at_512_bits_command_of_70_octets_takes_at_most_six_cycles() {
    let cycles = cycles_a_command::<512, 16, 544, 1024>(70);
    assert!(cycles <= 6.0, "{cycles} cycles");
}

#[test]
fn a_full_ring_drops_further_frames() {
    let mut random = Random::from_environment();
    let settings = Settings {
        serve_of_64: 0,
        table_of_64: 0,
        ring_slots_log2: 2,
        ..Settings::MIXED
    };
    let mut script = Script::new(settings, "full ring".into());
    for count in [60, 241, 240, 61, 100, 239, 60, 500] {
        script.add_frame(&mut random, 16, count);
    }
    run::<128, 4, 160, 256>(&mut script, &mut random);
    // 241 and 500 are too long with their header; four of the other six fit the ring.
    assert_eq!(script.slots_filled(), 4);
}

#[test]
fn a_ring_that_is_off_drops_every_frame() {
    let mut random = Random::from_environment();
    let settings = Settings {
        ring_slots_log2: 0,
        table_of_64: 0,
        ..Settings::MIXED
    };
    let mut script = Script::new(settings, "ring off".into());
    for _ in 0..5 {
        script.add_frame(&mut random, 16, 64);
    }
    run::<128, 4, 160, 256>(&mut script, &mut random);
    assert_eq!(script.slots_filled(), 0);
}

fn lockstep_mixed<const D: usize, const L: usize, const E: usize, const P: usize>(cycles: usize) {
    let mut script = Script::new(Settings::MIXED, "lockstep".into());
    let uut = Device::<D, L, E, P>::default();
    lockstep!(&format!("device_{D}"), uut, cycles, |uut, random| {
        if script.commands_left() < 4 {
            script.add_random(random, D / 8);
        }
        script.drive(uut, random);
    });
    assert!(
        script.host.tlps as usize > cycles / 60,
        "{} TLPs",
        script.host.tlps
    );
}

#[test]
fn rust_and_verilog_agree_128() {
    lockstep_mixed::<128, 4, 160, 256>(rnic_effort::count("cycles", 1500, 3000));
}

#[test]
fn rust_and_verilog_agree_512() {
    lockstep_mixed::<512, 16, 544, 1024>(rnic_effort::count("cycles", 600, 1200));
}
