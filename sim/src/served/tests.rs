mod machine;
mod random;

use super::*;
use machine::{frame, pattern, Machine, ENABLED, HOST_VECTOR, IOVA, MAPPED_OCTETS};
use pcie_sim::configuration::{
    COMMAND_BUS_MASTER, DEVICE_CONTROL_EXTENDED_TAG, MSIX_CONTROL_ENABLE,
};
use rnic_abi::interrupts::PENDING;
use rnic_abi::registers::{cq_register, CQ_BASE_LOW, IDENTITY, IDENTITY_VALUE};

/// Cycles in which a frame is over.
const SETTLED_CYCLES: usize = 3_000;

#[test]
fn configuration_space_is_that_of_the_function() {
    let mut machine = Machine::new();
    let regions = machine.call(|client| [0, 1, 7].map(|index| client.region_info(index)));
    let octets = regions.map(|region| region.expect("the server answers").octets);
    assert_eq!(octets, [pci::BAR0_OCTETS, 0, CONFIGURATION_OCTETS as u64]);
    let ids = [pci::VENDOR_ID, pci::DEVICE_ID]
        .map(u16::to_le_bytes)
        .concat();
    assert_eq!(machine.read_configuration(register::VENDOR_ID, 4), ids);
    assert_eq!(
        machine.read_configuration(register::VENDOR_ID + 1, 3),
        ids[1..]
    );
    let class = [&[pci::REVISION_ID][..], &pci::CLASS_CODE.to_le_bytes()[..3]].concat();
    assert_eq!(machine.read_configuration(register::REVISION_ID, 4), class);
    // Nothing of this can be written.
    machine.write_configuration(register::VENDOR_ID, &[0xff; 4]);
    assert_eq!(machine.read_configuration(register::VENDOR_ID, 4), ids);

    // BAR0 is 64 bits wide and shows its size, however it is written.
    let bar = register::BAR0;
    let size = (!(pci::BAR0_OCTETS - 1) | 4).to_le_bytes();
    for piece in [1, 2, 4, 8] {
        machine.write_configuration(bar, &[0; 8]);
        for at in (0..8).step_by(piece) {
            machine.write_configuration(bar + at as u16, &vec![0xff; piece]);
        }
        assert_eq!(
            machine.read_configuration(bar, 8),
            size,
            "{piece} at a time"
        );
    }
    machine.write_configuration(bar + 5, &[0x12]);
    let [high, low] = [4, 0].map(|at| machine.read_configuration(bar + at, 4));
    assert_eq!(
        (low, high),
        (size[..4].to_vec(), vec![0xff, 0x12, 0xff, 0xff])
    );

    // The list of capabilities: PCI Express with a function-level reset, MSI-X, nothing more.
    let status = machine.read_configuration(register::STATUS, 1)[0];
    assert_eq!(status & 1 << 4, 1 << 4);
    let mut found = Vec::new();
    let mut at = u16::from(machine.read_configuration(register::CAPABILITIES, 1)[0]);
    while at != 0 {
        let head = machine.read_configuration(at, 2);
        found.push((head[0], at));
        at = head[1].into();
    }
    assert_eq!(
        found,
        [(0x10, register::PCI_EXPRESS), (0x11, register::MSIX)]
    );
    let capabilities = machine.read_configuration(register::DEVICE_CAPABILITIES, 4);
    assert_eq!(capabilities[3] & 1 << 4, 1 << 4);
    let msix = machine.read_configuration(register::MSIX_CONTROL, 10);
    let expected = [
        &(VECTORS as u16 - 1).to_le_bytes()[..],
        &TABLE.to_le_bytes(),
    ]
    .concat();
    assert_eq!(msix[..6], expected);
    assert_eq!(msix[6..], pci::MSIX_PENDING_OFFSET.to_le_bytes());
    // What is above the capabilities is zero to the last octet.
    let rest = machine.read_configuration(0x100, CONFIGURATION_OCTETS - 0x100);
    assert!(rest.iter().all(|octet| *octet == 0));
}

#[test]
fn command_takes_writes_of_1_2_and_4_octets() {
    let mut machine = Machine::new();
    for (at, octets, command) in [
        (0, &[0x06][..], 0x0006),
        (1, &[0x04], 0x0406),
        (0, &[0x02, 0x00], 0x0002),
        // Status, after it, is read only.
        (0, &[0x06, 0x04, 0xff, 0xff], 0x0406),
        // Two octets that begin in the middle, and one that is not Command at all.
        (1, &[0x00, 0x00], 0x0006),
        (2, &[0x00], 0x0006),
        (0, &[], 0x0006),
    ] {
        machine.write_configuration(register::COMMAND + at, octets);
        let found = machine.read_configuration(register::COMMAND, 2);
        let expected: u16 = command;
        assert_eq!(found, expected.to_le_bytes(), "{octets:?} at {at}");
    }
}

#[test]
fn bar0_answers_only_with_memory_space_enabled() {
    let mut machine = Machine::new();
    let low = u64::from(cq_register(3, CQ_BASE_LOW));
    let value = 0x1234_5000_u32.to_le_bytes();
    for enabled in [false, true, false] {
        machine.set_command(if enabled {
            COMMAND_MEMORY
        } else {
            COMMAND_BUS_MASTER
        });
        if enabled {
            assert_eq!(
                machine.read_bar(IDENTITY.into(), 4),
                IDENTITY_VALUE.to_le_bytes()
            );
            assert_eq!(
                machine.read_bar(low, 4),
                [0; 4],
                "written before it was enabled"
            );
            machine.write_bar(low, &value);
            assert_eq!(machine.read_bar(low, 4), value);
        } else {
            for octets in [1, 2, 4, 8, 4096] {
                assert_eq!(machine.read_bar(0, octets), vec![0xff; octets]);
            }
            machine.write_bar(low, &[0xee; 4]);
            machine.write_bar(TABLE.into(), &[0; 16]);
        }
    }
    machine.set_command(COMMAND_MEMORY);
    assert_eq!(machine.read_bar(low, 4), value);
    assert_eq!(
        machine.read_bar(u64::from(TABLE) + 12, 4),
        [1, 0, 0, 0],
        "masked"
    );
}

/// A function that is no bus master writes to no memory and sends no interrupt; each attempt is
/// reported.
#[test]
fn without_bus_master_enable_no_octet_of_memory_changes() {
    let mut machine = Machine::new();
    machine.set_command(COMMAND_MEMORY);
    let mut driver = machine.open();
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    machine.route_host_frames(&mut driver);
    let before = machine.contents();
    machine.push(frame(1, 200));
    machine.run(SETTLED_CYCLES);
    assert!(machine.contents() == before);
    let faults = machine.device.borrow_mut().take_faults();
    assert!(!faults.is_empty());
    let text = faults[0].to_string();
    assert!(text.contains("not writable by the device"), "{text}");
    assert_eq!(machine.signals(&event), 0);
    // With it, the same frame arrives, and nothing is reported.
    machine.set_command(ENABLED);
    let mut driver = machine.open();
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    machine.route_host_frames(&mut driver);
    machine.push(frame(1, 200));
    machine.run(SETTLED_CYCLES);
    assert_eq!(driver.poll_host_frame(), Some(frame(1, 200)));
    assert_eq!(machine.signals(&event), 1);
    assert_eq!(machine.device.borrow_mut().take_faults().len(), 0);
    assert!(machine.guards_are_whole());
}

/// A write to memory that is no longer mapped is reported, and changes no octet.
#[test]
fn what_the_client_took_back_is_not_written() {
    let mut machine = Machine::new();
    machine.set_command(ENABLED);
    let _driver = machine.open();
    machine.call(|client| client.unmap(IOVA, MAPPED_OCTETS).expect("it is mapped"));
    let before = machine.contents();
    machine.push(frame(1, 200));
    machine.run(SETTLED_CYCLES);
    assert!(machine.contents() == before);
    let faults = machine.device.borrow_mut().take_faults();
    assert!(!faults.is_empty());
}

#[test]
fn the_msix_table_is_the_clients_and_has_no_effect() {
    let mut machine = Machine::new();
    machine.set_command(ENABLED);
    let table = u64::from(TABLE);
    let octets = VECTORS * ENTRY_OCTETS as usize;
    let masked: Vec<u8> = (0..octets).map(|at| u8::from(at % 16 == 12)).collect();
    assert_eq!(machine.read_bar(table, octets), masked);
    let mut driver = machine.open();
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    machine.route_host_frames(&mut driver);
    // Addresses and data of the client's own, and masks on all vectors; in pieces of any size.
    let mut written = pattern(octets);
    for (at, octet) in written.iter_mut().enumerate() {
        match at % 16 {
            0 => *octet &= !3,
            12 => *octet = 1,
            13..16 => *octet = 0,
            _ => {}
        }
    }
    let mut at = 0;
    for piece in [1, 2, 4, 8, 16, 3, 64].into_iter().cycle() {
        let end = octets.min(at + piece);
        machine.write_bar(table + at as u64, &written[at..end]);
        at = end;
        if at == octets {
            break;
        }
    }
    assert_eq!(machine.read_bar(table, octets), written);
    for at in [0, 5, 31, 100] {
        assert_eq!(machine.read_bar(table + at as u64, 3), written[at..at + 3]);
    }
    // Neither has MSI-X Enable in configuration space, which the client keeps for itself.
    for control in [0, MSIX_CONTROL_ENABLE] {
        machine.write_configuration(register::MSIX_CONTROL, &control.to_le_bytes());
        machine.push(frame(1, 100));
        machine.run(SETTLED_CYCLES);
        assert_eq!(machine.signals(&event), 1);
    }
    assert!(driver.poll_host_frame().is_some());
    // A write over the edges of the table, to what is below and after it.
    let below = [&[0xaa; 8][..], &written, &[0xbb; 8]].concat();
    machine.write_bar(table - 8, &below);
    assert_eq!(machine.read_bar(table, octets), written);
    machine.push(frame(2, 100));
    machine.run(SETTLED_CYCLES);
    assert_eq!(machine.signals(&event), 1);
    assert_eq!(machine.device.borrow_mut().take_faults().len(), 0);
}

/// A vector without an eventfd is masked: what it is raised for is pending, and is signalled once
/// it has one.
#[test]
fn a_vector_without_an_eventfd_is_pending_until_it_has_one() {
    let mut machine = Machine::new();
    machine.set_command(ENABLED);
    let mut driver = machine.open();
    let other = machine.assign(&[HOST_VECTOR + 1])[0].clone();
    machine.route_host_frames(&mut driver);
    let pending = |machine: &mut Machine| machine.read_bar(PENDING.into(), 1)[0];
    for _ in 0..3 {
        machine.push(frame(1, 100));
        machine.run(SETTLED_CYCLES);
        assert_eq!(machine.signals(&other), 0);
        assert_eq!(pending(&mut machine), 1 << HOST_VECTOR);
    }
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    machine.run(SETTLED_CYCLES);
    assert_eq!((machine.signals(&event), machine.signals(&other)), (1, 0));
    assert_eq!(pending(&mut machine), 0);
    // Taken away again, one by one and all of them.
    for all in [false, true] {
        machine.call(|client| {
            let taken = match all {
                true => client.disable_irqs(IRQ_MSIX),
                false => client.set_irqs(IRQ_MSIX, HOST_VECTOR.into(), &[None]),
            };
            taken.expect("it is valid");
        });
        machine.push(frame(1, 100));
        machine.run(SETTLED_CYCLES);
        assert_eq!(machine.signals(&event), 0);
    }
}

#[test]
fn after_each_kind_of_reset_the_device_works() {
    let mut machine = Machine::new();
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    let high = register::DEVICE_CONTROL + 1;
    let initial = machine.read_configuration(0, 256);
    for kind in [
        "none",
        "by 2 octets",
        "by 1 octet",
        "by 4 octets",
        "message",
    ] {
        machine.set_command(ENABLED);
        machine.write_bar(TABLE.into(), &[0x40; 8]);
        // The previous driver is in mid-traffic.
        let mut before = machine.open();
        machine.route_host_frames(&mut before);
        for number in 0..8 {
            machine.push(frame(number, 600));
        }
        machine.run(500);
        let asks = DEVICE_CONTROL_RESET.to_le_bytes();
        match kind {
            "by 2 octets" => machine.write_configuration(high - 1, &asks),
            "by 1 octet" => machine.write_configuration(high, &asks[1..]),
            // From the octet below on: the request is in the middle of the write.
            "by 4 octets" => machine.write_configuration(high - 2, &[0, 0, asks[1], 0]),
            "message" => machine.call(|client| client.reset().expect("it has a reset")),
            _ => continue,
        }
        machine.signals(&event);
        let memory = machine.contents();
        machine.run(SETTLED_CYCLES);
        assert!(
            machine.contents() == memory,
            "{kind}: written after the reset"
        );
        assert_eq!(machine.read_configuration(0, 256), initial, "{kind}");
        assert_eq!(machine.read_bar(IDENTITY.into(), 4), [0xff; 4], "{kind}");
        machine.set_command(ENABLED);
        let identity = IDENTITY_VALUE.to_le_bytes();
        assert_eq!(machine.read_bar(IDENTITY.into(), 4), identity, "{kind}");
        let entry = machine.read_bar(TABLE.into(), 16);
        assert_eq!(
            entry,
            [[0; 12].as_slice(), &[1, 0, 0, 0]].concat(),
            "{kind}"
        );
        // The eventfds are still assigned; a driver that opens the device sets them up again.
        let mut next = machine.open();
        let event = machine.assign(&[HOST_VECTOR])[0].clone();
        machine.route_host_frames(&mut next);
        machine.push(frame(77, 300));
        machine.run(SETTLED_CYCLES);
        assert_eq!(next.poll_host_frame(), Some(frame(77, 300)), "{kind}");
        assert_eq!(machine.signals(&event), 1, "{kind}");
    }
    assert_eq!(machine.device.borrow_mut().take_faults().len(), 0);
}

/// A bit that is next to the one that asks for a reset asks for none.
#[test]
fn other_bits_of_device_control_reset_nothing() {
    let mut machine = Machine::new();
    machine.set_command(ENABLED);
    let low = u64::from(cq_register(3, CQ_BASE_LOW));
    machine.write_bar(low, &0x5000_u32.to_le_bytes());
    let control = 0x7fff & !DEVICE_CONTROL_EXTENDED_TAG | 1 << 8;
    machine.write_configuration(register::DEVICE_CONTROL, &control.to_le_bytes());
    machine.write_configuration(register::DEVICE_CONTROL + 2, &[0xff; 2]);
    assert_eq!(machine.read_bar(low, 4), 0x5000_u32.to_le_bytes());
}

/// Runs in turns until the device is quiet; the cycles that took.
fn run_until_quiet(machine: &mut Machine) -> usize {
    for turn in 0..10_000 {
        if machine.device.borrow().is_quiet() {
            return 200 * turn;
        }
        machine.run(200);
    }
    panic!("it is never quiet");
}

#[test]
fn a_device_is_quiet_when_nothing_will_happen_and_not_before() {
    let mut machine = Machine::new();
    run_until_quiet(&mut machine);
    machine.set_command(ENABLED);
    let mut driver = machine.open();
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    machine.route_host_frames(&mut driver);
    machine.write_bar(u64::from(registers::EVENT_DELAY_LOG2), &[0; 4]);
    assert!(
        !machine.device.borrow().is_quiet(),
        "registers were just accessed"
    );
    run_until_quiet(&mut machine);
    for _ in 0..200 {
        machine.run(200);
        assert!(machine.device.borrow().is_quiet(), "it stays quiet");
    }
    // The second interrupt is held off longer than anything is on its way.
    let hold_off = 1_023;
    driver
        .set_hold_off(HOST_VECTOR, hold_off)
        .expect("it is valid");
    machine.push(frame(1, 100));
    machine.run(SETTLED_CYCLES);
    assert_eq!(machine.signals(&event), 1);
    machine.push(frame(2, 100));
    machine.run(SETTLED_CYCLES);
    assert_eq!(machine.signals(&event), 0);
    let cycles = run_until_quiet(&mut machine);
    assert_eq!(machine.signals(&event), 1, "it was called quiet too early");
    let timer = u64::from(hold_off) * machine.simulation.borrow().tick_cycles();
    assert!(cycles as u64 > timer, "{cycles}");
    // Whoever resets it ends its timers.
    machine.call(|client| client.reset().expect("it has a reset"));
    let cycles = run_until_quiet(&mut machine);
    assert!((cycles as u64) < timer, "{cycles}");
}

#[test]
fn a_timer_that_the_device_ignores_does_not_keep_it_awake() {
    let mut machine = Machine::new();
    machine.set_command(ENABLED);
    for (register, value) in [
        (HOLD_OFF, HOLD_OFF_MAX + 1),
        (HOLD_OFF, u32::MAX),
        (registers::EVENT_DELAY_LOG2, 40),
        (registers::EVENT_DELAY_LOG2, u32::MAX),
    ] {
        machine.write_bar(register.into(), &value.to_le_bytes());
        let cycles = run_until_quiet(&mut machine);
        assert!(cycles < 2 * LINGER_CYCLES as usize, "{value:#x}: {cycles}");
    }
}

/// When a client has gone, its memory is not written, though it is mapped as long as the session is
/// there; the next client has a device after power-up.
#[test]
fn after_the_end_of_a_session_nothing_is_written() {
    let mut machine = Machine::new();
    let event = machine.assign(&[HOST_VECTOR])[0].clone();
    machine.set_command(ENABLED);
    let mut driver = machine.open();
    machine.route_host_frames(&mut driver);
    let before = machine.contents();
    for number in 0..40 {
        machine.push(frame(number, 1_000));
    }
    machine.run(2_000);
    assert!(machine.contents() != before, "it was written until the end");
    assert!(machine.simulation.borrow().frames_waiting() > 10);
    machine.device.borrow_mut().end();
    let memory = machine.contents();
    machine.signals(&event);
    machine.run(20_000);
    assert!(machine.contents() == memory);
    assert_eq!(machine.signals(&event), 0);

    let mut next = machine.next_client();
    assert_eq!(next.read_configuration(register::COMMAND, 2), [0; 2]);
    assert_eq!(next.read_bar(IDENTITY.into(), 4), [0xff; 4]);
    next.set_command(ENABLED);
    let mut driver = next.open();
    next.push(frame(5, 900));
    next.run(SETTLED_CYCLES);
    assert_eq!(driver.poll_host_frame(), Some(frame(5, 900)));
    assert_eq!(next.device.borrow_mut().take_faults().len(), 0);
    assert!(machine.contents() == memory && machine.guards_are_whole());
    assert_eq!(machine.signals(&event), 0);
}

/// What a client of another program may do: a command that wants no reply, an access of no octets.
#[test]
fn odd_accesses_are_answered() {
    let mut machine = Machine::new();
    machine.set_command(ENABLED);
    let low = u64::from(cq_register(3, CQ_BASE_LOW));
    let value = machine.call(|client| {
        client
            .write_posted(0, low, &0x7000_u32.to_le_bytes())
            .expect("it is sent");
        for region in [0, REGION_CONFIGURATION] {
            for offset in [0, 1, 4096] {
                client.read(region, offset, &mut []).expect("no octets");
                client.write(region, offset, &[]).expect("no octets");
            }
            client
                .read(region, 4095, &mut [0; 2])
                .expect_err("beyond the end");
            client
                .write(region, 4096, &[0])
                .expect_err("beyond the end");
        }
        let mut value = [0; 4];
        client.read(0, low, &mut value).expect("it answers");
        value
    });
    assert_eq!(value, 0x7000_u32.to_le_bytes());
}
