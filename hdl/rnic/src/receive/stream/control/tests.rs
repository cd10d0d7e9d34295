//! The control of the stream manager: every event is done once, in lockstep with its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle};

const EVENTS: [StreamEvent; 7] = [
    StreamEvent::JobDone,
    StreamEvent::Stop,
    StreamEvent::Accept,
    StreamEvent::Host,
    StreamEvent::Start,
    StreamEvent::Release,
    StreamEvent::Refuse,
];

/// Every event is taken once, unless it is a release that finds a job out; every event but a
/// refusal, a host frame, a dropped range and dropped octets writes a context once. Spans may be
/// taken over or go after that; each leaves in one way.
#[test]
fn lockstep_with_verilog_and_each_event_is_done_once() {
    let (mut at, mut taken, mut written, mut events, mut purges) = (None, 0, 0, [0; 7], 0);
    let mut answers = 0;
    let mut ways = [0; 5];
    let uut = ManagerControl::default();
    lockstep!("manager_control", uut, 100_000, |uut, random| {
        settle(uut);
        if at.is_none() && uut.state.q.val() == ManagerState::Idle {
            at = random.chance(3, 4).then(|| random.below(7) as usize);
            uut.current.next.active = random.chance(7, 8);
            uut.current.next.stopped = random.chance(1, 4);
            uut.current.next.busy = random.chance(1, 2);
            uut.current.next.has_next = random.chance(1, 3);
            uut.current.next.placed = random.chance(1, 2);
            uut.was_empty.next = random.chance(1, 2);
            uut.next_done.next.ooo = random.chance(1, 3);
            uut.next_accepted.next.ooo = random.chance(1, 3);
            uut.next_accepted.next.has_left = random.chance(1, 2);
            uut.next_accepted.next.has_right = random.chance(1, 2);
            uut.next_accepted.next.purges = random.chance(1, 6);
            uut.next_accepted.next.queries = random.chance(1, 6);
            uut.complete.next = random.chance(1, 2);
            uut.enough.next = random.chance(1, 2);
            (taken, written) = (0, 0);
        }
        uut.next_event.next = at.map_or(StreamEvent::Nothing, |at: usize| EVENTS[at]);
        uut.next_connection.next = random.wide();
        if at.is_none() {
            uut.current.next.has_next = random.chance(1, 3);
        }
        uut.popped.next.has_next = random.chance(1, 2);
        uut.popped.next.placed = random.chance(1, 2);
        uut.popped.next.busy = random.chance(1, 4);
        uut.consumed.next = random.chance(1, 2);
        uut.drop_ready.next = random.chance(1, 2);
        uut.forget_room.next = random.chance(1, 2);
        settle(uut);
        assert!(!(uut.append.val() && uut.drop_frame.val()));
        let leaves = [
            uut.free_span.val(),
            uut.forget.val(),
            uut.deliver.val(),
            uut.fault.val(),
            uut.take_span.val(),
        ];
        let moves = leaves.iter().filter(|leaves| **leaves).count();
        assert!(moves <= 1, "{leaves:?}");
        for (way, leaves) in ways.iter_mut().zip(leaves) {
            *way += usize::from(leaves);
        }
        let takes = [
            uut.take_done.val(),
            uut.take_stream_error.val(),
            uut.take_accepted.val(),
            uut.take_host.val(),
            uut.take_request.val(),
        ];
        taken += takes.iter().filter(|take| **take).count();
        written += usize::from(uut.write_context.val() || uut.write_span.val());
        purges += usize::from(uut.purge.val());
        answers += usize::from(uut.answer.val());
        // The last step of an event: it leaves its queue, or its context is written.
        let last = takes.contains(&true) || uut.write_context.val();
        let Some(kind) = at.filter(|_| last) else {
            return;
        };
        let place = [0, 1, 2, 3, 4, 4, 4][kind];
        let current = uut.current.next;
        let waits = EVENTS[kind] == StreamEvent::Release && (current.busy || current.has_next);
        assert_eq!(taken, usize::from(!waits), "{:?}", EVENTS[kind]);
        assert_eq!(takes[place], !waits, "{:?}", EVENTS[kind]);
        let arrived = uut.next_accepted.next;
        let wanted = current.active && !current.stopped;
        let writes = match EVENTS[kind] {
            StreamEvent::Host | StreamEvent::Refuse => false,
            StreamEvent::Accept if arrived.queries || arrived.purges => false,
            StreamEvent::Accept => arrived.ooo || wanted,
            _ => true,
        };
        assert_eq!(written, usize::from(writes), "{:?}", EVENTS[kind]);
        let asked = EVENTS[kind] == StreamEvent::Accept && arrived.queries;
        assert_eq!(uut.answer.val(), asked);
        events[kind] += 1;
        at = None;
    });
    assert!(events.iter().all(|count| *count > 50), "{events:?}");
    assert!(purges > 50, "{purges} purges");
    assert!(answers > 50, "{answers} answers");
    assert!(ways.iter().all(|count| *count > 10), "{ways:?}");
}
