//! The ring over a device that is written from the same layout, and over one that reports nonsense.
use super::*;
use crate::device::error::FrameError;
use crate::testing::memory::{Access, Memory};
use crate::testing::transmit::Fate;
use crate::testing::Tables;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::transmit_ring::UNITS_LOG2_MIN;

const BULK: TransmitRing = TransmitRing::Bulk;

/// A bulk ring of 16 units, which the device knows.
fn ring() -> (UnitRing, Tables, Memory) {
    let (mut memory, mut bar) = (Memory::new(1), Tables::default());
    let ring = UnitRing::allocate(&mut memory, BULK, UNITS_LOG2_MIN).expect("one allocation");
    ring.program(&mut bar).expect("the device is there");
    (ring, bar, memory)
}

/// A frame of two units.
fn frame<'a>(pieces: &'a [Piece<'a>], cookie: u64) -> TransmitFrame<'a> {
    TransmitFrame {
        pieces,
        checksum: None,
        crc: None,
        cookie,
    }
}

/// Stage a frame and tell the device.
fn push(
    ring: &mut UnitRing,
    bar: &mut impl Registers,
    memory: &mut Memory,
    frame: &TransmitFrame,
) -> Result<(), DriverError> {
    ring.stage(memory, frame)?;
    ring.announce(bar)
}

const HEADER: [Piece; 1] = [Piece::Octets(&[0x5a; 60])];

fn result(cookie: u64, result: TransmitResult) -> Transmitted {
    Transmitted {
        ring: BULK,
        cookie,
        result,
    }
}

/// All that the device wrote becomes visible.
fn see_all(memory: &Memory) {
    while !memory.pending.borrow().is_empty() {
        memory.read_u32_acquire(0);
    }
}

/// Frames of any pieces in any order of calls, announced one by one or several together, each with
/// the result that the device gave it, while the device's doublewords become visible one by one.
#[test]
fn every_frame_has_its_octets_and_one_result_in_order() {
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut ring, mut bar, mut memory) = ring();
        let mut waiting: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
        let mut staged = VecDeque::new();
        let mut expected: VecDeque<Transmitted> = VecDeque::new();
        let (mut cookie, mut full) = (0, 0);
        for _ in 0..4000 {
            match random.random_range(0..3) {
                0 => {
                    let (pieces, octets) = draw_pieces(&mut random, &mut memory);
                    let pieces: Vec<Piece> = pieces.iter().map(Drawn::piece).collect();
                    match ring.stage(&mut memory, &frame(&pieces, cookie)) {
                        Ok(()) => staged.push_back((cookie, octets)),
                        Err(DriverError::TransmitFull { .. }) => full += 1,
                        Err(error) => panic!("seed {seed}: {error}"),
                    }
                    cookie += 1;
                    assert_eq!(ring.staged(), staged.len());
                    if random.random_bool(0.4) || staged.len() > 3 {
                        ring.announce(&mut bar).expect("it is there");
                        waiting.append(&mut staged);
                    }
                }
                1 if !waiting.is_empty() => {
                    let (cookie, octets) = waiting.pop_front().expect("it has some");
                    let (fate, what) = match random.random_range(0..4) {
                        0 => (Fate::GivenUp(1), TransmitResult::Refused),
                        1 => (Fate::GivenUp(2), TransmitResult::ReadFailed),
                        _ => (Fate::Sent, TransmitResult::Sent),
                    };
                    let sent = bar.transmit.step(&memory, BULK, fate);
                    let is_sent = fate == Fate::Sent;
                    assert_eq!(sent, is_sent.then_some(octets), "seed {seed}");
                    expected.push_back(result(cookie, what));
                }
                _ => {
                    let found = ring.poll(&memory).expect("reports can be believed");
                    if found.is_some() {
                        assert_eq!(found, expected.pop_front(), "seed {seed}");
                    }
                }
            }
        }
        see_all(&memory);
        while let Some(expected) = expected.pop_front() {
            assert_eq!(ring.poll(&memory), Ok(Some(expected)), "seed {seed}");
        }
        assert_eq!(ring.poll(&memory), Ok(None));
        assert!(cookie > 1000 && full > 50, "seed {seed}: {cookie} {full}");
    }
}

/// The user's memory, after that of the ring.
const USER: u64 = 0x40_0000;

/// A piece of a random frame.
enum Drawn {
    Memory(DmaBuffer),
    Octets(Vec<u8>),
}

impl Drawn {
    fn piece(&self) -> Piece<'_> {
        match self {
            Self::Memory(buffer) => Piece::Memory(*buffer),
            Self::Octets(octets) => Piece::Octets(octets),
        }
    }
}

/// Pieces, and what they hold together. All memory of the user holds one octet, so that a frame
/// which waits does not change.
fn draw_pieces(random: &mut ChaCha8Rng, memory: &mut Memory) -> (Vec<Drawn>, Vec<u8>) {
    let mut octets = Vec::new();
    let mut pieces = Vec::new();
    for _ in 0..random.random_range(1..=8) {
        let count = random.random_range(14..=1100);
        let copied: Vec<u8> = (0..count).map(|_| random.random()).collect();
        if random.random() {
            let address = USER + random.random_range(0..0x2000);
            memory.write(address, &vec![0xa5; count]);
            octets.extend(vec![0xa5; count]);
            pieces.push(Drawn::Memory(DmaBuffer {
                address,
                octets: count,
            }));
        } else {
            octets.extend(&copied);
            pieces.push(Drawn::Octets(copied));
        }
    }
    (pieces, octets)
}

/// The doorbell is the last thing that is written, and it is not written for a frame without room.
#[test]
fn a_frame_without_room_is_on_no_ring() {
    let (mut ring, mut bar, mut memory) = ring();
    for cookie in 0..8 {
        let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, cookie));
        assert_eq!(pushed, Ok(()));
    }
    let before = (memory.peek(0, 0x1_0000), bar.accesses);
    let full = Err(DriverError::TransmitFull { ring: BULK });
    assert_eq!(
        push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 8)),
        full
    );
    assert_eq!((memory.peek(0, 0x1_0000), bar.accesses), before);
    assert_eq!(bar.transmit.waiting(BULK), 16);
    // A result that was not polled keeps its units.
    bar.transmit.step(&memory, BULK, Fate::Sent);
    see_all(&memory);
    assert_eq!(
        push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 8)),
        full
    );
    let first = ring.poll(&memory);
    assert_eq!(first, Ok(Some(result(0, TransmitResult::Sent))));
    assert_eq!(
        push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 8)),
        Ok(())
    );
    let three_units = [HEADER[0]; 3];
    assert_eq!(
        push(&mut ring, &mut bar, &mut memory, &frame(&three_units, 9)),
        full
    );
}

#[test]
fn a_frame_whose_copies_have_no_room_is_on_no_ring() {
    let (mut ring, mut bar, mut memory) = ring();
    let octets = vec![0; 9216];
    let long = [Piece::Octets(&octets)];
    for cookie in 0..3 {
        let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&long, cookie));
        assert_eq!(pushed, Ok(()));
    }
    let full = Err(DriverError::TransmitFull { ring: BULK });
    assert_eq!(
        push(&mut ring, &mut bar, &mut memory, &frame(&long, 3)),
        full
    );
    assert_eq!(bar.transmit.waiting(BULK), 6);
}

#[test]
fn a_frame_that_the_device_would_refuse_is_on_no_ring() {
    let (mut ring, mut bar, mut memory) = ring();
    let refused = Err(DriverError::Frame(FrameError::Pieces { pieces: 0 }));
    let accesses = bar.accesses;
    assert_eq!(
        push(&mut ring, &mut bar, &mut memory, &frame(&[], 0)),
        refused
    );
    assert_eq!((bar.transmit.waiting(BULK), bar.accesses), (0, accesses));
}

/// The status is read after the head that passes it, and nothing is read again for frames that one
/// report passed.
#[test]
fn a_report_is_read_before_it_is_believed() {
    let (mut ring, mut bar, mut memory) = ring();
    for cookie in 0..2 {
        let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, cookie));
        assert_eq!(pushed, Ok(()));
        bar.transmit.fail(&memory, BULK);
    }
    see_all(&memory);
    memory.accesses.borrow_mut().clear();
    for cookie in 0..2 {
        let failed = result(cookie, TransmitResult::ReadFailed);
        assert_eq!(ring.poll(&memory), Ok(Some(failed)));
    }
    let (base, report) = (ring.buffer().address, ring.report());
    assert_eq!(
        *memory.accesses.borrow(),
        [
            Access::Acquire(report + 8),
            Access::Acquire(report),
            Access::Read(base + 28, 4),
            Access::Read(base + 64 + 28, 4),
        ]
    );
}

/// Heads that pass the tail, go back, or lie within a frame, and words that say nothing.
#[test]
fn a_report_that_cannot_be_true_is_not_believed() {
    let cases = [
        (8, 0, "the head", 8),
        (1, 0, "the head", 1),
        (u32::MAX, 0, "the head", u32::MAX),
        (0, 2, "the stop word", 2),
        (6, 3, "the stop word", 3),
    ];
    for (head, stopped, what, value) in cases {
        let (mut ring, mut bar, mut memory) = ring();
        for cookie in 0..3 {
            let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, cookie));
            assert_eq!(pushed, Ok(()));
        }
        bar.transmit.step(&memory, BULK, Fate::Sent);
        see_all(&memory);
        let first = ring.poll(&memory);
        assert_eq!(first, Ok(Some(result(0, TransmitResult::Sent))));
        let report = ring.report();
        memory.write(report, &u32::to_le_bytes(head));
        memory.write(report + 8, &u32::to_le_bytes(stopped));
        let error = || DriverError::TransmitReport {
            ring: BULK,
            what,
            value,
        };
        assert_eq!(ring.poll(&memory), Err(error()));
        // Whatever it says later.
        memory.write(report, &6u32.to_le_bytes());
        memory.write(report + 8, &0u32.to_le_bytes());
        assert_eq!(ring.poll(&memory), Err(error()));
        let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 3));
        assert_eq!(pushed, Err(error()));
        assert_eq!(ring.restart(&mut bar, &mut memory), Err(error()));
    }
}

#[test]
fn a_head_that_goes_back_is_not_believed() {
    let (mut ring, mut bar, mut memory) = ring();
    for cookie in 0..3 {
        let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, cookie));
        assert_eq!(pushed, Ok(()));
    }
    let report = ring.report();
    for (head, is_believed) in [(4u32, true), (2, false)] {
        memory.write(report, &head.to_le_bytes());
        assert_eq!(ring.poll(&memory).is_ok(), is_believed, "{head}");
        assert_eq!(ring.poll(&memory).is_ok(), is_believed, "{head}");
    }
}

#[test]
fn a_head_beyond_what_was_announced_is_not_believed() {
    let (mut ring, mut bar, mut memory) = ring();
    let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 0));
    assert_eq!(pushed, Ok(()));
    assert_eq!(ring.stage(&mut memory, &frame(&HEADER, 1)), Ok(()));
    let report = ring.report();
    for (head, is_believed) in [(2u32, true), (4, false)] {
        memory.write(report, &head.to_le_bytes());
        assert_eq!(ring.poll(&memory).is_ok(), is_believed, "{head}");
        assert_eq!(ring.poll(&memory).is_ok(), is_believed, "{head}");
    }
}

#[test]
fn a_status_that_does_not_exist_is_not_believed() {
    let (mut ring, mut bar, mut memory) = ring();
    let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 0));
    assert_eq!(pushed, Ok(()));
    bar.transmit.step(&memory, BULK, Fate::GivenUp(3));
    see_all(&memory);
    for _ in 0..2 {
        let found = ring.poll(&memory);
        assert!(
            matches!(found, Err(DriverError::TransmitReport { value: 3, .. })),
            "{found:?}"
        );
    }
}

/// The frames before the stop have the results that the device gave them, those after it are
/// given back, and the ring works again.
#[test]
fn a_stopped_ring_gives_frames_back_and_can_be_restarted() {
    for polled_first in [false, true] {
        let (mut ring, mut bar, mut memory) = ring();
        for cookie in 0..4 {
            let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, cookie));
            assert_eq!(pushed, Ok(()));
        }
        let running = Err(DriverError::TransmitRunning { ring: BULK });
        assert_eq!(ring.restart(&mut bar, &mut memory), running);
        for fate in [Fate::Sent, Fate::GivenUp(2), Fate::Stopped] {
            bar.transmit.step(&memory, BULK, fate);
        }
        see_all(&memory);
        let mut results = Vec::new();
        let mut poll = |ring: &mut UnitRing, memory: &Memory| {
            while let Some(result) = ring.poll(memory).expect("it can be believed") {
                results.push(result);
            }
        };
        if polled_first {
            poll(&mut ring, &memory);
            let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 4));
            assert_eq!(pushed, Err(DriverError::TransmitStopped { ring: BULK }));
        }
        assert_eq!(ring.restart(&mut bar, &mut memory), Ok(()));
        assert_eq!((bar.transmit.setups, bar.transmit.waiting(BULK)), (2, 0));
        let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, 5));
        assert_eq!(pushed, Ok(()));
        poll(&mut ring, &memory);
        let sent = bar.transmit.step(&memory, BULK, Fate::Sent);
        assert_eq!(sent, Some(vec![0x5a; 60]));
        see_all(&memory);
        poll(&mut ring, &memory);
        let expected = [
            (0, TransmitResult::Sent),
            (1, TransmitResult::ReadFailed),
            (2, TransmitResult::NotSent),
            (3, TransmitResult::NotSent),
            (5, TransmitResult::Sent),
        ];
        assert_eq!(results, expected.map(|(cookie, what)| result(cookie, what)));
    }
}

/// The words of a report become visible one by one: a stop is not seen without its head.
#[test]
fn a_stop_is_believed_with_its_head() {
    for seen in 0..12 {
        let (mut ring, mut bar, mut memory) = ring();
        for cookie in 0..2 {
            let pushed = push(&mut ring, &mut bar, &mut memory, &frame(&HEADER, cookie));
            assert_eq!(pushed, Ok(()));
        }
        bar.transmit.step(&memory, BULK, Fate::Sent);
        // One report says both.
        memory.pending.borrow_mut().clear();
        bar.transmit.step(&memory, BULK, Fate::Stopped);
        for _ in 0..seen {
            memory.read_u32_acquire(0);
        }
        let mut results = Vec::new();
        for _ in 0..12 {
            results.extend(ring.poll(&memory).expect("it can be believed"));
        }
        let expected = [(0, TransmitResult::Sent), (1, TransmitResult::NotSent)];
        assert_eq!(results, expected.map(|(cookie, what)| result(cookie, what)));
    }
}
