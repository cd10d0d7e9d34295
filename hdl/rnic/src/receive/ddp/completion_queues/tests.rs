//! Room and numbers against plain counts, in all queues at once.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

/// A queue as its owner sees it.
#[derive(Clone, Copy, Default)]
struct Queue {
    entries_log2: u32,
    numbered: u32,
    consumed: u32,
}

impl Queue {
    fn is_full(&self) -> bool {
        let entries = 1 << self.entries_log2;
        self.entries_log2 == 0 || self.numbered - self.consumed >= entries
    }

    fn word_7(&self) -> u32 {
        let first = self.numbered >> self.entries_log2 & 1 == 0;
        self.numbered | u32::from(first) << 31
    }
}

fn write(queue: usize, value: u32) -> CqWrite {
    CqWrite {
        queue: (queue as u64).into(),
        value: u64::from(value).into(),
        ..CqWrite::default()
    }
}

/// A new size: the queue is empty from then on. The number follows within two cycles.
fn set_up(uut: &mut Simulation<CompletionQueues>, queue: usize, entries_log2: u32) -> Queue {
    for (value, size) in [(0, false), (entries_log2, true)] {
        uut.cq_write.next = CqWrite {
            entries_log2: size,
            consumer: !size,
            ..write(queue, value)
        };
        uut.tick();
        uut.cq_write.next = CqWrite::default();
        uut.ticks(3);
    }
    Queue {
        entries_log2,
        ..Queue::default()
    }
}

/// A record from cycle 2 on: is there room? Word 7, if the record takes the room.
fn record(uut: &mut Simulation<CompletionQueues>, queue: usize, takes: bool) -> Option<u32> {
    uut.cq.next = (queue as u64).into();
    let wait = uut.random.below(5) as usize;
    uut.ticks(2 + wait);
    let full = uut.full.val();
    uut.decide.next = true;
    uut.tick();
    uut.decide.next = false;
    // The next record is in front.
    uut.cq.next = uut.random.below(16).into();
    let numbers = takes && !full;
    (uut.numbers.next, uut.loses.next) = (numbers, takes && full);
    uut.settle();
    assert_eq!(uut.entry_queue.val(), queue as u64);
    let word = uut.word_7.val().to_u32();
    uut.tick();
    (uut.numbers.next, uut.loses.next) = (false, false);
    let report = uut.cq_report.val();
    assert_eq!((report.numbered, report.lost), (numbers, takes && full));
    if takes {
        assert_eq!(report.queue, queue as u64);
    }
    if numbers {
        assert_eq!(report.entries, u64::from((word & !(1 << 31)) + 1));
    }
    (!full).then_some(word)
}

#[test]
fn entries_are_numbered_while_there_is_room() {
    let mut uut = simulate!(CompletionQueues::default());
    let mut queues = [Queue::default(); 16];
    let (mut numbered, mut refused) = (0, 0);
    for step in 0..4000 {
        let number = uut.random.below(16) as usize;
        match uut.random.below(40) {
            0 => {
                let entries_log2 = [0, 1, 1, 2, 3, 16][uut.random.below(6) as usize];
                queues[number] = set_up(&mut uut, number, entries_log2);
            }
            1..=12 => {
                let queue = &mut queues[number];
                let some = uut
                    .random
                    .below(u64::from(queue.numbered - queue.consumed) + 1);
                queue.consumed += some as u32;
                uut.cq_write.next = CqWrite {
                    consumer: true,
                    ..write(number, queue.consumed)
                };
                uut.tick();
                uut.cq_write.next = CqWrite::default();
                uut.tick();
            }
            _ => {
                let takes = uut.random.chance(7, 8);
                let queue = &mut queues[number];
                let expected = (!queue.is_full()).then(|| queue.word_7());
                let word = record(&mut uut, number, takes);
                assert_eq!(word, expected, "step {step}, queue {number}");
                numbered += u32::from(takes && word.is_some());
                refused += u32::from(word.is_none());
                queue.numbered += u32::from(takes && word.is_some());
            }
        }
    }
    assert!(numbered > 500 && refused > 500, "{numbered}, {refused}");
}

/// What the driver consumes while a record waits for its verdict makes room for it.
#[test]
fn a_record_that_waits_sees_the_driver_consume() {
    let mut uut = simulate!(CompletionQueues::default());
    set_up(&mut uut, 9, 1);
    for number in [0, 1] {
        assert_eq!(record(&mut uut, 9, true), Some(1 << 31 | number));
    }
    assert_eq!(record(&mut uut, 9, false), None);
    uut.cq.next = 9u64.into();
    uut.ticks(5);
    assert!(uut.full.val());
    uut.cq_write.next = CqWrite {
        consumer: true,
        ..write(9, 1)
    };
    uut.tick();
    uut.cq_write.next = CqWrite::default();
    uut.ticks(2);
    assert!(!uut.full.val());
    assert_eq!(record(&mut uut, 9, true), Some(2), "the phase has turned");
}

/// Numbers and consumer go on past 2^17, the bits that are compared.
#[test]
fn the_largest_queue_wraps() {
    let mut uut = simulate!(CompletionQueues::default());
    let mut queue = set_up(&mut uut, 3, 16);
    for _ in 0..(1 << 17) + 5 {
        assert!(!queue.is_full());
        uut.numbers.next = false;
        uut.cq.next = 3u64.into();
        uut.ticks(2);
        assert!(!uut.full.val());
        uut.pulse(|uut| &mut uut.decide);
        assert_eq!(uut.word_7.val(), u64::from(queue.word_7()));
        uut.pulse(|uut| &mut uut.numbers);
        queue.numbered += 1;
        if queue.numbered % (1 << 15) == 0 {
            queue.consumed = queue.numbered - 3;
            uut.cq_write.next = CqWrite {
                consumer: true,
                ..write(3, queue.consumed)
            };
            uut.tick();
            uut.cq_write.next = CqWrite::default();
        }
    }
}

#[test]
fn completion_queues_agree_with_their_verilog() {
    let draw = |random: &mut Random| {
        let which = random.below(8);
        CqWrite {
            queue: random.wide(),
            value: random.below(17).into(),
            base_low: which == 0,
            base_high: which == 1,
            entries_log2: which == 2,
            consumer: which == 3,
        }
    };
    lockstep!(
        "completion_queues",
        CompletionQueues::default(),
        3000,
        |uut, random| {
            uut.cq_write.next = draw(random);
            uut.cq.next = random.wide();
            uut.decide.next = random.chance(1, 2);
            uut.numbers.next = random.chance(1, 3);
            uut.loses.next = !uut.numbers.next && random.chance(1, 6);
        }
    );
}
