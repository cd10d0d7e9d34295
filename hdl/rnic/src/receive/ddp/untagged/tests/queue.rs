//! Order of MSNs at every corner of the number circle, and random queues.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};

fn connected() -> Simulation<QueueOrder> {
    simulate!(QueueOrder::default())
}

fn write(uut: &mut Simulation<QueueOrder>, queue: u64, expected: u32, posted: u32) {
    uut.write_msn.next = true;
    uut.msn_queue.next = queue.into();
    uut.next_msn.next = u64::from(expected).into();
    uut.write_tail.next = true;
    uut.tail_queue.next = queue.into();
    uut.tail.next = u64::from(expected.wrapping_add(posted) as u16).into();
    uut.tick();
    uut.write_msn.next = false;
    uut.write_tail.next = false;
}

/// Before, not posted, gap; the second only if not before.
fn ask(uut: &mut Simulation<QueueOrder>, queue: u64, msn: u32) -> (bool, bool, bool) {
    uut.queue.next = queue.into();
    uut.msn.next = u64::from(msn).into();
    uut.ticks(4);
    let before = uut.behind.val();
    let nothing_fits = before || uut.not_posted.val();
    assert!(!uut.empty.val() || nothing_fits);
    (before, !before && uut.not_posted.val(), uut.gap.val())
}

fn expected_answer(expected: u32, posted: u32, msn: u32) -> (bool, bool, bool) {
    let distance = msn.wrapping_sub(expected);
    let before = distance >= 1 << 31;
    (before, !before && distance >= posted, distance != 0)
}

#[test]
fn ddp_041_order_is_modulo_2_to_the_32_at_every_corner() {
    let mut uut = connected();
    for expected in [
        0,
        1,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX - 1,
        u32::MAX,
    ] {
        for posted in [0, 1, 2, 2047, 2048] {
            write(&mut uut, 4095, expected, posted);
            ask(&mut uut, 4095, expected);
            assert_eq!(uut.empty.val(), posted == 0);
            assert_eq!(uut.expected_msn.val(), u64::from(expected));
            for step in [
                0,
                1,
                2,
                2046,
                2047,
                2048,
                0xffff,
                0x1_0000,
                0x1_0001,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
            ] {
                let msn = expected.wrapping_add(step);
                assert_eq!(
                    ask(&mut uut, 4095, msn),
                    expected_answer(expected, posted, msn),
                    "expected {expected:#x}, posted {posted}, msn {msn:#x}"
                );
            }
        }
    }
}

#[test]
fn random_queues_keep_apart() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let mut queues = [(0u32, 0u32); 64];
    for step in 0..800 {
        let queue = random.below(64);
        if random.chance(1, 3) {
            let state = (random.bits() as u32, random.below(2049) as u32);
            queues[queue as usize] = state;
            write(&mut uut, queue * 61, state.0, state.1);
        } else {
            let (expected, posted) = queues[queue as usize];
            let msn = expected
                .wrapping_add(random.below(4096) as u32)
                .wrapping_sub(1000);
            assert_eq!(
                ask(&mut uut, queue * 61, msn),
                expected_answer(expected, posted, msn),
                "step {step}"
            );
        }
    }
}
