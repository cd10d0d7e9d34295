//! BAR0 of the whole device, accessed as a host may: any size, any alignment, any octets.
//!
//! What is compared: octets read in one request against those of single doublewords, and that no
//! rule of the bus is broken, by a root complex that puts completions together by itself.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::registers::{
    cq_register, BAR0_OCTETS, CQ_BASE_HIGH, CQ_BASE_LOW, CQ_CONSUMER, IDENTITY, IDENTITY_VALUE,
};
use rnic_driver::{Bar, Config, Device};
use rnic_sim::{attach, Simulation, SimulationConfig, BAR0_ADDRESS};
use std::cell::RefCell;
use std::rc::Rc;

/// Cycles within which any read is answered.
const CYCLES_MAX: usize = 40_000;

fn simulation(width: usize) -> Rc<RefCell<Simulation>> {
    let simulation = Simulation::new(&SimulationConfig {
        width,
        ..SimulationConfig::default()
    });
    Rc::new(RefCell::new(simulation.expect("the core is there")))
}

fn read(simulation: &Rc<RefCell<Simulation>>, offset: usize, octets: usize) -> Vec<u8> {
    let mut simulation = simulation.borrow_mut();
    let now = simulation.now();
    let address = BAR0_ADDRESS + offset as u64;
    let token = simulation.complex_mut().read_bar(now, address, octets);
    for _ in 0..CYCLES_MAX {
        simulation.step();
        let now = simulation.now();
        let polled = simulation.complex_mut().poll(now, token);
        if let Some(octets) = polled.expect("a successful completion") {
            return octets;
        }
    }
    panic!("no answer for {octets} octets from {offset:#x}");
}

fn write(simulation: &Rc<RefCell<Simulation>>, offset: u32, data: &[u8]) {
    let mut simulation = simulation.borrow_mut();
    let now = simulation.now();
    let address = BAR0_ADDRESS + u64::from(offset);
    simulation.complex_mut().write_bar(now, address, data);
    simulation.run(200);
}

fn reads_agree(width: usize) {
    let simulation = simulation(width);
    let (bar, dma) = attach(&simulation);
    let _device = Device::open(bar.clone(), dma, Config::default()).expect("it opens");
    let mut bar = bar;
    let doublewords =
        (0..BAR0_OCTETS as u32 / 4).flat_map(|word| bar.read32(4 * word).to_le_bytes());
    let expected: Vec<u8> = doublewords.collect();
    assert_eq!(
        expected[IDENTITY as usize..][..4],
        IDENTITY_VALUE.to_le_bytes()
    );
    assert_eq!(read(&simulation, 0, expected.len()), expected);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for octets in (1..=64).chain([127, 128, 129, 255, 256, 257, 1_000]) {
        for _ in 0..4 {
            let offset = random.random_range(0..=expected.len() - octets);
            let found = read(&simulation, offset, octets);
            assert_eq!(
                found,
                expected[offset..][..octets],
                "{octets} octets from {offset:#x}"
            );
        }
    }
    let simulation = simulation.borrow();
    let records = simulation.complex().monitor().records();
    assert!(records.is_empty(), "{records:?}");
}

#[test]
fn reads_of_every_size_agree_with_doublewords_64() {
    reads_agree(64);
}

#[test]
fn reads_of_every_size_agree_with_doublewords_512() {
    reads_agree(512);
}

/// Registers take whole doublewords, as many as a write has; the rest of a write changes nothing.
#[test]
fn writes_change_whole_doublewords() {
    let simulation = simulation(64);
    let low = cq_register(3, CQ_BASE_LOW);
    assert_eq!(cq_register(3, CQ_BASE_HIGH), low + 4);
    write(&simulation, low, &0x1234_5678_9abc_d000_u64.to_le_bytes());
    let wide = |offset: u32| {
        let octets = read(&simulation, offset as usize, 8);
        u64::from_le_bytes(octets.try_into().expect("eight octets"))
    };
    assert_eq!(wide(low), 0x1234_5678_9abc_d000);
    // The first octet of the first doubleword is left out, so it stays; the second is whole.
    write(&simulation, low + 1, &[0xee; 7]);
    assert_eq!(wide(low), 0xeeee_eeee_9abc_d000);
    // A write of one octet, and one of none whole.
    write(&simulation, low, &[0x11]);
    write(&simulation, low + 2, &[0x22; 4]);
    assert_eq!(wide(low), 0xeeee_eeee_9abc_d000);
    // From one queue's registers into those of the next.
    let far = cq_register(4, CQ_BASE_LOW);
    let mut data = vec![0; (far - low) as usize + 8];
    let consumer = (cq_register(3, CQ_CONSUMER) - low) as usize;
    data[consumer..consumer + 4].copy_from_slice(&7_u32.to_le_bytes());
    let at = data.len() - 8;
    data[at..].copy_from_slice(&0xaaaa_bbbb_cccc_d000_u64.to_le_bytes());
    write(&simulation, low, &data);
    assert_eq!((wide(low), wide(far)), (0, 0xaaaa_bbbb_cccc_d000));
    let simulation = simulation.borrow();
    let records = simulation.complex().monitor().records();
    assert!(records.is_empty(), "{records:?}");
}
