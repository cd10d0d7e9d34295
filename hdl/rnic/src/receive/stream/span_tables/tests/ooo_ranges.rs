//! Out-of-order ranges, in lockstep with Verilog and against a plain map.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};

fn random_message(random: &mut Random) -> Accepted {
    Accepted {
        has_left: random.chance(1, 2),
        left: random.below(6).into(),
        has_right: random.chance(1, 2),
        right: (6 + random.below(6)).into(),
        ..Accepted::default()
    }
}

/// The range that then holds these octets, and its number.
fn joined(ranges: &[RangeSpans], message: &Accepted, span: Bits<9>) -> (usize, RangeSpans) {
    let (left, right) = (message.left.index(), message.right.index());
    let new = RangeSpans {
        first: span,
        last: span,
    };
    let mut parts = vec![if message.has_left { ranges[left] } else { new }];
    if message.has_right {
        parts.push(ranges[right]);
    }
    let number = match (message.has_left, message.has_right) {
        (false, true) => right,
        _ => left,
    };
    let range = RangeSpans {
        first: parts[0].first,
        last: parts[parts.len() - 1].last,
    };
    (number, range)
}

#[test]
fn lockstep_with_verilog_and_ranges_join() {
    let mut ranges = vec![RangeSpans::default(); 12];
    let mut cycle = 0;
    lockstep!("ooo_ranges", RangeTable::default(), 7000, |uut, random| {
        let step = cycle % 7;
        if step == 0 {
            uut.arrived.next = random_message(random);
            uut.span.next = random.wide();
        }
        uut.fetch.next = step == 0;
        uut.load_right.next = step == 2;
        uut.load_left.next = step == 3;
        uut.write.next = step == 5;
        let message = uut.arrived.next;
        if step == 4 {
            let (left, right) = (message.left.index(), message.right.index());
            assert_eq!(uut.right_range.val(), ranges[right]);
            assert_eq!(uut.left_range.val(), ranges[left]);
        }
        if step == 5 {
            let (number, range) = joined(&ranges, &message, uut.span.next);
            ranges[number] = range;
        }
        cycle += 1;
    });
}
