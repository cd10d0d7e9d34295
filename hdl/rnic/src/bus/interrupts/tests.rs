//! Vectors that are raised, masked, held off and reset, against a model of them.
use super::InterruptRoom128;
use rnic_abi::interrupts as map;
use rnic_hdl_tools::testkit::{lockstep, simulate, words_of, Simulation};

const ADDRESS: u64 = 0x12_3456_7000;
/// Cycles in which a message is over.
const QUIET_CYCLES: usize = 24;

fn connected() -> Simulation<InterruptRoom128> {
    let mut uut = simulate!(InterruptRoom128::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.reset);
    uut.msix_enable.next = true;
    uut.tlp_ready.next = true;
    for vector in 0..map::VECTORS as u32 {
        let entry = map::TABLE + vector * map::ENTRY_OCTETS;
        let address = ADDRESS + u64::from(vector) * 16;
        write(&mut uut, entry, address as u32);
        write(&mut uut, entry + 4, (address >> 32) as u32);
        write(&mut uut, entry + 8, 0x100 + vector);
        write(&mut uut, entry + 12, 0);
    }
    uut
}

fn write(uut: &mut Simulation<InterruptRoom128>, offset: u32, value: u32) {
    uut.address.next = u64::from(offset / 4).into();
    uut.data.next = u64::from(value).into();
    uut.pulse(|uut| &mut uut.write);
}

fn read(uut: &mut Simulation<InterruptRoom128>, offset: u32) -> u32 {
    uut.address.next = u64::from(offset / 4).into();
    uut.settle();
    uut.tick();
    uut.settle();
    uut.value.val().to_u32()
}

/// Vectors of the messages that leave in so many cycles, each with its cycle.
fn messages(uut: &mut Simulation<InterruptRoom128>, cycles: usize) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    for cycle in 0..cycles {
        uut.settle();
        if uut.tlp_valid.val() && uut.tlp_ready.val() {
            let header: [u32; 4] = words_of(uut.tlp_header.val());
            let data: [u32; 4] = words_of(uut.tlp_data.val());
            let vector = data[0] - 0x100;
            let address = ADDRESS + u64::from(vector) * 16;
            let expected = [0x6000_0001, 0x0f, (address >> 32) as u32, address as u32];
            assert_eq!(header, expected);
            assert!(uut.tlp_last.val() && uut.tlp_keep.val().to_u32() == 1);
            found.push((cycle, vector));
        }
        uut.tick();
    }
    found
}

fn vectors(uut: &mut Simulation<InterruptRoom128>) -> Vec<u32> {
    let found = messages(uut, 8 * QUIET_CYCLES).into_iter();
    found.map(|(_, vector)| vector).collect()
}

fn raise_queue(uut: &mut Simulation<InterruptRoom128>, queue: u64) {
    uut.entry_queue.next = queue.into();
    uut.pulse(|uut| &mut uut.entry_written);
}

/// Each source raises the vector of its route, and no other one.
#[test]
fn sources_raise_the_vectors_of_their_routes() {
    let mut uut = connected();
    for queue in 0..16 {
        raise_queue(&mut uut, queue);
        assert_eq!(vectors(&mut uut), [], "no route");
    }
    // Queue q raises vector (q + 3) mod 8, but queue 5 none.
    for half in 0..2 {
        let on = |queue| if queue == 5 { 0 } else { map::ROUTE_ON };
        let route = |queue: u32| ((queue + 3) % 8) | on(queue);
        let routes = (0..8).map(|place| route(8 * half + place) << (4 * place));
        write(&mut uut, map::QUEUE_ROUTES_LOW + 4 * half, routes.sum());
    }
    for queue in 0..16 {
        raise_queue(&mut uut, queue);
        let expected = match queue {
            5 => vec![],
            queue => vec![(queue as u32 + 3) % 8],
        };
        assert_eq!(vectors(&mut uut), expected, "queue {queue}");
    }
    write(&mut uut, map::RING_ROUTES, 0xa << 8 | 0xe << 4 | 0xb);
    uut.pulse(|uut| &mut uut.slot_written);
    assert_eq!(vectors(&mut uut), [3]);
    // A TLP raises when its last beat is taken.
    uut.event_tlp_valid.next = true;
    assert_eq!(vectors(&mut uut), []);
    uut.event_tlp_ready.next = true;
    assert_eq!(vectors(&mut uut), []);
    uut.event_tlp_last.next = true;
    uut.settle();
    uut.tick();
    uut.event_tlp_valid.next = false;
    assert_eq!(vectors(&mut uut), [6]);
    uut.status_tlp_last.next = true;
    uut.status_tlp_ready.next = true;
    uut.pulse(|uut| &mut uut.status_tlp_valid);
    assert_eq!(vectors(&mut uut), [2]);
}

/// Masked vectors stay pending, however often they are raised; unmasked they send one message.
#[test]
fn masked_vectors_are_pending() {
    let mut uut = connected();
    write(&mut uut, map::QUEUE_ROUTES_LOW, 0xfed_cba98);
    let control = |vector: u32| map::TABLE + vector * map::ENTRY_OCTETS + 12;
    write(&mut uut, control(4), map::CONTROL_MASKED);
    assert_eq!(read(&mut uut, control(4)), 1);
    assert_eq!(read(&mut uut, control(3)), 0);
    for queue in [4, 4, 6, 4] {
        raise_queue(&mut uut, queue);
    }
    assert_eq!(vectors(&mut uut), [6]);
    assert_eq!(read(&mut uut, map::PENDING), 1 << 4);
    write(&mut uut, control(4), 0);
    assert_eq!(vectors(&mut uut), [4]);
    assert_eq!(read(&mut uut, map::PENDING), 0);
    uut.msix_mask.next = true;
    for queue in [1, 6, 3] {
        raise_queue(&mut uut, queue);
    }
    assert_eq!(vectors(&mut uut), []);
    assert_eq!(read(&mut uut, map::PENDING), 1 << 1 | 1 << 6 | 1 << 3);
    uut.msix_mask.next = false;
    let mut found = vectors(&mut uut);
    found.sort_unstable();
    assert_eq!(found, [1, 3, 6]);
    // While MSI-X is off nothing is pending, nor later.
    uut.msix_enable.next = false;
    raise_queue(&mut uut, 2);
    assert_eq!(vectors(&mut uut), []);
    assert_eq!(read(&mut uut, map::PENDING), 0);
    uut.msix_enable.next = true;
    assert_eq!(vectors(&mut uut), []);
}

/// After a message none of its vector for the hold-off, then one for all that was raised.
#[test]
fn hold_off_joins_messages() {
    const TICK_CYCLES: usize = 10;
    const TICKS: usize = 7;
    let mut uut = connected();
    write(&mut uut, map::QUEUE_ROUTES_LOW, 0x98);
    write(&mut uut, map::HOLD_OFF, TICKS as u32);
    assert_eq!(read(&mut uut, map::HOLD_OFF), TICKS as u32);
    write(&mut uut, map::HOLD_OFF, map::HOLD_OFF_MAX + 1);
    assert_eq!(read(&mut uut, map::HOLD_OFF), TICKS as u32, "ignored");
    let (mut sent, mut raised) = (Vec::new(), 0);
    for turn in 0..400 {
        uut.tick.next = turn % TICK_CYCLES == 0;
        uut.entry_queue.next = u64::from(turn % 16 == 0).into();
        uut.entry_written.next = turn % 8 == 0;
        raised += usize::from(turn % 16 == 8);
        sent.extend(
            messages(&mut uut, 1)
                .into_iter()
                .map(|(_, vector)| (turn, vector)),
        );
    }
    uut.entry_written.next = false;
    let of = |wanted: u32| -> Vec<usize> {
        let sent = sent.iter().filter(|(_, vector)| *vector == wanted);
        sent.map(|(turn, _)| *turn).collect()
    };
    let held: Vec<usize> = of(0).windows(2).map(|pair| pair[1] - pair[0]).collect();
    let least = (TICKS - 1) * TICK_CYCLES;
    let most = (TICKS + 1) * TICK_CYCLES + 16;
    assert!(
        held.iter().all(|gap| (least..most).contains(gap)),
        "{held:?}"
    );
    assert!(held.len() >= 3, "{sent:?}");
    assert!(
        of(1).len() + 2 > raised,
        "vector 1 has no hold-off: {sent:?}"
    );
}

/// Vectors that are raised all the time take turns.
#[test]
fn vectors_take_turns() {
    let mut uut = connected();
    write(&mut uut, map::QUEUE_ROUTES_LOW, 0xfed_cba98);
    let mut counts = [0; 8];
    for turn in 0..800 {
        uut.entry_queue.next = (turn % 7).into();
        uut.entry_written.next = true;
        for (_, vector) in messages(&mut uut, 1) {
            counts[vector as usize] += 1;
        }
    }
    let (least, most) = (counts[..7].iter().min(), counts[..7].iter().max());
    assert!(
        *least.expect("seven") + 1 >= *most.expect("seven"),
        "{counts:?}"
    );
    assert!(counts.iter().sum::<i32>() > 100, "{counts:?}");
}

#[test]
fn a_reset_masks_and_forgets() {
    let mut uut = connected();
    write(&mut uut, map::QUEUE_ROUTES_LOW, 0x8);
    write(&mut uut, map::HOLD_OFF + 4, 5);
    raise_queue(&mut uut, 0);
    uut.reset.next = true;
    for _ in 0..map::VECTORS as u32 * map::ENTRY_OCTETS / 4 {
        uut.tick();
    }
    uut.reset.next = false;
    assert_eq!(vectors(&mut uut), []);
    for (offset, value) in [
        (map::QUEUE_ROUTES_LOW, 0),
        (map::HOLD_OFF + 4, 0),
        (map::PENDING, 0),
    ] {
        assert_eq!(read(&mut uut, offset), value, "{offset:#x}");
    }
    // Each entry, as it is shown and as messages take it.
    for vector in 0..map::VECTORS as u32 {
        let entry = map::TABLE + vector * map::ENTRY_OCTETS;
        let words = [0, 4, 8, 12].map(|word| read(&mut uut, entry + word));
        assert_eq!(words, [0, 0, 0, map::CONTROL_MASKED], "vector {vector}");
    }
    write(&mut uut, map::QUEUE_ROUTES_LOW, 0xf);
    write(&mut uut, map::TABLE + 7 * map::ENTRY_OCTETS + 12, 0);
    raise_queue(&mut uut, 0);
    let header = (0..QUIET_CYCLES).find_map(|_| {
        uut.tick();
        uut.settle();
        let header: [u32; 4] = words_of(uut.tlp_header.val());
        uut.tlp_valid.val().then_some(header)
    });
    assert_eq!(header.map(|header| header[2..].to_vec()), Some(vec![0, 0]));
}

#[test]
fn addresses_of_messages_are_those_of_doublewords() {
    let mut uut = connected();
    for word in 0..3 {
        write(&mut uut, map::TABLE + 4 * word, u32::MAX);
    }
    let words = [0, 4, 8].map(|word| read(&mut uut, map::TABLE + word));
    assert_eq!(words, [u32::MAX - 3, u32::MAX, u32::MAX]);
}

#[test]
fn rust_and_verilog_agree() {
    let spaces = [
        map::TABLE,
        map::PENDING,
        map::HOLD_OFF,
        map::QUEUE_ROUTES_LOW,
    ];
    lockstep!(
        "interrupts",
        InterruptRoom128::default(),
        4000,
        |uut, random| {
            uut.reset.next = random.chance(1, 800);
            uut.device_id.next = random.wide();
            uut.tick.next = random.chance(1, 4);
            uut.msix_enable.next = random.chance(19, 20);
            uut.msix_mask.next = random.chance(1, 10);
            let space = spaces[random.below(4) as usize] / 4;
            uut.address.next = (u64::from(space) + random.below(40)).into();
            let wide = random.chance(1, 4);
            uut.data.next = random.below(if wide { 1 << 32 } else { 16 }).into();
            uut.write.next = random.chance(1, 3);
            uut.entry_written.next = random.chance(1, 4);
            uut.entry_queue.next = random.wide();
            uut.slot_written.next = random.chance(1, 8);
            uut.event_tlp_valid.next = random.chance(1, 4);
            uut.event_tlp_last.next = random.chance(1, 2);
            uut.event_tlp_ready.next = random.chance(1, 2);
            uut.status_tlp_valid.next = random.chance(1, 4);
            uut.status_tlp_last.next = random.chance(1, 2);
            uut.status_tlp_ready.next = random.chance(1, 2);
            uut.tlp_ready.next = random.chance(1, 2);
        }
    );
}
