//! Accesses of BAR0 and configuration space at random, of any offset and size.
//!
//! What is compared: no access panics or hangs, no octet of memory changes that is not mapped, and
//! after each reset the device reads its identity. `FERROWARP_ACCESSES` sets their count,
//! `FERROWARP_SEED` the seed.

use super::machine::{frame, Machine, ENABLED, IOVA, MAPPED_OCTETS};
use super::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::registers::{CONTROL, CONTROL_ENABLE};

/// Accesses between two resets.
const RESET_EVERY: u64 = 2_000;
/// Accesses in a short run, which are enough for faults and changes of memory.
const SHORT: u64 = 50_000;
/// Configuration registers that do something.
const CONFIGURATION: [u16; 5] = [
    register::COMMAND,
    register::BAR0,
    register::DEVICE_CONTROL,
    register::MSIX_CONTROL,
    register::INTERRUPT_LINE,
];

fn setting(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

/// What came of the accesses.
#[derive(Debug, Default)]
struct Done {
    resets: u64,
    faults: usize,
    /// Looks at memory that found it changed.
    changes: u64,
}

#[test]
fn no_access_harms_anything_but_the_clients_own_memory() {
    let count = setting(
        "FERROWARP_ACCESSES",
        rnic_effort::count("accesses", SHORT, 100_000),
    );
    let seed = setting("FERROWARP_SEED", 1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut machine = Machine::new();
    machine.assign(&[0, 3, 7]);
    let mut done = Done::default();
    let mut memory = machine.contents();
    for number in 0..count {
        let place = format!("FERROWARP_SEED={seed}, access {number}");
        if number % RESET_EVERY == 0 {
            let contents = machine.contents();
            done.changes += u64::from(contents != memory);
            memory = contents;
            assert!(machine.guards_are_whole(), "{place}");
            begin(&mut machine, &mut random, &place);
            done.resets += 1;
        }
        if random.random_bool(0.6) {
            access_configuration(&mut machine, &mut random);
        } else {
            access_bar(&mut machine, &mut random);
        }
        if random.random_bool(0.02) {
            machine.push(frame(number as u8, random.random_range(14..400)));
            machine.run(random.random_range(1..100));
            done.faults += machine.device.borrow_mut().take_faults().len();
        }
    }
    assert!(machine.guards_are_whole(), "FERROWARP_SEED={seed}");
    begin(&mut machine, &mut random, "the end");
    let cycles = machine.simulation.borrow().now();
    println!("{count} accesses, seed {seed}, {cycles} cycles: {done:?}");
    if count >= SHORT {
        assert!(done.faults > 5 && done.changes > 10, "{done:?}");
    }
}

/// A reset of either kind; now and then a driver opens the device, so that it has rings to write to
/// and to be misled about.
fn begin(machine: &mut Machine, random: &mut ChaCha8Rng, place: &str) {
    let control = register::DEVICE_CONTROL;
    match random.random_bool(0.5) {
        true => machine.write_configuration(control, &[0, 0x80]),
        false => machine.call(|client| client.reset().expect("it has a reset")),
    }
    machine.set_command(ENABLED);
    let identity = machine.read_bar(IDENTITY.into(), 4);
    assert_eq!(identity, IDENTITY_VALUE.to_le_bytes(), "{place}");
    if random.random_bool(0.5) {
        drop(machine.open());
    }
}

/// Octets of an access: mostly what processors do, seldom more, in a space of `most` octets.
fn octets(random: &mut ChaCha8Rng, most: usize) -> usize {
    let octets = match random.random_range(0..400) {
        0..350 => 1 << random.random_range(0..4),
        350..399 => random.random_range(0..=64),
        _ => random.random_range(0..=most),
    };
    octets.min(most)
}

fn access_configuration(machine: &mut Machine, random: &mut ChaCha8Rng) {
    let offset = match random.random_bool(0.5) {
        true => *CONFIGURATION.choose(random).expect("some"),
        false => random.random_range(0..=CONFIGURATION_OCTETS as u16),
    };
    let octets = octets(random, CONFIGURATION_OCTETS - usize::from(offset));
    let mut data = vec![0; octets];
    match random.random_range(0..8) {
        // Most writes leave the device enabled, for BAR0 to be of interest, and do not reset it.
        0 => random.fill_bytes(&mut data),
        1..4 => {
            machine.read_configuration(offset, octets);
            return machine.set_command(ENABLED);
        }
        _ => {
            machine.read_configuration(offset, octets);
            return;
        }
    }
    machine.write_configuration(offset, &data);
}

fn access_bar(machine: &mut Machine, random: &mut ChaCha8Rng) {
    let most = pci::BAR0_OCTETS as usize;
    let aligned = random.random_bool(0.8);
    let mut offset = random.random_range(0..=most);
    if aligned {
        offset &= !3;
    }
    let octets = octets(random, most - offset);
    if random.random_bool(0.3) {
        machine.read_bar(offset as u64, octets);
        return;
    }
    if random.random_bool(0.02) {
        let enable = CONTROL_ENABLE.to_le_bytes();
        return machine.write_bar(CONTROL.into(), &enable);
    }
    let mut data = vec![0; octets];
    // Addresses in the mapped memory, at its edges and anywhere; small numbers; anything.
    let value = match random.random_range(0..4) {
        0 => IOVA + random.random_range(0..MAPPED_OCTETS + 4_096),
        1 => random.random_range(0..64),
        2 => IOVA >> 32,
        _ => random.next_u64(),
    };
    for (place, octet) in data.iter_mut().zip(value.to_le_bytes().into_iter().cycle()) {
        *place = octet;
    }
    machine.write_bar(offset as u64, &data);
}
