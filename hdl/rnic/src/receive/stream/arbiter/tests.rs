//! Jobs of the packet reader: never more out than allowed. Table operations: what they wait for.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Simulation};
use std::collections::VecDeque;

#[test]
fn lockstep_with_verilog_and_the_job_credit() {
    let (mut out, mut most, mut hosts) = (0usize, 0, 0);
    let mut sent: VecDeque<ReadJob> = VecDeque::new();
    lockstep!("job_sender", JobSender::default(), 6000, |uut, random| {
        uut.reset.next = false;
        if most == 0 {
            // The first cycle: no job is out, and one may be.
            uut.reset.next = true;
            most = 1;
            return;
        }
        uut.job_ready.next = random.chance(7, 8);
        if uut.job_valid.val() && uut.job_ready.next {
            let job = sent.pop_front().expect("a job was sent");
            assert_eq!(uut.job.val(), job);
        }
        let (room, credit) = (uut.room.val(), uut.credit.val());
        assert_eq!(credit, out < JOBS_OUT_MAX, "{out} jobs out");
        uut.ended.next = out > 0 && random.chance(1, 4);
        uut.hosting.next = random.chance(1, 4);
        uut.send_host.next = uut.hosting.next && room;
        let may_leave = !uut.hosting.next && (credit || uut.ended.next);
        uut.send.next = room && may_leave && random.chance(3, 4);
        uut.replays.next = may_leave && !uut.send.next && random.chance(1, 8);
        uut.ooo.next = random.chance(1, 2);
        uut.span.next = random.wide();
        uut.stream.next.placed = random.chance(1, 2);
        uut.connection.next = random.wide();
        uut.stream.next.place_next = random.chance(1, 2);
        uut.stream.next.avail = random.wide();
        uut.stream.next.head_page = random.wide();
        uut.stream.next.head_tail = random.wide();
        uut.stream.next.head_slot = random.wide();
        uut.stream.next.head_offset = random.wide();
        uut.stream.next.head_octets = random.wide();
        uut.stream.next.sequence = random.wide();
        uut.stream.next.phase = random.wide();
        uut.stream.next.markers = random.chance(1, 2);
        uut.stream.next.crc = random.chance(1, 2);
        uut.host_frame.next.head_page = random.wide();
        uut.host_frame.next.tail_page = random.wide();
        uut.host_frame.next.frame_octets = random.wide();
        let (stream, frame) = (uut.stream.next, uut.host_frame.next);
        let stream_job = ReadJob {
            kind: [JobKind::Stream, JobKind::Place][usize::from(stream.place_next)],
            connection: uut.connection.next,
            head_page: stream.head_page,
            offset: stream.head_offset,
            run_octets: stream.head_octets,
            octets: stream.avail,
            sequence: stream.sequence,
            phase: stream.phase,
            markers: stream.markers,
            crc: stream.crc,
            slot: stream.head_slot,
            tail_page: stream.head_tail,
            ooo: uut.ooo.next,
            span: uut.span.next,
            proven: stream.placed,
        };
        if uut.send.next {
            sent.push_back(stream_job);
        }
        if uut.send_host.next {
            hosts += 1;
            sent.push_back(ReadJob {
                kind: JobKind::Host,
                head_page: frame.head_page,
                tail_page: frame.tail_page,
                offset: (FRAME_PAD_OCTETS as u64).into(),
                run_octets: frame.frame_octets,
                octets: frame.frame_octets.to_u64().into(),
                ..stream_job
            });
        }
        out += usize::from(uut.send.next) + usize::from(uut.replays.next);
        out -= usize::from(uut.ended.next);
        most = most.max(out);
    });
    assert!(
        most == JOBS_OUT_MAX && hosts > 100,
        "{most} out, {hosts} hosts"
    );
}

/// An arbiter with an operation of table MPA on the bus.
fn requested(operation: u32) -> Simulation<EventArbiter> {
    let mut uut = simulate!(EventArbiter::default());
    uut.pulse(|uut| &mut uut.reset);
    uut.job_room.next = true;
    uut.job_credit.next = true;
    uut.table_request.next.operation = u64::from(operation).into();
    uut.table_request.next.table = u64::from(tables::MPA).into();
    uut.table_request.next.index = 5u64.into();
    uut.table_valid.next = true;
    uut
}

/// The operation is done in the manager.
fn done_here(uut: &mut Simulation<EventArbiter>, event: StreamEvent) {
    uut.wait_for(8, |uut| uut.next_event.val() == event);
    assert_eq!(uut.connection.val(), 5u64);
    uut.pulse(|uut| &mut uut.take_request);
}

#[test]
fn a_release_is_answered_once_and_after_the_record_fence() {
    for wait in [0, 1, 40] {
        let mut uut = requested(tables::RELEASE);
        done_here(&mut uut, StreamEvent::Release);
        for _ in 0..wait {
            uut.settle();
            assert!(uut.record_fence.val() && !uut.table_done.val());
            assert_eq!(uut.next_event.val(), StreamEvent::Nothing, "not twice");
            uut.tick();
        }
        uut.pulse(|uut| &mut uut.record_fence_done);
        assert!(uut.table_done.val() && !uut.record_fence.val());
        uut.tick();
        uut.table_valid.next = false;
        for _ in 0..8 {
            uut.settle();
            assert!(!uut.table_done.val() && !uut.record_fence.val());
            assert_eq!(uut.next_event.val(), StreamEvent::Nothing);
            uut.tick();
        }
    }
}

#[test]
fn other_operations_wait_for_no_fence() {
    let others = [
        (tables::WRITE, StreamEvent::Start),
        (tables::READ, StreamEvent::Refuse),
    ];
    for (operation, event) in others {
        let mut uut = requested(operation);
        done_here(&mut uut, event);
        assert!(uut.table_done.val() && !uut.record_fence.val());
    }
}

#[test]
fn events_go_on_while_a_release_waits_for_the_fence() {
    let mut uut = requested(tables::RELEASE);
    done_here(&mut uut, StreamEvent::Release);
    uut.accepted.next.connection = 9u64.into();
    uut.pulse(|uut| &mut uut.accepted_valid);
    uut.wait_for(4, |uut| uut.next_event.val() == StreamEvent::Accept);
    assert_eq!(uut.connection.val(), 9u64);
    uut.stream_error.next = 7u64.into();
    uut.pulse(|uut| &mut uut.stream_error_valid);
    uut.wait_for(4, |uut| uut.next_event.val() == StreamEvent::Stop);
    assert!(uut.record_fence.val() && !uut.table_done.val());
}

/// DDP stops the connection that had the id: the stop is not for the stream that starts now.
#[test]
fn a_stream_starts_after_every_stop_that_is_queued() {
    let mut uut = requested(tables::WRITE);
    uut.table_valid.next = false;
    for _ in 0..2 {
        uut.stream_error.next = 5u64.into();
        uut.pulse(|uut| &mut uut.stream_error_valid);
    }
    uut.table_valid.next = true;
    for _ in 0..2 {
        for _ in 0..10 {
            uut.settle();
            assert_ne!(uut.next_event.val(), StreamEvent::Start);
            uut.tick();
        }
        assert_eq!(uut.next_event.val(), StreamEvent::Stop);
        uut.pulse(|uut| &mut uut.take_stream_error);
    }
    done_here(&mut uut, StreamEvent::Start);
    assert!(uut.table_done.val());
}
