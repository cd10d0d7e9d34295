//! Record queue: it never overflows, and replays never starve.
use super::super::*;
use crate::messages::FpduKind;
use rnic_hdl_tools::testkit::{simulate, Random};
use std::collections::VecDeque;

/// A reader of one record per 6 cycles or fewer, MPA with records in `record_of_8` of eight
/// cycles while `record_room` allows it, and a replay with a record in every cycle. Returns the
/// records of MPA and of the replay that entered, and the longest wait of the replay.
fn walk(record_of_8: u64, leave_of_8: u64) -> (u64, u64, u64) {
    let mut random = Random::from_environment();
    let mut uut = simulate!(RecordQueue::default());
    let mut model = VecDeque::new();
    let (mut brought, mut replayed, mut waited, mut longest) = (0, 0, 0, 0);
    let (mut beyond_room, mut since_leave) = (0, 0);
    for number in 0..6000u64 {
        if uut.record_room.val() {
            beyond_room = 0;
        }
        let comes = beyond_room < 2 && random.chance(record_of_8, 8);
        beyond_room += u64::from(comes);
        since_leave += 1;
        let leaves = uut.head_valid.val() && since_leave >= 6 && random.chance(leave_of_8, 8);
        uut.record_valid.next = comes;
        uut.record.next.kind = FpduKind::Normal;
        uut.record.next.sequence = number.into();
        uut.offered_valid.next = true;
        uut.offered.next.kind = FpduKind::Deliver;
        uut.offered.next.sequence = number.into();
        uut.leave.next = leaves;
        uut.settle();
        if leaves {
            let head = uut.head.val();
            let seen = Some((head.kind, head.sequence.to_u64()));
            assert_eq!(seen, model.pop_front());
            assert_eq!(uut.head_judged.val(), head.kind == FpduKind::Normal);
            since_leave = 0;
        }
        waited += 1;
        if uut.offered_taken.val() {
            assert!(!comes, "MPA's record would be lost");
            model.push_back((FpduKind::Deliver, number));
            (replayed, longest, waited) = (replayed + 1, longest.max(waited), 0);
        }
        if comes {
            assert!(!uut.queue.full.val(), "there was to be room");
            model.push_back((FpduKind::Normal, number));
            brought += 1;
        }
        uut.tick();
    }
    (brought, replayed, longest)
}

#[test]
fn fifo_never_overflows_and_replay_never_starves() {
    for record_of_8 in [0, 1, 4, 8] {
        for leave_of_8 in [2, 8] {
            let (brought, replayed, longest) = walk(record_of_8, leave_of_8);
            let context = format!("{brought} of MPA, {replayed} replayed, waited {longest}");
            assert!(replayed > 300, "{context}");
            // The FIFO fills to 15, and two records leave before one may enter.
            let most = if leave_of_8 == 8 { 15 + 2 * 6 } else { 150 };
            assert!(longest <= most, "{context}");
            assert!(brought > 0 || record_of_8 == 0, "{context}");
        }
    }
}
