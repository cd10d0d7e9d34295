//! The stream update against plain integers, in lockstep with its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};

fn random_context(random: &mut Random) -> StreamContext {
    StreamContext {
        sequence: random.wide(),
        phase: random.wide(),
        markers: random.chance(1, 2),
        crc: random.chance(1, 2),
        active: random.chance(1, 2),
        stopped: random.chance(1, 4),
        busy: random.chance(1, 2),
        place_next: random.chance(1, 2),
        avail: random.below(1 << 17).into(),
        missing: random.below(1 << 10).into(),
        head_page: random.wide(),
        head_tail: random.wide(),
        head_offset: random.wide(),
        head_octets: random.wide(),
        head_slot: random.wide(),
        head_shared: random.chance(1, 2),
        last_slot: random.wide(),
        has_next: random.chance(1, 2),
        next_span: random.wide(),
        last_span: random.wide(),
        placed: random.chance(1, 2),
        refused: random.chance(1, 4),
    }
}

fn random_frame(random: &mut Random) -> QueuedFrame {
    QueuedFrame {
        head_page: random.wide(),
        tail_page: random.wide(),
        offset: random.wide(),
        octets: random.wide(),
        slot: random.wide(),
        shared: random.chance(1, 2),
    }
}

/// The context with these octets as its first frame.
fn headed(stream: StreamContext, front: QueuedFrame) -> StreamContext {
    StreamContext {
        head_page: front.head_page,
        head_tail: front.tail_page,
        head_offset: front.offset,
        head_octets: front.octets,
        head_slot: front.slot,
        head_shared: front.shared,
        ..stream
    }
}

/// The context with the arrived octets after what is queued.
fn lengthened(uut: &ContextUpdate, before: StreamContext) -> StreamContext {
    let (front, arrived) = (uut.front.next, uut.arrived.next);
    let (avail, octets) = (before.avail.to_u64(), uut.arrived_octets.next.to_u64());
    let missing = before.missing.to_u64();
    let left = missing.wrapping_sub(octets) & 0x3_ffff;
    StreamContext {
        avail: (avail + octets).into(),
        missing: left.into(),
        busy: before.busy || (octets >= missing && !before.refused),
        last_slot: uut.arrived_last.next,
        ..headed(before, if avail == 0 { arrived } else { front })
    }
}

fn after_accepted(uut: &ContextUpdate, before: StreamContext) -> StreamContext {
    let mut after = lengthened(uut, before);
    if uut.at_hand.next.joining {
        after.has_next = true;
        after.next_span = uut.right_range.next.first;
        after.last_span = uut.right_range.next.last;
    }
    after
}

/// The stream takes `span` over.
fn after_advance(uut: &ContextUpdate, before: StreamContext, span: StreamContext) -> StreamContext {
    let mut after = lengthened(uut, before);
    after.has_next = span.has_next;
    after.next_span = span.next_span;
    if span.placed {
        (after.sequence, after.phase, after.busy) = (span.sequence, span.phase, true);
    }
    after
}

fn after_done(before: StreamContext, front: QueuedFrame, done: JobDone) -> StreamContext {
    let (consumed, need) = (done.consumed.to_u64(), done.need.to_u64());
    let left = before.avail.to_u64() - consumed;
    let missing = need.wrapping_sub(left) & 0x3_ffff;
    StreamContext {
        avail: left.into(),
        missing: missing.into(),
        sequence: ((before.sequence.to_u64() + consumed) & 0xffff_ffff).into(),
        phase: ((before.phase.to_u64() + consumed / 4) & 0x7f).into(),
        place_next: done.place_next,
        busy: left >= need && !before.stopped && !before.refused && !done.refused,
        placed: before.placed || (done.ooo && consumed > 0),
        refused: before.refused || done.refused,
        ..headed(before, front)
    }
}

/// A span that begins with these octets: MPA-006, FPDUs begin at whole words of the stream.
fn opened(uut: &ContextUpdate, stream: StreamContext) -> StreamContext {
    let sequence = uut.arrived_sequence.next.to_u64();
    let apart = sequence.wrapping_sub(stream.sequence.to_u64()) & 0xffff_ffff;
    StreamContext {
        sequence: sequence.into(),
        phase: ((stream.phase.to_u64() + apart / 4) & 0x7f).into(),
        markers: stream.markers,
        crc: stream.crc,
        active: true,
        missing: 8u64.into(),
        refused: !stream.markers || !stream.active || stream.stopped || apart % 4 != 0,
        ..StreamContext::default()
    }
}

fn fresh(data: Bits<320>) -> StreamContext {
    StreamContext {
        sequence: data.get_bits::<32>(0),
        markers: data.get_bit(32),
        crc: data.get_bit(33),
        active: true,
        missing: [4u64, 8][usize::from(data.get_bit(32))].into(),
        ..Default::default()
    }
}

fn drive_inputs(uut: &mut ContextUpdate, random: &mut Random) {
    let kept = random_context(random);
    uut.loaded.next = kept;
    uut.loaded.next.avail = [0u64.into(), kept.avail][random.below(2) as usize];
    uut.span_loaded.next = random_context(random);
    uut.arrived_octets.next = (1 + random.below(1 << 11)).into();
    uut.arrived_sequence.next = match random.below(2) {
        0 => random.wide(),
        _ => {
            let apart = 4 * random.below(4000);
            let sequence = uut.loaded.next.sequence.to_u64() + apart;
            (sequence & 0xffff_ffff).into()
        }
    };
    uut.arrived_last.next = random.wide();
    uut.arrived.next = random_frame(random);
    uut.right_range.next.first = random.wide();
    uut.right_range.next.last = random.wide();
    uut.job_done.next.ooo = random.chance(1, 2);
    uut.job_done.next.refused = random.chance(1, 4);
    uut.job_done.next.need = (1 + random.below(1 << 17)).into();
    uut.job_done.next.place_next = random.chance(1, 2);
    uut.request_data.next = random.wide();
    uut.front.next = random_frame(random);
    uut.at_hand.next = EventKind::default();
    uut.at_hand.next.of_span = random.chance(1, 3);
    uut.at_hand.next.releasing = random.chance(1, 2);
    match random.below(9) {
        0 => {
            uut.at_hand.next.accepting = true;
            uut.at_hand.next.joining = random.chance(1, 2);
            uut.at_hand.next.opening = random.chance(1, 2);
        }
        1 => uut.at_hand.next.finishing = true,
        2 => uut.at_hand.next.starting = true,
        3 => uut.at_hand.next.clearing = true,
        4 => uut.at_hand.next.purging = true,
        5 => uut.at_hand.next.advancing = true,
        6 => uut.at_hand.next.relinking = true,
        7 => uut.at_hand.next.faulting = true,
        _ => {}
    }
    let kind = uut.at_hand.next;
    let avail = match (kind.of_span, kind.opening) {
        (false, _) => uut.loaded.next.avail.to_u64(),
        (true, true) => 0,
        (true, false) => uut.span_loaded.next.avail.to_u64(),
    };
    uut.job_done.next.consumed = random.below(avail + 1).into();
}

fn expected(uut: &ContextUpdate, before: StreamContext, popped: StreamContext) -> StreamContext {
    let front = uut.front.next;
    let kind = uut.at_hand.next;
    if kind.accepting {
        return after_accepted(uut, before);
    } else if kind.advancing {
        return after_advance(uut, before, popped);
    } else if kind.finishing {
        return after_done(before, front, uut.job_done.next);
    } else if kind.starting {
        return fresh(uut.request_data.next);
    } else if kind.clearing {
        return StreamContext::default();
    }
    let mut after = headed(before, front);
    if kind.relinking {
        after.last_span = uut.right_range.next.last;
        return after;
    }
    after.stopped = true;
    after.busy |= kind.faulting;
    after.has_next &= !kind.releasing;
    if kind.purging {
        after.avail = 0u64.into();
    }
    after
}

/// An event takes six cycles here: the stream's context, the distance of what arrived, the context
/// at hand, sums, comparison, result.
#[test]
fn lockstep_with_verilog_and_with_plain_integers() {
    let (mut cycle, mut popped, mut before) = (0, StreamContext::default(), None);
    let mut kind = EventKind::default();
    let mut opens = 0;
    let uut = ContextUpdate::default();
    lockstep!("stream_update", uut, 12_000, |uut, random| {
        let step = cycle % 6;
        uut.load.next = step == 0 || step == 2;
        uut.keep_popped.next = step == 0;
        match step {
            0 => {
                drive_inputs(uut, random);
                popped = uut.span_loaded.next;
                kind = uut.at_hand.next;
                uut.at_hand.next = EventKind::default();
            }
            2 => {
                uut.at_hand.next = kind;
                let stream = uut.loaded.next;
                before = Some(match (kind.of_span, kind.opening) {
                    (false, _) => stream,
                    (true, true) => opened(uut, stream),
                    (true, false) => uut.span_loaded.next,
                });
                opens += usize::from(kind.of_span && kind.opening);
            }
            4 => {
                let before = before.expect("two cycles ago");
                assert_eq!(uut.current.val(), before);
                assert_eq!(uut.popped.val(), popped);
                assert_eq!(uut.was_empty.val(), !before.avail.any());
                let left = before.avail.to_u64() - uut.job_done.next.consumed.to_u64();
                assert_eq!(uut.some_left.val(), left > 0);
            }
            5 => {
                let before = before.expect("three cycles ago");
                assert_eq!(uut.updated.val(), expected(uut, before, popped));
            }
            _ => {}
        }
        cycle += 1;
    });
    assert!(opens > 15, "{opens} spans opened");
}
