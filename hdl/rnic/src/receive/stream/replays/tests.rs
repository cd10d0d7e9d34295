//! Orders of replay: no delivery passes its record.
use super::*;
use crate::messages::ReplayKind;
use rnic_hdl_tools::testkit::lockstep;
use std::collections::VecDeque;

/// No delivery passes a record begun before it; no order is lost, and each kind keeps its
/// order.
#[test]
fn lockstep_with_verilog_and_no_delivery_passes_a_record() {
    let (mut begun, mut passed, mut cycle) = (0u64, 0u64, 0);
    let mut orders: VecDeque<(Replay, u64)> = VecDeque::new();
    let mut forgets: VecDeque<Bits<9>> = VecDeque::new();
    let mut done = [0; 3];
    let uut = ReplayQueue::default();
    lockstep!("replay_queue", uut, 8000, |uut, random| {
        uut.reset.next = cycle == 0;
        cycle += 1;
        uut.replay_ready.next = cycle > 2 && random.chance(1, 2);
        if uut.replay_valid.val() && uut.replay_ready.next {
            let replay = uut.replay.val();
            done[replay.kind as usize] += 1;
            if replay.kind == ReplayKind::Forget {
                assert_eq!(Some(replay.span), forgets.pop_front());
            } else {
                let (order, target) = orders.pop_front().expect("an order");
                assert_eq!(replay, order);
                assert!(passed >= target, "{passed} of {target}");
            }
        }
        uut.passed.next = begun > passed && random.chance(1, 3);
        passed += u64::from(uut.passed.next);
        uut.begun.next = cycle > 2 && begun < passed + 20 && random.chance(1, 3);
        uut.order_valid.next = cycle > 2 && orders.len() < JOBS_OUT_MAX && random.chance(1, 6);
        let kinds = [ReplayKind::Deliver, ReplayKind::Fault, ReplayKind::Forget];
        let choice = random.below(if uut.forget_room.val() { 3 } else { 2 });
        uut.order.next = Replay {
            kind: kinds[choice as usize],
            connection: random.wide(),
            span: random.wide(),
            sequence: random.wide(),
        };
        if uut.order_valid.next {
            match uut.order.next.kind {
                ReplayKind::Forget => forgets.push_back(uut.order.next.span),
                _ => orders.push_back((uut.order.next, begun)),
            }
        }
        begun += u64::from(uut.begun.next);
    });
    assert!(done.iter().all(|count| *count > 100), "{done:?}");
}
