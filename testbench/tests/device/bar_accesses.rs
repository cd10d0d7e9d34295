//! BAR0 of the whole device, accessed as a host may: any size, any alignment, any octets.
//!
//! What is compared: octets read in one request against those of single doublewords, and that no
//! rule of the bus is broken, by a root complex that puts completions together by itself.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::registers::{
    cq_register, table_command, BAR0_OCTETS, COUNTERS, CQ_BASE_HIGH, CQ_BASE_LOW, CQ_CONSUMER,
    HOLD_CYCLES_MAX, IDENTITY, IDENTITY_VALUE, POST, POST_0, TABLE_COMMAND, TABLE_UNFENCED,
};
use rnic_abi::tables::{is_short, DDP, QUEUE, RECORDS, REGION, STAG, WRITE};
use rnic_driver::{Bar, Config, Device};
use rnic_sim::{attach, SimBar, SimDma, Simulation, SimulationConfig};
use std::cell::RefCell;
use std::rc::Rc;

fn device(width: usize) -> (Rc<RefCell<Simulation>>, SimBar, Device<SimBar, SimDma>) {
    let simulation = Simulation::new(&SimulationConfig {
        width,
        ..SimulationConfig::default()
    });
    let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
    let (bar, dma) = attach(&simulation);
    let device = Device::open(bar.clone(), dma, Config::default()).expect("it opens");
    (simulation, bar, device)
}

fn reads_agree(width: usize) {
    let (simulation, mut bar, _device) = device(width);
    let doublewords =
        (0..BAR0_OCTETS as u32 / 4).flat_map(|word| bar.read32(4 * word).to_le_bytes());
    let expected: Vec<u8> = doublewords.collect();
    assert_eq!(
        expected[IDENTITY as usize..][..4],
        IDENTITY_VALUE.to_le_bytes()
    );
    assert_eq!(bar.read(0, expected.len()), expected);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for octets in (1..=64).chain([127, 128, 129, 255, 256, 257, 1_000]) {
        for _ in 0..4 {
            let offset = random.random_range(0..=expected.len() - octets);
            let found = bar.read(offset as u32, octets);
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
    let (simulation, mut bar, _device) = device(64);
    let low = cq_register(3, CQ_BASE_LOW);
    assert_eq!(cq_register(3, CQ_BASE_HIGH), low + 4);
    bar.write(low, &0x1234_5678_9abc_d000_u64.to_le_bytes());
    let wide = |bar: &mut SimBar, offset: u32| {
        let octets = bar.read(offset, 8);
        u64::from_le_bytes(octets.try_into().expect("eight octets"))
    };
    assert_eq!(wide(&mut bar, low), 0x1234_5678_9abc_d000);
    // The first octet of the first doubleword is left out, so it stays; the second is whole.
    bar.write(low + 1, &[0xee; 7]);
    assert_eq!(wide(&mut bar, low), 0xeeee_eeee_9abc_d000);
    // A write of one octet, and one of none whole.
    bar.write(low, &[0x11]);
    bar.write(low + 2, &[0x22; 4]);
    assert_eq!(wide(&mut bar, low), 0xeeee_eeee_9abc_d000);
    // From one queue's registers into those of the next.
    let far = cq_register(4, CQ_BASE_LOW);
    let mut data = vec![0; (far - low) as usize + 8];
    let consumer = (cq_register(3, CQ_CONSUMER) - low) as usize;
    data[consumer..consumer + 4].copy_from_slice(&7_u32.to_le_bytes());
    let at = data.len() - 8;
    data[at..].copy_from_slice(&0xaaaa_bbbb_cccc_d000_u64.to_le_bytes());
    bar.write(low, &data);
    assert_eq!(
        (wide(&mut bar, low), wide(&mut bar, far)),
        (0, 0xaaaa_bbbb_cccc_d000)
    );
    let simulation = simulation.borrow();
    let records = simulation.complex().monitor().records();
    assert!(records.is_empty(), "{records:?}");
}

/// PCI Express, section 2.4.1: a device accepts posted requests whatever becomes of its own. While
/// the host takes no TLP, every post and every short table operation is over within the cycles that
/// the document says, and so the write after it is taken.
#[test]
fn posts_and_short_operations_wait_for_no_tlp() {
    let (simulation, mut bar, mut device) = device(64);
    simulation.borrow_mut().set_stall(1.0);
    // A frame for the host: what placement has to send stands.
    simulation.borrow_mut().push_frame(vec![0x55; 200], false);
    simulation.borrow_mut().run(2_000);
    let unfenced = [QUEUE, STAG, REGION].map(|table| (table, TABLE_UNFENCED));
    let tables = [(DDP, 0), (RECORDS, 0)].into_iter().chain(unfenced);
    let commands = tables.map(|(table, flags)| table_command(WRITE, table, 40) | flags);
    let mut accesses: Vec<(u32, u32)> = commands.map(|command| (TABLE_COMMAND, command)).collect();
    assert!(accesses.iter().all(|&(_, command)| is_short(command)));
    accesses.extend([(POST, 0), (POST, 0xfff)]);
    // Writes themselves are a handful of cycles each.
    let most = HOLD_CYCLES_MAX + 16;
    for (offset, value) in accesses.iter().copied().cycle().take(98) {
        bar.write(offset, &value.to_le_bytes());
        bar.write(POST_0, &value.to_le_bytes());
        let mut simulation = simulation.borrow_mut();
        let taken = (0..most).find(|_| {
            simulation.step();
            !simulation.has_requests()
        });
        assert!(taken.is_some(), "{offset:#x}, {value:#x}");
    }
    simulation.borrow_mut().set_stall(0.0);
    let refused = bar.read32(COUNTERS + 4 * Counter::RefusePostClosed.index() as u32);
    assert_eq!(refused, 28, "two of each seven accesses");
    device.check_present().expect("it answers");
    let simulation = simulation.borrow();
    let records = simulation.complex().monitor().records();
    assert!(records.is_empty(), "{records:?}");
}
