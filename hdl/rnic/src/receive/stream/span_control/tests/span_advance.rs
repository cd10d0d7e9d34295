//! Spans at the end of a gap: each is taken over or refused.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, Random};

fn context(random: &mut Random) -> StreamContext {
    StreamContext {
        active: random.chance(7, 8),
        stopped: random.chance(1, 8),
        busy: random.chance(1, 4),
        has_next: random.chance(3, 4),
        placed: random.chance(1, 2),
        ..StreamContext::default()
    }
}

/// `step` counts the cycles of a span; each output follows from it and from the contexts.
#[test]
fn mpa_055_lockstep_with_verilog_and_each_span_is_taken_over_or_refused() {
    let (mut step, mut seen, mut going) = (0, [0usize; 6], false);
    let uut = SpanAdvance::default();
    lockstep!("span_advance", uut, 20_000, |uut, random| {
        if step == 0 {
            uut.go.next = going || random.chance(1, 2);
            uut.current.next = context(random);
            uut.popped.next = context(random);
            uut.was_empty.next = random.chance(1, 2);
            uut.complete.next = random.chance(1, 2);
        }
        settle(uut);
        let (current, popped) = (uut.current.next, uut.popped.next);
        let ready = current.active && !current.stopped && !current.busy && current.has_next;
        let fault = popped.placed && !uut.was_empty.next;
        let joins = step == 10;
        let goes_on = popped.has_next && !popped.placed && !uut.complete.next;
        let done = match step {
            4 => !ready,
            8 => popped.busy,
            9 => fault,
            10 => !goes_on,
            _ => false,
        };
        assert_eq!(uut.load.val(), step == 3 || (step == 9 && !fault));
        assert_eq!(uut.aims.val(), step == 4);
        assert_eq!(uut.keep_popped.val(), step == 7);
        assert_eq!(uut.fault.val(), step == 9 && fault);
        assert_eq!(uut.joins.val(), joins);
        assert_eq!(uut.advancing.val(), joins || (step == 9 && !fault));
        assert_eq!(uut.writes.val(), joins || uut.fault.val());
        assert_eq!(uut.delivers.val(), joins && popped.placed);
        assert_eq!(uut.frees.val(), joins && !popped.placed);
        assert_eq!(uut.sends.val(), uut.frees.val() && uut.complete.next);
        assert_eq!(uut.done.val(), done, "step {step}");
        let ways = [
            step == 4 && done,
            step == 8 && done,
            uut.fault.val(),
            uut.delivers.val(),
            uut.frees.val(),
            joins && goes_on,
        ];
        for (seen, way) in seen.iter_mut().zip(ways) {
            *seen += usize::from(way);
        }
        going = uut.go.next && !done;
        step = match going && !joins {
            true => step + 1,
            false => 0,
        };
    });
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}
