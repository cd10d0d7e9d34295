//! Pieces of segments against plain integers, on both sides of the wrap.
use super::*;
use rnic_hdl_tools::testkit::lockstep;

/// Small distances, so that every two ends meet often; rcv_nxt on both sides of the wrap.
#[test]
fn matches_plain_integers() {
    let (mut cycle, mut values) = (0, [0i64; 6]);
    let mut seen = [0usize; 5];
    let uut = RangeCompare::default();
    lockstep!("piece_measure", uut, 16_000, |uut, random| {
        // A range in cycle 0 of four, its answer in cycle 2; `measure` is low in between,
        // while the range's ports change.
        uut.measure.next = cycle % 4 == 0;
        let mut range = OutOfOrderRange {
            left: random.wide(),
            right: random.wide(),
            ..OutOfOrderRange::default()
        };
        if cycle % 4 == 0 {
            let far = if random.chance(1, 2) { 12 } else { 9000 };
            let base = [0, (1 << 30) - far][random.below(2) as usize];
            let near = |random: &mut rnic_hdl_tools::testkit::Random| {
                (base + random.below(far as u64) as i64).max(0)
            };
            let left = near(random) + 1;
            let right = left + 1 + random.below(far as u64) as i64;
            let cursor = near(random);
            let edge = cursor + 1 + random.below(far as u64) as i64;
            let rcv_nxt = i64::from(random.bits() as u32);
            let origin = random.below(1 << 14) as i64;
            values = [left, right, cursor, edge, rcv_nxt, origin];
            range.left = ((rcv_nxt + left) as u32 as u64).into();
            range.right = ((rcv_nxt + right) as u32 as u64).into();
            uut.rcv_nxt.next = (rcv_nxt as u64).into();
            uut.cursor.next = (cursor as u64).into();
            uut.edge_distance.next = (edge as u64).into();
            uut.origin.next = (origin as u64).into();
        }
        uut.range.next = range;
        if cycle % 4 == 2 {
            let [left, right, cursor, edge, _, origin] = values;
            let context = format!("{values:?}");
            let flags = [
                (uut.behind.val(), right < cursor),
                (uut.beyond.val(), left > edge),
                (uut.gap.val(), left > cursor),
                (uut.ends_inside.val(), right < edge),
                (uut.overlaps.val(), left < edge && right != cursor),
            ];
            for (place, (flag, expected)) in flags.into_iter().enumerate() {
                assert_eq!(flag, expected, "flag {place}, {context}");
                seen[place] += usize::from(flag);
            }
            assert_eq!(uut.range_end.val(), right as u64, "{context}");
            let low = |value: i64| value as u64 % (1 << 14);
            assert_eq!(uut.octets.val(), low(left - cursor), "{context}");
            assert_eq!(uut.tail_octets.val(), low(edge - cursor), "{context}");
            assert_eq!(uut.offset.val(), low(origin + cursor), "{context}");
            let [.., rcv_nxt, _] = values;
            let sequence = (rcv_nxt + cursor) as u32;
            assert_eq!(uut.cursor_number.val(), u64::from(sequence), "{context}");
        }
        cycle += 1;
    });
    assert!(
        seen.iter().all(|flag| (200..3800).contains(flag)),
        "{seen:?}"
    );
}
