//! Each register of each queue is its own, on the way in and out.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

type Uut = Simulation<CompletionQueueRegisters>;

/// The registers that are written, with the bits that they take of `!0`.
const WRITTEN: [(u32, u32); 4] = [
    (map::CQ_BASE_LOW, !0xfff),
    (map::CQ_BASE_HIGH, !0),
    (map::CQ_ENTRIES_LOG2, 16),
    (map::CQ_CONSUMER, !0),
];

/// Writes `value`, and returns the message to the rooms.
fn write(uut: &mut Uut, offset: u32, value: u32) -> CqWrite {
    uut.address.next = u64::from(offset / 4).into();
    uut.data.next = u64::from(value).into();
    uut.tick();
    uut.pulse(|uut| &mut uut.write);
    let sent = uut.cq_write.val();
    uut.tick();
    let strobes = |sent: CqWrite| {
        [
            sent.base_low,
            sent.base_high,
            sent.entries_log2,
            sent.consumer,
        ]
    };
    assert_eq!(strobes(uut.cq_write.val()), [false; 4], "one cycle");
    sent
}

fn read(uut: &mut Uut, offset: u32) -> u32 {
    uut.address.next = u64::from(offset / 4).into();
    uut.tick();
    uut.value.val().to_u32()
}

fn report(uut: &mut Uut, report: CqReport) {
    uut.cq_report.next = report;
    uut.tick();
    uut.cq_report.next = CqReport::default();
}

/// A value of its own for each register.
fn value_of(queue: u32, register: u32) -> u32 {
    match register {
        map::CQ_ENTRIES_LOG2 => 1 + queue % 16,
        _ => (queue << 20 | register << 8) + 0x1000_0abc,
    }
}

#[test]
fn each_register_of_each_queue_is_its_own() {
    let mut uut = simulate!(CompletionQueueRegisters::default());
    for queue in 0..16 {
        for (kind, (register, mask)) in WRITTEN.into_iter().enumerate() {
            let value = value_of(queue, register);
            let sent = write(&mut uut, map::cq_register(queue, register), value);
            let kept = if kind == 2 { value } else { value & mask };
            assert_eq!(sent.queue, u64::from(queue));
            assert_eq!(sent.value, u64::from(kept));
            let strobes = [
                sent.base_low,
                sent.base_high,
                sent.entries_log2,
                sent.consumer,
            ];
            assert_eq!(strobes, std::array::from_fn(|bit| bit == kind));
        }
        let entries = u64::from(queue) * 0x101 + 5;
        report(
            &mut uut,
            CqReport {
                queue: u64::from(queue).into(),
                numbered: true,
                entries: entries.into(),
                lost: false,
            },
        );
    }
    for queue in 0..16 {
        for (register, mask) in WRITTEN {
            let value = value_of(queue, register);
            let kept = if register == map::CQ_ENTRIES_LOG2 {
                value
            } else {
                value & mask
            };
            assert_eq!(read(&mut uut, map::cq_register(queue, register)), kept);
        }
        let producer = read(&mut uut, map::cq_register(queue, map::CQ_PRODUCER));
        assert_eq!(producer, queue * 0x101 + 5);
        for unused in [0x14, 0x18, 0x1c] {
            assert_eq!(
                read(&mut uut, map::cq_register(queue, map::CQ_BASE_LOW + unused)),
                0
            );
        }
    }
    for elsewhere in [0, 0x1fc, map::COUNTERS, 0x600, 0xa00] {
        assert_eq!(read(&mut uut, elsewhere), 0, "offset {elsewhere:#x}");
    }
}

#[test]
fn what_is_not_allowed_is_ignored() {
    let mut uut = simulate!(CompletionQueueRegisters::default());
    let size = map::cq_register(7, map::CQ_ENTRIES_LOG2);
    write(&mut uut, size, 16);
    let ignored = [
        (size, 17),
        (size, 1 << 31),
        (map::cq_register(7, map::CQ_PRODUCER), 3),
        (map::cq_register(7, map::CQ_PRODUCER) + 4, 3),
        // The same register of other pages of the BAR.
        (size - 0x200, 3),
        (size + 0x200, 3),
    ];
    for (offset, value) in ignored {
        let sent = write(&mut uut, offset, value);
        assert!(!(sent.base_low | sent.base_high | sent.entries_log2 | sent.consumer));
        assert_eq!(read(&mut uut, size), 16, "{value:#x} at {offset:#x}");
    }
    assert_eq!(read(&mut uut, map::cq_register(7, map::CQ_PRODUCER)), 0);
}

/// An overflow stands until its own queue is set up.
#[test]
fn an_overflow_stands_until_its_queue_is_set_up() {
    let mut uut = simulate!(CompletionQueueRegisters::default());
    for queue in [0u64, 9, 15] {
        let lost = CqReport {
            queue: queue.into(),
            lost: true,
            ..CqReport::default()
        };
        report(&mut uut, lost);
    }
    assert_eq!(uut.overflow.val(), 0x8201u64);
    write(&mut uut, map::cq_register(9, map::CQ_CONSUMER), 0);
    write(&mut uut, map::cq_register(8, map::CQ_ENTRIES_LOG2), 3);
    assert_eq!(uut.overflow.val(), 0x8201u64);
    write(&mut uut, map::cq_register(9, map::CQ_ENTRIES_LOG2), 0);
    assert_eq!(uut.overflow.val(), 0x8001u64);
    uut.pulse(|uut| &mut uut.clear);
    assert_eq!(uut.overflow.val(), 0u64);
}

/// While `clear` is high every register of every queue is written with zero, here and in the rooms;
/// reads go on.
#[test]
fn a_reset_clears_every_register() {
    let mut uut = simulate!(CompletionQueueRegisters::default());
    for queue in 0..16 {
        for (register, _) in WRITTEN {
            write(
                &mut uut,
                map::cq_register(queue, register),
                value_of(queue, register),
            );
        }
    }
    uut.clear.next = true;
    let mut cleared = std::collections::BTreeSet::new();
    for _ in 0..66 {
        uut.tick();
        let sent = uut.cq_write.val();
        assert_eq!(sent.value, 0u64);
        let strobes = [
            sent.base_low,
            sent.base_high,
            sent.entries_log2,
            sent.consumer,
        ];
        cleared.insert((sent.queue.to_u64(), strobes));
    }
    assert_eq!(cleared.len(), 64);
    assert_eq!(read(&mut uut, map::cq_register(3, map::CQ_BASE_HIGH)), 0);
    uut.clear.next = false;
    uut.tick();
    for queue in 0..16 {
        for (register, _) in WRITTEN {
            assert_eq!(read(&mut uut, map::cq_register(queue, register)), 0);
        }
    }
}

#[test]
fn registers_agree_with_their_verilog() {
    lockstep!(
        "completion_queue_registers",
        CompletionQueueRegisters::default(),
        3000,
        |uut, random: &mut Random| {
            let dword = [0x80, 0x80, 0x80, 0, 0x100][random.below(5) as usize];
            uut.address.next = (dword + random.below(0x80)).into();
            uut.write.next = random.chance(1, 4);
            uut.data.next =
                [random.below(1 << 32), random.below(18)][random.below(2) as usize].into();
            uut.clear.next = random.chance(1, 30);
            uut.cq_report.next = CqReport {
                queue: random.wide(),
                numbered: random.chance(1, 3),
                entries: random.wide(),
                lost: random.chance(1, 6),
            };
        }
    );
}
