//! The random walk of the naive receiver beside the stream manager.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle};

/// Takes what leaves.
fn take(uut: &mut Uut, bench: &mut Bench, random: &mut Random) {
    if uut.frame_table_write.val() {
        bench.table[uut.frame_table_index.val().index()] = uut.frame_table_data.val();
    }
    if uut.frame_link_write.val() {
        bench.links[uut.frame_link_index.val().index()] = uut.frame_link_next.val().index();
    }
    bench.credits += i64::from(uut.slot_free.val());
    bench.span_credits += i64::from(uut.span_free.val());
    if uut.order_valid.val() {
        bench.take_order(&uut.order.val());
    }
    uut.forget_room.next = random.chance(7, 8);
    uut.job_ready.next = random.chance(7, 8);
    uut.page_release_ready.next = random.chance(7, 8);
    if uut.page_release_valid.val() && uut.page_release_ready.next {
        bench.check_release(&uut.page_release.val());
    }
    if uut.job_valid.val() && uut.job_ready.next {
        bench.check_job(&uut.job.val());
    }
    if uut.table_done.val() {
        bench.table_is_done();
    }
}

fn drive(uut: &mut Uut, bench: &mut Bench, traffic: bool, random: &mut Random) {
    take(uut, bench, random);
    if traffic && bench.messages.is_empty() && random.chance(1, 4) {
        bench.next_segment(random);
    }
    let link = bench.new_links.pop_front();
    uut.link_write.next = link.is_some();
    uut.jump_write.next = false;
    if let Some((page, next, eight_before)) = link {
        uut.link_page.next = page.into();
        uut.link_next.next = next.into();
        uut.jump_write.next = eight_before.is_some();
        uut.jump_page.next = eight_before.unwrap_or(0).into();
    }
    uut.accepted_valid.next = !bench.messages.is_empty() && link.is_none();
    if let Some(message) = bench.messages.front().copied().filter(|_| link.is_none()) {
        uut.accepted.next = message;
        if uut.accepted_ready.val() {
            bench.messages.pop_front();
        }
    }
    if random.chance(1, 8) {
        bench.finish_job(random);
    }
    if bench.done.is_none() && bench.stop.is_none() && random.chance(1, 8) {
        let ended = bench.replayed.pop_front();
        bench.done = ended.map(|(index, done)| (Some(index), done));
        if let Some((Some(index), _)) = bench.done {
            bench.streams[index].replays -= 1;
            if bench.streams[index].faulty {
                bench.streams[index].stopped = true;
                bench.stop = Some(index);
            }
        }
    }
    uut.job_done_valid.next = bench.done.is_some();
    if let Some((of_stream, message)) = bench.done {
        uut.job_done.next = message;
        if uut.job_done_ready.val() {
            bench.job_is_done(of_stream, &message);
            bench.done = None;
        }
    }
    uut.span_back_valid.next = !bench.spans_back.is_empty() && random.chance(1, 4);
    if let Some(span) = bench.spans_back.front().copied() {
        uut.span_back.next = span.into();
        settle(uut);
        if uut.span_back_valid.next && uut.span_back_ready.val() {
            bench.spans_back.pop_front();
        }
    }
    bench.forget_unplaced();
    control(uut, bench, traffic, random);
}

/// Stops connections, and asks on the table bus.
fn control(uut: &mut Uut, bench: &mut Bench, traffic: bool, random: &mut Random) {
    if traffic && bench.stop.is_none() && bench.request.is_none() && random.chance(1, 400) {
        let index = random.below(bench.streams.len() as u64) as usize;
        let stream = &mut bench.streams[index];
        if stream.running && !stream.stopped {
            stream.stopped = true;
            bench.seen[9] += 1;
            bench.stop = Some(index);
        }
    }
    uut.stopped_valid.next = bench.stop.is_some();
    if let Some(index) = bench.stop {
        uut.stopped.next = bench.streams[index].number.into();
        if uut.stopped_ready.val() {
            bench.stop = None;
        }
    }
    let clear = bench.messages.is_empty() && bench.request.is_none();
    if traffic && clear && random.chance(1, 8) {
        bench.next_request(random);
    }
    // What stands before the request must be in the queue when it comes, and then it holds.
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
fn octets_in_any_order_are_read_in_order_and_their_pages_go_back_once() {
    const CYCLES: usize = 80_000;
    let mut bench = Bench::new();
    let mut cycle = 0;
    lockstep(
        "stream_manager_early",
        Uut::default(),
        CYCLES,
        |uut| &mut uut.clock,
        |uut, random| {
            // The lists of free numbers need a reset.
            uut.reset.next = cycle == 0;
            if cycle > 0 {
                drive(uut, &mut bench, cycle < CYCLES - 4_000, random);
            }
            cycle += 1;
        },
    );
    let held: usize = bench.frames.iter().map(|frame| frame.pages.len()).sum();
    assert_eq!(held + bench.free_pages.len(), PAGES, "pages");
    for frame in &bench.frames {
        let stream = &bench.streams[frame.stream];
        let waits = frame.kept.iter().any(|(_, to)| *to > stream.consumed);
        assert!(stream.running && waits, "kept for nothing: {frame:?}");
    }
    let opened = bench
        .streams
        .iter()
        .map(|stream| 2 * stream.runs.len() + 40);
    let spans_out = 512 - bench.span_credits;
    assert!(
        spans_out <= opened.sum::<usize>() as i64,
        "{spans_out} spans are out"
    );
    let runs_left = bench.frames.iter().map(|frame| frame.kept.len() - 1);
    let keys_out = 64 - bench.credits;
    assert!(
        keys_out <= runs_left.sum::<usize>() as i64,
        "{keys_out} keys are out for {:?}; {:?}",
        bench.frames,
        bench.streams
    );
    assert!(
        bench.seen.iter().all(|count| *count >= 10),
        "too little was seen: {:?}",
        bench.seen
    );
}
