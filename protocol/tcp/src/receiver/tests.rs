use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FIRST: SeqNumber = SeqNumber(u32::MAX - 20);

fn receiver(capacity: u32) -> Receiver {
    let mut receiver = Receiver::new(FIRST, capacity, 0);
    receiver.announce(0);
    receiver
}

fn read_all(receiver: &mut Receiver) -> Vec<u8> {
    let mut octets = vec![0; 1 + receiver.readable_octets()];
    let count = receiver.read(&mut octets);
    octets.truncate(count);
    octets
}

/// TCP-006: RFC 9293 section 3.4, table 6, at every edge.
#[test]
fn acceptability_is_that_of_the_table() {
    let open = receiver(100);
    for (offset, octets, acceptable) in [
        (0, 0, true),
        (99, 0, true),
        (100, 0, false),
        (-1, 0, false),
        (-1, 1, false),
        (-1, 2, true),
        (0, 1, true),
        (99, 1, true),
        (100, 1, false),
        (99, 50, true),
        (i32::MIN, 1, false),
    ] {
        let seq = SeqNumber(FIRST.0.wrapping_add_signed(offset));
        assert_eq!(
            open.is_acceptable(seq, octets),
            acceptable,
            "{offset} {octets}"
        );
    }
    let mut closed = receiver(4);
    closed.on_octets(FIRST, &[1, 2, 3, 4]);
    closed.announce(0);
    let next = FIRST + 4;
    assert_eq!(closed.window_octets(), 0);
    assert!(closed.is_acceptable(next, 0) && !closed.is_acceptable(next, 1));
    assert!(!closed.is_acceptable(next + 1, 0) && !closed.is_acceptable(next - 1, 0));
}

/// Of overlapping segments the octets that came first, whatever the order, with a model of one
/// cell an octet; the buffer wraps many times.
#[test]
fn random_segments_give_the_stream_of_first_copies() {
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let capacity = random.random_range(1..=64);
        let mut receiver = receiver(capacity);
        let mut cells: Vec<Option<u8>> = Vec::new();
        let (mut read, mut edge) = (0usize, capacity as usize);
        for step in 0..3_000u32 {
            let begin = read + random.random_range(0..capacity as usize + 4);
            let begin = begin.saturating_sub(random.random_range(0..8));
            let octets: Vec<u8> = (0..random.random_range(1..20))
                .map(|_| random.random())
                .collect();
            let before = receiver.next();
            let ranges = receiver.ranges().as_slice().len();
            let arrival = receiver.on_octets(FIRST + begin as u32, &octets);
            if arrival != Arrival::Nothing {
                for (index, &octet) in octets.iter().enumerate() {
                    let at = begin + index;
                    if at < edge && at >= read {
                        cells.resize(cells.len().max(at + 1), None);
                        cells[at].get_or_insert(octet);
                    }
                }
            }
            let whole = cells.iter().take_while(|cell| cell.is_some()).count();
            let what = format!("seed {seed}, step {step}");
            assert_eq!(receiver.next(), FIRST + whole as u32, "{what}");
            let moved = receiver.next() != before;
            assert_eq!(moved, matches!(arrival, Arrival::InOrder { .. }), "{what}");
            if let Arrival::InOrder { filled_gap } = arrival {
                assert_eq!(filled_gap, ranges > 0, "{what}");
            }
            if random.random_ratio(1, 4) {
                let mut into = vec![0; random.random_range(0..40)];
                let count = receiver.read(&mut into);
                let expected: Vec<u8> = cells[read..read + count]
                    .iter()
                    .flatten()
                    .copied()
                    .collect();
                assert_eq!(into[..count], expected, "{what}");
                assert_eq!(count, into.len().min(whole - read), "{what}");
                read += count;
                let window = receiver.announce(0);
                let end = whole + usize::from(window);
                assert!(end >= edge && end <= read + capacity as usize, "{what}");
                edge = end;
            }
        }
        assert!(
            read > 10 * capacity as usize,
            "the buffer wrapped: {read} {capacity}"
        );
    }
}

/// START-042, rule 1: octets beyond the limit are forgotten, and neither kept nor acknowledged.
#[test]
fn octets_beyond_the_limit_are_forgotten_and_come_again() {
    let mut receiver = receiver(1_000);
    receiver.on_octets(FIRST, &[1; 30]);
    receiver.on_octets(FIRST + 40, &[2; 10]);
    let mut head = [0; 20];
    assert_eq!(receiver.read(&mut head), 20);
    assert_eq!(receiver.limit(5), Ok(()));
    assert_eq!(receiver.ack(), FIRST + 25);
    assert!(receiver.ranges().is_empty());
    assert_eq!(receiver.on_octets(FIRST + 25, &[3; 10]), Arrival::Nothing);
    assert_eq!(receiver.on_octets(FIRST + 20, &[3; 10]), Arrival::Nothing);
    let refused = receiver.hand_over(500);
    let (at, switch) = (FIRST + 20, FIRST + 25);
    assert_eq!(refused, Err(HandoverError::NotThere { at, switch }));
    assert_eq!(read_all(&mut receiver), [1; 5]);
    assert_eq!(receiver.hand_over(500), Ok(FIRST + 25));
    assert_eq!(
        receiver.device_window(),
        Some(975),
        "no less than was announced"
    );
    assert_eq!(receiver.readable_octets(), 0);
    receiver.remove_limit();
    assert_eq!(receiver.on_octets(FIRST + 25, &[3; 10]), Arrival::Nothing);
}

#[test]
fn the_limit_can_go_only_where_nothing_was_acknowledged() {
    let mut receiver = receiver(1_000);
    receiver.on_octets(FIRST, &[1; 30]);
    receiver.announce(0);
    receiver.on_octets(FIRST + 30, &[1; 10]);
    let refused = receiver.limit(29);
    assert!(
        matches!(refused, Err(HandoverError::Acknowledged { .. })),
        "{refused:?}"
    );
    assert_eq!(receiver.next(), FIRST + 40, "nothing was changed");
    assert_eq!(receiver.limit(30), Ok(()));
    receiver.remove_limit();
    assert_eq!(
        receiver.on_octets(FIRST + 30, &[2; 5]),
        Arrival::InOrder { filled_gap: false }
    );
    assert_eq!(read_all(&mut receiver).len(), 35);
}

/// TCP-042: RFC 7323 section 2.4: rounded up while the buffer has room for that, otherwise down by
/// less than a unit.
#[test]
fn a_scaled_window_moves_left_by_less_than_a_unit() {
    let mut receiver = Receiver::new(FIRST, 1_000, 7);
    assert_eq!(receiver.announce(7), 7, "896 of 1,000");
    receiver.on_octets(FIRST, &[0; 10]);
    assert_eq!(receiver.announce(7), 7, "an edge at 906");
    receiver.on_octets(FIRST + 10, &[0; 1]);
    assert_eq!(receiver.announce(7), 7);
    receiver.on_octets(FIRST + 11, &[0; 127]);
    assert_eq!(
        receiver.announce(7),
        6,
        "906: 7 would end beyond the buffer"
    );
    assert_eq!(
        receiver.window_octets(),
        907 - 138,
        "what was promised stays acceptable"
    );
}
