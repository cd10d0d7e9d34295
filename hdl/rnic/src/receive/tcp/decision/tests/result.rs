//! Every verdict: its counter, and the fields it changes.
use super::super::*;
use rnic_hdl_tools::testkit::lockstep_combinational;

/// One counter per verdict, and `TcpTrimmed` if the segment is accepted in part.
#[test]
fn each_verdict_has_its_counter_and_fields() {
    check_verdicts(false);
}

/// The first FIN's place stands.
#[test]
fn each_verdict_has_its_counter_and_fields_after_a_fin() {
    check_verdicts(true);
}

fn context(fin: bool) -> TcpContext {
    TcpContext {
        rcv_nxt: 5u64.into(),
        answers: 255u64.into(),
        ranges: 3u64.into(),
        fin,
        fin_sequence: 0xf00d_u64.into(),
        ..TcpContext::default()
    }
}

fn check_verdicts(had_fin: bool) {
    let mut seen = [0usize; 7];
    let mut given: Option<(u64, bool, bool)> = None;
    let current = context(had_fin);
    let result = TcpContext {
        rcv_nxt: 9u64.into(),
        ranges: 2u64.into(),
        ..current
    };
    lockstep_combinational(
        "segment_outcome",
        SegmentResult::default(),
        4_000,
        |uut, random| {
            if let Some((verdict, walked, trimmed)) = given {
                seen[verdict as usize] += 1;
                let count = [
                    COUNT_IN_ORDER,
                    COUNT_IN_ORDER,
                    COUNT_DUPLICATE,
                    COUNT_OUT_OF_ORDER,
                    COUNT_OUTSIDE_WINDOW,
                    COUNT_NO_ROOM,
                    COUNT_NO_RANGE,
                ][verdict as usize];
                let also = u64::from(trimmed) << COUNT_TRIMMED;
                assert_eq!(uut.counts.val(), (1 << count) | also);
                assert_eq!(uut.verdict.val(), verdict);
                let updated = uut.updated.val();
                let queries = verdict >= 2;
                assert_eq!(
                    updated.answers,
                    if queries { 0u64 } else { 255 },
                    "{verdict}"
                );
                assert_eq!(updated.ranges, if walked { 2u64 } else { 3 });
                let next = match (walked, verdict) {
                    (true, _) => 9u64,
                    (false, 0 | 1) => 7,
                    _ => 5,
                };
                assert_eq!(updated.rcv_nxt, next);
                let whole = uut.to_the_end.val()
                    && matches!(verdict, 0 | 1 | 3)
                    && (!walked || uut.complete.val());
                let fin = (uut.fin.val() && whole) || current.fin;
                assert_eq!(updated.fin, fin, "{verdict}");
                if fin {
                    let place = if current.fin { 0xf00d } else { 7u64 };
                    assert_eq!(updated.fin_sequence, place, "{verdict}");
                }
                let kept = match uut.acknowledges.val() && verdict != 5 {
                    true => (uut.seg_ack.val(), uut.seg_wnd.val()),
                    false => (current.seg_ack, current.seg_wnd),
                };
                assert_eq!((updated.seg_ack, updated.seg_wnd), kept, "{verdict}");
            }
            let walked = random.chance(1, 2);
            let verdict = random.below(7);
            let verdict = match (walked, verdict) {
                (false, 3 | 6) => 2,
                (true, 4) => 3,
                (_, verdict) => verdict,
            };
            let ooo = walked && verdict >= 2;
            let refused = walked && matches!(verdict, 2 | 5 | 6);
            let trimmed = verdict == 1 || (verdict == 3 && random.chance(1, 2));
            uut.current.next = current;
            uut.result.next = result;
            uut.rcv_nxt_after.next = 7u64.into();
            uut.is_data.next = true;
            uut.acknowledges.next = random.chance(1, 2);
            uut.seg_ack.next = random.wide();
            uut.seg_wnd.next = random.wide();
            uut.fin.next = random.chance(1, 2);
            uut.to_the_end.next = random.chance(1, 2);
            uut.complete.next = random.chance(1, 2);
            uut.settle.next = walked;
            uut.walked.next = verdict.into();
            uut.judged.next = match (walked, verdict) {
                (true, _) => u64::from(ooo) * 3,
                // Memory is short, and the window is smaller for that.
                (false, 5) => 4,
                (false, verdict) => verdict,
            }
            .into();
            uut.limited.next = verdict == 5 || (verdict != 4 && random.chance(1, 4));
            uut.accept.next = !ooo && verdict < 2;
            uut.ooo.next = ooo;
            uut.refused.next = refused;
            uut.trimmed.next = trimmed;
            given = Some((verdict, walked, trimmed));
        },
    );
    assert!(seen.iter().all(|count| *count > 200), "{seen:?}");
}
