//! The random walk of the naive receiver beside the stream manager.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, Pace};

/// Takes what leaves.
fn take(uut: &mut Uut, bench: &mut Bench, random: &mut Random) {
    bench.reader.note(uut);
    bench.credits += i64::from(uut.fragment_free.val());
    bench.span_credits += i64::from(uut.span_free.val());
    if uut.order_valid.val() {
        bench.take_order(&uut.order.val());
    }
    uut.forget_room.next = random.chance(7, 8);
    let (data, valid, ready) = (
        &uut.page_release,
        &uut.page_release_valid,
        &mut uut.page_release_ready,
    );
    if let Some(chain) = bench.page_release.watch(data, valid, ready, random) {
        bench.check_release(&chain);
    }
    let (data, valid) = (&uut.job, &uut.job_valid);
    if let Some(job) = bench.job.watch(data, valid, &mut uut.job_ready, random) {
        bench.check_job(&job);
    }
    if uut.table_done.val() {
        bench.table_is_done();
    }
    if uut.record_fence.val() {
        bench.check_fence();
    }
    uut.record_fence_done.next = uut.record_fence.val() && random.chance(1, 8);
}

fn drive(uut: &mut Uut, bench: &mut Bench, traffic: bool, random: &mut Random) {
    take(uut, bench, random);
    if traffic && bench.messages.is_empty() && random.chance(1, 4) {
        bench.next_segment(random);
    }
    let links = bench.links.drive(uut);
    bench.messages.pace = if links { Pace::Never } else { Pace::Always };
    let (data, valid) = (&mut uut.accepted, &mut uut.accepted_valid);
    bench
        .messages
        .drive(data, valid, &uut.accepted_ready, random);
    if random.chance(1, 8) {
        bench.finish_job(random);
    }
    if bench.done.is_empty() && bench.stop.is_empty() && random.chance(1, 8) {
        if let Some((index, done)) = bench.replayed.pop_front() {
            bench.done.push((Some(index), done));
            bench.streams[index].replays -= 1;
            if bench.streams[index].faulty {
                bench.streams[index].stopped = true;
                bench.stop.push(index);
            }
        }
    }
    let (data, valid) = (&mut uut.job_done, &mut uut.job_done_valid);
    let (message, ready) = (|done: &(_, JobDone)| done.1, &uut.job_done_ready);
    if let Some((of_stream, done)) = bench.done.drive_as(message, data, valid, ready, random) {
        bench.job_is_done(of_stream, &done);
    }
    let span = bench.spans_back.offer(random).copied();
    uut.span_back_valid.next = span.is_some();
    if let Some(span) = span {
        uut.span_back.next = span;
        settle(uut);
    }
    bench.spans_back.advance(uut.span_back_ready.val());
    bench.forget_unplaced();
    control(uut, bench, traffic, random);
}

/// Stops connections, and sends table requests.
fn control(uut: &mut Uut, bench: &mut Bench, traffic: bool, random: &mut Random) {
    if traffic && bench.stop.is_empty() && bench.request.is_none() && random.chance(1, 400) {
        let index = random.below(bench.streams.len() as u64) as usize;
        let stream = &mut bench.streams[index];
        if stream.running && !stream.stopped {
            stream.stopped = true;
            bench.seen[9] += 1;
            bench.stop.push(index);
        }
    }
    let (data, valid) = (&mut uut.stream_error, &mut uut.stream_error_valid);
    let streams = &bench.streams;
    let number = |index: &usize| streams[*index].number.into();
    bench
        .stop
        .drive_as(number, data, valid, &uut.stream_error_ready, random);
    let clear = bench.messages.is_empty() && bench.request.is_none();
    if traffic && clear && random.chance(1, 8) {
        bench.next_request(random);
    }
    // Earlier messages must be queued when the request is sent; then it is stable.
    let sent = bench.messages.is_empty() && !uut.accepted_valid.next;
    bench.requested |= bench.request.is_some() && sent;
    uut.table_valid.next = bench.requested;
    if let Some((_, request)) = &bench.request {
        uut.table_request.next = *request;
    }
}

/// Lockstep with the emitted Verilog, and with the naive receiver (MPA-046): whatever the order of
/// arrival, a stream is read in order, each octet from the copy that was accepted.
#[test]
fn octets_in_any_order_are_read_in_order() {
    let cycles = rnic_effort::count("cycles", 40_000, 80_000);
    let mut bench = Bench::new();
    let mut cycle = 0;
    let uut = Uut::default();
    lockstep!("stream_manager_ooo", uut, cycles, |uut, random| {
        // The lists of free numbers need a reset.
        uut.reset.next = cycle == 0;
        if cycle > 0 {
            drive(uut, &mut bench, cycle < cycles - 4_000, random);
        }
        cycle += 1;
    });
    let held: usize = bench.frames.iter().map(|frame| frame.pages.len()).sum();
    assert_eq!(held + bench.free_pages.len(), PAGES, "pages");
    for frame in &bench.frames {
        let stream = &bench.streams[frame.stream];
        let waits = frame.kept.iter().any(|(_, to)| *to > stream.consumed);
        assert!(stream.running && waits, "held without need: {frame:?}");
    }
    let opened = bench
        .streams
        .iter()
        .map(|stream| 2 * stream.ranges.len() + 40);
    let spans_out = 512 - bench.span_credits;
    assert!(
        spans_out <= opened.sum::<usize>() as i64,
        "{spans_out} spans are out"
    );
    let fragments = bench.frames.iter().map(|frame| frame.kept.len() - 1);
    let fragments_out = 64 - bench.credits;
    assert!(
        fragments_out <= fragments.sum::<usize>() as i64,
        "{fragments_out} fragments are out for {:?}; {:?}",
        bench.frames,
        bench.streams
    );
    assert!(
        bench.seen.iter().all(|count| *count >= 10),
        "too little was seen: {:?}",
        bench.seen
    );
}
