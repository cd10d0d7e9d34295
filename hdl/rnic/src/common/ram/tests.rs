//! A block RAM: two cycles of latency, in lockstep with its Verilog, deep ones as slices.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, lockstep_as_synthesised, simulate, Random, Simulation};
use std::collections::VecDeque;

type Uut = SdpRam<Bits<20>, 5>;

fn connected() -> Simulation<Uut> {
    simulate!(Uut::default())
}

#[test]
fn reads_zero_at_power_up() {
    let mut uut = connected();
    for address in 0..32u64 {
        uut.read_address.next = address.into();
        uut.ticks(2);
        assert_eq!(uut.read_data.val(), 0u64, "word {address}");
    }
}

#[test]
fn read_data_follows_its_address_by_exactly_two_cycles() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let mut model = [0u64; 32];
    // What the read issued in each earlier cycle must return, oldest first.
    let mut in_flight = VecDeque::from([0u64]);
    for _ in 0..4000 {
        let write = random.chance(1, 2);
        let (written, read) = (random.below(32), random.below(32));
        let data = random.below(1 << 20);
        uut.write_enable.next = write;
        uut.write_address.next = written.into();
        uut.write_data.next = data.into();
        uut.read_address.next = read.into();
        uut.tick();
        let collides = write && written == read;
        in_flight.push_back(if collides { 0 } else { model[read as usize] });
        if write {
            model[written as usize] = data;
        }
        let expected = in_flight.pop_front().expect("one read per cycle");
        assert_eq!(uut.read_data.val(), expected);
    }
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("sdp_ram", Uut::default(), 4000, |uut, random| {
        uut.write_enable.next = random.chance(1, 2);
        uut.write_address.next = random.wide();
        uut.write_data.next = random.wide();
        uut.read_address.next = random.wide();
    });
}

#[test]
fn a_ram_of_fewer_words_has_no_use_for_high_address_bits() {
    let uut = || SdpRam::<Bits<20>, 5>::of_words(8);
    let mut simulation = simulate!(uut());
    for (written, read) in [(3u64, 3u64), (11, 19), (30, 6)] {
        simulation.write_enable.next = true;
        simulation.write_address.next = written.into();
        simulation.write_data.next = (written + 100).into();
        simulation.tick();
        simulation.write_enable.next = false;
        simulation.read_address.next = read.into();
        simulation.ticks(2);
        assert_eq!(simulation.read_data.val(), written + 100);
    }
    lockstep!("short_ram", uut(), 4000, |uut, random| {
        uut.write_enable.next = random.chance(1, 2);
        uut.write_address.next = random.wide();
        uut.write_data.next = random.wide();
        uut.read_address.next = random.wide();
    });
}

#[test]
fn a_deep_ram_is_slices_for_synthesis_that_do_the_same() {
    let deep = SdpRam::<Bits<5>, 13>::default();
    let mut cycle = 0u64;
    lockstep_as_synthesised(
        "deep_ram",
        deep,
        3000,
        |uut| &mut uut.clock,
        |uut, random| {
            // Words written before they are read, and never in the same cycle.
            let write = (cycle * 129) % 8192;
            let read = if cycle == 0 { 1 } else { random.below(cycle) };
            uut.write_enable.next = true;
            uut.write_address.next = write.into();
            uut.write_data.next = random.wide();
            uut.read_address.next = ((read * 129) % 8192).into();
            cycle += 1;
        },
    );
}
