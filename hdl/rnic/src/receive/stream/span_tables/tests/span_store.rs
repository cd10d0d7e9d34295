//! Contexts of spans against a plain array.
use super::super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, Random};
use std::collections::VecDeque;

/// A span that was taken, and what its context holds.
#[derive(Clone, Copy)]
struct Taken {
    span: Bits<9>,
    sequence: Bits<32>,
}

fn order(uut: &SpanStore) -> Option<Replay> {
    let kind = match (uut.delivers.next, uut.forgets.next, uut.fault.next) {
        (true, ..) => ReplayKind::Deliver,
        (_, true, _) => ReplayKind::Forget,
        (.., true) => ReplayKind::Fault,
        _ => return None,
    };
    Some(Replay {
        kind,
        connection: uut.connection.next,
        span: uut.span.next,
        sequence: uut.next_sequence.next,
    })
}

/// Frees one of the spans in use, at once or through DDP.
fn give(uut: &mut SpanStore, out: &mut VecDeque<Taken>, random: &mut Random) -> usize {
    uut.frees.next = out.len() > 1 && random.chance(1, 6);
    if uut.frees.next {
        uut.span.next = out.pop_front().expect("it is out").span;
    }
    uut.span_back_valid.next = out.len() > 400 && random.chance(1, 2);
    if uut.span_back_valid.next {
        uut.span_back.next = out[0].span;
    }
    settle(uut);
    let back = uut.span_back_valid.next && uut.span_back_ready.val();
    if back {
        out.pop_front();
    }
    usize::from(uut.frees.next || back)
}

/// A span is in use once; its context is the last one written; each order is sent once.
#[test]
fn lockstep_with_verilog_and_spans_keep_their_contexts() {
    let (mut out, mut read) = (VecDeque::<Taken>::new(), None);
    let (mut cycle, mut most, mut looks) = (0usize, 0, 0);
    let (mut expected_order, mut given) = (None, 0);
    lockstep!("span_store", SpanStore::default(), 24_000, |uut, random| {
        let step = cycle % 4;
        uut.reset.next = cycle < 4;
        assert_eq!(uut.order_valid.val(), expected_order.is_some());
        if let Some(order) = expected_order {
            assert_eq!(uut.order.val(), order);
        }
        assert_eq!(uut.span_free.val(), given > 0);
        (uut.take.next, uut.write.next, uut.frees.next) = (false, false, false);
        (uut.delivers.next, uut.forgets.next) = (false, false);
        (uut.fault.next, uut.span_back_valid.next) = (false, false);
        (expected_order, given) = (None, 0);
        match step {
            // Takes and writes one, or looks at one.
            0 if cycle >= 4 && out.len() < 500 && random.chance(2, 3) => {
                settle(uut);
                let new = uut.new_span.val();
                assert!(out.iter().all(|taken| taken.span != new));
                (uut.take.next, uut.write.next, uut.span.next) = (true, true, new);
                let sequence = random.wide();
                out.push_back(Taken {
                    span: new,
                    sequence,
                });
                read = None;
            }
            0 => {
                let at = random.below(out.len().max(1) as u64) as usize;
                read = out.get(at).copied();
                uut.span.next = read.map_or(uut.span.next, |taken| taken.span);
            }
            1 => uut.data.next.sequence = out.back().map_or(0.into(), |new| new.sequence),
            2 => {
                if let Some(taken) = read {
                    assert_eq!(uut.stored.val().sequence, taken.sequence);
                    looks += 1;
                }
            }
            _ => {
                uut.connection.next = random.wide();
                uut.next_sequence.next = random.wide();
                uut.delivers.next = cycle > 4 && random.chance(1, 4);
                uut.forgets.next = cycle > 4 && !uut.delivers.next && random.chance(1, 4);
                uut.fault.next =
                    cycle > 4 && !uut.delivers.next && !uut.forgets.next && random.chance(1, 4);
                given = give(uut, &mut out, random);
                expected_order = order(uut);
            }
        }
        most = most.max(out.len());
        cycle += 1;
    });
    assert!(most > 400 && looks > 1000, "{most} out, {looks} looks");
}
