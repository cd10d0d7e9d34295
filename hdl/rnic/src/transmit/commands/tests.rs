//! Every command leaves once, those of a frame together, and its order says what it is for.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle};
use std::collections::VecDeque;

/// A command whose address says where it came from.
fn command(source: u64, number: u64, more: bool) -> ReadCommand {
    ReadCommand {
        address: (source << 32 | number).into(),
        octets: (1 + number % 9000).into(),
        more,
        cookie: 0u64.into(),
    }
}

#[test]
fn commands_leave_in_whole_reads() {
    let mut next = [0u64; 3];
    let mut rest = 0;
    let mut expected: VecDeque<ReadCommand> = VecDeque::new();
    let mut orders: VecDeque<u64> = VecDeque::new();
    let (mut inside, mut left) = (false, [0u64; 3]);
    lockstep!("commands", Commands::default(), 4000, |uut, random| {
        uut.control.next = command(0, next[0], false);
        uut.bulk.next = command(1, next[1], false);
        uut.frame.next = command(2, next[2], rest > 0);
        // Reads of units may be withdrawn.
        uut.control_valid.next = random.chance(1, 6);
        uut.bulk_valid.next = random.chance(1, 6);
        uut.frame_valid.next = random.chance(3, 4);
        uut.order_room.next = random.chance(7, 8);
        uut.read_command_ready.next = random.chance(2, 3);
        settle(uut);
        if uut.read_command_valid.val() && uut.read_command_ready.next {
            let command = uut.read_command.val();
            assert_eq!(Some(command), expected.pop_front());
            let source = command.address.to_u64() >> 32;
            if !inside {
                assert_eq!(orders.pop_front(), Some(source));
            }
            inside = command.more;
            left[source as usize] += 1;
        }
        let ready = [
            uut.control_ready.val(),
            uut.bulk_ready.val(),
            uut.frame_ready.val(),
        ];
        let valid = [
            uut.control_valid.next,
            uut.bulk_valid.next,
            uut.frame_valid.next,
        ];
        assert!(
            (0..3)
                .filter(|source| valid[*source] && ready[*source])
                .count()
                <= 1
        );
        if uut.order_valid.val() {
            assert!(uut.order_room.next);
            let order = uut.order.val();
            orders.push_back(if order.units {
                u64::from(order.ring)
            } else {
                2
            });
        }
        for source in 0..3 {
            if valid[source] && ready[source] {
                let more = source == 2 && rest > 0;
                expected.push_back(command(source as u64, next[source], more));
                next[source] += 1;
                if source == 2 {
                    rest = if rest > 0 { rest - 1 } else { random.below(4) };
                }
            }
        }
    });
    assert!(left.iter().all(|count| *count > 100), "{left:?}");
}
