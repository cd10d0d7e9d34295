//! Resets: what a killed driver leaves in the device, and packets that a reset meets on their way.

use crate::bare::{simulation, Bare, Memory, REGION_OCTETS, REGION_TO, STAG};
use crate::scene::pattern;
use rnic_abi::counters::Counter;
use rnic_abi::limits::{PAGES, RESET_CYCLES};
use rnic_abi::registers::{self, CONTROL, CONTROL_ENABLE, CONTROL_RESET};
use rnic_abi::tables;
use rnic_driver::{Bar, Completion, Config, Dma};
use rnic_sim::{Simulation, WriteObserver};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::StreamConfig;
use std::cell::RefCell;
use std::rc::Rc;

/// Where the memory of a driver begins, and that of the one after it.
const FIRST: u64 = 0x1_0000_0000;
const SECOND: u64 = 0x100_0000_0000;
/// Octets of a Write of the peer, and Writes before and after the driver is killed.
const WRITE_OCTETS: usize = 500;
const WRITES: usize = 4;
/// What the killed driver's memory holds when another process has it.
const NEXT_OWNERS: u8 = 0xa5;
/// Resets in the middle of a packet, each at another beat of it.
const CUTS: usize = 24;
/// Probability that the host takes no beat in a cycle while the device is reset: a packet of 256
/// octets then takes hundreds of cycles.
const STALL: f64 = 0.95;
/// Cycles in which a register write reaches the device.
const REQUEST_CYCLES: usize = 30;
/// Cycles until a packet of a loaded device begins, at most.
const BEGIN_CYCLES_MAX: usize = 10_000;

/// A driver is killed with a connection, a region and a buffer open, and another one opens
/// the device. The old connection's segments are frames for the host, and a new connection on the
/// same addresses and ports finds the old STag unknown.
#[test]
fn a_killed_driver_leaves_no_access() {
    let host = simulation(256);
    let mut killed = Bare::open(host.clone(), Config::default(), FIRST, 1);
    for _ in 0..WRITES {
        killed
            .sender
            .rdma_write(STAG, REGION_TO, &pattern(WRITE_OCTETS));
    }
    killed.deliver();
    assert_eq!(&killed.region()[..WRITE_OCTETS], pattern(WRITE_OCTETS));
    let start = killed.sender.stream().len();
    killed
        .sender
        .rdma_write(STAG, REGION_TO, &[1; WRITE_OCTETS]);
    killed.sender.send(&[2; 40]);
    let end = killed.sender.stream().len();
    let old = killed.segment(start..end);
    // Nothing closes the device. What was the driver's is another process's memory by now.
    let pieces = killed.pieces();
    let mut next = Bare::without_connection(host.clone(), Config::default(), SECOND);
    let memory: &mut Memory = next.device.dma();
    for piece in &pieces {
        memory.write(piece.address, &vec![NEXT_OWNERS; piece.octets]);
    }
    next.push(&old, false);
    next.run_until_idle();
    assert_eq!(next.host_frames(), [old], "a frame for the host");
    assert_eq!(next.device.poll_completion(), None);
    next.open_next(StreamConfig::default(), 1 << 16);
    next.sender.rdma_write(STAG, REGION_TO, &[3; WRITE_OCTETS]);
    let write = next.segment(0..next.sender.stream().len());
    next.push(&write, false);
    next.run_until_idle();
    let completion = next.device.poll_completion();
    assert!(
        matches!(completion, Some(Completion::Error { .. })),
        "{completion:?}"
    );
    for piece in &pieces {
        let mut octets = vec![0; piece.octets];
        next.device.dma().read(piece.address, &mut octets);
        let changed = octets.iter().filter(|octet| **octet != NEXT_OWNERS);
        assert_eq!(changed.count(), 0, "at {:#x}", piece.address);
    }
    next.close();
    next.assert_clean();
}

/// During a reset the device answers reads and ignores writes: its registers are then those of a
/// device that was never used, counters those from before, and the entry written meanwhile is
/// empty.
#[test]
fn register_writes_during_a_reset_are_ignored() {
    const ENTRY: u32 = 77;
    let host = simulation(256);
    let mut bare = Bare::open(host.clone(), Config::default(), FIRST, 1);
    bare.sender.rdma_write(STAG, REGION_TO, &pattern(100));
    bare.deliver();
    let bar = &mut bare.bar;
    let fpdus = registers::COUNTERS + 4 * Counter::Fpdus.index() as u32;
    let counted = bar.read32(fpdus);
    assert!(counted > 0);
    let first = [
        (CONTROL, 0),
        (registers::MAX_PAYLOAD, 0),
        (registers::CQ_BASE_LOW, 0),
        (registers::CQ_BASE_HIGH, 0),
        (registers::CQ_ENTRIES_LOG2, 0),
        (registers::CQ_CONSUMER, 0),
        (registers::CQ_PRODUCER, 0),
        (registers::HOST_RING_BASE_LOW, 0),
        (registers::HOST_RING_BASE_HIGH, 0),
        (registers::HOST_RING_SLOTS_LOG2, 0),
        (registers::HOST_RING_CONSUMER, 0),
        (registers::HOST_RING_PRODUCER, 0),
        (
            registers::OUT_OF_ORDER_PAGES,
            registers::OUT_OF_ORDER_PAGES_MAX,
        ),
        (
            registers::OUT_OF_ORDER_SHARE,
            registers::OUT_OF_ORDER_PAGES_MAX,
        ),
        (
            registers::IN_ORDER_RESERVE,
            registers::IN_ORDER_RESERVE_FIRST,
        ),
        (registers::FREE_PAGES, PAGES as u32),
    ];
    let begun = host.borrow().now();
    bar.write32(CONTROL, CONTROL_RESET | CONTROL_ENABLE);
    for (offset, _) in &first[1..] {
        bar.write32(*offset, 1);
    }
    bar.write32(registers::TABLE_DATA, 0x1234_5678);
    let write = registers::table_command(tables::WRITE, tables::TCP, ENTRY);
    bar.write32(registers::TABLE_COMMAND, write);
    bar.write32(CONTROL, CONTROL_ENABLE);
    assert_eq!(bar.read32(registers::IDENTITY), registers::IDENTITY_VALUE);
    assert_eq!(
        bar.read32(CONTROL),
        CONTROL_RESET,
        "under way, and not enabled"
    );
    // Once more after the sweep, when no register is held at its first value any more.
    while host.borrow().now() < begun + RESET_CYCLES - 300 {
        host.borrow_mut().step();
    }
    bar.write32(registers::MAX_PAYLOAD, 1);
    bar.write32(CONTROL, CONTROL_ENABLE);
    assert_eq!(bar.read32(CONTROL), CONTROL_RESET, "still under way");
    while bar.read32(CONTROL) & CONTROL_RESET != 0 {}
    for (offset, expected) in first {
        assert_eq!(bar.read32(offset), expected, "register {offset:#x}");
    }
    assert_eq!(bar.read32(fpdus), counted, "counters go on");
    let entry = bare.device.table_entry(tables::TCP, ENTRY);
    assert_eq!(entry, Ok([0; 4]));
}

/// Counts memory writes.
#[derive(Debug)]
struct Writes(Rc<RefCell<usize>>);

impl WriteObserver for Writes {
    fn written(&mut self, _: u64, _: u64, _: usize, _: &pcie_sim::memory::Memory) {
        *self.0.borrow_mut() += 1;
    }
}

/// Step until the device has sent the first beat of a packet, and so many cycles more.
fn run_into_a_packet(simulation: &mut Simulation, more: usize) {
    let mut cycles = 0;
    while !simulation.is_in_tlp() {
        simulation.step();
        cycles += 1;
        assert!(cycles < BEGIN_CYCLES_MAX, "the loaded device sends nothing");
    }
    simulation.run(more);
}

/// PCI Express 2.2.2: the length in a packet's header is that of its payload. The driver resets
/// the device while the host, which is slow, has taken a part of a packet: the rest follows, and
/// then no memory write before the device is opened again.
#[test]
fn a_reset_cuts_no_packet() {
    let host = simulation(256);
    let mut in_packet = 0;
    for cut in 0..CUTS {
        let first = FIRST + cut as u64 * 0x100_0000_0000;
        let config = Config {
            host_slots_log2: 4,
            event_delay_log2: registers::EVENT_DELAY_LOG2_MAX,
            ..Config::default()
        };
        let mut bare = Bare::open(host.clone(), config, first, 1);
        // The connection's only event is out before the load: every packet then is a long one.
        bare.sender.rdma_write(STAG, REGION_TO, &[0; 4]);
        bare.deliver();
        let start = bare.sender.stream().len();
        let data = vec![cut as u8 + 1; REGION_OCTETS / 4];
        (0..4).for_each(|_| bare.sender.rdma_write(STAG, REGION_TO, &data));
        let frame = bare.frame(start, 1, FLAG_ACK, &bare.sender.stream()[start..]);
        let writes = Rc::default();
        let mut simulation = host.borrow_mut();
        simulation.observe_writes(Box::new(Writes(Rc::clone(&writes))));
        simulation.push_frame(frame, false);
        simulation.set_stall(STALL);
        run_into_a_packet(&mut simulation, cut);
        drop(simulation);
        writes.replace(0);
        bare.bar.write32(CONTROL, CONTROL_RESET);
        let mut simulation = host.borrow_mut();
        simulation.run(REQUEST_CYCLES);
        in_packet += usize::from(simulation.is_in_tlp());
        drop(simulation);
        while bare.bar.read32(CONTROL) & CONTROL_RESET != 0 {}
        // One may have ended, and the next begun, before the request came.
        let after = *writes.borrow();
        assert!(after <= 2, "cut {cut}: {after} writes after the request");
        let mut simulation = host.borrow_mut();
        simulation.set_stall(0.0);
        simulation.run_until_idle();
        assert!(!simulation.is_in_tlp(), "cut {cut}: a packet has no end");
        assert_eq!(*writes.borrow(), after, "cut {cut}: writes after the reset");
        let records = simulation.complex().monitor().records();
        assert!(records.is_empty(), "cut {cut}: {records:?}");
        drop(simulation);
    }
    assert!(in_packet > CUTS / 2, "{in_packet} resets met a packet");
}
