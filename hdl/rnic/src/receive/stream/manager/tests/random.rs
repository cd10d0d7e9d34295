//! Random segments, stops, table operations and sinks that wait, in lockstep and against the model.
use super::*;
use rnic_hdl_tools::testkit::lockstep;

/// What leaves in this cycle, and the sinks' readiness.
fn check_outputs(uut: &mut Uut, model: &mut Model, ready_of_8: u64, random: &mut Random) {
    if uut.frame_table_write.val() {
        model.table[uut.frame_table_index.val().index()] = uut.frame_table_data.val();
    }
    if uut.frame_link_write.val() {
        let next = uut.frame_link_next.val().index() as u64;
        model.links[uut.frame_link_index.val().index()] = next;
    }
    uut.job_ready.next = random.chance(ready_of_8, 8);
    uut.page_release_ready.next = random.chance(ready_of_8, 8);
    if uut.job_valid.val() && uut.job_ready.next {
        model.check_job(&uut.job.val());
    }
    if uut.page_release_valid.val() && uut.page_release_ready.next {
        model.check_release(&uut.page_release.val());
    }
    if uut.table_done.val() {
        model.table_is_done(random);
    }
    assert!(!uut.table_data.val().any(), "table MPA reads as zero");
}

/// The store's links: a frame has them all before it is accepted.
fn drive_links(uut: &mut Uut, model: &mut Model) {
    let link = model.new_links.pop_front();
    uut.link_write.next = link.is_some();
    uut.jump_write.next = false;
    if let Some((page, next, eight_before)) = link {
        uut.link_page.next = page.into();
        uut.link_next.next = next.into();
        uut.jump_write.next = eight_before.is_some();
        uut.jump_page.next = eight_before.unwrap_or(0).into();
    }
}

/// The four sources, each with its message until it is taken.
fn drive_sources(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.accepted.is_none() && traffic && random.chance(1, 4) {
        model.next_accepted(random);
    }
    drive_links(uut, model);
    let linked = !uut.link_write.next;
    uut.accepted_valid.next = model.accepted.is_some() && linked;
    if let Some((index, message, pages)) = model.accepted.take_if(|_| linked) {
        uut.accepted.next = message;
        if uut.accepted_ready.val() {
            model.streams[index].frames.push_back(Frame {
                pages,
                offset: message.offset.index() as u64,
                octets: message.octets.index() as u64,
            });
        } else {
            model.accepted = Some((index, message, pages));
        }
    }
    if model.host.is_none() && traffic && random.chance(1, 16) && model.free_pages.len() > 8 {
        model.host = Some(HostFrame {
            head_page: model.free_pages.pop_front().expect("counted above").into(),
            tail_page: random.below(PAGES as u64).into(),
            frame_octets: (60 + random.below(9000)).into(),
        });
    }
    uut.host_frame_valid.next = model.host.is_some();
    if let Some(message) = model.host {
        uut.host_frame.next = message;
        if uut.host_frame_ready.val() {
            model.hosts.push_back(message);
            model.host = None;
        }
    }
    if model.done.is_none() && !model.jobs.is_empty() && random.chance(1, 8) {
        model.done = Some(model.finish_job(random));
    }
    uut.job_done_valid.next = model.done.is_some();
    if let Some(message) = model.done {
        uut.job_done.next = message;
        if uut.job_done_ready.val() {
            model.job_is_done(&message);
            model.done = None;
        }
    }
}

fn drive_control(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.stop.is_none() && traffic && random.chance(1, 200) {
        let index = random.below(model.streams.len() as u64) as usize;
        let running = model.streams[index].driver == Phase::Running;
        model.stop = running.then_some(index);
    }
    uut.stopped_valid.next = model.stop.is_some();
    if let Some(index) = model.stop {
        let stream = &mut model.streams[index];
        uut.stopped.next = stream.number.into();
        if stream.driver == Phase::Running {
            // From here on the manager may drop what it holds.
            stream.driver = Phase::Stopped;
        }
        if uut.stopped_ready.val() {
            model.stops += 1;
            model.stop = None;
        }
    }
    if model.request.is_none() && traffic && random.chance(1, 8) {
        model.next_request(random);
    }
    uut.table_valid.next = model.request.is_some();
    if let Some((_, request)) = &model.request {
        uut.table_request.next = *request;
    }
}

/// Lockstep with the emitted Verilog, and with the model. Segments end anywhere in an FPDU
/// (MPA-046, MPA-049 to MPA-051): what is not whole waits for the octets that follow.
#[test]
fn every_stream_is_read_in_order_and_every_frame_is_given_back_once() {
    const CYCLES: usize = 24_000;
    const DRAIN: usize = 3_000;
    let mut model = Model::new(8);
    let mut cycle = 0;
    lockstep(
        "stream_manager",
        Uut::default(),
        CYCLES,
        clock,
        |uut, random| {
            let traffic = cycle < CYCLES - DRAIN;
            let ready_of_8 = if traffic {
                [8, 4, 1][(cycle / 3_000) % 3]
            } else {
                8
            };
            check_outputs(uut, &mut model, ready_of_8, random);
            drive_sources(uut, &mut model, traffic, random);
            drive_control(uut, &mut model, traffic, random);
            cycle += 1;
        },
    );
    for stream in &model.streams {
        let name = format!("connection {}, {:?}", stream.number, stream.driver);
        assert!(!stream.job_out && stream.due.is_empty(), "{name}");
        match stream.driver {
            Phase::Running => assert!(stream.queued() < stream.need, "{name}: octets lie idle"),
            _ => assert!(stream.frames.is_empty(), "{name}: frames are kept"),
        }
    }
    let frames = model.streams.iter().flat_map(|stream| &stream.frames);
    let held: usize = frames.map(|frame| frame.pages.len()).sum();
    let offered = model.accepted.as_ref();
    let waiting = offered.map_or(0, |sent| sent.2.len()) + usize::from(model.host.is_some());
    assert_eq!(held + waiting + model.free_pages.len(), PAGES, "pages");
    assert!(model.hosts.is_empty(), "host frames are kept");
    let parts = model.streams.iter().map(|stream| stream.parts).sum();
    let seen = [
        parts,
        model.done_jobs,
        model.long_fpdus,
        model.multi_frame_jobs,
        model.stops,
        model.released_streams,
        model.host_jobs,
    ];
    assert!(
        seen.iter().all(|count| *count >= 5),
        "too little was seen: {seen:?}"
    );
}
