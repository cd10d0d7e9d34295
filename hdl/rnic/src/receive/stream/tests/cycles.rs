//! Single cases: what a segment costs in cycles, what is answered, and when pages go back.
use super::*;
use rnic_hdl_tools::testkit::{simulate, Simulation};

/// A manager with `count` running streams, connections 0 to `count - 1`.
fn started(count: u64) -> Simulation<Uut> {
    let mut uut = simulate!(Uut::default());
    uut.job_ready.next = true;
    uut.page_release_ready.next = true;
    for connection in 0..count {
        uut.table_request.next = TableRequest {
            operation: u64::from(tables::WRITE).into(),
            table: u64::from(tables::MPA).into(),
            index: connection.into(),
            data: Bits::default(),
        };
        uut.table_valid.next = true;
        uut.wait_for(4000, |uut| uut.table_done.val());
        uut.table_valid.next = false;
        uut.tick();
    }
    uut
}

fn segment(connection: u64, page: u64, octets: u64) -> Accepted {
    Accepted {
        connection: connection.into(),
        head_page: page.into(),
        tail_page: page.into(),
        offset: 56u64.into(),
        octets: octets.into(),
        first: true,
        last: true,
        ..Accepted::default()
    }
}

#[test]
fn a_job_follows_its_octets_in_six_cycles() {
    let mut uut = started(1);
    uut.accepted.next = segment(0, 7, 24);
    uut.pulse(|uut| &mut uut.accepted_valid);
    let cycles = uut.wait_for(100, |uut| uut.job_valid.val());
    assert_eq!(1 + cycles, 6);
}

/// Sends messages one after the other, the last one a question; its answer.
fn ask(uut: &mut Simulation<Uut>, messages: &[Accepted]) -> FpduStatus {
    for message in messages {
        uut.accepted.next = *message;
        uut.accepted_valid.next = true;
        uut.tick();
    }
    uut.accepted_valid.next = false;
    for _ in 0..30 {
        if uut.fpdu_status_valid.val() {
            return uut.fpdu_status.val();
        }
        uut.tick();
    }
    panic!("no answer");
}

/// The answer to a query includes every message before it.
#[test]
fn a_query_returns_the_missing_octets() {
    let mut uut = started(3);
    // Of a question only the connection counts.
    let question = Accepted {
        connection: 1u64.into(),
        ooo: true,
        has_right: true,
        purges: true,
        queries: true,
        ..Accepted::default()
    };
    let nothing = ask(&mut uut, &[segment(0, 6, 24), question]);
    assert!(nothing.empty && !nothing.busy && !nothing.known);
    // Three octets do not show the length, and make no job.
    let answer = ask(&mut uut, &[segment(1, 7, 3), question]);
    assert!(!answer.empty && !answer.busy && !answer.known);
    assert_eq!(answer.missing, 1u64);
    let answer = ask(&mut uut, &[segment(1, 8, 21), question]);
    assert!(answer.busy && !answer.empty);
    uut.job_done.next = JobDone {
        connection: 1u64.into(),
        consumed: 8u64.into(),
        need: 100u64.into(),
        ..JobDone::default()
    };
    uut.pulse(|uut| &mut uut.job_done_valid);
    let answer = ask(&mut uut, &[question]);
    assert!(answer.known && !answer.busy && !answer.empty);
    assert_eq!(answer.missing, 100u64 - 16);
    let answer = ask(&mut uut, &[segment(1, 9, 40), question]);
    assert_eq!(answer.missing, 100u64 - 56);
}

/// Segments of one FPDU each on 64 connections in turn: accepted, read, done, given back.
#[test]
fn a_segment_with_one_fpdu_costs_at_most_eleven_cycles() {
    const SEGMENTS: u64 = 300;
    let mut uut = started(64);
    let (mut sent, mut released, mut cycles) = (0u64, 0u64, 0u64);
    let mut jobs: VecDeque<JobDone> = VecDeque::new();
    while released < SEGMENTS {
        uut.accepted.next = segment(sent % 64, sent % 512, 24);
        uut.accepted_valid.next = sent < SEGMENTS;
        uut.job_done_valid.next = !jobs.is_empty();
        if let Some(done) = jobs.front() {
            uut.job_done.next = *done;
        }
        uut.settle();
        sent += u64::from(uut.accepted_ready.val() && uut.accepted_valid.val());
        if uut.job_done_ready.val() && uut.job_done_valid.val() {
            jobs.pop_front();
        }
        if uut.job_valid.val() {
            let job = uut.job.val();
            jobs.push_back(JobDone {
                connection: job.connection,
                consumed: job.octets,
                need: 4u64.into(),
                ..JobDone::default()
            });
        }
        released += u64::from(uut.page_release_valid.val());
        uut.tick();
        cycles += 1;
        assert!(cycles < 100 * SEGMENTS, "{released} of {SEGMENTS} are done");
    }
    assert!(
        cycles <= 11 * SEGMENTS + 30,
        "{cycles} cycles for {SEGMENTS} segments"
    );
}

/// A frame of the longest size, cut by its FPDUs at every page: pages 100 to 135, then it ends.
#[test]
fn pages_are_released_as_octets_are_consumed() {
    const PAGE: u64 = PAGE_OCTETS as u64;
    for (first_offset, cursors) in [
        (
            56u64,
            vec![255u64, 256, 511, 512, 512 + 9 * PAGE, 35 * PAGE],
        ),
        (
            56,
            vec![8 * PAGE - 1, 16 * PAGE, 33 * PAGE + 5, 36 * PAGE - 1],
        ),
        // The first octets were cut off by TCP: no octet of two pages was accepted.
        (600, vec![600, 32 * PAGE + 600]),
        (56, vec![32 * PAGE]),
    ] {
        let mut uut = started(1);
        for page in 101..136u64 {
            uut.link_write.next = true;
            uut.link_page.next = (page - 1).into();
            uut.link_next.next = page.into();
            uut.jump_write.next = page >= 108;
            uut.jump_page.next = (page - 8).into();
            uut.tick();
        }
        (uut.link_write.next, uut.jump_write.next) = (false, false);
        uut.accepted.next = Accepted {
            tail_page: 135u64.into(),
            offset: first_offset.into(),
            ..segment(0, 100, 36 * PAGE - first_offset)
        };
        uut.pulse(|uut| &mut uut.accepted_valid);
        let (mut position, mut first_page) = (first_offset, 100);
        for cursor in cursors.into_iter().chain([36 * PAGE]) {
            let mut expected = None;
            if cursor / PAGE + 100 > first_page {
                expected = Some((first_page, cursor / PAGE + 99));
            }
            uut.wait_for(100, |uut| uut.job_valid.val());
            let job = uut.job.val();
            let job = (job.head_page.index() as u64, job.offset.index() as u64);
            assert_eq!(job.0 - 100, (position - job.1) / PAGE, "octet {position}");
            assert_eq!(job.0, first_page, "octet {position}");
            uut.job_done.next = JobDone {
                connection: 0u64.into(),
                consumed: (cursor - position).into(),
                need: 1u64.into(),
                ..JobDone::default()
            };
            uut.pulse(|uut| &mut uut.job_done_valid);
            let mut released = None;
            for _ in 0..16 + 2 * 11 {
                if uut.page_release_valid.val() {
                    assert!(released.is_none(), "two chains at octet {cursor}");
                    let chain = uut.page_release.val();
                    released = Some((
                        chain.head_page.index() as u64,
                        chain.tail_page.index() as u64,
                    ));
                }
                if uut.job_valid.val() {
                    break;
                }
                uut.tick();
            }
            assert_eq!(released, expected, "octets to {cursor} are consumed");
            position = cursor;
            first_page = 100 + cursor / PAGE;
        }
        for _ in 0..20 {
            assert!(!uut.job_valid.val() && !uut.page_release_valid.val());
            uut.tick();
        }
    }
}

/// What keeps the pipeline after the manager from waiting for the manager in a circle.
#[test]
fn stops_and_host_frames_pass_busy_stream_jobs() {
    let mut uut = started(64);
    let (mut sent, mut stream_jobs, mut host_jobs) = (0u64, 0usize, 0usize);
    for _ in 0..1_000 {
        uut.accepted.next = segment(sent % 64, sent % 512, 24);
        uut.accepted_valid.next = sent < 64;
        uut.settle();
        sent += u64::from(uut.accepted_ready.val() && uut.accepted_valid.val());
        stream_jobs += usize::from(uut.job_valid.val());
        uut.tick();
    }
    assert_eq!(
        stream_jobs, JOBS_OUT_MAX,
        "as many jobs as the queue of job_done can hold"
    );

    uut.accepted_valid.next = false;
    uut.pulse(|uut| &mut uut.host_frame_valid);
    for _ in 0..20 {
        host_jobs += usize::from(uut.job_valid.val());
        uut.tick();
    }
    assert_eq!(host_jobs, 1, "a host frame waits for nothing");

    // The reader takes nothing any more: its output register fills, stops are taken all the same.
    uut.job_ready.next = false;
    uut.host_frame_valid.next = true;
    let mut stops = 0;
    for _ in 0..400 {
        uut.stream_error.next = (stops % 64u64).into();
        uut.stream_error_valid.next = stops < 30;
        uut.settle();
        stops += u64::from(uut.stream_error_ready.val() && uut.stream_error_valid.val());
        uut.tick();
    }
    assert_eq!(stops, 30);
    assert!(
        uut.job_valid.val() && !uut.host_frame_ready.val(),
        "the outputs were blocked"
    );
}

/// A frame of a stream never started is released at once (MPA-027: it is not MPA's).
#[test]
fn octets_of_a_stream_never_started_are_released() {
    let mut uut = started(1);
    uut.accepted.next = segment(5, 77, 24);
    uut.pulse(|uut| &mut uut.accepted_valid);
    for _ in 0..12 {
        assert!(!uut.job_valid.val(), "no job without a stream");
        if uut.page_release_valid.val() {
            assert_eq!(uut.page_release.val().head_page, 77u64);
            return;
        }
        uut.tick();
    }
    panic!("the frame is not released");
}

/// Octets accepted before the driver asked for a release are released before `table_done`.
#[test]
fn a_release_covers_the_octets_queued_before_it() {
    let mut uut = started(16);
    // One octet is less than ULPDU_Length, so no job is sent; connection 0 is last.
    let (mut sent, mut released) = (0u64, 0usize);
    while sent < 15 {
        uut.accepted.next = segment(if sent < 12 { 1 + sent } else { 0 }, 100 + sent, 1);
        uut.accepted_valid.next = true;
        uut.settle();
        sent += u64::from(uut.accepted_ready.val());
        uut.tick();
    }
    uut.accepted_valid.next = false;
    uut.table_request.next = TableRequest {
        operation: u64::from(tables::RELEASE).into(),
        table: u64::from(tables::MPA).into(),
        ..TableRequest::default()
    };
    uut.table_valid.next = true;
    let mut cycles_after_done = 0;
    for _ in 0..400 {
        released += usize::from(uut.page_release_valid.val());
        if uut.table_done.val() {
            uut.table_valid.next = false;
        }
        cycles_after_done += u32::from(!uut.table_valid.next);
        if cycles_after_done == 3 {
            break;
        }
        uut.tick();
    }
    assert_eq!(
        released, 3,
        "frames of connection 0 given back when the release is done"
    );
}
