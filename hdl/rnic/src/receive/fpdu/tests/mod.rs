//! The room as a whole, at both widths, against the plain expectation in [`super::testing`].
mod gate;

use super::testing::bench::{check, random_paces, Outcome, Paces, FULL};
use super::testing::expect::{expect, Job};
use super::testing::sender::Sender;
use super::{FpduRoom, FpduRoom128};
use crate::messages::*;
use rnic_hdl_tools::testkit::{bits_of, lockstep, simulate, Pace, Random, StreamDriver};
use rust_hdl::prelude::*;

/// Runs the jobs at both widths.
fn check_both(random: &Random, paces: Paces, jobs: &[Job]) -> [Outcome; 2] {
    [
        check::<128, 256, 2, 10, 11>(random, paces, jobs),
        check::<512, 1024, 4, 8, 9>(random, paces, jobs),
    ]
}

fn job(octets: Vec<u8>, position: u64, markers: bool) -> Job {
    Job {
        kind: JobKind::Stream,
        connection: 0x155,
        octets,
        position,
        sequence: (position as u32).wrapping_add(0xffff_ff00),
        markers,
        crc: true,
        head_page: 0,
        tail_page: 0,
    }
}

fn octets(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.below(256) as u8).collect()
}

fn hexadecimal(text: &str) -> Vec<u8> {
    let digits: String = text
        .chars()
        .filter(|digit| !digit.is_whitespace())
        .collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits"))
        .collect()
}

#[test]
fn mpa_001_mpa_023_mpa_024_golden_fpdus_of_both_revisions_pass_at_their_offsets() {
    let zeros = "00000000 00000000 00000000 00000000 00000000 00000000";
    for (control, crc_a, crc_b) in [
        ("4003", "4C86B384", "A19CD103"),
        ("4143", "52239983", "84925898"),
    ] {
        let a = hexadecimal(&format!(
            "00000000 002A{control} 00000000 00000000 00000001 00000000 {zeros} {crc_a}"
        ));
        let b = hexadecimal(&format!(
            "002A{control} 00000000 00000000 00000002 00000000 00000014 {zeros} {crc_b}"
        ));
        assert_eq!((a.len(), b.len()), (52, 52));
        // B is at offset 0x1ec, after an FPDU of 492 octets with a leading marker.
        let mut sender = Sender::new(true, 0);
        let mut ulpdu = hexadecimal(&format!("{control} 00000000 00000000 00000001 00000000"));
        ulpdu.resize(0x01e2, 0x77);
        let mut before_b = sender.fpdu(&ulpdu);
        assert_eq!(before_b.len(), 0x1ec);
        before_b.extend(&b);
        let jobs = [job(a, 0, true), job(b, 0x1ec, true), job(before_b, 0, true)];
        let random = Random::from_environment();
        for outcome in check_both(&random, FULL, &jobs) {
            assert_eq!(outcome.passed.len(), 4);
            for passed in &outcome.passed {
                assert!(passed.crc_good && passed.marker_good, "{passed:?}");
            }
            assert_eq!(outcome.passed[0].header[2..4], hexadecimal(control)[..]);
            assert_eq!(
                outcome.passed[1].sequence_end,
                0xffff_ff00u32.wrapping_add(0x220)
            );
        }
    }
}

/// A ULPDU length: mostly short, now and then around an edge.
fn some_length(random: &mut Random) -> usize {
    match random.below(12) {
        0 => random.below(24) as usize,
        1 => 480 + random.below(60) as usize,
        2 => 984 + random.below(80) as usize,
        3 => 1400 + random.below(80) as usize,
        _ => random.below(300) as usize,
    }
}

/// Damages one FPDU in the ways a network or a wrong sender may.
fn damage(random: &mut Random, wire: &mut [u8], markers: bool, position: u64) {
    let marker = (0..wire.len())
        .step_by(4)
        .find(|at| markers && (position + *at as u64) % 512 == 0);
    match (random.below(4), marker) {
        (0, _) => {
            // Any octet but ULPDU_Length, which would shift everything that follows.
            let at = wire.len() - 1 - random.below(wire.len() as u64 / 2) as usize;
            wire[at] ^= 1 << random.below(8);
        }
        (1, Some(at)) => wire[at + 3] ^= 4 << random.below(6),
        (2, Some(at)) => wire[at + 2] ^= 1 << random.below(8),
        // MPA-012: the low bits do not count, but the CRC covers them (here it is made right).
        (_, Some(at)) => wire[at + 3] |= 3,
        (_, None) => {}
    }
    if random.chance(1, 2) {
        let (covered, field) = wire.split_at_mut(wire.len() - 4);
        field.copy_from_slice(&crc32c::crc32c(covered).to_le_bytes());
    }
}

/// The jobs that a stream manager would send for a stream of FPDUs, cut at random.
fn stream_jobs(random: &mut Random, fpdus: usize, markers: bool) -> Vec<Job> {
    let start = random.below(256) * 4;
    let mut sender = Sender::new(markers, start);
    let mut stream = Vec::new();
    for _ in 0..fpdus {
        let length = some_length(random);
        sender.points_to_lead = random.chance(1, 4);
        let position = sender.position;
        let mut wire = sender.fpdu(&octets(random, length));
        if random.chance(1, 5) {
            damage(random, &mut wire, markers, position);
        }
        stream.extend(wire);
    }
    cut(random, &stream, start, markers)
}

/// Jobs over `stream`: each from where the one before ended, over as much as is "there" by then.
fn cut(random: &mut Random, stream: &[u8], start: u64, markers: bool) -> Vec<Job> {
    let (mut jobs, mut at, mut need, mut place) = (vec![], 0, 4, false);
    let connection = random.below(1024);
    while at < stream.len() {
        let most = if random.chance(1, 2) { 40 } else { 3000 };
        let extra = random.below(most);
        let count = (need + extra).min((stream.len() - at) as u64) as usize;
        let mut next = job(stream[at..at + count].to_vec(), start + at as u64, markers);
        next.kind = if place {
            JobKind::Place
        } else {
            JobKind::Stream
        };
        next.connection = connection;
        next.crc = random.chance(7, 8);
        let ended = expect(&next, 16).1.expect("a stream job ends");
        at += ended.consumed as usize;
        need = ended.need;
        place = ended.place_next;
        jobs.push(next);
        if need > (stream.len() - at) as u64 {
            break;
        }
    }
    jobs
}

fn host_job(random: &mut Random, count: usize) -> Job {
    let octets = octets(random, count);
    Job {
        kind: JobKind::Host,
        head_page: random.below(512),
        tail_page: random.below(512),
        ..job(octets, random.below(128) * 4, random.chance(1, 2))
    }
}

#[test]
fn mpa_042_random_streams_cut_into_jobs_at_random_pass_whole_and_in_order() {
    let mut random = Random::from_environment();
    for round in 0..10 {
        let mut jobs = stream_jobs(&mut random, 20, round % 2 == 0);
        for _ in 0..3 {
            let at = random.below(jobs.len() as u64 + 1) as usize;
            let count = 14 + random.below(200) as usize;
            jobs.insert(at, host_job(&mut random, count));
        }
        let pace = match round {
            0 | 1 => FULL,
            _ => random_paces(&mut random),
        };
        let outcomes = check_both(&random, pace, &jobs);
        assert!(outcomes[0].passed.len() > 10, "round {round}");
    }
}

#[test]
fn mpa_055_a_wrong_marker_is_found_wherever_it_stands_and_the_other_distance_is_accepted() {
    let mut random = Random::from_environment();
    let mut jobs = vec![];
    let phases = [0u64, 1, 127, 113, 64, 2, 3, 112, 124, 125, 126];
    let count = rnic_effort::count("phases", 3, phases.len());
    for phase in phases.into_iter().take(count) {
        for points_to_lead in [false, true] {
            let mut sender = Sender::new(true, 4 * phase);
            sender.points_to_lead = points_to_lead;
            let right = sender.fpdu(&octets(&mut random, 1700));
            jobs.push(job(right.clone(), 4 * phase, true));
            for at in (0..right.len()).step_by(4) {
                if (4 * phase + at as u64) % 512 == 0 {
                    for bit in [0, 1, 2, 7, 8, 15] {
                        let mut wrong = right.clone();
                        wrong[at + 3 - bit / 8] ^= 1 << (bit % 8);
                        jobs.push(job(wrong, 4 * phase, true));
                    }
                }
            }
        }
    }
    let expected: Vec<bool> = jobs
        .iter()
        .map(|job| expect(job, 16).0[0].marker_good)
        .collect();
    assert!(expected.contains(&true) && expected.contains(&false));
    check_both(&random, FULL, &jobs);
}

#[test]
fn mpa_054_each_flipped_bit_of_an_fpdu_fails_its_crc() {
    let mut random = Random::from_environment();
    let wire = Sender::new(true, 508).fpdu(&octets(&mut random, 29));
    let mut jobs = vec![];
    for bit in (16..8 * wire.len()).step_by(5) {
        let mut flipped = wire.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        jobs.push(job(flipped, 508, true));
        jobs.push(job(wire.clone(), 508, true));
    }
    for outcome in check_both(&random, FULL, &jobs) {
        for pair in outcome.passed.chunks(2) {
            assert!(!pair[0].crc_good && pair[1].crc_good);
        }
    }
}

#[test]
fn mpa_005_every_length_has_a_defined_end_and_long_ones_pass_twice() {
    let mut random = Random::from_environment();
    let mut jobs = vec![];
    for (index, length) in [0usize, 1, 2, 3, 13, 17, 9216, 9217, 65535]
        .into_iter()
        .enumerate()
    {
        let variants = [(true, 0), (false, 5), (true, 127)];
        // Each short length in each variant, each long one in one of them.
        let some = if length < 100 {
            &variants[..]
        } else {
            &variants[index % 3..][..1]
        };
        for &(markers, phase) in some {
            let mut sender = Sender::new(markers, 4 * phase);
            let mut wire = sender.fpdu(&octets(&mut random, length));
            // A small FPDU after it, and another one that is not whole.
            wire.extend(sender.fpdu(&octets(&mut random, 40)));
            wire.extend(&sender.fpdu(&octets(&mut random, 40))[..20]);
            let stream = job(wire, 4 * phase, markers);
            let ended = expect(&stream, 16).1.expect("a stream job ends");
            assert_eq!(ended.place_next, length > 9216);
            jobs.push(stream.clone());
            if ended.place_next {
                jobs.push(Job {
                    kind: JobKind::Place,
                    ..stream
                });
            }
        }
    }
    let outcomes = check_both(&random, FULL, &jobs);
    assert!(outcomes[0].cancels > 0);
}

#[test]
fn a_long_fpdu_after_another_waits_for_a_job_of_its_own() {
    let mut random = Random::from_environment();
    let mut sender = Sender::new(true, 0);
    let mut wire = sender.fpdu(&octets(&mut random, 64));
    wire.extend(sender.fpdu(&octets(&mut random, 10_000)));
    let ended = expect(&job(wire.clone(), 0, true), 16)
        .1
        .expect("a stream job ends");
    assert!(ended.consumed > 0 && !ended.place_next && ended.need > 10_000);
    check_both(&random, FULL, &[job(wire, 0, true)]);
}

#[test]
fn host_frames_of_all_sizes_pass_untouched() {
    let mut random = Random::from_environment();
    let jobs: Vec<Job> = [14, 15, 16, 17, 63, 64, 65, 1514, 9216]
        .into_iter()
        .map(|count| host_job(&mut random, count))
        .collect();
    for pace in [FULL, random_paces(&mut random)] {
        check_both(&random, pace, &jobs);
    }
}

/// Cycles from an FPDU's first joined beat, in an empty room, to its record and its verdict.
fn times(markers: bool, position: u64, ulpdu: &[u8]) -> (usize, usize) {
    let wire = Sender::new(markers, position).fpdu(ulpdu);
    let beats: Vec<&[u8]> = wire.chunks(16).collect();
    let mut uut = simulate!(FpduRoom128::default());
    let (mut record, mut verdict, mut next) = (None, None, 0);
    for cycle in 0..80 {
        uut.reset.next = cycle == 0;
        uut.record_room.next = true;
        uut.started_valid.next = cycle == 2;
        uut.started.next.octets = (wire.len() as u64).into();
        uut.started.next.markers = markers;
        uut.started.next.phase = (position / 4).into();
        // The job waits before its octets come, in cycle 12.
        uut.joined_valid.next = cycle >= 12 && next < beats.len();
        if uut.joined_valid.next {
            uut.joined_data.next = bits_of(beats[next]);
            uut.joined_last.next = next + 1 == beats.len();
        }
        uut.settle();
        next += usize::from(uut.joined_valid.next && uut.joined_ready.val());
        if uut.record_valid.val() {
            assert_eq!(record.replace(cycle - 12), None);
        }
        if uut.verdict_valid.val() {
            assert_eq!(verdict.replace(cycle - 12), None);
        }
        uut.tick();
    }
    (record.expect("a record"), verdict.expect("a verdict"))
}

#[test]
fn record_during_and_verdict_9_cycles_after_the_beats() {
    // 5 to the first FPDU beat, n - 1 to the last one, 5 to the verdict; 3 from the beat with the
    // fifth word to the record, which is the third beat where a marker takes a word of the first
    // two, and the one that flushes where the FPDU ends there.
    for (markers, position, octets, beats, fifth_word) in [
        (false, 0, 100, 7, 1),
        (true, 4, 100, 7, 1),
        (true, 0, 100, 7, 2),
        (true, 512 - 12, 100, 7, 2),
        (true, 512 - 16, 100, 7, 2),
        (true, 512 - 28, 100, 7, 2),
        (true, 512 - 32, 100, 7, 1),
        (true, 0, 20, 2, 2),
        (false, 0, 22, 2, 1),
        (false, 0, 4, 1, 0),
    ] {
        let seen = times(markers, position, &vec![0x5a; octets]);
        let context = format!("{markers}, position {position}, {octets} octets");
        assert_eq!(seen, (5 + fifth_word + 3, 5 + beats - 1 + 5), "{context}");
    }
}

#[test]
fn packed_fpdus_of_100_octets_pass_in_12_cycles_each() {
    let random = Random::from_environment();
    let mut sender = Sender::new(true, 0);
    let mut wire = vec![];
    for _ in 0..40 {
        // 100 octets on the wire unless a marker falls in.
        wire.extend(sender.fpdu(&[0x3c; 94]));
    }
    let outcome = &check_both(&random, FULL, &[job(wire, 0, true)])[0];
    let cycles = outcome.record_cycles[39] - outcome.record_cycles[0];
    assert!(cycles <= 39 * 11, "{cycles} cycles for 39 FPDUs");
}

#[test]
fn jobs_of_one_fpdu_of_28_octets_pass_in_9_cycles_each() {
    let random = Random::from_environment();
    let wire = Sender::new(false, 0).fpdu(&[0x77; 22]);
    assert_eq!(wire.len(), 28);
    let jobs = vec![job(wire, 0, false); 30];
    let outcome = &check_both(&random, FULL, &jobs)[0];
    let cycles = outcome.record_cycles[29] - outcome.record_cycles[0];
    assert!(cycles <= 29 * 9, "{cycles} cycles for 29 jobs");
    assert_eq!(outcome.cancels, 0, "every job was read to its end");
}

/// Random traffic for the lockstep: jobs of small FPDUs with noise in between, random stalls.
fn drive<const D: usize, const P: usize, const LG: usize, const A: usize, const F: usize>(
    uut: &mut FpduRoom<D, P, LG, A, F>,
    random: &mut Random,
    traffic: &mut Traffic<D>,
) {
    uut.reset.next = traffic.cycle < 2;
    traffic.cycle += 1;
    if traffic.started.is_empty() && traffic.joined.is_empty() {
        traffic.started.push(ReadJob {
            kind: [JobKind::Stream, JobKind::Place, JobKind::Host]
                [[0, 0, 0, 1, 2, 2][random.below(6) as usize]],
            connection: random.wide(),
            octets: (random.below(400) + 1).into(),
            sequence: random.wide(),
            phase: random.wide(),
            markers: random.chance(1, 2),
            crc: random.chance(1, 2),
            head_page: random.wide(),
            tail_page: random.wide(),
            ..Default::default()
        });
        uut.started_tag.next = random.wide();
    }
    let (data, valid) = (&mut uut.started, &mut uut.started_valid);
    if let Some(job) = traffic
        .started
        .drive(data, valid, &uut.started_ready, random)
    {
        for _ in 0..job.octets.index().div_ceil(D / 8) {
            let mut beat = octets(random, D / 8);
            // Lengths that fit, mostly.
            for word in beat.chunks_mut(4) {
                word[0] = u8::from(random.chance(1, 30)) << random.below(8);
            }
            traffic.joined.push(bits_of(&beat));
        }
    }
    let last = traffic.joined.waiting().len() == 1;
    let (data, valid) = (&mut uut.joined_data, &mut uut.joined_valid);
    traffic.joined.drive(data, valid, &uut.joined_ready, random);
    uut.joined_last.next = last;
    uut.job_done_ready.next = random.chance(2, 3);
    uut.placement_ready.next = random.chance(3, 4);
    uut.record_room.next = random.chance(3, 4);
}

struct Traffic<const D: usize> {
    cycle: usize,
    started: StreamDriver<ReadJob>,
    joined: StreamDriver<Bits<D>>,
}

fn lockstep_room<
    const D: usize,
    const P: usize,
    const LG: usize,
    const A: usize,
    const F: usize,
>(
    cycles: usize,
) {
    let mut traffic = Traffic {
        cycle: 0,
        started: StreamDriver::new(Pace::Chance(1, 3)),
        joined: StreamDriver::new(Pace::Chance(3, 4)),
    };
    lockstep!(
        &format!("mpa_room_{D}"),
        FpduRoom::<D, P, LG, A, F>::default(),
        cycles,
        |uut, random| drive(uut, random, &mut traffic)
    );
}

#[test]
fn lockstep_at_128_bits() {
    lockstep_room::<128, 256, 2, 10, 11>(rnic_effort::count("cycles", 2000, 6000));
}

#[test]
fn lockstep_at_512_bits() {
    lockstep_room::<512, 1024, 4, 8, 9>(2500);
}
