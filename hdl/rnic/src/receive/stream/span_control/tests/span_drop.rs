//! Each span of a dropped range is freed once.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, settle};

/// Ranges of one to four spans, numbered by position: each span is dropped once, in order,
/// and one with a job out waits for its end.
#[test]
fn lockstep_with_verilog_and_each_span_is_dropped_once() {
    let (mut left, mut number, mut step, mut job_out) = (0, 0u64, 0, false);
    let (mut busy, mut gone, mut waited, mut queued) = (false, 0usize, 0usize, 0usize);
    lockstep!("span_drop", SpanDrop::default(), 20_000, |uut, random| {
        (uut.begins.next, uut.job_ended.next) = (false, false);
        uut.forget_room.next = random.chance(3, 4);
        uut.consumed.next = random.chance(1, 2);
        if step == 0 {
            if left == 0 && random.chance(1, 4) {
                (left, number) = (1 + random.below(4), random.below(400));
                uut.begins.next = true;
                uut.first.next = number.into();
            } else {
                uut.job_ended.next = random.chance(1, 4);
            }
            uut.go.next = uut.due.val() && !uut.begins.next && random.chance(1, 2);
            busy = random.chance(1, 4);
            uut.current.next.busy = busy;
            uut.current.next.placed = random.chance(1, 2);
            uut.current.next.has_next = left > 1;
            uut.current.next.next_span = (number + 1).into();
            uut.was_empty.next = random.chance(1, 2);
        }
        settle(uut);
        let pending = left > 0 && !uut.begins.next;
        assert_eq!(uut.pending.val(), pending);
        let due = pending && !job_out && uut.forget_room.next;
        assert_eq!(uut.due.val(), due);
        // The choice was made on what stood there in the cycle's beginning.
        uut.go.next &= step > 0 || due;
        settle(uut);
        if pending {
            assert_eq!(uut.span.val(), number);
        }
        assert_eq!(uut.load.val(), step == 2);
        assert!(!(uut.frees.val() && uut.forgets.val()));
        queued += usize::from(uut.purge.val());
        if uut.job_ended.next {
            job_out = false;
        }
        if uut.frees.val() || uut.forgets.val() {
            assert_eq!(uut.forgets.val(), uut.current.next.placed);
            assert!(uut.done.val() && !busy && step >= 4);
            (left, number, gone) = (left - 1, number + 1, gone + 1);
        } else if uut.done.val() {
            assert!(busy && step == 3);
            (job_out, waited) = (true, waited + 1);
        }
        step = match uut.go.next && !uut.done.val() {
            true => step + 1,
            false => 0,
        };
    });
    let seen = [gone, waited, queued];
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}
