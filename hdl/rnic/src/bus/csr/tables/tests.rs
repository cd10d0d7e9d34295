//! Operations of the table bus: each done once and answered once.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};

/// A register file and a room at both ends, each as slow as `random` has it: every operation
/// reaches the room once, and its answer comes back once.
#[test]
fn each_operation_is_done_once_and_answered_once() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(TableRelay::default());
    let (mut asked, mut done, mut answered) = (0u64, 0u64, 0u64);
    let (mut stands, mut pause) = (false, 1);
    for _ in 0..4000 {
        if !stands && pause == 0 {
            stands = true;
            asked += 1;
        }
        uut.valid.next = stands;
        uut.request.next = TableRequest {
            index: (asked & 0xffff).into(),
            ..Default::default()
        };
        uut.settle();
        let does = uut.room_valid.val() && random.chance(1, 4);
        if does {
            done += 1;
            assert_eq!(uut.room_request.val().index.to_u64(), done);
            assert_eq!(done, asked);
        }
        uut.room_done.next = does;
        uut.room_data.next = if does { done.into() } else { 0u64.into() };
        uut.settle();
        pause = if stands {
            1 + random.below(3)
        } else {
            pause.saturating_sub(1)
        };
        if uut.done.val() {
            answered += 1;
            assert_eq!(uut.data.val(), answered);
            stands = false;
        } else {
            assert_eq!(uut.data.val(), 0u64);
        }
        uut.tick();
    }
    assert!(answered > 200, "only {answered} operations");
    assert!(asked - answered <= 1);
}

/// In reset, and for a cycle after it, the room sees zero data, and every index once in 65,536
/// cycles; an operation that waits reaches it after that.
#[test]
fn reset_counts_indices_with_zero_data() {
    let mut uut = simulate!(TableRelay::default());
    uut.request.next = TableRequest {
        index: 7u64.into(),
        data: u64::MAX.into(),
        ..Default::default()
    };
    uut.valid.next = true;
    uut.ticks(3);
    assert!(uut.room_valid.val());
    uut.reset.next = true;
    uut.tick();
    let first = uut.room_request.val().index.to_u64();
    for cycle in 0..5_000 {
        let shown = uut.room_request.val();
        assert!(!uut.room_valid.val());
        assert_eq!(shown.index.to_u64(), (first + cycle) & 0xffff);
        assert_eq!(shown.data, 0u64);
        uut.tick();
    }
    uut.reset.next = false;
    uut.settle();
    assert_eq!(uut.room_request.val().data, 0u64);
    uut.tick();
    assert!(uut.room_valid.val());
    assert_eq!(uut.room_request.val().index, 7u64);
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("table_relay", TableRelay::default(), 3000, |uut, random| {
        uut.reset.next = random.chance(1, 200);
        uut.valid.next = random.chance(3, 4);
        uut.request.next = TableRequest {
            index: random.wide(),
            data: random.wide(),
            ..Default::default()
        };
        uut.room_done.next = random.chance(1, 5);
        uut.room_data.next = random.wide();
    });
}
