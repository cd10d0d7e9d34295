//! Gaps between FPDUs, and room for the record of each.
use crate::receive::fpdu::FpduGate;
use rnic_hdl_tools::testkit::{simulate, Random};

#[test]
fn three_idle_cycles_and_no_fpdu_without_record_room() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(FpduGate::default());
    let (mut since_last, mut inside, mut passed) = (3, false, 0);
    let (mut offered, mut last, mut crowded_before, mut room_before) = (false, false, true, false);
    for cycle in 0..20_000 {
        if !offered && random.chance(5, 8) {
            (offered, last) = (true, random.chance(1, 3));
        }
        uut.valid.next = offered;
        uut.last.next = last;
        uut.crowded.next = random.chance(1, 8);
        uut.record_room.next = random.chance(5, 8);
        uut.settle();
        let open = uut.open.val();
        let must = since_last >= 3 && !crowded_before && (inside || room_before) && cycle > 0;
        assert_eq!(open, must);
        (crowded_before, room_before) = (uut.crowded.next, uut.record_room.next);
        since_last += 1;
        if open && offered {
            (inside, offered) = (!last, false);
            since_last = if last { 0 } else { since_last };
            passed += 1;
        }
        uut.tick();
    }
    assert!(passed > 2000, "only {passed} beats in 20000 cycles");
}
