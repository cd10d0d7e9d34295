//! Jobs of the packet reader: never more out than allowed.
use super::*;
use rnic_hdl_tools::testkit::lockstep;
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
