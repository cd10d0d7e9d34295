//! Random segments, stops, table operations and sinks that wait, in lockstep and against the model.
use super::*;
use rnic_hdl_tools::testkit::lockstep;

/// What leaves in this cycle, and the sinks' readiness.
fn check_outputs(uut: &mut Uut, model: &mut Model, ready_of_8: u64, random: &mut Random) {
    model.reader.note(uut);
    model.job.pace = Pace::of_8(ready_of_8);
    let (data, valid) = (&uut.job, &uut.job_valid);
    if let Some(job) = model.job.watch(data, valid, &mut uut.job_ready, random) {
        model.check_job(&job);
    }
    model.page_release.pace = Pace::of_8(ready_of_8);
    let (data, valid) = (&uut.page_release, &uut.page_release_valid);
    let ready = &mut uut.page_release_ready;
    if let Some(chain) = model.page_release.watch(data, valid, ready, random) {
        model.check_release(&chain);
    }
    if uut.table_done.val() {
        model.table_is_done(random);
    }
    // DDP may take its time.
    uut.record_fence_done.next = uut.record_fence.val() && random.chance(1, 16);
    if uut.record_fence.val() {
        let (index, _) = model.request.as_ref().expect("a fence without a request");
        assert!(!model.streams[*index].job_out, "a fence before a job");
        model.fenced |= uut.record_fence_done.next;
    }
    assert!(!uut.table_data.val().any(), "table MPA reads as zero");
}

/// The four sources, each with its message until it is taken.
fn drive_sources(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.accepted.is_empty() && traffic && random.chance(1, 4) {
        model.next_accepted(random);
    }
    let links = model.links.drive(uut);
    model.accepted.pace = if links { Pace::Never } else { Pace::Always };
    let (data, valid) = (&mut uut.accepted, &mut uut.accepted_valid);
    let (message, ready) = (|sent: &(_, Accepted, _)| sent.1, &uut.accepted_ready);
    let taken = model.accepted.drive_as(message, data, valid, ready, random);
    if let Some((index, message, pages)) = taken {
        model.streams[index].frames.push_back(Frame {
            pages,
            offset: message.offset.to_u64(),
            octets: message.octets.to_u64(),
        });
    }
    if model.host.is_empty() && traffic && random.chance(1, 16) && model.free_pages.len() > 8 {
        model.host.push(HostFrame {
            head_page: model.free_pages.pop_front().expect("counted above").into(),
            tail_page: random.below(PAGES as u64).into(),
            frame_octets: (60 + random.below(9000)).into(),
        });
    }
    let (data, valid) = (&mut uut.host_frame, &mut uut.host_frame_valid);
    let taken = model.host.drive(data, valid, &uut.host_frame_ready, random);
    model.hosts.extend(taken);
    if model.done.is_empty() && !model.jobs.is_empty() && random.chance(1, 8) {
        let done = model.finish_job(random);
        model.done.push(done);
    }
    let (data, valid) = (&mut uut.job_done, &mut uut.job_done_valid);
    if let Some(done) = model.done.drive(data, valid, &uut.job_done_ready, random) {
        model.job_is_done(&done);
    }
}

fn drive_control(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.stop.is_empty() && traffic && random.chance(1, 200) {
        let index = random.below(model.streams.len() as u64) as usize;
        if model.streams[index].driver == Phase::Running {
            model.stop.push(index);
        }
    }
    if let Some(&index) = model.stop.waiting().front() {
        let stream = &mut model.streams[index];
        if stream.driver == Phase::Running {
            // From here on the manager may drop what it holds.
            stream.driver = Phase::Stopped;
        }
    }
    let (data, valid) = (&mut uut.stream_error, &mut uut.stream_error_valid);
    let streams = &model.streams;
    let number = |index: &usize| streams[*index].number.into();
    let taken = model
        .stop
        .drive_as(number, data, valid, &uut.stream_error_ready, random);
    model.stops += usize::from(taken.is_some());
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
fn random_streams_and_releases_against_a_model() {
    const CYCLES: usize = 24_000;
    const DRAIN: usize = 3_000;
    let mut model = Model::new(8);
    let mut cycle = 0;
    lockstep!("stream_manager", Uut::default(), CYCLES, |uut, random| {
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
    });
    for stream in &model.streams {
        let name = format!("connection {}, {:?}", stream.number, stream.driver);
        assert!(!stream.job_out && stream.due.is_empty(), "{name}");
        match stream.driver {
            Phase::Running => assert!(stream.queued() < stream.need, "{name}: octets lie idle"),
            _ => assert!(stream.frames.is_empty(), "{name}: frames not released"),
        }
    }
    let frames = model.streams.iter().flat_map(|stream| &stream.frames);
    let held: usize = frames.map(|frame| frame.pages.len()).sum();
    let offered = model.accepted.waiting().iter();
    let offered: usize = offered.map(|sent| sent.2.len()).sum();
    let waiting = offered + model.host.waiting().len();
    assert_eq!(held + waiting + model.free_pages.len(), PAGES, "pages");
    assert!(model.hosts.is_empty(), "host frames without a job");
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
