use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

/// A queue as the memories hold it, with the whole numbers that the port sees the halves of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Queue {
    is_open: bool,
    first: u16,
    entries_log2: u32,
    tail: u32,
    expected: u32,
}

/// What a doorbell did: strobes in the order of their cycles.
#[derive(Clone, Debug, PartialEq)]
enum Action {
    Pool {
        entry: u16,
        words: [u32; 3],
        high: u32,
    },
    Tail {
        queue: u32,
        msn: u16,
    },
    Closed,
    Full,
}

fn connected() -> Simulation<PostingPort> {
    let mut uut = simulate!(PostingPort::default());
    uut.pulse(|uut| &mut uut.reset);
    uut.settle();
    uut
}

fn write(uut: &mut Simulation<PostingPort>, offset: u32, value: u32) {
    uut.address.next = u64::from(offset / 4).into();
    uut.data.next = u64::from(value).into();
    uut.pulse(|uut| &mut uut.write);
}

fn fill(uut: &mut Simulation<PostingPort>, words: [u32; 3]) {
    for (offset, word) in [map::POST_0, map::POST_1, map::POST_2]
        .into_iter()
        .zip(words)
    {
        write(uut, offset, word);
    }
}

/// Rings the doorbell, grants the memories after `wait` cycles, and shows `queue` two cycles after
/// its number; what was done, and the cycles from the grant on.
fn ring(
    uut: &mut Simulation<PostingPort>,
    value: u32,
    queue: &Queue,
    wait: usize,
) -> (Vec<Action>, usize) {
    write(uut, map::POST, value);
    let (mut actions, mut granted_for) = (Vec::new(), 0);
    let mut addressed = [None; 2];
    for cycle in 0..wait + 20 {
        uut.granted.next = cycle >= wait;
        let shown = addressed[1].filter(|&number: &u32| number == value & 0xfff);
        uut.queue_now.next = match shown {
            None => QueueNow {
                shape: QueueShape {
                    is_open: true,
                    ..QueueShape::default()
                },
                ..QueueNow::default()
            },
            Some(_) => QueueNow {
                shape: QueueShape {
                    first: u64::from(queue.first).into(),
                    entries_log2: u64::from(queue.entries_log2).into(),
                    is_open: queue.is_open,
                },
                tail: u64::from(queue.tail & 0xffff).into(),
                expected: u64::from(queue.expected & 0xffff).into(),
            },
        };
        uut.settle();
        let writes = uut.writes.val();
        assert!(uut.busy.val());
        if writes.pool {
            actions.push(Action::Pool {
                entry: writes.entry.to_u16(),
                words: [
                    writes.buffer.address.get_bits::<32>(0).to_u32(),
                    writes.buffer.address.get_bits::<32>(32).to_u32(),
                    writes.buffer.octets.to_u32(),
                ],
                high: writes.buffer.to_high.to_u32(),
            });
        }
        if writes.tail {
            actions.push(Action::Tail {
                queue: writes.queue.to_u32(),
                msn: writes.tail_msn.to_u16(),
            });
        }
        actions.extend(uut.closed.val().then_some(Action::Closed));
        actions.extend(uut.full.val().then_some(Action::Full));
        assert!(
            uut.granted.val() || !(writes.pool | writes.tail | uut.done.val()),
            "nothing is done without the memories"
        );
        granted_for += usize::from(uut.granted.val());
        let is_done = uut.done.val();
        addressed = [
            uut.granted.val().then(|| writes.queue.to_u32()),
            addressed[0],
        ];
        uut.tick();
        if is_done {
            uut.granted.next = false;
            uut.settle();
            assert!(!uut.busy.val() && !uut.wants.val());
            return (actions, granted_for);
        }
    }
    panic!("the post does not end");
}

/// What the ABI says of a post (`rnic_abi::registers::POST`).
fn expected(value: u32, words: [u32; 3], queue: &Queue) -> Vec<Action> {
    let entries = 1 << queue.entries_log2;
    if !queue.is_open {
        return vec![Action::Closed];
    }
    if queue.tail.wrapping_sub(queue.expected) >= entries {
        return vec![Action::Full];
    }
    vec![
        Action::Pool {
            entry: queue.first + (queue.tail % entries) as u16,
            words,
            high: value >> 16 & 7,
        },
        Action::Tail {
            queue: value & 0xfff,
            msn: queue.tail.wrapping_add(1) as u16,
        },
    ]
}

const WORDS: [u32; 3] = [0x89ab_cdef, 0x0123_4567, 0xfedc_ba98];

/// Queues of 1 and 2,048 entries, empty, with one place left, full; MSNs that wrap at 2^16 and at
/// 2^32, and the ring at its end.
#[test]
fn a_post_writes_the_entry_at_the_tail_and_then_the_tail() {
    let mut uut = connected();
    fill(&mut uut, WORDS);
    for entries_log2 in 0..=11 {
        let entries = 1u32 << entries_log2;
        for tail in [0, 1, entries - 1, entries, 0xffff, 0x1_0000, u32::MAX] {
            for posted in [0, entries - 1, entries] {
                let queue = Queue {
                    is_open: true,
                    first: (2048 - entries) as u16,
                    entries_log2,
                    tail,
                    expected: tail.wrapping_sub(posted),
                };
                let value = map::post(0xfff, 5);
                let (actions, cycles) = ring(&mut uut, value, &queue, 0);
                assert_eq!(actions, expected(value, WORDS, &queue), "{queue:?}");
                assert_eq!(cycles, if posted == entries { 4 } else { 6 });
            }
        }
    }
}

#[test]
fn a_closed_queue_takes_nothing() {
    let mut uut = connected();
    fill(&mut uut, WORDS);
    let (actions, _) = ring(&mut uut, map::post(8, 0), &Queue::default(), 3);
    assert_eq!(actions, [Action::Closed]);
}

/// The words keep their values from post to post; other registers and other bits do not matter.
#[test]
fn words_stay_until_they_are_written() {
    let mut uut = connected();
    let open = Queue {
        is_open: true,
        entries_log2: 3,
        ..Queue::default()
    };
    let (actions, _) = ring(&mut uut, 0, &open, 0);
    assert_eq!(actions, expected(0, [0; 3], &open), "cleared by the reset");
    fill(&mut uut, WORDS);
    for offset in (0..0x1000).step_by(4) {
        if !(map::POST_0..=map::POST).contains(&offset) {
            write(&mut uut, offset, 0x5555_5555);
            uut.settle();
            assert!(!uut.busy.val(), "{offset:#x}");
        }
    }
    let value = 0xfff8_f000 | 0x123;
    let (actions, _) = ring(&mut uut, value, &open, 40);
    assert_eq!(actions, expected(value, WORDS, &open));
}

/// Wherever a reset meets a post, it is over, and the next one is as the first.
#[test]
fn a_reset_ends_a_post() {
    let queue = Queue {
        is_open: true,
        entries_log2: 2,
        ..Queue::default()
    };
    for cycles in 0..8 {
        let mut uut = connected();
        fill(&mut uut, WORDS);
        write(&mut uut, map::POST, 1);
        uut.granted.next = true;
        uut.ticks(cycles);
        uut.granted.next = false;
        uut.pulse(|uut| &mut uut.reset);
        uut.settle();
        assert!(!uut.busy.val() && !uut.wants.val());
        let (actions, _) = ring(&mut uut, 1, &queue, 1);
        assert_eq!(
            actions,
            expected(1, [0; 3], &queue),
            "after {cycles} cycles"
        );
    }
}

#[test]
fn random_posts_are_as_the_document_says() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    for _ in 0..400 {
        let entries_log2 = random.below(12) as u32;
        let tail = random.below(1 << 32) as u32;
        let posted = random.below((1 << entries_log2) + 1) as u32;
        let queue = Queue {
            is_open: random.chance(3, 4),
            first: (random.below(2048 >> entries_log2) << entries_log2) as u16,
            entries_log2,
            tail,
            expected: tail.wrapping_sub(posted),
        };
        let words = std::array::from_fn(|_| random.below(1 << 32) as u32);
        fill(&mut uut, words);
        let value = random.below(1 << 32) as u32;
        let (actions, _) = ring(&mut uut, value, &queue, random.below(6) as usize);
        assert_eq!(
            actions,
            expected(value, words, &queue),
            "{queue:?} {value:#x}"
        );
    }
}

#[test]
fn rust_and_verilog_agree() {
    lockstep!(
        "posting_port",
        PostingPort::default(),
        4000,
        |uut, random| {
            uut.reset.next = random.chance(1, 200);
            uut.write.next = random.chance(1, 3);
            let dword = u64::from(map::POST_0 / 4) + random.below(5);
            uut.address.next = dword.into();
            uut.data.next = random.wide();
            uut.granted.next = random.chance(1, 2);
            uut.queue_now.next = QueueNow {
                shape: QueueShape {
                    first: random.wide(),
                    entries_log2: random.below(12).into(),
                    is_open: random.chance(7, 8),
                },
                tail: random.below(40).into(),
                expected: random.below(40).into(),
            };
        }
    );
}
